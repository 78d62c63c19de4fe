"""Your own copies of the exercises, in my/: python -m course.mine [05 ...]

A copy is made once and never written to again, by no command and no update. It remembers, in its
notebook metadata, what the exercise was, so that a later change of the exercise can be told. What
you have solved in the copies is read by course.progress. Leaves out marking: course.check does it.
"""
import hashlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
if sys.platform == "emscripten":  # Python in a page: the notebooks' folder is not the package's
    ROOT = Path.cwd().parent
KEY = "guessing_ahead"  # in the notebook's metadata, which JupyterLab keeps when it saves
CHANGED = "the exercise has changed since you copied it"
FRESH = ('for a new one beside it run mine.fresh("{0}") in a cell, or make my ARGS="--fresh {0}" '
         "in a terminal")


def copy(*lessons):
    """Copy the exercises of these lessons, or all, into my/ where they are not there; say so."""
    for exercise in _chosen(lessons):
        _write(exercise, ROOT / "my" / exercise.name)


def fresh(*lessons):
    """Copy the exercises of these lessons once more, beside the copies that are there; say so."""
    for exercise in _chosen(lessons):
        path = ROOT / "my" / exercise.name
        _write(exercise, path.with_suffix(".new.ipynb") if path.exists() else path)


def exercises():
    """{name without ending: path} of all exercises, in order."""
    return {path.stem: path for path in sorted(ROOT.glob("exercises/*.ipynb"))}


def _chosen(lessons):
    """Paths of the exercises of these lessons, or of all. ValueError if there is none."""
    found = {stem[:2]: path for stem, path in exercises().items()}
    if not found:
        raise ValueError("There are no exercises here. They stand in the folder of the course: "
                         "install it from there, with make lab or pip install -e .")
    wanted = [str(lesson).zfill(2)[:2] for lesson in lessons] or list(found)
    if unknown := [lesson for lesson in wanted if lesson not in found]:
        raise ValueError(f"There is no exercise {unknown[0]}. There are: {', '.join(found)}.")
    return [found[lesson] for lesson in wanted]


def _write(exercise, path):
    """Write a copy of the exercise to path, if no file is there, and print what was done."""
    notebook = read(exercise)
    notebook.setdefault("metadata", {})[KEY] = {"exercise": exercise.stem,
                                                "sha256": digest(notebook)}
    text = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    path.parent.mkdir(exist_ok=True)
    try:
        with open(path, "x", encoding="utf-8", newline="\n") as file:  # x: never over a file
            file.write(text)
        print(f"my/{path.name}: copied")
    except FileExistsError:
        print(f"my/{path.name}: kept as it is{_remark(exercise, path)}")


def _remark(exercise, path):
    """What to add about the file at path, which was not written."""
    try:
        about = note(read(path), exercise)
    except Exception as error:  # whatever is wrong with it, it stays
        about = f"it could not be read ({short(error)})"
    if about and path.name == exercise.name:
        return f". {about[0].upper()}{about[1:]}: {FRESH.format(exercise.name[:2])}"
    return f". {about[0].upper()}{about[1:]}: rename this one, then ask again" if about else ""


def read(path):
    """The notebook at path, a dict with a list of cells. ValueError or OSError if it is none."""
    notebook = json.loads(path.read_text(encoding="utf-8-sig"))
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise ValueError("this is no notebook")
    return notebook


def source(cell):
    """The text of a cell, for which a file has one string or a list of lines."""
    return "".join(cell.get("source", ""))


def digest(notebook):
    """A hash of what is asked: the texts of all cells, in order."""
    asked = [[cell.get("cell_type"), source(cell)] for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


def note(notebook, exercise):
    """What to know about a copy of the exercise (a path, or None); "" if all is well."""
    origin = notebook.get("metadata", {}).get(KEY)
    if exercise is None:
        return "the course no longer has this exercise"
    if origin is None:
        return "no copy made here, so a change of the exercise cannot be told"
    return "" if origin["sha256"] == digest(read(exercise)) else CHANGED


def short(error):
    """An exception in at most 90 letters of one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:90]


def main(words):
    """Copy, or with --fresh copy beside; returns what went wrong, or None."""
    lessons = [word for word in words if word != "--fresh"]
    try:
        (fresh if "--fresh" in words else copy)(*lessons)
        print("Open them in JupyterLab, in the folder my. No update of the course touches it.")
    except (ValueError, OSError) as error:
        return str(error)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
