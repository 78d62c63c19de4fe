"""What a page of problems asks: docs/number.js says of every answer what course.check says of it.

Each question of the pages is answered in many ways, right, usual wrong, near, far and no number at
all, in Python and in Node; verdict and reason are compared. Three faults planted in the JavaScript
must each be seen.
"""
import html
import json
import re
import shutil
import subprocess
import sys

import nbformat
import numpy as np
import pytest
from test_notebooks import ROOT

from course import check

sys.path.insert(0, str(ROOT / "docs"))
import asked
import assemble

SOURCE = (ROOT / "docs" / "number.js").read_text("utf-8")
RUN = """
const [source, runs] = JSON.parse(require("fs").readFileSync(0, "utf-8"));
const { parse, judge } = new Function(source + "; return { parse, judge }")();
console.log(JSON.stringify(runs.map(([held, text]) => ({
  parsed: parse(text, held.shape), ...judge(held, text) }))));
"""
PLAIN = re.compile(r'check\.(number|choice)\(\s*"([\w-]+)",\s*\w+\)')  # and no lambda
SAID = re.compile(r"Your answer .*?, (right|not yet)\. (.*)", re.S)
node = pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed: "
                          "the JavaScript of the numbers is not tested here")


def node_says(runs, source=SOURCE):
    """What number.js makes of each (question, text that was typed)."""
    done = subprocess.run(["node", "-e", RUN], input=json.dumps([source, runs]), text=True,
                          encoding="utf-8", stdout=subprocess.PIPE, check=True, timeout=120)
    return json.loads(done.stdout)


def names(kind):
    """The questions about a plain variable, in the order of the books: {book: names}."""
    return {path.name: [name for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"
                        for found, name in PLAIN.findall(cell.source) if found == kind]
            for path in sorted(ROOT.glob("solutions/*.ipynb"))}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked") / "site"
    assemble.assemble(folder)
    return {path.name: nbformat.read(path, 4).cells
            for path in sorted((folder / "problems").glob("*.ipynb"))}


@pytest.fixture(scope="module")
def questions(pages):
    """{name: what the page holds of it}, read from the pages."""
    held = [json.loads(html.unescape(text)) for cells in pages.values() for cell in cells
            for text in re.findall(r'class="course-number" data-question="([^"]*)"', cell.source)]
    return {each["name"]: each for each in held}


def test_the_pages_ask_what_is_found_by_hand(pages, questions):
    assert list(questions) == sum(names("number").values(), [])
    assert len(questions) > 25 and {len(each["shape"]) for each in questions.values()} == {0, 1, 2}
    assert all(each["text"] == check.NUMBERS[name]["text"] for name, each in questions.items())
    assert max(np.prod(each["shape"]) for each in questions.values()) <= 12  # silly to type beyond
    for book, wanted in names("choice").items():
        shown = [cell.source for cell in pages[book] if cell.id.startswith("ask-")
                 and "course-choice" in cell.source]
        assert len(shown) == len(wanted)
        for name, text in zip(wanted, shown):
            assert check.as_html(check.QUESTIONS[name]["text"]) in text
            assert "No answer yet: open the option you would choose." in text


def test_a_question_needs_no_formula(questions):
    for held in questions.values():
        assert set(held) <= {"name", "text", "shape", "right", "slack", "reason", "wrong",
                             "between", "outside", "hint"}
        assert all(set(wrong) == {"value", "reason"} for wrong in held["wrong"])


