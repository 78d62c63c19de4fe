"""Marks the two parts of the rule by themselves: accept(x, p, q, rng) and residual(p, q).

Both are small enough to be looked at everywhere: every token of a list of pairs of laws, with
zeros, with p = q, with certain laws. Left out: laws of more than five tokens.
"""
import math

import numpy as np

from course.exact import NotEnumerable, TooManyPaths, law as exact_law
from course.marking import shapes
from course.marking.examine import MOST_PATHS
from course.marking.limits import quiet, within
from course.marking.mishaps import HANG, Mark, is_blank, line_of
from course.marking.values import UNTOUCHED
from course.mistakes import CATALOGUE

SHOWN = [((0.5, 0.3, 0.2), (0.2, 0.2, 0.6)), ((0.1, 0.2, 0.3, 0.4), (0.25, 0.35, 0.3, 0.1)),
         ((0.5, 0.0, 0.5), (0.25, 0.5, 0.25)), ((0.5, 0.2, 0.3), (0.0, 0.4, 0.6)),
         ((1.0, 0.0), (0.5, 0.5)), ((0.6, 0.4), (0.0, 1.0)), ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0))]
HIDDEN = [((0.05, 0.45, 0.3, 0.2), (0.4, 0.1, 0.35, 0.15)), ((0.3, 0.3, 0.4), (0.35, 0.55, 0.1)),
          ((0.0, 0.0, 0.7, 0.3, 0.0), (0.2, 0.2, 0.2, 0.2, 0.2)), ((0.9, 0.1), (0.8, 0.2))]
SAME = ((0.2, 0.5, 0.3), (0.2, 0.5, 0.3))
CLOSE, RUNS = 1e-10, 4_000


def guarded(marked):
    """marked() under a time limit, without a sound; a Mark of whatever went wrong."""
    with quiet():
        try:
            return within(HANG * 3, marked)
        except TimeoutError as error:
            return Mark("endless", "stopping", f"Your function never ends; {error}.")
        except (Exception, SystemExit) as error:
            if is_blank(error):
                return Mark("no answer yet", "", UNTOUCHED)
            return Mark("crash", "numbers", f"Your function fails: {type(error).__name__}: "
                        f"{str(error)[:200]}{line_of(error)}.")


def _pairs(hidden):
    return [tuple(np.array(law) for law in pair) for pair in (HIDDEN if hidden else SHOWN)]


def _given(p, q):
    return f"p = ({', '.join(f'{w:g}' for w in p)}) and q = ({', '.join(f'{w:g}' for w in q)})"


def accept(fn, hidden=False):
    return guarded(lambda: _accept(fn, _pairs(hidden) + [tuple(map(np.array, SAME))]))


def _accept(fn, pairs):
    rates, how = [], "exact"
    for p, q in pairs:
        for x in np.flatnonzero(q):
            rate, exact = _kept(fn, int(x), p, q)
            if isinstance(rate, Mark):
                return rate
            rates.append((p, q, int(x), rate))
            how = how if exact else f"sampled, n = {RUNS:,} each"
    slack = CLOSE if how == "exact" else 5 / np.sqrt(RUNS)
    gaps = [abs(rate - min(1.0, p[x] / q[x])) for p, q, x, rate in rates]
    how = f"{how}, {len(rates)} tokens of {len(pairs)} pairs of laws"
    if max(gaps) > slack:
        return _wrong_test(rates, gaps, slack, how)
    if any(p[x] == 0 and _is_kept_by(fn, 0.0, x, p, q) for p, q, x, _ in rates):
        return Mark("accept-boundary", "acceptance", CATALOGUE["accept-boundary"].reason, False,
                    True, 0.0, how)
    return Mark("right", "", "A guess is kept with min(1, p / q), so kept guesses pay min(p, q) of "
                "every token, and no token that the target forbids.", True, True, 0.0, how)


