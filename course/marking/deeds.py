"""Which wrong idea is it? Told from what a function did, where its law is not in the catalogue.

The earliest wrong place leads: a wrong first token comes from the proposal, the test, the
replacement or the rows of p; a wrong bonus from the bonus; and so on. Four tokens, two guessed too
often and two too rarely, tell these apart. Left out: two wrong ideas at once; the first to show is
named.
"""
import numpy as np

from course.marking import shapes
from course.marking.anatomy import Finding, first_round, segments, slack_of, table, unchecked
from course.marking.first import first_token


def by_deeds(off, evidence, evidences, wrong, want):
    """The Finding for a function that is first wrong at `off`, as this evidence shows."""
    names = {e.world.name for e in wrong}
    if want.end is not None and _only_about_the_end(wrong, want.end):
        return Finding(_stopping(wrong, want.end), "stopping")
    if names <= {"draft = target"}:
        return Finding("unknown", "numbers")
    if off is None or names <= {"no guess"}:
        return Finding("unknown", "bonus" if names <= {"no guess"} else "randomness")
    seen = [(t, first_round(t, evidence.world)) for t in evidence.traces]
    seen = [(t, r) for t, r in seen if r]
    if not seen:
        return Finding("unknown", "target")
    look = {"first": first_token, "kept": _kept, "full": _bonus}.get(off.place, _later)
    return look(evidence, seen, want, evidences)


def _only_about_the_end(wrong, end):
    """Is every world that is wrong one in which the end can come, and are the texts cut wrongly?"""
    return all(any(end in x for x in e.wanted) for e in wrong) and any(_badly_cut(e, end)
                                                                       for e in wrong)


def _badly_cut(evidence, end):
    return any(end in x[:-1] or (len(x) < evidence.world.n_new and x[-1:] != (end,))
               for x in evidence.law)


def _stopping(wrong, end):
    texts = [x for e in wrong for x in e.law]
    if any(end in x[:-1] for x in texts):
        stops = any(x[-1:] == (end,) and len(x) < e.world.n_new for e in wrong for x in e.law)
        return "end-mid-block" if stops else "end-ignored"
    return "end-dropped"


def _kept(evidence, seen, want, evidences):
    """The token after a kept guess is wrong, and the first is right."""
    world, V = evidence.world, len(want.p_after(evidence.world)(()))
    if max(r.reach for _, r in seen) < len(world.prompt) + world.gamma:
        return Finding("rows-shifted", "position")
    for x in range(V):
        found, text = table(evidence, V, given=(x,)), [*world.prompt, x]
        if not np.isfinite(found.guess).all():
            continue
        runs = sum(t.chance for t, r in seen if r.guesses[:1] == (x,) == t.new[:1])
        if not any(shapes.near(found.guess, d(text)[-1], slack_of(evidence, runs))
                   for d in want.drafts(world)):
            return Finding("unknown", "proposal")
        if unchecked(found):
            return Finding("unknown", "position")
    if _one_coin(evidence, seen, want) or _few_draws(seen, world, want):
        return Finding("shared-coin", "randomness")
    return Finding("unknown", "position")


def _few_draws(seen, world, want):
    """Was every guess of a full round in doubt, with fewer draws than guesses, tests and bonus?"""
    for trace, r in seen:
        g = r.guesses
        if len(g) < world.gamma or len(trace.new) <= world.gamma or trace.new[:world.gamma] != g:
            continue  # not a full round
        texts = [[*world.prompt, *g[:i]] for i in range(world.gamma)]
        doubt = all(0 < want.target(world)(t)[-1][x] < world.draft(t)[-1][x]
                    for t, x in zip(texts, g))
        draws = trace.draws if world.n_new == world.gamma + 1 else r.draws
        if doubt and 0 < draws < 2 * world.gamma + 1:
            return True
    return False


def _one_coin(evidence, seen, want):
    """Is the second guess kept as if the first one's coin decided about it?"""
    world, joint, hits, telling = evidence.world, {}, [], False
    for trace, r in seen:
        if len(r.guesses) > 1 and len(trace.new) > 1 and r.guesses[0] == trace.new[0]:
            row = joint.setdefault(r.guesses[:2], [0.0, 0.0])
            row[r.guesses[1] == trace.new[1]] += trace.chance
    for guesses, (lost, kept) in joint.items():
        texts = [[*world.prompt, *guesses[:i]] for i in range(2)]
        ratios = [want.target(world)(t)[-1][x] / max(world.draft(t)[-1][x], 1e-300)
                  for t, x in zip(texts, guesses)]
        if max(ratios) < 1:
            one = min(ratios) / ratios[0]
            hits.append(abs(kept / (kept + lost) - one) < slack_of(evidence, kept + lost))
            telling = telling or one < 0.98
    return telling and all(hits)


def _bonus(evidence, seen, want, evidences):
    """The bonus is wrong, and everything before it is right."""
    world, joint, names = evidence.world, {}, []
    V = len(want.p_after(world)(()))
    for trace, r in seen:
        if len(trace.new) > world.gamma and trace.new[:world.gamma] == r.guesses:
            if max(trace.new) < V:
                joint.setdefault(r.guesses, np.zeros(V))[trace.new[world.gamma]] += trace.chance
    for guesses, row in joint.items():
        p, law, slack = want.p_after(world)(guesses), row / row.sum(), slack_of(evidence, row.sum())
        if not shapes.near(law, p, slack):
            text = [*world.prompt, *guesses]
            names.append(shapes.bonus(law, p, want.target(world)(text)[:-1],
                                      want.drafts(world)[-1](text)[-1], slack))
    by_chance = any(row.max() < 0.99 * row.sum() for row in joint.values())
    name = names[0] if names and len(set(names)) == 1 else "unknown"
    if name == "unknown" and by_chance and _few_draws(seen, world, want):
        return Finding("unknown", "randomness")
    return Finding(name, "bonus")


def _later(evidence, seen, want, evidences):
    """A token after a rejection, or of a later round, is wrong; the first round began well."""
    world, parts = evidence.world, [segments(t.asked) for t in evidence.traces]
    if any(_gap(p) > world.gamma for p in parts):
        return Finding("stale-draft-fresh-q", "proposal")
    for trace, part in zip(evidence.traces, parts):
        text = (*world.prompt, *trace.new)
        if any(calls[0][1] != text[:len(calls[0][1])] for calls in part[1:]):
            return Finding("bonus-forgotten", "rollback")
        ends = [calls[0][2] for calls in part[2:]] + [trace.drawn]
        if any(end == calls[0][2] and len(calls) > 1 for calls, end in zip(part[1:], ends)):
            return Finding("reseeded-rounds", "randomness")
    return Finding("unknown", "rollback")


def _gap(parts):
    """How far the target's longest text of the second round is ahead of the draft's shortest."""
    if len(parts) < 2:
        return 0
    drafts = [len(text) for who, text, _ in parts[1] if who == "draft"]
    targets = [len(text) for who, text, _ in parts[1] if who == "target"]
    return max(targets) - min(drafts) if drafts and targets else 0
