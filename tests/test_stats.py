"""The statistics are honest: the stated level, the stated power, and what check_law says."""
import bisect
import itertools
import re
from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom

from course import exact, stats
from course.models import markov, rambler
from course.speculative import generate, sample, speculate
from course.stats import check_law, runs_needed, smallest_distance, smallest_tail, total_variation

SEED = 0  # fifty others were tried by hand: no test depends on it
ALARM = 1e-6
P = [.5, .3, .2]


def product(p, n):
    """The law of n independent draws from p."""
    texts = itertools.product(range(len(p)), repeat=n)
    return {x: float(np.prod([p[i] for i in x])) for x in texts}


LAWS = {
    "two outcomes": {(0,): .9, (1,): .1},
    "one token": product(P, 1),
    "three tokens": product(P, 3),
    "a rare one": {(0,): .6, (1,): .3999, (2,): 1e-4},
    "many rare ones": exact.joint(rambler(3, seed=1), [0], 5),
    "one outcome": {(4, 2): 1.0},
}


def halves(law, probs, n, rng):
    """Two Counters of n / 2 runs each: outcomes as in law, with the chances probs."""
    names = sorted(law)
    return [Counter(dict(zip(names, rng.multinomial(n // 2, probs).tolist(), strict=True)))
            for _ in range(2)]


def chances(law):
    return np.array([law[x] for x in sorted(law)])


# ---- distance

def test_total_variation():
    assert total_variation({(0,): .5, (1,): .5}, {(0,): .5, (2,): .5}) == .5
    assert total_variation({}, {(0,): 1.0}) == .5  # what is missing counts as 0
    assert total_variation(np.array(P), [.2, .2, .6]) == pytest.approx(.4)
    assert total_variation(LAWS["three tokens"], LAWS["three tokens"]) == 0


# ---- the level

@pytest.mark.parametrize("n, p", [(50, .5), (400, .02), (1000, .3), (10, 1.0), (7, 0.0)])
def test_a_tail_is_no_smaller_than_it_says(n, p):
    tails = stats._two_sided(np.arange(n + 1), n, np.full(n + 1, p))
    chance = binom.pmf(np.arange(n + 1), n, p)
    for level in [.5, .1, .05, .01, 1e-6, *tails]:
        assert chance[tails <= level].sum() <= level * (1 + 1e-9)


@pytest.mark.parametrize("name", LAWS)
def test_the_level_is_honest_over_1000_seeds(name):
    law, found = LAWS[name], []
    for seed in range(1000):
        rng = np.random.default_rng([SEED, seed])
        tail = smallest_tail(halves(law, chances(law), 20_000, rng), law)
        found.append(tail.chance * tail.of)
    for level in (.2, .05, .01):
        sd = np.sqrt(level * (1 - level) / 1000)
        assert np.mean(np.array(found) < level) <= level + 3 * sd
    if name != "one outcome":
        assert min(found) < .1  # and it is no test that never fires


def test_the_tail_of_many_together_is_honest_by_itself():
    """Many outcomes, so that the single tails, held against their number, hardly ever fire."""
    law = {(i,): 1 / 400 for i in range(400)}
    together = []
    for seed in range(1000):
        pair = halves(law, chances(law), 4000, np.random.default_rng([SEED, seed]))
        tail = smallest_tail(pair, law)
        assert tail.of == 2  # all of them are rare: one tail for all, and the one of the suspects
        together.append(tail.chance)
    for level in (.05, .01):
        assert np.mean(np.array(together) < level) <= level + 3 * np.sqrt(level / 1000)
    assert np.mean(np.array(together) < .5) > .3


def test_what_a_tail_tells():
    law = LAWS["one token"]
    pair = [Counter({(0,): 500, (1,): 300, (2,): 200}), Counter({(0,): 500, (1,): 400, (2,): 100})]
    tail = smallest_tail(pair, law)
    assert tail.outcome == (2,) and tail.seen == 300 and tail.expected == pytest.approx(400)
    assert tail.of == 5  # three outcomes, the rest, and the suspects
    assert tail.chance == pytest.approx(2 * binom.cdf(300, 2000, .2))


# ---- the power

def directions(law, n, rng):
    """(name, direction): ways for a law to be off; each adds up to 0, its positive part to 1."""
    p = chances(law)
    rare, every = np.flatnonzero(p * n < stats.FEWEST), np.arange(len(p))
    shapes = {"equal z": np.sqrt(p * (1 - p)), "proportional": p,
              "flat": np.minimum(p, np.median(p))}
    for (where, among), (name, size) in itertools.product(
            [("all", every), ("the rare", rare)], shapes.items()):
        order = rng.permutation(among)
        up = order[np.cumsum(size[order]) <= size[order].sum() / 2] if len(order) > 2 else order[:1]
        down = np.setdiff1d(among, up)
        if len(up) and len(down):
            yield f"{name} over {where}", _move(size, up, down)
    yield "from the likeliest to the next", _move(np.ones(len(p)), [p.argsort()[-2]], [p.argmax()])
    if len(rare) > 1:
        yield "the rare ones to one of them", _move(p, rare[:1], rare[1:])


def _move(size, up, down):
    direction = np.zeros(len(size))
    direction[up], direction[down] = size[up] / size[up].sum(), -size[down] / size[down].sum()
    return direction


def planted(p, direction, distance):
    """p moved by distance in this direction; where it ends too soon, among all others too."""
    low, high = 0.0, 1e6
    for _ in range(80):
        step = (low + high) / 2
        lost = np.minimum(p, step * np.maximum(-direction, 0))
        low, high = (low, step) if lost.sum() > distance else (step, high)
    alt = p - lost + lost.sum() * np.maximum(direction, 0)
    rest, others = distance - lost.sum(), np.flatnonzero(direction == 0)
    return alt + rest * _move(p, others[::2], others[1::2]) if rest > 1e-9 else alt


@pytest.mark.parametrize("name, smallest", [
    *itertools.product(["two outcomes", "one token", "three tokens", "a rare one"], [.05, .02]),
    ("many rare ones", .05)])
def test_the_smallest_distance_is_caught(name, smallest):
    law, rng = LAWS[name], np.random.default_rng(SEED)
    p, n = chances(law), runs_needed(law, smallest)
    caught = {}
    for _ in range(200):
        for direction, move in directions(law, n, rng):
            alt = planted(p, move, smallest)
            assert abs(alt - p).sum() / 2 == pytest.approx(smallest) and alt.min() > -1e-12
            tail = smallest_tail(halves(law, abs(alt), n, rng), law)
            caught.setdefault(direction, []).append(tail.chance < ALARM / tail.of)
    assert min(map(np.mean, caught.values())) >= .98, {k: np.mean(v) for k, v in caught.items()}


@pytest.mark.parametrize("name", LAWS)
def test_the_smallest_distance_is_not_far_too_large(name):
    """A test that needs ten times the runs would also pass the one above."""
    n = runs_needed(LAWS[name], .05)
    assert n % 2 == 0 and smallest_distance(LAWS[name], n) <= .05
    assert n == 1000 or smallest_distance(LAWS[name], int(n / 1.1)) > .05
    outcomes = sum(w * n > stats.HIDDEN for w in LAWS[name].values())
    assert n < 40_000 * max(2, np.sqrt(outcomes))


@pytest.mark.parametrize("name", LAWS)
def test_more_runs_are_needed_for_less(name):
    needed = [runs_needed(LAWS[name], d) for d in (.2, .1, .05, .03, .02)]
    assert needed == sorted(needed)
    assert needed[0] < needed[-1] or needed == [1000] * 5  # one outcome: any fault fails at once
    stricter = [runs_needed(LAWS[name], .05, alarm) for alarm in (1e-2, 1e-4, 1e-6, 1e-9)]
    assert stricter == sorted(stricter)


# ---- check_law

def parts(printed):
    """What the three lines say, as a dict, however they are worded."""
    lines = printed.rstrip("\n").split("\n")
    assert len(lines) == 3, printed
    number = r"([\d.,]+(?:e[-+]?\d+)?)"
    n, seed = re.search(rf"n\D{{0,4}}{number}", lines[1]), re.search(r"seed\D*(\d+)", lines[1])
    return {"exact": lines[0], "power": lines[2], "n": int(n[1].replace(",", "").rstrip(".")),
            "seed": int(seed[1]), "tail": re.search("tail", lines[1]),
            "alarm": re.search("alarm|level", lines[1])}


WANTED = {(x,): w for x, w in enumerate(P)}


def test_three_lines_on_a_right_sampler(capsys):
    check_law(lambda rng: sample(P, rng), WANTED, seed=3, smallest=.1)
    said = parts(capsys.readouterr().out)
    assert "3 paths" in said["exact"] and said["seed"] == 3
    assert said["n"] == runs_needed(WANTED, .1) and said["tail"] and said["alarm"]
    assert "0.1" in said["power"] and "0.999" in said["power"]


def test_a_right_generation_is_right(capsys):
    target, draft = rambler(3, seed=1, zeros=.2), rambler(3, seed=2, zeros=.2)
    check_law(lambda rng: generate(target, draft, [0], 3, 1, rng)[1:],
              exact.joint(target, [0], 3), seed=1, smallest=.2)
    assert "paths" in parts(capsys.readouterr().out)["exact"]


def test_the_exact_law_may_come_from_rounds(capsys):
    target, draft = (markov([[.5, .5], [1, 0]]), markov([[.25, .75], [.5, .5]]))
    law = exact.generation_law(speculate, target, draft, [0], 6, 2)
    check_law(lambda rng: generate(target, draft, [0], 6, 2, rng)[1:],
              exact.joint(target, [0], 6), seed=1, smallest=.2, emitted=law)
    assert f"{law.paths:,} paths" in parts(capsys.readouterr().out)["exact"]


def test_a_sampler_that_cannot_be_enumerated_is_sampled(capsys):
    check_law(lambda rng: rng.normal() > 0, {(0,): .5, (1,): .5}, seed=1, smallest=.1)
    assert "normal" in parts(capsys.readouterr().out)["exact"]


def test_too_many_paths_are_sampled(capsys):
    check_law(lambda rng: sum(rng.random(8) < .5), {(k,): w for k, w in enumerate(
        binom.pmf(np.arange(9), 8, .5).tolist())}, seed=1, smallest=.1, max_paths=200)
    assert "max_paths" in parts(capsys.readouterr().out)["exact"]


def test_a_wrong_law_is_named_with_its_distance():
    with pytest.raises(AssertionError, match=r"off by 0\.1000.*\(2,\).*0\.3000.*0\.2000"):
        check_law(lambda rng: sample([.45, .25, .3], rng), WANTED, seed=1)


def test_a_law_off_by_very_little_is_no_rounding():
    with pytest.raises(AssertionError, match=r"off by 0\.00000001\d*:"):
        check_law(lambda rng: sample([.5 + 1e-8, .3 - 1e-8, .2], rng), WANTED, seed=1)


def not_enumerable(p):
    """A sampler with the law p that exact.law refuses."""
    edges = np.cumsum(p).tolist()
    return lambda rng: bisect.bisect(edges, float(rng.random()))


def test_a_wrong_sampler_is_caught_by_sampling(capsys):
    with pytest.raises(AssertionError, match=r"\([12],\): [\d,]+ times, expected [\d,.]+"):
        check_law(not_enumerable([.5, .2, .3]), WANTED, seed=1, smallest=.1)
    assert len(capsys.readouterr().out.rstrip("\n").split("\n")) == 3


def test_a_forbidden_outcome_fails_at_once():
    def rarely(rng):
        return 3 if rng.normal() > 2.8 else sample(P, rng)  # once in 400 runs
    with pytest.raises(AssertionError, match=r"forbids \(3,\).* \d+ times"):
        check_law(rarely, WANTED, seed=1, smallest=.1)
    with pytest.raises(AssertionError, match=r"forbids \(2,\)"):
        check_law(not_enumerable([.5, .49, .01]), {(0,): .5, (1,): .5, (2,): 0.0}, seed=1,
                  smallest=.1)


def test_an_alarm_rings_at_the_stated_level(capsys):
    """With an alarm of 1 in 2, about every second seed or fewer alarms; with 1e-6, none does."""
    rung = 0
    for seed in range(30 * SEED, 30 * SEED + 30):
        try:
            check_law(not_enumerable(P), WANTED, seed=seed, smallest=.3, alarm=.5)
        except AssertionError:
            rung += 1
        check_law(not_enumerable(P), WANTED, seed=seed, smallest=.3)
    assert 1 <= rung <= 24
    capsys.readouterr()


def test_the_sample_follows_from_the_seed(capsys):
    for _ in range(2):
        check_law(lambda rng: sample(P, rng), WANTED, seed=5, smallest=.2)
    out = capsys.readouterr().out.split("\n")
    assert out[:3] == out[3:6]


@pytest.mark.parametrize("sampler, error", [
    (lambda rng: .5, "int or a list of ints"), (lambda rng: None, "int or a list of ints"),
    (lambda rng: "ab", "int or a list of ints")])
def test_a_result_that_is_no_token_is_no_outcome(sampler, error, capsys):
    with pytest.raises(TypeError, match=error):
        check_law(sampler, WANTED, seed=1)


@pytest.mark.parametrize("law, mend", [
    ({0: .5, 1: .5}, r"\(0,\) in place of 0"), ({(0,): .5}, "add up to 1"), ({}, "add up to 1"),
    ({(0,): 1.5, (1,): -.5}, "0 or more"), ({(0,): float("nan")}, "add up to 1")])
def test_a_law_that_is_none_names_its_mend(law, mend):
    with pytest.raises(ValueError, match=mend):
        check_law(lambda rng: 0, law, seed=1)
