"""Figures. Every function returns (fig, alt): the picture, and the sentence that replaces it.

Blue, striped or solid, is the target p; vermillion, dotted or dashed, is the draft q; grey is where
both agree. Nothing else has these colours. The title of a figure is its finding. course.mplstyle
beside this file holds the rest of the look. Left out: anything that moves (see course.widgets).
"""
import base64
import functools
import html
import io
import pathlib
import textwrap

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator

P, Q = "#0072B2", "#D55E00"  # Okabe-Ito blue and vermillion: target and draft, in every figure
INK, GREY, PALE = "#222222", "#CFCFCF", "#F4F4F4"
OTHERS = [INK, "#009E73", "#7B3F8C", "#777777"]  # curves that are neither target nor draft
DASHES, MARKS = ["-", "--", "-.", ":"], ["o", "s", "^", "D"]


def _styled(draw):
    """draw, run in the course's own style, then made to fit what is in it."""
    @functools.wraps(draw)
    def styled(*args, **options):
        with plt.style.context(pathlib.Path(__file__).with_name("course.mplstyle")):
            return _fit(*draw(*args, **options))
    return styled


def _fit(fig, alt):
    """Break a title that is too long, and leave out numbers of a logarithmic x that touch."""
    ax, n, right = fig.axes[0], 1, -np.inf
    words = ax.get_title(loc="left")
    fig.draw_without_rendering()  # lays it out
    while ax.set_title(words).get_window_extent().x1 > fig.bbox.x1 - 5 and n < 4:
        n += 1
        words = _even(words, n, 4)
    for label in ax.get_xticklabels() if ax.get_xscale() == "log" else []:
        box = label.get_window_extent()
        label.set_visible(box.x0 > right + 7)  # pixels
        right = box.x1 if label.get_visible() else right
    return fig, alt


def _even(words, n, slack=0):
    """words in n lines, the longest of which has at most slack letters more than it must have."""
    size = len(words) // n
    while len(textwrap.wrap(words, size, break_long_words=False)) > n:
        size += 1
    return textwrap.fill(words, size + slack, break_long_words=False)


def _boxes(width, height):
    """A figure for boxes: at most 6.2 in wide, or type of 11 pt would be too small on a phone."""
    plt.rcParams.update({"font.size": 11, "axes.titlesize": 12, "axes.grid": False})
    fig, ax = plt.subplots(figsize=(min(6.2, width), height))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return fig, ax


def show(fig, alt):
    """Display fig once, as HTML whose img carries alt: Lab, the site and nbconvert honour it."""
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png", dpi=130, metadata={"Software": None})  # stable bytes
    plt.close(fig)
    png = base64.b64encode(buffer.getvalue()).decode()
    words = html.escape(alt)  # below the picture for all; a screen reader has it as the alt
    page = (f'<figure class="course-figure"><img alt="{words}" style="max-width:100%" '
            f'width="{fig.get_figwidth() * 100:.0f}" src="data:image/png;base64,{png}">'
            f'<figcaption aria-hidden="true">{words}</figcaption></figure>')
    display({"text/html": page, "text/plain": alt}, raw=True)


def table(header, rows):
    """Display rows under header: an HTML table for readers, aligned columns for text/plain."""
    cells = [[f"{c:.6g}" if isinstance(c, float) else str(c) for c in row]
             for row in [header, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
             for row in cells]

    def line(row, tag):
        return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in row) + "</tr>"
    page = (f'<table class="course-table"><thead>{line(cells[0], "th")}</thead><tbody>'
            + "".join(line(row, "td") for row in cells[1:]) + "</tbody></table>")
    display({"text/html": page, "text/plain": "\n".join(lines)}, raw=True)


TOLD = {  # of a piece of text: its tag, the line below it, the brackets of the plain text
    "prompt": ("i", "none", "", ""), "kept": ("span", "1px solid #8A8A8A", "", ""),
    "replaced": ("b", f"3px solid {P}", "[", "]"), "bonus": ("b", f"4px double {P}", "{", "}")}


def story(pieces):
    """Display a generation as running text: pieces are (text, look), looks are those of TOLD.

    Weight and line tell the looks apart, so it can be read in any colour scheme and on paper.
    """
    page, plain = [], []
    for text, look in pieces:
        tag, line, left, right = TOLD[look]
        word = text.lstrip(" ")
        gap = text[:len(text) - len(word)]
        plain.append(f"{gap}{left}{word}{right}")
        page.append(f'{gap}<{tag} style="border-bottom:{line}">{html.escape(word)}</{tag}>')
    page = f'<p class="course-story" style="line-height:2">{"".join(page)}</p>'
    display({"text/html": page, "text/plain": "".join(plain)}, raw=True)


