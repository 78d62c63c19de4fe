"""Hide torch, numba and its llvmlite as if not installed, in every Python with this folder first.

Python imports a module of this name at every start, so PYTHONPATH=tests/blocked reaches pytest and
the kernels that it starts alike. The search for modules is narrowed, no import is made to fail:
`import torch` and `importlib.util.find_spec("torch")` answer as on a machine without torch.
It leaves the packages' metadata alone: `importlib.metadata` still lists them.
"""

import sys
from importlib.machinery import PathFinder

HIDDEN = {"torch", "numba", "llvmlite"}


class Without(PathFinder):
    """The usual search along sys.path, blind to HIDDEN."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname.partition(".")[0] in HIDDEN:
            return None
        return super().find_spec(fullname, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = Without
