"""The guess was not drawn from the draft's own law. That is allowed: so what is wrong?

Often the draft's own q is believed all the same. If not, the rows of p may be wrong, or the test or
the replacement, judged by the q that the guess was drawn from. An idea must explain every world of
one token. Left out: two of these at once.
"""
import numpy as np

from course.marking import explain, shapes
from course.marking.anatomy import Finding, table, unchecked
from course.marking.worlds import ONE_TOKEN

VAGUE = {"unknown", "accept-lenient", "accept-threshold", "residual-floor"}  # they fit too easily


def by_guess(guess, drafts, slack, evidences, wrong, want, row_name):
    """The Finding where the first guess has the law guess. row_name() is that of the rows of p, or
    None where they are right."""
    told = {e.world.name: _read(e, want) for e in evidences if e.world.name in ONE_TOKEN}
    if not all(any(_judged_by(found, p, q) for q in own) for found, p, own, _ in told.values()):
        off = {e.world.name for e in wrong}
        return row_name() or _other_part([each for name, each in told.items() if name in off])
    names = [shapes.proposal(guess, q, slack) for q in drafts]
    name = next((n for n in names if n != "unknown"), "unknown")
    return Finding("reshaped-draft-raw-q" if want.wanted else name, "proposal")


def _read(evidence, want):
    """(what became of the first guess, p, the laws a draft may have, is it exact?) in a world."""
    world = evidence.world
    p, text = want.p_after(world)(()), list(world.prompt)
    return table(evidence, len(p)), p, [d(text)[-1] for d in want.drafts(world)], evidence.exact


def _judged_by(found, p, q):
    """Is every guess kept as q would have it?"""
    come = found.guess > 0
    return shapes.near(np.diag(found.out)[come], shapes.paid(p, q)[come], found.slack[come])


def _other_part(told):
    """The Finding for a test or a replacement that explains every wrong world, or for another q."""
    for family in ("residual", "acceptance") if told else ():
        ideas = [_ideas(family, *each) for each in told]
        both = [name for name in ideas[0] if all(name in more for more in ideas)]
        if both:
            return Finding("accept-argmax" if "accept-argmax" in both else both[0], family)
    believed = [_believed(*each) for each in told]
    return Finding("unknown", "proposal" if True in believed and False not in believed
                   else "unknown")


def _ideas(family, found, p, own, exact):
    """The ids of this family that explain the table, if q is the law of the guess."""
    q = found.guess / found.guess.sum()
    if family == "residual":  # where all are kept, nothing was replaced
        names = [] if unchecked(found) else explain.replacements(found, p, q, exact)
    else:
        names = explain.tests(found, p, q, 10 * found.slack if exact else found.slack)
    return [name for name in names if name not in VAGUE]


def _believed(found, p, own, exact):
    """Is a q believed, by test and residual alike, that is not the law of the guess?

    Then all rejected guesses share one replacement, which pays none of them; and a q that lives on
    the guesses owes every other token the whole of p. None where this does not tell.
    """
    come, kept, loose = found.guess > 0, np.diag(found.out), 20 * found.slack.max()
    unsure = np.flatnonzero(come & (kept < 1 - found.slack) & (kept > found.slack))
    if not len(unsure) or (len(unsure) == 1 and come[p > 0].all()):
        return None
    laws = [shapes.scaled(found.out[x] * (np.arange(len(p)) != x)) for x in unsure]
    owes = (p[unsure] / kept[unsure] - p[unsure]).sum()
    return bool(all(shapes.near(law, laws[0], loose) for law in laws)
                and (laws[0][unsure] <= loose).all()
                and shapes.near(owes * laws[0][~come], p[~come], loose))
