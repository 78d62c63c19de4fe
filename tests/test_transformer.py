"""The claims of lesson 03, on random nets in float64: "the same" is 1e-12, "moved" is far more."""
import importlib
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)

from course import models, speculative, transformer
from course.transformer import Transformer, as_model, attend, causal_mask, rollback

SAME, MOVED, LARGE, V = 1e-12, 1e-3, 0.02, 7
PROMPT, GUESSES, OTHERS = [3, 1, 4, 1, 5], [2, 6, 5, 3], [0, 0, 6]
SEEDS = [0, 1, 2]


def largest(a, b):
    """The largest difference of two arrays or tensors, as a float."""
    return float(abs(torch.as_tensor(a) - torch.as_tensor(b)).detach().max())


def moved(model, tokens):
    """(T, T): by how much row t of the laws moves when token j becomes its neighbour."""
    laws = model(tokens)
    changed = [tokens[:j] + [(tokens[j] + 1) % V] + tokens[j + 1:] for j in range(len(tokens))]
    return np.array([abs(model(other) - laws).max(axis=1) for other in changed]).T


def one_pass_and_many(net):
    """The last gamma + 1 rows of one pass, and the last rows of gamma + 1 separate passes."""
    model, tokens = as_model(net), PROMPT + GUESSES
    many = [model(tokens[:t + 1])[-1] for t in range(len(PROMPT) - 1, len(tokens))]
    return model(tokens)[-len(GUESSES) - 1:], np.array(many)


# ---- one pass, every position

@pytest.mark.parametrize("seed", SEEDS)
def test_rows_of_one_pass_equal_separate_passes(seed):
    one, many = one_pass_and_many(Transformer(V, seed=seed))
    assert one.shape == (len(GUESSES) + 1, V)
    assert largest(one, many) <= SAME


@pytest.mark.parametrize("seed", SEEDS)
def test_a_changed_token_moves_its_own_row_and_later_ones_only(seed):
    size = moved(as_model(Transformer(V, seed=seed)), PROMPT + GUESSES)
    later = np.tril(np.ones_like(size)) == 1  # row t, column j: t >= j
    assert size[~later].max() <= SAME
    assert size[later].min() >= MOVED


@pytest.mark.parametrize("seed", SEEDS)
def test_without_the_mask_both_fail(seed):
    net = Transformer(V, seed=seed, causal=False)
    one, many = one_pass_and_many(net)
    assert abs(one - many).max(axis=1)[:-1].min() >= MOVED  # every row with a future is off
    assert largest(one, many) >= LARGE
    assert largest(one[-1], many[-1]) <= SAME  # the last row has no future to look at
    assert moved(as_model(net), PROMPT + GUESSES).min() >= MOVED  # every token moves every row


