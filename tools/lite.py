"""Build the lab that runs in the page: python tools/lite.py [--pyodide FOLDER] [--out FOLDER]

JupyterLite with the course's wheel, the packages of Python alone that Pyodide has not got, and a
copy of each lesson and exercise that NumPy can run. The copies get one cell more, the first. Python
itself, NumPy, SciPy and matplotlib come from the address that the kernel package knows, or from a
local Pyodide, whose missing packages of Python alone pip then adds. Left out: the pair's weights.
"""
import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from jupyterlite_pyodide_kernel import constants
from packaging.utils import canonicalize_name as canonical

ROOT = Path(__file__).resolve().parent.parent
KERNEL = {"kernelspec": {"name": "python", "display_name": "Python (Pyodide)",
                         "language": "python"}, "language_info": {"name": "python"}}
PINS = {canonical(name): version for name, version in re.findall(
    r"^([\w.-]+)==(\S+)", (ROOT / "constraints.txt").read_text("utf-8"), re.M)}
# What `course` imports beside what Pyodide has: no compiled code in them. A test keeps it complete.
PURE = ("anywidget", "comm", "ipywidgets", "jupyterlab-widgets", "psygnal")
FRONT = ("@jupyterlite/pyodide-kernel-extension", "@jupyter-widgets/jupyterlab-manager",
         "anywidget")  # the halves of kernel and widgets that live in the browser
# What kernel and widgets want of Pyodide, packages of Python alone; see them in its lock.
START = ("ipython", "jedi", "micropip", "typing-extensions")
FIRST = """\
# Only in this lab: the course comes from this page; NumPy, SciPy and matplotlib are fetched from
# the server of Pyodide, some tens of megabytes the first time. Run this cell before all others.
import piplite

try:
    for name in ("numpy", "scipy", "matplotlib", "anywidget"):
        await piplite.install(name)
    await piplite.install("guessing-ahead", deps=False)
    print("The course is here. Run on.")
except Exception as error:
    print("NumPy, SciPy and matplotlib could not be fetched: you are offline, or their server is\\n"
          "blocked. The results below are stored and can be read all the same. To run the cells,\\n"
          "restart the kernel where they can be fetched, or install the course on a computer.\\n"
          f"({type(error).__name__}: {str(error)[:200]})")
"""


def pip(*options):
    """Run pip with these options; its words are shown only if it fails."""
    subprocess.run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check",
                    *options], check=True)


def fetch_pure(specs, folder):
    """Put the wheels of these name==version into folder: those for any system, nothing compiled."""
    pip("download", "--no-deps", "--only-binary", ":all:", "--platform", "any",
        "--python-version", constants.PYODIDE_PYTHON_VERSION, "--dest", str(folder), *specs)


def wheel(folder):
    """Put the wheel of the course into folder; built from a copy, so that the tree stays clean."""
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "course"
        shutil.copytree(ROOT / "course", copy / "course", ignore=shutil.ignore_patterns(
            "__pycache__", "*.safetensors"))
        for path in (ROOT / "pyproject.toml", ROOT / "README.md", *ROOT.glob("LICENSE*")):
            shutil.copy(path, copy)
        pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(copy))


def needed(notebook):
    """Names of the packages without which the notebook leaves its cells out, as it says itself."""
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    return [name for call in re.findall(r"^needs\((.*)\)", code, re.M)
            for name in re.findall(r'"(\w+)"', call)]


def sorted_out():
    """Paths of the notebooks that run here, and {path: packages} of those that do not."""
    both = {path: needed(nbformat.read(path, 4)) for folder in ("notebooks", "exercises")
            for path in sorted((ROOT / folder).glob("*.ipynb"))}
    return [p for p, names in both.items() if not names], {p: n for p, n in both.items() if n}


def copied(path, absent):
    """The lesson at path as the lab has it: one cell more, and no link to a lesson not there."""
    notebook = nbformat.read(path, 4)
    for cell in notebook.cells:
        for name in absent if cell.cell_type == "markdown" else ():
            cell.source = re.sub(rf"\[([^]]*)\]\([^)]*{re.escape(name)}[^)]*\)",
                                 r"\1 (needs a computer)", cell.source)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(FIRST.rstrip("\n"), id="lab-first"))
    notebook.metadata = nbformat.from_dict(KERNEL)
    return notebook


def title(path):
    """The heading of the notebook at path."""
    return nbformat.read(path, 4).cells[0].source.splitlines()[0].lstrip("# ")


