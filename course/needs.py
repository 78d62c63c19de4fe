"""What a lesson needs beside the core, and what happens where it is not installed.

A lesson that needs more calls needs(...) in its first code cell. If something is missing, that cell
says what, how to get it and where the lesson can be read without it. Every later cell is left out,
so that none of them fails for a reason that has been given already. Left out here: versions.
"""
from importlib.util import find_spec

from IPython import get_ipython

SENTENCE = """\
This lesson needs {names}, and {names} cannot be found here.
To install: make lab (README.md says how without make). Then restart the kernel.
To read the lesson without: its results are stored in it. They stand below until a cell is run, and
a browser shows them wherever the course is hosted. If they are gone, File > Reload Notebook from
Disk or a fresh copy of the file brings them back.
Until then the cells below are left out."""


def needs(*packages):
    """Say which of packages are missing, if any, and leave out all later cells of the notebook.

    Raises ImportError with the same words outside a notebook.
    """
    names = " and ".join(name for name in packages if find_spec(name) is None)
    if not names:
        return
    if get_ipython() is None:
        raise ImportError(SENTENCE.format(names=names))
    print(SENTENCE.format(names=names))
    left_out = f"print('left out: {names} is missing, and make lab installs it')\n"
    get_ipython().input_transformers_post.append(lambda lines: [left_out])
