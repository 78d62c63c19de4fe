"""Planted faults: each must make a lesson's own checks fail. python tools/mutate.py [05 06 ...]

tools/faults/NN.toml lists the faults of lesson NN: a text that occurs exactly once, in a cell of
the lesson or in a file of course/, and what stands there instead. The lesson is run from a copy, up
to the first cell that fails. A fault is caught where a check of the lesson raises AssertionError; a
crash is no check. The harmless rewriting that every lesson has must be spared. In check.toml the
faults are those of the checker, and tests must fail instead. Without names, tools/confusion.py runs
too: is every wrong rule taken for itself? Exit status 1 otherwise.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from execute import client
from nbclient.exceptions import CellExecutionError, CellTimeoutError

ROOT = Path(__file__).parent.parent


def planted(text, fault):
    """text with the fault in it. ValueError unless the text to change occurs exactly once."""
    if text.count(fault["old"]) != 1:
        found = text.count(fault["old"])
        raise ValueError(f"{fault['id']}: its text occurs {found} times, not once")
    return text.replace(fault["old"], fault["new"])


def run(lesson, fault):
    """(place, error, message) of the first failure with the fault in it; None if all pass."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "course", Path(folder, "course"))
        if "file" in fault:
            source = Path(folder, "course", fault["file"])
            source.write_text(planted(source.read_text("utf-8"), fault), "utf-8")
        env = dict(os.environ, PYTHONPATH=folder, PYTHONDONTWRITEBYTECODE="1",
                   COURSE_STORED="1", COLUMNS="250")  # wide, or pytest cuts names off
        return tested(fault, env) if "test" in fault else taught(lesson, fault, folder, env)


def taught(lesson, fault, folder, env):
    """As run: the first cell of the lesson that fails."""
    notebook = nbformat.read(lesson, as_version=4)
    if "cell" in fault:
        cell, = [c for c in notebook.cells if c.id == fault["cell"]]
        cell.source = planted(cell.source, fault)
    try:
        client(notebook, folder).execute(env=env, stderr=subprocess.DEVNULL)
    except CellTimeoutError:
        return "a cell:", "CellTimeoutError", "it never ends"
    except CellExecutionError as error:
        failed = next(c for c in notebook.cells if c.cell_type == "code" and any(
            o.output_type == "error" for o in c.outputs))
        return f"{failed.id}:", error.ename, error.evalue.split("\n")[0][:80]
    return None


def tested(fault, env):
    """As run: the first test in tests/ that fails, of those that fault["test"] names."""
    pytest = [sys.executable, "-P", "-m", "pytest", "-xq", "-p", "no:cacheprovider"]  # -P: the copy
    done = subprocess.run([*pytest, f"tests/{fault['test']}"], cwd=ROOT, env=env,
                          capture_output=True, encoding="utf-8", errors="replace")
    failed = re.findall(r"^FAILED tests/(\S+)(?: - (\w+))?", done.stdout, re.M)
    if done.returncode == 0:
        passed = re.search(r"\d+ passed", done.stdout)
        return None if passed else ("its test:", "skipped", "needs what is missing here")
    if not failed:
        return "pytest:", "no test ran", done.stdout[-80:]
    test, error = failed[0]
    return f"{test}:", "AssertionError" if error in ("", "assert") else error, ""


def verdict(lesson, fault):
    """(as it should be, the line to print) for one fault."""
    cell, error, message = run(lesson, fault) or ("no cell", "", "fails")
    words = {"": "spared", "AssertionError": "caught", "skipped": "not run"}
    found = words.get(error, "crashed")
    fine = found in ("spared" if fault.get("harmless") else "caught", "not run")
    word = found if fine else "SURVIVES" if found == "spared" else f"WRONGLY {found} ({error})"
    name = lesson.stem[:2] if lesson else "check"
    return fine, f"{name} {fault['id']:32} {word:7} {cell} {message}"


def main(names):
    jobs = []
    for file in sorted((ROOT / "tools" / "faults").glob("*.toml")):
        if not names or file.stem in names:
            lesson, = [*(ROOT / "notebooks").glob(f"{file.stem}_*.ipynb")] or [None]
            faults = tomllib.loads(file.read_text("utf-8"))["fault"]
            assert any(f.get("harmless") for f in faults), f"{file}: no harmless rewriting"
            jobs += [(lesson, fault) for fault in faults]
    right = 0
    with ThreadPoolExecutor(max_workers=2) as pool:
        for fine, line in pool.map(lambda job: verdict(*job), jobs):
            print(line, flush=True)
            right += fine
    print(f"{right} passed, {len(jobs) - right} failed", flush=True)
    status = 0 if jobs and right == len(jobs) else 1
    if not names:
        matrix = [sys.executable, str(ROOT / "tools" / "confusion.py")]
        status |= subprocess.run(matrix, env=dict(os.environ, COURSE_STORED="1")).returncode
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
