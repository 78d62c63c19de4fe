"""A learner's copies in my/ are never written over, and progress is read from them as they are."""
import json
import runpy
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import little
import nbformat
import pytest
from execute import executed
from nbformat.v4 import new_code_cell, new_notebook, new_output

from course import mine, release
from course.progress import NOTHING, Progress, marks, progress

ROOT = Path(__file__).resolve().parent.parent
NAME = "05_little.ipynb"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A course of two exercises, 05 and 06, in a folder of its own."""
    monkeypatch.setattr(mine, "ROOT", tmp_path)
    monkeypatch.delenv("COURSE_STORED", raising=False)
    (tmp_path / "exercises").mkdir()
    for name in (NAME, "06_other.ipynb"):
        nbformat.write(blank(), tmp_path / "exercises" / name)
    return tmp_path


def blank():
    """An exercise: the little lesson without its answers and without its hidden test."""
    notebook = little.lesson()
    for cell in notebook.cells:
        if cell.id in little.FORM:
            cell.source = little.filled(cell.id, ["    " + release.STUB])
        if "HIDDEN" in cell.source:
            cell.source = ""
    notebook.cells.pop()
    return notebook


def solve(path, **values):
    """Store what the graded cells return, as JupyterLab would after a run: p1=1.0, ..."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.id[:2] in values and cell.id.endswith("mark"):
            data = {"text/plain": str(values[cell.id[:2]])}
            cell.outputs = [new_output("display_data", {"text/plain": "Right."}),
                            new_output("execute_result", data, execution_count=1)]
    nbformat.write(notebook, path)


