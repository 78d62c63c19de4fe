"""The decoder against the torch net in numbers; cache, roll-back and widening against fresh passes.

float32: "the same" is 1e-5 in a logit and 1e-6 in a law, "moved" is far more.
"""
import numpy as np
import pytest

from course import decoder, kernel
from course.decoder import Decoder, as_model, widened
from course.models import counted, iid, rows
from course.speculative import autoregress, generate, speculate

SAME, SAME_LAW, MOVED, V, CONTEXT = 1e-5, 1e-6, 1e-3, 11, 32
PROMPT, GUESSES, OTHERS = [3, 1, 4, 1, 5], [2, 6, 5, 3], [0, 10, 6]
TOKENS = PROMPT + GUESSES
TEMPERATURES = [1.0, 0.7, 0.0]


def weights(seed=0, width=32, layers=2):
    """Weights by the names of course.transformer, norms that do something among them."""
    rng = np.random.default_rng(seed)

    def norm(name):
        return {f"{name}.weight": rng.uniform(0.5, 1.5, width),
                f"{name}.bias": rng.normal(0, 0.2, width)}

    def matrix(name, d_out, d_in):
        return {f"{name}.weight": rng.normal(0, d_in**-0.5, (d_out, d_in))}
    found = {"token": rng.normal(size=(V, width)), "position": rng.normal(size=(CONTEXT, width))}
    for layer in range(layers):
        at = f"blocks.{layer}"
        found |= (norm(f"{at}.norm_1") | matrix(f"{at}.qkv", 3 * width, width)
                  | matrix(f"{at}.out", width, width) | norm(f"{at}.norm_2")
                  | matrix(f"{at}.up", 4 * width, width) | matrix(f"{at}.down", width, 4 * width))
    found |= norm("norm") | matrix("unembed", V, width)
    return {name: w.astype(np.float32) for name, w in found.items()}


def fresh(seed=0):
    return Decoder(weights(seed), 4)


def laws(logits, T=1.0):
    """The laws of logits (n, V) at temperature T, in float64, by another way than the module's."""
    logits = np.asarray(logits, float)
    if T == 0:
        return (logits == logits.max(axis=1, keepdims=True)).astype(float)
    powers = np.exp(logits / T)
    return powers / powers.sum(axis=1, keepdims=True)


def plain(seed=0, T=1.0):
    """A model without a cache: every call is a new decoder's first pass over all tokens."""
    return lambda tokens: laws(fresh(seed)(tokens), T)


def largest(a, b):
    return float(abs(np.asarray(a) - np.asarray(b)).max())


class Counting(Decoder):
    """A decoder that notes what it reads."""

    def __init__(self, seed=0):
        super().__init__(weights(seed), 4)
        self.read = []

    def __call__(self, tokens):
        self.read.append(list(tokens))
        return super().__call__(tokens)


# ---- the numbers

@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_logits_are_those_of_the_torch_net(seed):
    torch = pytest.importorskip("torch")
    from course.transformer import Transformer
    net = Transformer(V, seed=0, width=32, layers=2, heads=4, context=CONTEXT, dtype=torch.float32)
    net.load_state_dict({name: torch.from_numpy(w) for name, w in weights(seed).items()})
    with torch.no_grad():
        wanted = net(TOKENS)[0].numpy()
        exact = net.double()(TOKENS)[0].numpy()
    assert largest(fresh(seed)(TOKENS), wanted) <= SAME
    assert largest(fresh(seed)(TOKENS), exact) <= SAME
    assert np.ptp(exact, axis=1).min() > 1  # laws that say something


def test_a_pass_is_float32_and_has_a_row_for_each_token():
    logits = fresh()(TOKENS)
    assert logits.dtype == np.float32 and logits.shape == (len(TOKENS), V)


@pytest.mark.parametrize("there", [True, False])
def test_with_and_without_the_kernel(there, monkeypatch):
    """Every matrix is taken for a large one, and a row of 128 weights for a long one: the kernel
    where there is one, or else NumPy."""
    if there and kernel.missing():
        pytest.skip("no llvmlite: NumPy's product is all there is")
    wanted, used = fresh()(TOKENS), []
    compiled = kernel._kernel
    monkeypatch.setattr(kernel, "LARGE", 0)
    monkeypatch.setattr(kernel, "PIECE", 64)
    monkeypatch.setattr(kernel, "missing", lambda: not there)
    monkeypatch.setattr(kernel, "_kernel", lambda n: used.append(n) or compiled(n))
    net = fresh()
    assert net.weights["blocks.0.down.weight"].shape == (2, 32, 64)
    found = np.concatenate([net(TOKENS[:5]), net(TOKENS[5:6]), net(TOKENS[6:])])
    assert largest(found, wanted) <= SAME
    assert set(used) == ({5, 1, 3} if there else set())


