"""A trained transformer in plain NumPy: a pass over a few positions, a cache, and roll-back.

Follows course.transformer number for number, up to float32 rounding, in a fraction of the time that
a step takes there. Each large weight is read once, however many positions a pass has
(course.kernel). The cache is one block of memory that is written in place: rolling back is
forgetting how much of it is filled. Left out: batches, training, dropout.
"""
import numpy as np
from scipy.special import erf

from course.kernel import cut, project
from course.models import as_tokens


def normed(x, weight, bias):
    """Each row of x with mean 0 and variance 1, then scaled and moved."""
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    return centred / np.sqrt(variance + np.float32(1e-5)) * weight + bias


def softmax(x):
    """Each row of x as a law."""
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gelu(u):
    """Gaussian error linear unit (arXiv:1606.08415), the exact form."""
    return u * (1 + erf(u * np.float32(0.5**0.5))) * np.float32(0.5)


class Decoder:
    """Reads a text a few tokens at a time; the cache holds `length` of them, which are in `tokens`.

    weights: float32 arrays by the names of course.transformer.Transformer; heads of each block.
    """

    def __init__(self, weights, heads):
        self.weights = {name: np.ascontiguousarray(w, np.float32) for name, w in weights.items()}
        self.weights |= {name: cut(w) for name, w in self.weights.items()
                         if w.ndim == 2 and name.endswith("weight")}
        self.heads, self.tokens = heads, []
        layers = 1 + max(int(name.split(".")[1]) for name in weights if name[:6] == "blocks")
        self.V, self.context = len(weights["token"]), len(weights["position"])
        width = weights["token"].shape[1]
        self.blocks = [{name.split(".", 2)[2]: w for name, w in self.weights.items()
                        if name.startswith(f"blocks.{layer}.")} for layer in range(layers)]
        self.keys, self.values = np.zeros(
            (2, layers, heads, self.context, width // heads), np.float32)

    @property
    def length(self):
        """How many tokens are in the cache."""
        return len(self.tokens)

    def nbytes(self):
        """Bytes of the weights that every pass reads, however few positions it has."""
        return sum(w.nbytes for name, w in self.weights.items()
                   if name not in ("token", "position"))

    def rollback(self, length):
        """Forget all but the first `length` tokens."""
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot roll back to {length}: the cache holds {self.length} tokens")
        del self.tokens[length:]

    def __call__(self, tokens):
        """Read n tokens after those in the cache; the logits (n, V) of what follows each."""
        tokens = as_tokens(tokens, self.V)
        at = np.arange(self.length, self.length + len(tokens))
        if at[-1] >= self.context:
            raise ValueError(f"{self.length} cached + {len(tokens)} new tokens, context "
                             f"{self.context}: shorten the prompt or ask for fewer new tokens")
        x = self.weights["token"][tokens] + self.weights["position"][at]  # (n, width)
        hidden = np.arange(at[-1] + 1) > at[:, None]  # (n, end): the causal mask
        for layer, w in enumerate(self.blocks):
            u = normed(x, w["norm_1.weight"], w["norm_1.bias"])
            x = x + project(self._attend(layer, project(u, w["qkv.weight"]), at, hidden),
                            w["out.weight"])
            u = project(normed(x, w["norm_2.weight"], w["norm_2.bias"]), w["up.weight"])
            x = x + project(gelu(u), w["down.weight"])
        self.tokens += tokens
        u = normed(x, self.weights["norm.weight"], self.weights["norm.bias"])
        return project(u, self.weights["unembed.weight"])

    def _attend(self, layer, qkv, at, hidden):
        """What the new positions find, (n, width); their keys and values go into the cache."""
        n, end = hidden.shape
        query, key, value = qkv.reshape(n, 3, self.heads, -1).transpose(1, 2, 0, 3)
        keys, values = self.keys[layer], self.values[layer]
        keys[:, at], values[:, at] = key, value
        scores = query @ keys[:, :end].transpose(0, 2, 1) / np.float32(query.shape[-1] ** 0.5)
        if n > 1:  # one new position may look at everything
            scores = np.where(hidden, np.float32(-np.inf), scores)
        return (softmax(scores) @ values[:, :end]).transpose(1, 0, 2).reshape(n, -1)


def widened(weights, heads, r, seed=0):
    """The weights and the number of heads of a net that is r times as wide and gives the same laws.

    Net2Net (Chen et al. 2016, arXiv:1511.05641): every channel, head and hidden unit stands there r
    times. A row of weights that read one channel reads its r copies instead, each with an uneven
    part; the parts add up to the old weight. So the matrices of the blocks have r * r times the
    weights, none of them 0, and those at the two ends r times.
    """
    if r not in range(1, 65):
        raise ValueError(f"r is {r}: take a whole number from 1 to 64; the weights grow with r * r")
    rng = np.random.default_rng(seed)

    def shared(w):
        """(d_out, d_in) -> (d_out, r d_in)"""
        parts = rng.uniform(0.5, 1.5, (len(w), r, 1)).astype(np.float32)
        return (w[:, None, :] * (parts / parts.sum(1, keepdims=True))).reshape(len(w), -1)

    def wide(name, w):
        if name in ("token", "position"):
            return np.tile(w, (1, r))
        if "norm" in name:
            return np.tile(w, r)
        if name == "unembed.weight":
            return shared(w)
        blocks = np.split(w, 3) if "qkv" in name else [w]  # all queries, then all keys, all values
        return shared(np.concatenate([np.tile(block, (r, 1)) for block in blocks]))
    return {name: wide(name, w) for name, w in weights.items()}, heads * r


def _laws(logits, T):
    """The laws (n, V) at temperature T."""
    if T > 0:
        return softmax(logits / T)
    laws = np.zeros_like(logits)
    laws[np.arange(len(laws)), logits.argmax(-1)] = 1
    return laws


def as_model(decoder, T=1.0):
    """The decoder as a function model(tokens) -> (T, V) float64 that reads no token twice.

    What the new text shares with the last one from its beginning stays in the cache; what it does
    not share is rolled back. T is the temperature; at T = 0 the top token has probability 1. Two
    models on one decoder give the right laws, but take the cache from each other.
    """
    if not 0 <= T < np.inf:
        raise ValueError(f"temperature {T}: it must be a number from 0 on")
    known, laws = [], np.zeros((decoder.context, decoder.V))  # tokens, and the law after each

    def model(tokens):
        tokens = as_tokens(tokens, decoder.V)
        # A pass that failed, or another model, may have moved the cache: both must have the text.
        both = zip(known, decoder.tokens, tokens)
        same = next((i for i, (a, b, x) in enumerate(both) if not a == b == x),
                    min(len(known), decoder.length, len(tokens)))
        if same < len(tokens):
            decoder.rollback(same)
            laws[same:len(tokens)] = _laws(decoder(tokens[same:]).astype(float), T)
            known[same:] = tokens[same:]
        return laws[:len(tokens)].copy()
    return model
