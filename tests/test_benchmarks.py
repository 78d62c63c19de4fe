"""The benchmarks compare like with like: same models, same law, same work, and sums that add up.

No time is asserted. Whatever the clock says, both sides must write by one law and be counted alike.
"""
import inspect
import json
import math
import pathlib
import re
import sys

import numpy as np
import pytest

sys.path.append(str(pathlib.Path(__file__).parents[1] / "benchmarks"))
import certainty

from course import exact, kernel, pair, stats
from course.decoder import Decoder, as_model, widened
from course.models import counted
from course.speculative import autoregress, generate, speculate

EXACT, V, GAMMA = 1e-12, 11, 3
PROMPT = [3, 1, 4, 1, 5]
EDGES = [np.nextafter(1, 0), 0.0]  # the largest and the smallest number that a generator gives


def random_decoder(seed, r=1, width=16, layers=2, heads=2, context=64):
    """A small decoder with random weights, sharp enough that its laws are far from even."""
    rng, norms = np.random.default_rng(seed), ("norm_1", "norm_2")
    shapes = {"token": (V, width), "position": (context, width), "unembed.weight": (V, width)}
    for layer in range(layers):
        at = f"blocks.{layer}."
        shapes |= {at + "qkv.weight": (3 * width, width), at + "out.weight": (width, width),
                   at + "up.weight": (4 * width, width), at + "down.weight": (width, 4 * width)}
        shapes |= {f"{at}{norm}.{kind}": (width,) for norm in norms for kind in ("weight", "bias")}
    shapes |= {"norm.weight": (width,), "norm.bias": (width,)}
    weights = {name: rng.normal(0, .5, shape).astype(np.float32) for name, shape in shapes.items()}
    return Decoder(*widened(weights, heads, r))


def laws(seed, gamma, size, zeros=0.3):
    """p (gamma + 1, size) and q (gamma, size), random laws with some entries 0."""
    rng = np.random.default_rng(seed)
    both = rng.dirichlet(np.ones(size), 2 * gamma + 1) * (rng.random((2 * gamma + 1, size)) > zeros)
    both[both.sum(axis=1) == 0] = np.eye(size)[0]
    both /= both.sum(axis=1, keepdims=True)
    return both[:gamma + 1], both[gamma + 1:]


def fixed(rows):
    """A model whose law depends on the place alone: rows[i] is the law of token i + 1."""
    return lambda tokens: np.array([rows[min(i, len(rows) - 1)] for i in range(len(tokens))])


def by_course(p, q):
    """The exact law of the tokens of one round of course.speculative, at these laws."""
    draft = fixed(q if len(q) else p)
    return exact.law(lambda rng: speculate(fixed(p), draft, [0], len(q), rng))


def blocks(p, q, n, judge, rng):
    """n rounds at once by judge, as tuples of tokens: the guesses kept, and the token after."""
    guesses = (np.array([[int(rng.choice(q.shape[1], p=law)) for law in q] for _ in range(n)],
                        dtype=int).reshape(n, len(q)))
    kept, last = judge(guesses, p, q, rng)
    return [(*map(int, row[:k]), int(x)) for row, k, x in zip(guesses, kept, last)]


# ---- many rounds at once

PAIRS = [laws(seed, gamma, 3) for gamma in (0, 1, 2) for seed in range(4)] + [
    (np.eye(3)[[0, 1, 2]], np.eye(3)[[0, 2]]),  # T = 0: kept, then replaced
    (laws(1, 2, 3)[0], laws(1, 2, 3)[0][:2]),  # q is p: nothing is ever owed
    (np.array([[.5, .3, .2]] * 3), np.array([[.2, .2, .6]] * 2))]  # the running example


@pytest.mark.parametrize("p, q", PAIRS)
def test_a_round_of_many_is_the_round_of_the_course_exactly(p, q):
    law = exact.law(lambda rng: blocks(p, q, 1, certainty.judged_many, rng)[0])
    assert stats.total_variation(law, by_course(p, q)) <= EXACT


