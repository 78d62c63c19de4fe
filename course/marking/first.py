"""Why is the first token of a round wrong: proposal, test, replacement, or the rows of p?

Read off the table of the first guess: how often it was each token, and what was written then. Four
tokens, two guessed too often and two too rarely, tell these causes apart. A row of p that is wrong
by itself is wrong without guesses too: there the rows are looked at alone.
"""
import numpy as np

from course.marking import explain, shapes
from course.marking.anatomy import Finding, slack_of, table, unchecked
from course.marking.coins import too_few
from course.marking.guessed import by_guess
from course.marking.worlds import ONE_TOKEN


def first_token(evidence, seen, want, evidences, wrong):
    """The first token of a round is wrong: proposal, test, replacement, or the rows of p?"""
    world, rounds = evidence.world, [r for _, r in seen]
    p, drafts = want.p_after(world)(()), [d(list(world.prompt))[-1] for d in want.drafts(world)]
    if max(r.reach for r in rounds) < len(world.prompt) + world.gamma:
        return Finding("rows-shifted", "position")
    if any(r.next_base == r.base == len(world.prompt) for r in rounds):
        return Finding("no-replacement", "residual")
    found = table(evidence, len(p))
    if not np.isfinite(found.guess).all():
        return Finding("unknown", "unknown")
    slack = slack_of(evidence)
    q = next((d for d in drafts if shapes.near(found.guess, d, slack)), None)
    if q is None:
        return _proposal(found.guess, drafts, rounds, evidence, evidences, wrong, want)
    if all(unchecked(table(e, e.world.V)) for e in evidences if e.world.gamma == 1):
        return _unchecked(evidences)
    if not any(e.world.gamma == 1 for e in wrong) and any(e.world.gamma == 1 for e in evidences):
        return Finding("unknown", "randomness" if too_few(evidences, want) else "rollback")
    rows_wrong = any(e.world.name == "no guess" for e in wrong)
    rows = row_name(evidences, want) if rows_wrong else None
    told = _rule(found, p, q, evidence, seen, want, rows)
    if told.family in ("acceptance", "residual"):
        told = _confirmed(told, evidence, evidences, wrong, want)
    return Finding("unknown", "target") if rows_wrong and told.kind == "unknown" else told


def _confirmed(told, evidence, evidences, wrong, want):
    """told, or another idea of its family, if it explains all worlds of one token; else unknown."""
    ids, least, most = [told.kind, *_ideas(evidence, told.family, want)], 0.0, 1.0
    for e in (e for e in evidences if e.world.name in ONE_TOKEN):
        fits = _ideas(e, told.family, want) if e in wrong or not e.exact else []
        ids = [name for name in ids if name in fits or e is evidence]
        text = list(e.world.prompt)
        low, high = explain.threshold(table(e, e.world.V), want.p_after(e.world)(()),
                                      want.drafts(e.world)[-1](text)[-1])
        least, most = max(least, low), min(most, high)
    ids = [name for name in ids if name != "accept-threshold" or least < most]
    return Finding(ids[0] if ids else "unknown", told.family)


def _ideas(evidence, family, want):
    """The ids of this family that explain the table of the first guess."""
    p, text = want.p_after(evidence.world)(()), list(evidence.world.prompt)
    found, ids = table(evidence, len(p)), []
    loose = 10 * found.slack if evidence.exact else found.slack
    for draft in want.drafts(evidence.world):
        q = draft(text)[-1]
        if shapes.near(found.guess, q, slack_of(evidence)):
            ids += (explain.tests(found, p, q, loose) if family == "acceptance"
                    else explain.replacements(found, p, q, evidence.exact))
    return ids


def row_name(evidences, want):
    """The Finding for rows of p that are wrong without a guess."""
    evidence = next((e for e in evidences if e.world.name == "no guess"), None)
    if evidence is None:
        return Finding("unknown", "target")
    written = np.zeros(evidence.world.V)
    for text, chance in evidence.law.items():
        written[text[0]] += chance
    return _named_row(written, evidence.world, want, slack_of(evidence))


def _named_row(written, world, want, slack):
    """The Finding for a function whose tokens have the law `written` in place of the target's."""
    p, text = want.p_after(world)(()), list(world.prompt)
    if shapes.near(written, p, slack):
        return Finding("unknown", "target")
    if any(shapes.near(written, row, slack) for row in want.target(world)(text)[:-1]):
        return Finding("rows-shifted", "position")
    if want.wanted and shapes.near(written, world.target(text)[-1], slack):
        return Finding("target-untempered", "target")
    if shapes.near(written, np.eye(len(p))[p.argmax()], slack):
        return Finding("greedy-target", "target")
    return Finding("tempered-target" if shapes.power(written, p, slack) else "unknown", "target")


