"""Figures carry the data they are given, say it in a sentence, and are stored the same twice."""
import base64
import html
import re

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.colors import to_hex
from matplotlib.text import Text

from course import draw

P, Q, NAMES = np.array([.5, .3, .2]), np.array([.2, .2, .6]), ["clear", "grey", "red"]
ALT = "Line chart of two things where the second is larger."
EXPECTED, SPREAD = np.array([400., 20., 100.]), np.array([19., 4., 9.5])
SEEN = {"first": np.array([410., 18., 100.]), "second": np.array([380., 30., 90.])}
CELLS = [[1, 0, 0], [1, 1, 0]]
ROUNDS = [[("He", "kept"), ("llo", "kept"), ("wo", "thrown away"), (" day", "replaced")],
          [("s", "kept"), ("!", "bonus")]]

FIGURES = {
    "overlap": lambda: draw.overlap(P, Q, NAMES),
    "laws": lambda: draw.laws({"target p": P, "draft q": Q, "seen": [.4, .4, .2]}, NAMES,
                              "A finding", ALT),
    "curves": lambda: draw.curves([1, 2, 4], {"plain": [1., 2, 3], "target": [1., 1, 1.5]},
                                  "A finding", ALT, "positions", "cost", log="x"),
    "curves, log y": lambda: draw.curves([1, 2, 4], {"plain": [1., 10, 100]}, "A finding", ALT,
                                         "positions", "cost", log="y"),
    "foretold": lambda: draw.foretold([1, 2, 4], {"fault": [0., 0.5, 1]}, {"fault": [0., 0.4, 1]},
                                      "A finding", ALT, "runs", "caught", log="x"),
    "counts": lambda: draw.counts(EXPECTED, SEEN, SPREAD, "A finding", ALT),
    "grid": lambda: draw.grid(CELLS, ["one", "two"], ["a", "b", "c"], "A finding", ALT, "x", "y"),
    "rounds": lambda: draw.rounds(ROUNDS, "A finding", ALT),
}


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture
def shown(monkeypatch):
    """What draw displays, one dict {kind: text} a call."""
    bundles = []
    monkeypatch.setattr(draw, "display", lambda data, raw: bundles.append(data))
    return bundles


def words(ax):
    return [text.get_text() for text in ax.texts]


# ---- all figures

@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_comes_with_its_sentence(name):
    fig, alt = FIGURES[name]()
    assert isinstance(fig, plt.Figure) and alt.endswith(".") and len(alt.split()) >= 8
    ax, = fig.axes
    title = ax.get_title() or ax.get_title(loc="left")
    assert title and (name == "overlap" or (title, alt) == ("A finding", ALT))
    assert to_hex(fig.get_facecolor(), keep_alpha=True) == "#ffffffff"


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_leaves_the_style_of_others_alone(name):
    before = dict(mpl.rcParams)
    FIGURES[name]()
    assert dict(mpl.rcParams) == before


def test_every_function_that_draws_is_tested_here():
    made = {name for name, f in vars(draw).items() if hasattr(f, "__wrapped__")}
    assert made == {name.split(",")[0] for name in FIGURES}


@pytest.mark.parametrize("name", FIGURES)
def test_show_stores_one_image_with_alt_and_the_same_bytes_twice(name, shown):
    for _ in range(2):
        draw.show(*FIGURES[name]())
    first, second = shown
    assert first == second and set(first) == {"text/html", "text/plain"}
    image, = re.findall(r"<img\b[^>]*>", first["text/html"])
    alt = FIGURES[name]()[1]
    assert html.unescape(re.search(r'alt="([^"]*)"', image)[1]) == alt == first["text/plain"]
    png = base64.b64decode(re.search(r"base64,([^\"]+)", image)[1])
    assert png.startswith(b"\x89PNG") and b"Software" not in png and b"ersion" not in png
    caption = re.search(r"<figcaption([^>]*)>(.*)</figcaption></figure>$", first["text/html"])
    assert html.unescape(caption[2]) == alt
    assert caption[1] == ' aria-hidden="true"'  # or a screen reader would read the alt twice


