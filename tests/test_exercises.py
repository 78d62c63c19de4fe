"""exercises/ is what solutions/ give and tells no answer; every problem keeps the form.

It leaves out whether the reasons are good: tests/test_check.py and tests/test_choice.py. The forms
that solutions share with lessons are those of tests/test_notebooks.py.
"""
import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import little
import nbformat
import pytest
import test_notebooks as guard
from execute import client

from course import mine, release
from course.check import NUMBERS, QUESTIONS
from course.progress import marks

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS = sorted(ROOT.glob("solutions/*.ipynb"))
RUNGS = ("Predict", "Trace", "Fill in", "Reorder", "Write", "Break")
IDEA = re.compile(r'^\*(?P<rung>[\w ]+) · stands under (?P<ideas>"[^"]+"(?: and "[^"]+")*) '
                  r"\(lesson (?P<lesson>\d\d)(?:, sections? (?P<sections>[\d, and]+))?\)\*$", re.M)
MARKERS = ("BEGIN SOLUTION", "END SOLUTION", "HIDDEN TESTS")
KEYS = {"nbgrader", "tags", "deletable", "editable"}
ABOUT = {"grade", "grade_id", "locked", "points", "schema_version", "solution", "task",
         "checksum", "cell_type"}

solutions = pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)


def exercise_of(path):
    return nbformat.read(ROOT / "exercises" / path.name, as_version=4)


def about(cell):
    """nbgrader's metadata of a cell, {} if it has none."""
    return cell.metadata.get("nbgrader", {})


def problems(path):
    """The cells of each problem: a heading "## 3. ..." and all up to the next heading."""
    found = []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            found.append([])
        if found:
            found[-1].append(cell)
    return [cells for cells in found if re.match(r"## \d+\. ", cells[0].source)]


def regions(source):
    """The lines between the markers of a solution, each region a list."""
    found, inside = [], False
    for line in source.split("\n"):
        if "END SOLUTION" in line:
            inside = False
        if inside:
            found[-1].append(line)
        if "BEGIN SOLUTION" in line:
            inside = True
            found.append([])
    return found


def blanked(source):
    """The source with each solution region replaced by the stub: what a learner must see."""
    return re.sub(r"(?ms)^(\s*)### BEGIN SOLUTION\n.*?### END SOLUTION$",
                  lambda found: found[1] + release.STUB, source)


def asked(cells):
    """Names of the questions that the graded cells among cells ask."""
    text = "\n".join(c.source for c in cells if about(c).get("grade"))
    return re.findall(r'check\.(?:choice|number)\(\s*"([^"]+)"', text)


def squeezed(text):
    return re.sub(r"\s+", " ", text)


# What is made from what

def test_every_lesson_has_its_problems():
    lessons = [path.name for path in guard.TAUGHT]
    assert [path.name for path in SOLUTIONS] == lessons
    assert [name[:2] for name in lessons] == [f"{n:02}" for n in range(1, 11)]


def test_no_exercise_without_a_solution():
    assert sorted(path.name for path in ROOT.glob("exercises/*.ipynb")) == [
        path.name for path in SOLUTIONS]


@solutions
def test_the_exercise_is_what_the_solution_gives(path):
    pytest.importorskip("nbgrader")
    made = (ROOT / "exercises" / path.name).read_bytes()
    assert made == release.exercise(path).encode(), "run make exercises"


def test_release_writes_removes_and_changes_no_byte(tmp_path, monkeypatch, capsys):
    pytest.importorskip("nbgrader")
    monkeypatch.setattr(release, "ROOT", tmp_path)
    (tmp_path / "solutions").mkdir()
    for name in ("05_little.ipynb", "06_gone.ipynb"):
        nbformat.write(little.lesson(), tmp_path / "solutions" / name)
    release.main()
    made = tmp_path / "exercises" / "05_little.ipynb"
    before = made.read_bytes()
    assert before.endswith(b"}\n") and b"\r" not in before
    (tmp_path / "solutions" / "06_gone.ipynb").unlink()
    capsys.readouterr()
    release.main()
    assert capsys.readouterr().out.splitlines() == [
        "exercises/05_little.ipynb: no byte changed",
        "exercises/06_gone.ipynb: removed, it has no solution"]
    assert made.read_bytes() == before and [*made.parent.iterdir()] == [made]


def test_a_solution_that_nbgrader_refuses_is_named_and_changes_nothing(tmp_path, monkeypatch):
    pytest.importorskip("nbgrader")
    monkeypatch.setattr(release, "ROOT", tmp_path)
    (tmp_path / "solutions").mkdir()
    nbformat.write(little.lesson(), tmp_path / "solutions" / "05_little.ipynb")
    broken = little.lesson()
    broken.cells[3].source = broken.cells[3].source.replace(little.END, "")
    nbformat.write(broken, tmp_path / "solutions" / "06_broken.ipynb")
    with pytest.raises(ValueError, match=r"06_broken\.ipynb: no end solution statement"):
        release.main()
    assert not (tmp_path / "exercises").exists()


