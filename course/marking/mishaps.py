"""Marks for what no law shows: a crash, a hang, a wrong length, a changed argument, other
randomness."""
import contextlib
import inspect
import itertools
import math
import traceback
from dataclasses import dataclass, replace

from course.chooser import Chooser
from course.marking.answers import Fault, plain, shown
from course.marking.examine import ENOUGH, OTHER
from course.marking.limits import Interrupt, within
from course.marking.values import UNTOUCHED
from course.marking.worlds import boundary
from course.mistakes import CATALOGUE

HANG = 4  # seconds for one run, which takes a thousandth of a second
OTHER_SOURCE = ("The law looks right, but your function draws from another source than its rng, or "
                "seeds one. Then nobody can repeat a run: draw from rng alone.")
P_IS_Q = {"draft = target", "one-hot", "three guesses", "a late guess, γ = 2",
          "a late guess, γ = 3"}  # here some rows of p are rows of q
ZEROS = {"zeros", "one-hot", "three guesses", "end, two guesses"}  # here some p of a guess is 0


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


def misfit(fn, names):
    """The Mark of what cannot be called with these arguments; None if it can, or does not tell."""
    if fn is None or fn is ... or isinstance(fn, str):
        return Mark("no answer yet", "",
                    "No answer yet: put your answer in its place.")
    if not callable(fn):
        return Mark("wrong-type", "numbers",
                    f"{shown(fn)} is no function. Give the function itself.")
    with contextlib.suppress(ValueError):  # it does not tell
        signature = inspect.signature(fn)
        end = signature.parameters.get("end")
        named = {"end": 0} if end and "end" not in names and end.default is end.empty else {}
        try:
            signature.bind(*names, **named)
        except TypeError as error:
            return Mark("wrong-arguments", "numbers", "Your function is called with "
                        f"({', '.join(names)}), and does not take that: {error}.")
    return None


def failed(error, world):
    """The Mark of a run that raised."""
    if isinstance(error, KeyboardInterrupt):
        raise error
    if is_blank(error):
        return Mark("no answer yet", "", UNTOUCHED)
    if isinstance(error, Fault) and error.kind != "endless":
        return Mark(error.kind, error.family, error.reason)
    at = f"With γ = {world.gamma} and n_new = {world.n_new} ({world.name})"
    if isinstance(error, (Fault, TimeoutError)):
        end = "it was stopped after many calls of the models" if isinstance(error, Fault) else error
        return Mark("endless", "stopping", f"{at} your function never ends; {end}. Is there a loop "
                    "in which nothing is written?")
    return Mark("crash", "numbers", f"{at} your function fails: {said(error)}.")


def is_blank(error):
    """Did the function stumble over a place that is still to be filled?"""
    return isinstance(error, NotImplementedError) or (
        isinstance(error, TypeError) and "ellipsis" in str(error))


def said(error):
    """An error in one line, with the place in the learner's code as far as the traceback tells."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "site-packages" not in
              f.filename and "course" not in f.filename.replace("\\", "/").split("/")[-3:]]
    where = f" (line {frames[-1].lineno}, in {frames[-1].name})" if frames else ""
    try:
        what = plain(str(error))[:200].rstrip(".")
    except Exception:  # its own text fails
        what = ""
    name = "KeyboardInterrupt" if isinstance(error, Interrupt) else type(error).__name__
    return ": ".join(filter(None, [name, what])) + where


def heard(ear, found):
    """found, with a word on what was printed meanwhile, if it is a Mark."""
    if isinstance(found, Mark) and ear.lines > 5 and found.kind != "no answer yet":
        return replace(found, reason=f"{found.reason} Your function printed {ear.lines:,} lines "
                       "while it was checked; none is shown. Take the print out.")
    return found


def failed_somewhere(failures):
    """The Mark where the law is right in some worlds and there is no law in others."""
    names, kinds = set(failures), {f.kind for f in failures.values()}
    marks = list(failures.values())
    worst = next((f for f in marks if f.kind == "endless"), marks[0])
    if kinds == {"crash"}:
        worst.kind, worst.family, worst.lossless = _special_case(names)
    if worst.kind == "no answer yet":
        return Mark("wrong-type", "numbers", f"In some settings ({'; '.join(failures)}) your "
                    "function gives no answer. Is there a way through it without a return, or a "
                    "place that is still to be filled?")
    if worst.kind in CATALOGUE and (worst.kind != "endless" or names == {"no guess"}):
        worst.reason = f"{CATALOGUE[worst.kind].reason} {worst.reason}"
    return worst


def _special_case(names):
    """(kind, family, lossless) of a function that fails in these worlds alone."""
    if names <= {"no guess"}:
        return "gamma-zero", "numbers", True
    if "draft = target" in names and names <= P_IS_Q:
        return "eager-residual", "numbers", True
    if "zeros" in names and names <= ZEROS:
        return "log-of-zero", "numbers", False
    if names == {"nothing to write"}:
        return "nothing-to-write", "stopping", True
    return "crash", "numbers", False


def odd(runner):
    """The Mark of a function whose law is right and which does something else wrong."""
    if "long" in runner.odd:
        return Mark("too-many-tokens", "stopping", CATALOGUE["too-many-tokens"].reason)
    if "changed" in runner.odd:
        return Mark("changed-argument", "rollback", "The law is right, but your function changes "
                    "the list of tokens it was given, and the caller still needs it. Work on a "
                    "copy: tokens = list(tokens).", lossless=True)
    if runner.why == OTHER:
        return Mark("other-source", "randomness", OTHER_SOURCE, lossless=True)
    if "remembers" in runner.why:
        return Mark("remembers", "randomness", "The law looks right, but the same coins give two "
                    "different texts: your function keeps something from an earlier call.",
                    lossless=True)
    return None


def too_slow(evidences, unseen):
    """The Mark of a right law of which little was seen; None where it was enough."""
    if unseen or any(e.why_sampled and e.size < min(ENOUGH, e.world.runs) for e in evidences):
        return Mark("too-slow", "stopping", "What the check has seen of your function is right, "
                    "but it is slow, and only a part could be looked at. Is there a sleep in it, "
                    "or is something large made anew in every call?", lossless=True)
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