LONG = "A finding that takes more words than one line of any figure of this course has room for"
WIDE = {
    "wide grid": lambda: draw.grid(np.eye(12), ["accept-target-probability, 11 more"] * 12,
                                   list("abcdefghijkl"), LONG, ALT),
    "wide rounds": lambda: draw.rounds([[("grey", "kept")] * 9], LONG, ALT),
    "crowded numbers": lambda: draw.curves([0.01, 0.25, 0.26, 100], {"noisy, favourite": [1] * 4},
                                           LONG, ALT, "x", "y", log="x"),
    "three in the legend": lambda: draw.laws({f"paid by kept guesses {i}": P for i in range(3)},
                                             NAMES, LONG, ALT),
}


def written(fig):
    """The pieces of text that a reader sees, and the box of each in pixels."""
    fig.draw_without_rendering()
    outside = {id(label) for ax in fig.axes for axis in (ax.xaxis, ax.yaxis)
               for tick in axis.get_major_ticks() for label in (tick.label1, tick.label2)
               if not min(axis.get_view_interval()) <= tick.get_loc()
               <= max(axis.get_view_interval())}  # not drawn
    return [(text, text.get_window_extent()) for text in fig.findobj(Text)
            if text.get_visible() and text.get_text().strip() and id(text) not in outside]


@pytest.mark.parametrize("name", [*FIGURES, *WIDE])
def test_a_phone_shows_every_word_large_and_whole_and_by_itself(name):
    fig, _ = {**FIGURES, **WIDE}[name]()
    seen = written(fig)
    for text, box in seen:
        phone = text.get_fontsize() / 72 * 352 / fig.get_figwidth()  # px of 352 px
        assert phone >= 8.5, text.get_text()
        assert 0 <= box.x0 and box.x1 <= fig.bbox.x1 and 0 <= box.y0, text.get_text()
        assert box.y1 <= fig.bbox.y1, text.get_text()
    for i, (text, box) in enumerate(seen):
        for other, near in seen[:i]:
            across = min(box.x1, near.x1) - max(box.x0, near.x0)
            down = min(box.y1, near.y1) - max(box.y0, near.y0)
            assert across < 0 or down < 2, (text.get_text(), other.get_text())


def test_a_long_title_is_broken_into_even_lines():
    fig, _ = WIDE["three in the legend"]()
    lines = fig.axes[0].get_title(loc="left").split("\n")
    assert " ".join(lines) == LONG and len(lines) == 2
    assert abs(len(lines[0]) - len(lines[1])) < 15


def test_numbers_that_would_touch_are_left_out_and_keep_their_ticks():
    ax = WIDE["crowded numbers"]()[0].axes[0]
    assert [label.get_text() for label in ax.get_xticklabels() if label.get_visible()] == [
        "0.01", "0.25", "100"]
    assert len(ax.get_xticks()) == 4


def test_show_closes_its_figure_and_escapes_the_sentence(shown):
    fig, _ = FIGURES["grid"]()
    draw.show(fig, 'Bars where p < q & "red" is large.')
    assert not plt.get_fignums()
    assert 'alt="Bars where p &lt; q &amp; &quot;red&quot; is large."' in shown[0]["text/html"]


# ---- the data in each

def test_overlap_stacks_what_is_owed_and_thrown_away_on_what_is_kept():
    fig, alt = draw.overlap(P, Q, NAMES)
    owed, thrown, kept = [bars.patches for bars in fig.axes[0].containers]
    shared = np.minimum(P, Q)
    for bars, heights, bottoms in ((owed, P - shared, shared), (thrown, Q - shared, shared),
                                   (kept, shared, [0, 0, 0])):
        assert [bar.get_height() for bar in bars] == pytest.approx(heights)
        assert [bar.get_y() for bar in bars] == pytest.approx(bottoms)
    assert {to_hex(bar.get_edgecolor()) for bar in owed} == {draw.P.lower()}
    assert {to_hex(bar.get_edgecolor()) for bar in thrown} == {draw.Q.lower()}
    assert {bar.get_hatch() for bar in owed} != {bar.get_hatch() for bar in thrown}
    assert words(fig.axes[0]) == ["kept 0.2", "owed 0.3", "kept 0.2", "owed 0.1", "kept 0.2",
                                  "thrown away 0.4"]
    assert [tick.get_text() for tick in fig.axes[0].get_xticklabels()] == NAMES
    assert "0.6" in alt and "clear 0.3, grey 0.1" in alt
    assert "60%" in fig.axes[0].get_title(loc="left") + fig.axes[0].get_title()


