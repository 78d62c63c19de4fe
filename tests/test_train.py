"""python -m course.train in small: it learns, it distils, it stores what it says; seeds fix it.

The sizes are a hundredth of the shipped pair's. The nets so made know little, which is enough: each
test compares a net with itself before, or with what needs no net.
"""
import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
for name in ("tqdm", "tokenizers", "safetensors"):
    pytest.importorskip(name)

from course import pair, tales, train
from course.decoder import as_model
from course.stats import smallest_tail
from course.transformer import Transformer

SHAPES = {"target": {"width": 32, "layers": 1, "heads": 4},
          "draft": {"width": 24, "layers": 1, "heads": 2}}
SIZES = {"n_tales": 400, "held": 100, "steps": (200, 40, 40), "own": 48, "length": 64}
DRAFTS = ["5-gram table", "draft as trained", "draft distilled on tales",
          "draft distilled on-policy"]


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """On one thread sums are taken in one order, so that equal seeds give equal bits."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a tiny pair, and the card that making it returned."""
    folder = tmp_path_factory.mktemp("tiny")
    return folder, train.make(folder, shapes=SHAPES, **SIZES)


def net_of(folder, name):
    """A stored model as the torch net that it was."""
    weights, facts = pair.stored(name, folder)
    net = Transformer(facts["vocab_size"], seed=0, width=facts["n_embd"], layers=facts["n_layer"],
                      heads=facts["n_head"], context=facts["n_positions"], dtype=torch.float32)
    net.load_state_dict({k: torch.from_numpy(w) for k, w in weights.items()})
    return net.eval()


@pytest.fixture(scope="module")
def unseen(made):
    """Tokens (n, 65) of held-out tales, which the tiny pair was not trained on."""
    _, held = tales.split(SIZES["n_tales"], SIZES["held"])
    tokens = train.stream(pair.tokenizer(made[0]), held)
    return train.rows_of(tokens, 64)[:64]


# ---- what the target learns

def test_the_target_has_learned(made, unseen):
    """Its loss is far below that of a fresh net, and of the best law that sees no context."""
    folder, card = made
    fresh = Transformer(512, seed=1, context=256, dtype=torch.float32, **SHAPES["target"])
    counts = np.bincount(unseen.ravel(), minlength=512) / unseen.numel()
    unigram = -(counts[counts > 0] * np.log(counts[counts > 0])).sum()  # known after the fact
    with torch.no_grad():
        before, after = (train.cross_entropy(net, unseen).item()
                         for net in (fresh, net_of(folder, "target")))
    assert unigram > 4 and before > np.log(512)
    assert after < unigram / 2 and after < before / 2
    assert card["held-out loss, nats a token"]["target"] == pytest.approx(after, abs=0.1)


def test_cross_entropy_by_hand():
    """Logits 0 and log 3 for two tokens: the laws are 1/4, 3/4 at each place."""
    def net(rows):
        return torch.log(torch.tensor([1.0, 3.0])).expand(*rows.shape, 2), None
    rows = torch.tensor([[0, 1, 1], [1, 0, 1]])  # what comes next: 1 1, 0 1
    assert train.cross_entropy(net, rows).item() == pytest.approx(
        -(3 * np.log(3 / 4) + np.log(1 / 4)) / 4, abs=1e-6)


@pytest.mark.parametrize("what", ["train", "distil"])
def test_equal_seeds_give_equal_weights(what):
    tokens = torch.arange(400) % 7
    target, draft = (Transformer(7, seed=seed, context=256, dtype=torch.float32, **SHAPES["draft"])
                     for seed in (4, 5))
    rows = tokens[:340].reshape(20, 17)

    def run(seed):
        net = (train.train(SHAPES["draft"], 7, rows, 6, seed, "test") if what == "train"
               else train.distil(draft, target, rows, 6, seed, "test"))
        return torch.cat([w.flatten() for w in net.state_dict().values()])
    a, b, c = (run(seed) for seed in (1, 1, 2))
    assert torch.equal(a, b)
    assert (a - c).abs().max() > 1e-4


# ---- rows of text