def contents(folder):
    """Write the lab's notebooks and its README.md into folder; return their paths in it."""
    here, absent = sorted_out()
    for path in here:
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(copied(path, [p.name for p in absent]), target)
    away = [f"- {title(p)}: needs {' and '.join(names)}" for p, names in absent.items()]
    (folder / "README.md").write_text("\n".join([
        "# This lab", "", "Python runs in your browser here. In a notebook, run the first cell "
        "before all others: it says what is fetched. What you change is kept in this browser "
        "alone, until its data are deleted: *File → Download* saves a notebook for good.", "",
        "Cells that measure time measure Python in a browser. Their numbers differ from the "
        "stored ones, and lesson 08 asks for 256 MB of memory in section 6.", "",
        "These lessons need a computer, since they train or read models with packages that do not "
        "run in a browser. They can be read on the site:", "", *away, ""]), "utf-8")
    return [path.relative_to(ROOT).as_posix() for path in here]


def pyodide(source, target):
    """Copy a local Pyodide, add what the kernel starts with, keep in its lock what is there."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("node_modules", "*.map", "*.ts"))
    lock = json.loads((target / constants.PYODIDE_LOCK).read_text("utf-8"))
    packages = {canonical(name): about for name, about in lock["packages"].items()}
    todo, start = list(START), {}
    while todo:
        name = canonical(todo.pop())
        if name not in start:
            start[name] = packages[name]
            todo += packages[name]["depends"]
    absent = [f"{n}=={p['version']}" for n, p in start.items()
              if not (target / p["file_name"]).exists()]
    if absent:
        fetch_pure(absent, target)
    lock["packages"] = {n: p for n, p in packages.items() if (target / p["file_name"]).is_file()}
    for about in lock["packages"].values():  # Pyodide packs its wheels anew: other bytes than pip's
        about["sha256"] = hashlib.sha256((target / about["file_name"]).read_bytes()).hexdigest()
    (target / constants.PYODIDE_LOCK).write_text(json.dumps(lock), "utf-8")


def configure(stage, site):
    """Write JupyterLite's two files: how to build, and what the page is told."""
    share = Path(sys.prefix) / "share" / "jupyter" / "labextensions"
    if absent := [name for name in FRONT if not (share / name).is_dir()]:
        raise SystemExit(f"not installed here: {', '.join(absent)}. make lite installs it.")
    build = {"apps": ["lab"], "contents": ["files"], "output_dir": str(site),
             "lite_dir": str(stage), "ignore_sys_prefix": True, "no_sourcemaps": True,
             "no_unused_shared_packages": True,
             "federated_extensions": [str(share / name) for name in FRONT]}
    (stage / "jupyter_lite_config.json").write_text(json.dumps({"LiteBuildConfig": build}), "utf-8")
    # nothing is fetched from a package index unasked: the pages say where everything comes from
    settings = {constants.PYODIDE_KERNEL_PLUGIN_ID: {constants.DISABLE_PYPI_FALLBACK: True}}
    (stage / "jupyter-lite.json").write_text(json.dumps({
        "jupyter-lite-schema-version": 0, "jupyter-config-data": {
            "appName": "Guessing Ahead", "litePluginSettings": settings}}), "utf-8")


def tell(site, local, notebooks):
    """Give the lab its voice for a Python that does not come, and the page in front what to say."""
    shutil.copy(ROOT / "docs" / "lab.js", site / "lab")
    page = site / "lab" / "index.html"
    page.write_text(page.read_text("utf-8").replace(
        "<head>", '<head><script src="./lab.js"></script>', 1), "utf-8")
    address = "static/pyodide" if local else constants.PYODIDE_CDN_URL
    (site / "lab.json").write_text(json.dumps(
        {"pyodide": f"{address}/{constants.PYODIDE_MJS}", "notebooks": notebooks}), "utf-8")


def main(site, local):
    """Build the lab into site, with the Pyodide in the folder local or with that of the kernel."""
    shutil.rmtree(site, ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        stage = Path(name).resolve()
        wheel(stage / "pypi")
        fetch_pure([f"{n}=={PINS[n]}" for n in PURE], stage / "pypi")
        notebooks = contents(stage / "files")
        if local:
            pyodide(local, stage / "static" / "pyodide")
        configure(stage, site)
        done = subprocess.run([sys.executable, "-m", "jupyterlite_core", "build"], cwd=stage,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(f"{done.stdout}\nThe lab could not be built: JupyterLite says why above.")
    tell(site, local, notebooks)
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    print(f"the lab: {len(notebooks)} notebooks, {size / 1e6:.1f} MB in {site}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pyodide", type=Path, help="folder of a local Pyodide")
    parser.add_argument("--out", type=Path, default=ROOT / "_site" / "lite")
    chosen = parser.parse_args()
    main(chosen.out.resolve(), chosen.pyodide and chosen.pyodide.resolve())
