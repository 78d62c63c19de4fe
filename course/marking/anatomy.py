"""What happened inside the rounds of a run, told from outside.

The texts that the models were asked about give the guesses away: the target reads the prompt and
the guesses behind it. So every token written can be put in its place: the first of a round, after a
kept guess, right after a rejection, after a full round. At each place a right function writes the
target's law, whatever came before. A function that asks the models in another order shows less.
"""
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from course.marking import shapes
from course.marking.examine import draws_between

PLACES = {"first": "the first token of a round", "kept": "the token after a kept guess",
          "full": "the token after a full round, the bonus",
          "rejected": "the token right after a rejection",
          "next": "the token after a bonus", "later": "a token of a later round"}


class Finding(NamedTuple):
    """What a function is taken for: an id and a family of course.mistakes."""

    kind: str
    family: str


class Round(NamedTuple):
    """The first round of a Trace."""

    guesses: tuple
    base: int  # length of the shortest text that the draft was asked about
    reach: int  # length of the longest text that the target was asked about
    next_base: int | None  # base of the second round
    draws: int  # in this round
    late_draws: int  # of these, after the last call of a model
    target_calls: int


def segments(asked):
    """The calls, cut where the draft is asked again after the target: a list of lists."""
    parts, ready = [[]], False
    for call in asked:
        if call[0] == "draft" and ready:
            parts.append([])
            ready = False
        ready = ready or (call[0] == "target" and any(c[0] == "draft" for c in parts[-1]))
        parts[-1].append(call)
    return parts


def first_round(trace, world):
    """The first Round of trace; None if a model was not asked."""
    parts = segments(trace.asked)
    texts = [text for _, text, _ in parts[0]]
    drafts = [len(text) for who, text, _ in parts[0] if who == "draft"]
    targets = [len(text) for who, text, _ in parts[0] if who == "target"]
    if not drafts or not targets:
        return None
    longest = max((t for t in texts if t[:len(world.prompt)] == world.prompt), key=len, default=())
    stop = parts[1][0][2] if len(parts) > 1 else trace.drawn
    after = [len(text) for who, text, _ in parts[1] if who == "draft"] if len(parts) > 1 else []
    return Round(longest[len(world.prompt):][:world.gamma], min(drafts), max(targets),
                 min(after, default=None), draws_between(parts[0][0][2], stop),
                 draws_between(parts[0][-1][2], stop), len(targets))


def place(guesses, new, k, gamma):
    """In which of PLACES new[k] was written."""
    if k == 0:
        return "first"
    kept = next((i for i, (x, y) in enumerate(zip(guesses, new)) if x != y), len(guesses))
    if kept < len(guesses) or len(guesses) < gamma:
        return "kept" if k <= kept < gamma and k < len(guesses) else (
            "rejected" if k == kept + 1 and kept < len(guesses) else "later")
    return "kept" if k < gamma else "full" if k == gamma else "next" if k == gamma + 1 else "later"


class Off(NamedTuple):
    """Where a function first writes another law than the target's."""

    place: str
    before: tuple  # the new tokens so far
    token: int
    got: float
    wanted: float


def first_off(evidence, p_after):
    """The Off of this Evidence, earliest place first; None if every place is right."""
    found = defaultdict(lambda: defaultdict(lambda: defaultdict(float)))
    for trace in evidence.traces:
        seen = first_round(trace, evidence.world)
        guesses = seen.guesses if seen else ()
        for k, x in enumerate(trace.new):
            where = place(guesses, trace.new, k, evidence.world.gamma)
            found[where][trace.new[:k]][x] += trace.chance
    for where in PLACES:
        worst = max((_worst(before, row, p_after(before), evidence.exact)
                     for before, row in sorted(found[where].items())),
                    key=lambda off: off[0], default=(0, None))
        if worst[0] > 1:
            return Off(where, *worst[1])
    return None


def _worst(before, row, p, exact):
    """(how far off in units of what is noticed, (before, token, got, wanted)) of one row."""
    weight = sum(row.values())
    wanted = {x: p[x] if 0 <= x < len(p) else 0.0 for x in {*row, *range(len(p))}}
    gaps = {x: row.get(x, 0.0) / weight - w for x, w in wanted.items()}
    token = max(sorted(gaps), key=lambda x: gaps[x])
    spread = wanted[token] * (1 - wanted[token]) + 1 / weight
    unit = 1e-9 / weight if exact else 4 * np.sqrt(spread / weight)
    return gaps[token] / unit, (before, token, row.get(token, 0.0) / weight, float(wanted[token]))


def slack_of(evidence, runs=None):
    """Differences up to this are rounding, or chance in this many runs."""
    return 1e-7 if evidence.exact else 2.5 / np.sqrt(runs or evidence.size)


class Table(NamedTuple):
    """What became of the first guess. Rows of guesses that never came are nan."""

    guess: np.ndarray  # (V,): how often it was each token
    out: np.ndarray  # (V, V): the law of what was written, given the guess
    slack: np.ndarray  # (V,): differences in a row up to this are rounding, or chance


def table(evidence, V, given=()):
    """The Table of the guess behind these guesses of the first round, given that they were kept."""
    joint, at = np.zeros((V, V)), len(given)
    for trace in evidence.traces:
        seen = first_round(trace, evidence.world)
        if (seen and len(seen.guesses) > at and len(trace.new) > at
                and seen.guesses[:at] == trace.new[:at] == given):
            if max(seen.guesses[at], trace.new[at]) < V and min(trace.new) >= 0:
                joint[seen.guesses[at], trace.new[at]] += trace.chance
    total = joint.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        runs = np.maximum(joint.sum(axis=1), 1)
        slack = np.full(V, 1e-7) if evidence.exact else 2.5 / np.sqrt(runs)
        return Table(joint.sum(axis=1) / total, joint / joint.sum(axis=1, keepdims=True), slack)


def unchecked(found):
    """Is the guess written whatever it is?"""
    known = np.isfinite(found.out).all(axis=1)
    return shapes.near(found.out[known], np.eye(len(found.out))[known], found.slack[known, None])