def test_without_nbgrader_release_says_what_to_do():
    """And nothing that a learner runs needs it."""
    code = ("import sys, runpy; sys.modules['nbgrader'] = None\n"
            "from course import check, mine, progress\n"
            "runpy.run_module('course.release', run_name='__main__')")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, text=True,
                          capture_output=True)
    assert done.returncode == 1 and done.stderr == release.MISSING + "\n"


# What an exercise must not tell

@solutions
def test_no_answer_stands_in_the_exercise(path):
    before, after = nbformat.read(path, as_version=4).cells, exercise_of(path).cells
    kept = [c for c in before if "solution" not in c.metadata.get("tags", [])]
    assert len(kept) < len(before), "no cell explains an answer"
    assert [c.id for c in kept] == [c.id for c in after]
    for old, new in zip(kept, after):
        wanted = "" if "HIDDEN TESTS" in old.source else blanked(old.source)
        assert new.source == wanted, old.id
        assert new.get("outputs", []) == [] and new.get("execution_count") is None, old.id
        assert not new.get("attachments"), old.id
    text = (ROOT / "exercises" / path.name).read_text(encoding="utf-8")
    assert not [marker for marker in MARKERS if marker in text]


@solutions
def test_no_answer_stands_in_the_metadata(path):
    notebook = exercise_of(path)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    for cell in notebook.cells:
        assert set(cell.metadata) <= KEYS and set(about(cell)) <= ABOUT, cell.id
        assert all(isinstance(value, (bool, int, float, str)) for value in about(cell).values())
        assert "solution" not in cell.metadata.get("tags", []), cell.id


@solutions
def test_no_hint_holds_a_line_of_the_answer(path):
    for cells in problems(path):
        told = "\n".join(c.source for c in cells if c.cell_type == "markdown"
                         and "solution" not in c.metadata.get("tags", []))
        for cell in cells:
            for line in sum(regions(cell.source), []):
                line = line.strip()
                if len(line) >= 12 and not line.startswith("#") and re.search(r"[=(\[]", line):
                    assert line not in told, f"{cell.id}: {line}"


def test_this_file_sees_an_answer_that_leaks():
    source = "chance = (\n    ### BEGIN SOLUTION\n    min(1, p)\n    ### END SOLUTION\n)\nend"
    assert regions(source) == [["    min(1, p)"]]
    assert blanked(source) == "chance = (\n    ...  # your answer\n)\nend"
    assert blanked(source + "\n" + source).count(release.STUB) == 2


# The form of the problems

@solutions
def test_the_ladder(path):
    found = problems(path)
    assert 5 <= len(found) <= 8
    heads = [re.match(r"## (\d+)\. \S", cells[0].source) for cells in found]
    assert [int(head[1]) for head in heads] == list(range(1, len(found) + 1))
    rungs = [IDEA.search(cells[0].source) for cells in found]
    assert all(rungs), [cells[0].id for cells, rung in zip(found, rungs) if not rung]
    names = [RUNGS.index(rung["rung"]) for rung in rungs]
    assert names == sorted(names) and set(names) == set(range(len(RUNGS)))


def sections(lesson):
    """{heading: number of the section in which it stands, None if that has no number}."""
    found, number = {}, None
    for cell in guard.prose_of(guard.read(lesson)):
        for level, n, title in re.findall(r"^(##+) (?:(\d+)\. )?(.+)$", cell.source, re.M):
            number = (n or None) if level == "##" else number
            found[title] = number
    return found


@solutions
def test_every_problem_names_an_idea_that_the_lesson_has(path):
    for cells in problems(path):
        named = IDEA.search(cells[0].source)
        lesson, = ROOT.glob(f"notebooks/{named['lesson']}_*.ipynb")
        stands = [sections(lesson).get(idea, f"{idea}: no such heading")
                  for idea in re.findall('"([^"]+)"', named["ideas"])]
        given = re.findall(r"\d+", named["sections"] or "")
        assert list(filter(None, stands)) == given, cells[0].id


@solutions
def test_hints(path):
    for cells in problems(path):
        text = "\n".join(c.source for c in cells if c.cell_type == "markdown")
        hints = re.findall(r"<summary>Hint (\d)</summary>", text)
        assert hints == ["1", "2", "3"][:len(hints)] and hints, cells[0].id


@solutions
def test_every_problem_has_an_answer_a_mark_and_an_explanation(path):
    for cells in problems(path):
        order = ["answer" if about(c).get("solution") else "mark" if about(c).get("grade") else
                 "why" if "solution" in c.metadata.get("tags", []) else "" for c in cells]
        kinds = list(filter(None, order))
        assert kinds[0] == "answer" and kinds[-1] == "why" and "mark" in kinds, cells[0].id
        assert "rong" in cells[order.index("why")].source, f"{cells[0].id}: no wrong turn"


