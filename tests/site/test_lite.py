"""The lab in the page: what is in it, that it starts and runs the course, and says what it lacks.

Built with the Pyodide of docs/node_modules, which has no NumPy: so the course's parts without NumPy
are run, a copy of an exercise is made, an explorer is moved. Left out: NumPy, SciPy and matplotlib
in the browser, which only their own server has. Every request to another host fails the test.
"""
import contextlib
import functools
import http.server
import json
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from chromium import started
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as canonical

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
pytest.importorskip("jupyterlite_pyodide_kernel", reason="JupyterLite is not installed")
import lite

ROOT = Path(__file__).resolve().parent.parent.parent
PYODIDE = ROOT / "docs" / "node_modules" / "pyodide"
pytestmark = pytest.mark.skipif(not PYODIDE.is_dir(), reason="no Pyodide in docs/node_modules: npm "
                                "ci in docs fetches it")
# What Chromium asks by itself, whatever the page (updates, accounts, forms); it is turned away.
OWN = re.compile(r"(?!fonts|ajax|www)[\w-]+\.(google|googleapis)\.com:443")
PATIENCE = 60_000  # milliseconds: a slow machine is no fault
FIRST = ".jp-Notebook .jp-CodeCell >> nth=0"
COPY = """\
import piplite
await piplite.install("guessing-ahead", deps=False)
from course import mine
from course.progress import progress
mine.copy("01")
print(progress())
"""
EXPLORER = """\
await piplite.install("anywidget")
import anywidget, course, pathlib, traitlets
here = pathlib.Path(course.__file__).with_name("widgets")
class Explorer(anywidget.AnyWidget):
    _esm, _css = here / "gain.js", here / "widgets.css"
    alpha, c = traitlets.Float(0.8).tag(sync=True), traitlets.Float(0.05).tag(sync=True)
    gamma, way = traitlets.Int(4).tag(sync=True), traitlets.Unicode("flat").tag(sync=True)
    ways = traitlets.Dict({"flat": [0, 1, 1, 1, 1, 1, 1]}).tag(sync=True)
shown = Explorer()
shown
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the lab in lite/ and the page in front of it."""
    def built():
        return {*ROOT.glob("build"), *ROOT.glob("*.egg-info")}
    folder, before = tmp_path_factory.mktemp("web") / "sub" / "path", built()
    subprocess.run([sys.executable, ROOT / "tools" / "lite.py", "--out", folder / "lite",
                    "--pyodide", PYODIDE], check=True)
    assert built() == before, "the build leaves something behind"
    page = (ROOT / "docs" / "lab.md").read_text("utf-8")
    block = re.search(r"^```\{raw\} html\n(.*?)^```", page, re.M | re.S)[1]
    (folder / "lab.html").write_text(
        f'<!doctype html><meta charset="utf-8"><title>lab</title>{block}', "utf-8")
    return folder


@pytest.fixture(scope="module")
def served(site):
    """The server of the folder, on loopback under a sub-path, until the last test has run."""
    class Gate(http.server.SimpleHTTPRequestHandler):
        """Serves the folder. As the browser's proxy it notes other hosts and turns them away."""

        def log_message(self, *words):
            pass

        def do_CONNECT(self):
            self.server.elsewhere.append(self.path)
            self.send_error(403)

        def do_GET(self):
            if self.path.startswith("http:"):
                return self.do_CONNECT()
            self.server.asked.append(self.path.removeprefix("/sub/path/"))
            if self.server.blocked and "/static/pyodide/" in self.path:
                return self.send_error(404)
            super().do_GET()
    handler = functools.partial(Gate, directory=site.parent.parent)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def address(served):
    """Where the folder is served: Pyodide is there, and nothing has been asked for."""
    served.blocked, served.asked, served.elsewhere = False, [], []
    return f"http://127.0.0.1:{served.server_port}/sub/path/"


@pytest.fixture
def page(play, address, served):
    """A page of a fresh browser. What it asks of other hosts, workers included, fails the test."""
    proxy = f"--proxy-server=127.0.0.1:{served.server_port}"  # which is not used for loopback
    with started(play, proxy) as chromium:
        fresh = chromium.new_page()
        fresh.set_default_timeout(PATIENCE)
        yield fresh
    elsewhere = [host for host in served.elsewhere if not OWN.fullmatch(host)]
    assert not elsewhere, elsewhere


