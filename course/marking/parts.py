"""Marks one part of the rule by itself: accept(x, p, q, rng). residuals marks the other.

Small enough to be looked at everywhere: every token of a list of pairs of laws, with zeros, with
p = q, with certain laws. Left out: laws of more than five tokens.
"""
import numpy as np
from numpy.random import default_rng

from course.chooser import Chooser
from course.exact import NotEnumerable, TooManyPaths, law as exact_law
from course.marking import shapes
from course.marking.answers import Fault, shown
from course.marking.limits import quiet, within
from course.marking.mishaps import HANG, OTHER_SOURCE, Mark, heard, is_blank, said
from course.marking.values import UNTOUCHED
from course.mistakes import CATALOGUE
from course.watch import other_sources

SHOWN = [((0.5, 0.3, 0.2), (0.2, 0.2, 0.6)), ((0.1, 0.2, 0.3, 0.4), (0.25, 0.35, 0.3, 0.1)),
         ((0.5, 0.0, 0.5), (0.25, 0.5, 0.25)), ((0.5, 0.2, 0.3), (0.0, 0.4, 0.6)),
         ((1.0, 0.0), (0.5, 0.5)), ((0.6, 0.4), (0.0, 1.0)), ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0))]
HIDDEN = [((0.05, 0.45, 0.3, 0.2), (0.4, 0.1, 0.35, 0.15)), ((0.3, 0.3, 0.4), (0.35, 0.55, 0.1)),
          ((0.0, 0.0, 0.7, 0.3, 0.0), (0.2, 0.2, 0.2, 0.2, 0.2)), ((0.9, 0.1), (0.8, 0.2))]
SAME = ((0.2, 0.5, 0.3), (0.2, 0.5, 0.3))
CLOSE, DUSTY, PATHS, RUNS = 1e-10, 1e-6, 400, 2_000
NOTHING = Mark("no answer yet", "", "No answer yet: your function returns nothing.")
CHANGED = Mark("changed-argument", "rollback", "Your function changes p or q, and the caller still "
               "needs them. Work on a copy.")


def guarded(marked):
    """What marked() gives, under a time limit, without a sound; a Mark of whatever went wrong."""
    with quiet() as ear:
        try:
            found = within(HANG, marked)
        except KeyboardInterrupt:  # the Stop button
            raise
        except Fault as fault:
            found = Mark(fault.kind, fault.family, fault.reason)
        except TimeoutError as error:
            found = Mark("endless", "stopping", f"Your function never ends, or is very slow: "
                         f"{error}.")
        except BaseException as error:
            found = Mark("no answer yet", "", UNTOUCHED) if is_blank(error) else Mark(
                "crash", "numbers", f"Your function fails: {said(error)}.")
    return heard(ear, found)


def nearly(gap, how):
    """The Mark of a part that is off by no more than a small number added somewhere."""
    return Mark("epsilon", "numbers", f"Off by {gap:.1g}: nearly right, not exact. Is a small "
                "number added, in a denominator perhaps? Compare u · q with p, which needs no "
                "division, and divide by a sum only where it is not 0.", tv=float(gap), how=how)


def pairs_of_laws(hidden):
    return [tuple(np.array(law) for law in pair) for pair in (HIDDEN if hidden else SHOWN)]


def given(p, q):
    return f"p = ({', '.join(f'{w:g}' for w in p)}) and q = ({', '.join(f'{w:g}' for w in q)})"


def accept(fn, hidden=False):
    return guarded(lambda: _accept(fn, pairs_of_laws(hidden) + [tuple(map(np.array, SAME))]))


def _accept(fn, pairs):
    rates, how, trouble, other = [], "exact", [], False
    for p, q in pairs:
        for x in map(int, np.flatnonzero(q)):
            once = _watched(fn, x, p, q, trouble)
            rate, exact = _kept(once)
            if trouble:
                return trouble[0]
            rates.append((p, q, x, rate))
            other = other or (not exact and _has_other_source(once))
            how = how if exact else f"sampled, n = {RUNS:,} each"
    slack = CLOSE if how == "exact" else 5 / np.sqrt(RUNS)
    gaps = [abs(rate - min(1.0, p[x] / q[x])) for p, q, x, rate in rates]
    how = f"{how}, {len(rates)} tokens of {len(pairs)} pairs of laws"
    if how.startswith("exact") and CLOSE < max(gaps) < DUSTY:
        return nearly(max(gaps), how)
    if max(gaps) > slack:
        return _wrong_test(rates, gaps, slack, how)
    if other:
        return Mark("other-source", "randomness", OTHER_SOURCE, lossless=True, tv=0.0, how=how)
    if any(p[x] == 0 and _is_kept_by(fn, 0.0, x, p, q) for p, q, x, _ in rates):
        return Mark("accept-boundary", "acceptance", CATALOGUE["accept-boundary"].reason,
                    lossless=True, tv=0.0, how=how)
    return Mark("right", "", "A guess is kept with min(1, p / q), so kept guesses pay min(p, q) of "
                "every token, and no token that the target forbids.", True, True, 0.0, how)


def _watched(fn, x, p, q, trouble):
    """fn on x, p and q as a sampler of [0] or [1], which notes what else is odd in trouble."""
    def once(rng):
        a, b = p.copy(), q.copy()
        answer = fn(x, a, b, rng)
        if answer is None or answer is ...:
            trouble.append(NOTHING)
        elif np.ndim(answer) or not isinstance(answer, (bool, np.bool_, int, np.integer)):
            trouble.append(Mark("wrong-type", "numbers", f"Your function returned {shown(answer)}. "
                                "Return True to keep the guess, False to reject it."))
        elif (a != p).any() or (b != q).any():
            trouble.append(CHANGED)
        return [0 if trouble else int(bool(answer))]
    return once


def _kept(once):
    """(how often once(rng) gives [1], exactly?)"""
    try:
        return exact_law(once, PATHS).get((1,), 0.0), True
    except (NotEnumerable, TooManyPaths):
        rng = default_rng(11)
        return sum(once(rng)[0] for _ in range(RUNS)) / RUNS, False


def _has_other_source(once):
    with other_sources() as used:
        once(Chooser((), iter(())))  # every coin falls on 0.5
    return used()


def _is_kept_by(fn, coin, x, p, q):
    """Does fn keep x when every coin is this number?"""
    class Fixed:
        def random(self, size=None):
            return coin if size is None else np.full(size, coin)
        uniform = random
    try:
        return bool(fn(x, p.copy(), q.copy(), Fixed()))
    except Exception:
        return False


def _wrong_test(rates, gaps, slack, how):
    i = next(i for i, gap in enumerate(gaps) if gap > slack)
    names = []
    for p, q in {(tuple(p), tuple(q)): (p, q) for p, q, _, _ in rates}.values():
        a = np.full(len(p), np.nan)
        for p2, _, x, rate in rates:
            if p2 is p:
                a[x] = rate
        right = np.where(q > 0, shapes.paid(p, q), np.nan)
        if not shapes.near(np.nan_to_num(a), np.nan_to_num(right), slack):
            names += shapes.acceptances(a, p, q, slack)
    kind = max(names, key=names.count)  # of those that fit equally often, the likeliest
    p, q, x, rate = rates[i]
    reason = CATALOGUE[kind].reason if kind in CATALOGUE else (
        "Guesses are not kept with probability min(1, p / q).")
    return Mark(kind, "acceptance", f"{reason} For {given(p, q)} yours keeps token {x} with "
                f"probability {rate:.3f}; it must be {min(1.0, p[x] / q[x]):.3f}.",
                tv=float(max(gaps)), how=how)