@_styled
def overlap(p, q, names, title=None):
    """The accept/reject picture of p and q, (V,) each: grey kept, blue owed, dots thrown away."""
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    kept, x, top = np.minimum(p, q), np.arange(len(p)), max(p.max(), q.max())
    fig, ax = plt.subplots()
    ax.bar(x, p - kept, 0.72, bottom=kept, color="white", edgecolor=P, hatch="///", linewidth=1.5)
    ax.bar(x, q - kept, 0.72, bottom=kept, color="white", edgecolor=Q, hatch="...", linewidth=1.5)
    _hatch_in_edge_colour(ax.patches)
    ax.bar(x, kept, 0.72, color=GREY, edgecolor="#777777")
    for i in x:
        if kept[i] > 0.04 * top:
            ax.text(i, kept[i] / 2, f"kept {kept[i]:.2g}", ha="center", va="center")
        for word, high, colour in (("owed", p[i], P), ("thrown away", q[i], Q)):
            if high - kept[i] > 1e-9:
                ax.text(i, high + 0.015 * top, f"{word} {high - kept[i]:.2g}", ha="center",
                        va="bottom", color=colour, fontweight="bold")
    ax.set_xticks(x, names)
    ax.tick_params(axis="x", length=0)
    ax.set(ylabel="probability", ylim=(0, 1.15 * top))
    ax.set_title(title or f"The draft keeps {kept.sum():.0%}; the residual repays the rest")
    owed = ", ".join(f"{n} {v:.2g}" for n, v in zip(names, p - kept, strict=True) if v > 1e-9)
    return fig, (f"Bar chart of target p and draft q over {len(p)} tokens: they share "
                 f"{kept.sum():.2g}. A rejection must draw again what p has above q: "
                 f"{owed or 'nothing'}.")


def _hatch_in_edge_colour(patches):
    for patch in patches:
        if hasattr(patch, "set_hatchcolor"):  # matplotlib 3.10 has it so by itself
            patch.set_hatchcolor(patch.get_edgecolor())


@_styled
def laws(bars, names, title, alt, ylabel="probability"):
    """Grouped bars: bars is {label: (V,)}; "target ..." and "draft ..." have their own look."""
    fig, ax = plt.subplots()
    width = 0.8 / len(bars)
    others = iter(zip(OTHERS[3:] + OTHERS[1:3], ["", "\\\\", "xx"], strict=True))
    for k, (label, values) in enumerate(bars.items()):
        colour, hatch = ((P, "") if label.startswith("target") else (Q, "..")
                         if label.startswith("draft") else next(others))
        x = np.arange(len(names)) + (k - (len(bars) - 1) / 2) * width
        ax.bar(x, values, width * 0.92, color=colour, hatch=hatch, label=label)
    ax.set_xticks(range(len(names)), names)
    ax.tick_params(axis="x", length=0)
    ax.set(ylabel=ylabel, title=title)
    fig.legend(loc="outside lower center", ncols=3 if len("".join(bars)) < 45 else 1)
    return fig, alt


@_styled
def curves(x, lines, title, alt, xlabel, ylabel, log=""):
    """Lines with their names at the right end: lines is {label: (len(x),)}.

    log is "", "x", "y" or "xy". A label that starts with "target" or "draft" gets that colour.
    """
    fig, ax = plt.subplots()
    others = iter(zip(OTHERS, DASHES, MARKS, strict=True))
    ends = []
    for label, values in lines.items():
        colour, dash, mark = ((P, "-", "o") if label.startswith("target") else (Q, "--", "s")
                              if label.startswith("draft") else next(others))
        ax.plot(x, values, color=colour, linestyle=dash, marker=mark, label=label)
        ends.append((values[-1], label, colour))
    _scales(ax, x, log)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    _label_ends(ax, x[-1], ends)
    return fig, alt


@_styled
def foretold(x, lines, seen, title, alt, xlabel, ylabel, log=""):
    """Lines predicted, {label: (len(x),)}, and open marks for those seen; log is as in curves."""
    fig, ax = plt.subplots()
    for (label, values), colour, dash, mark in zip(lines.items(), OTHERS, DASHES, MARKS,
                                                   strict=False):
        ax.plot(x, values, color=colour, linestyle=dash, label=label)
        ax.plot(x, seen[label], mark, color=colour, markerfacecolor="white", markersize=8)
    _scales(ax, x, log)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    fig.legend(ax.lines[::2], list(lines), loc="outside lower center", ncols=len(lines))
    return fig, alt


def _scales(ax, x, log):
    """Logarithmic axes with ticks in plain numbers; else y from zero."""
    if "x" in log:
        ax.set_xscale("log", base=2)
        ax.set_xticks(x, [f"{v:g}" for v in x])
        ax.minorticks_off()
    if "y" in log:
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter("{x:g}")
    else:
        ax.set_ylim(bottom=0)


