"""A solution notebook of three problems, in the form of solutions/, for the tests around them.

It has every kind of cell that nbgrader treats in its own way, and leaves out hints and the ladder.
"""
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course.check import NUMBERS
from course.marking.values import value_of

KEPT = float(value_of(NUMBERS["05-alpha"]["right"], NUMBERS["05-alpha"]["given"]))
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
RIGHT = {  # what stands between the markers
    "p1-answer": ['    "c"'],
    "p2-answer": [f"    {KEPT}"],
    "p3-answer": ["    owed = np.maximum(p - q, 0.0)", "    if owed.max() <= 1e-12:",
                  '        raise ValueError("nothing is owed")', "    return owed / owed.sum()"],
}
FORM = {
    "p1-answer": ["letter_1 = (", ")"],
    "p2-answer": ["kept_2 = (", ")"],
    "p3-answer": ["def residual(p, q):"],
}
KINDS = {  # grade, locked, solution
    "given": (False, True, False), "answer": (False, False, True), "graded": (True, True, False)}


def lesson():
    """The solution notebook, not run."""
    head = "from IPython.display import display\nimport numpy as np\nfrom course import check"
    cells = [
        md("title", "# Problems for lesson 05: a little one"), code("setup", "given", head),
        md("p1", "## 1. Predict"), answer("p1-answer"),
        graded("p1-mark", 1, 'verdict_1 = check.choice("05-keep", letter_1)', "verdict_1"),
        md("p2", "## 2. Trace"), answer("p2-answer"),
        graded("p2-mark", 1, 'verdict_2 = check.number("05-alpha", kept_2)', "verdict_2"),
        md("p3", "## 3. Write"), answer("p3-answer"),
        graded("p3-mark", 2, "verdict_3 = check.residual(residual)", "verdict_3"),
        code("p3-hidden", "graded", "### BEGIN HIDDEN TESTS\nassert check.residual(residual, "
             'hidden=True).ok, "a pair you have not seen"\n### END HIDDEN TESTS', points=1),
        new_markdown_cell("Whoever draws from p pays twice.", id="p3-why",
                          metadata={"tags": ["solution"]})]
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
             "language_info": {"name": "python"}}
    notebook = new_notebook(cells=cells, metadata=about)
    notebook.nbformat_minor = 5
    return notebook


def filled(name, lines, marked=False):
    """The source of the answer cell of this name with these lines as the answer."""
    first, *last = FORM[name]
    return "\n".join([first, *(["    " + BEGIN] if marked else []), *lines,
                      *(["    " + END] if marked else []), *last])


def answer(name):
    return code(name, "answer", filled(name, RIGHT[name], marked=True))


def graded(name, points, line, verdict):
    return code(name, "graded", f"{line}\ndisplay({verdict})\n{verdict}.points({points})", points)


def md(name, text):
    return new_markdown_cell(text, id=name, metadata=about(name, "given"))


def code(name, kind, text, points=None):
    return new_code_cell(text, id=name, metadata=about(name, kind, points))


def about(name, kind, points=None):
    """nbgrader's metadata of a cell."""
    grade, locked, solution = KINDS[kind]
    found = {"grade": grade, "grade_id": name, "locked": locked, "schema_version": 3,
             "solution": solution, "task": False}
    return {"nbgrader": found if points is None else {**found, "points": points}}
