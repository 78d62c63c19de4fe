"""The explorers in Chromium, mounted from a file, without a kernel: keys, names, layout, calm."""
import json
import pathlib

import pytest
from chromium import playing, started

from course import widgets as made
from course.widgets import PQ, Gain, Mask, Stepper

WIDGETS = pathlib.Path(made.__file__).parent  # a copy with a planted fault, in make mutate
TARGET = [[.5, .3, .2], [.1, .6, .3], [.3, .3, .4]]
DRAFT = [[.2, .2, .6], [.3, .4, .3], [.5, .2, .3]]
COINS = [.55, .5, .51, .8, .35, .1, .99, .33, .79] + [.15, .85, .4, .6] * 10
FIVE = ["first", "second", "third", "fourth", "fifth"]
VECTORS = [[1., 0.], [0., 1.], [1., 1.], [0., 2.], [2., 2.], [-1., 1.], [3., 0.], [1., 2.]]
SHOWN = [PQ([.5, .3, .2], [.2, .2, .6]), Stepper(TARGET, DRAFT, [0], 2, 6, COINS),
         PQ([.02, .38, .25, .35], [.4, .3, .25, .05], ["a", "the", "cat", "workdays"]),
         PQ([.3, .3, .2, .1, .1], [.1, .1, .1, .3, .4], FIVE), Gain(.82, .05, 4),
         Mask(["tonight", "the", "sky", "is", "moon"], VECTORS[:5], [0, 1, 2, 3]),
         Mask([*"abcdefg", "yesterday"], VECTORS, [7, 6, 5, 4, 3, 2, 1, 7], causal=False)]
OVERLAPS = """(root) => [...root.querySelectorAll("svg")].flatMap((svg) => {
  const box = (t) => [t.textContent, t.getBoundingClientRect()];
  const all = [...svg.querySelectorAll("text")].map(box);
  const meet = (r, s) => r.left < s.right - 0.5 && s.left < r.right - 0.5
    && r.top < s.bottom - 2 && s.top < r.bottom - 2;
  return all.flatMap(([a, r], i) => all.slice(i + 1).filter(([, s]) => meet(r, s))
    .map(([b]) => [a, b]));
})"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A page from a file: the stored twins, the style sheet, and the inline mount script."""
    sources = {name: (WIDGETS / f"{name}.js").read_text("utf-8")
               for name in ("pq", "stepper", "gain", "mask")}
    script = f"const SOURCES = {json.dumps(sources)};\n".replace("</", "<\\/")
    script += (WIDGETS / "mount.js").read_text("utf-8")
    twins = "".join(w._repr_mimebundle_()[0]["text/html"] for w in SHOWN)
    page = tmp_path_factory.mktemp("page") / "page.html"
    dark = "body {background: #111; color: #eee} td, th, tr, p {color: #eee; background: #333}"
    page.write_text('<!doctype html><html lang="en"><meta charset="utf-8"><title>explorers</title>'
                    '<meta name="viewport" content="width=device-width"><style>:root {color-scheme:'
                    f" light dark}} @media (prefers-color-scheme: dark) {{{dark}}}"
                    f'{(WIDGETS / "widgets.css").read_text("utf-8")}</style><body>{twins}'
                    f'<script type="module">{script}</script>', "utf-8")
    return page.as_uri()


@pytest.fixture(scope="module")
def browser():
    with playing() as play, started(play) as chromium:
        yield chromium


@pytest.fixture
def open_page(browser, address):
    """Opens the page at a width and in a colour scheme; in the end no page may have complained."""
    said, asked, pages = [], [], []

    def opened(width=1280, scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address)
        page.wait_for_function(f"document.querySelectorAll('[data-live]').length == {len(SHOWN)}")
        pages.append(page)
        return page, page.locator(".course-widget")
    yield opened
    for page in pages:
        page.close()
    assert not said, said
    assert all(url.split(":")[0] in ("file", "blob", "data") for url in asked), asked


def numbers(widget, row):
    cells = widget.locator(f"tr:has(th:text-is('{row}')) td").all_inner_texts()
    return [float(cell) for cell in cells][:-1]


def test_every_control_has_a_name(open_page):
    page, _ = open_page()
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    named = [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in tree if "role" in n
             and n["role"]["value"] in ("slider", "combobox", "checkbox", "button", "image", "img",
                                        "table")]
    assert all(name.strip() for _, name in named), named
    free = page.locator(".cw :is(input, select, button):not([data-lm-suppress-shortcuts])")
    assert free.count() == 0, "JupyterLab takes arrow keys for itself, unless a control says no"
    sliders = [name for role, name in named if role == "slider"]
    assert sliders[:2] == ["target p of first", "draft q of first"] and len(sliders) == 27
    boxes = [name for role, name in named if role == "combobox"]
    assert boxes[-12:] == [f"word at place {i}" for n in (4, 8) for i in range(n)]
    assert [name for role, name in named if role == "checkbox"] == ["causal mask"] * 2
    assert {name for role, name in named if role == "button"} == {
        "back to the start", "back", "next", "new coins", "start"}


