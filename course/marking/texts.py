"""Marks a function that writes text: its law in every world, then why it is wrong, or how right.

One policy: exactly where every path can be followed, by sampling where not, and the mark says
which. A crash, a hang and a wrong length are answers too, each with its own sentence. Nothing is
raised.
"""
import math

from numpy.random import default_rng

from course.exact import joint
from course.marking.answers import plain
from course.marking.diagnose import Wanted
from course.marking.examine import Evidence, Runner
from course.marking.limits import Progress, quiet, within
from course.marking.manner import calls_a_round, manner
from course.marking.mishaps import (
    HANG,
    Mark,
    failed,
    failed_somewhere,
    heard,
    odd,
    on_the_boundary,
    too_slow,
)
from course.marking.worlds import again, worlds
from course.marking.wrong import wrong_mark
from course.mistakes import CATALOGUE
from course.models import rows
from course.stats import smallest_distance, smallest_tail, total_variation

EQUAL = 1e-10  # laws nearer than this are equal
ALARM = 1e-6
TWINS = {"one guess, two tokens"}  # the same models are run with more tokens
GREEDY = ("The text is the target's own, token by token, whatever the draft guesses: a guess stays "
          "only where it is the token that the target would write.")
HOPELESS = {"no answer yet", "endless"}  # where the first world is like this, so are the others


def mark(call, wanted=None, end=None, places=None):
    """The Mark of call(world, target, draft, prompt, rng), which returns the prompt and new tokens.

    In all the worlds, or in `places` alone.
    """
    progress, places = Progress(), places or worlds(end)
    with quiet() as ear:
        found = _unwanted(wanted, places[0]) or _mark(call, Wanted(wanted, end), progress, places)
    progress.close()
    return heard(ear, found)


def _unwanted(wanted, world):
    """The Mark of a `wanted` that is no function from a model to a model; None if it is one."""
    try:
        if wanted is not None:
            rows(wanted(world.target), world.prompt, vocabulary=world.V)
    except Exception as error:
        return Mark("unknown", "", f"`wanted` must be a function from a model to a model, such as "
                    f"lambda model: temperature(model, 0.5). Tried here, it fails: "
                    f"{type(error).__name__}: {plain(str(error))[:120]}")
    return None


def _mark(call, want, progress, places):
    runner = Runner(call)
    failures, alive = _first_runs(runner, places)
    first = failures.get(places[0].name)
    if not alive or (first and first.kind in HOPELESS):
        return first
    evidences, unseen = [], []
    patience = HANG if len(alive) + len(failures) == len(places) else HANG / 3  # it hung already
    runner.start_clock()
    for i, world in enumerate(alive):
        progress.step(i, len(alive))
        if runner.why and world.name in TWINS:
            continue
        found = _evidence(runner, world, want, len(alive) - i, patience)
        if isinstance(found, Mark):
            failures[world.name] = found
            if found.kind == "endless":
                break
        (unseen if found is None else evidences).append(found)
    evidences = [e for e in evidences if not isinstance(e, Mark)]
    return _judged(evidences, failures, unseen, runner, want)


def _first_runs(runner, places):
    """({name: Mark}, the other worlds): those in which one ordinary run already fails.

    After a run that had to be stopped by force no more worlds are tried.
    """
    failures, alive = {}, []
    for world in places:
        try:
            within(HANG, runner.run, world, default_rng(7))
            alive.append(world)
        except BaseException as error:
            failures[world.name] = failed(error, world)
            if isinstance(error, TimeoutError):
                break
    return failures, alive


def _evidence(runner, world, want, worlds_left=1, patience=HANG):
    """The Evidence of this world, or a Mark if it fails there; None if time was up."""
    law = joint(want.target(world), world.prompt, world.n_new, want.end)
    try:
        return within(patience, runner.examine, world, law, worlds_left,
                      since=lambda: runner.began)
    except BaseException as error:
        return failed(error, world)


def _judged(evidences, failures, unseen, runner, want):
    off = {e.world.name: distance(e) for e in evidences}
    wrong = [e for e in evidences if off[e.world.name] > 0]
    how = _how(evidences)
    if wrong:
        tv = max(off.values())
        more = _evidence(runner, again(want.end), want)
        if isinstance(more, Evidence):
            evidences, wrong = [*evidences, more], wrong + ([more] if distance(more) else [])
        found = wrong_mark(evidences, wrong, tv, want)
        found.tv, found.how = tv, how
        return found
    found = failed_somewhere(failures) if failures else odd(runner)
    found = (found or on_the_boundary(runner, want) or too_slow(evidences, unseen)
             or _right(evidences, want))
    found.how, found.tv = how, 0.0 if found.lossless else math.nan
    return found


def distance(evidence):
    """The total variation from what is wanted; 0.0 where it is equal, or a sample does not tell."""
    tv = min(1.0, total_variation(evidence.law, evidence.wanted))
    if evidence.exact:
        return tv if tv > EQUAL else 0.0
    if any(evidence.wanted.get(x, 0.0) == 0 for x in evidence.law):
        return tv
    tail = smallest_tail(evidence.halves, evidence.wanted)
    return tv if tail.chance < ALARM / tail.of else 0.0


def _how(evidences):
    exact = [e for e in evidences if e.exact]
    parts = []
    if exact:
        parts.append(f"exact, {sum(e.size for e in exact):,} paths in {len(exact)} settings")
    sampled = [e for e in evidences if not e.exact]
    if sampled:
        one = max(sampled, key=lambda e: e.size)
        seen = smallest_distance(one.wanted, one.size, ALARM)
        parts.append(f"sampled, n = {one.size:,} (off by {seen:.2f} would be seen), since "
                     f"{one.why_sampled}")
    return "; ".join(parts)


def _right(evidences, want):
    kind = manner(evidences, want)
    reason, calls = CATALOGUE[kind].reason, calls_a_round(evidences)
    if kind == "right" and all(len(e.wanted) == 1 for e in evidences):
        reason = GREEDY
    if calls > 1:
        reason += (f" It asks the target {calls} times a round. One call on the text and the "
                   "guesses gives all rows, and that call is what the round is meant to save.")
    return Mark(kind, "", reason, ok=True, lossless=True)
