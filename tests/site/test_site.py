"""Every page of the site in Chromium: it loads clean, fits, can be read by all, and is alive.

Widths of a phone, a tablet and a projector, both schemes, over http under a sub-path and from a
file. axe-core looks for what a screen reader or a weak eye would miss, with all boxes opened.
Left out: other browsers, and how it looks (people looked at that).
"""
import html
import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urlsplit

import nbformat
import pytest
from conftest import ROOT, SITE

from course import check

AXE = ROOT / "docs" / "node_modules" / "axe-core" / "axe.min.js"
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html")
               if path.relative_to(SITE).parts[0] not in ("lite", "_static"))
LESSONS = [page for page in PAGES if page.startswith("notebooks/")]
ASKING = [page for page in PAGES if "course-choice" in (SITE / page).read_text("utf-8")]
WIDTHS = (360, 768, 1280)
OPEN = "document.querySelectorAll('article details').forEach((box) => { box.open = true; })"
every = pytest.mark.parametrize("name", PAGES)


def test_the_site_is_there():
    books = {f"{path.parent.name}/{path.stem}.html" for path in ROOT.glob("notebooks/*.ipynb")}
    books |= {f"problems/{path.stem}.html" for path in ROOT.glob("solutions/*.ipynb")}
    named = {"index.html", "claims.html", "lines.html", "glossary.html", "questions.html",
             "search.html", "lab.html"}
    assert len(books) > 20 and books | named <= set(PAGES)


def test_every_question_is_asked_somewhere():
    text = "".join((SITE / name).read_text("utf-8") for name in ASKING)
    assert len(ASKING) > 10 and len(check.QUESTIONS) > 100
    assert not [name for name, entry in check.QUESTIONS.items()
                if check.as_html(entry["text"]) not in text]


def fits(page, name):
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{name} at {width}: {wide}"


def axe(page):
    """What axe-core finds, as (rule, how many, the first)."""
    page.evaluate(OPEN)
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations'], preload: false})")
    return [(v["id"], len(v["nodes"]), v["nodes"][0]["html"][:200]) for v in found["violations"]]


@every
def test_light_on_a_projector(opened, name):
    page = opened(name, color_scheme="light", reduced_motion="reduce")
    assert page.locator("main").count() == 1 == page.locator("h1:visible").count()
    levels = page.evaluate("[...document.querySelectorAll('main :is(h1,h2,h3,h4)')].map((h) => "
                           "+h.tagName[1])")
    assert all(b <= a + 1 for a, b in zip(levels, levels[1:])), levels
    assert axe(page) == []
    fits(page, name)


@every
def test_dark_on_a_phone_from_a_file(opened, name):
    page = opened(name, 360, file=True, color_scheme="dark", reduced_motion="reduce")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert axe(page) == []
    fits(page, name)


def test_axe_sees_a_fault(opened):
    page = opened("lines.html")
    page.evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', "
                  "'<img src=\"data:,\"><p style=\"color: #aaa; background: #fff\">pale</p>')")
    assert {rule for rule, *_ in axe(page)} >= {"image-alt", "color-contrast"}


@pytest.mark.parametrize("name", LESSONS)
def test_figures_have_words_and_a_white_ground(opened, name):
    page = opened(name, color_scheme="dark")
    stored = nbformat.read(ROOT / "notebooks" / f"{name[10:-5]}.ipynb", 4)
    shown = [output.get("data", {}).get("text/html", "") for cell in stored.cells
             for output in cell.get("outputs", [])]
    alts = [html.unescape(alt) for alt in re.findall(r'<img alt="([^"]*)"', "".join(shown))]
    figures = page.locator("main .course-figure")
    assert figures.locator("img").evaluate_all("(all) => all.map((e) => e.alt)") == alts
    below = figures.locator("figcaption").all_inner_texts()
    assert [text.split() for text in below] == [alt.split() for alt in alts]
    looks = figures.locator("img").evaluate_all("(all) => all.map((e) => getComputedStyle(e)).map("
                                                "(s) => [s.backgroundColor, s.filter, s.opacity])")
    assert looks == [["rgb(255, 255, 255)", "none", "1"]] * len(alts)


