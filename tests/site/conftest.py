"""What the tests of the site share: the pages, a server under a sub-path, Chromium, one open page.

python tools/website.py builds what is looked at; without it the tests fail. A page that says an
error in its console, or asks another host for anything, fails the test that opened it.
"""
import functools
import http.server
import threading
from pathlib import Path

import pytest
from chromium import playing, started

ROOT = Path(__file__).resolve().parent.parent.parent
SITE = ROOT / "_site"


class UnderAPath(http.server.SimpleHTTPRequestHandler):
    """The site under /ahead/, as a project's page has it, and nothing elsewhere."""

    def translate_path(self, path):
        if not path.startswith("/ahead/"):
            return str(SITE / "no such place")
        return super().translate_path(path.removeprefix("/ahead"))

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def address():
    """Where the site is served, on this computer alone."""
    handler = functools.partial(UnderAPath, directory=SITE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/ahead/"
        server.shutdown()


@pytest.fixture(scope="session")
def play():
    with playing() as play:
        yield play


@pytest.fixture(scope="session")
def browser(play):
    with started(play) as chromium:
        yield chromium


@pytest.fixture
def opened(browser, address):
    """opened(page, width=1280, file=False, **context) -> the page, loaded and alive."""
    contexts, said, asked = [], [], []

    def opens(name, width=1280, file=False, **context):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **context))
        page = contexts[-1].new_page()
        page.on("console", lambda m: said.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        if context.get("java_script_enabled", True):  # or its scripts fail, as they should
            page.on("requestfailed", lambda r: said.append(f"{r.url}: {r.failure}"))
        page.on("request", lambda r: asked.append(r.url))
        page.goto((SITE.as_uri() + "/" if file else address) + name)
        if context.get("java_script_enabled", True):
            page.wait_for_function("document.readyState == 'complete' && !document.querySelector("
                                   "'.course-widget:not([data-live])')")
            page.evaluate("window.MathJax?.startup?.promise?.then(() => 0)")
        return page

    yield opens
    for context in contexts:
        context.close()
    ours = (address, SITE.as_uri() + "/", "blob:", "data:")
    assert not said, said
    assert not [url for url in asked if not url.startswith(ours)], "a request to elsewhere"
