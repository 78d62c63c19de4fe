"""From evidence to a reason: which wrong idea is it, and where does it first go wrong?

First the laws: which rule of the catalogue has the same law in every world? Then, where none has it
or several have, what the function did: from which law the guess came, how often each guess was
kept, what stood in its place, where the first wrong token was written, how many coins it took.
"""
import functools
from typing import NamedTuple

from course.exact import NotEnumerable, TooManyPaths, joint
from course.marking.anatomy import PLACES, Finding, first_off
from course.marking.deeds import by_deeds
from course.marking.worlds import AGAIN, EXAMPLE, FOUR, worlds
from course.mistakes import ALIASES, CATALOGUE, law_of
from course.stats import smallest_tail, total_variation

SAME = 1e-9  # laws of the same rule differ by rounding alone
LIKELY = 1e-4  # a sample with a smaller tail is not taken for this rule's
TELLING = ["one guess, two tokens", FOUR, AGAIN, EXAMPLE, "no guess", "one guess", "two guesses",
           "zeros", "end", "end, two guesses"]  # all rules run in the first: it is cheap, and tells

FAMILY_SAYS = {
    "unknown": "The law is not the one that is wanted.",
    "residual": "What you draw after a rejection is not what is owed, max(p − q, 0) scaled.",
    "acceptance": "Guesses are not kept with probability min(1, p / q).",
    "proposal": "The q you judge by is not the law the guess was drawn from.",
    "target": "You judge by another law than the one that is wanted.",
    "position": "A guess is judged by a row that belongs to another place, or by none.",
    "bonus": "The bonus token does not follow the target's last row.",
    "rollback": "A round does not begin with the text as it stands: after a rejection the later "
                "guesses count as never made, and every token that is written must be read.",
    "randomness": "Draws that must be independent are not.",
    "stopping": "The text does not end where it should: right after the first end token.",
    "numbers": "The rule holds, but not in a special case: look at zeros, at p = q, at γ = 0."}


class Wanted(NamedTuple):
    """What the learner's function is held against: wanted(model) is a model, or wanted is None."""

    wanted: object
    end: int | None

    def target(self, world):
        return self.wanted(world.target) if self.wanted else world.target

    def drafts(self, world):
        """The laws that a draft may rightly have."""
        return [world.draft, self.wanted(world.draft)] if self.wanted else [world.draft]

    def p_after(self, world):
        return lambda new: self.target(world)([*world.prompt, *new])[-1]


@functools.lru_cache(maxsize=4096)
def _law(name, world, end):
    try:
        return law_of(CATALOGUE[name], world.target, world.draft, world.prompt, world.n_new,
                      world.gamma, end, max_paths=2_000)
    except (NotEnumerable, TooManyPaths, ValueError):
        return None


def _laws(name, world, want):
    """The laws a rule of the catalogue may have in this world."""
    if not want.wanted:
        return [None if CATALOGUE[name].level == "wanted" else _law(name, world, want.end)]
    found = []
    for draft in want.drafts(world):
        plain = CATALOGUE[name].level == "wanted"
        target = world.target if plain else want.target(world)
        try:
            found.append(law_of(CATALOGUE[name], target, draft, world.prompt, world.n_new,
                                world.gamma, want.end, want.wanted, 2_000))
        except (NotEnumerable, TooManyPaths, ValueError):
            found.append(None)
    return found


def fits(evidence, law):
    """May this law be the one behind the evidence?"""
    if law is None:
        return False
    if evidence.exact:
        return total_variation(evidence.law, law) < SAME
    if any(law.get(x, 0.0) == 0 for x in evidence.law):
        return False
    tail = smallest_tail(evidence.halves, law)
    return tail.chance * tail.of > LIKELY


def by_law(evidences, wrong, want):
    """The ids of the catalogue whose laws fit the evidence, of which `wrong` are the wrong worlds.
    """
    names = [e.world.name for e in wrong]
    order = [*TELLING, *(name for name in names if name not in TELLING)]
    shown = sorted((e for e in evidences if e.world.name in order),
                   key=lambda e: order.index(e.world.name))
    pool = [name for name, entry in CATALOGUE.items() if not entry.ok]
    for evidence in shown:
        pool = [name for name in pool
                if any(fits(evidence, law) for law in _laws(name, evidence.world, want))]
    return pool if any(e.world.name in names for e in shown) else []


def why_wrong(evidences, wrong, want):
    """(Finding, where it goes wrong) for a function whose law is wrong in the worlds `wrong`."""
    off, evidence = _earliest(wrong, want)
    pool = by_law(evidences, wrong, want)
    seen = by_deeds(off, evidence, evidences, wrong, want)
    if pool:
        kind = seen.kind if seen.kind in pool else pool[0]
        return Finding(ALIASES.get(kind, kind), CATALOGUE[kind].family), off, evidence
    return seen, off, evidence


def _earliest(wrong, want):
    """The earliest Off in the evidence that is wrong, and the Evidence that shows it."""
    order = list(PLACES)
    telling = sorted(wrong, key=lambda e: e.world.name == EXAMPLE)  # there too much coincides
    offs = [(first_off(e, want.p_after(e.world)), e) for e in telling if e.world.gamma]
    return min(((off, e) for off, e in offs if off),
               key=lambda pair: order.index(pair[0].place), default=(None, telling[0]))


def smallest(name, end=2):
    """(world, text, probability, wanted) of the first world in which this rule's law is wrong.

    None for a rule whose law is right wherever it has one.
    """
    entry = CATALOGUE[name]
    want = Wanted(None, end if entry.id.startswith("end-") else None)
    for world in worlds(want.end):
        law = _law(name, world, want.end)
        right = joint(world.target, world.prompt, world.n_new, want.end)
        if law is not None and total_variation(law, right) > SAME:
            text = max(sorted(law), key=lambda x: law[x] - right.get(x, 0.0))
            return world, text, law[text], right.get(text, 0.0)
    return None