@pytest.mark.parametrize("name", ASKING)
def test_every_option_answers_with_its_reason(opened, name):
    page = opened(name)
    asked = {entry["text"].replace("`", ""): entry for entry in check.QUESTIONS.values()}
    choices = page.locator(".course-choice").all()
    assert choices
    for box in page.locator("details.answer").all():
        box.evaluate("(e) => { e.open = true; }")
    for choice in choices:
        entry = asked[choice.locator("strong").first.inner_text()]
        for i, option in enumerate(entry["options"]):
            box = choice.locator("details").nth(i)
            assert not box.locator("p").is_visible()
            if i % 2:
                box.locator("summary").click()
            else:
                box.locator("summary").focus()
                page.keyboard.press("Enter")
            word = "Right." if option["letter"] == entry["right"] else "Not yet."
            said = f"{word} {option['reason'].replace('`', '')}"
            assert " ".join(box.locator("p").inner_text().split()) == " ".join(said.split())


@pytest.mark.parametrize("file", [False, True])
def test_search_finds_the_residual(opened, file):
    page = opened("index.html", file=file)
    page.keyboard.press("Control+k")
    page.keyboard.type("residual")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results li a")
    page.locator("#search-results p").filter(has_text="found").wait_for()
    found = page.locator("#search-results li > a").all_inner_texts()
    assert any(title.startswith("05") for title in found), found