def test_the_stream_has_an_end_before_and_after_each_text(made):
    tokenizer = pair.tokenizer(made[0])
    texts = [tales.tale(np.random.default_rng(seed)) for seed in range(3)]
    tokens = train.stream(tokenizer, texts).tolist()
    assert tokens[0] == tokens[-1] == 0 and tokens.count(0) == 4
    assert pair.decode(tokens, made[0]) == "".join(texts)


def test_a_row_begins_where_a_tale_begins():
    tokens = torch.tensor([0, 5, 6, 7, 0, 8, 9, 0, 4, 0])
    rows = train.rows_of(tokens, 4)
    assert rows.tolist() == [[0, 5, 6, 7, 0], [0, 8, 9, 0, 4]]
    drawn = torch.cat(list(train.batches(rows, 20, torch.Generator().manual_seed(0))))
    assert drawn.shape == (20 * train.BATCH, 5)
    assert {tuple(row) for row in drawn.tolist()} == set(map(tuple, rows.tolist()))


# ---- text from a net

def small(seed=3):
    return Transformer(7, seed=seed, context=64, dtype=torch.float32, **SHAPES["draft"]).eval()


def test_at_temperature_0_the_top_token_is_written():
    net, prompts = small(), torch.tensor([[1, 2, 3], [3, 3, 0]])
    text = train.write(net, prompts, 10, torch.Generator().manual_seed(0), 0)
    assert text.shape == (2, 13) and torch.equal(text[:, :3], prompts)
    assert torch.equal(text[:, 3:], net(text)[0].argmax(-1)[:, 2:-1])  # one pass, without a cache


def test_text_may_fill_the_context_and_have_one_token_more():
    """The last token is drawn and not read."""
    net, rng = small(), torch.Generator().manual_seed(0)
    assert train.write(net, torch.zeros(2, 1, dtype=torch.long), 64, rng).shape == (2, 65)


@pytest.mark.parametrize("T", [1.0, 0.7])
def test_what_is_written_has_the_law_of_the_net(T):
    """Two tokens after one prompt, 40 000 times, against their exact joint law."""
    net, n = small(), 20_000
    with torch.no_grad():
        p = (net([1, 2])[0][-1].double() / T).softmax(-1)
        q = (net([[1, 2, x] for x in range(7)])[0][:, -1].double() / T).softmax(-1)
    law = {(x, y): float(p[x] * q[x, y]) for x in range(7) for y in range(7)}
    rng = torch.Generator().manual_seed(5)
    halves = [dict.fromkeys(law, 0) for _ in range(2)]
    for half in halves:
        for x, y in train.write(net, torch.tensor([[1, 2]] * n), 2, rng, T)[:, 2:].tolist():
            half[x, y] += 1
    tail = smallest_tail(halves, law)
    assert tail.chance * tail.of > 1e-6
    other = {(x, y): w for (y, x), w in law.items()}  # and it would have noticed another law
    assert (tail := smallest_tail(halves, other)).chance * tail.of < 1e-6


# ---- the draft comes nearer

def test_distances_by_hand():
    """|.5 - .2| + |.3 - .2| + |.2 - .6| is .8; half of it is .4."""
    p, q = torch.tensor([[.5, .3, .2]]), torch.tensor([[.2, .2, .6]])
    assert train.distances(p, q).tolist() == pytest.approx([.4])


@pytest.mark.parametrize("T, wanted", [(1.0, .6), (0.0, 0.0)])
def test_alpha_by_hand(T, wanted):
    """The running example at every place; at T = 0 the top tokens 0 and 2 differ."""
    p, q = torch.tensor([.5, .3, .2]), torch.tensor([.2, .2, .6])
    rows = torch.zeros(4, 60, dtype=torch.long)
    found = train.alpha(lambda rows: q.log().expand(*rows.shape, 3),
                        lambda rows: (p.log().expand(*rows.shape, 3), None), rows, T)
    assert found.tolist() == pytest.approx([wanted] * 4, abs=1e-6)


def test_alpha_tempers_both_laws():
    """At T = .5 weights are squared: 25 9 4 of 38, 4 4 36 of 44; what they share is added up."""
    p, q = torch.tensor([.5, .3, .2]), torch.tensor([.2, .2, .6])
    found = train.alpha(lambda rows: q.log().expand(*rows.shape, 3),
                        lambda rows: (p.log().expand(*rows.shape, 3), None),
                        torch.zeros(1, 60, dtype=torch.long), 0.5)
    assert found.item() == pytest.approx(4 / 44 + 4 / 44 + 4 / 38, abs=1e-6)


