"""Sphinx for the site. tools/website.py calls it on the sources that docs/assemble.py writes."""
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

project, author, language = "Guessing Ahead", "the authors of the course", "en"
html_title = project
copyright = "the authors of the course. Prose and pictures: CC BY 4.0. Code: BSD 3-Clause"
extensions = ["myst_nb", "readers"]
exclude_patterns = ["exercises", "README.md"]
nb_execution_mode = "off"  # what is stored is what is shown; CI runs every cell again
nb_output_stderr = "error"
nb_mime_priority_overrides = [("html", "text/html", 0)]
myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

html_theme = "sphinx_book_theme"
html_theme_options = {
    "use_download_button": False,  # the page of problems has its own
    "use_fullscreen_button": False,
    "home_page_in_toc": True,
    "navbar_persistent": [],
    "show_navbar_depth": 1,
    "show_toc_level": 1,
    "toc_title": "On this page",
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
html_favicon = str(HERE / "icon.svg")
html_copy_source = False
html_show_sphinx = False
html_use_index = False
html_static_path = [str(HERE / "site.css"), str(HERE / "page.js"), str(HERE / "number.js"),
                    str(HERE.parent / "course" / "widgets" / "widgets.css"),
                    str(HERE.parent / "build" / "static")]
html_css_files = ["site.css", "widgets.css"]
html_js_files = [("page.js", {"defer": "defer"}), ("number.js", {"defer": "defer"})]
mathjax_path = "mathjax/tex-mml-chtml.js"
