"""A small causal transformer in plain torch: one pass gives the law after every position.

Follows Vaswani et al. 2017 (arXiv:1706.03762), section 3, the decoder without its encoder; norms
stand in front of each part and positions are learned, as in GPT-2. A cache of keys and values
spares old positions a second pass. Left out: biases of the matrices, padding, sampling, GPUs, a
cache that grows in place (each call gives a fresh copy). float64 by default: "the same" is then
the same to 1e-12.
"""
try:
    import torch
    from torch import nn
except ImportError as error:
    raise ImportError("lesson 03 needs torch: make lab installs it; "
                      "you can still read the lesson in the browser") from error


def causal_mask(start, n):
    """May row i look at column j? Bool (n, start + n), for n positions after `start` old ones."""
    return torch.arange(start + n) <= torch.arange(start, start + n)[:, None]


def attend(query, key, value, mask):
    """Each row of query takes a weighted mean of the values that its row of the mask shows it."""
    scores = query @ key.transpose(-1, -2) / key.shape[-1] ** 0.5  # (..., n, start + n)
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)  # hidden columns weigh exactly 0
    return weights @ value  # (..., n, width / heads)


def linear(n_in, n_out, rng, dtype):
    """A matrix without bias, drawn from rng: torch's own start would draw from the global seed."""
    layer = nn.utils.skip_init(nn.Linear, n_in, n_out, bias=False, dtype=dtype)
    nn.init.normal_(layer.weight, std=n_in ** -0.5, generator=rng)  # (n_out, n_in)
    return layer


class Block(nn.Module):
    """Attention between positions, then a small network at each; both add what they find to x."""

    def __init__(self, width, heads, rng, dtype):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = (nn.LayerNorm(width, dtype=dtype) for _ in range(2))
        self.qkv = linear(width, 3 * width, rng, dtype)
        self.out = linear(width, width, rng, dtype)
        self.up = linear(width, 4 * width, rng, dtype)
        self.down = linear(4 * width, width, rng, dtype)

    def forward(self, x, mask, past, drop):
        """New x (..., n, width), and (keys, values) of all positions: those of past, then these."""
        query, key, value = (part.unflatten(-1, (self.heads, -1)).transpose(-2, -3)
                             for part in self.qkv(self.norm_1(x)).chunk(3, -1))
        if past is not None:  # so far (..., heads, n, width / heads); the old positions go in front
            key, value = torch.cat([past[0], key], -2), torch.cat([past[1], value], -2)
        found = attend(query, key, value, mask).transpose(-2, -3).flatten(-2)  # (..., n, width)
        x = x + drop(self.out(found))
        x = x + drop(self.down(nn.functional.gelu(self.up(self.norm_2(x)))))
        return x, (key, value)


class Transformer(nn.Module):
    """Token ids in, logits of the token after each position out; equal seeds, equal weights."""

    def __init__(self, V, *, seed, width=32, layers=2, heads=4, context=64,
                 dropout=0.0, causal=True, dtype=torch.float64):
        super().__init__()
        if width % heads or not 0 <= dropout < 1:
            raise ValueError(f"width {width} must be a multiple of heads {heads}, "
                             f"and dropout {dropout} a share from 0 to less than 1")
        self.V, self.context, self.dropout, self.causal = V, context, dropout, causal
        self.rng = rng = torch.Generator().manual_seed(seed)  # the weights, then dropout's coins
        self.token, self.position = (  # (V, width) and (context, width)
            nn.Parameter(torch.randn(n, width, generator=rng, dtype=dtype)) for n in (V, context))
        self.blocks = nn.ModuleList(Block(width, heads, rng, dtype) for _ in range(layers))
        self.norm = nn.LayerNorm(width, dtype=dtype)
        self.unembed = linear(width, V, rng, dtype)

    def forward(self, tokens, cache=None):
        """Logits (..., n, V) of the n new tokens, and the cache grown by them; `cache` stays.

        tokens: n ids, or a batch (B, n), that follow the positions in the cache of an earlier call.
        Row i speaks of the token after tokens[i]. Raises ValueError for tokens that do not fit.
        """
        start = cache[0][0].shape[-2] if cache else 0  # positions already computed
        tokens = self.checked(tokens, start)
        n = tokens.shape[-1]
        mask = causal_mask(start, n) | (not self.causal)  # (n, start + n); no mask is all True
        x = self.drop(self.token[tokens] + self.position[start:start + n])  # (..., n, width)
        grown = []  # one (keys, values) a block, each (..., heads, start + n, width / heads)
        for block, past in zip(self.blocks, cache or [None] * len(self.blocks)):
            x, pair = block(x, mask, past, self.drop)
            grown.append(pair)
        return self.unembed(self.norm(x)), grown

    def drop(self, x):
        """x; in train mode a share `dropout` of it becomes 0 and the rest grows to make good."""
        if not self.training or self.dropout == 0:
            return x
        keep = torch.rand(x.shape, generator=self.rng, dtype=x.dtype) >= self.dropout
        return x * keep / (1 - self.dropout)

    def checked(self, tokens, start):
        """tokens as a tensor of ids, or a ValueError that names the mend."""
        tokens = torch.as_tensor(tokens)
        if tokens.numel() == 0:
            raise ValueError("no tokens: give at least one, each row is about the token after it")
        if tokens.is_floating_point() or not 0 <= tokens.min() <= tokens.max() < self.V:
            raise ValueError(f"ids {tokens.min()} to {tokens.max()}: give ints in range({self.V})")
        if start + tokens.shape[-1] > self.context:
            raise ValueError(f"{start} cached + {tokens.shape[-1]} new tokens, context "
                             f"{self.context}: shorten the prompt or build a net of larger context")
        return tokens


def rollback(cache, length):
    """The cache of the first `length` positions: what rejected guesses left behind is cut off."""
    held = cache[0][0].shape[-2]
    if not 0 <= length <= held:
        raise ValueError(f"cannot roll back to {length}: the cache holds {held}, give 0 to {held}")
    return [(key[..., :length, :], value[..., :length, :]) for key, value in cache]


def as_model(net):
    """The net as a function model(tokens) -> (T, V) float64: row t is the law of token t + 1."""
    def model(tokens):
        if net.training and net.dropout > 0:
            raise ValueError("train mode: dropout makes every law random; call net.eval() first")
        with torch.no_grad():
            logits, _ = net(tokens)  # (T, V)
        return logits.double().softmax(-1).numpy()
    return model
