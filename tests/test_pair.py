"""The shipped pair: its files, what is said when they are not right, and what its card claims.

The card is checked by computing again: losses on the held-out tales, acceptance on the prompts.
Nothing here needs torch but the tests that name it.
"""
import functools
import json
import shutil
import types

import numpy as np
import pytest

for name in ("tokenizers", "safetensors", "psutil"):
    pytest.importorskip(name)

from course import exact, pair, tales
from course.card import readme
from course.decoder import as_model
from course.models import as_laws, top_k
from course.speculative import accept, autoregress, generate, residual

EXACT, FOLDER, NAMES = 1e-12, pair.HERE, ["target", "draft"]
ON_CARD = {"target": "target", "draft": "draft distilled on-policy"}  # what the card calls them
FILES = ["tokenizer.json", *(f"{name}/{file}" for name in NAMES
                             for file in ("config.json", "model.safetensors"))]
MEND = r"fetch the course's files again \(git restore course/pair\), or make a pair"


@pytest.fixture(scope="module")
def held():
    """The held-out tales."""
    card = pair.card(FOLDER)
    training, held = tales.split(card["tales"] + card["held out"], card["held out"])
    assert len(training) == card["tales"] and len(held) == card["held out"]
    return held


@pytest.fixture(scope="module")
def laws(held):
    """The laws p and q (100, V) after the last 100 tokens of a held-out tale, in float64."""
    tokens = pair.encode(held[0], FOLDER)
    return [as_model(pair.load(name, folder=FOLDER))(tokens)[-100:] for name in NAMES]


@pytest.fixture
def copy(tmp_path):
    """A copy of the pair that a test may damage."""
    for name in ["card.json", *FILES]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(FOLDER / name, tmp_path / name)
    return tmp_path


# ---- the files

def test_the_files_are_small_and_are_those_of_the_card():
    known = pair.card(FOLDER)["sha256"]
    assert sorted(known) == sorted(FILES)
    for name in FILES:
        assert pair._digest((FOLDER / name).read_bytes()) == known[name], name
    assert sum((FOLDER / name).stat().st_size for name in FILES) < 8e6


@pytest.mark.parametrize("name", NAMES)
def test_a_model_loads_with_the_shape_that_its_config_says(name):
    weights, facts = pair.stored(name, FOLDER)
    net = pair.load(name, folder=FOLDER)
    assert net.V == facts["vocab_size"] == pair.card(FOLDER)["vocabulary"]
    assert net.context == facts["n_positions"] and net.heads == facts["n_head"]
    assert len(net.blocks) == facts["n_layer"] and net.tokens == []
    assert weights["token"].shape == (net.V, facts["n_embd"])
    assert sum(w.size for w in weights.values()) == pair.card(FOLDER)["weights"][name]
    for w in weights.values():
        assert w.dtype == np.float32 and np.isfinite(w).all() and w.std() > 0


def test_the_draft_is_the_smaller_one():
    weights = pair.card(FOLDER)["weights"]
    assert weights["draft"] < weights["target"] / 2


def test_the_readme_is_made_from_the_card():
    assert (FOLDER / "README.md").read_text("utf-8") == readme(pair.card(FOLDER))


def test_both_share_the_tokenizer_of_the_card():
    assert pair.tokenizer(FOLDER).get_vocab_size() == pair.card(FOLDER)["vocabulary"]
    assert pair.tokenizer(FOLDER).token_to_id(tales.END) == 0


def test_what_is_saved_loads_again(tmp_path):
    """Every weight gets a name of GPT-2's and comes back from it."""
    torch = pytest.importorskip("torch")
    from course.transformer import Transformer
    shape = {"width": 8, "layers": 2, "heads": 2}
    nets = {name: Transformer(300, seed=seed, context=16, dtype=torch.float32, **shape)
            for seed, name in enumerate(NAMES)}
    tokenizer = tales.make_tokenizer(["one two three"], size=300)
    said = pair.card(FOLDER) | {"minutes": 77}
    pair.save(tmp_path, nets, dict.fromkeys(NAMES, shape), tokenizer, said)
    assert pair.card(tmp_path)["minutes"] == 77
    assert "77 minutes" in (tmp_path / "README.md").read_text("utf-8")
    assert pair.tokenizer(tmp_path).get_vocab() == tokenizer.get_vocab()
    for name, net in nets.items():
        weights, facts = pair.stored(name, tmp_path)
        wanted = net.state_dict()
        assert weights.keys() == wanted.keys() and facts["n_head"] == 2
        for key, w in wanted.items():
            assert (weights[key] == w.numpy()).all(), key


