"""tools/execute.py stores what a reader sees and nothing of the run: twice the same bytes."""

import json
import sys

import execute
import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

CELLS = [
    "import os, sys\nfrom ipywidgets import IntSlider\nprint(sys.executable)\nprint(os.getcwd())",
    "IntSlider(3)",
    "print('one', flush=True)\nprint('two')\n2 + 2\n",
]


def notebook(path):
    """A small notebook at path whose cells carry ids given by hand."""
    cells = [new_markdown_cell("# Small", id="title")]
    cells += [new_code_cell(source, id=f"cell-{i}") for i, source in enumerate(CELLS)]
    nbformat.write(new_notebook(cells=cells, metadata={}), path)
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs of one notebook, on a machine whose kernel python3 is something else."""
    folder = tmp_path_factory.mktemp("lesson")
    decoy = folder / "jupyter" / "kernels" / "python3"
    decoy.mkdir(parents=True)
    spec = {"argv": ["no-such-python"], "display_name": "decoy", "language": "python"}
    (decoy / "kernel.json").write_text(json.dumps(spec))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder / "jupyter"))
        path = notebook(folder / "small.ipynb")
        yield folder, execute.executed(path), execute.executed(path)


def test_two_runs_give_the_same_bytes(runs):
    _, first, second = runs
    assert first == second
    assert first.endswith("}\n") and not first.endswith("\n\n")


def test_runs_in_this_python_and_in_the_notebooks_folder(runs):
    folder, first, _ = runs
    printed = json.loads(first)["cells"][1]["outputs"][0]["text"]
    assert "".join(printed).splitlines() == [sys.executable, str(folder)]


def test_keeps_ids_counts_and_whole_streams(runs):
    cells = json.loads(runs[1])["cells"]
    assert [cell["id"] for cell in cells] == ["title", "cell-0", "cell-1", "cell-2"]
    assert [cell["execution_count"] for cell in cells[1:]] == [1, 2, 3]
    assert [out["output_type"] for out in cells[3]["outputs"]] == ["stream", "execute_result"]


def test_leaves_no_kernel_behind(runs):
    left = [" ".join(p.cmdline()) for p in psutil.Process().children(recursive=True)]
    assert not [command for command in left if "ipykernel" in command]


def test_drops_what_a_save_in_jupyterlab_adds():
    """The HTML of a widget is kept; its model id goes, which is random."""
    def cell(**extra):
        data = {"text/html": "<p>", "text/plain": "w", **extra.pop("data", {})}
        output = new_output("display_data", data=data)
        return new_code_cell("1", id="a", outputs=[output], metadata={"tags": ["run"], **extra})
    saved = new_notebook(
        cells=[cell(execution={"iopub.status.busy": "now"}, scrolled=True,
                    data={execute.WIDGET: {"model_id": "random"}})],
        metadata={"widgets": {"state": {}}, "language_info": {"name": "python", "version": "3"}})
    stored = new_notebook(cells=[cell()], metadata=execute.METADATA)
    assert nbformat.writes(execute.normalise(saved)) == nbformat.writes(stored)


@pytest.mark.parametrize("ids", [["a", None], ["a", "a"]])
def test_refuses_a_cell_without_an_id_of_its_own(tmp_path, ids):
    path = notebook(tmp_path / "small.ipynb")
    nb = json.loads(path.read_text())
    nb["cells"] = nb["cells"][:2]
    for cell, name in zip(nb["cells"], ids):
        cell["id"] = name
    path.write_text(json.dumps(nb))
    with pytest.raises(ValueError, match="cell 1 has no id of its own: give it one"):
        execute.executed(path)


def test_a_failing_notebook_stays_as_it_was(tmp_path, capsys):
    path = notebook(tmp_path / "small.ipynb")
    path.write_text(path.read_text().replace("2 + 2", "1 / 0"))
    before = path.read_bytes()
    assert execute.main([str(path), str(tmp_path / "missing.ipynb")]) == 2
    assert path.read_bytes() == before
    assert "ZeroDivisionError" in capsys.readouterr().err
