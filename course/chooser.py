"""A generator that takes one way of many: what course.exact hands to a sampler in place of its rng.

A Chooser has the methods of numpy.random.Generator whose draws have a finite list of outcomes, with
numpy's own rules for their arguments, and refuses the others with NotEnumerable. Beside it stands a
watch over every other source of randomness in the process.
"""
import functools
import gc
import pickle
import random
import sys
from contextlib import contextmanager

import numpy as np
from numpy.random import bit_generator

from course.coin import TINY, Coin, NotEnumerable

MOST_DRAWS = 5_000  # along one path; more is taken for a loop that never ends
MOST_ITEMS = 10_000  # in one draw


@functools.lru_cache(maxsize=4096)
def _probabilities(data, dtype, shape, n):
    """The probabilities for n items from an array's bytes (a path tree asks for the same ones often)."""
    p = np.frombuffer(data, dtype).reshape(shape)
    total, slack = p.sum(), 1e-8 if dtype == np.float64 else 3e-4  # numpy's own tolerance
    if shape != (n,) or not p.min() >= 0 or not abs(total - 1) <= slack:
        raise ValueError(f"choice() among {n} needs as many probabilities, none of them negative, "
                         f"which add up to 1: it got {p}")
    return tuple((p / total).tolist())


class Chooser:
    """Stands in for numpy.random.Generator along one path: a tuple of (probabilities, index)."""

    def __init__(self, path):
        self.path, self.depth, self.draws = path, 0, 0
        self.chance, self.left_out, self.untried, self.tossed = 1.0, 0.0, [], False

    def branch(self, probs):
        """Take one outcome of a finite draw; remember the others that can happen."""
        self.draws += 1
        if self.draws > MOST_DRAWS:
            raise NotEnumerable(f"more than {MOST_DRAWS} draws in one run: does a loop never end?")
        if self.depth == len(self.path):
            likely = [i for i, w in enumerate(probs) if w > TINY and self.chance * w > TINY]
            likely = likely or [max(range(len(probs)), key=probs.__getitem__)]
            if len(likely) < len(probs):
                self.left_out += self.chance * sum(w for i, w in enumerate(probs)
                                                   if w > TINY and i not in likely)
            self.untried += [(*self.path, (probs, i)) for i in likely[1:]]
            self.path = (*self.path, (probs, likely[0]))
        before, i = self.path[self.depth]
        if before != probs:
            raise NotEnumerable("run again on the same coins, the sampler did something else: "
                                "it remembers an earlier run, or draws from another source")
        self.depth += 1
        self.chance *= probs[i]
        return i

    def _fill(self, size, draw):
        if size is None:
            return draw()
        filled = np.array([draw() for _ in range(int(np.prod(size)))])
        return filled.reshape(size)

    def random(self, size=None, dtype=np.float64, out=None):
        self.tossed = True
        if out is not None or np.dtype(dtype) != np.float64:
            raise NotEnumerable("random() into an array, or of another type than float64")
        return self._fill(size, lambda: Coin(self))

    def uniform(self, low=0.0, high=1.0, size=None):
        if np.ndim(low) or np.ndim(high):
            raise NotEnumerable("uniform() between arrays")
        return self.random(size) * (high - low) + low

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        if axis != 0 or (size is not None and not replace):
            raise NotEnumerable("choice() without replacement, or along another axis")
        items = range(a) if np.ndim(a) == 0 else np.asarray(a)
        if not 0 < len(items) <= MOST_ITEMS:
            raise ValueError(f"choice() among {len(items)} items")
        if p is None:
            probs = (1 / len(items),) * len(items)
        else:
            p = np.asarray(p)
            probs = _probabilities(p.tobytes(), p.dtype, p.shape, len(items))
        return self._fill(size, lambda: np.int64(self.branch(probs)) if isinstance(items, range)
                          else items[self.branch(probs)])

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        low, high = (0, low) if high is None else (low, high)
        if np.ndim(low) or np.ndim(high) or high - low > MOST_ITEMS:
            raise NotEnumerable("integers() between arrays, or among too many")
        if high - low + endpoint < 1:
            raise ValueError(f"integers() between {low} and {high}: nothing lies there")
        n = int(high - low + endpoint)
        return self._fill(size, lambda: np.dtype(dtype).type(low + self.branch((1 / n,) * n)))

    def binomial(self, n, p, size=None):
        if np.ndim(n) or np.ndim(p) or n != 1:
            raise NotEnumerable("binomial() of more than one toss")
        return self._fill(size, lambda: np.int64(1 - self.branch((float(p), 1 - float(p)))))

    def multinomial(self, n, pvals, size=None):
        pvals = np.array(pvals, dtype=float)
        if np.ndim(n) or n != 1 or size is not None or pvals.ndim != 1:
            raise NotEnumerable("multinomial() of more than one draw")
        if not pvals.min() >= 0 or pvals[:-1].sum() > 1 + 1e-12:
            raise ValueError(f"multinomial() needs probabilities that add up to 1, got {pvals}")
        pvals[-1] = max(1 - pvals[:-1].sum(), 0.0)  # as numpy does, whatever stood there
        return np.eye(len(pvals), dtype=np.int64)[self.branch(tuple(pvals.tolist()))]

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotEnumerable(f"rng.{name} has no finite list of outcomes here")


@contextmanager
def other_sources():
    """Yields a function that tells whether a generator of this process was used inside.

    Every generator that lives now is looked at before and after. One that is made inside and takes
    its seed from the operating system is refused at once; one with a fixed seed is no randomness.
    """
    def state(source):
        return pickle.dumps(source.getstate() if isinstance(source, random.Random) else source.state)

    def refuse(bits):
        raise NotEnumerable("the sampler makes a generator of its own: it must use its rng alone")

    kinds = (np.random.BitGenerator, random.Random)
    before = [(source, state(source)) for source in gc.get_objects()
              if isinstance(source, kinds) and not isinstance(source, random.SystemRandom)]
    torch = getattr(sys.modules.get("torch"), "random", None)
    torch_before = torch and torch.get_rng_state().numpy().tobytes()
    seeds, bit_generator.randbits = bit_generator.randbits, refuse
    try:
        yield lambda: (any(state(source) != old for source, old in before)
                       or (torch and torch.get_rng_state().numpy().tobytes() != torch_before))
    finally:
        bit_generator.randbits = seeds
