"""Was a coin used twice, or none where one was due? Told from the number of draws in a round.

A function may draw more than it needs, never less: a random guess, a test in doubt, and what is
written last when several tokens may be, each take a draw of their own. Left out: functions that
draw many coins at once and keep them for later rounds look as if they had too few.
"""
from course.marking.anatomy import rounds, slack_of
from course.marking.shapes import owed


def too_few(evidences, want, later=False):
    """Does the first round, or a later one, take fewer draws than it needs?"""
    for e in evidences:
        for trace in e.traces:
            told = rounds(trace, e.world)
            for one in told[1:-1] if later else told[:1]:  # the coins of the last may be older
                if 0 <= one.draws < _needed(one, e.world, want):
                    return True
    return False


def _needed(told, world, want):
    """The fewest draws that this round can do with; 0 for one that was cut, or looks unusual."""
    guesses, written = told.guesses, told.written
    kept = next((i for i, (x, y) in enumerate(zip(guesses, written)) if x != y), len(guesses))
    if len(guesses) != world.gamma or len(written) != kept + 1:
        return 0
    target, draft, needed = want.target(world), want.drafts(world)[-1], 0
    for i in range(world.gamma + 1):
        text = [*world.prompt, *told.before, *guesses[:i]]
        p, q = target(text)[-1], draft(text)[-1]
        if i == kept:
            needed += ((p if i == world.gamma else owed(p, q)) > 1e-9).sum() > 1
        if i < world.gamma:
            needed += (q > 1e-9).sum() > 1
            needed += i <= kept and 0 < p[guesses[i]] < q[guesses[i]]
    return needed


def one_for_two_tests(evidence, want):
    """Is the second guess kept as if the first one's coin decided about it?"""
    world, joint, hits, telling = evidence.world, {}, [], False
    for trace in evidence.traces:
        for told in rounds(trace, world)[:1]:
            if len(told.guesses) > 1 and len(trace.new) > 1 and told.guesses[0] == trace.new[0]:
                row = joint.setdefault(told.guesses[:2], [0.0, 0.0])
                row[told.guesses[1] == trace.new[1]] += trace.chance
    for guesses, (lost, kept) in joint.items():
        texts = [[*world.prompt, *guesses[:i]] for i in range(2)]
        ratios = [want.target(world)(t)[-1][x] / max(world.draft(t)[-1][x], 1e-300)
                  for t, x in zip(texts, guesses)]
        if max(ratios) < 1:
            one = min(ratios) / ratios[0]
            hits.append(abs(kept / (kept + lost) - one) < slack_of(evidence, kept + lost))
            telling = telling or one < 0.98
    return telling and all(hits)
