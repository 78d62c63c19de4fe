"""The rule and the loop: exact fractions, exact lengths, end tokens, rounding, and bad input."""
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies

from course import exact
from course.models import counted, iid, markov, rambler
from course.speculative import accept, autoregress, generate, residual, sample, speculate
from course.stats import total_variation

EXACT = 1e-12
P, Q = np.array([.5, .3, .2]), np.array([.2, .2, .6])  # the running example
TARGET, DRAFT = rambler(3, seed=1, zeros=.2), rambler(3, seed=2, zeros=.2)
CYCLE = markov([[0, 1, 0], [0, 0, 1], [1, 0, 0]])  # writes 0 1 2 0 1 2 ...
ROUNDED = np.nextafter(1, 0)  # the largest number that a generator gives


class Fixed:
    """A generator whose uniform draws are all u, and whose choices are taken from a list."""

    def __init__(self, u, choices):
        self.u, self.choices = u, list(choices)

    def random(self):
        return self.u

    def choice(self, n, p):
        x = self.choices.pop(0)
        assert p[x] > 0
        return x


# ---- one token

def test_the_running_example():
    assert residual(P, Q) == pytest.approx([.75, .25, 0], abs=EXACT)
    for x, kept in enumerate([1, 1, 1 / 3]):
        assert exact.law(lambda rng, x=x: accept(x, P, Q, rng)).get((1,), 0.0) == pytest.approx(
            kept, abs=EXACT)


def laws_with_zeros():
    """Pairs of laws as lists of Fractions, zeros among them."""
    def pair(weights):
        p, q = zip(*weights, strict=True)
        return [Fraction(w, sum(p)) for w in p], [Fraction(w, sum(q)) for w in q]
    weights = strategies.integers(0, 9) | strategies.just(0)
    rows = strategies.lists(strategies.tuples(weights, weights), min_size=1, max_size=6)
    return rows.filter(lambda rows: all(map(sum, zip(*rows, strict=True)))).map(pair)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(laws_with_zeros())
def test_kept_and_owed_add_up_to_the_target(pair):
    p, q = pair
    kept = [min(a, b) for a, b in zip(p, q, strict=True)]
    alpha, owed = sum(kept), [a - b for a, b in zip(p, kept, strict=True)]
    if p == q:
        with pytest.raises(ValueError, match="nothing to draw again"):
            residual(np.array(p, dtype=float), np.array(q, dtype=float))
        return
    r = [w / sum(owed) for w in owed]  # Fractions: exact
    assert [k + (1 - alpha) * w for k, w in zip(kept, r, strict=True)] == p
    floats = residual(np.array(p, dtype=float), np.array(q, dtype=float))
    assert floats == pytest.approx([float(w) for w in r], abs=EXACT)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(laws_with_zeros())
def test_accept_keeps_with_probability_min_1_p_over_q(pair):
    p, q = pair
    p_float, q_float = np.array(p, dtype=float), np.array(q, dtype=float)
    for x in (x for x, w in enumerate(q) if w):
        law = exact.law(lambda rng, x=x: accept(x, p_float, q_float, rng))
        assert law.get((1,), 0.0) == pytest.approx(float(min(1, p[x] / q[x])), abs=EXACT)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(laws_with_zeros())
def test_the_first_token_of_a_round_has_the_law_of_the_target(pair):
    p, q = pair
    target = iid(np.array(p, dtype=float))
    draft = iid(np.array(q, dtype=float))
    law = exact.law(lambda rng: speculate(target, draft, [0], 1, rng)[0])
    assert total_variation(law, {(x,): float(w) for x, w in enumerate(p)}) <= EXACT


def test_sample_draws_from_its_law():
    assert total_variation(exact.law(lambda rng: sample(P, rng)),
                           {(x,): w for x, w in enumerate(P)}) <= EXACT
    assert type(sample(P, np.random.default_rng(0))) is int


def test_the_comparison_is_strict():
    assert not accept(0, [0, 1], [1, 0], Fixed(0.0, []))  # u = 0, and p forbids the token
    assert not accept(0, [.5, .5], [1, 0], Fixed(.5, []))
    assert accept(0, [.5, .5], [.5, .5], Fixed(ROUNDED, []))
    assert accept(0, [1, 0], [.5, .5], Fixed(ROUNDED, []))
    assert type(accept(0, P, Q, np.random.default_rng(0))) is bool


