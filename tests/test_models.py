"""The toy models: rows are laws, depend on what came before alone, and refuse what is no token."""
import numpy as np
import pytest

from course import models
from course.models import iid, markov, mixture, rambler, remembered, rows, temperature

SAME = 1e-12
TABLE = np.array([[.5, .3, .2], [0, 1, 0], [.25, .25, .5]])
MODELS = {
    "iid": iid([.5, .3, .2]),
    "markov": markov(TABLE),
    "rambler": rambler(3, seed=1),
    "rambler with zeros": rambler(3, seed=2, zeros=.5),
    "cold": temperature(rambler(3, seed=3), .5),
    "greedy": temperature(rambler(3, seed=3), 0),
    "mixture": mixture(rambler(3, seed=1), markov(TABLE), .25),
    "remembered": remembered(rambler(3, seed=4)),
    "counted": models.counted(rambler(3, seed=5)),
}
TEXT = [2, 0, 1, 1, 2]


@pytest.mark.parametrize("name", MODELS)
def test_rows_are_laws(name):
    laws = MODELS[name](TEXT)
    assert laws.shape == (len(TEXT), 3) and laws.dtype == np.float64
    assert (laws >= 0).all() and abs(laws.sum(axis=1) - 1).max() <= SAME


@pytest.mark.parametrize("name", MODELS)
def test_a_row_depends_on_the_tokens_before_it_alone(name):
    model, laws = MODELS[name], MODELS[name](TEXT)
    for t in range(len(TEXT)):
        assert abs(model(TEXT[:t + 1]) - laws[:t + 1]).max() <= SAME
        later = [*TEXT[:t + 1], *[(x + 1) % 3 for x in TEXT[t + 1:]]]
        assert abs(model(later)[:t + 1] - laws[:t + 1]).max() <= SAME


@pytest.mark.parametrize("name", MODELS)
def test_a_model_forgets_and_gives_what_may_be_changed(name):
    model, tokens = MODELS[name], list(TEXT)
    first = model(tokens).copy()
    model(tokens)[:] = 0.0  # a reader writes into the answer
    model([0, 0])
    assert (model(tokens) == first).all() and tokens == TEXT
    assert (model(np.array(TEXT)) == first).all() and (model(tuple(TEXT)) == first).all()


def test_iid_gives_its_law_everywhere():
    assert (MODELS["iid"](TEXT) == np.array([.5, .3, .2])).all()


def test_markov_looks_at_the_last_token():
    assert (MODELS["markov"](TEXT) == TABLE[TEXT]).all()


def test_rambler_depends_on_every_token_and_on_their_order():
    model = rambler(3, seed=1)
    last = [model(text)[-1] for text in ([0, 1, 2], [1, 1, 2], [0, 0, 2], [1, 0, 2], [2])]
    apart = [abs(a - b).max() for i, a in enumerate(last) for b in last[:i]]
    assert min(apart) > 1e-3


def test_rambler_follows_from_its_seed():
    assert (rambler(4, seed=7)(TEXT) == rambler(4, seed=7)(TEXT)).all()
    assert abs(rambler(4, seed=7)(TEXT) - rambler(4, seed=8)(TEXT)).max() > 1e-3


@pytest.mark.parametrize("zeros", [0.0, .3, 1.0])
def test_rambler_has_its_share_of_zeros(zeros):
    rng = np.random.default_rng(0)
    laws = rambler(20, seed=1, zeros=zeros)(rng.integers(20, size=100).tolist())
    assert abs((laws == 0).mean() - min(zeros, .95)) < .05  # one entry at least is never 0
    assert abs(laws.sum(axis=1) - 1).max() <= SAME


def test_sharpness_makes_laws_peaked():
    flat, peaked = (rambler(5, seed=1, sharpness=s)(TEXT).max(axis=1).mean() for s in (.05, 20.0))
    assert flat < .4 < .8 < peaked


@pytest.mark.parametrize("T", [.3, 1.0, 2.0])
def test_temperature_is_a_power_of_the_law(T):
    laws = MODELS["rambler with zeros"](TEXT)
    power = np.where(laws > 0, laws, 0) ** (1 / T)
    tempered = temperature(MODELS["rambler with zeros"], T)(TEXT)
    assert abs(tempered - power / power.sum(axis=1, keepdims=True)).max() <= SAME
    assert ((tempered == 0) == (laws == 0)).all()


@pytest.mark.parametrize("T", [0, 1e-6, 1e-310])
def test_temperature_near_0_keeps_the_top_token(T, recwarn):
    laws = MODELS["rambler"](TEXT)
    top = np.eye(3)[laws.argmax(axis=1)]
    assert abs(temperature(MODELS["rambler"], T)(TEXT) - top).max() <= SAME and not recwarn


