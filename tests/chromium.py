"""Chromium for the tests: quiet, and asking for nothing; where it is missing they are skipped."""
import contextlib
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update"]


@contextlib.contextmanager
def playing():
    """Playwright, of which a process can have one at a time."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM:
        pytest.skip("no Chromium: nothing is looked at here")
    with sync_api.sync_playwright() as play:
        yield play


@contextlib.contextmanager
def started(play, *more):
    """A browser, headless, with a fresh profile and, if given, more flags."""
    browser = play.chromium.launch(executable_path=CHROMIUM, headless=True, args=[*FLAGS, *more])
    yield browser
    browser.close()
