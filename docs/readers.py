"""What the site adds to Sphinx for its readers: addresses of cells, the glossary, live explorers.

Every code cell of lesson NN with the id ID has the label NN-ID, so that a page can link to it and
a link that leads nowhere is a warning, which fails the build. The first use of a word of the
glossary in a lesson leads to its definition. Left out: figures, which carry their own alt text.
"""
import json
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

HERE = Path(__file__).resolve().parent
WIDGETS = HERE.parent / "course" / "widgets"
# words inside these are no prose, or (in bold) are being explained there
CLOSED = (nodes.literal, nodes.reference, nodes.title, nodes.math, nodes.raw, nodes.literal_block,
          nodes.table, nodes.strong, addnodes.pending_xref, nodes.container)


def name_cells(app, doctree):
    """Give every code cell of a lesson its label, and its id as the place to go to."""
    place = app.env.docname
    if not place.startswith("notebooks/"):
        return
    domain = app.env.domains["std"]
    for cell in doctree.findall(nodes.container):
        name = cell.get("cell_metadata", {}).get("cell-id")
        if name:
            cell["ids"].append(name)
            label = f"{place.split('/')[1][:2]}-{name}"
            domain.anonlabels[label] = place, name
            domain.labels[label] = place, name, label


class FirstUse(SphinxPostTransform):
    """Link the first use of each word of the glossary, in the prose of lessons and problems."""

    default_priority = 5  # before references are resolved

    def run(self, **kwargs):
        if not self.env.docname.startswith(("notebooks/", "problems/")):
            return
        terms = self.env.domains["std"]._terms
        said = self._definitions()
        words = sorted(terms, key=len, reverse=True)
        pattern = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, words))})(s?)(?![\w-])", re.I)
        seen = set()
        for text in list(self.document.findall(nodes.Text)):
            if words and not self._closed(text):
                self._link(text, pattern, terms, said, seen)

    def _closed(self, text):
        above = text.parent
        while above is not None:
            if isinstance(above, CLOSED) or above.get("names") == ["sources"]:
                return True
            above = above.parent
        return False

    def _link(self, text, pattern, terms, said, seen):
        """Put links in place of the words of one text that were not seen yet."""
        parts, end, whole = [], 0, text.astext()
        for match in pattern.finditer(whole):
            place, name = terms[match[1].lower()]
            if name in seen:
                continue
            seen.add(name)
            parts.append(nodes.Text(whole[end:match.start()]))
            link = make_refnode(self.app.builder, self.env.docname, place, name,
                                nodes.Text(match[0]), said.get(name))
            link["classes"].append("word")
            parts.append(link)
            end = match.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(whole[end:])])

    def _definitions(self):
        """{id of a word: its definition in plain words}."""
        if not hasattr(self.env, "course_definitions"):
            glossary = self.env.get_doctree("glossary")
            self.env.course_definitions = {
                name: item.next_node(nodes.definition).astext().split("\n\n")[0].replace("\n", " ")
                for item in glossary.findall(nodes.definition_list_item)
                for term in item.findall(nodes.term) for name in term["ids"]}
        return self.env.course_definitions


def setup(app):
    app.connect("doctree-read", name_cells)
    app.add_post_transform(FirstUse)
    sources = {file.stem: file.read_text("utf-8") for file in sorted(WIDGETS.glob("*.js"))}
    mount = sources.pop("mount")
    body = f"const SOURCES = {json.dumps(sources)};\n".replace("</", "<\\/") + mount
    app.add_js_file(None, body=body, type="module")  # inline: file:// blocks files of modules
    return {"parallel_read_safe": False, "version": "1"}