class Links(HTMLParser):
    """The ids of a page and where it leads to."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids |= {attrs["id"]} if "id" in attrs else set()
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])


def test_every_link_leads_somewhere():
    pages = {SITE / name: Links((SITE / name).read_text("utf-8")) for name in PAGES}
    assert sum(len(page.links) for page in pages.values()) > 1000
    for path, page in pages.items():
        for link in page.links:
            place, part = urldefrag(link)
            assert not urlsplit(place).scheme, f"{path.name}: {link} leads out"
            goal = (path.parent / unquote(place.split("?")[0])).resolve() if place else path
            assert goal.exists(), f"{path.name}: {link}"
            if part and goal in pages:
                assert unquote(part) in pages[goal].ids, f"{path.name}: {link}"


def test_the_page_of_claims_has_them_all_and_leads_to_cells_that_assert():
    text = (SITE / "claims.html").read_text("utf-8")
    claims = 0
    for path in sorted(ROOT.glob("notebooks/*.ipynb")):
        cells = nbformat.read(path, 4).cells
        for cell, proof in zip(cells, cells[1:]):
            found = cell.source.count("**Claim.**")
            claims += found
            link = f'href="notebooks/{path.stem}.html#{proof.id}"'
            assert text.count(link) == found * (cell.cell_type == "markdown"), link
    assert claims > 50 and len(re.findall(r"<details>\s*<summary>(?!<span)", text)) == claims


def test_lines_worth_keeping_are_gathered():
    text = (SITE / "lines.html").read_text("utf-8")
    main = text[text.index("<article"):text.index("</article")]
    assert main.count("<li>") == 3 * (len(LESSONS) - 1)


def test_words_lead_to_the_glossary(opened):
    page = opened("notebooks/05_the_accept_reject_rule.html")
    words = page.locator("main a.word")
    assert words.count() > 10
    link = words.filter(has_text=re.compile("^residual$")).first
    assert "scaled" in link.get_attribute("title") or "owed" in link.get_attribute("title")
    link.click()
    page.wait_for_load_state()
    assert page.locator(":target").inner_text().startswith("residual")


def test_answers_stay_behind_their_boxes(opened):
    page = opened("problems/05_the_accept_reject_rule.html")
    asked = nbformat.read(ROOT / "solutions" / "05_the_accept_reject_rule.ipynb", 4).cells
    answers = page.locator("details.answer")
    heads = sum(bool(re.match(r"## \d+\. ", cell.source)) for cell in asked)
    assert answers.count() == heads >= 8
    assert not page.get_by_text("Wrong turns.").first.is_visible()
    shown = page.locator("main").inner_text()
    assert "# your answer" in shown and "BEGIN SOLUTION" not in page.content()
    answers.first.locator("summary").first.click()
    assert page.get_by_text("Wrong turns.").first.is_visible()
    assert "0.1 / 0.3" in answers.first.inner_text() and "right." in answers.first.inner_text()


def test_paper_shows_the_claims_and_keeps_the_answers(opened):
    page = opened("notebooks/05_the_accept_reject_rule.html")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not page.locator(".bd-sidebar-primary").is_visible()
    assert page.get_by_text("The coin is averaged out.").is_visible()
    assert not page.locator(".course-choice details p").first.is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert len(page.pdf()) > 100_000
    assert not page.get_by_text("The coin is averaged out.").is_visible()


def test_without_scripts_the_text_the_tables_and_the_options_remain(opened):
    page = opened("notebooks/05_the_accept_reject_rule.html", java_script_enabled=False)
    assert page.locator(".course-widget table").is_visible()
    box = page.locator(".course-choice details").first
    box.locator("summary").click()
    assert box.locator("p").is_visible()


def test_the_keyboard_is_seen_and_begins_with_a_way_past_the_menu(opened):
    page = opened("notebooks/05_the_accept_reject_rule.html")
    for i in range(40):
        page.keyboard.press("Tab")
        if i == 0:
            assert "Skip" in page.evaluate("document.activeElement.textContent")
        look = page.evaluate("(() => { const s = getComputedStyle(document.activeElement); "
                             "return [document.activeElement.outerHTML.slice(0, 80), "
                             "s.outlineStyle, parseFloat(s.outlineWidth)]; })()")
        assert look[1] != "none" and look[2] >= 1, look


@pytest.mark.parametrize("name", LESSONS)
def test_nothing_plays_by_itself(opened, name):
    page = opened(name, reduced_motion="reduce")
    page.wait_for_timeout(800)  # the theme makes wide boxes reachable, once
    assert page.evaluate("""new Promise((done) => {
        let changes = 0;
        new MutationObserver((list) => { changes += list.length; }).observe(
            document.querySelector("main"),
            { subtree: true, childList: true, attributes: true, characterData: true });
        setTimeout(() => done(changes + document.getAnimations().length), 600);
    })""") == 0
    assert page.locator("video, audio, marquee, blink").count() == 0


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_is_light(name):
    """HTML with its pictures, which are inside it; scripts are the same for all pages."""
    text = (SITE / name).read_text("utf-8")
    images = re.findall(r'<img[^>]* src="(?!data:)([^"]+)"', text)
    size = len(text.encode()) + sum((SITE / name).parent.joinpath(i).stat().st_size for i in images)
    assert size < 1_000_000, f"{size:,} bytes"
    scripts = re.findall(r'<script[^>]* src="([^"]+)"', text)
    assert scripts and all(s.startswith("../_static/") or s.startswith("../searchindex")
                           for s in scripts), scripts


def test_explorers_are_those_of_the_notebooks():
    """Their sources in the page are the files that JupyterLab runs, letter by letter."""
    text = (SITE / "notebooks" / "05_the_accept_reject_rule.html").read_text("utf-8")
    sources = json.loads(re.search(r"const SOURCES = (\{.*?\});\n", text)[1].replace("<\\/", "</"))
    widgets = ROOT / "course" / "widgets"
    assert sources == {file.stem: file.read_text("utf-8") for file in widgets.glob("*.js")
                       if file.stem != "mount"}
