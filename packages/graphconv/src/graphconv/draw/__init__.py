"""Pictures of graphs: SVG, HTML, PNG and Graphviz, each one self-contained file.

Bilexical graphs (DM, PAS, PSD) are arcs over the words, UCCA is a tree over the words, AMR and the
rest are layers from left to right. With its arborescence given, both are shown; re-entrant
copies are linked to the row that has the children. A :class:`Highlight` marks what two
graphs have in common, for comparing a gold and a predicted graph.

>>> from graphconv.graph import Edge, Graph, Node
>>> nodes = (Node("w", "want-01"), Node("b", "boy"))
>>> graph = Graph("1", "amr", nodes=nodes, edges=(Edge("w", "b", "ARG0"),), tops=("w",))
>>> picture = svg(graph, highlight=Highlight(nodes={"b": MISSING}, edges={0: MISSING}))
>>> picture.startswith("<svg"), "want-01" in picture
(True, True)
>>> page("Two graphs", [("gold", picture), ("predicted", svg(graph))]).count("<svg")
2
>>> "<td>dm</td><td>96.5</td>" in page("Scores", [], table=[("task", "F1"), ("dm", 96.5)])
True
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable

from graphconv.arborescence import Arborescence
from graphconv.conversion import to_arborescence
from graphconv.draw import canvas
from graphconv.draw.arcs import draw_arcs
from graphconv.draw.canvas import EXTRA, MATCH, MISSING, Drawing, Highlight
from graphconv.draw.dot import dot
from graphconv.draw.layered import draw_layers
from graphconv.draw.rows import draw_rows
from graphconv.draw.shading import legend, shading
from graphconv.draw.units import draw_units
from graphconv.errors import FormatError, GraphconvError
from graphconv.frameworks import framework
from graphconv.graph import Graph
from graphconv.io import files

__all__ = [
    "EXTRA",
    "FORMATS",
    "MATCH",
    "MISSING",
    "Highlight",
    "dot",
    "html",
    "page",
    "png",
    "save",
    "svg",
]

# A wider graph stands above its arborescence: side by side nobody could read it without zooming.
_WIDEST_BESIDE = 1100


def svg(
    graph: Graph,
    *,
    tree: Arborescence | None = None,
    highlight: Highlight | None = None,
    scores: bool = False,
    title: str | None = None,
) -> str:
    """Return a picture of *graph*, and of *tree* if given.

    *title* stands above the picture; by default it is the graph's id and framework. With *scores*,
    nodes and edges are shaded by how sure the parser was; a *highlight* goes before.
    """
    title = f"{graph.id} · {graph.framework}" if title is None else title
    row = framework(graph.framework, graph.id)
    if scores:
        highlight = highlight or shading(graph)
    drawing = DRAWINGS[row.drawing](graph, highlight or Highlight())
    if scores:
        drawing = canvas.below(drawing, legend(), 14)
    if tree is not None:
        rows = draw_rows(tree)
        drawing = (canvas.beside if drawing.width <= _WIDEST_BESIDE else canvas.below)(
            drawing, rows
        )
    sentence = " ".join(token.form for token in graph.tokens)
    if sentence and not row.has_words:
        drawing = canvas.below(canvas.paragraph(sentence, max(drawing.width, 420)), drawing, 14)
    if title:
        heading = canvas.paragraph(title, max(drawing.width, 420), "faint small")
        drawing = canvas.below(heading, drawing, 8)
    return canvas.document(drawing, f"{title} {sentence}".strip())


def html(graph: Graph, *, tree: Arborescence | None = None, scores: bool = False) -> str:
    """Return a page with the picture of *graph*, and of *tree* if given."""
    figures = [("graph", svg(graph, title="", scores=scores))]
    if tree is not None:
        figures.append(("arborescence", canvas.document(draw_rows(tree), "arborescence")))
    return page(f"{graph.id} · {graph.framework}", figures)


def page(
    title: str, figures: Iterable[tuple[str, str]], *, table: Iterable[Iterable[object]] = ()
) -> str:
    """Return a self-contained HTML page of (caption, SVG) figures; captions are plain text.

    The rows of *table*, of which the first is the head, stand above the figures.
    """
    rows = "\n".join(
        f"<tr>{''.join(f'<{cell}>{canvas.shown(str(x))}</{cell}>' for x in row)}</tr>"
        for row, cell in zip(table, itertools.chain(["th"], itertools.repeat("td")), strict=False)
    )
    shown = "\n".join(
        f"<figure><figcaption>{canvas.shown(caption)}</figcaption>\n{picture}</figure>"
        for caption, picture in figures
    )
    above = f"<table>\n{rows}\n</table>\n" if rows else ""
    return _PAGE.format(title=canvas.shown(title), figures=shown, table=above)


def png(picture: str, *, scale: int = 2) -> bytes:
    """Return an SVG *picture* as PNG; needs the package ``resvg-py``."""
    try:
        import resvg_py  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise GraphconvError(
            "PNG needs one more package: pip install resvg-py (or draw SVG)"
        ) from error
    return bytes(resvg_py.svg_to_bytes(svg_string=picture, zoom=scale))


def save(graph: Graph, path: str | os.PathLike[str], *, scores: bool = False) -> None:
    """Draw *graph* and its arborescence to a file; the end of its name says the format.

    With *scores*, nodes and edges are shaded by how sure the parser was.
    """
    name = os.fspath(path)
    format_ = "svg" if name == files.STDIO else name.rpartition(".")[2].lower()
    if format_ not in FORMATS:
        raise FormatError(f"a picture is one of {', '.join(FORMATS)}", filename=name)
    picture = FORMATS[format_](graph, to_arborescence(graph), scores)
    with files.output(name) as file:
        file.write(picture)


DRAWINGS: dict[str, Callable[[Graph, Highlight], Drawing]] = {
    "arcs": draw_arcs,
    "layers": draw_layers,
    "units": draw_units,
}
"""The kinds of drawings, by the names in :mod:`graphconv.frameworks`."""

FORMATS: dict[str, Callable[[Graph, Arborescence | None, bool], bytes]] = {
    "svg": lambda graph, tree, scores: svg(graph, tree=tree, scores=scores).encode(),
    "html": lambda graph, tree, scores: html(graph, tree=tree, scores=scores).encode(),
    "png": lambda graph, tree, scores: png(svg(graph, tree=tree, scores=scores)),
    "dot": lambda graph, tree, scores: dot(graph, tree, scores=scores).encode(),
}
"""File name extension: what makes such a file."""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
:root{{color-scheme:light dark}}
body{{margin:1.5rem;font-family:system-ui,'DejaVu Sans',sans-serif;background:#fff;color:#1b1f24}}
h1{{font-size:1.1rem}}
main{{display:flex;flex-wrap:wrap;gap:1.5rem;align-items:flex-start}}
figure{{margin:0;max-width:100%;overflow-x:auto;border:1px solid #ccd2d8;border-radius:8px}}
table{{border-collapse:collapse;margin:0 0 1.5rem;font-size:.9rem}}
th,td{{padding:.3rem .9rem .3rem 0;text-align:left;border-bottom:1px solid #ccd2d8}}
figcaption{{padding:.5rem 1rem 0;font-size:.85rem;opacity:.75}}
@media (prefers-color-scheme:dark){{body{{background:#101216;color:#e8eaed}}
figure,th,td{{border-color:#3d444d}}}}
</style></head><body><h1>{title}</h1>
{table}<main>
{figures}
</main></body></html>
"""
