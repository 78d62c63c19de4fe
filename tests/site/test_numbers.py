"""The numbers that a reader types on the pages of problems: each box answers, by key and by mouse.

What is said for which answer is compared with the course's check in tests/test_asked.py; here the
boxes are in the page, have names, answer aloud, and leave a twin where scripts are off.
"""
import json

import pytest
from conftest import SITE

from course import check

PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.glob("problems/*.html"))
TWIN = "With JavaScript you can type your answer here; the box below has ours."
every = pytest.mark.parametrize("name", PAGES)


def held(box):
    return json.loads(box.get_attribute("data-question"))


def typed(numbers, shape):
    """The numbers as a reader types them: a table has a line for each row."""
    width = shape[1] if len(shape) == 2 else max(1, len(numbers))
    lines = [numbers[i:i + width] for i in range(0, len(numbers), width)]
    return "\n".join(", ".join(map(repr, line)) for line in lines)


def plain(text):
    return " ".join(text.replace("`", "").split())


def said(box):
    return plain(box.locator("[aria-live=polite]").inner_text())


def test_every_lesson_with_problems_asks():
    assert len(PAGES) >= 10
    found = [(SITE / name).read_text("utf-8").count('class="course-number"') for name in PAGES]
    assert all(found) and sum(found) > 25, found


@every
@pytest.mark.parametrize("width, file", [(1280, False), (360, True)])
def test_every_box_answers(opened, name, width, file):
    page = opened(name, width, file=file)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    kept = page.evaluate("JSON.stringify([localStorage, document.cookie])")
    for box in page.locator(".course-number").all():
        question = held(box)
        field = box.get_by_label(plain(question["text"]), exact=True)
        button = box.get_by_role("button", name="Check", exact=True)
        assert field.count() == button.count() == box.locator("label:visible").count() == 1
        assert min(part.bounding_box()["height"] for part in (field, button)) >= 44
        assert field.get_attribute("autocomplete") == "off"
        wrong = question["wrong"][0]

        field.focus()  # the right answer by keyboard
        page.keyboard.insert_text(typed(question["right"], question["shape"]))
        lines = len(question["shape"]) == 2  # where Enter begins a new one
        if lines:
            page.keyboard.press("Tab")
            assert button.evaluate("(e) => e === document.activeElement")
        page.keyboard.press("Enter")
        assert said(box) == f"Right. {plain(question['reason'])}"
        if lines:
            page.keyboard.press("Shift+Tab")
        assert field.evaluate("(e) => e === document.activeElement")
        page.keyboard.press("End")
        page.keyboard.insert_text("x")
        assert said(box) == "", "a verdict about what is no longer there"

        field.fill(typed(wrong["value"], question["shape"]))  # a usual wrong one by mouse
        button.click()
        assert said(box) == f"Not yet. {plain(wrong['reason'])}"
        assert plain(wrong["reason"]) in plain(check.number(question["name"], shaped(
            wrong["value"], question["shape"])).reason)
        field.fill("<b>abc</b>")
        button.click()
        assert said(box).startswith("<b>abc</b> is not a ") and not box.locator("b").count()
        field.fill("")
        button.click()
        assert said(box) == "No answer yet: type your answer in the box."
    assert not asked, "an answer was sent"
    assert page.evaluate("JSON.stringify([localStorage, document.cookie])") == kept


def shaped(numbers, shape):
    if len(shape) == 2:
        return [numbers[i:i + shape[1]] for i in range(0, len(numbers), shape[1])]
    return numbers if shape else numbers[0]


@every
def test_boxes_stand_between_the_blank_and_the_answer(opened, name):
    page = opened(name)
    order = page.locator("article :is(.tag_blank, .course-number, .course-choice, .answer)")
    kinds = order.evaluate_all("""(all) => all.filter((e) => !e.parentElement.closest('.answer'))
        .map((e) => ['tag_blank', 'course-number', 'course-choice', 'answer']
            .find((kind) => e.classList.contains(kind)))""")
    assert kinds.count("answer") >= 7
    for before, kind in zip([None, *kinds], kinds):
        if kind in ("course-number", "course-choice"):
            assert before != "answer", "a question behind the answer, or of no problem"
    # every choice that an answer box holds can be made before the box is opened
    inside = page.locator(".answer .course-choice").count()
    assert kinds.count("course-choice") == inside


@every
def test_without_scripts_the_twin_is_there(opened, name):
    page = opened(name, java_script_enabled=False)
    boxes = page.locator(".course-number").all()
    assert boxes
    for box in boxes:
        text = check.NUMBERS[held(box)["name"]]["text"]
        assert box.is_visible() and plain(box.inner_text()) == f"{plain(text)} {TWIN}"
        assert not box.locator("input, textarea, button").count()


def test_focus_is_seen(opened):
    page = opened("problems/09_a_real_pair.html")
    for part in page.locator(".course-number :is(input, textarea, button)").all():
        part.focus()
        page.keyboard.press("Shift")  # from here on the keyboard leads
        style, size = part.evaluate("(e) => { const s = getComputedStyle(e); "
                                    "return [s.outlineStyle, parseFloat(s.outlineWidth)]; }")
        assert style != "none" and size >= 2
