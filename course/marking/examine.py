"""Run a learner's function in a world and write down what it did: evidence for a diagnosis.

Exactly where it can be enumerated, else by sampling, and the Evidence says which. Beside the law it
keeps a Trace of every path: which texts the models were asked about, and how many draws had been
made by then. Left out: what stands in the learner's code; only what it does is looked at.
"""
import operator
from collections import Counter
from typing import NamedTuple

import numpy as np

from course.chooser import Chooser
from course.exact import NotEnumerable, TooManyPaths, law as exact_law
from course.marking.limits import Budget
from course.marking.values import unanswered
from course.models import as_tokens
from course.watch import other_sources

MOST_CALLS = 600  # of the models in one run: an honest run makes 30, a very unlucky one more
MOST_PATHS = 2_500
OTHER = "the sampler also draws from a source that is not its rng"
SLOW = "it takes too long to follow every path"
RUNS = 8_000  # where a world must be sampled
LCG = 0x2360ED051FC65DA44385DF649FCCF645  # numpy's PCG64 multiplies its state by this


class Fault(BaseException):
    """Something is wrong with one run that no law shows. No Exception: learners catch those."""

    def __init__(self, kind, family, reason):
        super().__init__(reason)
        self.kind, self.family, self.reason = kind, family, reason


class OutOfTime(BaseException):
    """This world has had its time."""


class Trace(NamedTuple):
    """One run: what was written, with what chance, and [(who, text, draws so far)] of every call.
    """

    new: tuple
    chance: float
    asked: list
    draws: int  # in the whole run
    drawn: int  # the mark at its end


class Evidence(NamedTuple):
    """What a function did in a world."""

    world: NamedTuple
    law: dict  # of the new tokens
    wanted: dict
    exact: bool
    size: int  # paths, or runs
    halves: list  # Counters of the two halves of the runs
    traces: list
    why_sampled: str = ""


class Runner:
    """Runs call(world, target, draft, prompt, rng) in worlds, and remembers what was odd."""

    def __init__(self, call, end=None):
        self.call, self.end = call, end
        self.odd = set()  # "long": too many tokens, "changed": the prompt was changed
        self.traces, self.budget = {}, None

    def run(self, world, rng):
        """The new tokens of one run, cut at n_new; its Trace is kept."""
        if self.budget and self.budget.left() < 0:
            raise OutOfTime
        asked, prompt, start = [], list(world.prompt), drawn(rng)
        counting = type(rng) is not Chooser or rng.numbers is None
        result = self.call(world, self._asking("target", world.target, asked, rng),
                           self._asking("draft", world.draft, asked, rng), prompt, rng)
        if tuple(prompt) != world.prompt:
            self.odd.add("changed")
        new = self._new_tokens(result, world)
        if counting:
            self._note(rng, new, asked, start)
        return new

    def _asking(self, name, model, asked, rng):
        def answer(tokens):
            tokens = as_tokens(tokens)
            if len(asked) >= MOST_CALLS:
                raise Fault("endless", "stopping", "")
            asked.append((name, tuple(tokens), drawn(rng)))
            return model(tokens)
        return answer

    def _new_tokens(self, result, world):
        tokens, n = as_ints(result), len(world.prompt)
        if tokens[:n] != world.prompt:
            if len(tokens) == world.n_new:
                raise Fault("prompt-missing", "stopping",
                            "You return the new tokens alone. Return the "
                            "prompt, followed by the new tokens.")
            raise Fault("prompt-changed", "rollback",
                        f"The prompt was {list(world.prompt)}, and your "
                        f"text begins with {list(tokens[:n])}. The prompt stays as it is.")
        new = tokens[n:]
        if len(new) > world.n_new:
            self.odd.add("long")
        return new[:world.n_new]

    def _note(self, rng, new, asked, start):
        exact = type(rng) is Chooser
        self.traces[rng.path if exact else len(self.traces)] = Trace(
            new, rng.chance if exact else 1.0, asked, draws_between(start, drawn(rng)), drawn(rng))

    def examine(self, world, wanted, seconds, why_sampled=""):
        """The Evidence in this world, sampled from the start if why_sampled says so."""
        if not why_sampled:
            self.traces, self.budget = {}, Budget(seconds)
            try:
                found = exact_law(lambda rng: self.run(world, rng), MOST_PATHS)
                return Evidence(world, dict(found), wanted, True, found.paths, [],
                                list(self.traces.values()))
            except (NotEnumerable, TooManyPaths) as error:
                other = "remembers" in str(error) and self.uses_other_source(world)
                why_sampled = OTHER if other else str(error)
            except OutOfTime:
                why_sampled = SLOW
            except Fault as fault:  # every coin against it: in a sample that does not happen
                if fault.kind != "endless":
                    raise
                why_sampled = "a loop draws until something happens"
        return self._sampled(world, wanted, seconds, why_sampled)

    def uses_other_source(self, world):
        """Is a source of randomness used that is not the rng?"""
        with other_sources() as used:
            for _ in range(3):
                self.run(world, Chooser((), iter(())))  # every coin falls on 0.5
        return used()

    def _sampled(self, world, wanted, seconds, why_sampled):
        self.traces, self.budget, budget = {}, None, Budget(seconds)
        rng = np.random.default_rng(20_26)
        halves, n = [Counter(), Counter()], 0
        while n < RUNS and (n < 200 or budget.left() > 0):
            halves[n % 2][self.run(world, rng)] += 1
            n += 1
        seen = sum(halves, Counter())
        return Evidence(world, {x: k / n for x, k in seen.items()}, wanted, False, n, halves,
                        list(self.traces.values()), why_sampled)


def as_ints(result):
    """result as a tuple of ints. Raises Fault for anything that is not a list of whole numbers."""
    if unanswered(result):
        raise Fault("no answer yet", "", "No answer yet: your function returns nothing.")
    if isinstance(result, (str, bytes, dict)) or not np.iterable(result):
        raise Fault("wrong-type", "numbers",
                    f"Your function returned {result!r:.60}. Return a list "
                    "of tokens, which are ints.")
    try:
        return tuple(operator.index(x.item() if getattr(x, "ndim", 1) == 0 else x) for x in result)
    except TypeError:
        raise Fault("wrong-type", "numbers",
                    f"Your function returned {result!r:.60}. A token is an "
                    "int, and a text is a flat list of them.") from None


def drawn(rng):
    """A mark of how much has been drawn so far; draws_between tells two marks apart."""
    if type(rng) is Chooser:
        return len(rng.coins) + len(rng.picks)
    state = getattr(getattr(rng, "bit_generator", None), "state", {}).get("state", {})
    return (state.get("state", 0), state.get("inc", 0)) if isinstance(state, dict) else (0, 0)


def draws_between(first, last, most=64):
    """The number of draws between two marks; for a real generator the steps that its state took."""
    if isinstance(first, int):
        return last - first
    (state, inc), n = first, 0
    while state != last[0] and n < most:
        state, n = (state * LCG + inc) % 2**128, n + 1
    return n
