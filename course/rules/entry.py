"""What an entry of the catalogue is, and short ways to write the usual ones."""
from collections.abc import Callable
from typing import NamedTuple

from course.rules.loops import looped
from course.rules.rounds import Round, draw


class Mistake(NamedTuple):
    """One entry. level says what rule is: a "round", a "loop", or "wanted": rule(wanted) is a
    round."""

    id: str
    family: str  # "" for a right rule
    rule: Callable
    reason: str  # to the learner, about this very answer
    report: str = "none known"  # owner/repository#number on github.com
    level: str = "round"
    lossless: bool = False
    ok: bool = False

    def generate(self, target, draft, prompt, n_new, gamma, rng, end=None):
        """The rule as a function by the contract of generate."""
        if self.level == "loop":
            return self.rule(target, draft, prompt, n_new, gamma, rng, end)
        return looped(self.rule, target, draft, prompt, n_new, gamma, rng, end)


def accept_if(test):
    return Round(keep=test)


def redraw_from(law_of):
    return Round(redraw=lambda x, p, q, rng: [draw(law_of(p, q), rng)])