def test_a_forbidden_guess_is_rejected_even_at_u_0():
    never = iid([0, .5, .5])
    assert speculate(never, iid([1, 0, 0]), [1], 1, Fixed(0.0, [0, 2])) == [2]


# ---- rounding

def test_a_rejection_by_rounding_alone_keeps_the_token():
    p, q = np.array([.5, .5]), np.array([.5 + 2e-13, .5 - 2e-13])
    assert not accept(0, p, q, Fixed(ROUNDED, []))
    with pytest.raises(ValueError, match="nothing to draw again"):
        residual(p, q)
    assert speculate(iid(p), iid(q), [0], 2, Fixed(ROUNDED, [0, 0, 1])) == [0, 0, 1]


@pytest.mark.parametrize("seed", range(20))
def test_in_float64_equal_laws_never_reject(seed):
    p = np.random.default_rng(seed).dirichlet(np.ones(5))
    rng = Fixed(ROUNDED, [0, 1, 2, 3])
    assert speculate(iid(p), iid(p), [0], 3, rng) == [0, 1, 2, 3]


def softmax32(seed):
    """A model whose laws are softmax rows in float32, and depend on the last two tokens."""
    logits = np.random.default_rng(seed).normal(size=(3, 3, 3)).astype(np.float32)

    def model(tokens):
        powers = np.exp(logits[[0, *tokens[:-1]], tokens])
        return powers / powers.sum(axis=1, keepdims=True)
    return model


def test_float32_laws():
    target, draft = softmax32(1), softmax32(2)
    assert target([0]).dtype == np.float32
    law = exact.law(lambda rng: generate(target, draft, [0], 3, 1, rng)[1:])
    assert total_variation(law, exact.joint(target, [0], 3)) <= EXACT
    by_hand = {}  # the product of the float32 numbers themselves
    for outcome in law:
        rows = target([0, *outcome])
        by_hand[outcome] = np.prod([float(rows[t, x]) for t, x in enumerate(outcome)])
    assert total_variation(law, by_hand) <= 1e-6


def test_float32_laws_of_one_model_twice():
    target = softmax32(1)
    law = exact.law(lambda rng: generate(target, softmax32(1), [0], 3, 2, rng)[1:])
    assert total_variation(law, exact.joint(target, [0], 3)) <= EXACT


# ---- rounds and lengths

@pytest.mark.parametrize("gamma", [0, 1, 2, 5])
def test_a_round_makes_gamma_draft_passes_and_one_target_pass(gamma):
    target, draft = counted(TARGET), counted(DRAFT)
    for seed in range(30):
        new = speculate(target, draft, [0, 1], gamma, np.random.default_rng(seed))
        assert 1 <= len(new) <= gamma + 1
        assert all(type(x) is int and 0 <= x < 3 for x in new)
    assert draft.passes == [2 + i for i in range(gamma)] * 30
    assert target.passes == [2 + gamma] * 30


def test_rounds_of_every_length_occur():
    seen = {len(speculate(TARGET, DRAFT, [1], 2, np.random.default_rng(s))) for s in range(200)}
    assert seen == {1, 2, 3}


@pytest.mark.parametrize("gamma", range(4))
@pytest.mark.parametrize("n_new", [0, 1, 2, 3, 7])
def test_generate_writes_exactly_n_new_tokens(gamma, n_new):
    for seed in range(10):
        text = generate(TARGET, DRAFT, [2, 1], n_new, gamma, np.random.default_rng(seed))
        assert text[:2] == [2, 1] and len(text) == 2 + n_new
        assert all(type(x) is int for x in text)


@pytest.mark.parametrize("seed", range(10))
def test_gamma_0_is_plain_sampling(seed):
    def never(tokens):
        raise AssertionError("the draft is asked")
    plain = autoregress(TARGET, [0], 8, np.random.default_rng(seed))
    assert generate(TARGET, never, [0], 8, 0, np.random.default_rng(seed)) == plain


def test_autoregress_has_the_joint_law():
    law = exact.law(lambda rng: autoregress(TARGET, [1], 4, rng)[1:])
    assert total_variation(law, exact.joint(TARGET, [1], 4)) <= EXACT
    assert len(autoregress(TARGET, [1], 0, np.random.default_rng(0))) == 1