# ---- passes and pieces

@pytest.mark.parametrize("pieces", [[1] * 9, [5, 4], [8, 1], [1, 8], [2, 3, 4]])
def test_passes_in_pieces_equal_one_pass(pieces):
    net, wanted, found = fresh(), fresh()(TOKENS), []
    for n in pieces:
        at = net.length
        found.append(net(TOKENS[at:at + n]))
    assert largest(np.concatenate(found), wanted) <= SAME
    assert net.length == len(TOKENS) and net.tokens == TOKENS


@pytest.mark.parametrize("j", range(len(TOKENS)))
def test_a_changed_token_moves_its_own_row_and_later_ones_only(j):
    other = TOKENS[:j] + [(TOKENS[j] + 1) % V] + TOKENS[j + 1:]
    moved = abs(fresh()(other) - fresh()(TOKENS)).max(axis=1)
    assert moved[:j].max(initial=0) <= SAME and moved[j:].min() >= MOVED


@pytest.mark.parametrize("kept", range(len(GUESSES) + 1))
def test_rollback_forgets_the_rejected_guesses(kept):
    """Their keys are still in memory behind the end, or are written over."""
    net, length = fresh(), len(PROMPT) + kept
    net(TOKENS)
    net.rollback(length)
    assert net.length == length and net.tokens == TOKENS[:length]
    wanted = fresh()(TOKENS[:length] + OTHERS)[length:]
    assert largest(net(OTHERS[:1]), wanted[:1]) <= SAME  # shorter than what was there
    assert largest(net(OTHERS[1:]), wanted[1:]) <= SAME


def test_nothing_behind_the_end_is_looked_at():
    net = fresh()
    net(PROMPT)
    net.keys[:, :, len(PROMPT):] = net.values[:, :, len(PROMPT):] = np.nan
    assert largest(net(GUESSES), fresh()(TOKENS)[len(PROMPT):]) <= SAME


def test_rollback_by_one_too_few_tokens_moves_the_laws():
    """The test above can fail: one rejected guess left in the cache, and every later law is off."""
    net, length = fresh(), len(PROMPT)
    net(TOKENS)
    net.rollback(length + 1)
    wrong, right = net(OTHERS), fresh()(PROMPT + OTHERS)[length:]
    assert abs(laws(wrong) - laws(right)).max(axis=1).min() >= MOVED


def test_rollback_to_nothing_is_a_fresh_start():
    net = fresh()
    net(PROMPT)
    net.rollback(0)
    assert largest(net(OTHERS), fresh()(OTHERS)) <= SAME


@pytest.mark.parametrize("length", [-1, len(PROMPT) + 1])
def test_rollback_beyond_the_cache(length):
    net = fresh()
    net(PROMPT)
    with pytest.raises(ValueError, match="the cache holds 5"):
        net.rollback(length)
    assert net.tokens == PROMPT


# ---- wider

@pytest.mark.parametrize("r", [1, 2, 3])
def test_a_widened_net_has_the_same_laws(r):
    narrow = weights()
    wide, heads = widened(narrow, 4, r)
    assert heads == 4 * r
    net = Decoder(wide, heads)
    found = np.concatenate([net(PROMPT), net(GUESSES[:1]), net(GUESSES[1:])])  # with its cache
    assert largest(laws(found), laws(fresh()(TOKENS))) <= SAME_LAW
    for name, w in narrow.items():
        matrix = name.startswith("blocks") and w.ndim == 2
        assert wide[name].size == w.size * (r * r if matrix else r), name
        assert wide[name].dtype == np.float32 and (wide[name] != 0).all(), name


def test_nbytes_are_those_of_the_weights_that_a_pass_reads():
    wide, heads = widened(weights(), 4, 2)
    ends = wide["token"].nbytes + wide["position"].nbytes  # a row each, not the table
    assert Decoder(wide, heads).nbytes() == sum(w.nbytes for w in wide.values()) - ends


def test_the_copies_are_not_one_and_the_same():
    """Each reader of a channel shares its weight out over the copies in uneven parts of its own."""
    wide = widened(weights(), 4, 2)[0]["blocks.0.up.weight"]  # (2 * 128, 2 * 32)
    narrow = weights()["blocks.0.up.weight"]
    shares = wide[:, :32] / np.tile(narrow, (2, 1))
    assert shares.min() > 0.2 and shares.max() < 0.8 and len(np.unique(shares.round(4))) > 100
    assert largest(wide[:, :32] + wide[:, 32:], np.tile(narrow, (2, 1))) <= SAME


def test_a_widened_net_depends_on_all_of_its_weights():
    """No weight is there for show: without the last copy of the channels the laws are others."""
    wide, heads = widened(weights(), 4, 2)
    for name in ("token", "blocks.1.qkv.weight", "blocks.0.down.weight", "unembed.weight"):
        cut = wide | {name: wide[name].copy()}
        cut[name][:, -32:] = 0
        assert largest(laws(Decoder(cut, heads)(PROMPT)), laws(fresh()(PROMPT))) >= MOVED, name