def typed(value):
    """A number, list or table as a reader types it, to the last digit."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        return "\n".join(map(typed, value))
    return ", ".join(map(repr, value)) if isinstance(value, list) else repr(value)


def answers(held, rng):
    """(value for Python, text for the page): answers of many kinds to one question."""
    shape, slack = held["shape"], held["slack"]
    right = np.reshape(held["right"], shape)
    bump = np.zeros(shape)
    bump[(-1,) * len(shape)] = 1  # the last number alone
    values = [right, *(np.reshape(wrong["value"], shape) for wrong in held["wrong"])]
    values += [value + far * slack * by for value in values[:] for by in (bump, bump ** 0)
               for far in (0.5, -0.5, 1, -1, 1.5, 3, -3)]
    low, high = held.get("between", (-5, 5))
    values += [np.full(shape, float(end)) for end in (low, high, low - 0.5, high + 0.5, high * 7)]
    values += [np.round(right, 2), np.round(right, 1), right * 100, -right]
    values += [right + rng.normal(size=shape) * (1 + abs(right)) for _ in range(10)]
    values += [np.where(rng.random(shape) < 0.5, right, right + 10 * slack) for _ in range(10)]
    for value in values:
        yield value.tolist(), typed(value.tolist())
    for odd in ("abc", "", " ", "?", "x" * 80, "1e999"):
        yield odd, odd
    yield ..., "..."
    flat = right.ravel().tolist()
    lists = [[*flat, 0.5], flat[:-1] or [0.5, 1.0], [flat, [1.0, 2.0]]]
    for odd in (lists if shape else [[0.5, 0.25], [], [flat, flat]]):
        yield odd, typed(odd) if odd else "[]"
    yield (["?"] + flat, "?, " + typed(flat))


def expected(name, value):
    """(head, kind, reason) as the page should have it, from what check.number says."""
    verdict = check.number(name, value)
    found = SAID.fullmatch(verdict.reason)
    if found:
        right = found[1] == "right"
        kind = verdict.kind if verdict.kind in ("right", "unknown") else "wrong"
        assert right == verdict.ok == (kind == "right")
        return "Right." if right else "Not yet.", kind, found[2]
    if verdict.kind == "wrong-type":
        return "", "wrong-type", verdict.reason.rpartition(" is not ")[2]
    assert verdict.kind == "no answer yet"
    return "", verdict.kind, "No answer yet: type your answer in the box."


def crowded(rng):
    """Questions made up so that usual wrong values stand close, and at the same distance."""
    for k in range(24):
        shape = [(), (3,), (2, 2)][k % 3]
        grid = [(rng.integers(-4, 5, shape) / 4).tolist() for _ in range(9)]
        wrong = [{"formula": f"array({value})", "idea": f"{i}", "reason": f"This is idea {i}."}
                 for i, value in enumerate(grid[1:])]
        wrong[3] |= {"formula": "ones(7)"}  # of another shape than the answer
        yield f"made-up-{k}", {
            "text": "Which?", "given": {}, "right": f"array({grid[0]})", "wrong": wrong,
            "slack": 0.25, "reason": "Right `so`."} | (
            {"between": [-1, 1]} if k % 2 else {}) | ({"hint": "Look again."} if k % 5 == 4 else {})


@pytest.fixture(scope="module")
def runs(questions):
    """[(question, text that is typed, what the page should say)], made-up questions among them."""
    rng = np.random.default_rng(11)
    made = dict(crowded(rng))
    check.NUMBERS.update(made)
    held = questions | {name: json.loads(json.dumps(asked.question(name))) for name in made}
    yield [(each, text, expected(name, value)) for name, each in held.items()
           for value, text in answers(each, rng)]
    for name in made:
        del check.NUMBERS[name]


def differences(runs, source=SOURCE):
    """[(name, text, wanted, said)] for every answer that the page judges otherwise."""
    found = node_says([(held, text) for held, text, _ in runs], source)
    off = []
    for (held, text, wanted), got in zip(runs, found):
        said = got["said"]
        if got["kind"] == "wrong-type":
            said = said.rpartition(" is not ")[2]
        if wanted != (got["head"], got["kind"], said):
            off.append((held["name"], text, wanted, got))
    return off


@node
def test_every_answer_gets_the_verdict_of_the_check(questions, runs):
    off = differences(runs)
    assert not off, (len(off), off[:3])
    for name in questions:
        mine = [wanted for held, _, wanted in runs if held["name"] == name]
        assert len(mine) > 60
        assert {kind for _, kind, _ in mine} >= {"right", "wrong", "unknown", "wrong-type"}
        reasons = {why for _, kind, why in mine if kind == "wrong"}
        assert reasons == {wrong["reason"] for wrong in check.NUMBERS[name]["wrong"]}


@node
@pytest.mark.parametrize("old, new", [
    ("gap(right) <= slack", "gap(right) <= 0"),
    ("gap(right) <= slack", "gap(right) < slack"),
    ("gap(idea.value) < least", "gap(idea.value) <= least"),  # the last of those at one distance
    ("gap(idea.value) < least", "gap(idea.value) <= slack"),  # the last that fits, not the nearest
    ("if (between && ", "if (false && "),
    ("part > between[1]", "part >= between[1]"),
    ("Math.max(0, ...value", "Math.min(...value"),
    ("(place / shape[1])", "(place / shape[0] + 1)")])
def test_a_planted_fault_is_seen(runs, old, new):
    assert SOURCE.count(old) == 1
    assert differences(runs, SOURCE.replace(old, new))


FORMS = {
    "0.7": 0.7, ".7": 0.7, "7.": 7, "0,7": 0.7, ",5": 0.5, "-0,7": -0.7, "7/10": 0.7,
    " 7 / 10 ": 0.7, "70 %": 0.7, "70%": 0.7, "12,5 %": 0.125, "1e-3": 0.001, "1E3": 1000,
    "+2": 2, "-2": -2, "\u22122": -2, "\u22121/4": -0.25, "180 000": 180000, "180_000": 180000,
    "180\u00a0000": 180000, "1,234,567": 1234567, "1,234.5": 1234.5, "0,144": 0.144}
NONE = ["abc", "0.7.", "1/0", "1/2/3", "1e999", "Infinity", "NaN", "0x10", "[0.7]", "1, 2", "1 2",
        "--1", "7/", "/7", "%", "1e", "1,2,3", "12 passes", "alert(1)", "1+1", "- 2", "18 00"]
LISTS = {"1, 0, 2": 1, "[1, 0, 2]": 1, "(1, 0, 2)": 1, "1 0 2": 1, "1,0,2": 1, " [ 1 ,0, 2, ] ": 1,
         "1; 0; 2": 1, "1, 0, 8/4": 1, "100 %, 0, 2": 1, "1,, 2": 0, "1, 0": 0, "[1, 0, 2": 0,
         "1, 0, x": 0, "1,0 0,5": 0, "[[1, 0, 2]]": 0, "[]": 0}
TABLES = {"1, 2\n3, 4": 1, "1 2\r\n3 4\n": 1, "1, 2; 3, 4": 1, "[[1, 2], [3, 4]]": 1,
          "[1, 2],\n[3, 4]": 1, "[[1,2],\n [3,4]]": 1, "[1 2] [3 4]": 1, "1, 2,\n3, 4,": 1,
          "1, 2, 3, 4": 0, "1, 2\n3": 0, "[[1, 2], [3]]": 0, "1, 2\n3, 4\n5, 6": 0}


@node
def test_forms_of_a_number():
    held = {"right": [0], "slack": 0, "reason": "", "wrong": []}
    runs = [*((text, [], [value]) for text, value in FORMS.items()),
            *((text, [], None) for text in NONE),
            *((text, [3], [1, 0, 2] if fits else None) for text, fits in LISTS.items()),
            *((text, [2, 2], [1, 2, 3, 4] if fits else None) for text, fits in TABLES.items())]
    found = node_says([(held | {"shape": shape, "right": [0] * max(1, int(np.prod(shape)))}, text)
                       for text, shape, _ in runs])
    for (text, shape, value), got in zip(runs, found):
        assert got["parsed"] == ({} if value is None else {"value": value}), (text, shape)
        assert (got["kind"] == "wrong-type") == (value is None)
        assert value is not None or got["said"].startswith(f"{text.strip()} is not a ")


@node
def test_blanks_and_commas_in_doubt():
    held = {"shape": [], "right": [0], "slack": 0, "reason": "", "wrong": []}
    for text in ("", "  ", "?", "...", "\u2026", "\n"):
        assert node_says([(held, text)])[0]["kind"] == "no answer yet"
    assert node_says([(held | {"shape": [3]}, "1, ?, 2")])[0]["kind"] == "no answer yet"
    got = node_says([(held, "104,950")])[0]
    assert got["said"] == "104,950 may be 104950 or 104.950. Write it in one of these two ways."
    assert got["kind"] == "wrong-type" and "value" not in got["parsed"]


@pytest.mark.parametrize("word", ["eval", "Function(", "innerHTML", "insertAdjacent", "fetch",
                                  "XMLHttp", "Storage", "cookie", "import", "export", "http:"])
def test_nothing_is_run_stored_or_sent(word):
    assert word not in SOURCE


def test_a_question_that_json_cannot_hold_fails(monkeypatch):
    entry = check.NUMBERS["05-alpha"] | {"right": "big", "given": {"big": float("inf")}}
    monkeypatch.setitem(check.NUMBERS, "05-alpha", entry | {"wrong": []})
    with pytest.raises(ValueError, match="JSON"):
        asked.number("05-alpha")
