"""What a page of problems asks a reader: boxes(cells) makes a box of each question in the cells.

A verdict cell names its question: check.choice("NAME", variable), or check.number("NAME", variable)
where the variable is a number, a list or a table that is found by hand. A choice is shown as its
options, each with its reason. A number goes into a box that number.js turns into a form, with all
that it judges by: every formula is evaluated here, by course.marking.values, so that the page holds
numbers alone. Tables are asked too: the largest has four rows of three. Left out: what a function
gives (check.number("NAME", lambda: ...)), because a page cannot run it.
"""
import ast
import html
import json

from course import check
from course.marking import values

TWIN = "With JavaScript you can type your answer here; the box below has ours."


def boxes(cells):
    """{name of a question: its box as HTML}, in the order of the verdict cells."""
    return {name: check.choice(name)._repr_html_() if kind == "choice" else number(name)
            for kind, name in _named(cells)}


def _named(cells):
    """(choice or number, name) of each question about a plain variable."""
    for cell in cells:
        for line in ast.parse(cell.source).body if cell.cell_type == "code" else ():
            for call in ast.walk(line):
                match call:
                    case ast.Call(ast.Attribute(ast.Name("check"), "choice" | "number" as kind),
                                  [ast.Constant(name), ast.Name()], []):
                        yield kind, name


def number(name):
    """The box for a number: what number.js needs, and a twin for pages without scripts."""
    held = html.escape(json.dumps(question(name), ensure_ascii=False, allow_nan=False))
    text = check.as_html(check.NUMBERS[name]["text"])
    return (f'<div class="course-number" data-question="{held}"><p><strong>{text}</strong></p>'
            f"<p>{TWIN}</p></div>")


def question(name):
    """What values.judged goes by, without formulas; a list or a table is its numbers in a row."""
    entry = check.NUMBERS[name]
    right = values.value_of(entry["right"], entry["given"])
    wrong = [(values.value_of(w["formula"], entry["given"]), w["reason"]) for w in entry["wrong"]]
    held = {"name": name, "text": entry["text"], "shape": right.shape,
            "right": right.ravel().tolist(), "slack": entry.get("slack", values.SLACK),
            "reason": entry["reason"],
            "wrong": [{"value": value.ravel().tolist(), "reason": reason}
                      for value, reason in wrong if value.shape == right.shape]}
    if "between" in entry:
        low, high = entry["between"]
        held |= {"between": [low, high], "outside": f"It must lie between {low:g} and {high:g}."}
    return held | ({"hint": entry["hint"]} if "hint" in entry else {})
