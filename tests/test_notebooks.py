"""The guard over what nbval cannot see: form and size, alt texts, numbers, claims, language."""
import ast
import json
import re
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from execute import executed, normalise  # noqa: E402

LESSONS = sorted(ROOT.glob("notebooks/*.ipynb"))
TAUGHT = [path for path in LESSONS if not path.name.startswith("00")]
FORBIDDEN = (r"\b(simply|just|obviously|trivial(ly)?|of course)\b"
             r"|\b\w+n['’]t\b|\b(it|that|there|let|what|here)['’]s\b"
             r"|\b(we|you|they|I)['’](re|ll|ve|m)\b")


def lessons(paths=LESSONS):
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def code_of(nb):
    return [cell for cell in nb.cells if cell.cell_type == "code"]


def prose_of(nb):
    return [cell for cell in nb.cells if cell.cell_type == "markdown"]


def shown(cell):
    """All text that a code cell shows a reader: its source and its outputs, pictures left out."""
    texts = [cell.source]
    for output in cell.outputs:
        data = output.get("data", {})
        texts += [output.get("text", ""), data.get("text/plain", "")]
        texts.append(re.sub(r"data:image/png;base64,[^\"]+", "", data.get("text/html", "")))
    return "\n".join(texts)


def test_there_are_lessons():
    names = [path.stem[:2] for path in LESSONS]
    assert names == [f"{n:02}" for n in range(11)]


@lessons()
def test_executed_in_order_and_stored_as_a_rerun_would(path):
    nb = read(path)
    assert [c.execution_count for c in code_of(nb)] == list(range(1, len(code_of(nb)) + 1))
    assert any(c.outputs for c in code_of(nb))
    assert nbformat.writes(normalise(read(path))) + "\n" == path.read_text("utf-8")
    kernel = json.loads(path.read_text("utf-8"))["metadata"]["kernelspec"]
    assert kernel["name"] == "python3"
    assert all(re.fullmatch(r"[a-z0-9-]{2,40}", cell.id) for cell in nb.cells)


QUICK = [path for path in LESSONS if path.stem[:2] in ("01", "04", "05")]  # and they time nothing


@lessons(QUICK)
def test_a_rerun_changes_no_byte(path):
    """Pictures apart, whose bytes depend on the system's own libraries."""
    before, after = (re.sub(r"data:image/png;base64,[^\"\\\\]+", "PNG", text)
                     for text in (path.read_text("utf-8"), executed(path)))
    assert before == after


@lessons()
def test_outputs_are_clean(path):
    for cell in code_of(read(path)):
        for output in cell.outputs:
            assert output.output_type != "error", cell.id
            assert output.get("name") != "stderr", cell.id
            data = output.get("data", {})
            assert not any("widget" in kind or kind.startswith("image/") for kind in data), cell.id
        assert not re.search(r"\b0x[0-9a-f]{6,}", shown(cell)), f"{cell.id}: an address"


@lessons()
def test_every_figure_has_one_alt_sentence(path):
    for cell in code_of(read(path)):
        pages = [o.data["text/html"] for o in cell.outputs if "text/html" in o.get("data", {})]
        images = re.findall(r"<img\b[^>]*>", "".join(pages))
        for image in images:
            alt = re.search(r'alt="([^"]+)"', image)
            assert alt and len(alt[1].split()) >= 8 and alt[1].endswith("."), cell.id
        assert len(images) == len(set(images)), cell.id
        if "draw.show" in cell.source:
            assert images, f"{cell.id}: no figure is stored"
        if "figure" in cell.metadata.get("tags", []):
            assert images or "course-widget" in "".join(pages), f"{cell.id}: no figure is stored"


@lessons()
def test_every_column_of_a_table_has_a_name(path):
    """A screen reader says it at each entry."""
    for cell in read(path).cells:
        heads = re.findall(r"^(\|.+)\n\|[-:| ]+$", cell.source, re.M)
        names = [name for head in heads for name in head.strip("| ").split("|")]
        assert all(name.strip() for name in names) and "||" not in "".join(heads), cell.id
        for output in cell.get("outputs", []):
            assert not re.search(r"<th[^>]*></th>", output.get("data", {}).get("text/html", ""))


@lessons()
def test_size_and_headings(path):
    nb = read(path)
    assert len(nb.cells) <= 60
    for cell in nb.cells:
        if cell.cell_type == "code":
            assert len(cell.source.splitlines()) <= 15, cell.id
        elif not cell.source.startswith("## Sources"):
            text = re.sub(r"^\|.*$", "", cell.source, flags=re.M)  # a table is looked up, not read
            assert len(text.split()) <= 120, f"{cell.id}: {len(text.split())} words"
    levels = [len(m) for cell in prose_of(nb)
              for m in re.findall(r"^(#+) ", cell.source, re.M)]
    assert levels.count(1) == 1 and levels[0] == 1
    assert all(b <= a + 1 for a, b in zip(levels, levels[1:], strict=False)), levels


@lessons()
def test_details_are_written_so_that_every_renderer_shows_them(path):
    for cell in prose_of(read(path)):
        assert not re.search(r"</summary>[ \t]*\n[ \t]*\S", cell.source), cell.id
        assert not re.search(r"\S[ \t]*\n</details>", cell.source), f"{cell.id}: blank line first"
        assert cell.source.count("<details>") == cell.source.count("</details>"), cell.id
        for summary in re.findall(r"<summary>(.*?)</summary>", cell.source, re.S):
            assert not re.search(r"[$`*\\_]", summary), f"{cell.id}: words only in a summary"
        for box in re.findall(r"<details>(.*?)</details>", cell.source, re.S):
            assert not re.search(r"^\s*#", box, re.M), f"{cell.id}: a heading in a box"


