"""What you have solved so far: read from the notebooks in my/, as they were saved last.

A graded cell of an exercise returns its points, and the saved notebook keeps that number; here the
numbers are added up. Nothing is run, marked or sent anywhere. Leaves out the hidden tests of a
course with a grader: they are not in a copy.
"""
import html
import os
from dataclasses import dataclass
from urllib.parse import quote

from course import mine

HEAD = ("lesson", "problems solved", "points", "your notebook", "note")
NOTHING = ("Nothing solved yet: no copy of an exercise is in my/.",
           'To begin, run mine.copy("01") in a cell, or make my in a terminal; '
           "then open the notebook in my/.")


@dataclass(frozen=True)
class Progress:
    """A table of what is solved, which shows itself as text and as HTML."""

    rows: tuple[tuple[str, ...], ...] = ()  # texts, in the order of HEAD
    troubles: tuple[str, ...] = ()  # sentences on files that could not be read

    def __repr__(self):
        table = [HEAD, *self.rows] if self.rows else []
        wide = [max(map(len, column)) for column in zip(*table)]
        lines = ["  ".join(text.ljust(n) for text, n in zip(row, wide)).rstrip() for row in table]
        return "\n".join([*(lines or NOTHING), *self.troubles])

    def _repr_html_(self):
        table = (f'<table class="course-table"><thead>{_line("th", HEAD)}</thead>'
                 f'<tbody>{"".join(map(_html, self.rows))}</tbody></table>') if self.rows else ""
        said = [*([] if self.rows else NOTHING), *self.troubles]
        return table + "".join(f"<p>{html.escape(sentence)}</p>" for sentence in said)


def progress():
    """The Progress that the notebooks in my/ show. Never raises."""
    if os.environ.get("COURSE_STORED"):  # the notebook that the course stores, the same for all
        return Progress()
    exercises, rows, troubles = mine.exercises(), [], []
    for path in sorted(mine.ROOT.glob("my/*.ipynb")):
        try:
            rows += _rows(path, exercises)
        except Exception as error:  # a damaged notebook must not hide the others
            troubles.append(f"my/{path.name} could not be read: {mine.short(error)}")
    if rows:
        begun = {row[0] for row in rows}
        rows += [(_title(stem), "", "", "", "not begun") for stem in exercises
                 if _title(stem) not in begun]
    return Progress(tuple(sorted(rows)), tuple(troubles))


def marks(notebook):
    """{heading of a problem: (points got, points to get)}, as its graded cells store them."""
    found, heading = {}, ""
    for cell in notebook["cells"]:
        source = mine.source(cell)
        if cell.get("cell_type") == "markdown" and source.startswith("## "):
            heading = source.splitlines()[0]
        about = cell.get("metadata", {}).get("nbgrader", {})
        if about.get("grade") and ".points(" in source:  # in a copy, hidden tests are blank
            got, of = found.get(heading, (0.0, 0.0))
            most = float(about["points"])
            found[heading] = got + min(_returned(cell), most), of + most
    return found


def _returned(cell):
    """The number that the cell returned when it was last run; 0.0 if there is none above it."""
    for output in cell.get("outputs", []):
        if output.get("output_type") == "execute_result":
            value = float("".join(output["data"]["text/plain"]))
            return value if value > 0 else 0.0  # nan is not above either
    return 0.0


def _rows(path, exercises):
    """The row of the notebook at path, in a list: an empty one if it is no copy of an exercise."""
    notebook = mine.read(path)
    origin = notebook.get("metadata", {}).get(mine.KEY, {}).get("exercise", path.stem)
    found = marks(notebook).values()
    if not found:
        return []  # a lesson, or something else of the reader's own
    solved = sum(got >= of for got, of in found)
    points, of = (sum(column) for column in zip(*found))
    return [(_title(origin), f"{solved} of {len(found)}", f"{points:g} of {of:g}",
             f"my/{path.name}", mine.note(notebook, exercises.get(origin)))]


def _title(stem):
    """05 the accept reject rule"""
    return stem.replace("_", " ")


def _html(row):
    """A row of the table, with a link to the notebook from any folder of the course."""
    cells = [html.escape(text) for text in row]
    if row[3]:
        cells[3] = f'<a href="../{html.escape(quote(row[3]))}">{cells[3]}</a>'
    return _line("td", cells)


def _line(tag, cells):
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"
