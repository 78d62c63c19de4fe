"""What happened inside the rounds of a run, told from outside.

The texts that the models were asked about give the guesses away: the target reads the prompt and
the guesses behind it. So every token written can be put in its place: the first of a round, after a
kept guess, right after a rejection, after a full round. At each place a right function writes the
target's law, whatever came before. A function that asks the models in another order shows less.
"""
import math
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from course.marking import shapes
from course.marking.draws import draws_between

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

    guesses: tuple  # as far as the target was asked about them
    hidden: bool  # was more guessed than that?
    base: int  # length of the shortest text that the draft was asked about
    reach: int  # length of the longest text that the target was asked about
    next_base: int | None  # base of the second round
    draws: int  # in this round, or before it
    late_draws: int  # of these, after the last call of a model
    target_calls: int


def segments(asked):
    """The calls, cut where a round begins: a list of lists.

    A round goes on as long as its guesses are read. The draft may read them too, after the target,
    if nothing was drawn meanwhile.
    """
    parts, drafts, longest, ready = [[]], set(), (), False
    for who, text, mark in asked:
        if ready:
            fits = (len(text) <= min(map(len, drafts)) + len(drafts)
                    and text[:len(longest)] == longest[:len(text)])
            late_look = parts[-1][-1][0] == "target" and mark == parts[-1][-1][2] != asked[0][2]
            if not fits or (who == "draft" and not late_look):
                parts, drafts, longest, ready = [*parts, []], set(), (), False
        parts[-1].append((who, text, mark))
        longest = max(longest, text, key=len)
        if who == "draft" and not ready:
            drafts.add(text)
        ready = ready or (who == "target" and bool(drafts))
    return parts


def first_round(trace, world):
    """The first Round of trace; None if it had no guesses."""
    part, *later = segments(trace.asked)
    drafts, targets = ([text for who, text, _ in part if who == name]
                       for name in ("draft", "target"))
    if not drafts or not targets:
        return None
    n, base = len(world.prompt), min(map(len, drafts))
    if base > n:  # the draft is asked when something has been written already
        return None
    longest = max((t for t in drafts + targets if t[:n] == world.prompt), key=len, default=())
    guesses = longest[n:][:world.gamma]
    stop = later[0][0][2] if later else trace.drawn
    after = [len(text) for who, text, _ in later[0] if who == "draft"] if later else []
    return Round(guesses, len(guesses) < min(len(set(drafts)), world.gamma), base,
                 max(map(len, targets)), min(after, default=None),
                 trace.draws - draws_between(stop, trace.drawn), draws_between(part[-1][2], stop),
                 len(targets))


class Told(NamedTuple):
    """Any round of a Trace that read its guesses, as it looks from outside."""

    before: tuple  # the new tokens before it
    guesses: tuple
    written: tuple
    draws: int


def rounds(trace, world):
    """A Told for every round of trace that can be told apart from the next."""
    parts, n, told = segments(trace.asked), len(world.prompt), []
    starts = [min((len(t) for who, t, _ in part if who == "draft"), default=0) - n
              for part in parts] + [len(trace.new)]
    marks = [part[0][2] for part in parts if part] + [trace.drawn]
    for i, part in enumerate(parts if trace.asked else []):
        longest = max((t for _, t, _ in part), key=len, default=())
        if 0 <= starts[i] < starts[i + 1] and longest[:n] == world.prompt:
            draws = draws_between(marks[i], marks[i + 1]) if i else (
                trace.draws - draws_between(marks[1], trace.drawn))
            told.append(Told(trace.new[:starts[i]], longest[n + starts[i]:][:world.gamma],
                             trace.new[starts[i]:starts[i + 1]], draws))
    return told


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
    """What became of a guess. Rows of guesses that never came are nan."""

    guess: np.ndarray  # (V,): how often it was each token; nan where the target was not asked
    out: np.ndarray  # (V, V): the law of what was written, given the guess
    slack: np.ndarray  # (V,): differences in a row up to this are rounding, or chance


def table(evidence, V, given=()):
    """The Table of the guess behind these guesses of the first round, given that they were kept."""
    joint, at, hidden = np.zeros((V, V)), len(given), False
    for trace in evidence.traces:
        seen = first_round(trace, evidence.world)
        if seen and len(trace.new) > at and seen.guesses[:at] == trace.new[:at] == given:
            if len(seen.guesses) == at:
                hidden = hidden or seen.hidden
            elif max(seen.guesses[at], trace.new[at]) < V and min(trace.new) >= 0:
                joint[seen.guesses[at], trace.new[at]] += trace.chance
    total = math.nan if hidden else joint.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        runs = np.maximum(joint.sum(axis=1), 1)
        slack = np.full(V, 1e-7) if evidence.exact else 2.5 / np.sqrt(runs)
        return Table(joint.sum(axis=1) / total, joint / joint.sum(axis=1, keepdims=True), slack)


def unchecked(found):
    """Is the guess written whatever it is?"""
    known = np.isfinite(found.out).all(axis=1)
    return shapes.near(found.out[known], np.eye(len(found.out))[known], found.slack[known, None])
