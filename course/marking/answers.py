"""What a learner's function returned, as a tuple of tokens, or a sentence on what is wrong with it.
"""
import inspect
import operator
import re
import reprlib

import numpy as np

from course.marking.values import unanswered


class Fault(BaseException):
    """Something is wrong with one run that no law shows. No Exception: learners catch those."""

    def __init__(self, kind, family, reason):
        super().__init__(reason)
        self.kind, self.family, self.reason = kind, family, reason


def as_ints(result):
    """result as a tuple of ints. Raises Fault for anything that is not a list of whole numbers."""
    if inspect.iscoroutine(result):
        result.close()  # else Python complains later that nobody awaited it
        raise Fault("wrong-type", "numbers", "Your function is an `async def`, and nobody waits "
                    "for its answer here. Write `def`.")
    if inspect.isgenerator(result):
        raise Fault("wrong-type", "numbers", "Your function has a `yield` in it, so it returns no "
                    "text but a generator. Collect the tokens in a list, and return that.")
    holes = isinstance(result, (list, tuple)) and any(x is None for x in result)
    if unanswered(result) and not holes:
        raise Fault("no answer yet", "", "No answer yet: your function returns nothing.")
    if isinstance(result, (str, bytes, dict, set, frozenset)) or not np.iterable(result):
        raise Fault("wrong-type", "numbers", f"Your function returned {shown(result)}. Return a "
                    "list of tokens, which are ints.")
    try:
        return tuple(_as_int(x) for x in result)
    except TypeError:
        raise Fault("wrong-type", "numbers", f"Your function returned {shown(result)}. A token is "
                    "an int, and a text is a flat list of them.") from None


def _as_int(x):
    """x as an int. Raises TypeError for what is none, a bool among it."""
    x = x.item() if getattr(x, "ndim", 1) == 0 else x
    if isinstance(x, bool):
        raise TypeError
    return operator.index(x)


def shown(value):
    """value as a learner knows it, in sixty letters at the most, the same in every run."""
    try:
        long = isinstance(value, (list, tuple, dict, set))
        text = plain(reprlib.repr(value) if long else repr(value))
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def plain(text):
    """text in one line, without the addresses of objects."""
    return " ".join(re.sub(r" at 0x[0-9a-fA-F]+", "", text).split())
