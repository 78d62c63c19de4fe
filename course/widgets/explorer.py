"""What the explorers share: an anywidget that a notebook stores as a table with its state.

Left out: what each of them shows. That is in course/widgets/__init__.py, and in JavaScript.
"""
import html
import json
import pathlib

import anywidget

from course.trace import columns

HERE = pathlib.Path(__file__).parent
BOTH = {"sync": True, "state": True}  # a trait that JavaScript reads and the static twin stores


class Explorer(anywidget.AnyWidget):
    """An anywidget that also shows itself as a table, which a page without a kernel can wake up."""

    _css = HERE / "widgets.css"
    _file = _caption = ""

    def _cells(self):
        """The static twin: rows of words, the head first."""
        raise NotImplementedError

    def _repr_mimebundle_(self, include=None, exclude=None):
        live, about = super()._repr_mimebundle_()
        state = {name: getattr(self, name) for name in sorted(self.trait_names(state=True))}
        page = (f'<div class="course-widget" data-widget="{self._file}" '
                f'data-state="{html.escape(json.dumps(state))}">'
                f"{_as_html(self._caption, self._cells())}</div>")
        words = f"{self._caption}\n{columns(self._cells())}"
        return {**live, "text/plain": words, "text/html": page}, about


def _as_html(caption, rows):
    """Rows of words, the head first, as an HTML table."""
    def line(words, tag, scope):
        first, *rest = (html.escape(word) for word in words)
        return (f'<tr><th scope="{scope}">{first}</th>'
                + "".join(f"<{tag}>{word}</{tag}>" for word in rest) + "</tr>")

    head = line(rows[0], 'th scope="col"', "col").replace('</th scope="col">', "</th>")
    body = "".join(line(row, "td", "row") for row in rows[1:])
    return (f"<table><caption>{html.escape(caption)}</caption><thead>{head}</thead>"
            f"<tbody>{body}</tbody></table>")
