"""Marks a number: is it the right one, and if not, which usual wrong formula gives it?

A question holds `given` (names and numbers), `right` (a formula in those names) and a list `wrong`
of formulas, each with the idea behind it and the reason. All formulas are evaluated, none is
guessed. Left out: units and symbolic answers.
"""
import math

import numpy as np

NAMES = {"sum": np.sum, "minimum": np.minimum, "maximum": np.maximum, "array": np.array, "abs": abs,
         "log": np.log, "sqrt": np.sqrt, "max": np.max, "argmax": np.argmax}


def value_of(formula, given):
    """The number that a formula of a question gives for these laws and numbers."""
    names = {k: np.array(v) if isinstance(v, list) else v for k, v in given.items()}
    return float(eval(formula, {"__builtins__": {}, **NAMES, **names}))  # our own formulas alone


def judged(entry, value):
    """(ok, kind, reason) for a reader's value."""
    if value is None or value is ... or (isinstance(value, str) and value.strip() in {"?", ""}):
        return False, "no answer yet", "No answer yet: put a number in place of the question mark."
    try:
        number = float(value)
    except (TypeError, ValueError):
        return False, "wrong-type", f"{value!r:.60} is no number. Give one number, such as 0.25."
    if not math.isfinite(number):
        return False, "wrong-type", f"{number} is no finite number. Is something divided by 0?"
    slack = entry.get("slack", 0.0051)
    right = value_of(entry["right"], entry["given"])
    if abs(number - right) <= slack:
        return True, "right", f"Your answer {number:g}, right. {entry['reason']}"
    wrong = [(abs(number - value_of(w["formula"], entry["given"])), i, w)
             for i, w in enumerate(entry["wrong"])]
    distance, _, nearest = min(wrong, default=(math.inf, 0, None))
    if distance <= slack:
        return False, nearest["idea"], f"Your answer {number:g}, not yet. {nearest['reason']}"
    return False, "unknown", f"Your answer {number:g}, not yet. {_size(entry, number)}"


def _size(entry, number):
    low, high = entry.get("between", (-math.inf, math.inf))
    if not low <= number <= high:
        return f"It must lie between {low:g} and {high:g}."
    return entry.get("hint",
        "It is none of the usual wrong values either: is it a slip in the sums?")
