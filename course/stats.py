"""Is a sampler's law the one we want? Exactly where it can be enumerated, and by sampling.

One policy for the whole course. Exact: distance 1e-12 or less. Sampled: any outcome that the law
forbids fails at once. Then every outcome gets an exact binomial tail by itself (rare ones share
one), and one more tail is for faults spread thinly over many outcomes: the first half of the runs
names the outcomes that came too often, the second half puts these to the test together. The
smallest tail, times the number of tails, is held against the alarm level (Bonferroni), so the
stated level is true for any law. Left out: two samples compared as if one were exact, and
chi-squared, whose level is not true in small cells.
"""
from collections import Counter
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from course.exact import NotEnumerable, TooManyPaths, as_outcome, law as exact_law

EXACT = 1e-12  # distances up to this are rounding
FEWEST = 20  # expected runs of an outcome; rarer ones have one tail between them
HIDDEN = 2  # expected runs of an outcome; what happens among rarer ones may stay unseen
POWER = 0.999  # with which check_law catches the smallest distance that it states


class Tail(NamedTuple):
    """The least likely thing in a sample: its tail probability, and what it is."""

    chance: float  # of a count at least so far off on its side, times two
    of: int  # the number of tails it is the smallest of
    outcome: tuple | None  # the outcome it is about; None: many outcomes together, a few rare ones
    seen: int
    expected: float


def total_variation(law, other):
    """Half the summed differences of two laws, dicts {outcome: probability} or arrays (V,)."""
    if isinstance(law, dict):
        return sum(abs(law.get(x, 0.0) - other.get(x, 0.0)) for x in law.keys() | other.keys()) / 2
    return float(abs(np.asarray(law) - np.asarray(other)).sum() / 2)


