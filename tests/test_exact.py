"""The exact law of any sampler: first the table of ways to draw, then whole generations.

Every row of the table is a short function of rng and what course.exact.law owes for it: the law to
1e-12, or NotEnumerable, TooManyPaths or the sampler's own exception. Never a wrong law. Each law in
the table is itself held against real draws of numpy.
"""
import bisect
import copy
import itertools
import math
import operator
import os
import random
import secrets
import threading
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import binom

from course import exact, watch
from course.exact import NotEnumerable, TooManyPaths
from course.models import markov, rambler, temperature
from course.speculative import accept, generate, residual, sample, speculate
from course.stats import total_variation

EXACT = 1e-12
SEED = 0  # fifty others were tried by hand: no test depends on it
P, Q = np.array([.5, .3, .2]), np.array([.2, .2, .6])
CDF = np.cumsum(P)
P32 = np.float32(P).astype(float) / np.float32(P).astype(float).sum()  # as rounded by float32
LAW = {0: .5, 1: .3, 2: .2}
PAIRS = {(x, y): LAW[x] * LAW[y] for x in LAW for y in LAW}
DRAWS = 4000


def coin(chance):
    """The law of a yes (1) that comes with this chance."""
    return {1: chance, 0: 1 - chance}


def uniform(*outcomes):
    return dict.fromkeys(outcomes, 1 / len(outcomes))


# ---- ways to draw that need more than one line

def by_loop(rng):
    u, total = rng.random(), 0.0
    for x, w in enumerate(P):
        total += w
        if u < total:
            return x
    return len(P) - 1


def by_subtraction(rng):
    u = rng.random()
    for x, w in enumerate(P):
        u -= w
        if u < 0:
            return x
    return len(P) - 1


def by_bisect(find, edges):
    return lambda rng: find(edges, rng.random())


def reused(rng):
    u = rng.random()
    return [u < .5, u < .3, 1 - u < .6, u * 2 >= 1.6]


def fresh_each_time(rng):
    return [rng.random() < .5, rng.random() < .5]


def speculative(rng):
    x = rng.choice(3, p=Q)
    return x if rng.random() < P[x] / Q[x] else rng.choice(3, p=[.75, .25, 0])


def retry(rng):
    while True:
        x = rng.choice(2, p=[.9, .1])
        if rng.random() < (1, .5)[x]:
            return x


def retry_for_long(rng):
    while rng.random() < .9:
        pass
    return 0


def endless(rng):
    while True:
        rng.random() < .5


def endless_and_wide(rng):
    return [rng.integers(10) for _ in range(12)]


def lazy(rng):
    yield rng.choice(3, p=P)
    yield rng.choice(3, p=P)


def seeded_from_rng(rng):
    return default_rng(int(rng.integers(5))).integers(3)


def own_seed(rng):
    return default_rng(7).choice(3, p=P) + rng.integers(2)


SEVEN = int(default_rng(7).choice(3, p=P))


def logs(rng):
    return math.log(rng.random()) < -1


def caught(rng):
    try:
        return int(rng.random() * 3)
    except TypeError:
        return 0


def caught_normal(rng):
    try:
        return rng.normal() > 1
    except Exception:
        return 0


def looks_at_type(rng):
    return rng.random() < (.3 if type(rng.random()) is float else .6)


def asks_for_a_generator(rng):
    assert isinstance(rng, np.random.Generator)
    return rng.random() < .3


def wants_the_very_type(rng):
    if type(rng) is not np.random.Generator:  # compiled code does such a thing
        raise TypeError("no Generator")
    return rng.random() < .3


def rare_error(rng):
    if rng.random() < 1e-6:
        raise ZeroDivisionError("once in a million")
    return 0


def rounding_error(rng):
    if rng.random() >= 1 - 1e-16:
        raise ValueError("rounding is no chance")
    return 1


def counter(every):
    def sampler(rng, runs=itertools.count(1)):
        return (next(runs) % every == 0) ^ (rng.random() < .3)
    return sampler


def counter_alone(rng, runs=itertools.count()):
    return next(runs) % 2


def drifting(rng, runs=itertools.count()):  # noqa: B008
    return rng.choice(2, p=[.3, .7] if next(runs) % 2 else [.4, .6])


def first_coin_kept(rng, kept=[]):  # noqa: B006 (that is the mistake)
    kept or kept.append(rng.random())
    return kept[0] < .3


def first_token_kept(rng, kept=[]):  # noqa: B006
    kept or kept.append(rng.choice(3, p=P))
    return kept[0]


def growing(rng, tokens=[]):  # noqa: B006
    tokens.append(rng.choice(3, p=P))
    return tokens


def kept_generator(rng, kept=[]):  # noqa: B006
    kept or kept.append(default_rng(1))
    return kept[0].random() < 1e-9


CLOSED, LEGACY, PYTHON = default_rng(1), np.random.RandomState(1), random.Random(1)
PARENT = default_rng(2)


def torch_draw(rng):
    import torch
    return bool(torch.rand(1) < 1e-9)


