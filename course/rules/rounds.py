"""A round in parts that can be exchanged. As it stands it is speculate; the proposals below differ.

A part is a plain function: propose gives (guess, the q that is believed), look the rows of p, keep
the test, redraw what is written after a rejection, bonus after a full round, judge the way through
the guesses.
"""
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course.speculative import DUST


def draw(law, rng):
    return int(rng.choice(len(law), p=law))


def by_coin(weights, u):
    """The bucket of weights (V,) that u falls into; what is missing goes to the last one."""
    return next((x for x, c in enumerate(np.cumsum(weights)[:-1]) if u < c), len(weights) - 1)


def scaled(weights):
    return weights / weights.sum()


def heated(law, T):
    return scaled(law ** (1 / T))


def top(law, k):
    return scaled(np.where(law >= np.sort(law)[-k], law, 0.0))


def one_hot(x, V):
    return np.eye(V)[x]


def rounded(law):
    """The law as logits with eight significant bits give it; 20 is the size of real logits."""
    with np.errstate(divide="ignore"):
        mantissa, exponent = np.frexp(np.where(law > 0, np.log(law) + 20, -np.inf))
    return scaled(np.exp(np.ldexp(np.round(mantissa * 256) / 256, exponent) - 20))


def fresh(draft, tokens, guesses, rng):
    """(guess, q): drawn from the draft's law after everything so far, and q is that law."""
    q = draft(tokens + guesses)[-1]
    return draw(q, rng), q


def rows_after(target, tokens, guesses):
    """(gamma + 1, V): row i is the target's law after tokens + guesses[:i]."""
    return target(tokens + guesses)[len(tokens) - 1:]


def paid(x, p, q, rng):
    return rng.random() * q[x] < p[x]


def owed(x, p, q, rng):
    left = np.maximum(p - q, 0)
    return [draw(scaled(left) if left.max() > DUST else p, rng)]


def last_row(p, draft, text, rng):
    return [draw(p[-1], rng)]


def stop_at_rejection(part, guesses, p, q, bonus, rng):
    for i, x in enumerate(guesses):
        if not part.keep(x, p[i], q[i], rng):
            return guesses[:i] + part.redraw(x, p[i], q[i], rng)
    return guesses + bonus()


@dataclass(frozen=True)
class Round:
    """speculate in parts: each can be exchanged, and as it stands the round is right."""

    propose: Callable = fresh
    look: Callable = rows_after
    keep: Callable = paid
    redraw: Callable = owed
    bonus: Callable = last_row
    judge: Callable = stop_at_rejection

    def __call__(self, target, draft, tokens, gamma, rng):
        guesses, q = [], []
        for _ in range(gamma):
            x, believed = self.propose(draft, tokens, guesses, rng)
            guesses.append(x)
            q.append(believed)
        p = self.look(target, tokens, guesses)
        return self.judge(self, guesses, p, q,
                          lambda: self.bonus(p, draft, tokens + guesses, rng), rng)


RIGHT = Round()


# ---- other proposals: (guess, the q that is believed)
def from_other(law_of):
    """Drawn from law_of(q) and judged by that same law: right, whatever law_of is."""
    def propose(draft, tokens, guesses, rng):
        q = law_of(draft(tokens + guesses)[-1])
        return draw(q, rng), q
    return propose


def misjudged(law_of):
    """Drawn from law_of(q), judged by q."""
    def propose(draft, tokens, guesses, rng):
        q = draft(tokens + guesses)[-1]
        return draw(law_of(q), rng), q
    return propose


def stale(draft, tokens, guesses, rng):
    q = draft(tokens[:-1] + guesses or tokens)[-1]
    return draw(q, rng), q


def stale_then_fresh(draft, tokens, guesses, rng):
    return stale(draft, tokens, guesses, rng)[0], draft(tokens + guesses)[-1]


def favourite(q):
    return one_hot(q.argmax(), len(q))
