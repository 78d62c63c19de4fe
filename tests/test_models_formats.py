"""Cuts and masks as models: top_k, top_p and allowed give laws, and speculation keeps them."""
import numpy as np
import pytest

from course.exact import generation_law, joint
from course.models import allowed, iid, markov, rambler, temperature, top_k, top_p
from course.speculative import speculate
from course.stats import total_variation

SAME = 1e-12
LAW = [.1, .4, .2, .3]
TEXT = [2, 0, 1, 1, 2]


def one(model):
    return model([0])[0]


def after_twos(tokens):
    """Allows 0 and 1, and 2 as long as there is no 2 among tokens."""
    return np.array([True, True, 2 not in tokens])


MODELS = {"top-k": top_k(rambler(3, seed=1), 2), "top-p": top_p(rambler(3, seed=1), .7),
          "allowed": allowed(rambler(3, seed=1, zeros=.3), after_twos),
          "all": allowed(top_k(temperature(rambler(3, seed=1), .7), 2), after_twos)}


@pytest.mark.parametrize("name", MODELS)
def test_rows_are_laws_and_depend_on_what_came_before_alone(name):
    laws = MODELS[name](TEXT)
    assert laws.shape == (5, 3) and laws.dtype == np.float64 and (laws >= 0).all()
    assert abs(laws.sum(axis=1) - 1).max() <= SAME
    for t in range(len(TEXT)):
        assert abs(MODELS[name](TEXT[:t + 1]) - laws[:t + 1]).max() <= SAME


@pytest.mark.parametrize("k, law", [(1, [0, 1, 0, 0]), (2, [0, 4 / 7, 0, 3 / 7]),
                                    (3, [0, 4 / 9, 2 / 9, 3 / 9]), (4, LAW), (9, LAW)])
def test_top_k_keeps_the_k_likeliest_in_proportion(k, law):
    assert abs(one(top_k(iid(LAW), k)) - law).max() <= SAME


@pytest.mark.parametrize("share, kept", [(.1, 1), (.4, 1), (.41, 2), (.7, 2), (.71, 3), (.9, 3),
                                         (.95, 4), (1, 4), (1.0, 4)])
def test_top_p_keeps_as_few_as_hold_the_share(share, kept):
    """At .9 too: .4 + .3 + .2 is a little less than .9 in floating point."""
    assert abs(one(top_p(iid(LAW), share)) - one(top_k(iid(LAW), kept))).max() <= SAME


def test_of_equals_the_lower_id_is_kept():
    assert abs(one(top_k(iid([.2, .2, .6]), 2)) - [.25, 0, .75]).max() <= SAME
    assert (one(top_p(iid([.25] * 4), .5)) == [.5, .5, 0, 0]).all()


def test_a_rare_token_stays_where_nothing_is_cut():
    law = [1 - 1e-14, 1e-14]
    assert one(top_p(iid(law), 1))[1] > 0 and one(top_k(iid(law), 2))[1] > 0


def test_top_k_and_temperature_can_be_exchanged_top_p_and_temperature_cannot():
    model = iid([.5, .3, .2])
    warm = [one(top_k(temperature(model, .5), 2)), one(temperature(top_k(model, 2), .5))]
    assert abs(warm[0] - warm[1]).max() <= SAME
    assert one(top_p(temperature(model, .5), .6))[1] == 0
    assert one(temperature(top_p(model, .6), .5))[1] > .2


def test_a_mask_keeps_the_proportions_of_what_is_allowed():
    law = one(allowed(iid(LAW), lambda tokens: [True, False, True, False]))
    assert abs(law - [1 / 3, 0, 2 / 3, 0]).max() <= SAME


def test_a_mask_reads_the_whole_text():
    assert MODELS["allowed"]([0, 1, 2, 0])[:, 2].tolist()[2:] == [0, 0]
    assert allowed(iid([.2, .3, .5]), after_twos)([0, 1])[:, 2].tolist() == [.5, .5]


def test_where_the_model_allows_nothing_the_format_decides():
    law = one(allowed(iid([1, 0, 0]), lambda tokens: [False, True, True]))
    assert (law == [0, .5, .5]).all()


@pytest.mark.parametrize("wrap, says", [
    (lambda m: top_k(m, 0), "keep at least one"), (lambda m: top_k(m, np.nan), "at least one"),
    (lambda m: top_p(m, 0), "above 0"), (lambda m: top_p(m, 1.1), "1 at the most"),
    (lambda m: top_p(m, np.nan), "above 0"),
    (lambda m: allowed(m, lambda tokens: [False] * 3)([0]), "allow a token"),
    (lambda m: allowed(m, lambda tokens: [True] * 2)([0]), "one True or False a token"),
    (lambda m: allowed(m, lambda tokens: True)([0]), "one True or False a token")])
def test_bad_input_names_the_mend(wrap, says):
    with pytest.raises(ValueError, match=says):
        wrap(iid([.5, .3, .2]))


DRAFTS = {"plain": lambda m: m, "cut": lambda m: top_k(m, 2), "share": lambda m: top_p(m, .6),
          "masked": lambda m: allowed(m, after_twos)}


@pytest.mark.parametrize("wrap", DRAFTS)
@pytest.mark.parametrize("name", MODELS)
def test_speculation_writes_the_law_of_the_wrapped_target(name, wrap):
    draft = DRAFTS[wrap](markov([[.2, .2, .6], [.2, .4, .4], [.7, 0, .3]]))
    emitted = generation_law(speculate, MODELS[name], draft, [0], 4, 2)
    assert total_variation(emitted, joint(MODELS[name], [0], 4)) <= SAME