def run(page, code=None):
    """Run the first cell, with this code in it if given; the element of its output."""
    cell = page.locator(FIRST)
    cell.locator(".cm-content").click()
    if code:
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(code)
    prompt = cell.locator(".jp-InputPrompt")
    old = prompt.inner_text()
    for _ in range(20):  # a lab whose kernel has only begun to start lets a run pass without a word
        page.keyboard.press("Control+Enter")
        with contextlib.suppress(AssertionError):
            expect(prompt).not_to_have_text(old, timeout=5000)
            break
    number = re.compile(r"\[\d+\]")
    expect(prompt).to_have_text(number, timeout=PATIENCE)
    assert prompt.inner_text() != old
    return cell.locator(".jp-OutputArea")


def ready(page, address, path):
    """Open a notebook of the lab and wait until it is there; its kernel may take longer."""
    page.goto(f"{address}lite/lab/index.html?path={path}")
    page.locator(FIRST).wait_for()


# ---- what is in it

def test_every_notebook_is_in_it_or_named(site):
    files, seen = site / "lite" / "files", 0
    readme = (files / "README.md").read_text("utf-8")
    for path in [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("exercises/*.ipynb")]:
        copy, names = files / path.relative_to(ROOT), lite.needed(nbformat.read(path, 4))
        assert copy.exists() != bool(names), path.name
        assert not names or f"{lite.title(path)}: needs {' and '.join(names)}" in readme
        seen += bool(names)
    assert seen >= 3 and "torch" in readme and "safetensors" in readme


def test_the_pages_lead_to_the_notebooks_that_are_in_it():
    pages = [path.read_text("utf-8") for kind in ("notebooks", "problems")
             for path in (ROOT / "_site" / kind).glob("*.html")]
    led = {path for page in pages for path in re.findall(r"lab\.html\?path=([\w/.]+)", page)}
    assert led == {path.relative_to(ROOT).as_posix() for path in lite.sorted_out()[0]}


def test_a_copy_is_the_notebook_and_one_cell(site):
    for path in (site / "lite" / "files").glob("*/*.ipynb"):
        copy = nbformat.read(path, 4)
        nbformat.validate(copy)
        first, *cells = copy.cells
        stored = nbformat.read(ROOT / path.parent.name / path.name, 4).cells
        assert first.id == "lab-first" and first.source == lite.FIRST.rstrip("\n")
        assert [cell.id for cell in cells] == [cell.id for cell in stored]
        changed = [cell.id for cell, old in zip(cells, stored) if cell != old]
        assert changed == (["lessons"] if path.name.startswith("00") else []), path.name
        for link in re.findall(r"\]\(([^):]+\.ipynb)", "\n".join(c.source for c in cells)):
            assert (path.parent / link).exists(), link


def test_the_wheels_are_all_that_pyodide_lacks(site):
    """Walks what the course needs, with the markers of a page, down to what Pyodide has."""
    lock = json.loads((PYODIDE / "pyodide-lock.json").read_text("utf-8"))["packages"]
    held = {canonical(name) for name in lock} | {
        "widgetsnbextension", "ipykernel", "jupyterlab"}  # the kernel's own, and no use in a page
    todo, lacking = list(map(Requirement, metadata.requires("guessing-ahead"))), set()
    while todo:
        requirement = todo.pop()
        name, asked = canonical(requirement.name), {"extra": "", "sys_platform": "emscripten"}
        if (requirement.marker and not requirement.marker.evaluate(asked)) or name in held:
            continue
        held.add(name)
        lacking.add(name)
        todo += map(Requirement, metadata.requires(name) or [])
    assert lacking | {"comm"} == set(lite.PURE)  # comm: for the kernel too
    found = {path.name.split("-")[0] for path in (site / "lite" / "pypi").glob("*.whl")}
    assert {canonical(name) for name in found} == {*lite.PURE, "guessing-ahead"}


def test_the_course_travels_without_the_weights(site):
    wheel, = (site / "lite" / "pypi").glob("guessing_ahead-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    ours = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("course/**/*")
            if path.suffix in (".py", ".toml", ".js", ".css", ".mplstyle")}
    assert ours <= set(names) and not any(name.endswith(".safetensors") for name in names)


# ---- in a browser

