"""Marks a number, or a list of them: is it right, and if not, which usual wrong formula gives it?

A question holds `given` (names and numbers), `right` (a formula in those names) and a list `wrong`
of formulas, each with the idea behind it and the reason. All formulas are evaluated, none is
guessed. A trace, a law or a mask is a list, or a list of rows. Left out: units, symbolic answers.
"""
import math

import numpy as np

NAMES = {name: getattr(np, name) for name in (
    "array", "sum", "cumsum", "minimum", "maximum", "max", "argmax", "argmin", "where", "log",
    "exp", "sqrt", "ceil", "arange", "ones", "zeros", "eye", "tril", "triu")} | {"abs": abs}
SLACK = 0.0051  # an answer may be rounded to two places
UNTOUCHED = "No answer yet: put your answer in place of the three dots."


def value_of(formula, given):
    """The number, or array of numbers, that a formula of a question gives."""
    names = {k: np.array(v) if isinstance(v, list) else v for k, v in given.items()}
    return np.asarray(eval(formula, {"__builtins__": {}, **NAMES, **names}), float)  # our own alone


def judged(entry, value):
    """(ok, kind, reason) for a reader's value."""
    if unanswered(value):
        return False, "no answer yet", UNTOUCHED
    right = value_of(entry["right"], entry["given"])
    try:
        answer = np.asarray(value, float)
    except (TypeError, ValueError):
        answer = np.array(math.nan)
    if answer.shape != right.shape or not np.isfinite(answer).all():
        return False, "wrong-type", f"{_short(value)} is not {_kind_of(right)}."
    slack = entry.get("slack", SLACK)
    if _gap(answer, right) <= slack:
        return True, "right", f"Your answer {_shown(answer)}, right. {entry['reason']}"
    wrong = [(_gap(answer, value_of(w["formula"], entry["given"])), i, w)
             for i, w in enumerate(entry["wrong"])]
    gap, _, nearest = min(wrong, default=(math.inf, 0, None))
    if gap <= slack:
        return False, nearest["idea"], f"Your answer {_shown(answer)}, not yet. {nearest['reason']}"
    return False, "unknown", f"Your answer {_shown(answer)}, not yet. {_clue(entry, answer, right)}"


def unanswered(value):
    """Is there a blank in place of an answer, or of a part of it?"""
    if isinstance(value, (list, tuple)) and value:
        return any(unanswered(part) for part in value)
    return value is None or value is ... or (
        isinstance(value, str) and value.strip() in {"?", ""})


def _gap(a, b):
    return float(np.max(np.abs(a - b), initial=0.0)) if a.shape == b.shape else math.inf


def _kind_of(right):
    """What an answer of this shape looks like."""
    if right.ndim == 0:
        return "a number. Give one number, such as 0.25"
    if right.ndim == 1:
        return f"a list of {len(right)} numbers"
    return f"a table of {right.shape[0]} rows with {right.shape[1]} numbers each"


def _short(value):
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _shown(answer):
    if answer.ndim == 0:
        return f"{answer:g}"
    whole = answer.astype(int) if (answer == answer.round()).all() else answer
    return np.array2string(whole, separator=", ", precision=4)


def _clue(entry, answer, right):
    """For an answer that no known idea gives: its size, or the first place where it is off."""
    low, high = entry.get("between", (-math.inf, math.inf))
    if answer.min(initial=low) < low or answer.max(initial=high) > high:
        return f"It must lie between {low:g} and {high:g}."
    if right.ndim:
        off = np.abs(answer - right)
        place = tuple(int(i) for i in np.argwhere(off > entry.get("slack", SLACK))[0])
        where = f"row {place[0]}, column {place[1]}" if len(place) == 2 else f"place {place[0]}"
        return entry.get("hint", f"It first differs at {where}, counted from 0.")
    return entry.get("hint", "It is none of the usual wrong values: is it a slip in the sums?")
