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

from course.models import as_tokens, iid, rambler, remembered, temperature

FOUR, AGAIN = "four tokens", "four tokens again"
EXAMPLE, EXAMPLE_P, EXAMPLE_Q = "the running example", (0.5, 0.3, 0.2), (0.2, 0.2, 0.6)
ONE_TOKEN = (FOUR, AGAIN, EXAMPLE)


class World(NamedTuple):
    """One setting in which a function is run."""

    name: str
    target: Callable
    draft: Callable
    prompt: tuple[int, ...]
    n_new: int
    gamma: int
    why: str
    runs: int = 300  # where it must be sampled

    @property
    def V(self):
        return self.target(list(self.prompt)).shape[1]


def spelled(model, letters, V):
    """model over range(len(letters)), spelled with these letters of a vocabulary of V tokens."""
    index = {x: i for i, x in enumerate(letters)}

    def wide(tokens):  # a token that is no letter is forbidden, and is read as one if it comes
        rows = np.zeros((len(as_tokens(tokens, V)), V))
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
    return remembered(fading)


def late(model, prompt, letter, k):
    """model after k sure letters: what it says after the prompt it says k tokens later."""
    start = len(prompt) + k

    def delayed(tokens):
        sure = np.eye(model(prompt).shape[1])[letter]
        return np.array([sure if t < start else model([*prompt, *tokens[start:t]])[-1]
                         for t in range(1, len(tokens) + 1)])
    return remembered(delayed)


class Letters(NamedTuple):
    """Which of the V tokens the models of the worlds write; c is the end, if there is one."""

    a: int
    b: int
    c: int
    other: int
    V: int

    def model(self, seed, letters=None, **options):
        letters = letters or (self.a, self.b, self.c)
        return spelled(rambler(len(letters), seed, **options), letters, self.V)

    def fixed(self, *law):
        return spelled(iid(law), (0, 1, 2), self.V)


def letters(end=None):
    """The Letters where this token is the end: 0, 1, 2 and 3, where there is none."""
    a, b = [x for x in range(3) if x != end][:2]
    c = 2 if end is None else end
    other = next(x for x in range(5) if x not in (a, b, c))
    return Letters(a, b, c, other, max(a, b, c, other) + 1)


@functools.lru_cache(maxsize=8)
def worlds(end=None):
    """The worlds, in the order in which they are run."""
    known = letters(end)
    return [*_one_token(known), *_texts(known), *_late(known), *_special(known),
            *(_ends(known) if end is not None else [])]


def _one_token(to):
    four = (to.a, to.b, to.other, to.c)  # what is owed goes to the first and to the last token
    return [
        World(EXAMPLE, to.fixed(*EXAMPLE_P), to.fixed(*EXAMPLE_Q), (to.a, to.b), 1, 1,
              "one token, by hand", 4_000),
        World(FOUR, to.model(53, four), to.model(158, four), (to.a, to.b), 1, 1,
              "two tokens guessed too often, two too rarely: what is drawn when", 6_000)]


def _texts(to):
    full, other, two = to.model(11), to.model(24), (to.a, to.b)
    small, hasty = to.model(5, two), to.model(8, two)
    return [
        World("one guess, two tokens", full, other, two, 2, 1, "each part of a round, once"),
        World("one guess", full, other, two, 3, 1, "the round after a round", 2_000),
        World("two guesses", small, hasty, (to.b, to.a), 4, 2,
              "the second guess, the bonus, the next", 2_000),
        World("zeros", to.model(31, zeros=0.45), to.model(44, zeros=0.35), (to.a, to.b, to.b), 3, 2,
              "tokens that one of the two never writes", 1_000)]


def _late(to):
    """What stands in the world of four tokens, at the second guess and at the third."""
    four, two = (to.a, to.b, to.other, to.c), (to.a, to.b)
    p, q = to.model(53, four), to.model(158, four)
    return [World(f"a late guess, γ = {k + 1}", late(p, two, to.a, k), late(q, two, to.a, k), two,
                  k + 1, k + 1, "a rule that changes from guess to guess", 6_000)
            for k in (1, 2)]


def _special(to):
    full, other, two = to.model(11), to.model(24), (to.a, to.b)
    small, hasty = to.model(5, two), to.model(8, two)
    cold, colder = (remembered(temperature(model, 0)) for model in (full, other))
    return [
        World("no guess", full, other, two, 2, 0, "γ = 0 is plain sampling"),
        World("draft = target", small, small, (to.a, to.a), 4, 2, "nothing to reject"),
        World("one-hot", cold, colder, two, 5, 2, "greedy"),
        World("three guesses", sure_after(small, 4), sure_after(hasty, 4), (to.b, to.a), 5, 3,
              "γ = 3"),
        World("cut short", small, hasty, two, 1, 2, "a round longer than the text"),
        World("nothing to write", small, hasty, two, 0, 2, "n_new = 0")]


def _ends(to):
    return [
        World("end", to.model(11), to.model(24), (to.a, to.c, to.b), 3, 1, "an end in a round"),
        World("end, two guesses", to.model(31, zeros=0.45), to.model(44, zeros=0.35),
              (to.a, to.c), 3, 2, "an end inside a longer round")]


def again(end=None):
    """A world for a second opinion on a wrong rule: the first token is guessed too often here."""
    to = letters(end)
    four = (to.a, to.b, to.other, to.c)
    return World(AGAIN, to.model(440, four), to.model(66, four), (to.a, to.b), 1, 1,
                 "other tokens guessed too often", 4_000)


def boundary(end=None):
    """A world whose only guess is forbidden by the target: not even a coin of exactly 0 keeps it.
    """
    V = 3 if end is None else max(3, end + 1)
    p, q = np.zeros(V), np.zeros(V)
    p[:2], q[-1] = (0.6, 0.4), 1.0
    return World("a coin of exactly 0", iid(p), iid(q), (0, 1), 1, 1, "u · q < p, strictly")
