"""How heavy the pages of the lessons are, and when they can be used: python benchmarks/pages.py

Each page of _site/ is loaded from this computer with an empty cache, five times in turns; medians.
Usable is: loaded, every explorer alive, every formula set. Left out: networks slower than loopback,
for which the kilobytes stand.
"""
import functools
import http.server
import shutil
import statistics
import threading
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

SITE = Path(__file__).resolve().parent.parent / "_site"
RUNS = 5
USABLE = """document.readyState == 'complete' && [...document.querySelectorAll('.course-widget')]
    .every((e) => e.dataset.live) && !document.querySelector('.math:not(:has(mjx-container))')"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def load(browser, address):
    """(seconds until usable, bytes read) of one cold load."""
    context, sizes = browser.new_context(viewport={"width": 1280, "height": 900}), []
    page = context.new_page()
    page.on("response", lambda answer: sizes.append(int(answer.headers.get("content-length", 0))))
    start = time.perf_counter()
    page.goto(address)
    page.wait_for_function(USABLE)
    seconds = time.perf_counter() - start
    context.close()
    return seconds, sum(sizes)


def main():
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    handler = functools.partial(Quiet, directory=SITE)
    pages = sorted(SITE.glob("notebooks/*.html"))
    with (http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
          sync_playwright() as play):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = play.chromium.launch(executable_path=chromium,
                                       args=["--no-sandbox", "--disable-gpu"])
        root = f"http://127.0.0.1:{server.server_port}/notebooks/"
        load(browser, root + pages[0].name)  # the browser's own start is not the page's
        found = [[load(browser, root + page.name) for page in pages] for _ in range(RUNS)]
        browser.close()
        server.shutdown()
    print(f"{'page':40}{'HTML kB':>8}{'all kB':>8}{'usable s':>10}")
    for i, page in enumerate(pages):
        seconds = statistics.median(run[i][0] for run in found)
        print(f"{page.stem:40}{page.stat().st_size / 1e3:8.0f}{found[0][i][1] / 1e3:8.0f}"
              f"{seconds:10.2f}")


if __name__ == "__main__":
    main()
