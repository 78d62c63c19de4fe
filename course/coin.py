"""A coin that is not tossed yet: what course.exact hands to a sampler in place of a uniform draw.

Nothing is known about it but the comparisons made so far: each new one splits the interval that
it may still lie in. Adding and multiplying keep it a coin. Every use that has no finite list of
outcomes is refused with NotEnumerable; the refusal is noted, so a sampler cannot hide it.
"""
import bisect
import math
import operator

import numpy as np

TINY = 1e-15  # a branch less likely than this is rounding: p / q = 1 - 1e-16 is no chance
ULP = 2.0**-52  # the rounding of a float64, relative

OPERATORS = {np.less: operator.lt, np.less_equal: operator.le, np.greater: operator.gt,
             np.greater_equal: operator.ge, np.multiply: operator.mul, np.add: operator.add,
             np.subtract: operator.sub, np.true_divide: operator.truediv,
             np.negative: operator.neg}
MIRRORED = {operator.lt: operator.gt, operator.le: operator.ge, operator.gt: operator.lt,
            operator.ge: operator.le, operator.mul: operator.mul, operator.add: operator.add,
            operator.sub: lambda coin, k: -coin + k}


class NotEnumerable(TypeError):
    """The sampler uses randomness in a way that has no finite list of outcomes."""


class Coin:
    """scale * u + shift, where u is uniform on [0, 1) and known through comparisons alone."""

    __slots__ = ("chooser", "scale", "shift", "interval")

    def __init__(self, chooser, scale=1.0, shift=0.0, interval=None):
        self.chooser, self.scale, self.shift = chooser, scale, shift
        self.interval = [0.0, 1.0] if interval is None else interval  # shared by all made of one u

    def _u_below(self, t):
        """Is u below t? Told by the interval if it can be, else by a branch that narrows it."""
        low, high = self.interval
        share = min(max((t - low) / (high - low), 0.0), 1.0)
        below = self.chooser.branch((share, 1 - share)) == 0
        if TINY < share < 1 - TINY:
            self.interval[:] = (low, t) if below else (t, high)
        return below

    def _compare(self, op, other):
        if isinstance(other, Coin):
            if other is self:
                return op(0, 0)
            self.chooser.refuse("two random draws are compared with each other")
        other = self._double(other)
        if isinstance(other, np.ndarray):
            flat = [self._compare(op, t) for t in other.ravel()]
            return np.array(flat, dtype=bool).reshape(other.shape)
        if self.scale == 0 or math.isnan(other):
            return bool(op(self.shift, other))
        t = (float(other) - self.shift) / self.scale
        lost = ULP * abs(self.shift / self.scale)  # u + 1e17 has no digits left
        if lost > 1e-13 and -lost < t < 1 + lost:
            self.chooser.refuse("a uniform draw is compared after its digits were rounded away")
        below = self._u_below(t) == (self.scale > 0)
        return below if op in (operator.lt, operator.le) else not below  # a tie has chance zero

    def __lt__(self, other): return self._compare(operator.lt, other)
    def __le__(self, other): return self._compare(operator.le, other)
    def __gt__(self, other): return self._compare(operator.gt, other)
    def __ge__(self, other): return self._compare(operator.ge, other)

    def _affine(self, scale, shift):
        """scale * self + shift, a new Coin (or an array of them) made from the same u."""
        if isinstance(scale, Coin) or isinstance(shift, Coin):
            self.chooser.refuse("two random draws are combined")
        scale, shift = self._double(scale), self._double(shift)
        if isinstance(scale, np.ndarray) or isinstance(shift, np.ndarray):
            pairs = np.broadcast(scale, shift)
            coins = np.empty(pairs.shape, dtype=object)
            coins.flat = [self._affine(a, b) for a, b in pairs]
            return coins
        scale, shift = float(self.scale * scale), float(self.shift * scale + shift)
        if not math.isfinite(scale + shift):
            self.chooser.refuse("a uniform draw is multiplied by infinity, or added to it")
        return Coin(self.chooser, scale, shift, self.interval)

    def __mul__(self, k): return self._affine(k, 0.0)
    def __add__(self, k): return self._affine(1.0, k)
    def __truediv__(self, k): return self._affine(_inverse(k), 0.0)
    def __sub__(self, k): return self._affine(1.0, -k)
    def __neg__(self): return self._affine(-1.0, 0.0)
    def __rsub__(self, k): return self._affine(-1.0, k)
    def __abs__(self): return -self if self < 0 else self
    __rmul__, __radd__ = __mul__, __add__

    def _double(self, number):
        """number, plain if it is an array without axes; refused if it makes numpy round u."""
        if isinstance(number, float):
            return number
        if str(getattr(number, "dtype", "")).endswith(("float32", "float16")):
            self.chooser.refuse("a uniform draw meets a float32 and is rounded: use float64")
        return number.item() if isinstance(number, np.ndarray) and not number.ndim else number

    def _as_number(self, *_):
        self.chooser.refuse("a uniform draw is used as a number, not compared with one")

    __float__ = __int__ = __bool__ = __complex__ = __round__ = __trunc__ = __floor__ = _as_number
    __ceil__ = __rtruediv__ = __pow__ = __rpow__ = __mod__ = __rmod__ = __floordiv__ = _as_number
    __rfloordiv__ = __divmod__ = __format__ = __eq__ = __ne__ = __hash__ = _as_number

    def __repr__(self):
        return "a uniform draw, known by comparisons alone"

    def __copy__(self): return self  # as a float does
    def __deepcopy__(self, memo): return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self._as_number()

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        """NumPy's operators are the operators above, mirrored if need be; the rest refuses."""
        op = OPERATORS.get(ufunc)
        if op is None or method != "__call__" or kwargs:
            self.chooser.refuse(f"{ufunc.__name__}() of a uniform draw")
        if len(inputs) == 1 or isinstance(inputs[0], Coin):
            return op(*inputs)
        return MIRRORED.get(op, Coin._as_number)(self, inputs[0])

    def __array_function__(self, func, types, args, kwargs):
        if func is np.searchsorted and len(args) > 1 and args[1] is self and "sorter" not in kwargs:
            return bisect.bisect_left(list(args[0]), self)
        self.chooser.refuse(f"{func.__name__}() of a uniform draw")


def _inverse(k):
    """1 / k; infinity where numpy would warn, since a Coin refuses that anyway."""
    with np.errstate(divide="ignore"):
        return 1.0 / k
