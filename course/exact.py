"""The exact law of any sampler: run it once for every way its coins can fall.

A sampler is a plain function of an `rng` that it uses like a numpy Generator. Here `rng` is a
Chooser: where the sampler would draw, the Chooser takes one branch, notes its probability, and is
later sent down the others. A uniform draw becomes a Coin (course/coin.py), about which nothing is
decided until it is compared with a number. Left out: randomness without a finite list of outcomes,
randomness from elsewhere, and memory between two runs; each raises NotEnumerable, never a wrong
law: sample those. Paths are not merged, so the cost grows with the number of coin sequences: keep V
and lengths small.
"""
import operator
from contextlib import contextmanager

import numpy as np

from course.chooser import Chooser
from course.coin import NotEnumerable
from course.models import as_tokens, remembered, rows
from course.speculative import _count
from course.watch import other_sources

__all__ = ["Law", "NotEnumerable", "TooManyPaths", "generation_law", "joint", "law"]

LEFT_OUT = 1e-12  # a law that misses more than this is not exact
REPEATS = 64  # runs on real numbers where coins fell before: do they give what the coins gave?
GOLDEN = 0.618  # its multiples spread these numbers over the intervals that the coins left open
MEMORY = ("the same coins gave two outcomes: the sampler remembers an earlier run, or draws from "
          "another source")


class TooManyPaths(RuntimeError):
    """The coins can fall in more ways than the limit allows."""


class Law(dict):
    """A law {outcome as a tuple of ints: probability}; paths is the number of runs behind it."""

    paths = 0

    def add(self, outcome, chance):
        self[outcome] = self.get(outcome, 0.0) + chance


def as_outcome(result):
    """What a sampler returned, as the tuple of ints that laws use for it: an int is a list of one.

    Raises NotEnumerable for anything that is not an int or a list of ints.
    """
    items = list(result) if np.iterable(result) else [result]
    try:
        return tuple(operator.index(x if getattr(x, "ndim", 1) else x.item()) for x in items)
    except TypeError:
        raise NotEnumerable(f"the sampler returned {result!r:.60}: return an int or a list of ints"
                            ) from None


def law(sampler, max_paths=200_000):
    """The exact Law of sampler(rng), whose outcome is an int or a list of ints.

    Raises NotEnumerable if its randomness has no finite list of outcomes or comes from elsewhere,
    TooManyPaths past max_paths, and whatever the sampler itself raises.
    """
    with _watched():
        return _enumerate(sampler, max_paths, REPEATS)


def joint(model, prompt, n, end=None):
    """The Law of the n tokens that model itself writes after prompt; with end, it stops there."""
    prompt, open_law, done = as_tokens(prompt), Law({(): 1.0}), Law()
    for _ in range(_count(n, "n")):
        grown = Law()
        for new, chance in open_law.items():
            for x, share in enumerate(rows(model, [*prompt, *new])[-1]):
                if share > 0:
                    (done if x == end else grown).add((*new, x), chance * share)
        open_law = grown
    return Law({**done, **open_law})


def generation_law(round, target, draft, prompt, n_new, gamma, end=None, max_paths=200_000):
    """The Law of the n_new tokens that rounds of round(target, draft, tokens, gamma, rng) write.

    Exact and cheap, since a round forgets everything but the tokens: the law of one round is
    enumerated once for every text it can start from, and the laws are chained. max_paths bounds the
    sum over all rounds. Use law(generate) for loops that remember more than the tokens.
    """
    prompt, n_new, done = as_tokens(prompt), _count(n_new, "n_new"), Law()
    target, draft = remembered(target), remembered(draft)
    open_law = {(): 1.0}
    with _watched():
        while open_law:
            new = min(open_law, key=len)  # shortest first: nothing reaches it any more
            chance = open_law.pop(new)
            if len(new) == n_new or (end is not None and new[-1:] == (end,)):
                done.add(new, chance)
                continue
            blocks = _enumerate(lambda rng, text=[*prompt, *new]:
                                round(target, draft, list(text), gamma, rng),
                                max_paths - done.paths, repeats=2 if done.paths else REPEATS)
            done.paths += blocks.paths
            for block, share in blocks.items():
                text = _cut(new + block, len(new), n_new, end)
                open_law[text] = open_law.get(text, 0.0) + chance * share
    return done


def _cut(text, start, n_new, end):
    """text up to n_new tokens, or up to the first end at or after start."""
    if len(text) == start:
        raise ValueError("a round wrote no token: it must write at least one")
    stop = text.index(end, start) + 1 if end is not None and end in text[start:] else len(text)
    return text[:min(stop, n_new)]


@contextmanager
def _watched():
    """Raise NotEnumerable if another source of randomness is used inside."""
    with other_sources() as used:
        yield
    if used():
        raise NotEnumerable("the sampler also draws from a source that is not its rng")


def _enumerate(sampler, max_paths, repeats):
    """The Law of sampler, path by path, without a look at other sources."""
    result, first, paths, left_out = Law(), [], [()], 0.0
    while paths:
        if result.paths >= max_paths:
            raise TooManyPaths("the coins can fall in more ways than max_paths allows: "
                               "use fewer tokens or a smaller vocabulary")
        outcome, chooser = _run(sampler, Chooser(paths.pop()))
        result.add(outcome, chooser.chance)
        result.paths += 1
        left_out += chooser.left_out
        paths += chooser.untried
        if len(first) < repeats:
            first.append((outcome, chooser))
    for i in range(repeats):
        outcome, chooser = first[-1 - i % len(first)]  # backwards: out of step with any counter
        if _run(sampler, chooser.again(0.1 + 0.8 * (i * GOLDEN % 1)))[0] != outcome:
            raise NotEnumerable(MEMORY)
    if left_out > LEFT_OUT:
        raise TooManyPaths("the coins can fall in endlessly many ways, too rare to follow each: "
                           "is there a loop that draws until something happens?")
    assert abs(sum(result.values()) - 1) < 1e-9, "the paths do not add up to 1"
    return result


def _run(sampler, chooser):
    """One run of sampler on chooser: the outcome as a tuple of ints, and the chooser."""
    try:
        outcome = as_outcome(sampler(chooser))
    except NotEnumerable:
        raise
    except Exception as error:
        if chooser.refused or not _own(type(error), sampler, chooser):
            raise NotEnumerable("a uniform draw is used in a way that has no finite list of "
                                f"outcomes: {chooser.refused or error}") from error
        raise
    if chooser.refused:  # and the sampler caught it
        raise NotEnumerable(chooser.refused)
    if chooser.depth < len(chooser.path):
        raise NotEnumerable(MEMORY)
    return outcome, chooser


def _own(kind, sampler, chooser):
    """Is an error of this kind the sampler's own? Then the same way raises it on real numbers too,
    and where that way is a likely one, a real generator shows it."""
    rngs = map(np.random.default_rng, range(20 if chooser.chance > 0.5 else 0))
    return _raises(kind, sampler, chooser.again(0.5)) and (
        chooser.chance <= 0.5 or any(_raises(kind, sampler, rng) for rng in rngs))


def _raises(kind, sampler, rng):
    try:
        as_outcome(sampler(rng))
    except Exception as error:
        return type(error) is kind
    return False
