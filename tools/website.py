"""Build the site into _site/: python tools/website.py [--serve]

Follows docs/conf.py on the sources that docs/assemble.py writes; any warning fails. What comes
from npm (docs/package.json) is installed once. --serve shows it on this computer alone, until
Ctrl+C. Left out: the lab in the page, which is tools/lite.py.
"""
import functools
import http.server
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS, BUILD, SITE = ROOT / "docs", ROOT / "build", ROOT / "_site"
MATHS = DOCS / "node_modules" / "mathjax" / "es5"
sys.path.insert(0, str(DOCS))


def from_npm():
    """Install what docs/package-lock.json names, if it is newer than what is there."""
    stamp, lock = DOCS / "node_modules" / ".package-lock.json", DOCS / "package-lock.json"
    if stamp.exists() and stamp.stat().st_mtime >= lock.stat().st_mtime:
        return
    npm = shutil.which("npm")
    if not npm:
        sys.exit("npm is missing: the site takes the program that sets its formulas from there. "
                 "Install Node (20 or later), then try again.")
    subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
                   cwd=DOCS, check=True, stdout=subprocess.DEVNULL)
    stamp.touch()


def build():
    """Make _site/ anew; a lab that stands there stays. Returns the exit status of Sphinx."""
    from assemble import assemble

    from_npm()
    assemble(BUILD / "site")
    static = BUILD / "static"
    shutil.rmtree(static, ignore_errors=True)
    fonts = "output/chtml/fonts/woff-v2"
    shutil.copytree(MATHS / fonts, static / "mathjax" / fonts)
    shutil.copy(MATHS / "tex-mml-chtml.js", static / "mathjax")
    html = BUILD / "html"
    shutil.rmtree(html, ignore_errors=True)
    done = subprocess.run([sys.executable, "-m", "sphinx", "-qEW", "--keep-going", "-b", "html",
                           "-c", DOCS, "-d", BUILD / "doctrees", BUILD / "site", html])
    if done.returncode == 0:
        if (SITE / "lite").exists():
            shutil.move(SITE / "lite", html)
        shutil.rmtree(SITE, ignore_errors=True)
        shutil.move(html, SITE)
    return done.returncode


def serve():
    """Show _site/ on this computer until Ctrl+C."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=SITE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/ (Ctrl+C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    start = time.monotonic()
    if build():
        sys.exit("The site has warnings: see above.")
    files = [file for file in SITE.rglob("*") if file.is_file()]
    print(f"_site/index.html: {len(list(SITE.rglob('*.html')))} pages, "
          f"{sum(file.stat().st_size for file in files) / 1e6:.1f} MB, "
          f"{time.monotonic() - start:.0f} s")
    if "--serve" in sys.argv[1:]:
        serve()