def test_overlap_of_equal_laws_and_of_laws_that_share_nothing():
    fig, alt = draw.overlap(P, P, NAMES)
    assert "nothing" in alt and not any("owed" in w or "thrown" in w for w in words(fig.axes[0]))
    fig, alt = draw.overlap([1, 0], [0, 1], ["a", "b"])
    assert words(fig.axes[0]) == ["owed 1", "thrown away 1"] and "share 0." in alt


def test_laws_has_one_bar_for_every_number():
    fig, _ = FIGURES["laws"]()
    bars = {group.get_label(): group.patches for group in fig.axes[0].containers}
    assert list(bars) == ["target p", "draft q", "seen"]
    for label, values in (("target p", P), ("draft q", Q), ("seen", [.4, .4, .2])):
        assert [bar.get_height() for bar in bars[label]] == pytest.approx(list(values))
        assert [bar.get_y() for bar in bars[label]] == [0, 0, 0]
    assert to_hex(bars["target p"][0].get_facecolor()) == draw.P.lower()
    assert to_hex(bars["draft q"][0].get_facecolor()) == draw.Q.lower()
    assert to_hex(bars["seen"][0].get_facecolor()) not in (draw.P.lower(), draw.Q.lower())
    middles = [np.mean([bar.get_x() + bar.get_width() / 2 for bar in token])
               for token in zip(*bars.values(), strict=True)]
    assert middles == pytest.approx([0, 1, 2])
    edges = sorted((bar.get_x(), bar.get_x() + bar.get_width())
                   for group in bars.values() for bar in group)
    assert all(a[1] <= b[0] + 1e-9 for a, b in zip(edges, edges[1:], strict=False))  # no overlap
    legend, = fig.legends
    assert [text.get_text() for text in legend.get_texts()] == list(bars)


def test_curves_pass_through_the_data_and_are_named_at_their_ends():
    fig, _ = FIGURES["curves"]()
    ax = fig.axes[0]
    lines = {line.get_label(): line for line in ax.lines}
    assert lines["plain"].get_xydata().tolist() == [[1, 1], [2, 2], [4, 3]]
    assert lines["target"].get_xydata().tolist() == [[1, 1], [2, 1], [4, 1.5]]
    assert to_hex(lines["target"].get_color()) == draw.P.lower()
    named = {text.get_text(): text.xy for text in ax.texts if hasattr(text, "xy")}
    assert named == {"plain": (4, 3), "target": (4, 1.5)}
    assert ax.get_xscale() == "log" and ax.get_ylim()[0] == 0
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "2", "4"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("positions", "cost")


def test_what_was_counted_stands_as_marks_beside_its_own_line():
    line, marks = FIGURES["foretold"]()[0].axes[0].lines
    assert line.get_xydata().tolist() == [[1, 0], [2, 0.5], [4, 1]] and line.get_marker() == "None"
    assert marks.get_xydata().tolist() == [[1, 0], [2, 0.4], [4, 1]]
    assert marks.get_linestyle() == "None" and marks.get_color() == line.get_color()


def test_names_at_the_ends_do_not_cover_each_other():
    fig, _ = draw.curves([1, 2], {"one": [1., 2.], "two": [1., 2.01], "three": [1., 2.02]},
                         "A finding", ALT, "x", "y")
    ax = fig.axes[0]
    heights = sorted(ax.transData.transform(text.xy)[1] + text.xyann[1] * fig.dpi / 72
                     for text in ax.texts)
    assert min(np.diff(heights)) >= 20
    assert max(heights) < ax.bbox.y1  # or the title would meet them