def test_rounds_judged_together_do_not_touch_each_other():
    """Neighbours, two by two, against the product of the law with itself."""
    n, seed, (p, q) = 40_000, 13, laws(5, 1, 3)
    rng, law = np.random.default_rng(seed), certainty.round_law(p, q)
    kept, last = certainty.judged_many(certainty.drawn(q, n, rng), p, q, rng)
    pairs = [tuple(row) for row in np.stack([kept, last], 1).reshape(-1, 4).tolist()]
    product = {a + b: chance * share for a, chance in law.items() for b, share in law.items()}
    halves = [stats.Counter(pairs[:n // 4]), stats.Counter(pairs[n // 4:])]
    tail = stats.smallest_tail(halves, product)
    least = stats.smallest_distance(product, n // 2, certainty.ALARM)
    print(f"n = {n // 2}, seed = {seed}, alarm level {certainty.ALARM:g}: a distance of "
          f"{least:.3f} is caught with probability {stats.POWER}")
    assert set(pairs) <= set(product) and tail.chance >= certainty.ALARM / tail.of, tail
    assert least < 0.05


@pytest.mark.parametrize("p, q", PAIRS)
def test_the_law_of_kept_and_next(p, q):
    expected = exact.Law()
    for block, chance in by_course(p, q).items():
        expected.add((len(block) - 1, block[-1]), chance)
    assert stats.total_variation(certainty.round_law(p, q), expected) <= EXACT


@pytest.mark.parametrize("u", EDGES)
def test_rounding_never_draws_what_the_law_forbids(u):
    class Edge:
        def random(self, n):
            return np.full(n, u)
    p, q = np.array([[0, .1, .3, .6, 0, 0]] * 5), np.array([[.5, .1, .1, .1, .1, .1]] * 4)
    guesses = np.array([[x] * 4 for x in range(6)])
    kept, last = certainty.judged_many(guesses, p, q, Edge())
    assert set(last) <= {1, 2, 3}
    assert set(kept[[0, 4, 5]]) == {0}  # guesses that p forbids
    assert kept[2] == kept[3] == 4  # and those it has more of


def test_laws_that_do_not_fit_are_named():
    p, q = laws(0, 2, 3)
    with pytest.raises(ValueError, match="for 3 guesses"):
        certainty.judged_many(np.zeros((5, 3), int), p, q, np.random.default_rng(0))


def keep_all(guesses, p, q, rng):
    """A judge that is wrong: it keeps every guess."""
    return np.full(len(guesses), len(q)), rng.choice(p.shape[1], size=len(guesses), p=p[-1])


def redraw_from_p(guesses, p, q, rng):
    """A judge that is wrong: after a rejection it draws from p, not from what is owed."""
    kept, _ = certainty.judged_many(guesses, p, q, rng)
    return kept, np.array([rng.choice(p.shape[1], p=p[k]) for k in kept])


def test_the_check_of_both_sides_passes_the_right_judge_and_no_wrong_one():
    n, rng = 4000, np.random.default_rng(7)
    p, q = laws(3, certainty.GAMMA, 5, zeros=0)
    law, guesses = certainty.round_law(p, q), certainty.drawn(q, n, rng)
    caught = certainty.checked(zip(*certainty.judged_many(guesses, p, q, rng)), law, "ours")
    assert caught == stats.smallest_distance(law, n, certainty.ALARM) < 0.12
    for wrong in (keep_all, redraw_from_p):
        with pytest.raises(RuntimeError, match="the law"):
            certainty.checked(zip(*wrong(guesses, p, q, rng)), law, "wrong")
    with pytest.raises(RuntimeError, match="forbids"):
        certainty.checked([(0, 0), (0, 9)], law, "wrong")


def test_how_long_sampling_would_take_adds_up(monkeypatch):
    found = certainty.exact_vs_sampling(seed=4, repeats=1, n_new=4, gamma=1, runs=40)
    plain(found)
    assert found["exact_distance"] < EXACT
    assert found["exact_vs_sampling"] == pytest.approx(
        found["sampling_runs"] * found["sampling_seconds_a_run"] / found["exact_seconds"])
    assert 1e5 < found["sampling_runs"] < 1e7
    monkeypatch.setattr(certainty, "speculate",
                        lambda target, draft, tokens, gamma, rng: [int(rng.choice(3))])
    with pytest.raises(RuntimeError, match="off by"):
        certainty.exact_vs_sampling(seed=4, repeats=1, n_new=2, gamma=1, runs=10)


def plain(found):
    """Fail unless found is a dict that JSON takes, of finite numbers and text."""
    assert json.loads(json.dumps(found)) == found
    assert all(type(value) in (int, float, str) for value in found.values())
    assert all(math.isfinite(value) for value in found.values() if not isinstance(value, str))


# ---- beside transformers

torch = pytest.importorskip("torch", exc_type=ImportError)
transformers = pytest.importorskip("transformers", exc_type=ImportError)
import peer
from transformers.generation import utils


@pytest.fixture
def both():
    """Target, draft, and the same two as models of transformers."""
    target, draft = random_decoder(1, r=2), random_decoder(2, layers=1)
    with peer.one_thread():
        yield target, draft, peer.as_transformers(target), peer.as_transformers(draft)


def theirs_at_once(guesses, p, q, rng):
    """The judge of transformers, row by row."""
    judge = certainty.transformers_judge(p, q)
    found = [judge(torch.from_numpy(row[None])) for row in guesses]
    return [int(kept) for _, kept in found], [int(new[0, -1]) for new, _ in found]


def test_transformers_judges_by_the_law_of_the_course():
    n, seed, (p, q) = 4000, 11, laws(2, 2, 3)
    law, rng = by_course(p, q), np.random.default_rng(seed)
    with peer.one_thread():
        torch.manual_seed(seed)
        seen = blocks(p, q, n, theirs_at_once, rng)
    caught = certainty.checked([(len(b) - 1, b[-1]) for b in seen], certainty.round_law(p, q), "it")
    halves = [stats.Counter(seen[:n // 2]), stats.Counter(seen[n // 2:])]
    tail = stats.smallest_tail(halves, law)
    assert set(seen) <= set(law)
    assert tail.chance >= certainty.ALARM / tail.of, tail
    whole = stats.smallest_distance(law, n, certainty.ALARM)
    print(f"n = {n}, seed = {seed}, alarm level {certainty.ALARM:g}: a distance of {whole:.3f} "
          f"({caught:.3f} of kept and next) is caught with probability {stats.POWER}")
    assert whole < 0.12


def test_a_false_fifth_argument_keeps_everything_and_is_noticed(monkeypatch):
    if "assistant_ensemble_weight" not in inspect.signature(utils._speculative_sampling).parameters:
        pytest.skip("this version of transformers has no such argument")
    right = utils._speculative_sampling
    monkeypatch.setattr(utils, "_speculative_sampling", lambda a, b, c, d: right(a, b, c, d, False))
    with pytest.raises(RuntimeError, match="transformers does not follow the law"):
        certainty.montecarlo(seed=3, repeats=1, calls=500)


def test_monte_carlo_has_its_figures():
    found = certainty.montecarlo(seed=3, repeats=1, calls=400)
    plain(found)
    assert found["montecarlo_vs_transformers"] == pytest.approx(
        found["montecarlo_rounds_a_second"] / found["montecarlo_transformers_calls_a_second"])
    assert found["montecarlo_distance_caught"] < 0.03


def test_both_are_one_model_in_one_memory(both):
    for ours, net in ((both[0], both[2]), (both[1], both[3])):
        with torch.no_grad():
            logits = net(torch.tensor([PROMPT])).logits[0].numpy()
        assert abs(logits - ours(PROMPT)).max() < 1e-4
        held = [w.numpy() for w in net.parameters()]
        held += [part.w for part in net.modules() if isinstance(part, peer.Projection)]
        assert len(held) == len(ours.weights)
        assert all(any(np.shares_memory(w, mine) for mine in ours.weights.values()) for w in held)


def test_long_rows_that_the_kernel_cuts_are_read_by_both_sides(monkeypatch):
    monkeypatch.setattr(kernel, "LARGE", 0)  # so that small weights are cut and meet the kernel too
    monkeypatch.setattr(kernel, "PIECE", 32)
    decoder = random_decoder(4, r=2)
    assert decoder.blocks[0]["down.weight"].shape == (4, 32, 32)
    with peer.one_thread():
        net = peer.as_transformers(decoder)
        assert peer.largest_difference(decoder, net, PROMPT, 4, 0) < 1e-4


@pytest.mark.parametrize("gamma", [1, 4])
def test_both_loops_write_the_same_greedy_text(both, gamma):
    target, draft, net, assistant = both
    n_new, rng = 20, np.random.default_rng(0)
    alone = autoregress(as_model(target, 0), PROMPT, n_new, rng)
    judge = counted(as_model(target, 0))
    assert generate(judge, as_model(draft, 0), PROMPT, n_new, gamma, rng) == alone
    before = net.lm_head.calls
    out = peer.write(net, PROMPT, n_new, 0, assistant, gamma, greedy=True)
    assert out.sequences[0].tolist() == alone
    assert net.lm_head.calls - before == len(judge.passes)  # round for round
    assert peer.write(net, PROMPT, n_new, 0, greedy=True).sequences[0].tolist() == alone


def test_transformers_judges_gamma_guesses_a_round_by_the_laws_of_the_pair(both, monkeypatch):
    target, draft, net, assistant = both
    seen, right = [], utils._speculative_sampling

    def spy(tokens, guessed, length, judged, **other):
        assert not any(value is not None for value in other.values())
        seen.append((tokens[0].tolist(), guessed[0].numpy(), length, judged[0].numpy()))
        return right(tokens, guessed, length, judged, **other)
    monkeypatch.setattr(utils, "_speculative_sampling", spy)
    out = peer.write(net, PROMPT, 30, 5, assistant, GAMMA)
    assert out.sequences.shape == (1, len(PROMPT) + 30)
    assert len(seen) > 3 and {length for *_, length, _ in seen[:-3]} == {GAMMA}
    for tokens, guessed, length, judged in seen:
        for decoder, logits in ((target, judged), (draft, guessed)):
            decoder.rollback(0)
            rows = decoder(tokens)[-length - 1:][:len(logits)]
            assert abs(rows - logits).max() < 1e-4


def test_a_peer_with_other_weights_is_noticed(both):
    target, _, net, assistant = both
    net.transformer.h[1].mlp.c_proj.w = net.transformer.h[1].mlp.c_proj.w * np.float32(1.01)
    with pytest.raises(RuntimeError, match="logits of both sides differ"):
        peer.largest_difference(target, net, PROMPT, 8, 0, assistant, GAMMA)


def test_a_peer_that_cuts_its_laws_is_noticed(both, monkeypatch):
    usual = transformers.GenerationConfig
    monkeypatch.setattr(peer.transformers, "GenerationConfig",
                        lambda **options: usual(**options | {"top_k": 3}))
    with pytest.raises(RuntimeError, match="changes the logits"):
        peer.largest_difference(both[0], both[2], PROMPT, 8, 0, both[3], GAMMA)


def test_the_figures_add_up():
    """Seconds 1, 2 and 4, 6 for prompt 1; twice that of theirs for prompt 2; and a third."""
    def runs(*prompts):
        return np.array([[(seconds, 2 * seconds, 5) for seconds in runs] for runs in prompts])
    found = peer._summary({("ours", True): runs([1, 2], [1, 2], [1, 1]),
                           ("theirs", True): runs([4, 6], [8, 12], [1, 1]),
                           ("ours", False): runs([3], [3], [3]),
                           ("theirs", False): runs([6], [6], [6])}, n_new=10)
    assert found["vs_transformers_assisted"] == 3.5  # of 3.5, 7 and 1
    assert (found["peer_ratio_lowest"], found["peer_ratio_highest"]) == (1, 7)
    assert found["peer_ratio_a_round"] == found["peer_ratio_wall"] == 3.5
    assert found["vs_transformers_plain"] == 2
    assert found["peer_ours_tokens_a_round"] == found["peer_transformers_tokens_a_round"] == 2
    assert found["peer_ours_ms"] == 100 and found["peer_transformers_ms_plain"] == 600
    assert found["peer_ours_speed_up"] == np.median([(3 + 1.5) / 2] * 2 + [3])


def test_a_comparison_has_its_figures_and_leaves_all_as_it_was():
    target, draft = random_decoder(1), random_decoder(2, layers=1)
    state, threads = torch.random.get_rng_state(), torch.get_num_threads()
    found = peer.against_transformers(target, draft, [PROMPT, PROMPT[:2]], 9, GAMMA, 1, repeats=2)
    plain(found)
    assert {"vs_transformers_assisted", "vs_transformers_plain"} <= set(found)
    assert found["peer_ratio_lowest"] <= found["vs_transformers_assisted"]
    assert found["vs_transformers_assisted"] <= found["peer_ratio_highest"]
    assert found["peer_logits_off_target"] < 1e-4 and found["peer_logits_off_draft"] < 1e-4
    for side in ("ours", "transformers"):
        assert 1 <= found[f"peer_{side}_tokens_a_round"] <= GAMMA + 1
    assert torch.equal(state, torch.random.get_rng_state())
    assert torch.get_num_threads() == threads


def test_every_way_to_write_counts_its_passes(both):
    jobs = peer._jobs(*both[:2], both[2:], 9, GAMMA)
    assert set(jobs) == {(side, guess) for side in ("ours", "theirs") for guess in (True, False)}
    for (_, guess), job in jobs.items():
        passes = job(PROMPT, 3)
        assert passes == 9 if not guess else 9 / (GAMMA + 1) <= passes <= 9


@pytest.mark.parametrize("gamma, prompts", [(0, [PROMPT]), (2, [])])
def test_nothing_to_compare_is_named(gamma, prompts):
    with pytest.raises(ValueError, match="give a prompt or more"):
        peer.against_transformers(random_decoder(1), random_decoder(2), prompts, 3, gamma, 0)


def test_the_pair_of_the_course_writes_the_same_greedy_text_on_both_sides():
    pytest.importorskip("safetensors")
    target, draft = pair.load("target", 2), pair.load("draft")
    prompt = [0, 5, 9]
    with peer.one_thread():
        net, assistant = peer.as_transformers(target), peer.as_transformers(draft)
        assert peer.largest_difference(target, net, prompt, 12, 1, assistant, 4) < 1e-3
        out = peer.write(net, prompt, 24, 0, assistant, 4, greedy=True).sequences[0].tolist()
    assert out == generate(as_model(target, 0), as_model(draft, 0), prompt, 24, 4,
                           np.random.default_rng(0))


# ---- what is stored

def test_every_figure_of_the_stored_run_is_explained():
    root = pathlib.Path(__file__).parents[1]
    stored = json.loads((root / "benchmarks" / "results.json").read_text("utf-8"))
    explained = (root / "docs" / "benchmarks.md").read_text("utf-8")
    families = re.findall(r"`(\w+_)…`", explained)
    assert families
    for key in stored:
        assert f"`{key}`" in explained or key.startswith(tuple(families)), key
    assert stored["steady"] and stored["T1"]["prompts"] >= 20 and stored["T1"]["tokens"] >= 100
