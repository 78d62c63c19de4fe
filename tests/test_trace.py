"""The trace is the generation itself, and its coins fall in the order that is stated."""
import numpy as np
import pytest

from course.models import markov, rambler
from course.speculative import generate, sample
from course.trace import Coins, cells, coins_needed, columns, trace

TARGET = [[.5, .3, .2], [.1, .6, .3], [.3, .3, .4]]
DRAFT = [[.2, .2, .6], [.3, .4, .3], [.5, .2, .3]]


@pytest.mark.parametrize("gamma", range(4))
def test_writes_what_generate_writes(gamma):
    for seed in range(60):
        rng = np.random.default_rng([gamma, seed])
        target, draft = rambler(3, seed, zeros=0.3), rambler(3, seed + 1, zeros=0.3)
        n_new = int(rng.integers(0, 2 * gamma + 3))
        coins = rng.random(coins_needed(gamma, n_new))
        rows = trace(target, draft, [0, 2], gamma, n_new, coins)
        text = generate(target, draft, [0, 2], n_new, gamma, Coins(coins))
        written = {r["position"]: r["written"] for r in rows if r["written"] is not None}
        assert [0, 2] + [written[i] for i in range(2, 2 + n_new)] == text


def test_by_hand():
    """Coin .55 guesses C (edges .2, .4), then .5 guesses B after C (an edge at .5 is not above .5).

    Test of C: .51 * .6 = .306 is not less than .2, so it is replaced; owed is (.3, .1, 0), the
    law (.75, .25, 0), and coin .8 takes B. Round 2: after B, .35 guesses B and .1 guesses A;
    .99 * .4 < .6 keeps B, .33 * .3 = .099 < .1 keeps A; the bonus, from (.5, .3, .2) with coin
    .79, is B, and it is cut.
    """
    coins = [.55, .5, .51, .8, .35, .1, .99, .33, .79]
    rows = trace(markov(TARGET), markov(DRAFT), [0], 2, 3, coins)
    wanted = [(1, 1, 2, .2, .6, .51, "replaced", 1), (1, 2, 1, .3, .2, None, "not looked at", None),
              (2, 2, 1, .6, .4, .99, "kept", 1), (2, 3, 0, .1, .3, .33, "kept", 0),
              (2, 4, None, .3, None, None, "bonus", None)]
    assert [tuple(row.values()) for row in rows] == [pytest.approx(row) for row in wanted]
    assert list(rows[0]) == ["round", "position", "guess", "p", "q", "u", "verdict", "written"]
    lines = columns(cells(rows, "ABC")).splitlines()
    assert lines[1].split() == ["1", "1", "C", "0.20", "0.60", "0.51", "replaced", "B"]
    assert [line.split() for line in columns(cells(rows)).splitlines()][5][-1] == "-"
    with pytest.raises(ValueError, match="coins_needed"):
        trace(markov(TARGET), markov(DRAFT), [0], 2, 3, coins[:-1])


def test_without_guesses_every_token_is_a_bonus():
    rows = trace(markov(TARGET), markov(DRAFT), [1], 0, 4, [.05, .95, .4, .3])
    assert [(r["verdict"], r["round"]) for r in rows] == [("bonus", k) for k in (1, 2, 3, 4)]
    assert [r["written"] for r in rows] == [0, 2, 1, 1]  # edges .1 .7 | .5 .8 | .3 .6 | .1 .7


def test_equal_models_keep_everything():
    rng = np.random.default_rng(3)
    rows = trace(markov(TARGET), markov(TARGET), [0], 3, 8, rng.random(coins_needed(3, 8)))
    assert {r["verdict"] for r in rows} == {"kept", "bonus"}


def test_a_coin_draws_the_law():
    law = np.array([0.0, .25, 0.0, .5, .25, 0.0])
    coins = (np.arange(4000) + 0.5) / 4000
    got = np.bincount([sample(law, Coins([u])) for u in coins], minlength=6) / 4000
    assert (got == law).all()
    assert sample(law, Coins([0.0])) == 1, "a token without probability is never drawn"
    assert sample([.1] * 10 + [0.0], Coins([1 - 2.0 ** -53])) == 9, "the sum ends at 1 - 1e-16"


@pytest.mark.parametrize("change, mend", [
    ({"n_new": -1}, "0 or more"), ({"gamma": -1}, "0 or more"), ({"tokens": []}, "prompt is empty"),
    ({"coins": [-.1]}, "0 to below 1"), ({"coins": [float("nan")]}, "0 to below 1"),
    ({"coins": [.5]}, "give more of them"), ({"tokens": [7]}, "out of range")])
def test_bad_input_names_the_mend(change, mend):
    usual = {"tokens": [0], "gamma": 2, "n_new": 3, "coins": [.5] * 15}
    with pytest.raises(ValueError, match=mend):
        trace(markov(TARGET), markov(DRAFT), **{**usual, **change})
