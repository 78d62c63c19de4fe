"""Why is the first token of a round wrong: proposal, test, replacement, or the rows of p?

Read off the table of the first guess: how often it was each token, and what was written then. Four
tokens, two guessed too often and two too rarely, tell these causes apart.
"""
import numpy as np

from course.marking import shapes
from course.marking.anatomy import Finding, slack_of, table, unchecked


def first_token(evidence, seen, want, evidences):
    """The first token of a round is wrong: proposal, test, replacement, or the rows of p?"""
    world, rounds = evidence.world, [r for _, r in seen]
    p, drafts = want.p_after(world)(()), [d(list(world.prompt))[-1] for d in want.drafts(world)]
    if max(r.reach for r in rounds) < len(world.prompt) + world.gamma:
        return Finding("rows-shifted", "position")
    if any(r.next_base == r.base == len(world.prompt) for r in rounds):
        return Finding("no-replacement", "residual")
    found = table(evidence, len(p))
    if not np.isfinite(found.guess).all():
        return Finding("unknown", "target")
    slack = slack_of(evidence)
    q = next((d for d in drafts if shapes.near(found.guess, d, slack)), None)
    if q is None:
        return _proposal(found.guess, drafts, rounds, world, slack, want)
    if unchecked(found):
        return _unchecked(evidences, len(p))
    if _coins_missing(found, seen, world):
        return Finding("same-seed", "randomness")
    return _rule(found, p, q, evidence, seen, want)


def _proposal(guess, drafts, rounds, world, slack, want):
    """The guess was not drawn from the draft's law."""
    if any(r.base < len(world.prompt) for r in rounds):
        return Finding("stale-draft-fresh-q", "proposal")
    names = [shapes.proposal(guess, q, slack) for q in drafts]
    name = next((n for n in names if n != "unknown"), "unknown")
    return Finding("reshaped-draft-raw-q" if want.wanted else name, "proposal")


def _unchecked(evidences, V):
    """The first guess is always kept. The second too?"""
    two = next((e for e in evidences if e.world.name == "two guesses"), None)
    seconds = [table(two, V, given=(x,)) for x in range(V)] if two else []
    seconds = [t for t in seconds if np.isfinite(t.guess).all()]
    if seconds and not all(unchecked(t) for t in seconds):
        return Finding("first-unverified", "position")
    return Finding("accept-always", "acceptance")


def _coins_missing(found, seen, world):
    """Was a guess judged by chance and replaced by chance, with fewer than three draws?"""
    kept = np.diag(found.out)
    by_chance = ((kept > 0.02) & (kept < 0.98)).any()
    drawn = found.guess.max() < 0.99 and world.gamma == world.n_new == 1
    for x, row in enumerate(found.out):
        away = np.delete(row, x)
        if by_chance and drawn and np.isfinite(row).all() and (away > 0.01).sum() > 1:
            few = [t.draws for t, r in seen if r.guesses == (x,) and t.new[:1] != (x,)]
            if few and max(few) < 3:
                return True
    return False


def _rule(found, p, q, evidence, seen, want):
    """Test or replacement? found.out[x] is a[x] at x plus (1 - a[x]) times what replaces x."""
    slack, V = found.slack, len(p)
    loose = 10 * slack if evidence.exact else slack
    if not evidence.exact and _race(seen):
        return Finding("shared-noise", "randomness")
    a = kept_if(found.out, shapes.owed(p, q), slack)
    if a is not None and shapes.owed(p, q).max() < 1 - 1e-9:
        return Finding(shapes.acceptance(a, p, q, loose), "acceptance")
    other = _other_rows(found, q, evidence, want)
    if other:
        return other
    if a is not None:
        return Finding(shapes.acceptance(a, p, q, loose), "acceptance")
    for law in (p, q, np.eye(V)[p.argmax()], np.eye(V)[(p - q).argmax()]):
        a = kept_if(found.out, law, slack)
        if a is not None and not shapes.near(np.where(found.guess > 0, a, 0), np.where(
                found.guess > 0, shapes.paid(p, q), 0), slack):
            name = shapes.acceptance(a, p, q, loose)
            matched = law is p and name == "accept-target-probability"
            return Finding("match-and-redraw" if matched else name, "acceptance")
    return _replaced(found, p, q, evidence)


def _race(seen):
    """Are replacements made with no more than the coin of the test? Then by noise used before."""
    late = [r.late_draws for t, r in seen if r.guesses and t.new and r.guesses[0] != t.new[0]]
    early = [r.draws - r.late_draws for t, r in seen if r.guesses]
    return bool(late) and np.median(late) < 2 and np.median(early) > 2 * len(seen[0][1].guesses)


def _replaced(found, p, q, evidence):
    """The replacement is wrong, if the test is right; else both are."""
    ratio = shapes.paid(p, q)
    over = [x for x in range(len(p)) if found.guess[x] > 0 and p[x] < q[x] - found.slack[x]]
    under = [x for x in range(len(p)) if found.guess[x] > 0 and p[x] >= q[x]]
    if not over or not all(found.out[x, x] > 1 - 2 * found.slack[x] for x in under):
        return Finding("unknown", "acceptance")
    names = []
    for x in over:
        law = (found.out[x] - ratio[x] * np.eye(len(p))[x]) / (1 - ratio[x])
        loose = found.slack[x] * (20 if evidence.exact else 1 / (1 - ratio[x]))
        if law.min() < -loose:
            return Finding("unknown", "acceptance")
        names.append(shapes.replacement(law, p, q, x, loose))
    return Finding(names[0] if len(set(names)) == 1 else "unknown", "residual")


def kept_if(out, law, slack):
    """a with out[x] = a[x] at x, plus (1 - a[x]) * law; None if no a gives this."""
    V, a = len(law), np.full(len(law), np.nan)
    for x in range(V):
        others = np.arange(V) != x
        if not np.isfinite(out[x]).all():
            continue
        share = law[others].sum()
        away = out[x][others].sum() / share if share > 1e-9 else 0.0
        fits = shapes.near(out[x][others], away * law[others], slack[x])
        if away > 1 + 20 * slack[x] or not fits:
            return None
        a[x] = 1 - away
    return a


def _other_rows(found, q, evidence, want):
    """Is this a right round for other rows of p?"""
    world, slack = evidence.world, 2 * found.slack
    p, text = want.p_after(world)(()), list(world.prompt)
    written = np.nansum(found.guess[:, None] * found.out, axis=0)
    little = slack_of(evidence)
    late = [want.p_after(world)((x,)) for x in range(len(p))]
    keeps = [shapes.near(found.out[x, x], shapes.paid(late[x], q)[x], slack[x])
             for x in range(len(p)) if found.guess[x] > 0 and late[x][x] < q[x]]
    if len(keeps) > 1 and all(keeps):
        return Finding("rows-late", "position")
    a = kept_if(found.out, shapes.owed(written, q), found.slack)
    over = found.guess > np.maximum(p, 0) + little
    if a is None or shapes.near(written[over], p[over], little) or not shapes.near(
            np.where(found.guess > 0, a, 1), np.where(found.guess > 0, shapes.paid(written, q), 1),
            slack):
        return None
    if any(shapes.near(written, row, little) for row in want.target(world)(text)[:-1]):
        return Finding("rows-shifted", "position")
    if want.wanted and shapes.near(written, world.target(text)[-1], little):
        return Finding("target-untempered", "target")
    return Finding("tempered-target" if shapes.power(written, p, little) else "unknown", "target")
