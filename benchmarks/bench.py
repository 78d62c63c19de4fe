"""Measure what the course says about speed, all in one run: make bench.

It writes benchmarks/results.json and prints a table; docs/benchmarks.md explains every figure. One
thread, everything in turns, medians. The number of guesses is chosen on eight prompts and the
speed-up is reported on twenty others. The read bandwidth is measured between the stages, and if it
fell during the run nothing is reported. ARGS=--quick tries the programme out on a few tokens and
writes nothing.
"""
import os

for pool in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR"):  # before NumPy starts its own
    os.environ[f"{pool}_NUM_THREADS"] = "1"

import argparse
import json
import pathlib
import platform
import sys
import time
from importlib.metadata import version

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "tools")]
import certainty
import execute
import numpy as np
import peer
import speed

from course import gain, machine, pair

WIDER = 12  # r: 144 times the weights
GAMMAS = range(1, 13)
STEADY = 0.85  # of the median bandwidth of the run must be there at every look


def bandwidth(found, megabytes):
    """One more look at the bytes per second that this machine reads."""
    found.append(machine.read_bandwidth(megabytes, 5))


def chosen(target, draft, texts, n_new, v):
    """The gamma that should be the fastest, by alpha and c as measured on the prompts for choosing,
    and the speed-up that the formula of lesson 08 gives each gamma."""
    seen = speed.races(target, draft, texts, n_new, 5, 1.0)
    foretold = {gamma: gain.speed_up(seen["alpha"], gamma, seen["c"], v) for gamma in GAMMAS}
    return max(foretold, key=foretold.get), foretold


def own_speed(quick, looks):
    """The speed-ups of the pair and all that they are made of."""
    target, draft, small = pair.load("target", WIDER), pair.load("draft"), pair.load("target")
    megabytes = target.nbytes() / 2**20
    n_new, few = (40, 2) if quick else (100, 20)
    bandwidth(looks, megabytes)
    one = speed.passes(target, range(1, GAMMAS[-1] + 2), 3 if quick else 15)
    v = {n: seconds / one[1] for n, seconds in one.items()}
    bandwidth(looks, megabytes)
    gamma, tried = chosen(target, draft, speed.prompts(100, 2 if quick else 8), n_new // 2, v.get)
    texts = speed.prompts(0, few)
    bandwidth(looks, megabytes)
    at_1 = speed.races(target, draft, texts, n_new, gamma, 1.0)
    bandwidth(looks, megabytes)
    greedy = speed.races(target, draft, texts, n_new, gamma, 0.0)
    control = speed.races(target, small, texts[:few // 2], n_new, gamma, 1.0)
    unwidened = speed.races(small, draft, texts[:few // 2], n_new, gamma, 1.0)
    bandwidth(looks, megabytes)
    return (target, draft, texts, gamma), {
        "speedup_T1": at_1["speedup"], "speedup_greedy": greedy["speedup"],
        "measured_over_predicted": at_1["measured_over_predicted"],
        "speedup_control_alpha_1": control["speedup"],
        "speedup_without_widening": unwidened["speedup"],
        "bandwidth_share_one_position": target.nbytes() / one[1] / float(np.median(looks)),
        "v5": v[5], "v8": v[8], "v": v,
        "gamma": gamma, "megabytes_a_pass": megabytes,
        "one_position_ms": 1e3 * one[1],
        "foretold_when_choosing": tried, "T1": at_1, "greedy": greedy,
        "control_alpha_1": control, "without_widening": unwidened}


def lessons():
    """Seconds {lesson: s} that each lesson takes to run in a kernel of its own."""
    env = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    found = {}
    for path in sorted((HERE.parent / "notebooks").glob("*.ipynb")):
        start = time.perf_counter()
        execute.client(execute.read(path), path.parent).execute(env=env | {"COURSE_STORED": "1"})
        found[path.stem] = round(time.perf_counter() - start, 1)
    return found


def gathered(quick):
    """Everything that is measured, stage by stage, as a dict that fits into JSON."""
    looks, began = [], time.perf_counter()
    (target, draft, texts, gamma), found = own_speed(quick, looks)
    few, n_new, repeats = (2, 12, 1) if quick else (6, 60, 3)
    found |= peer.against_transformers(target, draft, texts[:few], n_new, gamma, 2, repeats)
    bandwidth(looks, target.nbytes() / 2**20)
    found |= certainty.montecarlo(seed=3) | certainty.exact_vs_sampling(seed=4)
    bandwidth(looks, target.nbytes() / 2**20)
    found["peak_memory_megabytes"] = peak()
    found["seconds_per_lesson"] = {} if quick else lessons()
    found |= {"bandwidth_looks": looks, "steady": min(looks) >= STEADY * float(np.median(looks)),
              "machine": machine.describe(), "caches": machine.caches(), "threads": 1,
              "python": platform.python_version(),
              "versions": {name: version(name) for name in (
                  "numpy", "scipy", "numba", "llvmlite", "torch", "transformers")},
              "load_average": os.getloadavg() if hasattr(os, "getloadavg") else None,
              "command": "make bench", "minutes": (time.perf_counter() - began) / 60}
    return found


def peak():
    """The most memory that this process has held, in MB; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


def table(found):
    """The figures that matter as lines of text."""
    at_1 = found["T1"]
    rows = [
        ("speed-up at T = 1", f"{found['speedup_T1']:.2f}  (per prompt {at_1['least']:.2f} to "
         f"{at_1['greatest']:.2f}; gamma {found['gamma']}, alpha {at_1['alpha']:.3f})"),
        ("speed-up, greedy", f"{found['speedup_greedy']:.2f}"),
        ("measured over predicted", f"{found['measured_over_predicted']:.3f}"),
        ("control, alpha = 1", f"{found['speedup_control_alpha_1']:.2f}"),
        ("without widening", f"{found['speedup_without_widening']:.2f}"),
        ("one position: share of bandwidth", f"{found['bandwidth_share_one_position']:.3f}"),
        ("v(5), v(8)", f"{found['v5']:.2f}, {found['v8']:.2f}"),
        ("over transformers, assisted", f"{found['vs_transformers_assisted']:.2f}"),
        ("Monte Carlo over transformers", f"{found['montecarlo_vs_transformers']:.0f}"),
        ("exact over sampling", f"{found['exact_vs_sampling']:.0f}"),
        ("peak memory, MB", f"{found['peak_memory_megabytes'] or 0:.0f}"),
        *((f"seconds, lesson {name[:2]}", f"{seconds}")
          for name, seconds in found["seconds_per_lesson"].items())]
    return "\n".join(f"{name:<34}{value}" for name, value in rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few tokens; nothing is written")
    quick = parser.parse_args().quick
    found = gathered(quick)
    print(table(found))
    if not found["steady"]:
        looks = ", ".join(f"{look / 1e9:.1f}" for look in found["bandwidth_looks"])
        sys.exit(f"Not reported: the read bandwidth changed during the run ({looks} GB/s). Close "
                 "other programs and run it again.")
    if not quick:
        (HERE / "results.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
