"""The catalogue of wrong rules: complete, well formed, and each rule wrong (or right) as it says.
"""
import re

import numpy as np
import pytest

from course.exact import generation_law
from course.marking.diagnose import smallest
from course.marking.worlds import EXAMPLE, worlds
from course.mistakes import ALIASES, CATALOGUE, FAMILIES, RIGHT, Mistake, law_of
from course.speculative import speculate
from course.stats import total_variation

NO_LAW = {"shared-noise", "no-replacement", "log-of-zero"}  # real numbers; no bound; a crash


def test_the_unchanged_round_is_speculate():
    for world in worlds():
        if world.n_new:
            a, b = (generation_law(rule, world.target, world.draft, world.prompt, world.n_new,
                                   world.gamma) for rule in (RIGHT, speculate))
            assert total_variation(a, b) < 1e-12


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=lambda e: e.id)
def test_entry_is_well_formed(entry):
    assert isinstance(entry, Mistake) and callable(entry.rule)
    assert entry.family in FAMILIES or (entry.lossless and entry.ok and not entry.family)
    assert entry.level in {"round", "loop", "wanted"}
    assert re.fullmatch(r"[A-Z].{40,}[.?]", entry.reason), "a sentence or two"
    assert not re.search(r"n't|\b(simply|just|obviously)\b", entry.reason)
    assert entry.report == "none known" or re.search(r"#\d|arXiv \d", entry.report)
    assert ALIASES.get(entry.id, entry.id) in CATALOGUE


def test_there_is_an_entry_for_every_family():
    assert {e.family for e in CATALOGUE.values()} == {"", *FAMILIES}


@pytest.mark.parametrize("name", [n for n, e in CATALOGUE.items()
                                  if e.level != "wanted" and not e.lossless and n not in NO_LAW
                                  and n not in {"too-many-tokens", "endless"}])
def test_wrong_rule_has_a_smallest_counterexample(name):
    found = smallest(name)
    assert found, "its law is right in every world"
    world, text, got, wanted = found
    assert got > wanted + 1e-4 or world.n_new == 0


@pytest.mark.parametrize("name", [n for n, e in CATALOGUE.items() if e.lossless and e.ok])
def test_right_rule_has_none(name):
    assert smallest(name) is None


def test_running_example_by_hand():
    """Derived in lesson 05: kept 0.2 of every token, and 0.4 to be paid by what is drawn then."""
    world = next(w for w in worlds() if w.name == EXAMPLE)
    by_hand = {"redraw-target": (0.4, 0.32, 0.28), "redraw-draft": (0.28, 0.28, 0.44),
               "retry-draft": (1 / 3, 1 / 3, 1 / 3), "residual-argmax": (0.6, 0.2, 0.2),
               "residual-swapped": (0.2, 0.2, 0.6), "accept-hard": (0.65, 0.35, 0.0),
               "accept-always": (0.2, 0.2, 0.6), "residual-absolute": (0.35, 0.25, 0.4)}
    for name, law in by_hand.items():
        found = law_of(CATALOGUE[name], world.target, world.draft, world.prompt, 1, 1)
        assert np.allclose([found.get((x,), 0.0) for x in range(3)], law, atol=1e-12), name
