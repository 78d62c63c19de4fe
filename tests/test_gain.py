"""course.gain against exact laws of rounds, published tables, and bad input."""
import numpy as np
import pytest

from course.exact import law
from course.gain import best_gamma, expected_tokens, operations, speed_up
from course.models import iid
from course.speculative import speculate
from course.stats import total_variation

PAIRS = [([.5, .3, .2], [.2, .2, .6]), ([.5, .3, .2], [.4, .22, .38]), ([.5, .5], [.5, .5]),
         ([1., 0.], [0., 1.]), ([.1, .9], [.5, .5])]


@pytest.mark.parametrize("p, q", PAIRS)
@pytest.mark.parametrize("gamma", [0, 1, 2, 3])
def test_expected_tokens_is_the_mean_of_the_exact_law(p, q, gamma):
    lengths = law(lambda rng: len(speculate(iid(p), iid(q), [0], gamma, rng)))
    mean = sum(length * chance for (length,), chance in lengths.items())
    alpha = 1 - total_variation(np.array(p), np.array(q))
    assert abs(expected_tokens(alpha, gamma) - mean) < 1e-12


@pytest.mark.parametrize("alpha", [0, .3, .82, .999])
@pytest.mark.parametrize("gamma", [0, 1, 5, 30])
def test_the_sum_is_the_closed_form(alpha, gamma):
    closed = (1 - alpha**(gamma + 1)) / (1 - alpha)
    assert abs(expected_tokens(alpha, gamma) - closed) < 1e-10


def test_all_kept():
    assert expected_tokens(1, 7) == 8 and operations(1, 7, 0) == 1
    assert speed_up(1, 7, 0) == 8 and best_gamma(1, 0, most=9) == 9


@pytest.mark.parametrize("alpha, gamma, ops, speed", [  # Leviathan, Table 1: c = c_hat = 0
    (.6, 2, 1.53, 1.96), (.7, 3, 1.58, 2.53), (.8, 2, 1.23, 2.44), (.8, 5, 1.63, 3.69),
    (.9, 2, 1.11, 2.71), (.9, 10, 1.60, 6.86)])
def test_published_table(alpha, gamma, ops, speed):
    assert round(operations(alpha, gamma, 0), 2) == ops
    assert round(speed_up(alpha, gamma, 0), 2) == speed


def test_by_hand():
    # 1 + .5 + .25 = 1.75 tokens; 2 * .1 + 1.5 = 1.7 passes; 2 * .2 + 3 = 3.4 passes of arithmetic
    assert speed_up(.5, 2, .1, v=[0, 1, 1.2, 1.5]) == pytest.approx(1.75 / 1.7, abs=1e-12)
    assert speed_up(.5, 2, .1, v=lambda n: 0.75 + n / 4) == pytest.approx(1.75 / 1.7, abs=1e-12)
    assert operations(.5, 2, .2) == pytest.approx(3.4 / 1.75, abs=1e-12)
    assert speed_up(.9, 0, .5) == 1 == operations(.9, 0, .5)


def test_best_gamma_is_the_best():
    rng = np.random.default_rng(8)
    for _ in range(200):
        alpha, c = rng.random(2)
        v = [0, 1, *(1 + np.cumsum(rng.random(12) / 3))]
        for cost in (None, v, lambda n, v=v: v[n]):
            best = best_gamma(alpha, c, cost, most=12)
            gains = [speed_up(alpha, gamma, c, cost) for gamma in range(13)]
            assert gains[best] == max(gains) and max(gains[:best], default=0) < gains[best]


def test_a_draft_pays_if_alpha_is_above_c():
    for alpha in np.linspace(0, 1, 21):
        for c in np.linspace(0, 1.2, 25):  # steps of 0.05
            pays = best_gamma(alpha, c, most=40) > 0
            assert abs(alpha - c) < 1e-9 or pays == (alpha > c), (alpha, c)


def test_no_gamma_at_all():
    assert best_gamma(.5, .5) == 0 == best_gamma(0, 0) == best_gamma(.82, .3, lambda n: n)
    assert best_gamma(.9, .1, [0, 1]) == 0


def test_rounding_is_no_mistake():
    assert expected_tokens(sum([.1] * 10), 3) == pytest.approx(4)
    assert expected_tokens(1 + 2.3e-16, 3) == pytest.approx(4)


@pytest.mark.parametrize("call, mend", [
    (lambda: expected_tokens(82, 4), "from 0 to 1"),
    (lambda: expected_tokens(float("nan"), 4), "from 0 to 1"),
    (lambda: expected_tokens(.5, -1), "gamma is -1"),
    (lambda: expected_tokens(.5, 2.5), "whole number"),
    (lambda: speed_up(.5, 2, -.1), "c is -0.1"),
    (lambda: speed_up(.5, 2, float("inf")), "from 0 on"),
    (lambda: operations(.5, 2, -1), "c_hat is -1"),
    (lambda: speed_up(.5, 2, .1, [0, 1, 1.1]), "smaller gamma"),
    (lambda: speed_up(.5, 2, .1, lambda n: 0), "takes time"),
    (lambda: best_gamma(.5, .1, most=-1), "most is -1")])
def test_bad_input_names_the_mend(call, mend):
    with pytest.raises(ValueError, match=mend):
        call()
