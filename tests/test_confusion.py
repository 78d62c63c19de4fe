"""Every rule of the catalogue is taken for itself, and no right rule for a wrong one. Slow."""
import pytest
from confusion import table, verdicts
from variants import variant

from course import check
from course.marking.texts import mark
from course.marking.worlds import FOUR, worlds
from course.mistakes import ALIASES, CATALOGUE

FEW = [w for w in worlds() if w.name in (FOUR, "no guess", "cut short")]


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=lambda e: e.id)
def test_taken_for_itself(entry):
    contract, v = list(verdicts(entry))[-1]
    assert v.kind == ALIASES.get(entry.id, entry.id), (contract, v)
    assert (v.family, v.lossless, v.ok) == (entry.family, entry.lossless, entry.ok)


def test_a_thousand_right_rules():
    """In the small worlds alone, where all parts of the rule are at work; all worlds: test_check.
    """
    called_wrong = []
    for seed in range(1_000):
        name, rule = variant(10_000 + seed)
        found = mark(check.by_rounds(rule), places=FEW)
        if not (found.ok and found.lossless and found.kind == "right"):
            called_wrong.append((seed, name, found.kind, found.reason))
    assert not called_wrong


def test_table_reports_what_is_not_itself():
    lines, fine = table({("a", "generate", "a", True): 1, ("b", "generate", "a", True): 1})
    assert not fine and len(lines) == 2 and "1 of 2" in lines[-1]
