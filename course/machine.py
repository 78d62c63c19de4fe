"""What this machine can do: read weights, multiply them, serve n positions in one pass.

Follows the roofline picture (Williams, Waterman and Patterson 2009): a pass must read its weights
and do its arithmetic, and takes no less than the slower of the two. skinny(n) is our own kernel;
plain torch stands beside it. One thread, float32, weights w (d_out, d_in), inputs x (n, d_in).
Left out: several threads, other number formats, biases, the cache of keys and values.
numba and torch are extras: this module imports without them, and missing() names what is not there.
"""
import contextlib
import functools
import importlib.util
import os
import pathlib
import platform
import subprocess
import sys
import time

import numpy as np

WIDTH = 4096  # d_in of the weights that are timed, as in a model of some 7e9 weights
WAYS = ("torch", "skinny")
# The processor time of this thread leaves out the moments in which another program had the core.
# Windows counts it in steps of 16 ms, so there the clock on the wall stands in.
CLOCK = time.perf_counter if sys.platform == "win32" else time.thread_time


def missing():
    """Those of the extras numba and torch that are not installed here, as a list of names."""
    return [name for name in ("numba", "torch") if importlib.util.find_spec(name) is None]


def _need(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"lesson 02 needs {name}: make lab installs it; "
                          "you can still read the lesson in the browser") from error


def skinny_source(n):
    """The Python text of the kernel for n positions, n = 1 ... 32, that reads each weight once.

    Six rows of w (fewer if n is 6) are walked together, with one running sum per row and position.
    They lie q rows apart, so that each is one long stream: memory delivers those fastest. If d_out
    is no multiple of 6, the last streams overlap by up to five rows, which are then read twice.
    Above six positions x is taken in groups that overlap likewise; the later groups find the rows
    in the cache, so a weight still comes from memory once. Raises ValueError for any other n.
    """
    if n not in range(1, 33):
        raise ValueError(f"n is {n}: the kernel takes 1 to 32 positions; share more of them out "
                         "over several passes, each of which reads all the weights again")
    groups = 1 if n <= 6 else -(-n // 5)
    at = range(-(-n // groups))  # the positions of one group
    rows = range(min(6, 30 // len(at)))  # 30 sums and what they need fill 32 vector registers
    p = "" if groups == 1 else "p + "
    body = [f"r{j} = r + min({j} * q, last); w{j} = w[r{j}]; "
            + "".join(f"a{j}{i} = " for i in at) + "zero" for j in rows]
    body += ["for k in range(d_in):", "    " + "; ".join(f"x{i} = x[{p}{i}, k]" for i in at)]
    body += [f"    v = w{j}[k]; " + "; ".join(f"a{j}{i} += v * x{i}" for i in at) for j in rows]
    body += ["; ".join(f"y[{p}{i}, r{j}] = a{j}{i}" for i in at) for j in rows]
    if groups > 1:
        body = [f"for g in range({groups}):", f"    p = min({len(at)} * g, {n - len(at)})",
                *("    " + line for line in body)]
    return "\n".join([f"def skinny_{n}(x, w, y):", "    d_out, d_in = w.shape",
                      f"    q = (d_out + {len(rows) - 1}) // {len(rows)}", "    last = d_out - q",
                      "    for r in range(q):", *("        " + line for line in body)])


@functools.cache
def _kernel(n):
    """skinny_source(n) as a function (x, w, y) that writes x @ w.T to y, compiled when first used."""
    names = {"zero": np.float32(0)}
    exec(skinny_source(n), names)
    # The compiler may change the order of a sum, hence use vectors, and multiply and add at once.
    loose = {"reassoc", "contract", "nsz"}
    return _need("numba").njit(fastmath=loose, nogil=True)(names[f"skinny_{n}"])


def skinny(n):
    """A function (x, w) -> x @ w.T, of shapes (n, d_in) and (d_out, d_in), that reads w once.

    float32 and one thread; it lets other Python threads run. The first call compiles, about half a
    second. Raises ValueError if n is not in 1 ... 32, or if what it is given does not fit.
    """
    kernel = _kernel(n)

    def project(x, w):
        for name, a in (("x", x), ("w", w)):
            if getattr(a, "dtype", None) != np.float32 or np.ndim(a) != 2 or not a.flags.c_contiguous:
                raise ValueError(f"{name} must be a matrix of float32 stored row by row: "
                                 f"use np.ascontiguousarray({name}, dtype=np.float32)")
        if x.shape != (n, w.shape[1]):
            raise ValueError(f"x has shape {x.shape} and w {w.shape}: give skinny({n}) an x of shape "
                             f"{(n, w.shape[1])}, one row per position")
        y = np.empty((n, len(w)), dtype=np.float32)
        kernel(x, w, y)
        return y
    return project


@functools.cache
def _reader():
    """The sum of a flat array: one addition per weight, so that nothing but reading takes time."""
    def total(a):
        s = np.float32(0)
        for k in range(a.size):
            s += a[k]
        return s
    return _need("numba").njit(fastmath={"reassoc", "nsz"}, nogil=True)(total)


def _weights(megabytes):
    """Weights (d_out, WIDTH) of about so many times 2**20 bytes, every page of them written to."""
    if not 0 < megabytes < 2**14:
        raise ValueError(f"megabytes is {megabytes}: take a size above 0 that fits your memory")
    streams = max(1, round(megabytes * 2**18 / WIDTH / 6))
    return np.full((6 * streams, WIDTH), 0.5, dtype=np.float32)


def _take_turns(jobs, w, repeats):
    """{name: (repeats,) seconds per call}. Jobs take turns, so that a busy moment meets them all."""
    if repeats < 1:
        raise ValueError(f"repeats is {repeats}: take 1 or more")
    calls = max(1, 2**25 // w.nbytes)  # 32 MB or more between two looks at the clock
    seconds = {name: np.empty(repeats) for name in jobs}
    for turn in range(-1, repeats):  # turn -1 compiles and fills the caches; the next one replaces it
        for name, job in jobs.items():
            start = CLOCK()
            for _ in range(calls):
                job()
            seconds[name][turn] = (CLOCK() - start) / calls
    return seconds


@contextlib.contextmanager
def _one_thread(wanted=True):
    """torch held to one thread while the block runs, then given its old number back."""
    torch = _need("torch") if wanted else None
    before = torch and torch.get_num_threads()
    try:
        yield torch and (torch.set_num_threads(1) or torch)
    finally:
        if torch:
            torch.set_num_threads(before)


def read_bandwidth(megabytes, repeats=7):
    """Bytes per second at which one thread reads so many megabytes over and over: a median."""
    w, read = _weights(megabytes).ravel(), _reader()
    return w.nbytes / float(np.median(_take_turns({"read": lambda: read(w)}, w, repeats)["read"]))
