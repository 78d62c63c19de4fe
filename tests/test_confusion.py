"""No right rule is taken for a wrong one, and a rule is the same rule however it is written.

That every rule of the catalogue is taken for itself is run by tools/confusion.py (make mutate).
"""
import pytest
from confusion import confusion, table
from hypothesis import given, settings, strategies as st
from variants import variant

from course import check
from course.marking.calls import by_rounds
from course.marking.texts import mark
from course.marking.worlds import FOUR, worlds
from course.mistakes import CATALOGUE

FEW = [w for w in worlds() if w.name in (FOUR, "no guess", "cut short")]
SEEDS = st.integers(0, 10**6)
WRONG = {
    "redraw-target": {"residuals": {"p": lambda p, q: p, "copy": lambda p, q: p.copy(),
                                    "times 1": lambda p, q: 1.0 * p}},
    "residual-absolute": {"residuals": {"abs": lambda p, q: abs(p - q) + 1e-300,
                                        "both": lambda p, q: (p - q).clip(0) + (q - p).clip(0)
                                        + 1e-300}},
    "accept-inverted": {"tests": {"u * p < q": lambda u, p, q: u * p < q,
                                  "q > u * p": lambda u, p, q: q > u * p,
                                  "not >=": lambda u, p, q: not u * p >= q}},
}


def test_a_thousand_right_rules():
    """In the small worlds alone, where all parts of the rule are at work; all worlds: test_check.
    """
    called_wrong = []
    for seed in range(1_000):
        name, rule = variant(10_000 + seed)
        found = mark(by_rounds(rule), places=FEW)
        if not (found.ok and found.lossless and found.kind == "right"):
            called_wrong.append((seed, name, found.kind, found.reason))
    assert not called_wrong


@settings(max_examples=12, deadline=None, derandomize=True)
@given(SEEDS)
def test_a_right_rule_is_right_however_it_is_written(seed):
    name, rule = variant(seed)
    verdict = check.speculate(rule)
    assert (verdict.ok, verdict.kind) == (True, "right"), (name, verdict)


@pytest.mark.parametrize("kind", WRONG)
@settings(max_examples=4, deadline=None, derandomize=True)
@given(SEEDS)
def test_a_wrong_rule_is_the_same_wrong_rule_however_it_is_written(kind, seed):
    name, rule = variant(seed, **WRONG[kind])
    verdict = check.speculate(rule)
    assert (verdict.ok, verdict.lossless, verdict.kind) == (False, False, kind), (name, verdict)


def test_the_matrix_says_so_when_it_is_not_the_identity(monkeypatch):
    """A fault planted in the catalogue: one entry carries the rule of another."""
    other = CATALOGUE["redraw-draft"].rule
    monkeypatch.setitem(CATALOGUE, "redraw-target",
                        CATALOGUE["redraw-target"]._replace(rule=other))
    lines, fine = table(confusion(["redraw-target"]))
    assert not fine and any("redraw-target" in line for line in lines)


def test_table_reports_what_is_not_itself():
    lines, fine = table({("a", "generate", "a", True): 1, ("b", "generate", "a", True): 1})
    assert not fine and len(lines) == 2 and "1 of 2" in lines[-1]
