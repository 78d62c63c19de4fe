"""What this machine can do: read weights, multiply them, serve n positions in one pass.

Follows the roofline picture (Williams, Waterman and Patterson 2009): a pass must read its weights
and do its arithmetic, and takes no less than the slower of the two. skinny(n) is our own kernel;
plain torch stands beside it. One thread, float32, weights w (d_out, d_in), inputs x (n, d_in).
Left out: several threads, other number formats, biases. numba and torch are needed to measure only.
"""
import contextlib
import functools
import importlib.util
import itertools
import os
import pathlib
import platform
import subprocess
import sys
import time

import numpy as np

WIDTH = 4096  # d_in of the weights that are timed, as in a model of some 7e9 weights
# The processor time of this thread leaves out the moments in which another program had the core.
# Windows counts it in steps of 16 ms, a page not at all: there the clock on the wall stands in.
CLOCK = time.perf_counter if sys.platform in ("win32", "emscripten") else time.thread_time


def missing():
    """Those of the extras numba and torch that are not installed here, as a list of names."""
    return [name for name in ("numba", "torch") if importlib.util.find_spec(name) is None]


def _need(name):
    if name in missing():
        raise ImportError(f"lesson 02 needs {name}: make lab installs it; "
                          "you can still read the lesson in the browser")
    return importlib.import_module(name)


def _body(rows, at, p):
    """Lines of the kernel that serve the positions p + at, with so many rows of w at a time."""
    yield from (f"r{j} = r + min({j} * q, last); w{j} = w[r{j}]; "
                + "".join(f"a{j}{i} = " for i in at) + "zero" for j in rows)
    yield "for k in range(d_in):"
    yield "    " + "; ".join(f"x{i} = x[{p}{i}, k]" for i in at)
    yield from (f"    v = w{j}[k]; " + "; ".join(f"a{j}{i} += v * x{i}" for i in at) for j in rows)
    yield from ("; ".join(f"y[{p}{i}, r{j}] = a{j}{i}" for i in at) for j in rows)