def test_the_lab_runs_the_course(page, address):
    ready(page, address, "exercises/01_one_token_at_a_time.ipynb")
    whole = any(PYODIDE.glob("numpy-*.whl"))
    said = run(page).inner_text()
    assert ("The course is here" if whole else "NumPy, SciPy and matplotlib could not be "
            "fetched") in said.replace("\n", " "), said
    page.keyboard.press("Escape")
    said = run(page, COPY).inner_text()
    assert "my/01_one_token_at_a_time.ipynb: copied" in said, said
    assert re.search(r"01 one token at a time +0 of \d+ +0 of \d+ +my/01_", said), said


def test_an_explorer_lives_in_the_lab(page, address):
    ready(page, address, "exercises/01_one_token_at_a_time.ipynb")
    run(page, COPY)
    output = run(page, EXPLORER)
    output.locator(".cw-gain").wait_for()
    said = output.locator("[aria-live=polite]")
    before = said.inner_text()
    output.locator("input[data-key=gamma]").focus()
    page.keyboard.press("ArrowRight")
    expect(said).not_to_have_text(before)
    assert run(page, "shown.gamma").inner_text().strip().endswith("5")


def test_a_lab_without_python_says_so(page, address, served):
    served.blocked = True
    page.goto(f"{address}lite/lab/index.html?path=notebooks/00_start_here.ipynb")
    page.locator("#lab-says[role=alert]").wait_for()
    assert "could not be fetched" in page.locator("#lab-says").inner_text()
    assert page.locator("#lab-says a").get_attribute("href") == f"{address}index.html"
    page.locator(".jp-Notebook .course-table").first.wait_for()  # a stored result


def test_the_usual_lab_asks_the_server_of_pyodide_and_no_other(page, address, served, site):
    """As built without --pyodide: the same files, and no address of its own."""
    folder = site / "far" / "lite"
    shutil.copytree(site / "lite", folder, ignore=shutil.ignore_patterns("pyodide"))
    told = json.loads((folder / "jupyter-lite.json").read_text("utf-8"))
    settings = told["jupyter-config-data"]["litePluginSettings"]
    kernel = settings[lite.constants.PYODIDE_KERNEL_PLUGIN_ID]
    assert kernel["disablePyPIFallback"] and kernel.pop("pyodideUrl").endswith("/pyodide.mjs")
    (folder / "jupyter-lite.json").write_text(json.dumps(told), "utf-8")
    page.goto(f"{address}far/lite/lab/index.html?path=notebooks/00_start_here.ipynb")
    page.locator("#lab-says[role=alert]").wait_for()
    asked = {host for host in served.elsewhere if not OWN.fullmatch(host)}
    assert asked == {f"{urlsplit(lite.constants.PYODIDE_CDN_URL).netloc}:443"}
    served.elsewhere.clear()


def test_the_page_fetches_nothing_before_it_is_told_to(page, address, served):
    page.goto(f"{address}lab.html?path=exercises/05_the_accept_reject_rule.ipynb")
    page.locator("#lab-look").wait_for()
    page.locator("#lab-look").click()
    page.get_by_text("Python is fetched from this site").wait_for()
    assert [path.partition("?")[0] for path in served.asked if "favicon" not in path] == [
        "lab.html", "lite/lab.json"]
    page.locator("#lab-open").click()
    page.locator(FIRST).wait_for()
    assert "Problems for lesson 05" in page.locator(".jp-Notebook h1").first.inner_text()


def test_the_page_says_that_pyodide_cannot_be_fetched(page, address, served):
    served.blocked = True
    page.goto(f"{address}lab.html")
    page.locator("#lab-look").click()
    page.locator("#lab-open").click()
    page.get_by_text("Python could not be fetched").wait_for()
    links = [link.get_attribute("href").removeprefix(address)
             for link in page.locator("#lab-says a").all()]
    assert links == ["notebooks/00_start_here.html",
                     "lite/lab/index.html?path=notebooks%2F00_start_here.ipynb"]
    assert page.locator("#lab-open").is_enabled()


def test_the_page_says_why_there_is_no_lab(page, address, site):
    page.goto((site / "lab.html").as_uri())
    page.get_by_text("needs a web server").wait_for()
    assert page.locator("#lab-look").is_hidden() and page.locator("#lab-form").is_hidden()
    page.route("**/lab.json", lambda route: route.fulfill(status=404, body="none"))
    page.goto(f"{address}lab.html")
    page.locator("#lab-look").click()
    page.get_by_text("built without the lab").wait_for()
    assert page.locator("#lab-form").is_hidden()
