"""Draw the pictures of the guides to grep, repair, align and entails from the guides' own examples.

$ python tools/guide_pictures.py          # writes docs/*.svg; --check says whether they are current
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from pathlib import Path

import evaltools
import graphconv
from graphconv.draw import EXTRA, MATCH, MISSING, Highlight, canvas, svg
from graphconv.draw.layered import draw_layers
from graphconv.graph import Graph

DOCS = Path(__file__).resolve().parents[1] / "docs"
_WIDTH = 640
_LINE = 18
_PATTERN = "(x :ARG0 (y) :ARG1 (z :ARG0 y))"


def files(guide: str) -> dict[str, str]:
    """Return the files that a guide shows."""
    text = (DOCS / "guides" / f"{guide}.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^```text (\S+)\n(.*?)^```", text, re.M | re.S))


def search() -> str:
    """Return a hit in its graph."""
    match = next(iter(graphconv.grep(_PATTERN, graphconv.loads(files("search")["boys.amr"]))))
    nodes = {node: EXTRA for _, node in match.hit.nodes}
    edges = dict.fromkeys(match.hit.edges, EXTRA)
    return svg(match.graph, highlight=Highlight(nodes, edges), title=_PATTERN)


def repair() -> str:
    """Return a broken text, its edits, and the graph that it becomes."""
    broken = files("repair")["answer.txt"]
    done = graphconv.repair(broken)
    drawing = canvas.Drawing(_WIDTH, 0, ())
    for number, line in enumerate(broken.rstrip("\n").split("\n"), start=1):
        indent = len(line) - len(line.lstrip())
        drawing = canvas.below(drawing, _line(6 * indent, line.strip(), "ink"), 2)
        edits = "; ".join(f"{edit.kind}: {edit.what}" for edit in done.edits if edit.line == number)
        if edits:
            drawing = canvas.below(drawing, _line(300, edits, "accent small"), -_LINE)
    [graph] = graphconv.loads(done.text)
    drawing = canvas.below(drawing, draw_layers(graph, Highlight()), 18)
    return canvas.document(drawing, "a broken answer, its edits, and the graph that it becomes")


def _line(x: float, text: str, classes: str) -> canvas.Drawing:
    return canvas.Drawing(_WIDTH, _LINE, (canvas.text(x, 13, text, classes, anchor="start"),))


def align() -> str:
    """Return a graph, and the words of its nodes."""
    [graph] = graphconv.loads(files("align")["teach.amr"])
    found = graphconv.align(graph)
    labels = {node.id: node.label or "" for node in graph.nodes}
    nodes = defaultdict(list)
    for node, positions in found.words.items():
        for position in positions:
            nodes[position].append(labels[node])
    lines = [
        f"{token.form}: {', '.join(nodes[place]) or 'nothing'}"
        for place, token in enumerate(graph.tokens)
    ]
    drawing = draw_layers(graph, _all(graph))
    for line in lines:
        drawing = canvas.below(drawing, canvas.paragraph(line, _WIDTH), 4)
    return canvas.document(drawing, "the words that the nodes of a graph stand for")


def _all(graph: Graph) -> Highlight:
    return Highlight({node.id: MATCH for node in graph.nodes}, {})


def entails() -> str:
    """Return a claim, with what its source contradicts and lacks."""
    shown = files("entails")
    claim = graphconv.loads(shown["claims.amr"])[1]
    found = evaltools.entails(claim, shown["source.amr"])
    title = f"{found.claim.id}: {found.verdict}"
    assert MISSING in found.highlight().nodes.values()
    return svg(found.claim, highlight=found.highlight(), title=title)


PICTURES = {"search": search, "repair": repair, "align": align, "entails": entails}


def main() -> int:
    """Write the pictures, or compare them with the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    old = []
    for name, draw in PICTURES.items():
        path, picture = DOCS / f"{name}.svg", draw()
        if not arguments.check:
            path.write_text(picture, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != picture:
            old.append(str(path))
    print("\n".join(f"{path} is not current" for path in old), end="\n" if old else "")
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