def test_autoregress_makes_one_pass_a_token():
    target = counted(TARGET)
    autoregress(target, [0, 1], 3, np.random.default_rng(0))
    assert target.passes == [2, 3, 4]


# ---- the end token

@pytest.mark.parametrize("gamma", range(5))
@pytest.mark.parametrize("prompt, end, text", [
    ([0], 2, [0, 1, 2]),  # inside a block for gamma 2 and more
    ([0], 1, [0, 1]),  # the first new token
    ([2, 1, 0], 2, [2, 1, 0, 1, 2]),  # one in the prompt does not stop
    ([2], 2, [2, 0, 1, 2]),
    ([0], 7, [0, 1, 2, 0, 1, 2, 0]),  # never written
    ([0], None, [0, 1, 2, 0, 1, 2, 0]),
])
def test_generation_stops_right_after_the_first_end_token(gamma, prompt, end, text):
    rng = np.random.default_rng(0)
    assert generate(CYCLE, CYCLE, prompt, 6, gamma, rng, end) == text
    assert autoregress(CYCLE, prompt, 6, rng, end) == text


@pytest.mark.parametrize("gamma", range(4))
def test_an_end_token_or_n_new_whichever_comes_first(gamma):
    for seed in range(40):
        text = generate(TARGET, DRAFT, [1], 5, gamma, np.random.default_rng(seed), end=1)
        assert 1 not in text[1:-1] and (len(text) == 6 or text[-1] == 1)


# ---- inputs

def test_inputs_are_left_alone():
    p, q, prompt = P.copy(), Q.copy(), [0, 1]
    stored = np.tile(P, (9, 1))
    def same_rows(tokens):
        return stored[:len(tokens)]  # a view: a write into it would show
    rng = np.random.default_rng(0)
    for _ in range(20):
        sample(p, rng)
        accept(2, p, q, rng)
        residual(p, q)
        speculate(same_rows, DRAFT, prompt, 2, rng)
        generate(same_rows, DRAFT, prompt, 4, 2, rng)
        autoregress(same_rows, prompt, 4, rng)
    assert (p == P).all() and (q == Q).all() and (stored == P).all() and prompt == [0, 1]


def test_a_model_that_writes_into_its_tokens_harms_nothing():
    def rude(tokens):
        laws = TARGET(tokens)
        tokens.append(9)
        return laws
    text = generate(rude, rude, [0], 5, 2, np.random.default_rng(3))
    assert text == generate(TARGET, TARGET, [0], 5, 2, np.random.default_rng(3))


@pytest.mark.parametrize("kind", [tuple, np.array, lambda tokens: (x for x in tokens)])
def test_prompts_of_other_kinds(kind):
    text = generate(TARGET, DRAFT, kind([0, 1]), 3, np.int64(2), np.random.default_rng(0))
    assert text == generate(TARGET, DRAFT, [0, 1], 3, 2, np.random.default_rng(0))



FOUR = rambler(4, seed=1)
MODELS = {  # wrong in one place: the model, words of the mend
    "rows too short": (lambda tokens: np.full((len(tokens), 2), .5), "vocabulary"),
    "rows too long": (FOUR, "vocabulary"),
    "one row only": (lambda tokens: TARGET(tokens)[-1], "one row a token"),
    "one row too many": (lambda tokens: TARGET([*tokens, 0]), "one row a token"),
    "a row of nan": (lambda tokens: np.full((len(tokens), 3), np.nan), "from 0 to 1"),
    "a negative row": (lambda tokens: np.tile([-.5, .5, 1], (len(tokens), 1)), "from 0 to 1"),
    "a row off 1": (lambda tokens: np.tile([.5, .5, .5], (len(tokens), 1)), "divide it by its sum"),
    "logits": (lambda tokens: np.log(TARGET(tokens) + 1e-9), "from 0 to 1"),
    "nothing": (lambda tokens: None, "one row a token"),
}
TEXTS = {
    "empty": ([], "at least one token"),
    "no list": (5, "list of ints"),
    "None": (None, "list of ints"),
    "text": ("ab", "list of ints"),
    "floats": ([0.0], "list of ints"),
    "negative": ([0, -1], "-1 is out of range"),
    "too large": ([0, 3], "out of.* range"),
}
NUMBERS = {"negative": (-1, "0 or more"), "a half": (2.5, "whole number"),
           "2.0": (2.0, "whole number"), "None": (None, "whole number"),
           "text": ("2", "whole number")}
