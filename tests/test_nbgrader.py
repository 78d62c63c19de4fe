"""Submissions through the real nbgrader, and the points that come out.

nbgrader scores a cell by what it returns or raises, and anything on standard error costs all of its
points: five learners, from a right one to a noisy one, show that ours are scored as they should be.
Everything happens in a temporary folder. Left out: nbgrader's exchange and its web pages.
"""
import html
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("nbgrader", reason="nbgrader is not installed (extra: workshop)")

import little

from course import check, mine, release

ROOT = Path(__file__).resolve().parent.parent
REAL = sorted(ROOT.glob("solutions/05_*.ipynb"))
CONFIG = "from course import release\nc = get_config()\nc.merge(release.settings())\n"

FLOOD = ['    print("spam " * 2000)', '    print("on standard error", file=sys.stderr)',
         '    warnings.warn("a warning")']
CLASS = {  # learner: {answer cell: lines}; a cell that is not named stays as it was handed out
    "full": little.RIGHT,
    "untouched": {},
    "wrong": {"p1-answer": ['    "b"'], "p2-answer": [f"    {1 - little.KEPT}"],
              "p3-answer": ["    return p"]},
    "crashing": {"p1-answer": ["    1 / 0"], "p2-answer": ['    {}["kept"]'],
                 "p3-answer": ['    raise RuntimeError("half-way")']},
    "noisy": {"p1-answer": ['    print("c", file=__import__("sys").stderr) or "c"'],
              "p2-answer": [f'    [print("x" * 80) for _ in range(500)] and {little.KEPT}'],
              "p3-answer": ["    import sys, warnings", *FLOOD, *little.RIGHT["p3-answer"]]},
}
POINTS = {"full": (1, 1, 2, 1), "untouched": (0, 0, 0, 0), "crashing": (0, 0, 0, 0),
          "noisy": (1, 1, 2, 1)}
CELLS = ("p1-mark", "p2-mark", "p3-mark", "p3-hidden")


def nbgrader(folder, *words):
    """Run an nbgrader command in folder; its files go nowhere else."""
    # nbgrader calls a program that was installed beside it (alembic)
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    env = dict(os.environ, PATH=path, JUPYTER_PREFER_ENV_PATH="1")
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR",
                 "HOME", "USERPROFILE", "APPDATA", "PROGRAMDATA"):
        env[name] = str(folder / "home" / name.lower())
    done = subprocess.run([sys.executable, "-m", "nbgrader", *words], cwd=folder, env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                          errors="replace", timeout=600)
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


def points(folder, notebook):
    """{learner: {cell: points}} from the gradebook."""
    from nbgrader.api import Gradebook
    with Gradebook(f"sqlite:///{(folder / 'gradebook.db').as_posix()}") as book:
        return {s.student.id: {g.cell.name: g.score for n in s.notebooks if n.name == notebook
                               for g in n.grades} for s in book.assignment_submissions("05")}


def feedback(folder, learner):
    """The text of the page that the learner gets back."""
    page = folder / "feedback" / learner / "05" / "05_little.html"
    bare = re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8"))
    return re.sub(r"\s+", " ", html.unescape(bare))


def submit(handed_out, learner, answers):
    """Submit a notebook that was handed out, with these sources in its answer cells."""
    notebook = nbformat.read(handed_out, as_version=4)
    notebook.metadata[mine.KEY] = {"exercise": handed_out.stem, "sha256": ""}  # copied by mine
    for cell in notebook.cells:
        cell.source = answers.get(cell.id, cell.source)
    place = handed_out.parents[2] / "submitted" / learner / "05"
    place.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, place / handed_out.name)


def solved(solution):
    """{answer cell: its source in the solution, without the markers}."""
    return {cell.id: re.sub(r"(?m)^\s*### (BEGIN|END) SOLUTION\n?", "", cell.source)
            for cell in solution.cells if cell.metadata.get("nbgrader", {}).get("solution")}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The folder of a course in which one assignment was handed out and graded."""
    folder = tmp_path_factory.mktemp("nbgrader")
    (folder / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    (folder / "source" / "05").mkdir(parents=True)
    nbformat.write(little.lesson(), folder / "source" / "05" / "05_little.ipynb")
    for path in REAL:
        shutil.copy(path, folder / "source" / "05")
    nbgrader(folder, "generate_assignment", "05")
    handed_out = folder / "release" / "05"
    for learner, answers in CLASS.items():
        submit(handed_out / "05_little.ipynb", learner,
               {name: little.filled(name, lines) for name, lines in answers.items()})
    for path in REAL:
        submit(handed_out / path.name, "full", solved(nbformat.read(path, as_version=4)))
        submit(handed_out / path.name, "untouched", {})
    nbgrader(folder, "autograde", "05")
    nbgrader(folder, "generate_feedback", "05")
    return folder


@pytest.mark.parametrize("name", ["05_little.ipynb", *(path.name for path in REAL)])
def test_nbgrader_hands_out_what_exercises_holds(graded, name):
    """With the settings of course.release its own command makes the same file, checksums too."""
    ours = release.exercise(graded / "source" / "05" / name)
    theirs = (graded / "release" / "05" / name).read_text(encoding="utf-8")
    assert nbformat.reads(ours, as_version=4) == nbformat.reads(theirs, as_version=4)


@pytest.mark.parametrize("learner", POINTS)
def test_points(graded, learner):
    assert points(graded, "05_little")[learner] == dict(zip(CELLS, POINTS[learner]))


def test_a_wrong_answer_gets_the_part_that_its_verdict_gives(graded):
    part = check.residual(lambda p, q: p).points(2)
    assert 0 < part < 2
    assert points(graded, "05_little")["wrong"] == dict(zip(CELLS, (0, 0, part, 0)))


def test_the_feedback_holds_the_reason(graded):
    page = feedback(graded, "wrong")
    for verdict in (check.choice("05-keep", "b"), check.number("05-alpha", 1 - little.KEPT),
                    check.residual(lambda p, q: p)):
        assert re.sub(r"\s+", " ", verdict.reason.replace("`", "")) in page, verdict.kind
    assert "a pair you have not seen" in page
    assert "No answer yet" in feedback(graded, "untouched")
    assert "half-way" in feedback(graded, "crashing")


def test_nothing_was_written_outside(graded):
    assert {path.name for path in graded.iterdir()} <= {
        "nbgrader_config.py", "source", "release", "submitted", "autograded", "feedback",
        "gradebook.db", "home", ".nbgrader.log"}


@pytest.mark.skipif(not REAL, reason="there is no solutions/05_*.ipynb")
def test_a_real_exercise(graded):
    """Lesson 05: all points for the answers of the solution, none for an untouched copy."""
    most = {cell.id: cell.metadata.nbgrader.points
            for cell in nbformat.read(REAL[0], as_version=4).cells
            if cell.metadata.get("nbgrader", {}).get("grade")}
    found = points(graded, REAL[0].stem)
    assert found["full"] == most and found["untouched"] == dict.fromkeys(most, 0)
