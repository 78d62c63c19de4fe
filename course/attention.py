"""Attention with its mask, as lesson 03 writes it out: the place where positions meet.

Follows Vaswani et al. 2017 (arXiv 1706.03762), sections 3.2.1 and 3.2.3: scores over the root of
their width, -inf for what may not be seen, softmax, a weighted mean of the values. Left out: the
matrices that make query, key and value, heads, batches (course/transformer.py has them).
"""
import numpy as np


def causal_mask(n):
    """May row i look at column j? Bool (n, n): itself and backwards."""
    return np.tril(np.ones((n, n), dtype=bool))


def weights(query, key, mask):
    """The share (n, m) that each row of query gives to each row of key; 0 where mask is False.

    query (n, width), key (m, width), mask (n, m), bool. Raises ValueError if they do not fit, or if
    a row may look at nothing.
    """
    query, key, mask = np.asarray(query, float), np.asarray(key, float), np.asarray(mask)
    if query.ndim != 2 or key.ndim != 2 or query.shape[1] != key.shape[1]:
        raise ValueError(f"query is {query.shape} and key {key.shape}: one row a position, and "
                         "rows of one width")
    if mask.dtype != bool or mask.shape != (len(query), len(key)):
        raise ValueError(f"mask is {mask.dtype} {mask.shape}: give True or False for each of "
                         f"{len(query)} rows and {len(key)} columns")
    if not mask.any(axis=1).all():
        raise ValueError(f"row {mask.any(axis=1).argmin()} may look at nothing: let it see itself")
    scores = np.where(mask, query @ key.T / key.shape[1] ** 0.5, -np.inf)  # (n, m)
    # less the largest of its row: the same shares, and exp cannot overflow
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def attention(query, key, value, mask):
    """Each row a mean of the rows of value (m, d) that its row of mask shows it: (n, d)."""
    value = np.asarray(value, float)
    if value.ndim != 2 or len(value) != len(key):
        raise ValueError(f"value is {value.shape} for {len(key)} keys: give one row a key")
    return weights(query, key, mask) @ value


def moved(before, after, mask):
    """By how much each row of attention moves (n,) when x is after, not before, both (n, width)."""
    return abs(attention(after, after, after, mask)
               - attention(before, before, before, mask)).max(axis=1)
