r"""A graph and its arborescence as text for Graphviz.

>>> from graphconv.graph import Edge, Graph, Node
>>> nodes = (Node("w", "want-01"), Node("b", 'a "boy"'))
>>> print(dot(Graph("1", "amr", nodes=nodes, edges=(Edge("w", "b", "ARG0"),), tops=("w",))))
digraph "1" {
  node [shape=box, style=rounded];
  "n:w" [label="want-01", penwidth=2];
  "n:b" [label="a \"boy\""];
  "n:w" -> "n:b" [label="ARG0"];
}
<BLANKLINE>
"""

from __future__ import annotations

from collections.abc import Iterator

from graphconv.arborescence import Arborescence
from graphconv.draw.shading import scores_of
from graphconv.graph import Edge, Graph, Node
from graphconv.scores import Scores


def dot(graph: Graph, tree: Arborescence | None = None, *, scores: bool = False) -> str:
    """Return *graph*, and *tree* beside it, in the DOT language; with *scores*, probabilities."""
    told = scores_of(graph) if scores else None
    lines = [f"digraph {_quoted(graph.id)} {{", "  node [shape=box, style=rounded];"]
    lines.extend(f"  {line}" for line in _graph_lines(graph, told))
    if tree is not None:
        lines.append("  subgraph cluster_arborescence {")
        lines.append('    label="arborescence";')
        lines.extend(f"    {line}" for line in _tree_lines(tree))
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


def _graph_lines(graph: Graph, scores: Scores | None) -> Iterator[str]:
    for node in graph.nodes:
        mark = ", penwidth=2" if node.id in graph.tops else ""
        mark += _probability(node.id, scores)
        yield f"{_quoted('n:' + node.id)} [label={_quoted(_shown(node, graph))}{mark}];"
    for edge in graph.edges:
        ends = f"{_quoted('n:' + edge.source)} -> {_quoted('n:' + edge.target)}"
        mark = ", style=dashed" if edge.remote else ""
        mark += _probability(edge, scores)
        yield f"{ends} [label={_quoted(edge.label)}{mark}];"


def _probability(part: str | Edge, scores: Scores | None) -> str:
    probability = scores.probability(part) if scores is not None else None
    return "" if probability is None else f', xlabel="{probability:.2f}"'


def _shown(node: Node, graph: Graph) -> str:
    words = " ".join(graph.tokens[i].form for i in node.anchors)
    return node.label or words or ("∅" if node.implicit else node.id)


def _tree_lines(tree: Arborescence) -> Iterator[str]:
    for number, row in enumerate(tree.rows, start=1):
        yield f"{_quoted(f't:{number}')} [label={_quoted(row.label)}];"
        if row.head:
            ends = f"{_quoted(f't:{row.head}')} -> {_quoted(f't:{number}')}"
            yield f"{ends} [label={_quoted(row.relation)}];"
        if row.index != number:
            ends = f"{_quoted(f't:{number}')} -> {_quoted(f't:{row.index}')}"
            yield f"{ends} [style=dashed, constraint=false, dir=none];"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
