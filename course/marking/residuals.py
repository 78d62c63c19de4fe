"""Marks one part of the rule by itself: residual(p, q). Every pair of laws of parts is tried."""
import math

import numpy as np

from course.marking import shapes
from course.marking.answers import shown
from course.marking.mishaps import Mark
from course.marking.parts import (
    CHANGED,
    CLOSE,
    DUSTY,
    NOTHING,
    SAME,
    given,
    guarded,
    nearly,
    pairs_of_laws,
)
from course.mistakes import CATALOGUE


def residual(fn, hidden=False):
    return guarded(lambda: _residual(fn, pairs_of_laws(hidden)))


def _residual(fn, pairs):
    laws = []
    for p, q in pairs:
        a, b = p.copy(), q.copy()
        law = fn(a, b)
        if law is None or law is ...:
            return NOTHING
        if (a != p).any() or (b != q).any():
            return CHANGED
        law = _numbers(law)
        if law.shape != p.shape:
            return Mark("wrong-type", "numbers", f"For {given(p, q)} your function must return "
                        f"{len(p)} numbers, one for every token.")
        laws.append(law)
    how = f"exact, {len(pairs)} pairs of laws"
    tv = [abs(law - shapes.owed(p, q)).sum() / 2 for law, (p, q) in zip(laws, pairs)]
    if CLOSE < max(tv) < DUSTY:
        return nearly(max(tv), how)
    if not all(d <= CLOSE for d in tv):
        return _wrong_residual(laws, pairs, tv, how)
    return _nothing_owed(fn, how)


def _numbers(law):
    """law as an array of numbers; an empty one if it is none."""
    try:
        return np.asarray(law, dtype=float)
    except (TypeError, ValueError):
        return np.empty(0)


def _wrong_residual(laws, pairs, tv, how):
    wrong = [i for i, d in enumerate(tv) if not d <= CLOSE]
    names = [_name(laws[i], *pairs[i]) for i in wrong]
    kind = max(sorted(set(names)), key=names.count)
    p, q = pairs[wrong[0]]
    reason = CATALOGUE[kind].reason if kind in CATALOGUE else (
        "This is not what is owed, max(p − q, 0), scaled to add up to 1.")
    law = ", ".join(f"{w:.3g}" for w in laws[wrong[0]])
    most = max((min(1.0, d) for d in tv if math.isfinite(d)), default=math.nan)
    return Mark(kind, "residual", f"{reason} For {given(p, q)} yours is ({law}). Which tokens are "
                "still owed something, and does your law add up to 1?", tv=most, how=how)


def _name(law, p, q):
    if shapes.near(law, np.maximum(p - q, 0), 1e-9):
        return "residual-unnormalised"
    for x in np.flatnonzero(q > p):
        name = shapes.replacement(law, p, q, x, 1e-9)
        if name not in ("unknown", "redraw-others", "redraw-uniform"):
            return name
    return "residual-unnormalised" if shapes.near(law, p - q, 1e-9) else "unknown"


def _nothing_owed(fn, how):
    """The law is right where something is owed. Where p equals q, a ValueError is best.

    No rejection happens there, so a law of any kind does no harm; what is no law does.
    """
    p, q = map(np.array, SAME)
    reason = ("What p has above q is what the kept guesses have not paid. Kept and owed add up to "
              "p.")
    try:
        law = fn(p.copy(), q.copy())
    except ValueError:
        return Mark("right", "", reason, True, True, 0.0, how)
    except Exception as error:
        gives = f"fails with {type(error).__name__}"
    else:
        values = _numbers(law)
        if values.shape == p.shape and (values >= 0).all() and abs(values.sum() - 1) < CLOSE:
            return Mark("right", "", f"{reason} For p = q nothing is owed, and yours gives a law "
                        "all the same. No rejection asks for it; a ValueError would tell a caller "
                        "who does.", True, True, 0.0, how)
        gives = f"gives {shown(law)}"
    return Mark("nothing-owed", "numbers", f"{reason} One thing is missing: for p = q nothing is "
                f"owed, and yours {gives}, which is no law. No rejection happens there, but others "
                "may call your function: raise a ValueError that says so.", False, True, 0.0, how)
