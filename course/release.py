"""exercises/ from solutions/, by nbgrader's own steps: python -m course.release

Follows nbgrader's generate_assignment with the settings below, step for step, so that a file of
exercises/ and what an instructor generates are the same assignment. Leaves out its database: an
instructor's nbgrader keeps one (README.md, "For instructors").
"""
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).parent.parent
STUB = "...  # your answer"  # Python's own "nothing here yet", for which course.check looks
SECONDS = 120  # for one cell when submissions are graded
MISSING = """\
Exercises are made with nbgrader, and nbgrader cannot be found here.
To install: make test brings it (README.md says how without make).
To solve exercises it is not needed: make my copies them into my/."""


def settings():
    """nbgrader's settings for this course, for the functions here and any nbgrader_config.py.

    Raises ModuleNotFoundError, with what to do, if nbgrader is not installed.
    """
    try:
        from nbconvert.preprocessors import TagRemovePreprocessor
        from nbgrader import preprocessors as steps
        from traitlets.config import Config
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(MISSING, name=error.name) from error
    c = Config()
    c.TagRemovePreprocessor.enabled = True
    c.TagRemovePreprocessor.remove_cell_tags = {"solution"}  # the prose that explains an answer
    c.ClearSolutions.code_stub = {"python": STUB}
    c.Execute.timeout = SECONDS
    c.GenerateAssignment.preprocessors = [
        TagRemovePreprocessor, steps.LockCells, steps.ClearSolutions, steps.ClearOutput,
        steps.CheckCellMetadata, steps.ComputeChecksums, steps.SaveCells, steps.ClearHiddenTests,
        steps.ComputeChecksums, steps.CheckCellMetadata]
    return c


def exercise(path):
    """The text of the exercise made from the solution at path. Raises ValueError if it cannot."""
    config = settings()
    notebook = nbformat.read(path, as_version=4)
    for step in config.GenerateAssignment.preprocessors:
        if step.__name__ == "SaveCells":  # writes to the database
            continue
        try:
            notebook, _ = step(config=config).preprocess(notebook, {})
        except Exception as error:  # whatever nbgrader objects to
            raise ValueError(f"{path.name}: {error}") from error
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def main():
    """Write what has changed, remove what has no solution any more; one line a file."""
    made = {path.name: exercise(path) for path in sorted(ROOT.glob("solutions/*.ipynb"))}
    folder = ROOT / "exercises"
    folder.mkdir(exist_ok=True)
    for name, text in made.items():
        path, data = folder / name, text.encode()
        same = path.exists() and path.read_bytes() == data
        if not same:
            path.write_bytes(data)
        print(f"exercises/{name}: {'no byte changed' if same else 'written'}")
    for path in sorted(folder.glob("*.ipynb")):
        if path.name not in made:
            path.unlink()
            print(f"exercises/{path.name}: removed, it has no solution")


if __name__ == "__main__":
    try:
        main()
    except (ModuleNotFoundError, ValueError) as error:
        sys.exit(str(error))
