"""Marks for what no law shows: a crash, a hang, a wrong length, a changed argument, other
randomness."""
import itertools
import math
import traceback
from dataclasses import dataclass

from course.chooser import Chooser
from course.marking.examine import Fault
from course.marking.limits import within
from course.marking.values import UNTOUCHED
from course.marking.worlds import boundary
from course.mistakes import CATALOGUE

HANG = 1.5  # seconds for one run, which takes a thousandth of a second
P_IS_Q = {"draft = target", "one-hot", "three guesses"}  # here some rows of p are rows of q


@dataclass
class Mark:
    """What course.check makes a Verdict of."""

    kind: str
    family: str
    reason: str
    ok: bool = False
    lossless: bool = False
    tv: float = math.nan
    how: str = ""


def failed(error, world):
    """The Mark of a run that raised."""
    if isinstance(error, KeyboardInterrupt):
        raise error
    at = f"With γ = {world.gamma} and n_new = {world.n_new} ({world.name})"
    if is_blank(error):
        return Mark("no answer yet", "", UNTOUCHED)
    if isinstance(error, Fault) and error.kind != "endless":
        return Mark(error.kind, error.family, error.reason)
    if isinstance(error, (Fault, TimeoutError)):
        end = "It was stopped after many calls of the models" if isinstance(error, Fault) else str(
            error).capitalize()
        return Mark("endless", "stopping",
                    f"{at} your function never ends. {end}: is there a loop in "
                    "which nothing is written?")
    return Mark("crash", "numbers", f"{at} your function fails: {type(error).__name__}: "
                f"{str(error)[:200]}{line_of(error)}.")


def is_blank(error):
    """Did the function stumble over a place that is still to be filled?"""
    return isinstance(error, NotImplementedError) or (
        isinstance(error, TypeError) and "ellipsis" in str(error))


def line_of(error):
    """Where in the learner's code, as far as the traceback tells."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "site-packages" not in
              f.filename and "course" not in f.filename.replace("\\", "/").split("/")[-2:]]
    return f" (line {frames[-1].lineno}, in {frames[-1].name})" if frames else ""


def failed_somewhere(failures):
    """The Mark where the law is right in some worlds and there is no law in others."""
    names, kinds = set(failures), {f.kind for f in failures.values()}
    marks = list(failures.values())
    worst = next((f for f in marks if f.kind == "endless"), marks[0])
    if kinds == {"crash"} and names <= {"no guess"}:
        worst.kind, worst.lossless = "gamma-zero", True
    elif kinds == {"crash"} and "draft = target" in names and names <= P_IS_Q:
        worst.kind, worst.lossless = "eager-residual", True
    elif kinds == {"crash"} and names == {"nothing to write"}:
        worst.kind, worst.family, worst.lossless = "nothing-to-write", "stopping", True
    if worst.kind in CATALOGUE and (worst.kind != "endless" or names == {"no guess"}):
        worst.reason = f"{CATALOGUE[worst.kind].reason} {worst.reason}"
    return worst


def odd(runner, evidences):
    """The Mark of a function whose law is right and which does something else wrong."""
    if "long" in runner.odd:
        return Mark("too-many-tokens", "stopping", CATALOGUE["too-many-tokens"].reason)
    if "changed" in runner.odd:
        return Mark("changed-argument", "rollback",
                    "The law is right, but your function changes the "
                    "list of tokens it was given, and the caller still needs it. Work on a copy: "
                    "tokens = list(tokens).", lossless=True)
    why = next((e.why_sampled for e in evidences if not e.exact), "")
    if "not its rng" in why:
        return Mark("other-source", "randomness",
                    "The law looks right, but your function draws from "
                    "another source than its rng. Then nobody can repeat a run: draw from rng "
                    "alone.",
                    lossless=True)
    if "remembers" in why:
        return Mark("remembers", "randomness", "The law looks right, but the same coins give two "
                    "different texts: your function keeps something from an earlier call.",
                    lossless=True)
    return None


def on_the_boundary(runner, want):
    """The Mark of a test that keeps a forbidden token when the coin is exactly 0."""
    world = boundary(want.end)
    try:
        zeros = Chooser((), itertools.repeat(0.0))
        new = within(HANG, runner.run, world, zeros)
    except BaseException:
        return None
    if not new or want.target(world)(list(world.prompt))[-1][new[0]] > 0:
        return None
    return Mark("accept-boundary", "acceptance", CATALOGUE["accept-boundary"].reason, lossless=True)
