"""Answers marked with a reason rather than a tick. Keeps no score, calls no network, never raises.

A choice or a number is looked up in questions/: for every option, or usual wrong value, the idea
behind it and what is right or wrong with that idea. A function is run, in small worlds of models,
on every way its coins can fall, and what it does is compared with what is wanted and with the
catalogue of wrong rules (course.mistakes). Left out: anything about how the code is written.
"""
import html
import math
import pathlib
import re
import tomllib
from dataclasses import dataclass, replace

from course.marking import calls, parts, residuals, values
from course.marking.mishaps import Mark, misfit
from course.marking.texts import mark

_ALL = {name: entry
        for file in sorted(pathlib.Path(__file__).with_name("questions").glob("*.toml"))
        for name, entry in tomllib.loads(file.read_text("utf-8")).items()}
QUESTIONS = {name: entry for name, entry in _ALL.items() if "options" in entry}
NUMBERS = {name: entry for name, entry in _ALL.items() if "given" in entry}


@dataclass(frozen=True)
class Verdict:
    """What a check says: ok, the reason for this very answer, and kind, the idea that is in it."""

    ok: bool
    reason: str
    kind: str
    question: str = ""
    options: tuple[tuple[str, str, str, bool], ...] = ()  # (letter, text, reason, right?)
    lossless: bool = False  # every law that could be examined is the wanted one
    tv: float = math.nan  # the largest distance found; nan where there was no law
    family: str = ""  # of the wrong rule, as in course.mistakes
    how: str = ""  # "exact, 2,421 paths ..." or "sampled, n = ..."

    def points(self, n):
        """A float from 0 to n for graders: all for ok, part for a law that is right or near."""
        near = 0.75 if self.lossless else 0.5 if self.tv < 0.5 else 0.25 if self.tv < 1 else 0.0
        return float(n) * (1.0 if self.ok else near)

    def __repr__(self):
        lines = [self.question, *(f"  {letter}) {text}" for letter, text, *_ in self.options)]
        return "\n".join([*filter(None, lines), self._head() + self.reason, *self._foot()])

    def _head(self):
        """The answer in two words, where the reason does not begin with it."""
        if self.options or self.kind == "no answer yet" or not self.how:
            return ""
        return "Right. " if self.ok else "Not yet. "

    def _foot(self):
        if not self.how:
            return []
        name = f"{self.kind} ({self.family})" if self.family else self.kind
        off = "" if math.isnan(self.tv) else f"; largest distance {self.tv:.3g}"
        return [f"[{name}; {self.how}{off}]"]

    def _repr_html_(self):
        if not self.options:
            foot = "".join(f"<p><small>{as_html(line)}</small></p>" for line in self._foot())
            return (f'<div class="course-verdict"><p>{as_html(self._head() + self.reason)}</p>'
                    f"{foot}</div>")
        options = "".join(f"<details><summary>{letter}) {as_html(text)}</summary><p>"
                          f"<strong>{'Right.' if right else 'Not yet.'}</strong> {as_html(why)}</p>"
                          "</details>" for letter, text, why, right in self.options)
        return (f'<div class="course-choice"><p><strong>{as_html(self.question)}</strong></p>'
                f"{options}<p>{as_html(self.reason)}</p></div>")


def choice(question, answer="?"):
    """The Verdict on a letter for the question of this name."""
    entry = QUESTIONS.get(str(question))  # a list is no key, and no error either
    if entry is None:
        return Verdict(False, f'There is no question "{question}". Is the name right?', "unknown")
    options = tuple((o["letter"], o["text"], o["reason"], o["letter"] == entry["right"])
                    for o in entry["options"])
    letter = "?" if values.unanswered(answer) else str(answer).strip().lower()
    for o in entry["options"]:
        if o["letter"] == letter:
            ok = letter == entry["right"]
            reason = f'Your answer {letter}, {"right" if ok else "not yet"}. {o["reason"]}'
            return Verdict(ok, reason, "right" if ok else o["idea"], entry["text"], options)
    asked = "No answer yet" if letter == "?" else f'"{answer}" is none of the letters'
    blank = "three dots" if answer is ... else "question mark"
    return Verdict(False, f"{asked}: put a letter in place of the {blank} and run the cell, "
                   "or open the option you would choose.", "no answer yet", entry["text"], options)


def number(question, value="?"):
    """The Verdict on a number, or a list of numbers, for the question of this name.

    value may be a function without arguments that gives it: it is run under the limits of a check.
    """
    entry = NUMBERS.get(str(question))
    if entry is None:
        return Verdict(False, f'There is no question "{question}". Is the name right?', "unknown")
    answer = parts.guarded(value) if callable(value) else value
    if isinstance(answer, Mark):  # the function gave no value
        return Verdict(False, answer.reason, answer.kind, entry["text"], family=answer.family)
    ok, kind, reason = values.judged(entry, answer)
    return Verdict(ok, reason, kind, entry["text"], lossless=ok)


def planted(verdict, *wanted):
    """The Verdict on a fault made on purpose: ok if verdict names one of the wanted ids, families.
    """
    if verdict.kind == "no answer yet":
        return verdict
    if verdict.kind in wanted or verdict.family in wanted:
        return replace(verdict, ok=True, reason=f"This is what was asked for. {verdict.reason}")
    found = "Yours has no fault." if verdict.ok else f"The check finds {verdict.kind}."
    return replace(verdict, ok=False, lossless=False, tv=math.nan, reason=(
        f"Asked for was {' or '.join(wanted)}. {found} {verdict.reason}"))


def accept(fn, hidden=False):
    """The Verdict on accept(x, p, q, rng) -> bool; hidden: on laws that are not shown."""
    return _verdict(fn, lambda: parts.accept(fn, hidden), "x", "p", "q", "rng")


def residual(fn, hidden=False):
    """The Verdict on residual(p, q) -> (V,); hidden: on laws that are not shown."""
    return _verdict(fn, lambda: residuals.residual(fn, hidden), "p", "q")


def speculate(fn, wanted=None):
    """The Verdict on one round: speculate(target, draft, tokens, gamma, rng) -> new tokens."""
    return _verdict(fn, lambda: mark(calls.by_rounds(fn), wanted), *calls.ROUND)


def generate(fn, wanted=None, end=None):
    """The Verdict on generate(target, draft, prompt, n_new, gamma, rng[, end]) -> the whole text.

    wanted is a function from a model to a model where the text should not follow the target itself:
    lambda model: temperature(model, 0.5). With end, the text stops right after that token.
    """
    takes = calls.takes_end(fn, end)
    end, complaint = calls.known_end(end, takes)
    if complaint:
        return Verdict(False, complaint, "unknown")
    return _verdict(fn, lambda: mark(calls.by_text(fn, end, takes), wanted, end),
                    *calls.TEXT, *["end"] * (takes == "seventh"))


def _verdict(fn, marked, *names):
    """The Verdict of marked(), whatever it raises; fn is called with arguments of these names."""
    try:
        found = misfit(fn, names) or marked()
    except Exception as error:  # a fault of the check must not stop the reader
        found = Mark("unknown", "", f"This check failed by itself ({type(error).__name__}: "
                     f"{error}). Your function may be right: please report it.")
    return Verdict(found.ok, found.reason, found.kind, lossless=found.lossless, tv=found.tv,
                   family=found.family, how=found.how)


def as_html(text):
    """text as HTML, with `code` set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