def test_the_seed_fixes_the_parts():
    a, b, c = (widened(weights(), 4, 2, seed)[0]["unembed.weight"] for seed in (5, 5, 6))
    assert (a == b).all() and largest(a, c) >= MOVED


@pytest.mark.parametrize("r", [0, -1, 1.5, 65, "2"])
def test_widths_that_cannot_be(r):
    with pytest.raises(ValueError, match="whole number from 1 to 64"):
        widened(weights(), 4, r)


# ---- as a model

@pytest.mark.parametrize("T", TEMPERATURES)
def test_as_model_keeps_the_contract(T):
    found = as_model(fresh(), T)(TOKENS)
    assert found.dtype == np.float64 and found.shape == (len(TOKENS), V)
    assert abs(found.sum(axis=1) - 1).max() <= 1e-12
    assert largest(found, plain(T=T)(TOKENS)) <= SAME_LAW
    assert largest(rows(as_model(fresh(), T), TOKENS), found) <= 1e-12
    if T == 0:
        assert set(found.ravel()) == {0, 1}


@pytest.mark.parametrize("T", TEMPERATURES)
def test_any_text_after_any_other_has_the_laws_of_a_fresh_pass(T):
    """Longer, shorter, the same, another end, another beginning; nothing shared is read again."""
    rng, net, last = np.random.default_rng(1), Counting(), []
    model = as_model(net, T)
    for _ in range(60):
        cut = int(rng.integers(len(last) // 2, len(last) + 1))
        text = last[:cut] + [int(x) for x in rng.integers(V, size=rng.integers(9))]
        text = text[:CONTEXT] or [0]
        held, before = list(net.tokens), len(net.read)
        assert largest(model(text), plain(T=T)(text)) <= SAME_LAW
        same = next((i for i, (a, b) in enumerate(zip(held, text)) if a != b),
                    min(len(held), len(text)))
        assert net.read[before:] == ([text[same:]] if same < len(text) else [])
        last = text
    assert len(net.read) > 40 and max(map(len, net.read)) > 5 and net.length > 8


def test_the_same_text_again_and_a_shorter_one_read_nothing():
    net = Counting()
    model = as_model(net)
    first = model(TOKENS)
    assert (model(TOKENS) == first).all() and (model(PROMPT) == first[:len(PROMPT)]).all()
    model([*TOKENS, 7])
    assert net.read == [TOKENS, [7]]  # nor did the shorter one make it forget


def test_a_caller_who_writes_into_the_laws_spoils_nothing():
    model = as_model(fresh())
    model(TOKENS)[:] = 0
    assert largest(model(TOKENS), plain()(TOKENS)) <= SAME_LAW


def test_reads_after_full_acceptance():
    """The draft is the target, at T = 0: all is kept. The draft has not read its last guess, so it
    reads two tokens at the next round; the target reads the one that it drew, and the guesses."""
    target, draft = Counting(), Counting()
    models = [as_model(net, 0.0) for net in (target, draft)]
    text = generate(*models, PROMPT, 8, 3, np.random.default_rng(0))
    assert [len(read) for read in target.read] == [5 + 3, 1 + 3]
    assert [len(read) for read in draft.read] == [5, 1, 1, 2, 1, 1]
    assert sum(draft.read, []) == text[:-2]  # each token once, in order; the last two are news
    assert text == autoregress(plain(T=0.0), PROMPT, 8, np.random.default_rng(0))


def test_reads_after_a_rejection():
    """A draft that always guesses what the target holds for the least likely: one new token a
    round. The target reads it and the guesses, and rolls these back."""
    target, text = Counting(), list(PROMPT)

    def draft(tokens):
        return np.eye(V)[plain()(tokens).argmin(axis=1)]
    model = as_model(target, 0.0)
    for _ in range(4):
        text += speculate(model, draft, text, 3, np.random.default_rng(0))
    assert len(text) == len(PROMPT) + 4  # all rejected
    assert [len(read) for read in target.read] == [5 + 3, 1 + 3, 1 + 3, 1 + 3]
    assert text == autoregress(plain(T=0.0), PROMPT, 4, np.random.default_rng(0))


@pytest.mark.parametrize("gamma", [0, 1, 3])
@pytest.mark.parametrize("T", TEMPERATURES)
def test_the_same_coins_give_the_same_text_with_and_without_a_cache(T, gamma):
    cached = [as_model(fresh(seed), T) for seed in (0, 1)]
    without = [plain(seed, T) for seed in (0, 1)]
    for seed in range(5):
        found, wanted = (generate(*models, PROMPT, 20, gamma, np.random.default_rng(seed))
                         for models in (cached, without))
        assert found == wanted  # the caches are warm from the text before


@pytest.mark.parametrize("gamma", [1, 4])
def test_rounds_are_the_same_too_and_some_guesses_are_rejected(gamma):
    cached = [as_model(fresh(seed)) for seed in (0, 1)]
    without = [plain(seed) for seed in (0, 1)]
    a, b, sizes, text = np.random.default_rng(7), np.random.default_rng(7), set(), list(PROMPT)
    while len(text) + gamma <= CONTEXT:
        new = speculate(*cached, text, gamma, a)
        assert new == speculate(*without, text, gamma, b)
        sizes.add(len(new))
        text += new
    assert len(sizes) > 1


def test_a_model_that_rolls_back_one_too_few_writes_another_text():
    """The test above can fail: with the first rejected guess still in the cache, it does."""
    class OffByOne(Decoder):
        def rollback(self, length):
            super().rollback(min(length + 1, self.length))
    texts = [generate(model, iid(np.full(V, 1 / V)), PROMPT, 8, 2, np.random.default_rng(1))
             for model in (plain(), as_model(fresh()), as_model(OffByOne(weights(), 4)))]
    assert texts[0] == texts[1] != texts[2]


def test_two_models_on_one_decoder_do_not_mislead_each_other():
    """Lesson 10 tempers one target in two ways; each must notice that the cache has moved."""
    net = fresh()
    warm, cold = as_model(net), as_model(net, 0.7)
    for text in (TOKENS, PROMPT + OTHERS, TOKENS + OTHERS, OTHERS):
        assert largest(warm(text), plain()(text)) <= SAME_LAW
        assert largest(cold(text[:4] + OTHERS), plain(T=0.7)(text[:4] + OTHERS)) <= SAME_LAW
        net.rollback(0)
        assert largest(warm([*text, 1]), plain()([*text, 1])) <= SAME_LAW


# ---- mistakes

@pytest.mark.parametrize("wrong, mend", [
    ([], "at least one token"), ([0, V], rf"range\({V}\)"), ([-1], rf"range\({V}\)"),
    ([0.5], "list of ints"), ([0] * (CONTEXT + 1), "shorten the prompt"),
    (PROMPT[:2] + [0] * CONTEXT, "shorten the prompt"), (PROMPT[:2] + [V], rf"range\({V}\)")])
def test_tokens_that_do_not_fit_and_what_comes_after_them(wrong, mend):
    with pytest.raises(ValueError, match=mend):
        fresh()(wrong)
    model = as_model(fresh())
    model(PROMPT)
    with pytest.raises(ValueError, match=mend):
        model(wrong)
    assert largest(model(TOKENS), plain()(TOKENS)) <= SAME_LAW  # a refused text leaves no trace


def test_the_cache_counts_towards_the_context():
    net = fresh()
    net([0] * (CONTEXT - 1))
    with pytest.raises(ValueError, match="31 cached . 2 new tokens, context 32"):
        net([0, 0])
    assert net([0]).shape == (1, V) and net.length == CONTEXT


def test_a_generation_past_the_context_says_so():
    models = [as_model(fresh(seed)) for seed in (0, 1)]
    prompt, rng = [0] * (CONTEXT - 6), np.random.default_rng(0)
    assert len(generate(*models, prompt, 2, 4, rng)) == CONTEXT - 4
    with pytest.raises(ValueError, match="context 32: shorten the prompt or ask for fewer"):
        generate(*models, prompt, 12, 4, rng)


@pytest.mark.parametrize("T", [-1, float("nan"), float("inf")])
def test_temperatures_that_cannot_be(T):
    with pytest.raises(ValueError, match="temperature"):
        as_model(fresh(), T)


def test_one_target_pass_a_round():
    target = counted(as_model(fresh()))
    new = speculate(target, as_model(fresh(1)), PROMPT, 4, np.random.default_rng(3))
    assert target.passes == [len(PROMPT) + 4] and 1 <= len(new) <= 5


def test_the_parts_by_hand():
    """A mean of 0 and a variance of 1; gelu(1) is 1 times Pr(Z < 1) = .841345; odds 1 : 2 : 5."""
    x = decoder.normed(np.float32([[1, 2, 3, 6]]), np.float32(2), np.float32(1))
    assert x == pytest.approx(1 + 2 * np.array([[-2, -1, 0, 3]]) / 3.5**0.5, abs=1e-5)
    assert decoder.gelu(np.float32([0, 1, -1])) == pytest.approx([0, .841345, -.158655], abs=1e-6)
    assert decoder.softmax(np.log([[1, 2, 5]])) == pytest.approx(np.array([[1, 2, 5]]) / 8)
    assert decoder.softmax(np.array([[1e4, 1e4]])).tolist() == [[.5, .5]]  # no overflow