@lessons()
def test_cells_are_plain_python_without_network(path):
    for cell in code_of(read(path)):
        tree = ast.parse(cell.source)  # also refuses magics and !commands
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "input", cell.id
        assert not re.search(r"https?://|\burllib\b|\brequests\b|\bsocket\b", cell.source), cell.id


@lessons()
def test_a_name_is_bound_once(path):
    bound = {}
    for cell in code_of(read(path)):
        for node in ast.parse(cell.source).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            names = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)
                     and isinstance(n.ctx, ast.Store)]
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                names.append(node.name)
            for name in set(names) - {"_"}:
                assert name not in bound, f"{name} is bound in {bound[name]} and in {cell.id}"
                bound[name] = cell.id


@lessons(TAUGHT)
def test_the_order_of_a_lesson(path):
    nb = read(path)
    first = prose_of(nb)[0].source
    for words in ("**The question.**", "**You need**", "**Afterwards you can**", "minutes"):
        assert words in first, words
    heads = re.findall(r"^## (.+)$", "\n".join(c.source for c in prose_of(nb)), re.M)
    assert heads[-4:] == ["Does the law hold?", "Lines worth keeping", "Problems", "Sources"]
    lines = next(c.source for c in prose_of(nb) if c.source.startswith("## Lines worth keeping"))
    assert len(re.findall(r"^- ", lines, re.M)) == 3


@lessons(TAUGHT)
def test_claims_can_be_opened_and_argued_with(path):
    """A claim has a box with the objection, and the next cell asserts what would end the claim."""
    nb = read(path)
    claims = [i for i, cell in enumerate(nb.cells)
              if cell.cell_type == "markdown" and "**Claim.**" in cell.source]
    assert len(claims) >= 3
    for i in claims:
        assert "<details>" in nb.cells[i].source, nb.cells[i].id
        assert nb.cells[i + 1].cell_type == "code", nb.cells[i].id
        nodes = ast.walk(ast.parse(nb.cells[i + 1].source))
        assert any(isinstance(node, ast.Assert) for node in nodes), nb.cells[i + 1].id


@lessons(TAUGHT)
def test_questions_of_the_lesson_are_asked(path):
    asked = re.findall(r'check\.choice\("([^"]+)", "\?"\)',
                       "\n".join(c.source for c in code_of(read(path))))
    file = ROOT / "course" / "questions" / f"{path.stem[:2]}.toml"
    known = [name for name, entry in tomllib.loads(file.read_text("utf-8")).items()
             if "options" in entry]
    assert len(asked) >= 2 and sorted(asked) == sorted(known)


def numbers(text):
    """The values of all numbers written in text, as a set of floats."""
    text = re.sub(r"(?<=\d)[\u00a0\u202f ,](?=\d{3}\b)", "", text)  # 20 000 and 20,000
    return {float(m) for m in re.findall(r"(?<![\w.])\d*\.?\d+(?:e-?\d+)?(?![\w]|\.\d)", text)}


def claimed(text):
    """The numbers of a prose cell that must be printed: decimals, and integers from 100 on.

    A sentence that says "reported" quotes somebody, and its source stands in the lesson.
    """
    text = re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$|`[^`]+`|\[[^]]*\]\([^)]*\)", " ", text, flags=re.S)
    kept = [s for s in re.split(r"(?<=[.!?])\s+|\n", text) if "reported" not in s.lower()]
    text = re.sub(r"\b(?:19|20)\d\d\b", " ", "\n".join(kept))  # years
    percent = {float(m) for m in re.findall(r"(\d*\.?\d+)[\u00a0 ]?%", text)}
    return {x for x in numbers(text) if x != int(x) or x >= 100} | percent


@lessons()
def test_every_number_in_the_prose_is_printed_by_a_cell_near_it(path):
    cells = read(path).cells
    for i, cell in enumerate(cells):
        if cell.cell_type != "markdown" or cell.source.startswith("## Sources"):
            continue
        near = [numbers(shown(c)) for c in cells[max(0, i - 7):i + 8] if c.cell_type == "code"]
        seen = set().union(*near) if near else set()
        seen |= {round(100 * x, 9) for x in seen}
        missing = {x for x in claimed(cell.source) if not any(abs(x - y) < 1e-9 for y in seen)}
        assert not missing, f"{cell.id}: {sorted(missing)} is printed by no cell near it"


@lessons()
def test_the_language(path):
    for cell in prose_of(read(path)):
        text = re.sub(r"`[^`]+`|\[[^]]*\]\([^)]*\)", " ", cell.source)
        found = re.search(FORBIDDEN, text, re.I)
        assert not found, f"{cell.id}: {found[0]}"


@pytest.mark.parametrize("text, wanted", [
    ("off by 0.167 and 40 %", {0.167, 40.0}), ("20 000 texts in 2023", {20000.0}),
    ("reported: 3.4 times", set()), ("$0.5 x$ and `0.25`", set()), ("three of 27", set())])
def test_the_number_test_sees_numbers(text, wanted):
    assert claimed(text) == wanted
