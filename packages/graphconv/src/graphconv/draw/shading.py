"""How sure a parser was, as shades: the less probable a node or edge, the stronger its color.

>>> from graphconv.graph import Edge, Graph, Node
>>> from graphconv.scores import Scores
>>> graph = Graph(
...     "1", "amr", nodes=(Node("w", "want-01"), Node("b", "boy")),
...     edges=(Edge("w", "b", "ARG0"),),
...     scores=Scores(-3.0, {"w": -0.01, "b": -0.4}, {("w", "b", "ARG0"): -2.0}),
... )
>>> shading(graph)
Highlight(nodes={'b': 'doubt-2'}, edges={0: 'doubt-4'})
"""

from __future__ import annotations

from graphconv.draw import canvas
from graphconv.draw.canvas import DOUBTS, Drawing, Highlight
from graphconv.errors import ConversionError
from graphconv.graph import Edge, Graph
from graphconv.scores import Scores

_BELOW = (0.9, 0.75, 0.5, 0.25)
"""A part has the first doubt below the first of these probabilities, and so on."""


def shading(graph: Graph) -> Highlight:
    """Return the shades of nodes and edges; what is sure, or has no score, has none."""
    scores = scores_of(graph)
    nodes = {node.id: _doubt(scores, node.id) for node in graph.nodes}
    edges = {place: _doubt(scores, edge) for place, edge in enumerate(graph.edges)}
    return Highlight(
        {name: doubt for name, doubt in nodes.items() if doubt},
        {place: doubt for place, doubt in edges.items() if doubt},
    )


def scores_of(graph: Graph) -> Scores:
    """Return the scores of a graph, or say where they come from."""
    if graph.scores is None:
        raise ConversionError(
            "it has no scores; those of a parse are in MRP: transducer parse --to mrp",
            graph_id=graph.id,
        )
    return graph.scores


def _doubt(scores: Scores, part: str | Edge) -> str | None:
    probability = scores.probability(part)
    if probability is None:
        return None
    level = sum(probability < bound for bound in _BELOW)
    return DOUBTS[level - 1] if level else None


def legend() -> Drawing:
    """Return what the shades mean."""
    elements: list[str] = []
    x = 0.0
    shown = [("box", f"at least {_BELOW[0]:.0%}")]
    shown += [(f"box {doubt}", f"below {p:.0%}") for doubt, p in zip(DOUBTS, _BELOW, strict=True)]
    for classes, meaning in shown:
        elements.append(canvas.box(x + 7, 9, 14, 12, classes))
        elements.append(canvas.text(x + 19, 9, meaning, "faint small", anchor="start"))
        x += 19 + canvas.text_width(meaning, canvas.SMALL) + 12
    return Drawing(x, 18, tuple(elements))