def torch_threshold(kind):
    def sampler(rng):
        import torch
        return bool(rng.random() < torch.tensor(.25, dtype=getattr(torch, kind)))
    return sampler


def torch_row(rng):
    import torch
    return int((rng.random() >= torch.tensor(CDF)).sum())


# ---- the table: what it is, how it draws, what the law is or what is raised

TABLE = [
    # comparisons, both ways round
    ("u < p", lambda rng: rng.random() < .3, coin(.3)),
    ("u <= p", lambda rng: rng.random() <= .3, coin(.3)),
    ("u > p", lambda rng: rng.random() > .3, coin(.7)),
    ("u >= p", lambda rng: rng.random() >= .3, coin(.7)),
    ("p > u", lambda rng: .3 > rng.random(), coin(.3)),
    ("p >= u", lambda rng: .3 >= rng.random(), coin(.3)),
    ("p < u", lambda rng: .3 < rng.random(), coin(.7)),
    ("p <= u", lambda rng: .3 <= rng.random(), coin(.7)),
    ("numpy scalar", lambda rng: rng.random() < P[1], coin(.3)),
    ("numpy scalar first", lambda rng: P[1] > rng.random(), coin(.3)),
    ("Fraction", lambda rng: rng.random() < Fraction(3, 10), coin(.3)),
    ("int", lambda rng: rng.random() < 1, coin(1)),
    ("numpy scalars all ways", lambda rng: [w(P[1], u) for u in [rng.random()] for w in (
        operator.lt, operator.le, operator.gt, operator.ge)], {(0, 0, 1, 1): .3, (1, 1, 0, 0): .7}),
    ("0-d array", lambda rng: rng.random() < np.array(.3), coin(.3)),
    ("0-d array first", lambda rng: np.array(.3) > rng.random(), coin(.3)),
    ("1-d array", lambda rng: rng.random() < CDF, {(1, 1, 1): .5, (0, 1, 1): .3, (0, 0, 1): .2}),
    ("1-d array first, >=", lambda rng: CDF >= rng.random(),
     {(1, 1, 1): .5, (0, 1, 1): .3, (0, 0, 1): .2}),
    ("1-d array first", lambda rng: CDF <= rng.random(),
     {(0, 0, 0): .5, (1, 0, 0): .3, (1, 1, 0): .2}),
    ("one-element array", lambda rng: bool(rng.random() < P[1:2]), coin(.3)),
    ("np.less", lambda rng: np.less(rng.random(), .3), coin(.3)),
    ("np.greater", lambda rng: np.greater(.3, rng.random()), coin(.3)),
    ("nan", lambda rng: [rng.random() < math.nan, rng.random() >= np.nan], {(0, 0): 1}),
    ("array with nan", lambda rng: rng.random() < np.array([math.nan, .3]),
     {(0, 1): .3, (0, 0): .7}),
    ("infinity", lambda rng: [rng.random() < math.inf, -np.inf > rng.random()], {(1, 0): 1}),
    ("below 0, above 1", lambda rng: [rng.random() < -.5, rng.random() < 1.5], {(0, 1): 1}),
    ("u < 0", lambda rng: rng.random() < 0, coin(0)),
    ("between", lambda rng: .2 < rng.random() < .5, coin(.3)),
    ("min", lambda rng: min(rng.random(), .3) < .2, coin(.2)),
    ("not", lambda rng: not rng.random() < .3, coin(.7)),
    # arithmetic that keeps it a coin
    ("1 - u", lambda rng: 1 - rng.random() < .3, coin(.3)),
    ("1 - u, numpy", lambda rng: np.float64(1) - rng.random() > P[1], coin(.7)),
    ("-u", lambda rng: -rng.random() > -.3, coin(.3)),
    ("u * q < p", lambda rng: rng.random() * .6 < .2, coin(1 / 3)),
    ("q * u < p", lambda rng: Q[2] * rng.random() < P[2], coin(1 / 3)),
    ("u * 0 < p", lambda rng: [rng.random() * 0 < .2, rng.random() * 0. < 0], {(1, 0): 1}),
    ("u < p / q", lambda rng: rng.random() < P[2] / Q[2], coin(1 / 3)),
    ("u / p < 1 / q", lambda rng: rng.random() / P[2] < 1 / Q[2], coin(1 / 3)),
    ("u - p < 0", lambda rng: rng.random() - P[1] < 0, coin(.3)),
    ("u * q - p < 0", lambda rng: rng.random() * 1e-8 - .3e-8 < 0, coin(.3)),
    ("p - u > 0", lambda rng: P[1] - rng.random() > 0, coin(.3)),
    ("abs", lambda rng: abs(rng.random() - .4) < .1, coin(.2)),
    ("u * q < p on arrays", lambda rng: rng.random() * Q < P, {(1, 1, 1): 1 / 3, (1, 1, 0): 2 / 3}),
    ("u < p / q on arrays", lambda rng: (rng.random() < P / Q).sum(), {3: 1 / 3, 2: 2 / 3}),
    ("array times 0-d", lambda rng: np.array(.6) * rng.random() < np.array(.2), coin(1 / 3)),
    # many at once
    ("random(size)", lambda rng: rng.random(2) < .3,
     {(1, 1): .09, (1, 0): .21, (0, 1): .21, (0, 0): .49}),
    ("random(size) < array", lambda rng: rng.random(3) < P / Q,
     {(1, 1, 1): 1 / 3, (1, 1, 0): 2 / 3}),
    ("random(1)[0]", lambda rng: rng.random(1)[0] < .3, coin(.3)),
    ("random(())", lambda rng: rng.random(()) < .3, coin(.3)),
    ("random((2, 2))", lambda rng: (rng.random((2, 2)) < .5).sum(),
     {k: math.comb(4, k) / 16 for k in range(5)}),
    ("random(0)", lambda rng: rng.random(0) < .3, {(): 1}),
    ("first of many", lambda rng: np.argmax(rng.random(2) < [.3, 1.]), {0: .3, 1: .7}),
    ("uniform", lambda rng: rng.uniform() < .3, coin(.3)),
    ("uniform(a, b)", lambda rng: rng.uniform(2, 4) < 3.5, coin(.75)),
    ("uniform(size)", lambda rng: (rng.uniform(size=2) < .5).all(), coin(.25)),
    ("reused", reused, {(1, 1, 0, 0): .3, (1, 0, 0, 0): .1, (1, 0, 1, 0): .1,
                        (0, 0, 1, 0): .3, (0, 0, 1, 1): .2}),
    ("fresh each time", fresh_each_time, uniform(*itertools.product((0, 1), repeat=2))),
    # inverse of the running sum
    ("loop", by_loop, LAW),
    ("subtraction", by_subtraction, LAW),
    ("next", lambda rng: next(x for u in [rng.random()] for x, c in enumerate(CDF) if u < c), LAW),
    ("np.searchsorted", lambda rng: np.searchsorted(CDF, rng.random()), LAW),
    ("np.searchsorted right", lambda rng: np.searchsorted(CDF, rng.random(), side="right"), LAW),
    ("np.searchsorted of one", lambda rng: np.searchsorted(CDF, rng.random(1)), LAW),
    (".searchsorted", lambda rng: CDF.searchsorted(rng.random()), LAW),
    (".searchsorted right", lambda rng: CDF.searchsorted(rng.random(), side="right"), LAW),
    ("bisect", by_bisect(bisect.bisect, CDF.tolist()), LAW),
    ("bisect_left", by_bisect(bisect.bisect_left, CDF.tolist()), LAW),
    ("bisect in an array", by_bisect(bisect.bisect_right, CDF), LAW),
    ("count_nonzero", lambda rng: np.count_nonzero(CDF <= rng.random()), LAW),
    ("sum", lambda rng: (rng.random() >= CDF).sum(), LAW),
    ("python's sum", lambda rng: sum(u >= c for u in [rng.random()] for c in CDF), LAW),
    ("argmax", lambda rng: np.argmax(rng.random() < CDF), LAW),
    ("cumsum", lambda rng: int((np.cumsum(P) > rng.random()).argmax()), LAW),
    ("flatnonzero", lambda rng: np.flatnonzero(rng.random() < CDF)[0], LAW),
    ("np.where", lambda rng: np.where(rng.random() < CDF)[0][0], LAW),
    # numpy's own finite draws
    ("choice(p)", lambda rng: rng.choice(3, p=P), LAW),
    ("choice(list)", lambda rng: rng.choice([0, 1, 2], p=list(P)), LAW),
    ("choice of fractions", lambda rng: rng.choice(2, p=[Fraction(1, 3), Fraction(2, 3)]),
     {0: 1 / 3, 1: 2 / 3}),
    ("choice, whole numbers", lambda rng: rng.choice(2, p=[0, 1]), {1: 1}),
    ("choice, float32", lambda rng: rng.choice(3, p=np.float32(P)), dict(enumerate(P32))),
    ("choice(size)", lambda rng: rng.choice(3, size=2, p=P), PAIRS),
    ("choice(size=(2, 1))", lambda rng: rng.choice(3, (2, 1), p=P).ravel(), PAIRS),
    ("choice, no p", lambda rng: rng.choice(4), uniform(0, 1, 2, 3)),
    ("choice of a list", lambda rng: rng.choice([7, 9]), uniform(7, 9)),
    ("choice of rows", lambda rng: rng.choice(np.array([[1, 2], [3, 4]])), uniform((1, 2), (3, 4))),
    ("choice is an int", lambda rng: isinstance(rng.choice(3, p=P), int), {1: 1}),
    ("integers(n)", lambda rng: rng.integers(3), uniform(0, 1, 2)),
    ("integers(a, b)", lambda rng: rng.integers(2, 4), uniform(2, 3)),
    ("integers(endpoint)", lambda rng: rng.integers(0, 2, endpoint=True), uniform(0, 1, 2)),
    ("integers(size)", lambda rng: rng.integers(2, size=2),
     uniform(*itertools.product((0, 1), repeat=2))),
    ("binomial", lambda rng: rng.binomial(1, .3), coin(.3)),
    ("multinomial", lambda rng: rng.multinomial(1, P).argmax(), LAW),
    ("multinomial, wrong end", lambda rng: rng.multinomial(1, [.5, .3, .9]).argmax(), LAW),
    ("several kinds", speculative, LAW),
    ("the course's rule", lambda rng: x if accept(x := sample(Q, rng), P, Q, rng)
     else sample(residual(P, Q), rng), LAW),
    ("a generator function", lazy, PAIRS),
    ("is it a Generator?", asks_for_a_generator, coin(.3)),
    ("a constant", lambda rng: [4, 2], {(4, 2): 1}),
    ("nothing", lambda rng: [], {(): 1}),
    ("a seed of its own", own_seed, uniform(SEVEN, SEVEN + 1)),
    ("RandomState with a seed", lambda rng: np.random.RandomState(3).randint(2), NotEnumerable),
    ("random.Random with a seed", lambda rng: random.Random(1).random() < .5, {1: 1}),
    ("a seed drawn from rng", seeded_from_rng,
     {x: n / 5 for x, n in Counter(int(default_rng(s).integers(3)) for s in range(5)).items()}),
    ("rounding is no chance", lambda rng: rng.random() < (1 - 1e-16), coin(1)),
    ("no error from rounding", rounding_error, {1: 1}),
    ("1e-16 is no chance", lambda rng: rng.random() < 1e-16, coin(0)),
    ("1e-9 is one", lambda rng: rng.random() < 1e-9, coin(1e-9)),
    ("retry until kept", retry, {0: .9 / .95, 1: .05 / .95}),
    # uses of a coin without a finite list of outcomes
    ("log(u)", logs, NotEnumerable),
    ("np.log(u)", lambda rng: np.log(rng.random()) < -1, NotEnumerable),
    ("np.log(random(size))", lambda rng: np.log(rng.random(2)).sum() < -1, NotEnumerable),
    ("u against u", lambda rng: rng.random() < rng.random(), NotEnumerable),
    ("sum of two", lambda rng: rng.random() + rng.random() < 1, NotEnumerable),
    ("argmax of many", lambda rng: np.argmax(rng.random(3)), NotEnumerable),
    ("argsort of many", lambda rng: np.argsort(rng.random(3)), NotEnumerable),
    ("np.searchsorted of many", lambda rng: np.searchsorted(CDF, rng.random(2)), NotEnumerable),
    ("sorted", lambda rng: sorted(rng.random(3))[0] < .3, NotEnumerable),
    ("float(u)", lambda rng: float(rng.random()) < .3, NotEnumerable),
    ("astype", lambda rng: rng.random(2).astype(float) < .3, NotEnumerable),
    ("int(u * n)", lambda rng: int(rng.random() * 3), NotEnumerable),
    ("floor(u * n)", lambda rng: math.floor(rng.random() * 3), NotEnumerable),
    ("u // p", lambda rng: rng.random() // .3 == 0, NotEnumerable),
    ("round(u)", lambda rng: round(rng.random()), NotEnumerable),
    ("u % p", lambda rng: rng.random() % .5 < .3, NotEnumerable),
    ("u ** 2", lambda rng: rng.random() ** 2 < .3, NotEnumerable),
    ("p / u", lambda rng: P[1] / rng.random() > 1, NotEnumerable),
    ("u == p", lambda rng: rng.random() == .3, NotEnumerable),
    ("into an array", lambda rng: np.full(2, rng.random(), dtype=float) < .3, NotEnumerable),
    ("u as text", lambda rng: f"{rng.random():.1f}" < "0.3", NotEnumerable),
    ("a set of u", lambda rng: len({rng.random(), rng.random()}), NotEnumerable),
    ("float32 scalar", lambda rng: rng.random() < np.float32(.3), NotEnumerable),
    ("float32 array", lambda rng: rng.random() < np.float32(CDF), NotEnumerable),
    ("times float32", lambda rng: rng.random() * np.float32(.6) < .2, NotEnumerable),
    ("times infinity", lambda rng: rng.random() * math.inf < .3, NotEnumerable),
    ("far away", lambda rng: rng.random() + 1e17 <= 1e17 + .5, NotEnumerable),
    ("digits lost", lambda rng: rng.random() + 1e5 < 1e5 + .3, NotEnumerable),
    ("not so far", lambda rng: rng.random() + 9 < 9.25, coin(.25)),
    ("a copied coin", lambda rng: copy.deepcopy(rng.random()) < .3, coin(.3)),
    ("a refusal is caught", caught, NotEnumerable),
    ("a refused method is caught", caught_normal, NotEnumerable),
    ("looks at the type", looks_at_type, NotEnumerable),
    ("wants the very type", wants_the_very_type, NotEnumerable),
    ("numpy's type", lambda rng: rng.random(1)[0].item() < .3, NotEnumerable),
    ("random(dtype)", lambda rng: rng.random(dtype=np.float32) < .3, NotEnumerable),
    ("random(out)", lambda rng: rng.random(out=np.zeros(2)) < .3, NotEnumerable),
    # draws without a finite list of outcomes, or with a long one
    ("normal", lambda rng: rng.normal() < 0, NotEnumerable),
    ("gumbel", lambda rng: np.argmax(np.log(P) + rng.gumbel(size=3)), NotEnumerable),
    ("exponential", lambda rng: rng.exponential() < 1, NotEnumerable),
    ("shuffle", lambda rng: rng.shuffle([1, 2, 3]) or 0, NotEnumerable),
    ("permutation", lambda rng: rng.permutation(3), NotEnumerable),
    ("choice, no replacement", lambda rng: rng.choice(3, 2, replace=False), NotEnumerable),
    ("choice of too many", lambda rng: rng.choice(10**6), NotEnumerable),
    ("integers among too many", lambda rng: rng.integers(2**31) % 2, NotEnumerable),
    ("integers from arrays", lambda rng: rng.integers([2, 3]), NotEnumerable),
    ("binomial of many", lambda rng: rng.binomial(3, .5), NotEnumerable),
    ("multinomial of many", lambda rng: rng.multinomial(2, P), NotEnumerable),
    ("uniform from arrays", lambda rng: rng.uniform([0, 0], 1) < .3, NotEnumerable),
    ("bytes", lambda rng: rng.bytes(1)[0], NotEnumerable),
    ("a child", lambda rng: rng.spawn(1)[0].random() < .3, NotEnumerable),
    ("a copied generator", lambda rng: copy.deepcopy(rng).choice(3, p=P), NotEnumerable),
    ("default_rng(rng)", lambda rng: default_rng(rng).random() < .3, NotEnumerable),
    ("state", lambda rng: rng.bit_generator.state["state"]["state"] % 2, NotEnumerable),
    # other sources
    ("np.random.default_rng()", lambda rng: np.random.default_rng().random() < .3, NotEnumerable),
    ("default_rng() by name", lambda rng: default_rng().random() < 1e-9, NotEnumerable),
    ("RandomState()", lambda rng: np.random.RandomState().rand() < 1e-9, NotEnumerable),
    ("np.random.rand", lambda rng: np.random.rand() < 1e-9, NotEnumerable),
    ("random.random", lambda rng: random.random() < 1e-9, NotEnumerable),
    ("random.Random()", lambda rng: random.Random().random() < 1e-9, NotEnumerable),
    ("secrets", lambda rng: secrets.randbelow(10**9) == 0, NotEnumerable),
    ("SystemRandom", lambda rng: random.SystemRandom().random() < 1e-9, NotEnumerable),
    ("a generator closed over", lambda rng: CLOSED.random() < 1e-9, NotEnumerable),
    ("a rare look at it", lambda rng: rng.random() < 1e-6 and CLOSED.random() < .3, NotEnumerable),
    ("a RandomState closed over", lambda rng: LEGACY.rand() < 1e-9, NotEnumerable),
    ("a Random closed over", lambda rng: PYTHON.random() < 1e-9, NotEnumerable),
    ("a child of one closed over", lambda rng: PARENT.spawn(1)[0].random() < 1e-9, NotEnumerable),
    ("a generator kept", kept_generator, NotEnumerable),
    ("torch.rand", torch_draw, NotEnumerable),
    ("torch, float64", torch_threshold("float64"), coin(.25)),
    ("torch, float32", torch_threshold("float32"), NotEnumerable),
    ("torch, a row", torch_row, NotEnumerable),
    # memory between runs
    ("a counter", counter_alone, NotEnumerable),
    ("a counter and a coin", counter(2), NotEnumerable),
    ("probabilities that drift", drifting, NotEnumerable),
    ("every 50th run", counter(50), NotEnumerable),
    ("the first coin is kept", first_coin_kept, NotEnumerable),
    ("the first token is kept", first_token_kept, NotEnumerable),
    ("a list that grows", growing, NotEnumerable),
    # endless
    ("retry for long", retry_for_long, (NotEnumerable, TooManyPaths)),
    ("endless", endless, NotEnumerable),
    ("endless and wide", endless_and_wide, TooManyPaths),
    # the sampler's own mistakes
    ("wrong sum", lambda rng: rng.choice(3, p=[.5, .3, .3]), ValueError),
    ("wrong sum, float32 list", lambda rng: rng.choice(2, p=[.5, .5001]), ValueError),
    ("nan in p", lambda rng: rng.choice(2, p=[math.nan, 1]), ValueError),
    ("negative p", lambda rng: rng.choice(2, p=[-.5, 1.5]), ValueError),
    ("p too short", lambda rng: rng.choice(3, p=[.5, .5]), ValueError),
    ("p has two axes", lambda rng: rng.choice(2, p=[[.5, .5]]), ValueError),
    ("among none", lambda rng: rng.choice(0), ValueError),
    ("among no items", lambda rng: rng.choice([]), ValueError),
    ("among 2.5", lambda rng: rng.choice(2.5), ValueError),
    ("integers(0)", lambda rng: rng.integers(0), ValueError),
    ("binomial(1.5)", lambda rng: rng.binomial(1, 1.5), ValueError),
    ("binomial(nan)", lambda rng: rng.binomial(1, math.nan), ValueError),
    ("multinomial, too much", lambda rng: rng.multinomial(1, [.9, .9, .1]), ValueError),
    ("uniform, no end", lambda rng: rng.uniform(0, math.inf) < 1, OverflowError),
    ("a negative size", lambda rng: rng.random(-1) < .3, ValueError),
    ("a size of 2.5", lambda rng: rng.random(2.5) < .3, TypeError),
    ("u against None", lambda rng: rng.random() < None, TypeError),
    ("u against a list", lambda rng: rng.random() < [.1, .3], TypeError),
    ("u times text", lambda rng: rng.random() * "2" < .3, TypeError),
    ("u / 0", lambda rng: rng.random() / 0 < .3, ZeroDivisionError),
    ("u as an index", lambda rng: [1, 2][rng.random()], TypeError),
    ("an old name", lambda rng: rng.randint(3), AttributeError),
    ("its own ValueError", lambda rng: int("x") if rng.random() < .3 else 0, ValueError),
    ("its own ZeroDivisionError", lambda rng: 1 // rng.integers(2).item(), ZeroDivisionError),
    ("its own StopIteration", lambda rng: next(iter([])), StopIteration),
    ("a rare error", rare_error, ZeroDivisionError),
    ("an empty residual", lambda rng: sample(residual(P, P), rng), ValueError),
    # results that are no tokens
    ("returns a float", lambda rng: .5, NotEnumerable),
    ("returns floats", lambda rng: [1., 2.], NotEnumerable),
    ("returns None", lambda rng: None, NotEnumerable),
    ("returns text", lambda rng: "ab", NotEnumerable),
    ("returns lists", lambda rng: [[1], [2]], NotEnumerable),
    ("returns a coin", lambda rng: rng.random(), NotEnumerable),
    ("returns coins", lambda rng: rng.random(2), NotEnumerable),
]
ROWS = {name: (sampler, owed) for name, sampler, owed in TABLE}
LAWS = [name for name, (_, owed) in ROWS.items() if isinstance(owed, dict)]
REFUSED = [name for name, (_, owed) in ROWS.items() if owed is NotEnumerable]
ERRORS = [name for name in ROWS if name not in LAWS + REFUSED]
RARE = {"a rare error"}  # and no real draw will show it
ENDLESS = {"retry for long", "endless", "endless and wide"}


def row(name):
    """The sampler of a row and what is owed for it; skips rows of torch where there is none."""
    if name.startswith("torch"):
        pytest.importorskip("torch", exc_type=ImportError)  # before a sampler imports it
    return ROWS[name]


def as_law(owed):
    """The law of a row, its outcomes as tuples."""
    return {x if isinstance(x, tuple) else (x,): w for x, w in owed.items()}


def test_the_table_is_long_and_names_no_row_twice():
    assert len(ROWS) == len(TABLE) >= 60


@pytest.mark.parametrize("name", LAWS)
def test_a_row_with_a_law_is_exact(name):
    sampler, owed = row(name)
    law, owed = exact.law(sampler, 5000), as_law(owed)
    assert law.keys() <= owed.keys()
    assert max(abs(law.get(outcome, 0.0) - chance) for outcome, chance in owed.items()) <= EXACT


@pytest.mark.parametrize("name", LAWS)
def test_the_law_of_a_row_is_the_law_of_real_draws(name):
    sampler, owed = row(name)
    rng, owed = np.random.default_rng([SEED, len(name)]), as_law(owed)
    seen = Counter(exact.as_outcome(sampler(rng)) for _ in range(DRAWS))
    assert seen.keys() <= {x for x, w in owed.items() if w != 0}
    for outcome, chance in owed.items():
        n = seen[outcome]
        tail = min(binom.cdf(n, DRAWS, chance), binom.sf(n - 1, DRAWS, chance))
        assert tail > 1e-9, f"{outcome}: {n} of {DRAWS}, expected {chance * DRAWS}"


@pytest.mark.parametrize("name", REFUSED)
def test_a_row_that_cannot_be_enumerated_is_refused(name):
    sampler, _ = row(name)
    with pytest.raises(NotEnumerable) as info:
        exact.law(sampler, 5000)
    assert len(str(info.value)) > 20  # a sentence, not a word


@pytest.mark.parametrize("name", [name for name in REFUSED if name not in ENDLESS])
def test_a_refused_row_runs_on_real_draws(name):
    sampler, _ = row(name)
    rng = np.random.default_rng(0)
    for _ in range(20):
        sampler(rng)


@pytest.mark.parametrize("name", ERRORS)
def test_a_row_with_an_error_raises_that_very_error(name):
    sampler, owed = row(name)
    with pytest.raises(owed) as info:
        exact.law(sampler, 1000)
    if not isinstance(owed, tuple):
        assert info.type is owed


@pytest.mark.parametrize("name", [name for name in ERRORS if name not in ENDLESS | RARE])
def test_real_draws_raise_the_same_error(name):
    sampler, owed = row(name)
    rng = np.random.default_rng(0)
    with pytest.raises(owed) as info:
        for _ in range(200):
            sampler(rng)
    assert info.type is owed


# ---- the limits and the watch

def test_paths_are_counted_and_limited():
    three_coins = lambda rng: rng.random(3) < .5  # noqa: E731
    assert exact.law(three_coins).paths == 8
    assert exact.law(three_coins, max_paths=8).paths == 8
    with pytest.raises(TooManyPaths, match="max_paths"):
        exact.law(three_coins, max_paths=7)


def test_a_path_is_not_opened_for_a_threshold_that_is_settled():
    assert exact.law(lambda rng: [u < .3 for u in [rng.random()] for _ in range(9)]).paths == 2
    assert exact.law(lambda rng: rng.random() * .2 < .5).paths == 1


def test_what_is_left_out_of_an_endless_tree_is_counted():
    with pytest.raises(TooManyPaths, match="endless"):
        exact.law(lambda rng: rng.choice(10_000, p=[1 - 9999 * 9e-16] + 9999 * [9e-16]))


def test_the_watch_leaves_no_trace_and_says_nothing(capsys, recwarn):
    try:
        import torch  # noqa: F401 (some of its objects warn when they are looked at)
    except ImportError:
        pass
    watch._last.clear()  # look at every object
    before = os.urandom, random.Random.seed, random._urandom, np.random.bit_generator.randbits
    exact.law(lambda rng: rng.random() < .3)
    with pytest.raises(ZeroDivisionError):
        exact.law(rare_error)
    assert before == (os.urandom, random.Random.seed, random._urandom,
                      np.random.bit_generator.randbits)
    assert capsys.readouterr() == ("", "") and not recwarn


def test_other_threads_may_draw_random_bytes():
    def sampler(rng):
        thread = threading.Thread(target=lambda: os.urandom(4))
        thread.start()
        thread.join()
        return rng.random() < .3
    assert exact.law(sampler) == {(1,): .3, (0,): .7}


def test_a_law_inside_a_law():
    def sampler(rng):
        return rng.random() < exact.law(lambda inner: inner.random() < .3)[(1,)]
    assert exact.law(sampler) == {(1,): .3, (0,): .7}


def test_a_generator_that_died_is_no_other_source():
    class Ring:
        def __init__(self):
            self.rng, self.ring = default_rng(3), self
    assert exact.law(lambda rng: Ring().rng.random() < 2) == {(1,): 1.0}


# ---- the joint law

def test_joint_is_the_product_of_the_rows():
    model = rambler(3, seed=4, zeros=.3)
    law = exact.joint(model, [2, 0], 3)
    for outcome, chance in law.items():
        text = [2, 0, *outcome]
        rows = model(text)
        assert chance == pytest.approx(math.prod(rows[t, text[t + 1]] for t in range(1, 4)))
        assert chance > 0
    assert sum(law.values()) == pytest.approx(1, abs=EXACT)


def test_joint_stops_at_the_first_end_token_among_the_new_ones():
    half = markov([[.5, .5], [.5, .5]])
    assert exact.joint(half, [1], 3, end=1) == {
        (1,): .5, (0, 1): .25, (0, 0, 1): .125, (0, 0, 0): .125}
    assert exact.joint(half, [1], 0, end=1) == {(): 1.0}


# ---- whole generations: the law of the loop is the law of the target

PEAKED = temperature(rambler(3, seed=8), 0)
MODELS = {
    "random": (rambler(3, seed=1), rambler(3, seed=2)),
    "zeros": (rambler(3, seed=3, zeros=.4), rambler(3, seed=4, zeros=.4)),
    "p = q": (rambler(3, seed=5), rambler(3, seed=5)),
    "p = q with zeros": (rambler(3, seed=6, zeros=.4), rambler(3, seed=6, zeros=.4)),
    "nothing shared": (lambda tokens: np.tile([1., 0, 0], (len(tokens), 1)),
                       lambda tokens: np.tile([0, .5, .5], (len(tokens), 1))),
    "one token only": (PEAKED, rambler(3, seed=9)),
    "one guess only": (rambler(3, seed=9), PEAKED),
    "last token matters": (markov(np.random.default_rng(1).dirichlet(np.ones(3), 3)),
                           markov(np.random.default_rng(2).dirichlet(np.ones(3), 3))),
}
TWO = (rambler(2, seed=11), rambler(2, seed=12))
TWO_ZEROS = (rambler(2, seed=1, zeros=.3), rambler(2, seed=2, zeros=.3))


def off(law, target, prompt, n_new, end=None):
    return total_variation(law, exact.joint(target, prompt, n_new, end))


def whole(target, draft, prompt, n_new, gamma, end=None):
    """The law of the new tokens that generate writes, by all its paths."""
    return exact.law(lambda rng: generate(target, draft, prompt, n_new, gamma, rng, end)[
        len(prompt):])


@pytest.mark.parametrize("gamma", [0, 1])
@pytest.mark.parametrize("pair", MODELS)
def test_generate_as_a_black_box(pair, gamma):
    target, draft = MODELS[pair]
    assert off(whole(target, draft, [2, 0], 3, gamma), target, [2, 0], 3) <= EXACT


@pytest.mark.parametrize("gamma, n_new", [(1, 4), (2, 4)])
@pytest.mark.parametrize("pair", [TWO, TWO_ZEROS, (TWO[0], TWO[0])])
def test_generate_as_a_black_box_past_a_full_round(pair, gamma, n_new):
    law = whole(*pair, [0], n_new, gamma)
    assert off(law, pair[0], [0], n_new) <= EXACT
    chained = exact.generation_law(speculate, *pair, [0], n_new, gamma)
    assert total_variation(law, chained) <= EXACT


@pytest.mark.parametrize("gamma", [0, 1, 2])
@pytest.mark.parametrize("end", [0, 1])
def test_generate_with_an_end_token(gamma, end):
    target, draft = MODELS["zeros" if end else "random"]
    law = whole(target, draft, [end], 3, gamma, end)
    assert off(law, target, [end], 3, end) <= EXACT
    chained = exact.generation_law(speculate, target, draft, [end], 3, gamma, end)
    assert total_variation(law, chained) <= EXACT
    assert all(end not in outcome[:-1] for outcome in law)


@pytest.mark.parametrize("gamma", [0, 1, 2])
@pytest.mark.parametrize("pair", MODELS)
def test_chained_rounds(pair, gamma):
    target, draft = MODELS[pair]
    n_new = 2 * gamma + 2
    assert off(exact.generation_law(speculate, target, draft, [1], n_new, gamma),
               target, [1], n_new) <= EXACT


@pytest.mark.parametrize("pair, gamma", [(TWO, 2), (TWO, 3), (TWO_ZEROS, 3)])
def test_chained_rounds_of_two_tokens(pair, gamma):
    n_new = 2 * gamma + 2
    assert off(exact.generation_law(speculate, *pair, [0], n_new, gamma),
               pair[0], [0], n_new) <= EXACT


def test_chained_rounds_count_their_paths_and_obey_the_limit():
    texts = set()

    def noted(target, draft, tokens, gamma, rng):
        texts.add(tuple(tokens))
        return speculate(target, draft, tokens, gamma, rng)
    full = exact.generation_law(noted, *TWO, [0], 4, 1)
    assert len(texts) > 8 and full.paths == sum(  # every text is gone on from once
        exact.law(lambda rng, text=text: speculate(*TWO, text, 1, rng)).paths for text in texts)
    assert exact.generation_law(speculate, *TWO, [0], 4, 1, max_paths=full.paths) == full
    with pytest.raises(TooManyPaths):
        exact.generation_law(speculate, *TWO, [0], 4, 1, max_paths=full.paths - 1)


def test_chained_rounds_refuse_a_round_that_writes_nothing():
    with pytest.raises(ValueError, match="at least one"):
        exact.generation_law(lambda *_: [], *TWO, [0], 4, 1)


def test_chained_rounds_refuse_memory_and_other_sources():
    with pytest.raises(NotEnumerable):
        exact.generation_law(lambda *_: [CLOSED.integers(2)], *TWO, [0], 3, 1)
    calls = itertools.count()
    with pytest.raises(NotEnumerable):
        exact.generation_law(lambda *_: [next(calls) % 2], *TWO, [0], 3, 1)


def round_with(redraw=residual, test=accept, bonus=-1, stop=True, last=None):
    """A round of speculate with one part of it changed."""
    def play(target, draft, tokens, gamma, rng):
        guesses, q = [], []
        for _ in range(gamma):
            q.append(draft(tokens + guesses)[-1])
            guesses.append(sample(q[-1], rng))
        p, new = target(tokens + guesses)[-gamma - 1:], []
        for i, x in enumerate(guesses):
            if test(x, p[i], q[i], rng):
                new.append(x)
            else:
                new.append(sample(redraw(p[i], q[i]), rng))
                if stop:
                    return new
        return [*new, sample(p[bonus] if last is None else last(tokens + guesses)[-1], rng)]
    return play


FAULTS = {
    "redraw from p": round_with(redraw=lambda p, q: p),
    "redraw from q": round_with(redraw=lambda p, q: q),
    "redraw from |p - q|": round_with(redraw=lambda p, q: abs(p - q) / abs(p - q).sum()),
    "no coin": round_with(test=lambda x, p, q, rng: p[x] >= q[x]),
    "coin reversed": round_with(test=lambda x, p, q, rng: not accept(x, p, q, rng)),
    "q / p": round_with(test=lambda x, p, q, rng: accept(x, q, p, rng)),
    "always kept": round_with(test=lambda x, p, q, rng: True),
    "bonus from the row before": round_with(bonus=-2),
    "bonus from the draft": round_with(last=TWO[1]),
    "on after a rejection": round_with(stop=False),
}


def test_the_rounds_below_are_right_but_for_their_fault():
    assert off(exact.generation_law(round_with(), *TWO, [0], 6, 2), TWO[0], [0], 6) <= EXACT


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_off(fault):
    law = exact.generation_law(FAULTS[fault], *TWO, [0], 6, 2)
    assert sum(law.values()) == pytest.approx(1, abs=1e-9)
    assert off(law, TWO[0], [0], 6) > 1e-3