def test_distilling_brings_the_laws_nearer():
    """On text that the target wrote, and on more of it; the draft that was handed in stays."""
    target, draft = small(), small(seed=6)
    before = [w.clone() for w in draft.parameters()]
    rows, others = (train.write(target, torch.zeros(64, 1, dtype=torch.long), 63,
                                torch.Generator().manual_seed(seed)) for seed in (0, 1))
    near = train.distil(draft, target, rows, 100, 5, "test")
    for text in (rows, others):
        far, close = (train.alpha(lambda rows, net=net: net(rows)[0], target, text, 1.0).mean()
                      for net in (draft, near))
        assert far < 0.6 and close > 0.7
    assert all(torch.equal(a, b) for a, b in zip(before, draft.parameters()))
    assert not near.training and near.V == draft.V


# ---- what is stored, and what is said

def test_the_card_has_its_keys(made):
    folder, card = made
    assert {key: card[key] for key in ("tales", "held out", "vocabulary")} == {
        "tales": 300, "held out": 100, "vocabulary": 512}
    assert list(card["held-out loss, nats a token"]) == ["target", *DRAFTS[1:]]
    assert card["tokens"] > 100 * card["tales"] and card["minutes"] >= 0 and card["threads"] == 1
    stored = pair.card(folder)
    assert {key: value for key, value in stored.items() if key != "sha256"} == card
    assert json.loads(json.dumps(card)) == card
    for name in ("target", "draft"):
        sizes = [w.size for w in pair.stored(name, folder)[0].values()]
        assert card["weights"][name] == sum(sizes)


def test_the_report_has_its_keys(made):
    _, card = made
    assert list(card["acceptance"]) == DRAFTS
    for by_temperature in card["acceptance"].values():
        assert list(by_temperature) == ["1", "0.7", "0"]
        for mean, least, greatest in by_temperature.values():
            assert 0 <= least <= mean <= greatest <= 1 and least < greatest


def test_the_report_of_a_draft_that_is_the_target(made, unseen):
    """It is accepted always; and a report made again says the same."""
    target = net_of(made[0], "target")
    drafts = {"itself": lambda rows: target(rows)[0]}
    found = [train.report(target, drafts, unseen, n=6, length=50) for _ in range(2)]
    assert found[0] == found[1] == {"itself": {T: [1, 1, 1] for T in ("1", "0.7", "0")}}


def test_the_files_load_again(made, unseen):
    folder, _ = made
    for name in ("target", "draft"):
        found, net = pair.load(name, folder=folder), net_of(folder, name)
        with torch.no_grad():
            wanted = net(unseen[0])[0].numpy()
        assert abs(found(unseen[0].tolist()) - wanted).max() < 1e-4
    laws = as_model(pair.load("target", folder=folder))(pair.encode("Mara the baker", folder))
    assert abs(laws.sum(axis=1) - 1).max() < 1e-12


def test_what_is_stored_is_the_draft_distilled_on_policy(made):
    """Not the one before it: its loss is the one on the card."""
    folder, card = made
    _, held = tales.split(SIZES["n_tales"], SIZES["held"])
    kept = train.stream(pair.tokenizer(folder), held)
    rows = train.rows_of(kept, SIZES["length"])[:128]
    losses = card["held-out loss, nats a token"]
    with torch.no_grad():
        for name, on_card in (("target", "target"), ("draft", "draft distilled on-policy")):
            found = train.cross_entropy(net_of(folder, name), rows).item()
            assert found == pytest.approx(losses[on_card], abs=1e-3)
    others = [loss for name, loss in losses.items() if name != "draft distilled on-policy"]
    assert all(abs(loss - losses["draft distilled on-policy"]) > 2e-3 for loss in others)


def test_the_table_of_counts_is_read_as_logits():
    law = train.counted([[0, 1, 0, 1, 1]], 3, order=2)(torch.tensor([[0, 1]]))
    assert law.shape == (1, 2, 3)
    assert law[0, 0].exp().tolist() == pytest.approx([8 / 63, 53 / 63, 2 / 63])