def _label_ends(ax, x, ends):
    """Names beside the last points, pushed apart where they would overlap, none above the plot."""
    ax.figure.draw_without_rendering()  # lays it out
    ends, gaps = sorted(ends), 21 * np.arange(len(ends))  # pixels
    at = ax.transData.transform([(x, y) for y, *_ in ends])[:, 1]
    put = np.minimum(np.maximum.accumulate(at - gaps) + gaps, ax.bbox.y1 - 4 - gaps[::-1])
    for (y, label, colour), move in zip(ends, put - at, strict=True):
        ax.annotate(label, (x, y), (8, move * 72 / ax.figure.dpi), textcoords="offset points",
                    va="center", color=colour, fontweight="bold", annotation_clip=False)


@_styled
def counts(expected, seen, spread, title, alt):
    """Counts {label: (n,)} less those expected (n,); the band is two spreads (n,) wide each way."""
    fig, ax = plt.subplots()
    order = np.argsort(expected)
    x, band = expected[order], 2 * spread[order]
    ax.fill_between(x, -band, band, color=PALE, edgecolor=GREY, label="two standard deviations")
    for (label, times), mark, face in zip(seen.items(), MARKS, [INK, "white"], strict=False):
        ax.plot(x, (times - expected)[order], mark, color=INK, markerfacecolor=face, label=label)
    ax.set_xscale("log")
    ticks = [v for v in (10, 30, 100, 300, 1000, 3000, 10_000) if x[0] / 2 < v < 2 * x[-1]]
    ax.set_xticks(ticks, [f"{v}" for v in ticks])
    ax.minorticks_off()
    ax.set(xlabel="times expected", ylabel="times seen − expected", title=title)
    fig.legend(loc="outside lower center", ncols=3)
    return fig, alt


@_styled
def grid(cells, rows, columns, title, alt, xlabel="", ylabel="", words=("", "×")):
    """A table of 0 and 1, (rows, columns): dark cells with a sign, not by colour alone."""
    cells = np.asarray(cells, dtype=int)
    fig, ax = _boxes(0.9 + 0.62 * len(columns) + 1.6, 1.3 + 0.42 * len(rows))
    ax.pcolormesh(cells, cmap=ListedColormap([PALE, "#5B5B5B"]), vmin=0, vmax=1,
                  edgecolors="white", linewidth=2)
    for (i, j), on in np.ndenumerate(cells):
        ax.text(j + 0.5, i + 0.5, words[on], ha="center", va="center",
                color="white" if on else INK)
    ax.invert_yaxis()
    ax.set_xticks(np.arange(len(columns)) + 0.5, columns)
    ax.set_yticks(np.arange(len(rows)) + 0.5, [_even(row, 1 + len(row) // 23) for row in rows])
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    return fig, alt


LOOKS = {  # of a box: face, edge, hatch
    "kept": (GREY, "#777777", ""), "replaced": ("white", P, "///"), "bonus": (P, P, ""),
    "prompt": (PALE, "#777777", ""), "thrown away": ("white", Q, "..."),
    "not used": ("white", Q, ".")}


@_styled
def rounds(lines, title, alt):
    """Rounds of a generation as rows of boxes: lines is lists of (word, look), looks from LOOKS."""
    width = max(5, *(len(line) for line in lines))
    fig, ax = _boxes(0.9 + 0.8 * width, 1.3 + 0.55 * len(lines))
    for i, line in enumerate(lines):
        for j, (word, look) in enumerate(line):
            _box(ax, j, i, word, look)
    _hatch_in_edge_colour(ax.patches)
    ax.set(ylim=(len(lines), 0), xlim=(-0.6, width - 0.4), title=title)
    ax.set_yticks(np.arange(len(lines)) + 0.5, [f"round {i + 1}" for i in range(len(lines))])
    ax.set_xticks([])
    looks = [look for look in LOOKS if any(look == part for line in lines for _, part in line)]
    fig.legend(handles=list(map(_swatch, looks)), loc="outside lower center",
               ncols=4 if len(looks) == 4 else 3)
    return fig, alt


def _box(ax, x, y, word, look):
    face, edge, hatch = LOOKS[look]
    ax.bar(x, 0.8, 0.92, bottom=y + 0.1, color=face, edgecolor=edge, hatch=hatch, linewidth=1.5)
    ax.text(x, y + 0.5, word, ha="center", va="center", fontweight="bold",
            color="white" if look == "bonus" else INK,
            bbox={"facecolor": face, "edgecolor": "none", "pad": 1.5} if hatch else None)


def _swatch(look):
    face, edge, hatch = LOOKS[look]
    patch = Patch(facecolor=face, edgecolor=edge, hatch=hatch, label=look)
    _hatch_in_edge_colour([patch])
    return patch