def test_keyboard_moves_p_and_the_law_stays(open_page):
    page, widgets = open_page()
    pq = widgets.nth(0)
    axis = pq.locator("svg").first.bounding_box()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.ariaLabel") == "target p of first"
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    assert numbers(pq, "p") == [.6, .24, .16] == numbers(pq, "comes out")
    assert "this is p" in pq.locator("[aria-live=polite]").inner_text()
    page.keyboard.press("End")
    assert numbers(pq, "p") == [1, 0, 0] == numbers(pq, "comes out")
    page.keyboard.press("Home")
    assert numbers(pq, "p") == [0, .6, .4], "the way back from 1 keeps the proportion of the others"
    assert pq.locator("svg").first.bounding_box() == axis, "the picture has jumped"
    for _ in range(6):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SELECT"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert numbers(pq, "p") == [.5, .3, .2] and numbers(pq, "q") == [.2, .2, .6]


def test_a_wrong_rule_leaves_p(open_page):
    _, widgets = open_page()
    for rule, off in {"right": "0", "from-p": "0.10", "from-q": "0.24", "gap": "0.20",
                      "always": "0.40", "favourite": "0.10", "no-coin": "0.20"}.items():
        widgets.nth(0).locator("select").select_option(rule)
        said = widgets.nth(0).locator("[aria-live=polite]").inner_text()
        assert said.endswith(f"the distance is {off}."), said
    widgets.nth(0).locator("[data-law=q]").nth(2).fill("0.2")  # by mouse or touch: an input event
    assert numbers(widgets.nth(0), "q") == [.4, .4, .2]


def test_the_stepper_ends_at_the_trace(open_page):
    page, widgets = open_page()
    stepper, rows = widgets.nth(1), SHOWN[1].rows()
    button = {word: stepper.get_by_role("button", name=word) for word in ("back", "next", "start")}
    places = "(root) => [...root.querySelectorAll('table, tr, td, li, ol')].map((e) => " \
             "{ const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })"
    before, said = stepper.evaluate(places), [""]
    button["next"].focus()
    while button["next"].get_attribute("aria-disabled") == "false":
        page.keyboard.press("Enter")
        said.append(stepper.locator("[aria-live=polite]").inner_text())
        assert said[-1] != said[-2], "a move without a sentence of its own"
        assert stepper.evaluate(places) == before, "something has moved on the way"
    assert stepper.locator(".cw-count").inner_text() == "move {0} of {0}".format(len(said) - 1)
    written = [r["written"] for r in rows if r["written"] is not None]
    assert stepper.locator("li b").all_inner_texts()[1:7] == ["ABC"[x] for x in written]
    table = [row.locator("td").all_inner_texts() for row in stepper.locator("tbody tr").all()]
    assert [row[6] for row in table] == [r["verdict"] for r in rows]
    stepper.get_by_role("button", name="new coins").click()
    assert stepper.locator(".cw-count").inner_text().startswith("move 0 of")
    button["start"].click()
    assert stepper.evaluate(places) == before
    assert button["back"].get_attribute("aria-disabled") == "true"


def test_keyboard_moves_the_gain(open_page):
    page, widgets = open_page()
    gain = widgets.nth(4)
    said = gain.locator("[aria-live=polite]")
    assert "writes 3.50 words and takes 1.20 passes: 2.91 times" in said.inner_text()
    gain.locator("input").first.focus()
    page.keyboard.press("End")
    assert "5.00 words" in said.inner_text() and "Best is γ = 16" in said.inner_text()
    page.keyboard.press("Home")
    assert "No number of guesses pays" in said.inner_text()
    for _ in range(82):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Home")
    assert "0 guesses writes 1.00 words and takes 1.00 passes: as fast as" in said.inner_text()
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    assert gain.locator("select").input_value() == "plain product of lesson 02"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert "2.91 times" in said.inner_text() and "flat" in gain.locator("select").input_value()
    gain.locator("input").nth(1).fill("0.9")  # by mouse or touch
    page.keyboard.press("Tab")
    assert "0.76 times as fast, slower than without" in said.inner_text()


