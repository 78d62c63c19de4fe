"""The pairs of models on which course.check runs a learner's function.

Few and small, so that every way the coins can fall can be followed: two to four letters, texts of
one to five tokens. Each world is there for a kind of fault that the others do not show; its `why`
says which. All models read the whole text, so a row taken from the wrong place is another row.
Left out: large vocabularies and long texts. A fault that needs those is not seen.
"""
import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from course.models import iid, rambler, remembered, temperature

FOUR = "four tokens"
EXAMPLE, EXAMPLE_P, EXAMPLE_Q = "the running example", (0.5, 0.3, 0.2), (0.2, 0.2, 0.6)


class World(NamedTuple):
    """One setting in which a function is run."""

    name: str
    target: Callable
    draft: Callable
    prompt: tuple[int, ...]
    n_new: int
    gamma: int
    why: str
    share: float = 0.05  # seconds, where it must be sampled


def spelled(model, letters, V):
    """model over range(len(letters)), spelled with these letters of a vocabulary of V tokens."""
    index = {x: i for i, x in enumerate(letters)}

    def wide(tokens):  # a token that is no letter is forbidden, and is read as one if it comes
        rows = np.zeros((len(tokens), V))
        rows[:, list(letters)] = model([index.get(x, x % len(letters)) for x in tokens])
        return rows
    return remembered(wide)


def sure_after(model, length):
    """model up to texts of this length, its favourite alone from there on: fewer ways to follow."""
    cold = temperature(model, 0)

    def fading(tokens):
        rows = np.array(model(tokens))
        rows[length:] = cold(tokens)[length:]
        return rows
    return fading


@functools.lru_cache(maxsize=8)
def worlds(end=None):
    """The worlds, in the order in which they are run; with end, it is one of three letters."""
    others = [x for x in range(3) if x != end]
    three = [others[0], others[1], others[2] if end is None else end]
    four = [*three, next(x for x in range(5) if x not in three)]
    two, V = three[:2], max(four) + 1
    a, b, c = three

    def model(seed, letters=three, **options):
        return spelled(rambler(len(letters), seed, **options), letters, V)

    full, other = model(11), model(24)
    small, hasty = model(5, two), model(8, two)
    p0, q0 = model(31, zeros=0.45), model(44, zeros=0.35)
    def cold(model):
        return remembered(temperature(model, 0))

    def fixed(*law):
        return spelled(iid(law), three, V)
    plain = [
        World(EXAMPLE, fixed(*EXAMPLE_P), fixed(*EXAMPLE_Q), (a, b), 1, 1,
              "one token, by hand", 0.3),
        World(FOUR, model(43, four), model(171, four), (a, b), 1, 1,
              "two tokens guessed too often, two too rarely: what is drawn when", 0.4),
        World("one guess, two tokens", full, other, (a, b), 2, 1, "each part of a round, once"),
        World("one guess", full, other, (a, b), 3, 1, "the round after a round", 0.4),
        World("two guesses", small, hasty, (b, a), 4, 2,
              "the second guess, the bonus, the next", 0.5),
        World("zeros", p0, q0, (a, b, b), 3, 2, "tokens that one of the two never writes", 0.3),
        World("no guess", full, other, (a, b), 2, 0, "γ = 0 is plain sampling"),
        World("draft = target", small, small, (a, a), 4, 2, "nothing to reject"),
        World("one-hot", cold(full), cold(other), (a, b), 5, 2, "greedy"),
        World("three guesses", sure_after(small, 4), sure_after(hasty, 4), (b, a), 5, 3, "γ = 3"),
        World("cut short", small, hasty, (a, b), 1, 2, "a round longer than the text"),
        World("nothing to write", small, hasty, (a, b), 0, 2, "n_new = 0"),
    ]
    if end is not None:
        plain += [World("end", full, other, (a, c, b), 3, 1, "an end inside a round"),
                  World("end, two guesses", p0, q0, (a, c), 3, 2, "an end inside a longer round")]
    return plain


def boundary(end=None):
    """A world whose only guess is forbidden by the target: not even a coin of exactly 0 keeps it.
    """
    V = 3 if end is None else max(3, end + 1)
    p, q = np.zeros(V), np.zeros(V)
    p[:2], q[-1] = (0.6, 0.4), 1.0
    return World("a coin of exactly 0", iid(p), iid(q), (0, 1), 1, 1, "u · q < p, strictly")
