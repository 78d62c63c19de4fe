"""Lines of code in a wrong order, which the reader puts right: a Parsons problem.

The lines keep their indentation, so that the order is all there is to find. The function that comes
out is marked like any other. Left out: lines that do not belong (a choice problem asks for those).
"""
import functools
import traceback

import numpy as np

from course.marking.answers import Fault

FILE = "<your order>"
BUILTINS = {"range": range, "len": len, "enumerate": enumerate, "zip": zip, "list": list,
            "int": int, "max": max, "min": min, "np": np}


def shuffled(lines):
    """The lines as text, numbered from 0, to be shown to the reader."""
    return "\n".join(f"{i:2}  {line}" for i, line in enumerate(lines))


def assembled(lines, order, **names):
    """The function that lines[order[0]], lines[order[1]], ... define; None for a blank order.

    names: what the lines use beside NumPy and Python's own words. An order that gives no function
    comes out as a function that says why when it is called.
    """
    if order is None or order is ... or (
            isinstance(order, (list, tuple)) and any(i is None or i is ... for i in order)):
        return None
    if not isinstance(order, (list, tuple)) or sorted(map(str, order)) != sorted(
            map(str, range(len(lines)))):
        return _failing(f"Your order must be a list that has each of the numbers 0 to "
                        f"{len(lines) - 1} once.")
    source, space = [lines[int(i)] for i in order], BUILTINS | names
    first = source[0].strip()
    if not first.startswith("def "):
        return _failing(f'A function begins with its "def" line, not with "{first}".')
    try:
        exec(compile("\n".join(source), FILE, "exec"), space)
    except SyntaxError as error:
        return _failing(f'The line "{source[(error.lineno or 1) - 1].strip()}" cannot stand '
                        "there.")
    return _telling(space[first[4:first.index("(")]], source)


def _telling(function, source):
    """function, which says so in plain words if a line of it comes too early."""
    @functools.wraps(function)
    def told(*args, **named):
        try:
            return function(*args, **named)
        except NameError as error:  # UnboundLocalError is one
            lines = [f.lineno for f in traceback.extract_tb(error.__traceback__)
                     if f.filename == FILE]
            name = str(error).split("'")[1]
            raise Fault("wrong-order", "numbers", f'In your order the line '
                        f'"{source[lines[-1] - 1].strip()}" uses {name} before it is there.'
                        ) from None
    return told


def _failing(reason):
    def function(*args, **kwargs):
        raise Fault("wrong-order", "numbers", reason)
    return function
