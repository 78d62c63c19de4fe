"""Lines of code in a wrong order, which the reader puts right: a Parsons problem.

The lines keep their indentation, so that the order is all there is to find. The function that comes
out is marked like any other. Left out: lines that do not belong (a choice problem asks for those).
"""
import numpy as np

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
    if order is None or order is ... or any(i is None or i is ... for i in order):
        return None
    if sorted(order) != list(range(len(lines))):
        return _failing(ValueError(f"use each of the numbers 0 to {len(lines) - 1} once"))
    source, space = "\n".join(lines[i] for i in order), BUILTINS | names
    first = lines[order[0]].strip()
    if not first.startswith("def "):
        return _failing(SyntaxError(f'a function begins with its "def" line, not with "{first}"'))
    try:
        exec(compile(source, "<your order>", "exec"), space)
    except SyntaxError as error:
        line = source.split("\n")[(error.lineno or 1) - 1].strip()
        return _failing(SyntaxError(f'the line "{line}" cannot stand there'))
    return space[first[4:first.index("(")]]


def _failing(error):
    def function(*args, **kwargs):
        raise error
    return function
