"""Run notebooks and store them so that a re-run changes no byte: python tools/execute.py 05_*.ipynb

Follows nbclient: a fresh kernel for each notebook, in the notebook's own folder. Leaves out of the
stored file what names the machine, the moment or the run: timing, widget state, versions. To the
notebook COURSE_STORED=1 says that this run is for everybody: no progress bar, no look into my/.
The kernel is the Python that runs this file, whatever else is called python3 on the machine.
"""

import glob
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import ipykernel.kernelspec
import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpec
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError

SECONDS = 120  # for one cell
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
PASSING = ("execution", "ExecuteTime", "collapsed", "scrolled", "trusted")  # marks of one sitting
WIDGET = "application/vnd.jupyter.widget-view+json"


class ThisPython(AsyncKernelManager):
    """Starts the interpreter that runs this file, whatever kernel a notebook asks for."""

    @property
    def kernel_spec(self):
        return KernelSpec(**ipykernel.kernelspec.get_kernel_dict())


def normalise(nb):
    """The notebook nb, changed in place to what a reader sees; ids and tags stay as they are."""
    nb.metadata = nbformat.from_dict(METADATA)
    nb.nbformat, nb.nbformat_minor = 4, 5
    for cell in nb.cells:
        cell.source = cell.source.rstrip("\n")
        for key in PASSING:
            cell.metadata.pop(key, None)
        for output in cell.get("outputs", []):
            # random, and of no use without its kernel; the HTML or text beside it is kept
            output.get("data", {}).pop(WIDGET, None)
    return nb


def read(path):
    """The notebook at path. Raises ValueError if a cell has no id of its own."""
    text = Path(path).read_text(encoding="utf-8")
    ids = [cell.get("id") for cell in json.loads(text)["cells"]]
    for i, name in enumerate(ids):
        if not name or name in ids[:i]:  # nbformat would make one up, another at every run
            raise ValueError(f"{path}: cell {i} has no id of its own: give it one, such as "
                             f'"id": "accept-run", beside its "cell_type"')
    return nbformat.reads(text, as_version=4)


def client(nb, folder):
    """What runs the notebook nb in a fresh kernel that starts in folder."""
    # the class, not an instance: nbclient shuts down only a kernel that it made itself
    return NotebookClient(nb, kernel_manager_class=ThisPython, kernel_name="python3",
                          timeout=SECONDS, record_timing=False, coalesce_streams=True,
                          resources={"metadata": {"path": str(folder)}})


def executed(path):
    """The text of the notebook at path after a run in a fresh kernel, as it is stored."""
    nb = read(path)
    client(nb, Path(path).resolve().parent).execute(env=dict(os.environ, COURSE_STORED="1"),
                                                     stderr=subprocess.DEVNULL)
    return nbformat.writes(normalise(nb)).rstrip("\n") + "\n"


def main(patterns):
    """Run and store every notebook that the patterns name; return the number that failed."""
    failures = 0
    # with a backend from outside a plain display(fig) would store no picture
    os.environ.pop("MPLBACKEND", None)
    for pattern in patterns:
        for path in map(Path, sorted(glob.glob(pattern)) or [pattern]):
            start, before = time.monotonic(), path.read_bytes() if path.exists() else b""
            try:
                text = executed(path)
            except (CellExecutionError, CellTimeoutError, OSError, ValueError) as error:
                print(f"{path}: left as it was\n{error}", file=sys.stderr)
                failures += 1
                continue
            path.write_text(text, encoding="utf-8", newline="\n")
            verdict = "no byte changed" if text.encode() == before else "stored"
            print(f"{path}: {verdict}, {time.monotonic() - start:.1f} s", flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0 if sys.argv[1:] else __doc__.splitlines()[0])
