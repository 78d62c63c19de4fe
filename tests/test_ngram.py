"""Witten and Bell's laws against a table by hand and against the recursion in exact fractions."""
from fractions import Fraction

import numpy as np
import pytest

from course.models import rows
from course.ngram import witten_bell

EXACT, V = 1e-12, 4
TEXTS = [[int(x) for x in np.random.default_rng(seed).integers(3, size=12)] for seed in range(3)]


def fraction(texts, context, x, vocabulary):
    """The law's entry for x after a context, by the definition, in Fractions."""
    length = len(context)
    after = [text[i] for text in texts for i in range(length, len(text))
             if text[i - length:i] == context]
    shorter = (fraction(texts, context[1:], x, vocabulary) if context
               else Fraction(1, vocabulary))
    n, kinds = len(after), len(set(after))
    return (after.count(x) + kinds * shorter) / (n + kinds) if n else shorter


def test_by_hand():
    """One text, 0 1 0 1 1, and three tokens, of which 2 never comes.

    Two 0s, three 1s, two kinds: 2/7 of the law is left for 1/3 each, so (2 + 2/3) / 7 = 8/21, 11/21
    and 2/21. After 0 came 1 twice, one kind: (0 + 8/21) / 3, (2 + 11/21) / 3, (2/21) / 3. After 1
    came each once, two kinds: (1 + 2 * 8/21) / 4, (1 + 2 * 11/21) / 4, (2 * 2/21) / 4.
    """
    laws = witten_bell([[0, 1, 0, 1, 1]], 2, 3)([0, 1, 2])
    assert laws[0] == pytest.approx([8 / 63, 53 / 63, 2 / 63], abs=EXACT)
    assert laws[1] == pytest.approx([37 / 84, 43 / 84, 4 / 84], abs=EXACT)
    assert laws[2] == pytest.approx([8 / 21, 11 / 21, 2 / 21], abs=EXACT)  # 2 was never seen


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_against_the_recursion_in_fractions(order):
    model, tokens = witten_bell(TEXTS, order, V), [0, 1, 2, 2, 3, 0, 1, 1, 0]
    for t, law in enumerate(model(tokens)):
        context = tokens[max(0, t + 2 - order):t + 1]
        wanted = [fraction(TEXTS, context, x, V) for x in range(V)]
        assert sum(wanted) == 1
        assert law == pytest.approx([float(w) for w in wanted], abs=EXACT)


def test_rows_are_laws_and_nothing_is_impossible():
    laws = rows(witten_bell(TEXTS, 4, V), TEXTS[0])
    assert laws.shape == (12, V) and laws.min() > 0  # also token 3, which no text has
    assert abs(laws.sum(axis=1) - 1).max() <= EXACT


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_only_the_last_tokens_matter(order):
    model, tokens = witten_bell(TEXTS, order, V), TEXTS[0][:6]
    last = model(tokens)[-1]
    for j in range(6):
        other = tokens[:j] + [(tokens[j] + 1) % 3] + tokens[j + 1:]
        moved = abs(model(other)[-1] - last).max()
        assert moved > 1e-3 if j > 6 - order else moved <= EXACT, j


def test_an_unseen_context_falls_back_to_the_longest_that_was_seen():
    model = witten_bell(TEXTS, 3, V)
    assert model([3, 0])[-1] == pytest.approx(model([0])[-1], abs=EXACT)  # 3 0 never came, 0 did
    assert model([0, 3])[-1] == pytest.approx(witten_bell(TEXTS, 1, V)([0])[0], abs=EXACT)


def test_no_context_reaches_over_the_end_of_a_text():
    apart, joined = witten_bell([[0, 1], [2, 0]], 2, 3), witten_bell([[0, 1, 2, 0]], 2, 3)
    assert apart([1])[0] == pytest.approx(apart([1, 1])[0], abs=EXACT)  # after 1 nothing came
    assert apart([1])[0] == pytest.approx([3 / 7, 2 / 7, 2 / 7], abs=EXACT)  # (2 + 3/3) / 7 ...
    assert joined([1])[0, 2] > apart([1])[0, 2]


@pytest.mark.parametrize("tokens", [[], [0, V], [-1], [0.5]])
def test_tokens_that_do_not_fit(tokens):
    with pytest.raises(ValueError, match="token"):
        witten_bell(TEXTS, 2, V)(tokens)