def _proposal(guess, drafts, rounds, evidence, evidences, wrong, want):
    """The guess was not drawn from the draft's law."""
    if any(r.base < len(evidence.world.prompt) for r in rounds):
        return Finding("stale-draft-fresh-q", "proposal")
    rows_wrong = any(e.world.name == "no guess" for e in wrong)
    return by_guess(guess, drafts, slack_of(evidence), evidences, wrong, want,
                    lambda: row_name(evidences, want) if rows_wrong else None)


def _unchecked(evidences):
    """A lone guess is always kept. And the first and second of two?"""
    two = next((e for e in evidences if e.world.name == "two guesses"), None)
    if two and not unchecked(table(two, two.world.V)):
        return Finding("last-unverified", "position")
    if not all(unchecked(table(e, e.world.V)) for e in evidences if e.world.gamma):
        return Finding("accept-threshold", "acceptance")  # too low to be met in most worlds
    seconds = [table(two, two.world.V, given=(x,)) for x in range(two.world.V)] if two else []
    seconds = [t for t in seconds if np.isfinite(t.guess).all()]
    if seconds and not all(unchecked(t) for t in seconds):
        return Finding("first-unverified", "position")
    return Finding("accept-always", "acceptance")


def _coins_missing(found, p, q, seen, world):
    """Was a guess judged by chance and replaced by chance, with fewer than three draws?"""
    if found.guess.max() > 0.99 or not world.gamma == world.n_new == 1:
        return False
    for x, row in enumerate(found.out):
        away = np.delete(row, x)
        if q[x] > p[x] and 0.02 < row[x] < 0.98 and (away > 0.01).sum() > 1:
            few = [t.draws for t, r in seen if r.guesses == (x,) and t.new[:1] != (x,)]
            if few and max(few) < 3:
                return True
    return False


def _rule(found, p, q, evidence, seen, want, rows):
    """Test or replacement? found.out[x] is a[x] at x plus (1 - a[x]) times what replaces x."""
    slack = found.slack
    loose = 10 * slack if evidence.exact else slack
    if not evidence.exact and _race(seen):
        return Finding("shared-noise", "randomness")
    a = explain.kept_if(found.out, shapes.owed(p, q), slack)
    sure = a is not None and ((a < slack) | (a > 1 - slack) | np.isnan(a)).all()  # no coin is due
    tests = explain.tests(found, p, q, loose)
    if not sure and not tests and _coins_missing(found, p, q, seen, evidence.world):
        return Finding("same-seed", "randomness")
    if a is not None and shapes.owed(p, q).max() < 1 - 1e-9:
        return Finding(shapes.acceptance(a, p, q, loose), "acceptance")
    other = _other_rows(found, q, evidence, want, rows)
    if other:
        return other
    if a is not None:
        return Finding(shapes.acceptance(a, p, q, loose), "acceptance")
    if tests:
        return Finding(tests[0], "acceptance")
    replaced = explain.replacements(found, p, q, evidence.exact)
    return Finding(replaced[0], "residual") if replaced else Finding("unknown", "acceptance")


def _race(seen):
    """Are replacements made with no more than the coin of the test? Then by noise used before."""
    late = [r.late_draws for t, r in seen if r.guesses and t.new and r.guesses[0] != t.new[0]]
    early = [r.draws - r.late_draws for t, r in seen if r.guesses]
    return bool(late) and np.median(late) < 2 and np.median(early) > 2 * len(seen[0][1].guesses)


def _other_rows(found, q, evidence, want, rows):
    """The Finding for a right round with other rows of p, or one that believes another q.

    Both look alike here. rows is the Finding for rows that are wrong without a guess too; where it
    is None, they are right, and it is another q that is believed.
    """
    world, slack = evidence.world, 2 * found.slack
    p = want.p_after(world)(())
    written = np.nansum(found.guess[:, None] * found.out, axis=0)
    little = slack_of(evidence)
    late = [want.p_after(world)((x,)) for x in range(len(p))]
    keeps = [shapes.near(found.out[x, x], shapes.paid(late[x], q)[x], slack[x])
             for x in range(len(p)) if found.guess[x] > 0 and late[x][x] < q[x]]
    if len(keeps) > 1 and all(keeps):
        return Finding("rows-late", "position")
    a = explain.kept_if(found.out, shapes.owed(written, q), found.slack)
    over = found.guess > np.maximum(p, 0) + little
    if a is None or shapes.near(written[over], p[over], little) or not shapes.near(
            np.where(found.guess > 0, a, 1), np.where(found.guess > 0, shapes.paid(written, q), 1),
            slack):
        return None
    named = rows or _named_row(written, world, want, little)
    if rows or named.kind in ("rows-shifted", "target-untempered"):
        return named
    return Finding("unknown", "proposal") if explain.may_believe(a, p, found) else None