# ---- files that are not right

def load_all(folder):
    for name in NAMES:
        pair.load(name, folder=folder)
    pair.encode("Mara", folder)


def test_an_undamaged_copy_loads(copy):
    load_all(copy)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("spoil", [
    lambda data: data[:-40] + bytes([data[-40] ^ 1]) + data[-39:],  # one bit
    lambda data: data[:len(data) // 2],
    lambda data: b"",
    lambda data: data + b"\n"], ids=["one bit", "half", "empty", "longer"])
def test_a_damaged_file(copy, name, spoil):
    data = (copy / name).read_bytes()
    (copy / name).write_bytes(spoil(data))
    with pytest.raises(ValueError, match=f"{name} in .* is damaged, or of another pair: {MEND}"):
        load_all(copy)


@pytest.mark.parametrize("name", ["card.json", *FILES])
def test_a_missing_file(copy, name):
    (copy / name).unlink()
    with pytest.raises(FileNotFoundError, match=rf"{name} of the pair cannot be read.*: {MEND}"):
        load_all(copy)


@pytest.mark.parametrize("text", ["", "{", '{"tales": 1', "\x00\xff"])
def test_a_damaged_card(copy, text):
    (copy / "card.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=f"card.json in .* is damaged: {MEND}"):
        load_all(copy)


def test_a_card_without_checksums(copy):
    (copy / "card.json").write_text("{}")
    with pytest.raises(ValueError, match=f"config.json in .* is damaged, or of another.*{MEND}"):
        load_all(copy)


def test_no_pair_at_all(tmp_path):
    with pytest.raises(FileNotFoundError, match=f"No such file or directory.*{MEND}"):
        load_all(tmp_path / "nowhere")


def test_the_tokenizer_of_another_pair(copy):
    other = tales.make_tokenizer(["one two three"], size=512)
    (copy / "tokenizer.json").write_text(other.to_str())
    with pytest.raises(ValueError, match=f"tokenizer.json in .* of another pair: {MEND}"):
        pair.encode("one", copy)


@pytest.mark.parametrize("file", ["config.json", "model.safetensors"])
def test_a_file_of_the_other_model(copy, file):
    shutil.copy(copy / "draft" / file, copy / "target" / file)
    with pytest.raises(ValueError, match=f"target/{file} in .* of another pair: {MEND}"):
        pair.load("target", folder=copy)
    pair.load("draft", folder=copy)


@pytest.mark.parametrize("name", ["Target", "", "target/.."])
def test_a_model_that_the_pair_does_not_have(name):
    with pytest.raises(ValueError, match='the pair has a "target" and a "draft"'):
        pair.load(name, folder=FOLDER)


def test_too_little_memory(monkeypatch):
    monkeypatch.setattr(pair.psutil, "virtual_memory", lambda: types.SimpleNamespace(
        available=20 * 2**20))
    with pytest.raises(MemoryError, match=r"target widened 40 times takes \d+ MB and 20 MB are "
                                          "free: close other programs, or take a smaller r"):
        pair.load("target", 40, FOLDER)
    pair.load("target", 1, FOLDER)


def test_the_memory_that_is_asked_for_is_twice_that_of_the_weights(monkeypatch):
    """What takes 80 % of what is free still loads; with a few bytes less it does not. Twice: the
    kernel wants long rows in pieces, and while they are cut both are there."""
    weights = pair.load("draft", 3, FOLDER).weights
    needed = 2 * sum(w.nbytes for w in weights.values())
    for free, fits in ((needed / 0.8 + 1, True), (needed / 0.8 - 2, False)):
        monkeypatch.setattr(pair.psutil, "virtual_memory",
                            lambda free=free: types.SimpleNamespace(available=free))
        if fits:
            pair.load("draft", 3, FOLDER)
        else:
            with pytest.raises(MemoryError):
                pair.load("draft", 3, FOLDER)


@pytest.mark.parametrize("r", [0, -1, 1.5])
def test_a_width_that_cannot_be(r):
    with pytest.raises(ValueError, match="r is .*: take a whole number from 1"):
        pair.load("draft", r, FOLDER)


# ---- text and tokens

def test_encode_begins_with_the_end_token_and_decode_gives_the_text_back(held):
    for text in held[:20]:
        tokens = pair.encode(text, FOLDER)
        assert tokens[0] == 0 and 0 not in tokens[1:] and len(tokens) < 256
        assert pair.decode(tokens, FOLDER) == text
    assert pair.encode("", FOLDER) == [0] and pair.decode([0], FOLDER) == ""
    assert pair.encode("Mara.<end>Jon", FOLDER).count(0) == 2
    assert pair.decode(np.array(pair.encode("Mara", FOLDER)), FOLDER) == "Mara"


@pytest.mark.parametrize("text, lost", [
    ("Zürich", "'ü'"), ("Mara had 3 cups.", "'3'"), ("one\ntwo", r"'\\n'"), ("Mara 🙂", "'🙂'"),
    ("5 + 3", r"'\+' '3' '5'")])
def test_encode_refuses_letters_that_no_tale_has(text, lost):
    with pytest.raises(ValueError, match=f"{lost}.*: use the letters and signs of the tales"):
        pair.encode(text, FOLDER)


def test_a_prompt_longer_than_the_context(held):
    net = pair.load("draft", folder=FOLDER)
    tokens = pair.encode(" ".join(held[:3]), FOLDER)
    assert len(tokens) > net.context
    with pytest.raises(ValueError, match=f"context {net.context}: shorten the prompt"):
        as_model(net)(tokens)


# ---- the claims of the card

def loss_of(net, rows):
    """Nats a token of a decoder on rows of tokens (n, length + 1), one number a row."""
    found = []
    for row in rows:
        net.rollback(0)
        logits = net(row[:-1]).astype(float)
        logits -= logits.max(axis=1, keepdims=True)
        found.append((np.log(np.exp(logits).sum(axis=1))
                      - logits[np.arange(len(row) - 1), row[1:]]).mean())
    return np.array(found)


def test_the_losses_of_the_card_on_other_rows_of_held_out_tales(held):
    """Within five standard errors, whoever has torch or not; far from a law without context."""
    ends = [0, *np.cumsum([len(pair.encode(text, FOLDER)) for text in held[:41]])]
    tokens = [x for text in held[:41] for x in pair.encode(text, FOLDER)]
    rows = [tokens[at:at + 257] for at in ends if at + 257 <= len(tokens)]
    for name in NAMES:
        found = loss_of(pair.load(name, folder=FOLDER), rows)
        error = found.std(ddof=1) / len(rows)**0.5
        claimed = pair.card(FOLDER)["held-out loss, nats a token"][ON_CARD[name]]
        assert abs(found.mean() - claimed) < 5 * error < 0.1
        assert found.mean() < 1


@pytest.fixture(scope="module")
def rows(held):
    """The very rows that the card was made with."""
    pytest.importorskip("torch")
    pytest.importorskip("tqdm")
    from course import train
    kept = train.stream(pair.tokenizer(FOLDER), held)
    return train.rows_of(kept, train.CONTEXT)[:128]


@pytest.mark.parametrize("name", NAMES)
def test_the_losses_of_the_card_on_its_own_rows(rows, name):
    """By the decoder, not by the net that was trained."""
    found = loss_of(pair.load(name, folder=FOLDER), rows.tolist()).mean()
    claimed = pair.card(FOLDER)["held-out loss, nats a token"][ON_CARD[name]]
    assert found == pytest.approx(claimed, abs=2e-3)


@pytest.mark.parametrize("T", [1.0, 0.7, 0.0])
def test_the_acceptance_of_the_card(rows, T):
    """The target writes on from a quarter of the card's prompts, with other coins, and the draft's
    laws are held against its own: the mean is the card's within four standard errors."""
    n, models = 12, [as_model(pair.load(name, folder=FOLDER), T) for name in NAMES]
    rng, found = np.random.default_rng(0), []
    for row in rows[:n, :40].tolist():
        text = autoregress(models[0], row, 100, rng)
        p, q = (model(text)[39:-1] for model in models)
        found.append(np.minimum(p, q).sum(axis=1).mean())
    mean, least, greatest = pair.card(FOLDER)["acceptance"][ON_CARD["draft"]][f"{T:g}"]
    assert least <= mean <= greatest
    assert abs(np.mean(found) - mean) < 4 * max(np.std(found, ddof=1), 0.01) / n**0.5
    assert np.mean(found) > 0.6


def test_kept_and_owed_add_up_to_the_target_for_the_trained_pair(laws):
    """One guess at one position. What is kept is q times the exact chance that accept keeps x; what
    is owed is the rest of q, handed out by residual. Together they are p, at every position."""
    for p, q in zip(*map(as_laws, laws, "pq")):
        chance = np.minimum(1, p / q)
        for x in map(int, np.argsort(-q)[:2]):  # accept itself, on its likeliest guesses
            assert chance_of(x, p, q) == pytest.approx(chance[x], abs=EXACT)
        kept = q * chance
        assert abs(kept + (1 - kept.sum()) * residual(p, q) - p).max() <= EXACT


def chance_of(x, p, q):
    """The exact chance that the rule of the course keeps x."""
    return exact.law(lambda rng: accept(x, p, q, rng)).get((1,), 0.0)


def test_the_pair_differs_enough_for_that_to_mean_something(laws):
    p, q = laws
    assert abs(p - q).sum(axis=1).max() / 2 > 0.01


def settled(model):
    """model, every law computed once: passes of other shapes give it with other roundings."""
    row = functools.cache(lambda text: model(list(text))[-1])
    return lambda tokens: np.array([row(tuple(tokens[:t + 1])) for t in range(len(tokens))])


def test_the_law_of_two_tokens_on_the_pair_itself(held):
    """The joint law of a short generation, exactly, each law cut to the three likeliest tokens."""
    target, draft = (settled(top_k(as_model(pair.load(name, folder=FOLDER)), 3)) for name in NAMES)
    tokens = pair.encode(held[1], FOLDER)[:30]
    found = exact.law(lambda rng: generate(target, draft, tokens, 2, 1, rng)[30:])
    wanted = exact.joint(target, tokens, 2)
    assert sum(abs(found.get(x, 0) - wanted.get(x, 0)) for x in found | wanted) / 2 <= EXACT
    assert len(wanted) > 1


def test_at_temperature_0_the_text_is_the_targets(held):
    models = [as_model(pair.load(name, folder=FOLDER), 0.0) for name in NAMES]
    tokens = pair.encode(held[2], FOLDER)[:30]
    found = generate(*models, tokens, 60, 4, np.random.default_rng(0))
    assert found == autoregress(models[0], tokens, 60, np.random.default_rng(1))


def test_a_widened_target_has_the_laws_of_the_target(held):
    tokens = pair.encode(held[0], FOLDER)
    narrow, wide = (as_model(pair.load("target", r, FOLDER)) for r in (1, 3))
    assert abs(narrow(tokens) - wide(tokens)).max() < 1e-4


# ---- the same files in another library

@pytest.mark.parametrize("name", NAMES)
def test_transformers_loads_the_same_model(name, held):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers", reason="pip install transformers, to see "
                                       "that it loads the pair")
    net, loading = transformers.GPT2LMHeadModel.from_pretrained(
        FOLDER / name, output_loading_info=True)
    assert not any(loading[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    assert type(transformers.AutoConfig.from_pretrained(FOLDER / name)).__name__ == "GPT2Config"
    tokens = pair.encode(held[0], FOLDER)
    with torch.no_grad():
        wanted = net.eval()(torch.tensor([tokens])).logits[0].numpy()
    assert abs(pair.load(name, folder=FOLDER)(tokens) - wanted).max() < 1e-4
    assert net.config.eos_token_id == 0 and not net.config.tie_word_embeddings


def test_transformers_loads_the_same_tokenizer(held):
    transformers = pytest.importorskip("transformers")
    made = transformers.PreTrainedTokenizerFast(tokenizer_file=str(FOLDER / "tokenizer.json"))
    assert [0, *made(held[0])["input_ids"]] == pair.encode(held[0], FOLDER)


def test_every_weight_of_ours_has_one_name_in_gpt2():
    weights, _ = pair.stored("draft", FOLDER)
    names = [pair.gpt2_name(name) for name in weights]
    assert len(set(names)) == len(names) == len(weights)
    config = json.loads((FOLDER / "draft/config.json").read_text("utf-8"))
    assert len(names) == 5 + 8 * config["n_layer"]
