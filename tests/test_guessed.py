"""Guesses drawn from another law than the draft's own: allowed, so what else is wrong is named."""
import numpy as np
import pytest
from wrong_rules import kept, one_round, owed

from course import check
from course.models import temperature


def half(model):
    return temperature(model, 0.5)


def sure(q):
    """Certain of the draft's favourite."""
    return np.eye(len(q))[q.argmax()]


def few(q):
    """The draft's two likeliest tokens."""
    kept_here = np.isin(np.arange(len(q)), np.argsort(-q, kind="stable")[:2])
    return q * kept_here / q[kept_here].sum()


def warm(q):
    return q ** 0.6 / (q ** 0.6).sum()


def cold_rows(target, draft, tokens, gamma, rng, cut=False):
    """The rows of p for one_round, cooled by hand, and cut as well if asked."""
    def look(text):
        rows = half(target)(text)[len(tokens) - 1:]
        return np.array([few(row) for row in rows]) if cut else rows
    return look


def judged_by(law, **parts):
    """Parts of a round that judges by law(q), whatever the guess was drawn from."""
    return {"keep": lambda p, q, x, rng: kept(p, law(q), x, rng),
            "redraw": lambda p, q, nxt: owed(p, law(q)), **parts}


def by_p(p, q, x, rng):
    return rng.random() < p[x]


def from_p(p, q, nxt):
    return p


def favourite(p, q, x, rng):
    return x == p.argmax()


CASES = {
    "certain, the right rule": ("point-mass", "", None, sure, lambda a: judged_by(sure)),
    "certain, soft q": ("greedy-draft-soft-q", "proposal", None, sure, lambda a: {}),
    "certain, redraw from p": ("redraw-target", "residual", None, sure,
                               lambda a: {"keep": by_p, "redraw": from_p}),
    "certain, kept if both like it": ("accept-argmax", "acceptance", None, sure,
                                      lambda a: {"keep": favourite, "redraw": from_p}),
    "certain, always kept": ("accept-always", "acceptance", None, sure,
                             lambda a: {"keep": lambda *b: True}),
    "cut, raw q": ("topk-draft-raw-q", "proposal", None, few, lambda a: {}),
    "cut, cold raw q": ("reshaped-draft-raw-q", "proposal", half, few,
                        lambda a: {"rows": cold_rows(*a)}),
    "cut, redraw from p": ("redraw-target", "residual", None, few,
                           lambda a: judged_by(few, redraw=from_p)),
    "cut, no coin": ("accept-hard", "acceptance", None, few,
                     lambda a: judged_by(few, keep=lambda p, q, x, rng: p[x] >= few(q)[x])),
    "cut, a third law": ("unknown", "proposal", half, few,
                         lambda a: judged_by(lambda q: few(q) ** 2 / (few(q) ** 2).sum(),
                                             rows=cold_rows(*a))),
    "cut, target cut too": ("unknown", "target", half, few,
                            lambda a: judged_by(few, rows=cold_rows(*a, cut=True))),
    "cut, target as it is": ("target-untempered", "target", half, few,
                             lambda a: judged_by(few)),
    "warm, redraw from p": ("redraw-target", "residual", None, warm,
                            lambda a: judged_by(warm, redraw=from_p)),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_is_named_and_the_guess_is_not_blamed(name):
    kind, family, wanted, drawn_from, parts = CASES[name]
    verdict = check.speculate(lambda target, draft, tokens, gamma, rng: one_round(
        target, draft, tokens, gamma, rng, reshape=drawn_from,
        **parts((target, draft, tokens, gamma, rng))), wanted=wanted)
    assert (verdict.kind, verdict.family) == (kind, family), verdict
    assert verdict.ok == (family == "")
