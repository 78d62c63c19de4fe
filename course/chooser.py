"""A generator that takes one way of many: what course.exact hands to a sampler in place of its rng.

A Chooser has the methods of numpy.random.Generator whose draws have a finite list of outcomes,
with numpy's own rules for their arguments, and refuses the others with NotEnumerable. Left out:
finite draws that no sampler of this course needs (without replacement, in random order).
"""
import functools

import numpy as np

from course.coin import TINY, Coin, NotEnumerable

MOST_DRAWS = 5_000  # along one path; more is taken for a loop that never ends
MOST_ITEMS = 10_000  # in one draw
NARROW = 1e-9  # a real number inside a narrower interval may be rounded out of it


def _numpy(name, *args, **options):
    """What numpy's own generator gives for these arguments, or its complaint about them."""
    return getattr(np.random.default_rng(0), name)(*args, **options)


_remembered = functools.lru_cache(maxsize=4096, typed=True)(_numpy)  # a path tree asks often


@functools.lru_cache(maxsize=4096)
def _choice(data, dtype, shape, n):
    """The probabilities for n items from an array's bytes."""
    p = np.frombuffer(data, dtype).reshape(shape)
    _numpy("choice", n, p=p)
    return tuple((p.astype(float) / p.astype(float).sum()).tolist())


class Chooser:
    """Stands in for numpy.random.Generator along one path: a tuple of (probabilities, index).

    With numbers, uniform draws are these numbers one by one (then 0.5) instead of Coins.
    """

    __class__ = property(lambda self: np.random.Generator)  # isinstance() takes it for a Generator

    def __init__(self, path, numbers=None):
        self.path, self.depth, self.draws, self.numbers = path, 0, 0, numbers
        self.chance, self.left_out, self.untried = 1.0, 0.0, []
        self.coins, self.picks, self.refused = [], [], None

    def refuse(self, why):
        """Raise NotEnumerable, and remember it in case the sampler catches it."""
        self.refused = self.refused or why
        raise NotEnumerable(why)

    def branch(self, probs):
        """Take one outcome of a finite draw; remember the others that can happen."""
        self.draws += 1
        if self.draws > MOST_DRAWS:
            self.refuse(f"more than {MOST_DRAWS} draws in one run: does a loop never end?")
        if self.depth == len(self.path):
            self._open(probs)
        before, i = self.path[self.depth]
        if before is not probs and before != probs:
            self.refuse("run again on the same coins, the sampler did something else: "
                        "it remembers an earlier run, or draws from another source")
        self.depth += 1
        self.chance *= probs[i]
        return i

    def _open(self, probs):
        """At the end of the path: take the first outcome that has a chance, note the others."""
        likely = [i for i, w in enumerate(probs) if w > TINY and self.chance * w > TINY]
        likely = likely or [max(range(len(probs)), key=probs.__getitem__)]
        if len(likely) < len(probs):
            kept = set(likely)
            self.left_out += self.chance * sum(w for i, w in enumerate(probs) if i not in kept)
        self.untried += [(*self.path, (probs, i)) for i in likely[1:]]
        self.path = (*self.path, (probs, likely[0]))

    def again(self, share):
        """A Chooser for the same way again, each coin a real number at share of its interval."""
        intervals = [coin.interval for coin in self.coins]
        if any(high - low < NARROW for low, high in intervals):
            return Chooser(self.path)
        numbers = [low + share * (high - low) for low, high in intervals]
        return Chooser(tuple(self.picks), iter(numbers))

    def _pick(self, probs):
        """As branch, for a draw that is no coin."""
        i = self.branch(probs)
        self.picks.append((probs, i))
        return i

    def _toss(self):
        if self.numbers is not None:
            return next(self.numbers, 0.5)
        self.coins.append(Coin(self))
        return self.coins[-1]

    def _fill(self, size, draw):
        if size is None:
            return draw()
        shape = np.empty(size, dtype=bool).shape  # numpy's own rules for a size
        if np.prod(shape) > MOST_DRAWS:
            self.refuse(f"more than {MOST_DRAWS} draws at once")
        return np.array([draw() for _ in range(np.prod(shape, dtype=int))]).reshape(shape)

    def random(self, size=None, dtype=np.float64, out=None):
        if out is not None or np.dtype(dtype) != np.float64:
            self.refuse("random() into an array, or of another type than float64")
        return self._fill(size, self._toss)

    def uniform(self, low=0.0, high=1.0, size=None):
        if np.ndim(low) or np.ndim(high):
            self.refuse("uniform() between arrays")
        _remembered("uniform", low, high)
        return self.random(size) * (float(high) - float(low)) + float(low)

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        if axis != 0 or (size is not None and not replace):
            self.refuse("choice() without replacement, or along another axis")
        items = np.asarray(a)
        if items.ndim > 1 and size is not None:
            self.refuse("choice() of many rows")
        n = len(items) if items.ndim else items.item()
        if not isinstance(n, int) or not 0 < n <= MOST_ITEMS:
            _numpy("choice", a, size)
            self.refuse(f"choice() among {n} items")
        if p is None:
            probs = (1 / n,) * n
        else:
            p = np.asarray(p, dtype=None if isinstance(p, np.ndarray) else float)
            p = p if p.dtype.kind == "f" else p.astype(float)
            probs = _choice(p.tobytes(), p.dtype, p.shape, n)
        return self._fill(size, lambda: items[self._pick(probs)] if items.ndim
                          else self._pick(probs))

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        if np.ndim(low) or np.ndim(high):
            self.refuse("integers() between arrays")
        kind = type(_remembered("integers", low, high, dtype=dtype, endpoint=endpoint))
        low, high = (0, low) if high is None else (low, high)
        n = high - low + endpoint
        if n > MOST_ITEMS or n != int(n) or low != int(low):
            self.refuse(f"integers() among {n}")
        return self._fill(size, lambda: kind(int(low) + self._pick((1 / int(n),) * int(n))))

    def binomial(self, n, p, size=None):
        if np.ndim(n) or np.ndim(p) or n != 1:
            self.refuse("binomial() of more than one toss")
        _remembered("binomial", n, p)
        return self._fill(size, lambda: 1 - self._pick((float(p), 1 - float(p))))

    def multinomial(self, n, pvals, size=None):
        pvals = np.array(pvals, dtype=float)
        if np.ndim(n) or n != 1 or size is not None or pvals.ndim != 1:
            self.refuse("multinomial() of more than one draw")
        _numpy("multinomial", n, pvals)
        pvals[-1] = max(1 - pvals[:-1].sum(), 0.0)  # as numpy does, whatever stood there
        return np.eye(len(pvals), dtype=np.int64)[self._pick(tuple(pvals.tolist()))]

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if not hasattr(np.random.Generator, name) and not hasattr(np.random.BitGenerator, name):
            raise AttributeError(f"a numpy Generator has no attribute {name!r}")
        self.refuse(f"rng.{name} has no finite list of outcomes here")

    def __reduce_ex__(self, protocol):  # a copy would draw without the original noticing
        self.refuse("the generator is copied")
