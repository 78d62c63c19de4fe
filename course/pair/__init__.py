"""The pair of trained models that lessons 08 and later use: its files, and how to load them.

Two small causal transformers over one tokenizer, in the layout of Hugging Face's GPT-2, so that
transformers loads the same files. course.train made them; README.md beside this file is their card.
Left out: biases (all zero), other layouts, downloads.
"""
import hashlib
import json
import pathlib

import numpy as np
import psutil

from course.card import readme
from course.decoder import Decoder, widened

HERE = pathlib.Path(__file__).parent
MEND = ("fetch the course's files again (git restore course/pair), or make a pair "
        "(python -m course.train)")
FACTS = {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2",
         "activation_function": "gelu", "layer_norm_epsilon": 1e-5,
         "tie_word_embeddings": False, "bos_token_id": 0, "eos_token_id": 0,
         "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
BLOCK = {"norm_1": "ln_1", "qkv": "attn.c_attn", "out": "attn.c_proj",
         "norm_2": "ln_2", "up": "mlp.c_fc", "down": "mlp.c_proj"}
OUTER = {"token": "transformer.wte.weight", "position": "transformer.wpe.weight",
         "unembed.weight": "lm_head.weight", "norm.weight": "transformer.ln_f.weight",
         "norm.bias": "transformer.ln_f.bias"}


def gpt2_name(name):
    """Our name of a weight, such as blocks.0.up.weight, in GPT-2's layout."""
    if name in OUTER:
        return OUTER[name]
    _, layer, part, kind = name.split(".")
    return f"transformer.h.{layer}.{BLOCK[part]}.{kind}"


def _turned(name, w):
    """GPT-2 stores the matrices of its blocks as (d_in, d_out); ours are (d_out, d_in)."""
    return np.ascontiguousarray(w.T) if name.startswith("blocks") and w.ndim == 2 else w


def save(folder, nets, shapes, tokenizer, card):
    """Write nets {name: Transformer} of shapes {name: dict}, tokenizer and card to a folder."""
    from safetensors.numpy import save as packed
    files = {"tokenizer.json": tokenizer.to_str(pretty=True).encode() + b"\n"}
    for name, net in nets.items():
        shape = shapes[name]
        weights = {gpt2_name(k): _turned(k, w.numpy()) for k, w in net.state_dict().items()}
        for k, w in list(weights.items()):  # GPT-2 has biases here: zeros change nothing
            if ".attn.c_" in k or ".mlp.c_" in k:
                weights[k.replace(".weight", ".bias")] = np.zeros(w.shape[1], np.float32)
        facts = FACTS | {"vocab_size": net.V, "n_positions": net.context, "n_embd": shape["width"],
                         "n_layer": shape["layers"], "n_head": shape["heads"]}
        files[f"{name}/model.safetensors"] = packed(weights, metadata={"format": "pt"})
        files[f"{name}/config.json"] = _text(facts)
    card = card | {"sha256": {name: _digest(data) for name, data in files.items()}}
    files |= {"card.json": _text(card), "README.md": readme(card).encode()}
    for name, data in files.items():
        place = pathlib.Path(folder) / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def _digest(data):
    """The SHA-256 of a file, so that one changed bit is noticed."""
    return hashlib.sha256(data).hexdigest()


def _text(facts):
    return (json.dumps(facts, indent=1) + "\n").encode()


def card(folder=HERE):
    """What is known of the pair: tales, losses, acceptance, weights, checksums of its files."""
    try:
        return json.loads(_read("card.json", folder))
    except ValueError:
        raise ValueError(f"card.json in {folder} is damaged: {MEND}") from None


def _read(name, folder):
    """The bytes of a file of the pair."""
    try:
        return (pathlib.Path(folder) / name).read_bytes()
    except OSError as error:
        raise FileNotFoundError(f"{name} of the pair cannot be read from {folder} "
                                f"({error.strerror}): {MEND}") from None


def _checked(name, folder):
    """The bytes of a file, which must be those that the card knows."""
    data = _read(name, folder)
    if _digest(data) != card(folder).get("sha256", {}).get(name):
        raise ValueError(f"{name} in {folder} is damaged, or of another pair: {MEND}")
    return data


def tokenizer(folder=HERE):
    """The tokenizer of both models, from the library tokenizers."""
    from tokenizers import Tokenizer
    return Tokenizer.from_str(_checked("tokenizer.json", folder).decode())


def encode(text, folder=HERE):
    """text as tokens, behind the end token that stands before every tale.

    Raises ValueError for a letter that the tales do not have: the tokenizer would leave it out.
    """
    made = tokenizer(folder)
    tokens = made.encode(text).ids
    known = made.decode(tokens, skip_special_tokens=False)
    if known != text:
        lost = " ".join(map(repr, sorted(set(text) - set(known))))
        raise ValueError(f"the pair knows no {lost}: use the letters and signs of the tales")
    return [0, *tokens]


def decode(tokens, folder=HERE):
    """tokens as text, end tokens left out."""
    return tokenizer(folder).decode(list(tokens))


def load(name, r=1, folder=HERE):
    """The model `name`, "target" or "draft", as a course.decoder.Decoder; r widens it.

    Raises FileNotFoundError, ValueError or MemoryError with the mend.
    """
    weights, facts = stored(name, folder)
    needed = 2 * sum(w.nbytes * (r * r if k.startswith("blocks") and w.ndim == 2 else r)
                     for k, w in weights.items())  # twice: long rows are cut, which is a copy
    if needed > 0.8 * (free := psutil.virtual_memory().available):
        raise MemoryError(f"loading {name} widened {r} times takes {needed / 2**20:.0f} MB and "
                          f"{free / 2**20:.0f} MB are free: close other programs, or take a "
                          "smaller r")
    return Decoder(*widened(weights, facts["n_head"], r))


def stored(name, folder=HERE):
    """The weights of a model by our names, float32 arrays, and its config.json as a dict."""
    from safetensors.numpy import load as read
    if name not in ("target", "draft"):
        raise ValueError(f'the pair has a "target" and a "draft", no {name!r}')
    facts = json.loads(_checked(f"{name}/config.json", folder))
    found = read(_checked(f"{name}/model.safetensors", folder))
    names = [*OUTER, *(f"blocks.{layer}.{part}.{kind}" for layer in range(facts["n_layer"])
                       for part in BLOCK
                       for kind in (("weight", "bias") if "norm" in part else ("weight",)))]
    return {ours: _turned(ours, found[gpt2_name(ours)]) for ours in names}, facts
