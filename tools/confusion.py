"""Which idea is each rule of the catalogue taken for? python tools/confusion.py [id ...]

Every rule of course/mistakes.py is handed to course.check as a learner's function would be; the
table has one line for each rule that is not taken for itself, and the count of those that are. Exit
status 1 if one is taken for another, or a right rule is called wrong.
"""
import contextlib
import io
import sys
from collections import Counter

import numpy as np

from course import check
from course.mistakes import ALIASES, CATALOGUE, looped
from course.models import rows

END = 2


def half_warm(model):
    """Temperature 1/2, then no token below 0.1: the law that the wanted rules should follow."""
    def wanted(tokens):
        laws = rows(model, tokens) ** 2
        laws = laws / laws.sum(axis=1, keepdims=True)
        laws = np.where(laws < np.minimum(0.1, laws.max(axis=1, keepdims=True)), 0.0, laws)
        return laws / laws.sum(axis=1, keepdims=True)
    return wanted


def verdicts(entry):
    """(how it was asked, Verdict) for every contract that this rule can be written for."""
    if entry.level == "wanted":
        rule = entry.rule(half_warm)
        yield "generate", check.generate(lambda *args: looped(rule, *args), wanted=half_warm)
        return
    end = END if entry.id.startswith("end-") else None
    yield "generate", check.generate(entry.generate, end=end)
    if entry.level == "round":
        yield "speculate", check.speculate(entry.rule)


def confusion(names=None):
    """Counter of (rule, contract, kind, family and lossless as they should be?)."""
    found = Counter()
    for name, entry in CATALOGUE.items():
        if names and name not in names:
            continue
        for contract, verdict in verdicts(entry):
            rest = (verdict.family == entry.family and verdict.lossless == entry.lossless
                    and verdict.ok == entry.ok)
            found[ALIASES.get(name, name), contract, verdict.kind, rest] += 1
    return found


def table(found):
    """(lines to print, is it the identity?)."""
    lines, wrong = [], 0
    for (name, contract, kind, rest), n in found.items():
        if kind != name or not rest:
            wrong += n
            lines.append(f"{name:28} {contract:10} taken for {kind}"
                         + ("" if rest else " (family, ok or lossless differ)"))
    total = sum(found.values())
    lines.append(f"{total - wrong} of {total} diagnosed as themselves: "
                 + ("the identity" if not wrong else "NOT the identity"))
    return lines, not wrong


if __name__ == "__main__":
    with contextlib.redirect_stdout(io.StringIO()):  # the checks' progress
        found = confusion(sys.argv[1:])
    lines, fine = table(found)
    print("\n".join(lines))
    sys.exit(not fine)
