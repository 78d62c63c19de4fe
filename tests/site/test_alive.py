"""The explorers on the pages of the lessons: moved by keyboard and by mouse, they tell the numbers
that Python computes from the same state."""
import html
import json
import re

import numpy as np
import pytest
from conftest import SITE

from course.gain import best_gamma, expected_tokens, speed_up
from course.widgets import PQ, Gain, Mask, Stepper

PAGES = {"mask": "03_one_pass_every_position", "pq": "05_the_accept_reject_rule",
         "stepper": "06_many_tokens", "gain": "08_how_much_faster"}


def state(kind):
    """What the page stores of its explorer."""
    text = (SITE / "notebooks" / f"{PAGES[kind]}.html").read_text("utf-8")
    stored, = re.findall(rf'data-widget="{kind}" data-state="([^"]*)"', text)
    return json.loads(html.unescape(stored))


@pytest.fixture
def explorer(opened):
    def opens(kind):
        page = opened(f"notebooks/{PAGES[kind]}.html")
        widget = page.locator(f'.course-widget[data-widget="{kind}"]')
        widget.scroll_into_view_if_needed()
        return page, widget, widget.locator("[aria-live=polite]")
    return opens


def slide(page, slider, share):
    """Press on the slider at this share of its way."""
    box = slider.bounding_box()
    page.mouse.click(box["x"] + 8 + share * (box["width"] - 16), box["y"] + box["height"] / 2)


def test_p_and_q(explorer):
    page, widget, says = explorer("pq")
    start = state("pq")
    sliders, table = widget.locator("input"), widget.locator("table")

    def law(name):
        cells = table.locator(f"tr:has(th:text-is('{name}')) td").all_inner_texts()
        return [float(cell) for cell in cells][:-1]

    sliders.first.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    p = np.array(start["p"])
    wanted = np.r_[p[0] + 0.1, p[1:] * (1 - p[0] - 0.1) / (1 - p[0])]
    assert np.allclose(law("p"), wanted, atol=0.006)
    for name, *row in PQ(wanted, start["q"], start["names"])._cells()[1:]:
        assert table.locator(f"tr:has(th:text-is('{name}')) td").all_inner_texts() == row
    alpha = np.minimum(wanted, start["q"]).sum()
    assert f"α = {alpha:.2f}" in says.inner_text() and "this is p" in says.inner_text()
    slide(page, sliders.nth(1), 0.9)  # by mouse: q of the first token
    assert law("q")[0] > 0.8 and law("comes out") == law("p")
    before = says.inner_text()
    widget.locator("select").select_option("from-p")
    assert "not p" in widget.inner_text() and says.inner_text() != before
    assert law("comes out") != law("p")


def test_the_stepper(explorer):
    page, widget, says = explorer("stepper")
    kept = state("stepper")
    rows = Stepper(**kept).rows()
    following = widget.get_by_role("button", name="next")
    said = [says.inner_text()]
    while following.get_attribute("aria-disabled") == "false":
        following.click()
        said.append(says.inner_text())
    verdicts = [row.locator("td").nth(6).inner_text() for row in widget.locator("tbody tr").all()]
    assert verdicts == [row["verdict"] for row in rows]
    assert widget.locator(".cw-count").inner_text() == "move {0} of {0}".format(len(said) - 1)
    widget.get_by_role("button", name="back").focus()
    page.keyboard.press("Enter")
    assert says.inner_text() == said[-2]
    widget.get_by_role("button", name="new coins").click()
    assert widget.locator(".cw-count").inner_text().startswith("move 0 of")


def test_the_gain(explorer):
    page, widget, says = explorer("gain")
    kept = state("gain")
    v = kept["ways"][kept["way"]]

    def told(alpha, c, gamma):
        fast = speed_up(alpha, gamma, c, v)
        assert f"writes {expected_tokens(alpha, gamma):.2f} words" in says.inner_text()
        assert f"{fast:.2f} times as fast" in says.inner_text()

    Gain(kept["alpha"], kept["c"], kept["gamma"], kept["ways"])  # the state is one Python takes
    told(kept["alpha"], kept["c"], kept["gamma"])
    sliders = widget.locator("input")
    sliders.first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    told(round(kept["alpha"] - 0.03, 2), kept["c"], kept["gamma"])
    slide(page, sliders.nth(2), 0.5)
    alpha, gamma = float(sliders.first.input_value()), int(sliders.nth(2).input_value())
    assert gamma != kept["gamma"]
    told(alpha, kept["c"], gamma)
    best = best_gamma(alpha, kept["c"], v)
    assert f"γ = {best}" in says.inner_text() or best == gamma


def test_the_mask(explorer):
    page, widget, says = explorer("mask")
    kept = state("mask")
    places = widget.locator("select")
    places.nth(1).focus()
    before = places.nth(1).input_value()
    page.keyboard.press("ArrowDown")
    if places.nth(1).input_value() == before:
        page.keyboard.press("ArrowUp")
    changed = Mask(kept["names"], kept["vectors"], kept["start"], kept["causal"])
    tokens = [int(places.nth(i).input_value()) for i in range(places.count())]
    changed.tokens = tokens
    assert tokens[1] != kept["start"][1]

    def told():
        moved = widget.locator("table tbody tr td:last-child").all_inner_texts()
        assert moved == [f"{move:.2f}" if move else "0" for move in changed.moves()]

    told()
    assert "Row 0 is exactly as before" in says.inner_text()
    widget.locator("input[type=checkbox]").click()  # by mouse: no mask
    changed.causal = False
    told()
    assert changed.moves().min() > 0.01 and "Every row moves" in says.inner_text()
    widget.get_by_role("button", name="back to the start").click()
    assert [int(places.nth(i).input_value()) for i in range(places.count())] == kept["start"]
