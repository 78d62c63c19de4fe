"""Speculative sampling (Leviathan et al. 2023, Algorithm 1): p is the target's law, q the draft's.

A model maps T tokens to laws (T, V); row t is the law of token t + 1. Lessons 05 and 06 write every
function of this module before they import it. Left out: batches, caches, and temperature (wrap the
model).
"""
import operator

import numpy as np

from course.models import as_law, as_tokens, rows

DUST = 1e-12  # less than this is rounding


def sample(probs, rng):
    """One token id drawn from probs, shape (V,)."""
    return _draw(as_law(probs), rng)


def _draw(law, rng):
    """One token id from a law that has been looked at already."""
    return int(rng.choice(len(law), p=law))


def accept(x, p, q, rng):
    """Keep token x, drawn from q, with probability min(1, p[x] / q[x])?

    p and q are whole laws (V,). Strict, and without a division: u can be 0, and so can p[x].
    """
    p, q = _pair(p, q)
    return _keep(*as_tokens([x], len(p)), p, q, rng)


def _keep(x, p, q, rng):
    """As accept, for laws that have been looked at already."""
    return bool(rng.random() * q[x] < p[x])


def _pair(p, q):
    """p and q as laws over one vocabulary, (V,) each."""
    p, q = as_law(p, "p"), as_law(q, "q")
    if len(p) != len(q):
        raise ValueError(f"p has {len(p)} entries, q has {len(q)}: share one vocabulary")
    return p, q


def residual(p, q):
    """The law (V,) to draw from after a rejection: what p has above q, scaled to add up to 1.

    Raises ValueError if nothing is left (p equals q: no token is ever rejected). Leviathan, Alg. 1.
    """
    p, q = _pair(p, q)
    owed = np.maximum(p - q, 0.0)  # (V,), adds up to 1 - alpha
    if owed.max() <= DUST:
        raise ValueError("p equals q: every token is accepted, so there is nothing to draw again")
    return owed / owed.sum()


def speculate(target, draft, tokens, gamma, rng):
    """One round: gamma draft passes, ONE target pass, 1 to gamma + 1 new tokens as a list."""
    tokens, gamma = as_tokens(tokens), _count(gamma, "gamma")
    guesses, q = [], []
    for _ in range(gamma):
        q.append(rows(draft, tokens + guesses, "draft")[-1])  # (V,)
        guesses.append(_draw(q[-1], rng))
    size = len(q[0]) if q else None
    p = rows(target, tokens + guesses, "target", size)[-(gamma + 1):]  # row i judges guess i
    for i, x in enumerate(guesses):
        if not _keep(x, p[i], q[i], rng) and (p[i] - q[i]).max() > DUST:
            return guesses[:i] + [_draw(residual(p[i], q[i]), rng)]
        # A rejection with nothing owed is rounding: one law computed twice, say in float32, where a
        # row adds up to 1 - 1e-7 before it is scaled. Where p equals q in float64 it cannot happen,
        # since u < 1 and so u * q[x] < q[x]. Keep the token.
    return guesses + [_draw(p[gamma], rng)]  # all kept: the last row gives one token more


def generate(target, draft, prompt, n_new, gamma, rng, end=None):
    """prompt plus exactly n_new tokens, with the law that the target alone would give them.

    With end, stops right after the first end token among the new ones.
    """
    _count(gamma, "gamma")  # also where n_new is 0
    return _write(lambda tokens: speculate(target, draft, tokens, gamma, rng), prompt, n_new, end)


def autoregress(target, prompt, n_new, rng, end=None):
    """prompt plus exactly n_new tokens by the target alone, one pass each; end as in generate."""
    return _write(lambda tokens: [_draw(rows(target, tokens, "target")[-1], rng)],
                  prompt, n_new, end)


def _write(next_tokens, prompt, n_new, end):
    """prompt plus what rounds of next_tokens(tokens) give, cut at n_new tokens or after end."""
    tokens = as_tokens(prompt)
    length = len(tokens) + _count(n_new, "n_new")
    while len(tokens) < length:
        for x in next_tokens(tokens)[:length - len(tokens)]:
            tokens.append(x)
            if x == end:
                return tokens
    return tokens


def _count(n, name):
    """n as an int from 0 on."""
    try:
        n = operator.index(n)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, not {n!r}") from None
    if n < 0:
        raise ValueError(f"{name} is {n}: it must be 0 or more")
    return n
