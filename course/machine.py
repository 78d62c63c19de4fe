"""What this machine can do: read weights, multiply them, and serve n positions in one pass.

Follows the roofline picture (Williams, Waterman and Patterson, 2009): a pass must read its weights
and do its arithmetic, and takes at least as long as the slower of the two. skinny(n) is our own
kernel; plain torch stands beside it. One thread, float32, weights w (d_out, d_in), inputs x (n, d_in).
Left out: several threads, other number formats, the cache of keys and values.
numba and torch are extras: this module imports without them, and missing() names what is not there.
"""
import functools
import importlib
import os
import pathlib
import platform
import subprocess
import sys
import time

import numpy as np

WIDTH = 4096  # d_in of the weights that are timed: one layer of a model with some 7e9 weights
MOST = 32  # positions
WAYS = ("torch", "skinny")
# Processor time of this thread leaves out the moments when another program had the core. Windows
# counts it in steps of 16 ms only, so there the wall clock stands in.
CLOCK = time.perf_counter if sys.platform == "win32" else time.thread_time


def _need(name):
    """The extra package of that name. Raises ImportError that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"this measurement needs {name}, which is not installed: run `make lab`, "
                          f"or `pip install {name}`, and start the kernel again") from error


def missing():
    """Those of the extras numba and torch that cannot be imported here, as a list of names."""
    lacking = []
    for name in ("numba", "torch"):
        try:
            _need(name)
        except ImportError:
            lacking.append(name)
    return lacking


def _group(rows, count, first=""):
    """Lines of the kernel that serve count positions with `rows` rows of w at a time."""
    at = range(count)
    yield from (f"r{j} = r + min({j} * q, last); w{j} = w[r{j}]; "
                + "".join(f"a{j}{i} = " for i in at) + "zero" for j in range(rows))
    yield "for k in range(d_in):"
    yield "    " + "; ".join(f"x{i} = x[{first}{i}, k]" for i in at)
    yield from (f"    v = w{j}[k]; " + "; ".join(f"a{j}{i} += v * x{i}" for i in at)
                for j in range(rows))
    yield from ("; ".join(f"y[{first}{i}, r{j}] = a{j}{i}" for i in at) for j in range(rows))


def skinny_source(n):
    """The Python text of the kernel for n positions, 1 <= n <= 32: every weight is read once.

    Several rows of w are walked together with one running sum a per row and position. They lie q
    rows apart, so that each is a long stream of its own, which the memory delivers faster than rows
    that start anew all the time; if d_out is no multiple, the last streams overlap by a few rows.
    More than six positions go in groups: the later groups find the same rows in the cache, so each
    weight still comes from memory once.
    """
    if n not in range(1, MOST + 1):
        raise ValueError(f"n is {n}: the kernel takes 1 to {MOST} positions; share more out over "
                         "several passes, each of which reads all the weights again")
    groups = 1 if n <= 6 else -(-n // 5)
    count = -(-n // groups)
    rows = min(6, 30 // count)  # 30 running sums and their inputs fit into 32 vector registers
    lines = [f"def skinny_{n}(x, w, y):", "    d_out, d_in = w.shape",
             f"    q = (d_out + {rows - 1}) // {rows}", "    last = d_out - q",
             "    for r in range(q):"]
    if groups == 1:
        return "\n".join(lines + [" " * 8 + line for line in _group(rows, count)])
    cut = n - (groups * count - n) * (count - 1)  # from here on, groups are one smaller
    for start, end, size in ((0, cut, count), (cut, n, count - 1)):
        if start < end:
            lines.append(f"        for p in range({start}, {end}, {size}):")
            lines += [" " * 12 + line for line in _group(rows, size, "p + ")]
    return "\n".join(lines)


@functools.cache
def _kernel(n):
    """skinny_source(n), compiled at its first call and kept: kernel(x, w, y) writes x @ w.T to y."""
    names = {"zero": np.float32(0)}
    exec(skinny_source(n), names)
    # The sums may be added up in another order (so in vectors), and v * x + a may be one instruction.
    loose = {"reassoc", "contract", "nsz"}
    return _need("numba").njit(fastmath=loose, nogil=True)(names[f"skinny_{n}"])


def _check(x, w, n):
    for name, a in (("x", x), ("w", w)):
        if not isinstance(a, np.ndarray) or a.dtype != np.float32 or a.ndim != 2:
            raise ValueError(f"{name} must be a two-dimensional NumPy array of float32: "
                             f"use np.asarray({name}, dtype=np.float32)")
        if not a.flags.c_contiguous:
            raise ValueError(f"{name} is not stored row by row: use np.ascontiguousarray({name})")
    if x.shape != (n, w.shape[1]):
        raise ValueError(f"x has shape {x.shape}, w has shape {w.shape}: skinny({n}) takes x with "
                         f"{n} rows, one per position, of {w.shape[1]} numbers as in a row of w")


def skinny(n):
    """A function (x, w) -> x @ w.T, shapes (n, d_in) and (d_out, d_in), float32, one thread.

    Each weight is read once for all n positions. The first call for an n compiles for about half a
    second. Raises ValueError if n is not in 1 ... 32, or if shapes or number formats do not fit.
    """
    kernel = _kernel(n)

    def project(x, w):
        _check(x, w, n)
        y = np.empty((n, len(w)), dtype=np.float32)
        kernel(x, w, y)
        return y
    return project


def _weights(megabytes, width=WIDTH):
    """Weights (d_out, width) of about that many 2**20 bytes, each page of them written to."""
    if not megabytes > 0:
        raise ValueError(f"megabytes is {megabytes}: take a size above 0")
    rows = max(6, round(megabytes * 2**18 / width / 6) * 6)  # a multiple of 6: streams do not overlap
    return np.full((rows, width), 0.5, dtype=np.float32)


@functools.cache
def _reader():
    """A compiled sum of a flat float32 array: one addition per number, the memory is the limit."""
    def total(a):
        s = np.float32(0)
        for k in range(a.size):
            s += a[k]
        return s
    return _need("numba").njit(fastmath={"reassoc", "nsz"}, nogil=True)(total)


def _take_turns(jobs, calls, repeats):
    """Seconds per call {name: (repeats,)}; jobs take turns, so that a busy moment meets them all."""
    if repeats < 1:
        raise ValueError(f"repeats is {repeats}: take 1 or more")
    seconds = {name: np.empty(repeats) for name in jobs}
    for job in jobs.values():
        job()  # the first call compiles, and fills the cache if the weights fit
    for turn in range(repeats):
        for name, job in jobs.items():
            start = CLOCK()
            for _ in range(calls):
                job()
            seconds[name][turn] = (CLOCK() - start) / calls
    return seconds


def _calls(w):
    """How often to run over w between two looks at the clock: at least 32 MB in all."""
    return max(1, 2**25 // w.nbytes)


def read_bandwidth(megabytes, repeats=7):
    """Bytes per second at which one thread reads that many megabytes again and again, a median."""
    w = _weights(megabytes)
    read = _reader()
    seconds = _take_turns({"read": lambda: read(w.ravel())}, _calls(w), repeats)
    return w.nbytes / np.median(seconds["read"])


def _one_thread(measure):
    """measure() with torch, if it is here, held to one thread; the old number is put back."""
    torch = None if "torch" in missing() else _need("torch")
    before = torch and torch.get_num_threads()
    try:
        if torch:
            torch.set_num_threads(1)
        return measure()
    finally:
        if torch:
            torch.set_num_threads(before)


