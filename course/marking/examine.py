"""Run a learner's function in a world and write down what it did: evidence for a diagnosis.

Exactly where it can be enumerated, else by sampling, and the Evidence says which. How much is
looked at is counted in paths and runs, never in seconds, so a busy machine says the same; only a
function that is slow by itself meets the clock. Beside the law a Trace of every path is kept: which
texts the models were asked about, and how many draws had been made by then. Left out: what stands
in the learner's code; only what it does is looked at.
"""
import time
from collections import Counter, deque
from typing import NamedTuple

from numpy.random import default_rng

from course.chooser import Chooser
from course.exact import NotEnumerable, TooManyPaths, law as exact_law
from course.marking.answers import Fault, as_ints
from course.marking.draws import drawn, draws_between
from course.marking.limits import Budget
from course.models import as_tokens
from course.watch import other_sources

MOST_CALLS = 600  # of the models in one run: an honest run makes 30, a very unlucky one more
FEW_PATHS, MOST_PATHS = 400, 2_000  # in a world of one token; in a larger one
FEWEST_PATHS, ENOUGH_WORK = 100, 120_000  # in any world; calls and draws before it is so few
ALL_WORK = 350_000  # calls and draws before sampling becomes short too
SECONDS = 15.0  # for all worlds, far away; a usual function needs one
SLOW_RUN, SLOW_SECONDS = 0.005, 8.0  # a usual run takes a tenth of it; for a function that is slow
FEWEST_RUNS, ENOUGH = 20, 200  # fewer tell nothing; as many are made in any world
MANY_TOKENS = 100  # beyond n_new: no round of a usual size
OTHER = "the sampler also draws from a source that is not its rng"
SLOW = "it takes too long to follow every path"
MANY = "its coins can fall in too many ways to follow each"
LOOP = "a loop draws until something happens"


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

    def __init__(self, call):
        self.call, self.odd = call, set()  # odd: "long", too many tokens; "changed", the prompt was
        self.traces, self.why, self.exact = {}, "", False
        self.times, self.began, self.work = deque(maxlen=20), 0.0, 0
        self.start_clock()

    def start_clock(self):
        self.budget, self.start = Budget(SECONDS), time.monotonic()

    def slow(self):
        """Is no run quick? (On a busy machine most still are.)"""
        return len(self.times) >= 10 and min(self.times) > SLOW_RUN

    def run(self, world, rng):
        """The new tokens of one run, cut at n_new; its Trace is kept."""
        if self.exact and (self.slow() or self.budget.left() < SECONDS / 3):
            raise OutOfTime
        self.began, asked, prompt, start = time.monotonic(), [], list(world.prompt), drawn(rng)
        counting = type(rng) is not Chooser or rng.numbers is None
        result = self.call(world, _asking("target", world.target, asked, rng),
                           _asking("draft", world.draft, asked, rng), prompt, rng)
        self.times.append(time.monotonic() - self.began)
        if tuple(prompt) != world.prompt:
            self.odd.add("changed")
        new = self._new_tokens(result, world)
        if counting:
            self._note(rng, new, asked, start)
        return new

    def _new_tokens(self, result, world):
        tokens, n = as_ints(result), len(world.prompt)
        if tokens[:n] != world.prompt:
            if len(tokens) == world.n_new:
                raise Fault("prompt-missing", "stopping", "You return the new tokens alone. Return "
                            "the prompt, followed by the new tokens.")
            raise Fault("prompt-changed", "rollback", f"The prompt was {list(world.prompt)}, and "
                        f"your text begins with {list(tokens[:n])}. The prompt stays as it is.")
        new = tokens[n:]
        if len(new) > world.n_new + MANY_TOKENS:
            raise Fault("too-many-tokens", "stopping", f"You return {len(new):,} new tokens, and "
                        f"n_new is {world.n_new}.")
        if len(new) > world.n_new:
            self.odd.add("long")
        return new[:world.n_new]

    def _note(self, rng, new, asked, start):
        exact = type(rng) is Chooser
        draws = draws_between(start, drawn(rng))
        self.work += 1 + len(asked) + draws
        self.traces[rng.path if exact else len(self.traces)] = Trace(
            new, rng.chance if exact else 1.0, asked, draws, drawn(rng))

    def examine(self, world, wanted, worlds_left=1):
        """The Evidence in this world; None where time is up before there is any."""
        why = self.why or (SLOW if self.slow() else "")
        try:
            if not why:
                self.traces, self.exact = {}, True
                return self._followed(world, wanted)
        except (NotEnumerable, TooManyPaths, OutOfTime, Fault) as error:
            self.exact = False
            why = self._why_not(error, world)
        finally:
            self.exact = False
        return self._sampled(world, wanted, why, worlds_left)

    def _followed(self, world, wanted):
        found = exact_law(lambda rng: self.run(world, rng), self._limit(world))
        return Evidence(world, dict(found), wanted, True, found.paths, [],
                        list(self.traces.values()))

    def _limit(self, world):
        if world.n_new == 1:
            return FEW_PATHS
        return MOST_PATHS if self.work < ENOUGH_WORK else FEWEST_PATHS

    def _why_not(self, error, world):
        """Why this world must be sampled; self.why, if the reason holds in all of them."""
        if isinstance(error, OutOfTime):
            return SLOW
        if isinstance(error, Fault):
            if error.kind != "endless":
                raise error
            return LOOP  # every coin was against it: in a sample that does not happen
        if isinstance(error, TooManyPaths):
            why = MANY if "max_paths" in str(error) else str(error)
            self.why = "" if why == MANY and world.n_new > 1 else why
            return why
        other = "remembers" in str(error) and self.uses_other_source(world)
        self.why = OTHER if other else str(error)
        return self.why

    def uses_other_source(self, world):
        """Is a source of randomness used that is not the rng?"""
        with other_sources() as used:
            for _ in range(3):
                self.run(world, Chooser((), iter(())))  # every coin falls on 0.5
        return used()

    def _sampled(self, world, wanted, why, worlds_left):
        now = time.monotonic()
        stop = now + (self.start + SLOW_SECONDS - now) / worlds_left
        self.traces, n = {}, 0
        rng, halves = default_rng(20_26), [Counter(), Counter()]
        while n < world.runs and (self.work < ALL_WORK or n < ENOUGH):
            if self.budget.left() < 0 or (self.slow() and time.monotonic() > stop):
                break
            halves[n % 2][self.run(world, rng)] += 1
            n += 1
        if n < FEWEST_RUNS:
            return None
        seen = sum(halves, Counter())
        return Evidence(world, {x: k / n for x, k in seen.items()}, wanted, False, n, halves,
                        list(self.traces.values()), why)


def _asking(name, model, asked, rng):
    """model, which writes every text it is asked about into asked."""
    def answer(tokens):
        tokens = as_tokens(tokens)
        if len(asked) >= MOST_CALLS:
            raise Fault("endless", "stopping", "")
        asked.append((name, tuple(tokens), drawn(rng)))
        return model(tokens)
    return answer
