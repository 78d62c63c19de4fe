"""Lines in a wrong order: the right order is the function, every other one says what is wrong."""
import itertools

import pytest

from course import check
from course.puzzle import assembled, shuffled
from course.speculative import residual

LINES = ("    return left / left.sum()", "    left = np.maximum(p - q, 0)", "def owed(p, q):",
         "    if left.max() <= 1e-12:", '        raise ValueError("nothing is owed: p equals q")')
ORDER = [2, 1, 3, 4, 0]


def test_the_right_order_is_the_function():
    assert check.residual(assembled(LINES, ORDER)).ok


def test_names_are_handed_on():
    assert assembled(("def twice(p, q):", "    return residual(p, q)"), [0, 1],
                     residual=residual) and check.residual(
        assembled(("def twice(p, q):", "    return residual(p, q)"), [0, 1], residual=residual)).ok


@pytest.mark.parametrize("blank", [None, ..., [...], [2, 1, ..., 4, 0]])
def test_a_blank_is_no_answer_yet(blank):
    assert check.residual(assembled(LINES, blank)).kind == "no answer yet"


def test_no_other_order_is_right():
    for order in itertools.permutations(range(len(LINES))):
        if list(order) != ORDER:
            verdict = check.residual(assembled(LINES, order))
            assert not verdict.ok and verdict.kind != "no answer yet", order


@pytest.mark.parametrize("order, said", [
    ([2, 1, 3, 4], "each of the numbers 0 to 4 once"), ([2, 1, 3, 4, 4], "once"),
    ([2.5, 1, 3, 4, 0], "once"), (5, "must be a list"), ("21340", "must be a list"),
    ([1, 2, 3, 4, 0], 'begins with its "def" line'), ([2, 4, 1, 3, 0], "cannot stand there"),
    ([2, 3, 4, 1, 0], 'the line "if left.max() <= 1e-12:" uses left before it is there')])
def test_an_order_that_gives_no_function_says_why(order, said):
    verdict = check.residual(assembled(LINES, order))
    assert not verdict.ok and verdict.kind == "wrong-order" and said in verdict.reason
    assert "γ" not in verdict.reason


def test_a_round_in_a_wrong_order_says_so_without_settings():
    lines = ("def round(target, draft, tokens, gamma, rng):", "    p = target(tokens)[-1]",
             "    return [int(rng.choice(len(p), p=p))]")
    assert check.speculate(assembled(lines, [0, 1, 2])).ok
    verdict = check.speculate(assembled(lines, [0, 2, 1]))
    assert verdict.kind == "wrong-order" and "uses p before" in verdict.reason
    assert "γ" not in verdict.reason and not verdict.lossless


def test_shuffled_numbers_every_line():
    shown = shuffled(LINES).split("\n")
    assert [int(line[:2]) for line in shown] == list(range(5))
    assert [line[4:] for line in shown] == list(LINES)
