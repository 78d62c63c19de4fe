"""The sources of the site from what the repository holds: assemble(folder) writes them.

Lessons go in with their stored outputs; of what they say, only what is meant for a kernel is put
in words for a page. The problems of a lesson become one page: the question and the blank from
exercises/, what a reader can answer on the page (asked.py), and, in a box to open, the answer, its
verdicts and its reasons from solutions/. The claims and the lines worth keeping are gathered from
the lessons, so no second text exists that could differ. Left out: anything that runs a cell.
"""
import re
import shutil
from pathlib import Path

import nbformat
from asked import boxes

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("index.md", "glossary.md", "questions.md", "lite.md", "lab.md", "site.md", "benchmarks.md")
SAID = {  # what a notebook says to somebody with a kernel: what a page says
    "put a letter in place of the question mark and run the cell, or open": "open",
    "put a letter in place of the three dots and run the cell, or open": "open",
    "(run the cell to": "(this needs JavaScript to",
    "</summary><": "</summary>\n<", "</details><": "</details>\n<"}  # search quotes both apart
BELOW = "\n\n```{{toctree}}\n:hidden:\n\nProblems and answers <../problems/{}>\n```"
HERE = """

**On this page** you can answer what asks for a number or a choice, and open the box with our
answer. Code is run in the notebook.

{{download}}`The notebook to work on <../exercises/{0}>` · [the lesson](../notebooks/{0})"""
SHOWN = {"setup": "The cell that sets up", "predict": "The cell that asks",
         "mark": "The cell that marks"}