def _kept(fn, x, p, q):
    """(how often fn keeps x, exactly?), or (a Mark, True) for an answer that is no bool."""
    odd = []

    def once(rng):
        a, b = p.copy(), q.copy()
        answer = fn(x, a, b, rng)
        if answer is None or answer is ...:
            odd.append(Mark("no answer yet", "", "No answer yet: your function returns nothing."))
        elif np.ndim(answer) or not isinstance(answer, (bool, np.bool_, int, np.integer)):
            odd.append(Mark("wrong-type", "numbers",
                            f"Your function returned {answer!r:.60}. Return "
                            "True to keep the guess, False to reject it."))
        elif (a != p).any() or (b != q).any():
            odd.append(Mark("changed-argument", "rollback", "Your function changes p or q, and the "
                            "caller still needs them. Work on a copy."))
        return [0 if odd else int(bool(answer))]
    try:
        kept = exact_law(once, MOST_PATHS).get((1,), 0.0)
        exact = True
    except (NotEnumerable, TooManyPaths):
        rng = np.random.default_rng(11)
        kept, exact = sum(once(rng)[0] for _ in range(RUNS)) / RUNS, False
    return (odd[0], True) if odd else (kept, exact)


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
    return Mark(kind, "acceptance", f"{reason} For {_given(p, q)} yours keeps token {x} with "
                f"probability {rate:.3f}; it must be {min(1.0, p[x] / q[x]):.3f}.", False, False,
                float(max(gaps)), how)


def residual(fn, hidden=False):
    return guarded(lambda: _residual(fn, _pairs(hidden)))


def _residual(fn, pairs):
    laws = []
    for p, q in pairs:
        a, b = p.copy(), q.copy()
        law = fn(a, b)
        if law is None or law is ...:
            return Mark("no answer yet", "", "No answer yet: your function returns nothing.")
        if (a != p).any() or (b != q).any():
            return Mark("changed-argument", "rollback",
                        "Your function changes p or q, and the caller "
                        "still needs them. Work on a copy.")
        try:
            law = np.asarray(law, dtype=float)
        except (TypeError, ValueError):
            law = np.empty(0)
        if law.shape != p.shape:
            return Mark("wrong-type", "numbers", f"For {_given(p, q)} your function must return "
                        f"{len(p)} numbers, one for every token.")
        laws.append(law)
    how = f"exact, {len(pairs)} pairs of laws"
    tv = [abs(law - shapes.owed(p, q)).sum() / 2 for law, (p, q) in zip(laws, pairs)]
    if not max(tv) <= CLOSE:
        return _wrong_residual(laws, pairs, tv, how)
    return _nothing_owed(fn, how)


def _wrong_residual(laws, pairs, tv, how):
    wrong = [i for i, d in enumerate(tv) if not d <= CLOSE]
    names = [_name(laws[i], *pairs[i]) for i in wrong]
    kind = max(sorted(set(names)), key=names.count)
    p, q = pairs[wrong[0]]
    reason = CATALOGUE[kind].reason if kind in CATALOGUE else (
        "This is not what is owed, max(p − q, 0), scaled to add up to 1.")
    shown = ", ".join(f"{w:.3g}" for w in laws[wrong[0]])
    most = max((min(1.0, d) for d in tv if math.isfinite(d)), default=math.nan)
    return Mark(kind, "residual",
                f"{reason} For {_given(p, q)} yours is ({shown}). Which tokens are "
                "still owed something, and does your law add up to 1?", False, False, most, how)


def _name(law, p, q):
    if shapes.near(law, np.maximum(p - q, 0), 1e-9):
        return "residual-unnormalised"
    for x in np.flatnonzero(q > p):
        name = shapes.replacement(law, p, q, x, 1e-9)
        if name not in ("unknown", "redraw-others", "redraw-uniform"):
            return name
    return "residual-unnormalised" if shapes.near(law, p - q, 1e-9) else "unknown"


def _nothing_owed(fn, how):
    """The law is right where something is owed. Where p equals q, a ValueError is due."""
    p, q = map(np.array, SAME)
    try:
        law = fn(p.copy(), q.copy())
    except ValueError:
        return Mark("right", "",
                    "What p has above q is what the kept guesses have not paid. Kept and "
                    "owed add up to p.", True, True, 0.0, how)
    except Exception as error:
        law = f"{type(error).__name__}"
    return Mark("nothing-owed", "numbers",
                f"For p = q yours gives {law!r:.60}. Nothing is owed there, "
                "and there is no law to draw from: raise a ValueError that says so.", False, True,
                0.0,
                how)