def test_temperature_far_up_is_flat_where_the_law_is_not_0(recwarn):
    laws = temperature(markov(TABLE), 1e300)([0, 1])
    assert abs(laws - [[1 / 3, 1 / 3, 1 / 3], [0, 1, 0]]).max() <= SAME and not recwarn


def test_mixture_is_a_weighted_mean():
    a, b = rambler(3, seed=1), markov(TABLE)
    assert abs(mixture(a, b, .25)(TEXT) - (.75 * a(TEXT) + .25 * b(TEXT))).max() <= SAME


def test_remembered_asks_once():
    asked = models.counted(rambler(3, seed=1))
    model = remembered(asked)
    assert (model([0, 1]) == model([0, 1])).all()
    assert asked.passes == [2]


def test_counted_counts_positions():
    model = models.counted(iid([.5, .5]))
    model([0])
    model([0, 1, 1])
    assert model.passes == [1, 3]


def test_rows_accepts_float32_and_scales_it_in_float64():
    noisy = np.float32([[.1, .2, .7]]) / np.float32(1.0000003)
    laws = rows(lambda tokens: noisy, [1])
    assert laws.dtype == np.float64 and abs(laws.sum() - 1) <= SAME
    assert abs(laws - noisy).max() < 1e-6


BAD = {  # what is wrong: the call, words of the mend
    "empty prompt": (lambda: rows(MODELS["iid"], []), "empty.*at least one token"),
    "no list": (lambda: rows(MODELS["iid"], 3), "list of ints"),
    "text": (lambda: rows(MODELS["iid"], "ab"), "list of ints"),
    "floats": (lambda: rows(MODELS["iid"], [0.5]), "list of ints"),
    "None": (lambda: rows(MODELS["iid"], None), "list of ints"),
    "negative token": (lambda: rows(MODELS["iid"], [0, -1]), "-1 is out of range"),
    "token too large": (lambda: rows(MODELS["iid"], [0, 3]), r"3 is out of range.*range\(3\)"),
    "too large, list of rows": (lambda: rows(lambda tokens: [[.5, .5]] * len(tokens), [2]),
                                r"2 is out of range.*range\(2\)"),
    "too large, bare table": (lambda: rows(lambda tokens: TABLE[tokens], [5]), "out of its range"),
    "markov, token too large": (lambda: MODELS["markov"]([4]), r"4 is out of range.*range\(3\)"),
    "rambler, no tokens": (lambda: MODELS["rambler"]([]), "empty"),
    "one row too few": (lambda: rows(lambda tokens: TABLE[tokens][1:], [0, 1]), "one row a token"),
    "one row only": (lambda: rows(lambda tokens: TABLE[tokens][-1], [0, 1]), "one row a token"),
    "nothing": (lambda: rows(lambda tokens: None, [0]), "one row a token"),
    "ragged": (lambda: rows(lambda tokens: [[.5, .5], [1.0]], [0, 1]), "the same V"),
    "words": (lambda: rows(lambda tokens: [["a", "b"]], [0]), "array of numbers"),
    "wrong sum": (lambda: rows(lambda tokens: [[.5, .6]], [0]), "1.1.*divide it by its sum"),
    "negative": (lambda: rows(lambda tokens: [[-.5, 1.5]], [0]), "from 0 to 1"),
    "nan": (lambda: rows(lambda tokens: [[np.nan, 1]], [0]), "from 0 to 1"),
    "infinite": (lambda: rows(lambda tokens: [[np.inf, 0]], [0]), "adds up to inf"),
    "iid, wrong sum": (lambda: iid([.5, .4]), "0.9.*divide it by its sum"),
    "iid, nan": (lambda: iid([np.nan, 1]), "from 0 to 1"),
    "iid, a number": (lambda: iid(.5), "row of V numbers"),
    "iid, no numbers": (lambda: iid([]), "row of V numbers"),
    "markov, not square": (lambda: markov([[.5, .5]]), "one row and one column"),
    "markov, wrong sum": (lambda: markov([[.5, .6], [1, 0]]), "divide it by its sum"),
    "markov, nan": (lambda: markov([[np.nan, 1], [1, 0]]), "from 0 to 1"),
    "temperature below 0": (lambda: temperature(MODELS["iid"], -1), "from 0 on"),
    "temperature nan": (lambda: temperature(MODELS["iid"], np.nan), "from 0 on"),
    "temperature inf": (lambda: temperature(MODELS["iid"], np.inf), "from 0 on"),
    "mixture of two sizes": (lambda: mixture(MODELS["iid"], iid([.5, .5]), .5)([0]), "vocabulary"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_names_its_mend(case):
    call, mend = BAD[case]
    with pytest.raises(ValueError, match=mend):
        call()