def count(sampler, n, seed):
    """Two Counters in a list: what n // 2 runs of sampler(rng) gave, and what n // 2 more gave."""
    rng = np.random.default_rng(seed)
    return [Counter(as_outcome(sampler(rng)) for _ in range(n // 2)) for _ in range(2)]


def smallest_tail(halves, law):
    """The Tail of two Counters of runs (as count gives them) against the exact law."""
    runs = [sum(half.values()) for half in halves]
    names, probs = _pooled(law, sum(runs))
    seen = [halves[0][x] + halves[1][x] for x in names[:-1]]
    seen.append(sum(runs) - sum(seen))
    tails = _two_sided(np.array(seen), sum(runs), probs)
    suspects = [x for x in law if halves[0][x] > runs[0] * law[x]]  # named by the first half ...
    again, share = sum(halves[1][x] for x in suspects), sum(law[x] for x in suspects)
    together = _two_sided(again, runs[1], share)  # ... then tried by the second
    if together <= tails.min():
        return Tail(float(together), len(tails) + 1, None, again, runs[1] * share)
    i = int(tails.argmin())
    return Tail(float(tails[i]), len(tails) + 1, names[i], seen[i], float(sum(runs) * probs[i]))


def _pooled(law, n):
    """Outcomes and their probabilities; the last outcome, None, stands for all the rare ones."""
    common = sorted(x for x, w in law.items() if w * n >= FEWEST)
    probs = np.array([law[x] for x in common])
    return [*common, None], np.append(probs, max(0.0, 1 - probs.sum()))


def _two_sided(seen, n, probs):
    """The chance that a binomial count is at least as far out as seen, on its side, times two."""
    probs = np.clip(probs, 0.0, 1.0)
    return np.minimum(1.0, 2 * np.minimum(binom.cdf(seen, n, probs), binom.sf(seen - 1, n, probs)))


def smallest_distance(law, n, alarm=1e-6):
    """The smallest total variation that n runs catch with probability POWER, in any direction.

    The hardest direction for single tails moves every outcome by the same number of its standard
    deviations. There the tail over the suspects must catch it: the first half names a share of them
    rightly, and the second half sees that share of the distance, give or take both halves' chance
    (normal approximation; tests/test_stats.py simulates it). A move among outcomes that are hardly
    ever seen is not counted on.
    """
    if len(law) == 1:  # any other outcome is forbidden, and fails at once
        return 1 - (1 - POWER) ** (1 / n)
    probs = np.array([w for w in law.values() if w * n >= HIDDEN])
    hidden, tails = max(0.0, 1 - probs.sum()), len(_pooled(law, n)[0]) + 1
    deviations, half = np.sqrt(probs * (1 - probs)), np.sqrt(n / 2)
    even = np.sqrt((deviations**2).sum()) / max(deviations.sum(), 1e-300)
    needed, spread, low, high = -ndtri(alarm / 2 / tails), ndtri(POWER), 0.0, 1.0
    for _ in range(50):  # what is seen grows with the distance: halve the bracket
        distance = (low + high) / 2
        right = ndtr(2 * distance * half / max(deviations.sum(), 1e-300))
        seen = distance * (2 * right - 1) * half / 0.5
        naming = 2 * distance * even * np.sqrt(right * (1 - right)) * half / 0.5
        caught = seen - needed > spread * np.hypot(1, naming)
        low, high = (low, distance) if caught else (distance, high)
    return high + hidden


def runs_needed(law, smallest, alarm=1e-6):
    """The number of runs (even) that catches a distance of smallest with probability POWER."""
    n = 1000
    while smallest_distance(law, n, alarm) > smallest:
        n = int(n * 1.05)
    return n + n % 2


def check_law(sampler, law, seed, alarm=1e-6, smallest=0.02, emitted=None, max_paths=20_000):
    """Print three lines on whether sampler(rng) follows law; AssertionError if it does not.

    law is a dict {outcome: probability}; emitted is the sampler's exact law where that was computed
    in another way (exact.generation_law), else it is enumerated in up to max_paths paths.
    """
    _wanted(law)
    print(f"exact:   {_exactly(sampler, law, emitted, max_paths)}")
    n = runs_needed(law, smallest, alarm)
    halves = count(sampler, n, seed)
    for x, seen in sum(halves, Counter()).items():
        if law.get(x, 0.0) == 0:
            raise AssertionError(f"the law forbids {x}, and the sampler gave it {seen} times")
    tail = smallest_tail(halves, law)
    print(f"sampled: n = {n:,}, seed = {seed}, smallest of {tail.of} tails {tail.chance:.1g}, "
          f"alarm below {alarm / tail.of:.1g} (level {alarm:g})")
    print(f"power:   a distance of {smallest:g} is caught with probability {POWER}")
    if tail.chance < alarm / tail.of:
        name = "several outcomes together" if tail.outcome is None else f"outcome {tail.outcome}"
        raise AssertionError(f"{name}: {tail.seen} times, expected {tail.expected:.1f}; chance "
                             f"{tail.chance:.2g} if the law were right")


def _wanted(law):
    """Raise ValueError unless law is a law over tuples."""
    if not all(isinstance(x, tuple) for x in law):
        raise ValueError("an outcome of a law is a tuple of ints: write (0,) in place of 0")
    if not min(law.values(), default=-1) >= 0 or not abs(sum(law.values()) - 1) < 1e-9:
        raise ValueError(f"the law adds up to {sum(law.values()):.6g}: its probabilities must be 0 "
                         "or more and add up to 1")


def _exactly(sampler, law, emitted, max_paths):
    """A sentence on the exact distance; AssertionError that names the outcome that is most off."""
    try:
        emitted = exact_law(sampler, max_paths) if emitted is None else emitted
    except (NotEnumerable, TooManyPaths) as error:
        return f"not enumerated ({error})"
    distance = total_variation(emitted, law)
    if distance > EXACT:
        worst = max(sorted(emitted.keys() | law.keys()),
                    key=lambda x: abs(emitted.get(x, 0.0) - law.get(x, 0.0)))
        digits = ".4f" if distance > 1e-3 else ".12f"
        raise AssertionError(f"the law is off by {distance:{digits}}: outcome {worst} has "
                             f"probability {emitted.get(worst, 0.0):{digits}}, "
                             f"wanted {law.get(worst, 0.0):{digits}}")
    return f"distance below {EXACT:g}, {emitted.paths:,} paths"
