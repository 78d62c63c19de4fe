"""Which wrong idea is it? Told from what a function did, where its law is not in the catalogue.

The earliest wrong place leads: a wrong first token comes from the proposal, the test, the
replacement or the rows of p; a wrong bonus from the bonus; and so on. Left out: two wrong ideas at
once; the first to show is named.
"""
import numpy as np

from course.marking import shapes
from course.marking.anatomy import (
    Finding,
    first_round,
    rounds,
    segments,
    slack_of,
    table,
    unchecked,
)
from course.marking.coins import one_for_two_tests, too_few
from course.marking.first import first_token, row_name


def by_deeds(off, evidence, evidences, wrong, want):
    """The Finding for a function that is first wrong at `off`, as this evidence shows."""
    names = {e.world.name for e in wrong}
    if want.end is not None and _only_about_the_end(wrong, want.end):
        return Finding(_stopping(wrong, want.end), "stopping")
    if names <= {"draft = target"} or names <= {"no guess"}:
        return Finding("unknown", "numbers")
    if any("compared with each other" in e.why_sampled for e in evidences):
        return Finding("unknown", "randomness")
    chancy = any(want.p_after(e.world)(()).max() < 1 - 1e-9 for e in wrong)  # else greedy is right
    if chancy and not any(t.draws for e in evidences for t in e.traces):
        return _without_chance(wrong, want)
    who = {name for e in evidences for t in e.traces for name, _, _ in t.asked}
    if "target" not in who:
        return Finding("draft-alone", "target")
    if "draft" not in who:
        return row_name(evidences, want)
    if off is None:
        return Finding("unknown", "randomness")
    seen = [(t, r) for t, r in ((t, first_round(t, evidence.world)) for t in evidence.traces) if r]
    if not seen:
        return row_name(evidences, want) if "no guess" in names else Finding("unknown", "unknown")
    prompt = evidence.world.prompt
    if not all(read[:len(prompt)] == prompt[:len(read)]
               for t in evidence.traces for who, read, _ in t.asked if who == "target"):
        return Finding("short-text", "position")
    look = {"first": first_token, "kept": _kept, "full": _bonus}.get(off.place, _later)
    told = look(evidence, seen, want, evidences, wrong)
    coins_short = told.kind == "unknown" and _too_few_for_a_text(evidences, want)
    return Finding("unknown", "randomness") if coins_short else told


def _only_about_the_end(wrong, end):
    """Is every world that is wrong one in which the end can come, and are the texts cut wrongly?"""
    return all(any(end in x for x in e.wanted) for e in wrong) and any(_badly_cut(e, end)
                                                                       for e in wrong)


def _badly_cut(evidence, end):
    return any(end in x[:-1] or (len(x) < evidence.world.n_new and x[-1:] != (end,))
               for x in evidence.law)


def _stopping(wrong, end):
    """Which fault at the end this is, where no law of the catalogue tells."""
    texts = [(x, e.world.n_new) for e in wrong for x in e.law]
    if not any(end in x[:-1] for x, _ in texts):
        return "end-dropped"
    return "unknown" if any(len(x) < n for x, n in texts) else "end-ignored"


def _without_chance(wrong, want):
    """No coin of rng is ever used: is it the favourite that is written, or a fixed text?"""
    greedy = all(x == want.p_after(e.world)(text[:i]).argmax()
                 for e in wrong for text in e.law for i, x in enumerate(text))
    return Finding("greedy-target", "target") if greedy else Finding("fixed-seed", "randomness")


def _too_few_for_a_text(evidences, want):
    """Is a text written with fewer draws than it has tokens that chance decides?"""
    for e in evidences:
        p_after = want.p_after(e.world)
        for t in e.traces if e.world.n_new > 2 else []:
            if t.draws < len(t.new) and t.draws < sum(p_after(t.new[:i]).max() < 1 - 1e-9
                                                      for i in range(len(t.new))):
                return True
    return False