def test_mask_by_hand():
    """Two old positions, three new: the first new row sees columns 0, 1 and itself."""
    assert causal_mask(2, 3).int().tolist() == [[1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]


def test_attend_by_hand():
    """All scores equal: each row is the mean of what it sees; 1, (1+3)/2, (1+3+8)/3."""
    value = torch.tensor([[1.0], [3.0], [8.0]])
    found = attend(torch.zeros(3, 1), torch.ones(3, 1), value, causal_mask(0, 3))
    assert largest(found, torch.tensor([[1.0], [2.0], [4.0]])) < 1e-6


def test_the_net_agrees_with_torch_layers():
    """The same weights in torch's own encoder layers, masked, give the same logits."""
    net = Transformer(V, seed=0, width=32, heads=4)
    x = net.token[PROMPT] + net.position[:len(PROMPT)]
    for block in net.blocks:
        layer = torch.nn.TransformerEncoderLayer(
            32, 4, 128, dropout=0.0, activation="gelu", batch_first=True, norm_first=True,
            bias=False, dtype=torch.float64)
        parts = [(layer.self_attn.in_proj_weight, block.qkv.weight),
                 (layer.self_attn.out_proj.weight, block.out.weight),
                 (layer.linear1.weight, block.up.weight), (layer.linear2.weight, block.down.weight)]
        for theirs, ours in parts:
            theirs.data = ours.data
        x = layer(x[None], src_mask=~causal_mask(0, len(PROMPT)))[0]  # torch's True hides
    assert largest(net.unembed(net.norm(x)), net(PROMPT)[0]) <= SAME


def test_a_batch_is_its_rows_one_by_one():
    net = Transformer(V, seed=0)
    batch = [PROMPT, PROMPT[::-1]]
    assert largest(net(batch)[0], torch.stack([net(row)[0] for row in batch])) <= SAME


def test_order_matters():
    """Without positions, swapping two old tokens would not move the last row of a one-block net."""
    model = as_model(Transformer(V, seed=0, layers=1))
    assert largest(model([1, 2, 3])[-1], model([2, 1, 3])[-1]) >= MOVED


# ---- the cache

@pytest.mark.parametrize("cut", range(1, len(PROMPT + GUESSES)))
def test_a_cached_pass_equals_the_full_pass(cut):
    net, tokens = Transformer(V, seed=1), PROMPT + GUESSES
    full, whole = net(tokens)
    _, cache = net(tokens[:cut])
    new, grown = net(tokens[cut:], cache)
    assert new.shape == (len(tokens) - cut, V)  # rows for the new positions only
    assert largest(new, full[cut:]) <= SAME
    assert max(largest(a, b) for a, b in zip(sum(grown, ()), sum(whole, ()))) <= SAME
    assert cache[0][0].shape[-2] == cut  # the caller's cache has not grown


def test_one_token_at_a_time_equals_the_full_pass():
    net, tokens, cache, found = Transformer(V, seed=2), PROMPT + GUESSES, None, []
    for x in tokens:
        logits, cache = net([x], cache)
        found.append(logits[0])
    assert largest(torch.stack(found), net(tokens)[0]) <= SAME


@pytest.mark.parametrize("kept", range(len(GUESSES) + 1))
def test_rollback_forgets_the_rejected_guesses(kept):
    net = Transformer(V, seed=1)
    _, cache = net(PROMPT + GUESSES)
    length = len(PROMPT) + kept
    new, grown = net(OTHERS, rollback(cache, length))
    fresh = net(PROMPT + GUESSES[:kept] + OTHERS)[0]
    assert largest(new, fresh[length:]) <= SAME
    assert grown[0][0].shape[-2] == length + len(OTHERS)
    if kept < len(GUESSES):  # and a cache that was not rolled back would have shown it
        assert largest(net(OTHERS, cache)[0], new) >= MOVED


def test_rollback_to_nothing_is_a_fresh_start():
    net = Transformer(V, seed=1)
    assert largest(net(OTHERS, rollback(net(PROMPT)[1], 0))[0], net(OTHERS)[0]) <= SAME


def test_without_the_mask_the_cache_is_wrong():
    """An old position would have to look again at the tokens that came after it."""
    net = Transformer(V, seed=1, causal=False)
    new, _ = net(GUESSES, net(PROMPT)[1])
    assert largest(new, net(PROMPT + GUESSES)[0][len(PROMPT):]) >= MOVED


# ---- training, and the mode that is not training

def gradients(net, loss):
    """The gradient of loss for every weight, as one vector."""
    return torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(net.parameters()))])


def test_one_loss_over_the_text_is_the_mean_of_all_next_token_losses():
    net, tokens = Transformer(V, seed=0), torch.tensor(PROMPT + GUESSES)
    one = torch.nn.functional.cross_entropy(net(tokens[:-1])[0], tokens[1:])
    laws = [net(tokens[:t])[0][-1].log_softmax(-1) for t in range(1, len(tokens))]
    many = -torch.stack([law[x] for law, x in zip(laws, tokens[1:])]).mean()
    assert largest(one.detach(), many.detach()) <= SAME
    there, here = gradients(net, one), gradients(net, many)
    assert abs(there).max() > MOVED
    assert largest(there, here) <= SAME


def test_a_training_step_lowers_the_loss():
    net, tokens = Transformer(V, seed=0), torch.tensor(PROMPT + GUESSES)
    steps = torch.optim.SGD(net.parameters(), lr=0.01)
    losses = []
    for _ in range(2):
        loss = torch.nn.functional.cross_entropy(net(tokens[:-1])[0], tokens[1:])
        steps.zero_grad()
        loss.backward()
        steps.step()
        losses.append(loss.item())
    assert losses[1] < losses[0] - MOVED