def test_log_y_does_not_start_at_0():
    ax = FIGURES["curves, log y"]()[0].axes[0]
    assert ax.get_yscale() == "log" and ax.get_ylim()[0] > 0


def test_counts_are_drawn_less_what_is_expected():
    ax = FIGURES["counts"]()[0].axes[0]
    lines = {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
    assert lines == {"first": [[20, -2], [100, 0], [400, 10]],
                     "second": [[20, 10], [100, -10], [400, -20]]}
    band = ax.collections[0].get_paths()[0].vertices
    assert {(x, y) for x, y in band.tolist()} == {
        (20, 8), (20, -8), (100, 19), (100, -19), (400, 38), (400, -38)}


def test_grid_marks_its_cells_with_a_sign():
    ax = FIGURES["grid"]()[0].axes[0]
    assert ax.collections[0].get_array().reshape(2, 3).tolist() == CELLS
    signs = {tuple(text.get_position()): text.get_text() for text in ax.texts}
    assert signs == {(j + .5, i + .5): "×" if CELLS[i][j] else ""
                     for i in range(2) for j in range(3)}
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first row is on top
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["one", "two"]


def test_rounds_are_boxes_in_order():
    fig, _ = FIGURES["rounds"]()
    ax = fig.axes[0]
    boxes = [(word, look) for line in ROUNDS for word, look in line]
    assert words(ax) == [word for word, _ in boxes]
    assert [text.get_position() for text in ax.texts] == [
        (j, i + .5) for i, line in enumerate(ROUNDS) for j in range(len(line))]
    assert len(ax.patches) == len(boxes)
    for patch, (_, look) in zip(ax.patches, boxes, strict=True):
        assert (patch.get_hatch() or "") == draw.LOOKS[look][2]
        assert to_hex(patch.get_facecolor()) == to_hex(draw.LOOKS[look][0])
    legend, = fig.legends
    assert {text.get_text() for text in legend.get_texts()} == {look for _, look in boxes}
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["round 1", "round 2"]


def test_looks_can_be_told_apart_without_colour():
    assert len(set(draw.LOOKS.values())) == len(draw.LOOKS)
    assert draw.LOOKS["replaced"][2] != draw.LOOKS["thrown away"][2]


# ---- the table

def test_table_escapes_html_and_lines_up_as_text(shown):
    draw.table(["p < q", "a & b"], [["<b>red</b>", 0.1 + 0.2], [7, "x"]])
    page, text = shown[0]["text/html"], shown[0]["text/plain"]
    assert set(shown[0]) == {"text/html", "text/plain"}
    assert "<b>" not in page and "&lt;b&gt;red&lt;/b&gt;" in page and "<th>p &lt; q</th>" in page
    assert re.findall(r"<td>(.*?)</td>", page)[1:] == ["0.3", "7", "x"]
    assert text.split("\n") == ["p < q       a & b", "<b>red</b>  0.3", "7           x"]
    assert page.count("<tr>") == 3


def test_a_ragged_table_is_refused(shown):
    with pytest.raises(ValueError):
        draw.table(["a", "b"], [["only one"]])
    assert not shown


def test_a_story_tells_its_looks_apart_without_colour(capsys):
    shown = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draw, "display", lambda data, raw: shown.append(data))
        draw.story([("Once a <b>", "prompt"), (" baker", "kept"), (" had", "replaced"),
                    (" three", "bonus")])
    page, plain = shown[0]["text/html"], shown[0]["text/plain"]
    assert plain == "Once a <b> baker [had] {three}"
    assert "Once a &lt;b&gt;" in page and "<b style" in page and "<i style" in page
    lines = [look[1] for look in draw.TOLD.values()]
    assert len(set(lines)) == len(lines)  # four looks, four lines


def test_an_older_matplotlib_hatches_in_the_edge_colour_by_itself():
    draw._hatch_in_edge_colour([object()])  # no set_hatchcolor, as a patch of version 3.10
