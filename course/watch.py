"""A watch over the sources of randomness in the process that are not the rng a sampler is given.

course.exact stands it beside its Chooser. Out of its sight: the clock, other processes and
threads, numba's generators, and those of torch that were made by hand. For these course.exact has
nothing but a second run on the same coins.
"""
import gc
import os
import pickle
import random
import sys
import threading
from contextlib import contextmanager

import numpy as np
from numpy.random import bit_generator

YOUNG = (0, 1) if sys.version_info < (3, 14) else (0,)  # generations of the garbage collector
_last = {}  # what the last look at every object found; valid while what came later is still young


@contextmanager
def other_sources():
    """Yields a function that tells whether another source of this process was used inside.

    Every generator that lives now is looked at before and after. One that is made inside may be
    used if its seed is fixed and it is gone afterwards; a seed from the system is noticed.
    """
    before, torch, noticed = _alive(), _torch(), []
    states = {name: _state(source) for name, source in before.items()}
    with _listening(noticed):
        yield lambda: (bool(noticed) or _torch() != torch or _made_since(before)
                       or any(_state(before[name]) != old for name, old in states.items()))


def _alive():
    """{id: generator}: every generator of numpy and of random that lives.

    Looking at all objects takes time once torch is loaded, so the last look is used again as long
    as the garbage collector has made nothing old since then.
    """
    collects = gc.isenabled()
    gc.disable()  # or an object grows old between two looks, and neither sees it
    try:
        aged = [generation["collections"] for generation in gc.get_stats()[YOUNG[-1]:]]
        if _last.get("aged") != aged:
            _last.update(aged=aged, found=_generators(gc.get_objects()))
        young = [source for age in YOUNG for source in _generators(gc.get_objects(generation=age))]
    finally:
        if collects:
            gc.enable()
    return {id(source): source for source in _last["found"] + young}


def _generators(objects):
    kinds = _kinds(np.random.BitGenerator) | _kinds(random.Random) - {random.SystemRandom}
    return [source for source in objects if type(source) in kinds]


def _kinds(kind):
    """kind and every class made from it."""
    return {kind}.union(*map(_kinds, kind.__subclasses__()))


def _made_since(before):
    """Does a generator live that was not there before?"""
    if _alive().keys() <= before.keys():
        return False
    _last.clear()
    gc.collect()  # it may be dead already
    return not _alive().keys() <= before.keys()


def _state(source):
    if isinstance(source, random.Random):
        return source.getstate()
    return pickle.dumps((source.state, getattr(source.seed_seq, "n_children_spawned", 0)))


def _torch():
    """The state of torch's own generator, if torch has been imported."""
    torch = getattr(sys.modules.get("torch"), "random", None)
    return torch and torch.get_rng_state().numpy().tobytes()


@contextmanager
def _listening(noticed):
    """Append to noticed whenever this thread asks the operating system for random bytes."""
    me = threading.get_ident()
    places = [(bit_generator, "randbits"), (os, "urandom"), (random, "_urandom"),
              (random.Random, "seed")]
    originals = [getattr(*place) for place in places]

    def heard(original):
        def draw(*args):
            # Random.seed(self) without a seed takes one from the operating system
            asks = original is not originals[-1] or len(args) == 1 or args[1] is None
            noticed.extend(["bytes"] * (asks and threading.get_ident() == me))
            return original(*args)
        return draw

    for place, original in zip(places, originals, strict=True):
        setattr(*place, heard(original))
    try:
        yield
    finally:
        for place, original in zip(places, originals, strict=True):
            setattr(*place, original)