PROBS = {
    "off 1": ([.5, .3, .3], "divide it by its sum"), "negative": ([-.5, .5, 1], "from 0 to 1"),
    "nan": ([np.nan, .5, .5], "from 0 to 1"), "empty": ([], "row of V numbers"),
    "a number": (1.0, "row of V numbers"), "a stack": ([[.5, .3, .2]], "row of V numbers"),
}


def bad_calls():
    """(id, call of rng, words of the mend): every function with every wrong argument it can get."""
    for name, (model, mend) in MODELS.items():
        yield f"target, {name}", lambda rng, m=model: generate(m, DRAFT, [0], 3, 2, rng), mend
        yield f"draft, {name}", lambda rng, m=model: generate(TARGET, m, [0], 3, 2, rng), mend
        yield f"round, {name}", lambda rng, m=model: speculate(m, DRAFT, [0], 1, rng), mend
        if "too" not in name or "many" in name:
            yield f"alone, {name}", lambda rng, m=model: autoregress(m, [0], 3, rng), mend
            yield f"joint, {name}", lambda rng, m=model: exact.joint(m, [0], 3), mend
    for name, (text, mend) in TEXTS.items():
        yield f"generate, {name}", lambda rng, t=text: generate(TARGET, DRAFT, t, 3, 2, rng), mend
        yield f"gamma 0, {name}", lambda rng, t=text: generate(TARGET, DRAFT, t, 3, 0, rng), mend
        yield f"round, {name}", lambda rng, t=text: speculate(TARGET, DRAFT, t, 2, rng), mend
        yield f"alone, {name}", lambda rng, t=text: autoregress(TARGET, t, 3, rng), mend
        yield f"joint, {name}", lambda rng, t=text: exact.joint(TARGET, t, 3), mend
        yield f"chain, {name}", lambda rng, t=text: exact.generation_law(
            speculate, TARGET, DRAFT, t, 3, 1), mend
    for name, (n, mend) in NUMBERS.items():
        yield f"gamma {name}", lambda rng, n=n: generate(TARGET, DRAFT, [0], 3, n, rng), mend
        yield f"gamma {name}, nothing to write", (
            lambda rng, n=n: generate(TARGET, DRAFT, [0], 0, n, rng)), mend
        yield f"round's gamma {name}", lambda rng, n=n: speculate(TARGET, DRAFT, [0], n, rng), mend
        yield f"n_new {name}", lambda rng, n=n: generate(TARGET, DRAFT, [0], n, 2, rng), mend
        yield f"alone, n_new {name}", lambda rng, n=n: autoregress(TARGET, [0], n, rng), mend
        yield f"joint, n {name}", lambda rng, n=n: exact.joint(TARGET, [0], n), mend
        yield f"chain, n_new {name}", lambda rng, n=n: exact.generation_law(
            speculate, TARGET, DRAFT, [0], n, 1), mend
    for name, (probs, mend) in PROBS.items():
        yield f"sample {name}", lambda rng, w=probs: sample(w, rng), mend
        yield f"residual p {name}", lambda rng, w=probs: residual(w, Q), mend
        yield f"residual q {name}", lambda rng, w=probs: residual(P, w), mend
        yield f"accept p {name}", lambda rng, w=probs: accept(0, w, Q, rng), mend
        yield f"accept q {name}", lambda rng, w=probs: accept(0, P, w, rng), mend
    yield "residual, two sizes", lambda rng: residual(P, [.5, .5]), "share one vocabulary"
    yield "residual, p = q", lambda rng: residual(P, P), "nothing to draw again"
    yield "accept, two sizes", lambda rng: accept(0, P, [.5, .5], rng), "share one vocabulary"
    yield "accept, x too large", lambda rng: accept(3, P, Q, rng), "3 is out of range"
    yield "accept, x negative", lambda rng: accept(-1, P, Q, rng), "-1 is out of range"


CALLS = {name: (call, mend) for name, call, mend in bad_calls()}


@pytest.mark.parametrize("case", CALLS)
def test_bad_input_names_its_mend(case):
    call, mend = CALLS[case]
    for seed in range(5):  # whatever the draws
        with pytest.raises(ValueError, match=mend):
            call(np.random.default_rng(seed))
