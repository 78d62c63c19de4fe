"""Run everything that must hold, one summary line a stage: python tools/testall.py [--fast|--site]

Follows the list in the README: lint, unit tests, every lesson and every solution run again and
compared, every exercise run, the site built and looked at in a browser, all of it once more without
torch and numba, planted faults. --fast leaves out the last three; --site does the site alone.
Leaves out parallel runs: lessons that measure this machine need its cores to themselves.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
NBVAL = ["--nbval-current-env", "--nbval-cell-timeout", "120"]
NBVAL += ["--nbval-sanitize-with", "tests/sanitize.cfg"]
NEEDS_TORCH = ("02", "03")  # lessons with cells that need torch or numba and say so without them


def lessons(needing_torch):
    """Paths of the lessons that need torch, or of the others; none found must fail, not pass."""
    found = sorted(ROOT.glob("notebooks/*.ipynb"))
    chosen = [str(p) for p in found if p.name.startswith(NEEDS_TORCH) == needing_torch]
    return chosen or ["notebooks/none_found.ipynb"]


def site():
    """The stages of the site. Without npm there is none, and that is said."""
    if not shutil.which("npm"):
        print(f"{'site':<28}not built: npm is missing, which fetches the program for formulas")
        return
    yield "site", [sys.executable, "tools/website.py"], False
    yield "the lab in the page", [sys.executable, "tools/lite.py"], False
    yield "site in a browser", [*PYTEST, "-rs", "tests/site"], False


def stages(fast):
    """(name, command, without torch and numba?) in the order in which they run."""
    yield "lint", [sys.executable, "-m", "ruff", "check", "--no-cache", "."], False
    yield "tests", [*PYTEST, "tests", "--ignore", "tests/site"], False
    yield "lessons", [*PYTEST, "--nbval", *NBVAL, "notebooks"], False
    yield "solutions", [*PYTEST, "--nbval", *NBVAL, "solutions"], False
    yield "exercises, untouched", [*PYTEST, "--nbval-lax", *NBVAL, "exercises"], False
    if fast:
        return
    yield from site()
    # less what the browser, nbgrader and a second run of the lessons have shown already
    less = ["--ignore", "tests/test_widgets_browser.py", "--ignore", "tests/test_nbgrader.py"]
    less += ["--ignore", "tests/site"]
    yield "tests without torch, numba", [*PYTEST, "tests", *less, "-k", "not rerun"], True
    core = [*lessons(False), "solutions"]
    yield "lessons, solutions without", [*PYTEST, "--nbval", *NBVAL, *core], True
    # these print what is missing, so they are run and not compared
    yield f"lessons {', '.join(NEEDS_TORCH)} without", [
        *PYTEST, "--nbval-lax", *NBVAL, *lessons(True)], True
    yield "exercises without", [*PYTEST, "--nbval-lax", *NBVAL, "exercises"], True
    yield "planted faults", [sys.executable, "tools/mutate.py"], False


def counts(output):
    """(passed, failed, skipped) from pytest's closing line; zeros where there is none."""
    closing = re.findall(r"^=*\s*(\d+ [\w, ]+) in [\d.]+s", output, re.M)[-1:]
    words = {word: int(n) for n, word in re.findall(r"(\d+) (\w+)", "".join(closing))}
    failed = sum(words.get(word, 0) for word in ("failed", "error", "errors"))
    return words.get("passed", 0), failed, words.get("skipped", 0)


def run(command, blocked):
    """Exit status and output of command, with torch and numba hidden if blocked."""
    env = dict(os.environ, PYTHONIOENCODING="utf-8", COURSE_STORED="1")
    if blocked:
        path = [str(ROOT / "tests" / "blocked"), env.get("PYTHONPATH")]
        env["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    done = subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
    return done.returncode, done.stdout


def main(chosen):
    """Run the stages chosen, whatever fails, and return the number of failures."""
    total, bad = [0, 0, 0], []
    for name, command, blocked in chosen:
        print(f"{name:<28}", end="", flush=True)
        start = time.monotonic()
        status, output = run(command, blocked)
        passed, failed, skipped = counts(output) if "pytest" in command else (0, 0, 0)
        if status and not failed:
            failed = 1  # it broke before it could count
        total = [a + b for a, b in zip(total, (passed, failed, skipped), strict=True)]
        result = f"{passed} passed, {failed} failed, {skipped} skipped" if passed + failed else "ok"
        print(f"{result:<38}{time.monotonic() - start:6.1f} s", flush=True)
        if failed:
            bad.append(name)
        # which fault was caught where is worth reading, and why a page was not looked at
        if failed or name == "planted faults" or (skipped and "-rs" in command):
            print(output.rstrip(), flush=True)
    print(f"\nfailed: {', '.join(bad)}" if bad else "\nAll stages hold.")
    print("{} passed, {} failed, {} skipped".format(*total))
    return len(bad)


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # a Windows console may not know every letter
    sys.exit(main(site() if "--site" in sys.argv[1:] else stages("--fast" in sys.argv[1:])) > 0)
