"""How a right function works: does it do the usual thing, or another right thing that costs more?

Told from the worlds of one and of two guesses, as far as the models were asked in a usual order.
"""
import numpy as np

from course.marking import shapes
from course.marking.anatomy import first_round, segments, table, unchecked


def manner(evidences, want):
    """The id in course.mistakes of a function whose law is right: "right", or its own way."""
    by_name = {e.world.name: e for e in evidences}
    one, two = by_name.get("one guess"), by_name.get("two guesses")
    if one is None or two is None:
        return "right"
    if not any(who == "draft" for e in (one, two) for t in e.traces for who, _, _ in t.asked):
        return "plain" if _reads_what_stands(two) else "own-guesses"
    if _stale(one):
        return "stale-draft"
    if all(len(e.wanted) == 1 for e in evidences):  # no coin can show how a guess is drawn or kept
        return "no-bonus" if _no_bonus(two) else "right"
    return _by_table(one, two, want) or _by_rounds(two, want)


def calls_a_round(evidences):
    """How many target calls the first round of two guesses makes, at the most; 1 is enough."""
    two = next((e for e in evidences if e.world.name == "two guesses"), None)
    rounds = [first_round(t, two.world) for t in two.traces] if two else []
    return max((r.target_calls for r in rounds if r and len(r.guesses) == 2), default=1)


def _reads_what_stands(evidence):
    """Is the target asked about what is written in the end, and nothing else?"""
    texts = [(read, (*evidence.world.prompt, *trace.new))
             for trace in evidence.traces for _, read, _ in trace.asked]
    return all(read[:len(text)] == text[:len(read)] for read, text in texts)


def _stale(evidence):
    """Does the draft read less than the text, in the first round or in a later one?"""
    n = len(evidence.world.prompt)
    for trace in evidence.traces:
        for part in segments(trace.asked):
            drafts = {len(text) for who, text, _ in part if who == "draft"}
            target = next((len(text) for who, text, _ in part[::-1] if who == "target"), 0)
            if drafts and (min(drafts) < n or target > min(drafts) + len(drafts)):
                return True
    return False


def _by_table(one, two, want):
    """A manner that shows in a first guess: from which law it comes, how often it is kept."""
    world = one.world
    p = want.p_after(world)(())
    seen = table(one, len(p))
    if not np.isfinite(seen.guess).all() or unchecked(seen):  # what looks like a guess is none
        return None
    slack = 1e-7 if one.exact else 5 / np.sqrt(one.size)
    drafts = [model(list(world.prompt))[-1] for model in want.drafts(world)]
    known = np.isfinite(seen.out).all(axis=1)
    if shapes.near(seen.out[known], np.tile(p, (known.sum(), 1)), seen.slack[known, None]):
        if _keeps_none(two):
            return "keeps-nothing"
        if seen.guess.max() < 1 - 1e-9:
            return "sample-and-match"
    if not any(shapes.near(seen.guess, q, slack) for q in drafts):
        if seen.guess.max() > 1 - 1e-9:
            return "point-mass"
        return "hotter-draft" if _entropy(seen.guess) > _entropy(drafts[-1]) else "colder-draft"
    kept = (seen.guess * np.diag(np.nan_to_num(seen.out))).sum()
    return "keeps-less" if kept < np.minimum(p, seen.guess).sum() - slack else None


def _entropy(law):
    return -(law[law > 0] * np.log(law[law > 0])).sum()


def _by_rounds(two, want):
    """A manner that shows when a second guess is made."""
    if _no_bonus(two):
        return "no-bonus"
    return "block" if not want.wanted and _kept_together(two, want) else "right"


def _full_rounds(evidence):
    """(Trace, its first Round) of those that write all guesses."""
    rounds = [(t, first_round(t, evidence.world)) for t in evidence.traces]
    return [(t, r) for t, r in rounds if r and len(r.guesses) == evidence.world.gamma
            and t.new[:len(r.guesses)] == r.guesses]


def _keeps_none(two):
    """Does the next round begin behind one token, even where all guesses came true?"""
    ends = [r.next_base for _, r in _full_rounds(two)]
    return bool(ends) and all(end == len(two.world.prompt) + 1 for end in ends)


def _no_bonus(two):
    """After a full round, does the next one begin right behind the guesses?"""
    ends = [r.next_base for _, r in _full_rounds(two)]
    return bool(ends) and all(end == len(two.world.prompt) + two.world.gamma for end in ends)


def _kept_together(two, want):
    """Are both guesses kept more often than one by one?"""
    p_after, draft = want.p_after(two.world), two.world.draft
    q, expected = draft(list(two.world.prompt))[-1], 0.0
    for x in np.flatnonzero(q):
        after = draft([*two.world.prompt, int(x)])[-1]
        expected += min(p_after(())[x], q[x]) * np.minimum(p_after((int(x),)), after).sum()
    kept = sum(t.chance for t, _ in _full_rounds(two))
    kept /= sum(t.chance for t in two.traces)
    return kept > expected + (1e-7 if two.exact else 5 / np.sqrt(two.size))