def change(path):
    """What an update of the course does to an exercise."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].source += ", better"
    nbformat.write(notebook, path)


def test_a_copy_is_the_exercise_and_a_memory(folder, capsys):
    mine.copy("05")
    assert capsys.readouterr().out == f"my/{NAME}: copied\n"
    assert [path.name for path in (folder / "my").iterdir()] == [NAME]
    data = (folder / "my" / NAME).read_bytes()
    assert b"\r" not in data and data.endswith(b"}\n")
    copied = nbformat.reads(data.decode("utf-8"), as_version=4)
    nbformat.validate(copied)
    assert copied.metadata.pop(mine.KEY)["exercise"] == "05_little"
    assert copied == nbformat.read(folder / "exercises" / NAME, as_version=4)


@pytest.mark.parametrize("lessons", [(), ("05", "06"), (5, 6), ("5", "06_other.ipynb")])
def test_which_exercises(folder, lessons):
    mine.copy(*lessons)
    assert sorted(path.name for path in (folder / "my").iterdir()) == [NAME, "06_other.ipynb"]


def test_a_lesson_that_is_not_there(folder):
    with pytest.raises(ValueError, match="no exercise 12. There are: 05, 06"):
        mine.copy("05", "12")
    assert not (folder / "my").exists()
    assert "no exercise 12" in mine.main(["12"])


@pytest.mark.parametrize("text", ["", "not a notebook", "{}", "[1]", '{"cells": 3}', "\ufeff\r\n",
                                  '{"cells": [1]}', '{"cells": [], "metadata": null}',
                                  '{"cells": [], "metadata": {"guessing_ahead": 7}}'])
def test_no_file_is_written_over(folder, text, capsys):
    """Not even one that looks broken; and what else can be seen still is."""
    (folder / "my").mkdir()
    path = folder / "my" / NAME
    path.write_bytes(text.encode())
    mine.copy()
    assert path.read_bytes() == text.encode()
    assert f"my/{NAME}: kept as it is" in capsys.readouterr().out
    mine.fresh("05")
    assert path.read_bytes() == text.encode()
    assert (folder / "my" / "05_little.new.ipynb").exists()
    page = progress()
    assert len(page.rows) == 2 and "06 other" in repr(page)
    page._repr_html_()


def test_of_many_at_once_one_copies(folder, capsys):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: mine.copy("05"), range(40)))
    said = capsys.readouterr().out
    assert said.count("copied") == 1 and said.count("kept as it is") == 39
    assert mine.note(mine.read(folder / "my" / NAME), folder / "exercises" / NAME) == ""


def test_a_changed_exercise_says_so(folder, capsys):
    mine.copy()
    solve(folder / "my" / NAME, p1=1.0)
    before = (folder / "my" / NAME).read_bytes()
    change(folder / "exercises" / NAME)
    capsys.readouterr()

    mine.copy()
    said, other = capsys.readouterr().out.splitlines()
    assert "has changed since you copied it" in said and 'mine.fresh("05")' in said
    assert other == "my/06_other.ipynb: kept as it is"
    assert mine.CHANGED in repr(progress()) and mine.CHANGED in progress()._repr_html_()

    mine.fresh("05")
    assert capsys.readouterr().out == "my/05_little.new.ipynb: copied\n"
    assert (folder / "my" / NAME).read_bytes() == before
    new, = [row for row in progress().rows if row[3].endswith(".new.ipynb")]
    assert new == ("05 little", "0 of 3", "0 of 4", "my/05_little.new.ipynb", "")

    change(folder / "exercises" / NAME)
    mine.fresh("05")
    assert "rename this one, then ask again" in capsys.readouterr().out


def test_what_is_saved_elsewhere_is_no_change(folder):
    """Windows line ends, one string for a list of lines, other metadata: the same exercise."""
    mine.copy("05")
    notebook = nbformat.read(folder / "exercises" / NAME, as_version=4)
    notebook.metadata["language_info"] = {"name": "python", "version": "3.99"}
    lines = json.dumps(notebook, indent=4).replace("\n", "\r\n")  # sources as one string each
    (folder / "exercises" / NAME).write_bytes(b"\xef\xbb\xbf" + lines.encode())
    path = folder / "my" / NAME
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert [row[4] for row in progress().rows] == ["", "not begun"]


def test_progress_counts_what_the_graded_cells_stored(folder):
    assert repr(progress()) == "\n".join(NOTHING)
    mine.copy("05")
    path = folder / "my" / NAME
    assert progress().rows[0] == ("05 little", "0 of 3", "0 of 4", f"my/{NAME}", "")
    solve(path, p1=1.0, p3=1.5)
    assert progress().rows[0][1:3] == ("1 of 3", "2.5 of 4")
    solve(path, p1=1.0, p2=1.0, p3=2.0)
    assert progress().rows[0][1:3] == ("3 of 3", "4 of 4")
    assert progress().rows[1] == ("06 other", "", "", "", "not begun")
    solve(path, p1="nan", p2=-3.0, p3=99.0)
    assert progress().rows[0][1:3] == ("1 of 3", "2 of 4")


def test_two_graded_cells_of_one_problem_count_once(folder):
    notebook = blank()
    for cell in notebook.cells:
        if cell.id == "p2":
            cell.source = "What next?"
    assert {name: of for name, (_, of) in marks(notebook).items()} == {
        "## 1. Predict": 2, "## 3. Write": 2}


def test_a_damaged_notebook_is_named_and_hides_nothing(folder):
    mine.copy()
    (folder / "my" / "06_other.ipynb").write_text('{"cells": [', encoding="utf-8")
    (folder / "my" / "07_bytes.ipynb").write_bytes(b"\xff\xfe\x00")
    (folder / "my" / "08_folder.ipynb").mkdir()
    solve(folder / "my" / NAME, p1="<b>no number</b>")
    (folder / "my" / "09_copy.ipynb").write_bytes((folder / "exercises" / NAME).read_bytes())
    page = progress()
    for name in ("05_little", "06_other", "07_bytes", "08_folder"):
        assert f"my/{name}.ipynb could not be read: " in repr(page)
    assert "<b>" not in page._repr_html_()
    assert len(page.rows) == 3 and page.rows[2][3] == "my/09_copy.ipynb"


def test_a_lesson_of_ones_own_is_no_exercise(folder):
    (folder / "my").mkdir()
    lesson, = ROOT.glob("notebooks/05_*.ipynb")
    (folder / "my" / lesson.name).write_bytes(lesson.read_bytes())
    assert progress() == Progress()


def test_an_exercise_that_the_course_gave_up(folder):
    mine.copy("05")
    (folder / "exercises" / NAME).unlink()
    assert "no longer has this exercise" in repr(progress())


def test_the_page_links_to_the_notebook(folder):
    (folder / "exercises" / NAME).rename(folder / "exercises" / "05_a&b #1.ipynb")
    mine.copy()
    page = progress()._repr_html_()
    assert '<a href="../my/05_a%26b%20%231.ipynb">my/05_a&amp;b #1.ipynb</a>' in page


def test_the_stored_page_is_the_same_for_everybody(folder, monkeypatch):
    mine.copy("05")
    monkeypatch.setenv("COURSE_STORED", "1")
    assert progress() == Progress()
    assert all(sentence in progress()._repr_html_() for sentence in map(escaped, NOTHING))


def test_what_stores_a_page_says_so_to_its_kernel(folder):
    cell = new_code_cell("import os\nprint(os.environ['COURSE_STORED'])", id="who-asks")
    nbformat.write(new_notebook(cells=[cell]), folder / "page.ipynb")
    page = nbformat.reads(executed(folder / "page.ipynb"), as_version=4)
    assert page.cells[0].outputs[0].text == "1\n"


def escaped(text):
    return text.replace('"', "&quot;")


def test_the_command(folder):
    """Run as a learner runs it, from the folder of the course and without nbgrader."""
    for name in ("__init__.py", "mine.py"):
        (folder / "course").mkdir(exist_ok=True)
        (folder / "course" / name).write_bytes((ROOT / "course" / name).read_bytes())
    code = ("import sys, runpy; sys.modules['nbgrader'] = sys.modules['numpy'] = None\n"
            "sys.argv[1:] = ['05']; runpy.run_module('course.mine', run_name='__main__')")
    done = [subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
            for _ in range(2)]
    assert [run.stdout.splitlines()[0] for run in done] == [
        f"my/{NAME}: copied", f"my/{NAME}: kept as it is"], done[0].stderr
    assert [run.returncode for run in done] == [0, 0]


def test_in_a_page_the_folder_is_that_of_the_notebooks(folder, monkeypatch):
    """JupyterLite: the package lies elsewhere, and a notebook runs in exercises/ or notebooks/."""
    monkeypatch.chdir(folder / "exercises")
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert runpy.run_path(mine.__file__)["ROOT"] == folder
