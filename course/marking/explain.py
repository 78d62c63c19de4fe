"""Which single ideas explain what became of a guess? A table is read as a test and a replacement.

Given guess x, a rule writes x with probability a[x], and else what it replaces it by. Several ideas
may fit one table: all are given, the likeliest first. Where one of them is right, it fits in every
world, so first.py asks more than one.
"""
import numpy as np

from course.marking import shapes


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


def tests(found, p, q, loose):
    """The ids of tests that explain the table, if what replaces a guess is drawn from some usual
    law."""
    names, come, sure = [], found.guess > 0, np.eye(len(p))
    for law in (shapes.owed(p, q), p, q, sure[p.argmax()], sure[(p - q).argmax()]):
        a = kept_if(found.out, law, found.slack)
        if a is not None and not shapes.near(a[come], shapes.paid(p, q)[come], found.slack[come]):
            fits = shapes.acceptances(a, p, q, loose)
            names += ["match-and-redraw" if law is p and name == "accept-target-probability"
                      else name for name in fits]
    return list(dict.fromkeys(names))


def threshold(found, p, q):
    """(low, high) between which a threshold on p must lie, if guesses are kept by one."""
    for law in (shapes.owed(p, q), p):
        a = kept_if(found.out, law, found.slack)
        if a is not None:
            return p[a < 0.5].max(initial=0.0), p[a >= 0.5].min(initial=1.0)
    return 0.0, 1.0


def replacements(found, p, q, exact):
    """The ids of what may replace a guess, if the test is right; [] if it is not."""
    ratio = shapes.paid(p, q)
    over = [x for x in range(len(p)) if found.guess[x] > 0 and p[x] < q[x] - found.slack[x]]
    under = [x for x in range(len(p)) if found.guess[x] > 0 and p[x] >= q[x]]
    if not over or not all(found.out[x, x] > 1 - 2 * found.slack[x] for x in under):
        return []
    names = None
    for x in over:
        law = (found.out[x] - ratio[x] * np.eye(len(p))[x]) / (1 - ratio[x])
        loose = found.slack[x] * (20 if exact else 1 / (1 - ratio[x]))
        if law.min() < -loose:
            return []
        fits = shapes.replacements(law, p, q, x, loose)
        names = fits if names is None else [name for name in names if name in fits]
    return names or ["unknown"]


def may_believe(a, p, found):
    """Is there a q with min(1, p / q) = a? Told by three tokens or more."""
    unsure = (found.guess > 0) & (a < 1 - found.slack)
    if (found.guess > 0).sum() < 3 or (a[unsure] <= found.slack[unsure]).any():
        return False
    return (p[unsure] / a[unsure]).sum() <= 1 + len(p) * found.slack.max()
