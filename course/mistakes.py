"""The catalogue of wrong rules, and of rules that look wrong and are right.

Most wrong rules differ from speculate in one place: what is guessed and which q is believed, which
rows of p are looked at, the test, what is drawn after a rejection, the bonus, where the round
stops. So an entry is a Round with one part exchanged; some exchange the loop around the rounds.
Every entry says why it fails, on the learner's own terms, and where the fault was reported in
public. A link names a report of the same kind, not a project whose code is copied: all rules are
written here. Left out: trees, batches and caches. Parameters (a floor, a temperature, a threshold)
are samples of their kind; course.marking.diagnose recognises the kind at other values.
"""
from course.exact import generation_law, law
from course.rules.entry import Mistake
from course.rules.loops import looped
from course.rules.reading import BONUS, POSITION, PROPOSAL, TARGET
from course.rules.replacing import ACCEPTANCE, RESIDUAL
from course.rules.right import RIGHT_ONES
from course.rules.rounds import RIGHT, Round
from course.rules.running import NUMBERS, RANDOMNESS, ROLLBACK, STOPPING

__all__ = ["ALIASES", "CATALOGUE", "FAMILIES", "RIGHT", "Mistake", "Round", "law_of", "looped"]

FAMILIES = ("residual", "acceptance", "proposal", "target", "position", "bonus", "rollback",
            "randomness", "stopping", "numbers")
CATALOGUE = {entry.id: entry for entry in [
    *RIGHT_ONES, *RESIDUAL, *ACCEPTANCE, *PROPOSAL, *TARGET, *POSITION, *BONUS, *ROLLBACK,
    *RANDOMNESS, *STOPPING, *NUMBERS]}
ALIASES = {"stale-draft-fresh-q-always": "stale-draft-fresh-q", "stale-draft-always": "stale-draft"}


def law_of(entry, target, draft, prompt, n_new, gamma, end=None, wanted=None, max_paths=20_000):
    """The exact Law of the tokens that an entry writes."""
    rule = entry.rule(wanted) if entry.level == "wanted" else entry.rule
    if entry.level != "loop":
        return generation_law(rule, target, draft, prompt, n_new, gamma, end, max_paths)
    return law(lambda rng: rule(target, draft, list(prompt), n_new, gamma, rng, end)[len(prompt):],
               max_paths)
