"""Lessons that need torch or numba, run without them: they say so once and run to their end.

tools/testall.py runs all other lessons without them too, and compares what they print.
"""
import os
import re
from pathlib import Path

import nbformat
import pytest
from execute import client

from course.needs import needs

ROOT = Path(__file__).parent.parent
NEEDY = {path: nbformat.read(path, as_version=4)
         for path in sorted(ROOT.glob("notebooks/*.ipynb"))
         if re.search(r'needs\([^)]*(torch|numba)', path.read_text("utf-8"))}


def test_the_lessons_that_need_more_are_found():
    assert [path.name[:2] for path in NEEDY] == ["02", "03"]


def test_nothing_is_said_where_all_is_there():
    assert needs("numpy", "scipy") is None


def test_outside_a_notebook_it_raises():
    with pytest.raises(ImportError, match="(?s)no_such_package.*make lab"):
        needs("numpy", "no_such_package")


@pytest.fixture(scope="module", params=NEEDY, ids=lambda path: path.stem)
def printed(request):
    """What each code cell of a lesson prints on a machine without torch and numba."""
    nb = NEEDY[request.param]
    path = os.pathsep.join(map(str, [ROOT / "tests" / "blocked", ROOT]))
    client(nb, ROOT / "notebooks").execute(env=dict(os.environ, PYTHONPATH=path))
    return ["".join(o.get("text", o.output_type) for o in cell.outputs)
            for cell in nb.cells if cell.cell_type == "code"]


def test_the_first_cell_says_what_is_missing_and_where_to_read(printed):
    for words in ("needs", "torch", "make lab", "Reload Notebook", "a browser shows them"):
        assert words in printed[0]


def test_every_later_cell_is_left_out(printed):
    assert len(printed) > 10
    for text in printed[1:]:
        assert text.startswith("left out: ") and text.count("\n") == 1