def skinny_source(n, most=6):
    """The Python text of the kernel for n positions, n = 1 ... 32, that reads each weight once.

    Five or six rows of w are walked together, one running sum per row and position. The rows lie q
    apart: long streams, as memory likes best. If d_out is no multiple of their number the last ones
    overlap, and up to five rows are read twice. More than `most` positions, 6 or 2, are taken in
    groups; a later group finds the same rows of w in the cache.
    """
    if n not in range(1, 33):
        raise ValueError(f"n is {n}: the kernel takes 1 to 32 positions; share out more than that "
                         "over several passes, each of which reads all the weights again")
    groups = 1 if n <= most else -(-n // min(most, 4))
    at = range(-(-n // groups))  # the positions of one group
    rows = range(6 if 3 * len(at) <= 2 * most else 5)  # fewer, so that the registers hold the sums
    body = list(_body(rows, at, "" if groups == 1 else "p + "))
    if groups > 1:
        body = [f"for g in range({groups}):", f"    p = min({len(at)} * g, {n - len(at)})",
                *("    " + line for line in body)]
    return "\n".join([f"def skinny_{n}(x, w, y):", "    d_out, d_in = w.shape",
                      f"    q = (d_out + {len(rows) - 1}) // {len(rows)}", "    last = d_out - q",
                      "    for r in range(q):", *("        " + line for line in body)])


@functools.cache
def _kernel(n):
    """skinny_source(n) as a function (x, w, y) that writes x @ w.T to y, compiled at first use."""
    numba = _need("numba")
    wide = (platform.machine() in ("arm64", "aarch64")  # 32 vector registers, as AVX-512 has; or 16
            or importlib.import_module("llvmlite.binding").get_host_cpu_features().get("avx512f"))
    exec(skinny_source(n, 6 if wide else 2), names := {"zero": np.float32(0)})
    return numba.njit(fastmath={"reassoc", "contract", "nsz"}, nogil=True)(names[f"skinny_{n}"])


def skinny(n):
    """A function (x, w) -> x @ w.T, of shapes (n, d_in) and (d_out, d_in), that reads w once.

    float32, one thread, sums taken in any order so that vectors can be used. The first call
    compiles. Raises ValueError if n, x or w do not fit.
    """
    kernel = _kernel(n)

    def project(x, w):
        for a in (x, w):
            if getattr(a, "dtype", 0) != np.float32 or a.ndim != 2 or not a.flags.c_contiguous:
                raise ValueError("x and w must be matrices of float32 stored row by row: use "
                                 "np.ascontiguousarray(x, dtype=np.float32), and w likewise")
        if x.shape != (n, w.shape[1]):
            raise ValueError(f"x has shape {x.shape}, w {w.shape}: skinny({n}) with this w needs "
                             f"an x of shape {(n, w.shape[1])}, one row per position")
        y = np.empty((n, len(w)), dtype=np.float32)
        kernel(x, w, y)
        return y
    return project


@functools.cache
def _reader():
    """The sum of a flat array: one addition per weight, so that nothing but reading takes time."""
    return _need("numba").njit(lambda a: a.sum(), fastmath=True, nogil=True)


def _take_turns(jobs, size, repeats):
    """Seconds a call {name: (repeats,)}; jobs take turns, so that a busy moment meets them all."""
    calls = max(1, 2**25 // size)  # 32 MB or more between two looks at the clock
    seconds = {name: [] for name in jobs}
    torch = sys.modules.get("torch")  # if it is in use, it is held to one thread meanwhile
    threads = torch and torch.get_num_threads()
    try:
        _ = torch and torch.set_num_threads(1)
        for _, (name, job) in itertools.product(range(repeats + 1), jobs.items()):
            start = CLOCK()
            for _ in range(calls):
                job()
            seconds[name].append((CLOCK() - start) / calls)
    finally:
        _ = torch and torch.set_num_threads(threads)
    return {name: np.array(taken[1:]) for name, taken in seconds.items()}  # turn 0 compiled


def read_bandwidth(megabytes, repeats=7):
    """Bytes per second at which one thread reads so many megabytes again and again, a median."""
    return pass_cost((), megabytes, (1,), repeats)["read"]


def peak_flops(repeats=7):
    """Operations per second of one thread at its best, with all it needs in the cache: skinny(8)
    or, where torch is installed and faster, its product of two 1024 x 1024 matrices."""
    small = pass_cost(("skinny",), 0.75, (1, 8), repeats)
    rates = [4 * small["bytes"] / small["runs"]["skinny"][1].min()]  # 2 x 8 per weight of 4 bytes
    if "torch" not in missing():
        a = _need("torch").full((1024, 1024), 0.5)
        rates.append(2 * 1024**3 / _take_turns({0: lambda: a @ a}, a.nbytes, repeats)[0].min())
    return float(max(rates))


def pass_cost(ways, megabytes, positions, repeats=7):
    """The time of one pass over the weights for each number of positions, all taken in turns.

    A dict: "bytes" of the weights; "read", the bytes per second of only reading them; "positions";
    by way, "torch" or "skinny", the medians "seconds" (len(positions),) and "v", the same in passes
    over one position; "runs", all of it: by way (len(positions), repeats), "read" (repeats,).
    """
    if set(ways) - {"torch", "skinny"} or list(positions[:1]) != [1]:
        raise ValueError(f"ways {ways}, positions {positions}: take ways out of 'torch', 'skinny', "
                         "and begin positions with 1, since v(n) counts passes over one position")
    if not 0 < megabytes <= 2**13 or repeats < 1:
        raise ValueError(f"{megabytes} megabytes, {repeats} repeats: take 0.1 to 8192, 1 or more")
    torch = _need("torch") if "torch" in ways else None
    d_out = 6 * max(1, round(megabytes * 2**18 / WIDTH / 6))  # so that streams do not overlap
    w = np.full((d_out, WIDTH), 0.5, np.float32)  # not zeros: unwritten pages are all one page
    jobs = {"read": functools.partial(_reader(), w.ravel())}
    for way, n in itertools.product(ways, positions):
        x, y = (np.full((n, d), 0.5, np.float32) for d in (WIDTH, d_out))
        same = map(torch.from_numpy, (x, w)) if torch else ()  # the same memory, no copy
        jobs[way, n] = (functools.partial(_kernel(n), x, w, y) if way == "skinny"
                        else functools.partial(torch.nn.functional.linear, *same))
    taken = _take_turns(jobs, w.nbytes, repeats)
    runs = {way: np.array([taken[way, n] for n in positions]) for way in ways}
    seconds = {way: np.median(times, axis=1) for way, times in runs.items()}
    return {"bytes": w.nbytes, "read": w.nbytes / float(np.median(taken["read"])),
            "positions": tuple(positions), "runs": runs | {"read": taken["read"]},
            "seconds": seconds, "v": {way: times / times[0] for way, times in seconds.items()}}


def _ask(source):
    """The text of a file, or what macOS says of a name; "" where there is neither."""
    with contextlib.suppress(OSError, ValueError):
        if source.startswith("/"):
            return pathlib.Path(source).read_text(encoding="utf-8").strip()
        return subprocess.run(["sysctl", "-n", source], capture_output=True, text=True).stdout[:-1]
    return ""


def caches():
    """Bytes of the caches of one core by "L1", "L2", "L3"; None where the system tells nothing."""
    sizes = {}
    for level, i, name in (("L1", 0, "l1d"), ("L2", 2, "l2"), ("L3", 3, "l3")):
        linux = f"/sys/devices/system/cpu/cpu0/cache/index{i}/size"  # says 32K; macOS says 32768
        digits, k, _ = (_ask(linux) or _ask(f"hw.{name}cachesize")).partition("K")
        sizes[level] = int(digits) * (1024 if k else 1) if digits.isdigit() else None
    return sizes


def describe():
    """One line that names this machine: processor, cores, memory, system."""
    name = (_ask("/proc/cpuinfo").partition("model name\t: ")[2].partition("\n")[0]
            or _ask("machdep.cpu.brand_string") or platform.processor())
    with contextlib.suppress(AttributeError, OSError, ValueError):  # Windows has no sysconf
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
        name = f"{name or platform.machine()}, {memory:.0f} GiB of memory"
    return f"{name}, {os.cpu_count()} cores, {platform.system()}"
