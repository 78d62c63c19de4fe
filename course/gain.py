"""What guessing ahead gains: words in a round, time of a round, the best number of guesses.

Follows Leviathan et al. 2023 (arXiv 2211.17192): equation 1, Theorems 3.8 and 3.11. alpha is the
chance that a tested guess is kept, the same at every place and independent; c the time of a draft
step in target passes over one position; v(n) the time of a target pass over n positions in the same
unit. v is a function of n, or a sequence with v[n] (v[0] is not used), or None where every pass
costs the same. Lesson 08 writes every function before it imports it. Left out: whatever else a loop
spends its time on, and alpha that changes from place to place.
"""
import math

from course.speculative import DUST, _count


def expected_tokens(alpha, gamma):
    """Tokens that a round of gamma guesses writes on average: 1 + alpha + ... + alpha**gamma.

    The sum is (1 - alpha**(gamma + 1)) / (1 - alpha), and holds at alpha = 1 too. Raises ValueError
    if alpha is no probability. Leviathan, equation 1.
    """
    if not -DUST <= alpha <= 1 + DUST:
        raise ValueError(f"alpha is {alpha}: it is accepted / tested, a number from 0 to 1")
    return float(sum(alpha**i for i in range(_count(gamma, "gamma") + 1)))


def speed_up(alpha, gamma, c, v=None):
    """How many times as fast as one target pass a token: E / (gamma c + v(gamma + 1)).

    Raises ValueError for a cost that is no time. Leviathan, Theorem 3.8, is the case v = 1.
    """
    return expected_tokens(alpha, gamma) / (gamma * _cost(c, "c") + _pass(v, gamma + 1))


def best_gamma(alpha, c, v=None, most=32):
    """The gamma from 0 to most with the largest speed-up, the smaller one of two that are equal.

    0 means: without a draft it is as fast or faster. A sequence v ends the search where it ends.
    """
    most = _count(most, "most") if v is None or callable(v) else min(most, len(v) - 2)
    return max(range(max(most, 0) + 1), key=lambda gamma: speed_up(alpha, gamma, c, v))


def operations(alpha, gamma, c_hat):
    """Arithmetic for one token, counted in target passes over one position.

    c_hat is the arithmetic of a draft step in the same unit. Leviathan, Theorem 3.11.
    """
    spent = gamma * _cost(c_hat, "c_hat") + gamma + 1
    return spent / expected_tokens(alpha, gamma)


def _cost(value, name):
    """value as it is. Raises ValueError unless it is a number from 0 on."""
    if not 0 <= value < math.inf:
        raise ValueError(f"{name} is {value}: it counts target passes over one position, so it "
                         "is a number from 0 on")
    return value


def _pass(v, n):
    """The cost of a target pass over n positions."""
    if v is None:
        return 1.0
    if not callable(v) and n >= len(v):
        raise ValueError(f"v ends at {len(v) - 1} positions and gamma = {n - 1} needs v[{n}]: "
                         "measure further, or take a smaller gamma")
    cost = v(n) if callable(v) else v[n]
    if not 0 < cost < math.inf:
        raise ValueError(f"v({n}) is {cost}: a pass takes time, and v(1) is 1")
    return cost