def _kept(evidence, seen, want, evidences, wrong):
    """The token after a kept guess is wrong, and the first is right."""
    world, V = evidence.world, evidence.world.V
    if max(r.reach for _, r in seen) < len(world.prompt) + world.gamma:
        return Finding("rows-shifted", "position")
    if any(_without_replacement(t, world) for t in evidence.traces):
        return Finding("no-replacement", "residual")
    tests, free = [], []
    for x in range(V):
        found, text = table(evidence, V, given=(x,)), [*world.prompt, x]
        if not np.isfinite(found.guess).all():
            continue
        runs = sum(t.chance for t, r in seen if r.guesses[:1] == (x,) == t.new[:1])
        if not any(shapes.near(found.guess, d(text)[-1], slack_of(evidence, runs))
                   for d in want.drafts(world)):
            return Finding("unknown", "proposal")
        free.append(unchecked(found))
        tests.append(_by_other_row(found, world, text, want))
    if free and all(free):
        return Finding("unknown", "position")
    if one_for_two_tests(evidence, want) or too_few(evidences, want):
        return Finding("shared-coin", "randomness")
    return Finding("unknown", "position" if any(tests) or not tests else "acceptance")


def _without_replacement(trace, world):
    """Does the first round end with kept guesses, and not with all of them?"""
    told = rounds(trace, world)[:-1][:1]
    return any(len(r.guesses) == world.gamma > len(r.written) and
               r.written == r.guesses[:len(r.written)] for r in told)


def _by_other_row(found, world, text, want):
    """Is the second guess kept as another row of the target would have it?"""
    q = want.drafts(world)[0](text)[-1]
    over, rows = np.flatnonzero(found.guess > 0), want.target(world)([*text, text[-1]])
    kept = np.diag(found.out)[over]
    return any(shapes.near(kept, np.minimum(1, row / np.maximum(q, 1e-300))[over],
                           2 * found.slack[over])
               for row in np.delete(rows, len(text) - 1, axis=0))


def _bonus(evidence, seen, want, evidences, wrong):
    """The bonus is wrong, and everything before it is right."""
    world, joint, names = evidence.world, {}, []
    for trace, r in seen:
        if len(trace.new) > world.gamma and trace.new[:world.gamma] == r.guesses:
            joint.setdefault(r.guesses, np.zeros(world.V))[trace.new[world.gamma]] += trace.chance
    for guesses, row in joint.items():
        p, law, slack = want.p_after(world)(guesses), row / row.sum(), slack_of(evidence, row.sum())
        if not shapes.near(law, p, slack):
            text = [*world.prompt, *guesses]
            names.append(shapes.bonus(law, p, want.target(world)(text)[:-1],
                                      want.drafts(world)[-1](text)[-1], slack))
    by_chance = any(row.max() < 0.99 * row.sum() for row in joint.values())
    name = names[0] if names and len(set(names)) == 1 else "unknown"
    if name == "unknown" and by_chance and too_few([evidence], want):
        return Finding("unknown", "randomness")
    return Finding(name, "bonus")


def _later(evidence, seen, want, evidences, wrong):
    """A token after a rejection, or of a later round, is wrong; the first round began well."""
    world, parts = evidence.world, [segments(t.asked) for t in evidence.traces]
    stale = any(_reads_rejected(trace, world) for trace in evidence.traces)
    if not stale and any(_gap(p) > world.gamma for p in parts):
        return Finding("stale-draft-fresh-q", "proposal")
    for trace, part in zip(evidence.traces, parts):
        text = (*world.prompt, *trace.new)
        if any(calls[0][1] != text[:len(calls[0][1])] for calls in part[1:]):
            return Finding("unknown" if _reads_rejected(trace, world) else "bonus-forgotten",
                           "rollback")
        ends = [calls[0][2] for calls in part[2:]] + [trace.drawn]
        if trace.draws and any(end == calls[0][2] and len(calls) > 1
                               for calls, end in zip(part[1:], ends)):
            return Finding("reseeded-rounds", "randomness")
    return Finding("unknown", "randomness" if too_few(evidences, want, later=True) else "rollback")


def _reads_rejected(trace, world):
    """Does a guess of the first round that was rejected stand in a text that is read later?"""
    (first, *_), n = rounds(trace, world) or [None], len(world.prompt)
    for i, (x, y) in enumerate(zip(first.guesses, trace.new) if first else ()):
        if x != y:
            return any(read[:n + i + 1] == (*world.prompt, *first.guesses[:i + 1])
                       for part in segments(trace.asked)[1:] for _, read, _ in part)
    return False


def _gap(parts):
    """How far the target's longest text of the second round is ahead of the draft's shortest."""
    if len(parts) < 2:
        return 0
    drafts = [len(text) for who, text, _ in parts[1] if who == "draft"]
    targets = [len(text) for who, text, _ in parts[1] if who == "target"]
    return max(targets) - min(drafts) if drafts and targets else 0
