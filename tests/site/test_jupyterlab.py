"""JupyterLab itself: lesson 05 is opened from a copy, run from top to bottom, its explorer moved.

A server of its own on loopback, with a token, that ends with the test. Left out: VS Code.
"""
import os
import re
import subprocess
import sys
import time

import nbformat
import pytest
from conftest import ROOT

LESSON = "05_the_accept_reject_rule.ipynb"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """(address, path of a copy of the lesson) of a JupyterLab; no cell of the copy has a number."""
    home = tmp_path_factory.mktemp("lab")
    (home / "notebooks").mkdir()
    copy = home / "notebooks" / LESSON
    lesson = nbformat.read(ROOT / "notebooks" / LESSON, 4)
    for cell in lesson.cells:
        if cell.cell_type == "code":
            cell.execution_count = None
    nbformat.write(lesson, copy)
    own = {f"JUPYTER_{part}_DIR": str(home / part.lower()) for part in ("CONFIG", "RUNTIME")}
    own |= {"JUPYTERLAB_SETTINGS_DIR": str(home / "settings"), "JUPYTERLAB_WORKSPACES_DIR":
            str(home / "workspaces"), "IPYTHONDIR": str(home / "ipython"), "JUPYTER_TOKEN": "here"}
    with open(home / "log", "w+") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", "--port=0",
             f"--ServerApp.root_dir={home / 'notebooks'}", "--LabApp.news_url=",
             "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
             *["--allow-root"] * (getattr(os, "geteuid", lambda: 1)() == 0)],
            stdout=log, stderr=log, env=dict(os.environ, **own))
        try:
            for _ in range(240):
                time.sleep(0.5)
                text = (home / "log").read_text(errors="replace")
                if found := re.search(r"http://127\.0\.0\.1:\d+/", text):
                    break
                assert server.poll() is None, text
            else:
                pytest.fail(f"JupyterLab did not start:\n{text}")
            yield found[0], copy
        finally:
            server.terminate()
            server.wait(30)


def quiet(page, address):
    """Wait until the kernel has been idle for three looks in a row: between two cells it is too."""
    looks = 0
    for _ in range(300):
        page.wait_for_timeout(1000)
        kernels = page.request.get(f"{address}api/kernels?token=here").json()
        looks = looks + 1 if kernels and kernels[0]["execution_state"] == "idle" else 0
        if looks == 3:
            return
    pytest.fail("the kernel is never done")


def saved(page, address, copy):
    """The code cells of the copy, saved once all of them have run."""
    for _ in range(10):  # few saves: two at a time would make JupyterLab ask which one counts
        quiet(page, address)
        page.keyboard.press("Control+s")
        page.wait_for_timeout(2000)
        cells = [c for c in nbformat.read(copy, 4).cells if c.cell_type == "code"]
        if all(cell.execution_count for cell in cells):
            return cells
    pytest.fail(f"not every cell was run: {page.locator('.jp-Dialog').all_inner_texts()}")


def test_lesson_05_runs_and_its_explorer_moves(browser, lab):
    address, copy = lab
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    asked = []
    page.on("request", lambda r: asked.append(r.url))
    page.set_default_timeout(120_000)
    page.goto(f"{address}lab/tree/{LESSON}?token=here")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    quiet(page, address)  # asked earlier, JupyterLab would want to know which kernel
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    cells = saved(page, address, copy)
    assert not [o for cell in cells for o in cell.outputs if o.output_type == "error"]
    box = ".jp-Notebook .jp-WindowedPanel-outer, .jp-Notebook"
    widget = page.locator(".jp-Notebook .cw-pq")
    for step in range(200):
        if widget.count():
            break
        page.locator(box).first.evaluate(f"(e) => {{ e.scrollTop = {400 * step}; }}")
        page.wait_for_timeout(100)
    slider = widget.locator("input").first
    slider.focus()
    before = widget.locator("[aria-live=polite]").inner_text()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    assert slider.input_value() == "0.6"
    said = widget.locator("[aria-live=polite]").inner_text()
    assert "this is p" in said and said != before
    ours = (address, address.replace("http", "ws"), "data:", "blob:")
    assert not [url for url in asked if not url.startswith(ours)]
    page.close()
