"""Every question has a reason for every option, and no answer of a reader raises an error."""
import pathlib
import re
import tomllib

import pytest

from course import check

QUESTIONS = check.QUESTIONS
EVERY = pytest.mark.parametrize("name", QUESTIONS)


def test_there_are_questions():
    assert QUESTIONS


def test_questions_stand_in_the_file_of_their_lesson():
    files = sorted((pathlib.Path(check.__file__).parent / "questions").glob("*.toml"))
    named = [(file.stem, name) for file in files for name in tomllib.loads(file.read_text("utf-8"))]
    assert all(re.fullmatch(r"\d\d(_problems)?", stem) and name.startswith(f"{stem[:2]}-")
               for stem, name in named)
    assert sorted(name for _, name in named) == sorted([*QUESTIONS, *check.NUMBERS])


@EVERY
def test_a_question_is_complete(name):
    entry = QUESTIONS[name]
    assert re.fullmatch(r"\d\d-[a-z0-9-]+", name)
    assert set(entry) == {"text", "right", "options"} and entry["text"].strip().endswith(("?", "."))
    letters = [option["letter"] for option in entry["options"]]
    assert letters == list("abcdef")[:len(letters)] and 3 <= len(letters) <= 4
    assert letters.count(entry["right"]) == 1
    for option in entry["options"]:
        assert set(option) == {"letter", "idea", "text", "reason"}
        assert all(isinstance(value, str) and value.strip() for value in option.values())
        assert re.fullmatch(r"[a-z0-9-]+", option["idea"])
        assert len(option["reason"].split()) >= 8  # a reason, not a tick
    for field in ("idea", "text", "reason"):
        values = [option[field] for option in entry["options"]]
        assert len(set(values)) == len(values)


@EVERY
def test_every_letter_gets_the_reason_of_its_own_option(name):
    entry = QUESTIONS[name]
    for option in entry["options"]:
        verdict = check.choice(name, option["letter"])
        right = option["letter"] == entry["right"]
        assert verdict.ok is right and option["reason"] in verdict.reason
        assert verdict.kind == ("right" if right else option["idea"])
        assert verdict.points(2) == (2.0 if right else 0.0) and type(verdict.points(2)) is float


@EVERY
def test_a_verdict_shows_the_question_and_all_options(name):
    entry = QUESTIONS[name]
    for answer in ("?", "a"):
        verdict = check.choice(name, answer)
        page, text = verdict._repr_html_(), repr(verdict)
        for option in entry["options"]:
            assert option["text"] in text
            word = "Right." if option["letter"] == entry["right"] else "Not yet."
            assert check.as_html(option["text"]) in page
            assert f"<p><strong>{word}</strong> {check.as_html(option['reason'])}</p>" in page
        assert entry["text"] in text and verdict.reason in text
        assert page.count("<details>") == len(entry["options"]) == page.count("</details>")
        assert "<script" not in page


NAME = next(iter(QUESTIONS))
RIGHT = QUESTIONS[NAME]["right"]


@pytest.mark.parametrize("answer", [RIGHT, RIGHT.upper(), f" {RIGHT} ", f"{RIGHT.upper()}\n"])
def test_a_letter_counts_however_it_is_written(answer):
    assert check.choice(NAME, answer).ok


@pytest.mark.parametrize("answer", ["?", "", " ", None, "? ", ...])
def test_no_answer_yet(answer):
    verdict = check.choice(NAME, answer)
    assert not verdict.ok and verdict.kind == "no answer yet" and verdict.points(3) == 0.0
    assert verdict.reason.startswith("No answer yet")
    assert check.choice(NAME) == check.choice(NAME, "?")


@pytest.mark.parametrize("answer", [3, 2.5, "zz", "B!", True, [], ["a", "b"], {"a": 1}, print, b"a",
                                    "<b>x</b>", "a" * 1000])
def test_an_odd_answer_is_no_error(answer):
    verdict = check.choice(NAME, answer)
    assert not verdict.ok and verdict.points(1) == 0.0 and "letter" in verdict.reason
    assert "<b>x" not in verdict._repr_html_() and repr(verdict)


@pytest.mark.parametrize("question", ["05-nothing", "", None, 5, [], {}, "<i>"])
def test_a_missing_question_is_no_error(question):
    verdict = check.choice(question, "a")
    assert not verdict.ok and verdict.kind == "unknown" and "no question" in verdict.reason
    assert repr(verdict) and "<i>" not in verdict._repr_html_()


def test_code_in_an_option_is_set_as_code_and_html_is_escaped():
    assert check.as_html("`p < q` & more") == "<code>p &lt; q</code> &amp; more"
