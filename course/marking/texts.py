"""Marks a function that writes text: its law in every world, then why it is wrong, or how right.

One policy: exactly where every path can be followed, by sampling where not, and the mark says
which. A crash, a hang and a wrong length are answers too, each with its own sentence. Nothing is
raised.
"""
import math

import numpy as np

from course.exact import joint
from course.marking.anatomy import PLACES
from course.marking.diagnose import FAMILY_SAYS, Wanted, why_wrong
from course.marking.examine import SLOW, Runner
from course.marking.limits import Budget, Progress, quiet, within
from course.marking.manner import calls_a_round, manner
from course.marking.mishaps import HANG, Mark, failed, failed_somewhere, odd, on_the_boundary
from course.marking.worlds import EXAMPLE, EXAMPLE_P, EXAMPLE_Q, worlds
from course.mistakes import CATALOGUE
from course.stats import smallest_distance, smallest_tail, total_variation

SECONDS, LOOKING_UP = 2.8, 1.2  # for running the function, and for finding its rule
EQUAL = 1e-10  # laws nearer than this are equal
DUSTY = 1e-6  # nearer than this smells of a small number added somewhere
ALARM = 1e-6
TWINS = {"one guess, two tokens"}  # the same models are run with more tokens


def mark(call, wanted=None, end=None, places=None):
    """The Mark of call(world, target, draft, prompt, rng), which returns the prompt and new tokens.

    In all the worlds, or in `places` alone.
    """
    progress, budget = Progress(), Budget(SECONDS)
    with quiet() as ear:
        found = _mark(call, Wanted(wanted, end), budget, progress, places or worlds(end))
    progress.close()
    if ear.lines > 5 and found.kind != "no answer yet":
        found.reason += (f" Your function printed {ear.lines:,} lines while it was checked; "
                         "none is shown. Take the print out.")
    return found


def _mark(call, want, budget, progress, places):
    runner = Runner(call, want.end)
    failures = _first_runs(runner, places)
    first = failures.get(places[0].name)
    hopeless = {"no answer yet", "endless"}
    if first and (first.kind in hopeless or len(failures) == len(places)):
        return first
    evidences = []
    for i, world in enumerate(w for w in places if w.name not in failures):
        progress.step(i, len(places))
        found = _evidence(runner, world, want, budget, evidences)
        if isinstance(found, Mark):
            failures[world.name] = found
            if found.kind == "endless":
                break
        elif found:
            evidences.append(found)
    return _judged(evidences, failures, runner, want)


def _first_runs(runner, places):
    """{name: Mark} of the worlds in which one ordinary run already fails."""
    failures = {}
    for world in places:
        if any(f.kind == "endless" and "stopped" in f.reason for f in failures.values()):
            break
        try:
            within(HANG, runner.run, world, np.random.default_rng(7))
        except BaseException as error:
            failures[world.name] = failed(error, world)
    return failures


def _evidence(runner, world, want, budget, before):
    """The Evidence of this world, or a Mark if it fails there; None where it would add nothing.

    No kind of world is left out for want of time: what cannot be followed is sampled, if briefly.
    """
    why = next((e.why_sampled for e in before if not e.exact and e.why_sampled != SLOW
                and "max_paths" not in e.why_sampled), "")
    if why and world.name in TWINS:
        return None
    law = joint(want.target(world), world.prompt, world.n_new, want.end)
    share = world.share if why or budget.left() < 0 else max(budget.left() / 3, world.share)
    try:
        return within(6 * share + HANG, runner.examine, world, law, share, why)
    except BaseException as error:
        return failed(error, world)


def _judged(evidences, failures, runner, want):
    off = {e.world.name: distance(e) for e in evidences}
    wrong = [e for e in evidences if off[e.world.name] > 0]
    how = _how(evidences)
    if wrong:
        tv = max(off.values())
        found = _wrong(evidences, wrong, tv, want)
        found.tv, found.how = tv, how
        return found
    found = failed_somewhere(failures) if failures else odd(runner, evidences)
    found = found or on_the_boundary(runner, want) or _right(evidences, want)
    found.how, found.tv = how, 0.0 if found.lossless else math.nan
    return found


def distance(evidence):
    """The total variation from what is wanted; 0.0 where it is equal, or a sample does not tell."""
    tv = total_variation(evidence.law, evidence.wanted)
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


def _wrong(evidences, wrong, tv, want):
    if all(e.exact for e in wrong) and tv < DUSTY:
        return Mark("epsilon", "numbers",
                    f"Your law is off by {tv:.1g}: nearly right, not exact. Is a "
                    "small number added to a denominator, or a number rounded to float32? Compare "
                    "u · q with p, which needs no division.")
    if any(len(x) < e.world.n_new for e in wrong for x in e.law) and want.end is None:
        return Mark("too-few-tokens", "stopping", CATALOGUE["too-few-tokens"].reason)
    finding, off, evidence = why_wrong(evidences, wrong, want, Budget(LOOKING_UP))
    if finding.kind in CATALOGUE:
        reason = CATALOGUE[finding.kind].reason
    else:
        reason = FAMILY_SAYS.get(finding.family, "The law is not the target's.")
    return Mark(finding.kind, finding.family, f"{reason} {_where(off, evidence, wrong)}".strip())


def _where(off, evidence, wrong):
    """The smallest counterexample, from the learner's own function."""
    example = next((e for e in wrong if e.world.name == EXAMPLE), None)
    if example:
        text = max(sorted(example.law), key=lambda x: example.law[x] - example.wanted.get(x, 0.0))
        p, q = (", ".join(map(str, law)) for law in (EXAMPLE_P, EXAMPLE_Q))
        what = f"token {text[0]}" if text else "nothing"
        return (f"For p = ({p}) and q = ({q}) yours writes {what} with probability "
                f"{example.law[text]:.3f}, and the target wants "
                f"{example.wanted.get(text, 0.0):.3f}.")
    if off is None:
        law, wanted = evidence.law, evidence.wanted
        text = max(sorted(law), key=lambda x: law[x] - wanted.get(x, 0.0))
        return (f"With γ = {evidence.world.gamma} the text {list(text)} comes with probability "
                f"{evidence.law[text]:.3f}, and the target wants "
                f"{evidence.wanted.get(text, 0.0):.3f}.")
    before = f"after the new tokens {list(off.before)}, " if off.before else ""
    return (
            f"It shows first with γ = {evidence.world.gamma}, at {PLACES[off.place]}: "
            f"{before}token {off.token} comes with probability {off.got:.3f}, and the target "
            f"wants {off.wanted:.3f}.")


def _right(evidences, want):
    kind = manner(evidences, want)
    reason, calls = CATALOGUE[kind].reason, calls_a_round(evidences)
    if calls > 1:
        reason += (
                   f" It asks the target {calls} times a round. One call on the text and the "
                   "guesses gives all rows, and that call is what the round is meant to save.")
    return Mark(kind, "", reason, ok=True, lossless=True)
