"""Answers marked with a reason rather than a tick. Keeps no score, calls no network, never raises.

The questions of lesson 05 stand in questions/05.toml: for every option, the idea behind it and what
is right or wrong with that idea. On a page without a kernel the options open with a click; in a
notebook the reader puts a letter in the cell and the cell answers.
"""
import html
import pathlib
import re
import tomllib
from dataclasses import dataclass

QUESTIONS = {name: entry
             for file in sorted(pathlib.Path(__file__).with_name("questions").glob("*.toml"))
             for name, entry in tomllib.loads(file.read_text("utf-8")).items()}


@dataclass(frozen=True)
class Verdict:
    """What a check says: ok, the reason for this very answer, and kind, the idea that is in it."""

    ok: bool
    reason: str
    kind: str
    question: str = ""
    options: tuple[tuple[str, str, str], ...] = ()  # (letter, text, reason)

    def points(self, n):
        """A float from 0 to n for graders."""
        return float(n) if self.ok else 0.0

    def __repr__(self):
        lines = [self.question, *(f"  {letter}) {text}" for letter, text, _ in self.options)]
        return "\n".join([*filter(None, lines), self.reason])

    def _repr_html_(self):
        options = "".join(f"<details><summary>{letter}) {_code(text)}</summary><p>{_code(why)}</p>"
                          "</details>" for letter, text, why in self.options)
        return (f'<div class="course-choice"><p><strong>{_code(self.question)}</strong></p>'
                f"{options}<p>{_code(self.reason)}</p></div>")


def choice(question, answer="?"):
    """The Verdict on a letter for the question of this name."""
    entry = QUESTIONS.get(str(question))  # a list is no key, and no error either
    if entry is None:
        return Verdict(False, f'There is no question "{question}". Is the name right?', "unknown")
    options = tuple((o["letter"], o["text"], o["reason"]) for o in entry["options"])
    letter = str(answer).strip().lower()
    for o in entry["options"]:
        if o["letter"] == letter:
            ok = letter == entry["right"]
            reason = f'Your answer {letter}, {"right" if ok else "not yet"}. {o["reason"]}'
            return Verdict(ok, reason, "right" if ok else o["idea"], entry["text"], options)
    asked = "No answer yet" if letter in {"?", "", "none"} else f'"{answer}" is none of the letters'
    return Verdict(False, f"{asked}: put a letter in place of the question mark and run the cell, "
                   "or open the option you would choose.", "no answer yet", entry["text"], options)


def _code(text):
    """text as HTML, with `code` set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
