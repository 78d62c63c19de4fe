"""The pages beside the lessons: their links lead to cells, which print the numbers of the text.

A page is a text, and `problems` says what is wrong with it, in words. Left out: how Sphinx shows
it, which the tests of the site look at.
"""
import re

import pytest
import test_notebooks as guard

PAGES = {path.name: path.read_text("utf-8") for path in sorted((guard.ROOT / "docs").glob("*.md"))}
CELLS = {f"{path.stem[:2]}-{cell.id}": cell
         for path in guard.LESSONS for cell in guard.code_of(guard.read(path))}
LESSONS = {f"notebooks/{path.name}" for path in guard.LESSONS}
CELL, LESSON = r"\]\(#(\d\d-[^)]*)\)", r"\]\((notebooks/[^)#]*)[^)]*\)"
QUESTION = re.compile(r"^### (.+?)\n\n(.+?)\n\nShown by: (.+?)\\\nAsked at: (.+?)(?=\n\n|\s*\Z)",
                      re.M | re.S)
PLACE = re.compile(r"[\w.-]+/[\w.-]+(#\d+)?( \([^()]+\))?")  # owner/repo#number, or what else it is


def dead(text):
    """The links of text to cells and lessons that are not there."""
    cells, lessons = re.findall(CELL, text), re.findall(LESSON, text)
    return [x for x in cells if x not in CELLS] + [x for x in lessons if x not in LESSONS]


def unprinted(text, links):
    """The numbers of text that no cell prints to which links lead, in order."""
    cells = [CELLS[label] for label in re.findall(CELL, links) if label in CELLS]
    seen = set().union(*(guard.numbers(guard.shown(cell)) for cell in cells))
    seen |= {round(100 * x, 9) for x in seen}
    return sorted(x for x in guard.claimed(text) if not any(abs(x - y) < 1e-9 for y in seen))


def entries(text):
    """The entries of the glossary: (terms, definition) each, as Sphinx divides them."""
    found, open_terms = [], False
    for line in re.search(r"^```\{glossary\}\n(.*?)^```$", text, re.M | re.S)[1].splitlines():
        if line and not line[0].isspace():
            if not open_terms:
                found.append(([], []))
            found[-1][0].append(line)
        else:
            found[-1][1].append(line.strip())
        open_terms = bool(line) and not line[0].isspace()
    return [(terms, "\n".join(lines).strip()) for terms, lines in found]


def of_the_glossary(text):
    names = [term.lower() for terms, _ in entries(text) for term in terms]
    yield from (f"{name} stands there twice" for name in set(names) if names.count(name) > 1)
    for terms, said in entries(text):
        if not re.search(f"{CELL}|{LESSON}", said):
            yield f"{terms[0]} leads to no lesson"
        if not said or said.startswith((":", "Shown in")):
            yield f"{terms[0]} is not defined"
        if wrong := unprinted(said, said):
            yield f"{terms[0]}: {wrong} is not printed"


def of_the_questions(text):
    asked = QUESTION.findall(text)
    if len(asked) != len(re.findall("^### ", text, re.M)):
        yield "a question has not the form of the others"
    for title, answer, shown, places in asked:
        if not 2 <= len(re.split(r"(?<=[.!?])\s+", answer)) <= 5:
            yield f"{title} 2 to 5 sentences are wanted"
        if not re.search(CELL, shown):
            yield f"{title} leads to no cell"
        if wrong := unprinted(f"{title}\n{answer}", f"{answer}\n{shown}"):
            yield f"{title} {wrong} is not printed"
        for place in re.split(r",\s+(?![^(]*\))", places):
            if not PLACE.fullmatch(place.replace("\n", " ")):
                yield f"{title} asked at {place}?"


def problems(text):
    """What is wrong with a page, in words."""
    found = [f"{place} does not exist" for place in dead(text)]
    words = re.sub(r"`[^`]+`|\]\([^)]*\)", " ", text)
    found += [f"banned: {m[0]}" for m in re.finditer(guard.FORBIDDEN, words, re.I)]
    if "://" in text:
        found.append("a web address")
    if "```{glossary}" in text:
        found += of_the_glossary(text)
    if "\nShown by:" in text:
        found += of_the_questions(text)
    return found


@pytest.mark.parametrize("name", PAGES)
def test_a_page(name):
    assert not problems(PAGES[name])


def test_the_pages_are_there():
    assert len(entries(PAGES["glossary.md"])) >= 35
    assert len(QUESTION.findall(PAGES["questions.md"])) >= 25
    letters = re.findall(r"^\| (\S+) \|.*\]\(notebooks/", PAGES["glossary.md"], re.M)
    assert {"p", "q", "x", "u", "γ", "α", "c", "v(n)", "V", "T", "n"} <= set(letters)


FAULTS = [  # page, what stands there, what a slip would put there, what is said of it
    ("questions.md", "2.176 words", "2.167 words", "[2.167] is not printed"),
    ("questions.md", "for 1 position than", "for 150 positions than", "[150.0] is not printed"),
    ("questions.md", "### 82 %", "### 83 %", "[83.0] is not printed"),
    ("questions.md", "(#05-s3-run)", "(#05-s3-rum)", "05-s3-rum does not exist"),
    ("questions.md", "(#05-s3-run)", "(#05-s3)", "05-s3 does not exist"),  # no code cell
    ("questions.md", "(#05-s2-knows-run)", "(#cell)", "leads to no cell"),
    ("questions.md", "\\\nAsked at: z-lab", "\nAsked at: z-lab", "not the form of the others"),
    ("questions.md", "z-lab/dflash#74", "dflash 74", "asked at dflash 74?"),
    ("questions.md", "There can be one: measure", "Yes. Yes. Yes: measure", "2 to 5 sentences"),
    ("questions.md", "\nIt does not know.", "\nIt doesn't know.", "banned: doesn't"),
    ("questions.md", "and a coin decides", "and of course a coin", "banned: of course"),
    ("questions.md", "z-lab/dflash#74", "https://z-lab", "a web address"),
    ("glossary.md", "(0.75, 0.25, 0)", "(0.75, 0.35, 0)", "residual: [0.35] is not printed"),
    ("glossary.md", "(#05-s3-residual)", "(#05-s3-residue)", "05-s3-residue does not exist"),
    ("glossary.md", "notebooks/05_the", "notebooks/05_a", "05_a_accept"),
    ("glossary.md", "  Shown in [lesson 09](#09-s1-tale).\n\ntop-k", "top-k", "leads to no lesson"),
    ("glossary.md", "\ntoken\n", "\nTarget\n", "target stands there twice"),
    ("glossary.md", "\ntoken\n  What a", "\ntoken\n  : What a", "token is not defined"),
]


@pytest.mark.parametrize("name, right, wrong, said", FAULTS)
def test_a_slip_is_noticed(name, right, wrong, said):
    assert right in PAGES[name]
    assert any(said in problem for problem in problems(PAGES[name].replace(right, wrong)))
