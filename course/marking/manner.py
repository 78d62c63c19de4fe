"""How a right function works: does it do the usual thing, or another right thing that costs more?
"""
import numpy as np

from course.marking import shapes
from course.marking.anatomy import first_round, segments, table


def manner(evidences, want):
    """The id in course.mistakes of a function whose law is right: "right", or its own way."""
    by_name = {e.world.name: e for e in evidences}
    one, two = by_name.get("one guess"), by_name.get("two guesses")
    if one is None or two is None:
        return "right"
    if _stale(one):
        return "stale-draft"
    return _by_table(one, want) or ("no-bonus" if _no_bonus(two) else "right")


def calls_a_round(evidences):
    """How many target calls the first round of two guesses makes, at the most; 1 is enough."""
    two = next((e for e in evidences if e.world.name == "two guesses"), None)
    rounds = [first_round(t, two.world) for t in two.traces] if two else []
    return max((r.target_calls for r in rounds if r and len(r.guesses) == 2), default=1)


def _stale(evidence):
    """Does the draft read less than the text, in the first round or in a later one?"""
    n = len(evidence.world.prompt)
    for trace in evidence.traces:
        for part in segments(trace.asked):
            drafts = [len(text) for who, text, _ in part if who == "draft"]
            targets = [len(text) for who, text, _ in part if who == "target"]
            if drafts and targets and (max(targets) - min(drafts) > evidence.world.gamma
                                       or min(drafts) < n):
                return True
    return False


def _by_table(evidence, want):
    """A manner that shows in the first guess: from which law it comes, how often it is kept."""
    world = evidence.world
    p = want.p_after(world)(())
    seen = table(evidence, len(p))
    if not np.isfinite(seen.guess).all():
        return None
    slack = 1e-7 if evidence.exact else 5 / np.sqrt(evidence.size)
    drafts = [model(list(world.prompt))[-1] for model in want.drafts(world)]
    if not any(shapes.near(seen.guess, q, slack) for q in drafts):
        if seen.guess.max() > 1 - 1e-9:
            return "point-mass"
        return "hotter-draft" if _entropy(seen.guess) > _entropy(drafts[-1]) else "colder-draft"
    known = np.isfinite(seen.out).all(axis=1)
    if shapes.near(seen.out[known], np.tile(p, (known.sum(), 1)), seen.slack[known, None]):
        return "sample-and-match"
    return None


def _entropy(law):
    return -(law[law > 0] * np.log(law[law > 0])).sum()


def _no_bonus(evidence):
    """After a full round, is a token guessed where the bonus should stand?

    Then the target reads, in a later round, another token there than the one that is written.
    """
    n, gamma = len(evidence.world.prompt), evidence.world.gamma
    for trace in evidence.traces:
        r = first_round(trace, evidence.world)
        if r and len(r.guesses) == gamma and trace.new[:gamma] == r.guesses:
            text = (*evidence.world.prompt, *trace.new[:gamma + 1])
            if any(who == "target" and len(read) > n + gamma and read[:n + gamma + 1] != text
                   for who, read, _ in trace.asked):
                return True
    return False