def test_keyboard_changes_a_word(open_page):
    page, widgets = open_page()
    mask, twin = widgets.nth(5), Mask(SHOWN[5].names, VECTORS[:5], [0, 1, 2, 3])
    said, moved = mask.locator("[aria-live=polite]"), mask.locator("tbody td:last-child")
    place = "(e) => e.querySelector('svg').getBoundingClientRect().y - e.getBoundingClientRect().y"
    square = mask.evaluate(place)
    widgets.nth(4).locator("summary").focus()
    for i in range(3):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.ariaLabel") == f"word at place {i}"
    page.keyboard.press("m")
    assert said.inner_text() == ("Place 2 was changed. Rows 0 and 1 are exactly as before; rows 2 "
                                 "and 3 move. Row 1 judges place 2, and has not seen it.")
    twin.tokens = [0, 1, 4, 3]
    assert moved.all_inner_texts() == [row[-1] for row in twin._cells()[1:]]
    assert page.evaluate("document.activeElement.ariaLabel") == "word at place 2"
    notes = mask.locator("[x='100%'] text").all_text_contents()
    assert notes == ["exactly", "as before"] * 2 + ["moved by", "1.21", "moved by", "0.70"]
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert said.inner_text().endswith("Every row moves. Row 1 judges place 2, and has now seen the "
                                      "answer.")
    twin.causal = False
    assert moved.all_inner_texts() == [row[-1] for row in twin._cells()[1:]]
    assert mask.locator(".cw-hidden").count() == 0
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert said.inner_text().startswith("This is the text at the start")
    assert mask.locator("input").is_checked() and moved.all_inner_texts() == ["0"] * 4
    assert mask.locator(".cw-hidden").count() == 6
    mask.locator("select").nth(3).select_option("0")  # by mouse or touch
    assert "Rows 0, 1 and 2 are exactly as before; row 3 moves." in said.inner_text()
    assert mask.evaluate(place) == square, "the picture has jumped"


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_layout(open_page, width, scheme):
    page, widgets = open_page(width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for i in (0, 2, 3):
        for rule in ("right", "from-p", "from-q", "always", "no-coin"):
            widgets.nth(i).locator("select").select_option(rule)
            for value in ("0", "0.3", "1"):
                widgets.nth(i).locator("input").nth(3).fill(value)
                assert not widgets.nth(i).evaluate(OVERLAPS), (SHOWN[i].names, rule, value)
        wide = widgets.nth(i).evaluate("(e) => [...e.querySelectorAll('.cw, .cw-wide')].map("
                                       "(box) => box.scrollWidth - box.clientWidth)")
        assert wide == [0, 0], "a table that scrolls sideways"
    gain = widgets.nth(4)
    gain.locator("summary").click()
    for way in gain.locator("option").all_inner_texts():
        gain.locator("select").select_option(way)
        for place, value in ((0, "0"), (0, "1"), (1, "0"), (1, "1"), (2, "0"), (2, "16")):
            gain.locator("input").nth(place).fill(value)
            assert not gain.evaluate(OVERLAPS), (way, place, value)
            assert gain.evaluate("(e) => [...e.querySelectorAll('.cw, .cw-wide')].map((box) =>"
                                 "box.scrollWidth - box.clientWidth)") == [0, 0]
    for i, places in ((5, 4), (6, 8)):
        for causal in (False, True):
            widgets.nth(i).locator("input").set_checked(causal)
            for k in range(places):
                widgets.nth(i).locator("select").nth(k).select_option(str((k + 3 * causal) % 5))
                assert not widgets.nth(i).evaluate(OVERLAPS), (places, causal, k)
            assert widgets.nth(i).evaluate("(e) => [...e.querySelectorAll('.cw, .cw-wide')].map("
                                           "(box) => box.scrollWidth - box.clientWidth)") == [0, 0]
    for i in (1, 5):
        colours = widgets.nth(i).evaluate(
            "(e) => [...e.querySelectorAll('.cw, td, th, p, button, label, small')].map((part) => "
            "getComputedStyle(part)).map((style) => style.color + style.backgroundColor)")
        assert colours[0] == "rgb(34, 34, 34)rgb(255, 255, 255)"
        assert not any("238" in c or "51, 51" in c for c in colours), "the dark page shines through"
    page.add_style_tag(content=".cw-plot svg { font-size: 26px !important }")
    assert widgets.nth(3).evaluate(OVERLAPS), "this check sees no overlap where there is one"


def test_nothing_plays_by_itself(open_page):
    page, _ = open_page()
    assert page.evaluate("""new Promise((done) => {
        let changes = 0;
        new MutationObserver((list) => { changes += list.length; }).observe(document.body,
            { subtree: true, childList: true, attributes: true, characterData: true });
        setTimeout(() => done(changes), 1200);
    })""") == 0