def assemble(folder):
    """Write the sources of the site into folder, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("notebooks", "problems", "exercises"):
        (folder / name).mkdir(parents=True)
    lessons = {path: nbformat.read(path, 4) for path in sorted(ROOT.glob("notebooks/*.ipynb"))}
    for path, lesson in lessons.items():
        lesson.cells[0].source += _in_the_lab(path, lesson)
        for cell in lesson.cells:
            _for_readers(cell)
            cell.source = re.sub(r"(?<=choose )\*(Problems for lesson \d\d)\*",
                                 rf"[\1](../problems/{path.name})", cell.source)
        if (ROOT / "solutions" / path.name).exists():  # so that they stand below it in the menu
            lesson.cells[-1].source += BELOW.format(path.stem)
        nbformat.write(lesson, folder / "notebooks" / path.name)
    for path in sorted(ROOT.glob("solutions/*.ipynb")):
        blanks = nbformat.read(ROOT / "exercises" / path.name, 4)
        page = problems(nbformat.read(path, 4), blanks, path.name)
        page.cells[0].source += _in_the_lab(ROOT / "exercises" / path.name, blanks)
        nbformat.write(page, folder / "problems" / path.name)
        shutil.copy(ROOT / "exercises" / path.name, folder / "exercises")
    for name in PAGES:
        shutil.copy(ROOT / "docs" / name, folder)
    shutil.copy(ROOT / "README.md", folder)
    shutil.copy(ROOT / "docs" / "rule.png", folder)
    (folder / "claims.md").write_text(claims(lessons), "utf-8")
    (folder / "lines.md").write_text(lines(lessons), "utf-8")


def _for_readers(cell):
    """Change a cell in place to what a page shows of it. The id goes along, as an address."""
    if cell.cell_type == "markdown":  # γ = 2 and 20 000 stay in one line; code and formulas as is
        parts = re.split(r"(`[^`]*`|\$[^$]*\$)", cell.source)
        parts[::2] = [re.sub(r"(?<=\d) (?=\d{3}\b)", "\u00a0", re.sub(
            r"\b([γαcnTpq]|TV) = (?=[\d.(])", "\\1\u00a0=\u00a0", part)) for part in parts[::2]]
        cell.source = "".join(parts)
    tags = cell.metadata.get("tags", [])
    words = next((SHOWN[tag] for tag in tags if tag in SHOWN), "")
    cell.metadata = {"cell-id": cell.id, "tags": tags + ["hide-input"] * bool(words), "mystnb": {
        "code_prompt_show": words, "code_prompt_hide": words} if words else {}}
    for output in cell.get("outputs", []):
        if "text/html" in output.get("data", {}):
            output.data["text/html"] = _worded(output.data["text/html"])


def _in_the_lab(path, notebook):
    """A link that opens the notebook in the lab, if it can run there (tools/lite.py)."""
    if any(re.search(r"^needs\(", cell.source, re.M) for cell in notebook.cells):
        return ""
    place = f"{path.parent.name}/{path.name}"
    return f'\n\n<a href="../lab.html?path={place}">Run it in the page</a>'


def _worded(text):
    """What a page says where a notebook speaks to somebody with a kernel."""
    for old, new in SAID.items():
        text = text.replace(old, new)
    return text


def problems(solved, blanks, name):
    """The page of problems of one lesson, made from its solutions and its exercises."""
    asked = {cell.id: cell for cell in blanks.cells}
    page, answers = [], []
    for cell in solved.cells:
        mark = cell.metadata.get("nbgrader", {})
        cell.metadata["tags"] = cell.metadata.get("tags", []) + ["mark"] * mark.get("grade", False)
        _for_readers(cell)
        if answers and cell.cell_type == "markdown" and cell.source.startswith("## "):
            page, answers = page + _offered(answers) + _revealed(answers), []
        if mark.get("solution"):
            page.append(_blank(asked[cell.id]))
        (answers if answers or mark.get("solution") else page).append(cell)
    solved.cells = page + _offered(answers) + _revealed(answers)
    solved.cells[0].source += HERE.format(name)
    return solved


def _blank(cell):
    """The cell as a learner finds it, without results."""
    cell.metadata, cell.outputs, cell.execution_count = {"tags": ["blank"]}, [], None
    cell.id = f"{cell.id}-blank"
    return cell


def _offered(answers):
    """A cell for each question of a problem that a reader can answer on the page."""
    return [nbformat.v4.new_markdown_cell(_worded(box), id=f"ask-{name}")
            for name, box in boxes(answers).items()]


def _revealed(answers):
    """The cells of an answer in a box to open. A box holds cells, so its ends are cells too."""
    if not answers:
        return []
    start = '<details class="answer">\n<summary>An answer, and why</summary>'
    ends = [nbformat.v4.new_markdown_cell(text, id=f"{answers[0].id}-{place}")
            for place, text in (("opens", start), ("ends", "</details>"))]
    for cell in answers:  # marks for a grader, and the points that it adds up, are not for readers
        if cell.cell_type == "code":
            cell.source = re.sub(r" *### (BEGIN|END) (SOLUTION|HIDDEN TESTS)\n?", "", cell.source)
            cell.outputs = [o for o in cell.outputs if not re.fullmatch(
                r"\d+\.\d+", o.get("data", {}).get("text/plain", ""))]
    return [ends[0], *answers, ends[1]]


def claims(lessons):
    """The page of all claims: each with its objection, and the cell that would end it."""
    text = ["# All claims\n\nEach sentence is argued with in its lesson, and the cell behind it "
            "would fail if the sentence were false. Open the doubt, then go to the cell and "
            "bend it."]
    for path, lesson in lessons.items():
        found = []
        for cell, proof in zip(lesson.cells, lesson.cells[1:]):
            for said, box in re.findall(r"^\*\*Claim\.\*\* ([^\n]+)\n\n(<details>.*?</details>)",
                                        cell.source, re.M | re.S):
                found.append(f"**{len(found) + 1}.** {said}\n\n{box}\n\n"
                             f"[The cell that would end it](#{path.stem[:2]}-{proof.id})")
        if found:
            text += [_heading(path, lesson), *found]
    return "\n\n".join(text) + "\n"


def lines(lessons):
    """The page of the lines worth keeping."""
    text = ["# Lines worth keeping\n\nThree from every lesson: what should be left when the rest "
            "is forgotten."]
    for path, lesson in lessons.items():
        for cell in lesson.cells:
            if cell.source.startswith("## Lines worth keeping\n"):
                text += [_heading(path, lesson), cell.source.split("\n", 1)[1].strip()]
    return "\n\n".join(text) + "\n"


def _heading(path, lesson):
    return f"## [{lesson.cells[0].source.splitlines()[0].strip('# ')}](notebooks/{path.name})"