def test_dropout_is_off_in_eval_mode_and_on_in_train_mode():
    plain, dropping = Transformer(V, seed=0), Transformer(V, seed=0, dropout=0.3)
    assert largest(dropping.eval()(PROMPT)[0], plain(PROMPT)[0]) <= SAME
    dropping.train()
    assert largest(dropping(PROMPT)[0], plain(PROMPT)[0]) >= MOVED
    assert largest(dropping(PROMPT)[0], dropping(PROMPT)[0]) >= MOVED  # new coins at every call


def test_dropout_keeps_the_mean():
    """20 000 ones, each kept with probability .7 as 1 / .7: the mean is 1, five errors are .025."""
    dropped = Transformer(V, seed=0, dropout=0.3).train().drop(torch.ones(20_000).double())
    assert set(dropped.tolist()) == {0.0, 1 / 0.7}
    assert abs(dropped.mean() - 1) < 0.025


def test_as_model_refuses_train_mode_with_dropout():
    net = Transformer(V, seed=0, dropout=0.1)
    with pytest.raises(ValueError, match=r"net\.eval\(\)"):
        as_model(net)(PROMPT)
    assert as_model(net.eval())(PROMPT).shape == (len(PROMPT), V)


# ---- the course's contract

@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_as_model_keeps_the_contract(dtype):
    model = as_model(Transformer(V, seed=0, dtype=dtype))
    laws = model(PROMPT)
    assert isinstance(laws, np.ndarray) and laws.dtype == np.float64
    assert laws.shape == (len(PROMPT), V) and laws.min() > 0
    assert abs(laws.sum(axis=1) - 1).max() <= SAME
    assert largest(models.rows(model, PROMPT), laws) <= SAME


def test_a_perfect_draft_gets_gamma_plus_one_tokens_from_one_target_pass():
    model = as_model(Transformer(V, seed=0))
    target = models.counted(model)
    new = speculative.speculate(target, model, PROMPT, 4, np.random.default_rng(3))
    assert len(new) == 5 and target.passes == [len(PROMPT) + 4]


def test_the_seed_fixes_the_weights_and_the_global_seed_is_left_alone():
    before = torch.get_rng_state()
    nets = [Transformer(V, seed=seed, dropout=0.5) for seed in (8, 8, 9)]
    a, b, c = [net(PROMPT)[0] for net in nets]  # train mode: dropout's coins come from the seed too
    assert torch.equal(a, b)
    assert largest(a, c) >= MOVED
    assert torch.equal(before, torch.get_rng_state())


# ---- mistakes

@pytest.mark.parametrize("tokens, mend", [
    ([], "at least one"),
    (torch.zeros(0, dtype=torch.long), "at least one"),
    ([0, V], rf"range\({V}\)"),
    ([-1, 0], rf"range\({V}\)"),
    ([0.5, 1.0], rf"range\({V}\)"),
    ([0] * 10, "shorten the prompt"),
])
def test_tokens_that_do_not_fit(tokens, mend):
    net = Transformer(V, seed=0, context=9)
    assert net([0] * 9)[0].shape == (9, V)
    with pytest.raises(ValueError, match=mend):
        net(tokens)
    with pytest.raises(ValueError, match=mend):
        as_model(net)(tokens)


def test_the_cache_counts_towards_the_context():
    net = Transformer(V, seed=0, context=6)
    _, cache = net(PROMPT)
    assert net([0], cache)[0].shape == (1, V)
    with pytest.raises(ValueError, match="5 cached . 2 new"):
        net([0, 0], cache)


@pytest.mark.parametrize("length", [-1, len(PROMPT) + 1])
def test_rollback_beyond_the_cache(length):
    with pytest.raises(ValueError, match="give 0 to 5"):
        rollback(Transformer(V, seed=0)(PROMPT)[1], length)


@pytest.mark.parametrize("wrong", [{"width": 30}, {"dropout": 1.0}, {"dropout": -0.1}])
def test_sizes_that_cannot_be_built(wrong):
    with pytest.raises(ValueError, match="multiple of heads 4, and dropout"):
        Transformer(V, seed=0, **wrong)


def test_without_torch_the_import_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, transformer.__name__)
    with pytest.raises(ImportError, match="lesson 03 needs torch: make lab .* in the browser"):
        importlib.import_module(transformer.__name__)
