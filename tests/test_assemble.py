"""What the site is made from: words for readers, answers behind boxes, everything that is there."""
import re
import sys

import nbformat
import pytest
from test_notebooks import ROOT

sys.path.insert(0, str(ROOT / "docs"))
import asked
import assemble

SOLUTIONS = sorted(path.name for path in ROOT.glob("solutions/*.ipynb"))


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources") / "site"
    assemble.assemble(folder)
    return folder


def pages(folder):
    return [nbformat.read(path, 4) for path in sorted(folder.glob("*/*.ipynb"))
            if path.parent.name != "exercises"]


def test_every_notebook_is_there(sources):
    for kind, of in (("notebooks", "notebooks"), ("problems", "solutions"),
                     ("exercises", "exercises")):
        assert {path.name for path in (sources / kind).iterdir()} == {
            path.name for path in (ROOT / of).glob("*.ipynb")}
    assert set(assemble.PAGES) == {path.name for path in (ROOT / "docs").glob("*.md")}


def test_no_output_speaks_of_a_kernel(sources):
    said = [output.get("data", {}).get("text/html", "") for page in pages(sources)
            for cell in page.cells for output in cell.get("outputs", [])]
    boxes = [text for text in said if "course-choice" in text or "course-widget" in text]
    assert len(boxes) > 100
    assert not [text for text in boxes if "run the cell" in text]
    assert all("open the option" in text or "Your answer" in text for text in boxes
               if "course-choice" in text)


@pytest.mark.parametrize("name", SOLUTIONS)
def test_answers_are_in_boxes_and_blanks_are_not(sources, name):
    inside, blanks, answers, before = False, [], [], ""
    for cell in nbformat.read(sources / "problems" / name, 4).cells:
        if cell.id.startswith("ask-"):
            assert not inside and re.search(r"-blank$|^ask-", before), "not behind its blank"
        before = cell.id
        if cell.source.startswith('<details class="answer">'):
            assert not inside, "a box in a box"
            inside = True
        elif cell.source == "</details>":
            assert inside
            inside = False
        elif inside:
            assert not cell.source.startswith("#"), f"{cell.id}: a heading in a box"
            answers.append(cell.id)
        elif cell.id.endswith("-blank"):
            assert "# your answer" in cell.source and not cell.outputs
            blanks.append(cell.id.removesuffix("-blank"))
        assert "SOLUTION" not in cell.source and "HIDDEN" not in cell.source
    stored = nbformat.read(ROOT / "solutions" / name, 4).cells
    secret = [c.id for c in stored if c.metadata.get("nbgrader", {}).get("solution")
              or "solution" in c.metadata.get("tags", [])]
    assert not inside and set(secret) <= set(answers)
    assert blanks == [c.id for c in stored if c.metadata.get("nbgrader", {}).get("solution")]


def test_addresses_are_those_of_the_notebooks(sources):
    for path in ROOT.glob("notebooks/*.ipynb"):
        for cell, shown in zip(nbformat.read(path, 4).cells,
                               nbformat.read(sources / "notebooks" / path.name, 4).cells):
            assert shown.metadata["cell-id"] == cell.id == shown.id


def test_claims_and_lines_are_the_words_of_the_lessons(sources):
    claims, lines = ((sources / f"{name}.md").read_text("utf-8").replace("\u00a0", " ")
                     for name in ("claims", "lines"))
    told = 0
    for path in ROOT.glob("notebooks/*.ipynb"):
        for cell in nbformat.read(path, 4).cells:
            for claim in re.findall(r"^\*\*Claim\.\*\* (.+)$", cell.source, re.M):
                assert claim in claims
                told += 1
            if cell.source.startswith("## Lines worth keeping"):
                assert cell.source.split("\n", 1)[1].strip() in lines
    assert told > 50 and len(re.findall(r"^\*\*\d+\.\*\* ", claims, re.M)) == told


def test_questions_stand_in_the_order_of_their_verdicts(sources):
    cells = nbformat.read(sources / "problems" / "07_testing_a_sampler.ipynb", 4).cells
    ids = [cell.id for cell in cells]
    start = ids.index("p1-answer-blank")
    assert ids[start:start + 4] == ["p1-answer-blank", "ask-07-three-greens", "ask-07-enough-runs",
                                    "p1-answer-opens"]
    assert "run the cell" not in cells[start + 1].source


def test_a_cell_is_asked_for_a_plain_variable_alone():
    sources = ['a = check.number("05-alpha", kept_1)\ndisplay(a)', "check.number(name, kept_1)",
               'check.number("05-third-word", lambda: kept_1)', 'check.accept("x", kept_1)',
               'check.number("05-trace", f(x))', 'check.choice("08-blame", letter)',
               'check.number("05-first-word", "?")']
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    cells.insert(0, nbformat.v4.new_markdown_cell('check.number("05-trace", words_3)'))
    assert list(asked.boxes(cells)) == ["05-alpha", "08-blame"]