@solutions
def test_a_question_stands_in_the_text_word_for_word(path):
    for cells in problems(path):
        text = squeezed("\n".join(c.source for c in cells if c.cell_type == "markdown"
                                  and "solution" not in c.metadata.get("tags", [])))
        for name in asked(cells):
            entry = QUESTIONS.get(name) or NUMBERS[name]
            assert squeezed(entry["text"]) in text, f"{cells[0].id}: {entry['text']}"
            for o in entry.get("options", []):
                assert f"- {o['letter']}) {squeezed(o['text'])}" in text, f"{cells[0].id}: {o}"


@solutions
def test_all_questions_of_the_problems_are_asked(path):
    file = ROOT / "course" / "questions" / f"{path.stem[:2]}_problems.toml"
    names = list(tomllib.loads(file.read_text(encoding="utf-8")))
    assert sorted(names) == sorted(sum(map(asked, problems(path)), []))


@solutions
def test_nbgrader_accepts_the_metadata(path):
    validator = pytest.importorskip("nbgrader.nbgraderformat").MetadataValidator()
    for notebook in (nbformat.read(path, as_version=4), exercise_of(path)):
        validator.validate_nb(notebook)
        for cell in notebook.cells:
            validator.validate_cell(cell)
            assert about(cell) or "solution" in cell.metadata.get("tags", []), cell.id
            assert about(cell).get("grade_id", cell.id) == cell.id
            kind = [about(cell).get(key) for key in ("grade", "solution", "locked")]
            assert not about(cell) or kind in (
                [True, False, True], [False, True, False], [False, False, True]), cell.id


@solutions
def test_a_graded_cell_shows_the_verdict_and_ends_in_its_points(path):
    """Its last line is the only value, a float: nbgrader takes anything else for full points."""
    for cell in nbformat.read(path, as_version=4).cells:
        if not about(cell).get("grade"):
            assert ".points(" not in cell.source, cell.id
        elif "HIDDEN TESTS" in cell.source:
            assert re.fullmatch(r"### BEGIN HIDDEN TESTS\n(.+\n)*(assert .+\n)(.+\n)*"
                                r"### END HIDDEN TESTS", cell.source), cell.id
        else:
            body = ast.parse(cell.source).body
            verdict = body[0].targets[0].id
            assert [ast.unparse(node) for node in body[1:]] == [
                f"display({verdict})", f"{verdict}.points({about(cell).points})"], cell.id


@solutions
def test_every_solution_earns_all_points(path):
    found = marks(mine.read(path))
    assert len(found) == len(problems(path))
    assert all(got == of for got, of in found.values()), found


@solutions
def test_an_untouched_exercise_says_no_answer_yet(path, monkeypatch):
    """Each graded cell, and nothing fails on the way."""
    if path.stem[:2] in ("02", "03"):
        pytest.importorskip("torch")
    monkeypatch.setenv("COURSE_STORED", "1")
    notebook = exercise_of(path)
    client(notebook, ROOT / "exercises").execute(stderr=subprocess.DEVNULL)
    for cell in notebook.cells:
        if about(cell).get("grade") and cell.source:
            shown = "\n".join(str(output) for output in cell.outputs)
            assert "No answer yet" in shown, cell.id
    found = marks(notebook)
    assert found and all(got == 0 < of for got, of in found.values()), found


@solutions
def test_the_forms_of_a_lesson(path):
    guard.test_executed_in_order_and_stored_as_a_rerun_would(path)
    guard.test_outputs_are_clean(path)
    guard.test_every_figure_has_one_alt_sentence(path)
    guard.test_details_are_written_so_that_every_renderer_shows_them(path)
    guard.test_cells_are_plain_python_without_network(path)
    guard.test_a_name_is_bound_once(path)
    guard.test_the_language(path)


@solutions
def test_size_and_title(path):
    notebook = guard.read(path)
    titles = [line for cell in guard.prose_of(notebook)
              for line in re.findall(r"^# .+$", cell.source, re.M)]
    assert len(titles) == 1 and titles[0].startswith(f"# Problems for lesson {path.stem[:2]}: ")
    assert len(notebook.cells) <= 60
    for cell in notebook.cells:
        if cell.cell_type == "code":
            lines = [line for line in cell.source.splitlines() if "### " not in line]
            assert len(lines) <= 20, cell.id
            assert all(len(region) <= 15 for region in regions(cell.source)), cell.id
        else:
            words = re.sub(r"^\|.*$|<[^>]+>", "", cell.source, flags=re.M).split()
            assert len(words) <= 160, f"{cell.id}: {len(words)} words"
