r"""AMR, and EDS through the same machinery: concepts, constants and roles.

Edges keep the direction they were written in (the attribute ``inverted``); where that does not
reach every node, the paper's search decides. Siblings stand in alphanumeric order of relation, then
as written, and children hang below the first row of their node.

The label of a row says whether it is a constant: those start with ``=``.

>>> [row_label(Node("p", "person")), row_label(Node(":0", "-", constant=True))]
['person', '=-']
>>> [row_label(Node("x", None)), row_label(Node("x", "")), row_label(Node("x", "=5"))]
['', '\\', '\\=5']
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from graphconv.arborescence import Row
from graphconv.conversion.labels import (
    REVERSED,
    STRUCTURAL,
    TOP,
    VIRTUAL,
    both_ways,
    edge_label,
    natural,
)
from graphconv.conversion.side import Bare, Built
from graphconv.conversion.spanning import (
    NO_EDGE,
    Arc,
    Arcs,
    empty_arcs,
    preorder,
    span,
    span_rest,
)
from graphconv.graph import Attributes, Edge, Graph, Node, attribute

_CONSTANT = "="
_ESCAPE = "\\"
_INVERTED: Attributes = (("inverted", True),)


def row_label(node: Node) -> str:
    """Return the label of the rows of *node*."""
    label = node.label
    if node.constant:
        return _CONSTANT + (label or "")
    if label is None:
        return ""
    if not label or label == VIRTUAL or label[0] in (_CONSTANT, _ESCAPE):
        return _ESCAPE + label
    return label


def build(graph: Graph, *, unit_labels: bool = True) -> Built:
    """Return the rows of *graph*, and the ids of its nodes in the order of their first rows."""
    del unit_labels  # an option of UCCA
    nodes = graph.nodes
    number = {node.id: i for i, node in enumerate(nodes)}
    labels = [row_label(node) for node in nodes]
    labels.append(VIRTUAL)
    virtual = len(nodes)
    arcs = _arcs(graph, number)
    out = arcs.out
    tops = list(dict.fromkeys(number[top] for top in graph.tops))
    if len(tops) == 1:
        root = tops[0]
    else:
        root = virtual
        out[root] = [(top, TOP, NO_EDGE) for top in tops]
    unvisited = span(root, arcs, virtual + (root == virtual))
    if unvisited:
        span_rest(root, *_rest(graph, number, labels), arcs, unvisited)
    _sort(out)
    tree = preorder(root, out, None, labels, [()] * len(labels))
    order = sorted(range(virtual), key=tree.first.__getitem__)
    return Built(tree.rows, [nodes[i].id for i in order])


def read(rows: Sequence[Row], ids: Sequence[str] | None, framework: str) -> Bare:
    """Return the graph that the rows alone describe."""
    inverted = _INVERTED if framework == "amr" else ()
    indices = _indices(rows)
    names = dict(zip(indices, _fresh_ids(rows) if ids is None else ids, strict=True))
    nodes = tuple([_node(names[index], rows[index - 1].label) for index in indices])
    edges: list[Edge] = []
    tops: list[str] = []
    for _, index, head, row_relation, _ in rows:
        if row_relation not in STRUCTURAL:
            label, mark = edge_label(row_relation)
            above, below = names[rows[head - 1].index], names[index]
            if mark == REVERSED:
                edges.append(Edge(below, above, label, False, inverted))
            else:
                edges.append(Edge(above, below, label))
        elif index in names and (row_relation == TOP or not head):
            tops.append(names[index])
    return Bare(nodes, tuple(edges), tuple(tops))


def _arcs(graph: Graph, number: dict[str, int]) -> Arcs:
    arcs = empty_arcs(len(number) + 1)
    out, incoming, _ = arcs
    for k, edge in enumerate(graph.edges):
        above, below = number[edge.source], number[edge.target]
        forwards, backwards = both_ways(edge.label)
        if _is_inverted(edge):
            above, below, forwards, backwards = below, above, backwards, forwards
        out[above].append((below, forwards, k))
        incoming[below].append((above, backwards, k))
    _sort(out)
    _sort(incoming)
    return arcs


def _rest(
    graph: Graph, number: dict[str, int], labels: Sequence[str]
) -> tuple[list[int], list[int]]:
    """Return the nodes in an order that does not depend on that of the file, and their degrees."""
    degrees = [0] * len(labels)
    mentioned: list[int] = []
    for edge in graph.edges:
        ends = (number[edge.source], number[edge.target])
        degrees[ends[0]] += 1
        mentioned.extend(reversed(ends) if _is_inverted(edge) else ends)
    alone = sorted(range(len(graph.nodes)), key=labels.__getitem__)
    return [*mentioned, *alone], degrees


def _is_inverted(edge: Edge) -> bool:
    return bool(edge.attributes) and bool(attribute(edge.attributes, "inverted"))


def _sort(arcs: list[list[Arc]]) -> None:
    for siblings in arcs:
        if len(siblings) > 1:
            siblings.sort(key=_sibling_key)


def _sibling_key(arc: Arc) -> tuple[object, int]:
    return natural(arc[1]), arc[2]


def _fresh_ids(rows: Sequence[Row]) -> list[str]:
    """Return variables as annotators name them: the first letter of the concept, then numbered."""
    constants = count()
    used: dict[str, int] = {}
    ids = []
    for index in _indices(rows):
        label = rows[index - 1].label
        if label.startswith(_CONSTANT):
            ids.append(f":{next(constants)}")
            continue
        letter = label[:1].lower()
        letter = letter if "a" <= letter <= "z" else "x"
        used[letter] = used.get(letter, 0) + 1
        ids.append(letter if used[letter] == 1 else f"{letter}{used[letter]}")
    return ids


def _indices(rows: Sequence[Row]) -> list[int]:
    is_virtual = bool(rows) and rows[0].label == VIRTUAL
    return [i for i, row in enumerate(rows, start=1) if row.index == i][is_virtual:]


def _node(node_id: str, label: str) -> Node:
    if label.startswith(_CONSTANT):
        return Node(node_id, label[1:], constant=True)
    if not label:
        return Node(node_id, None)
    return Node(node_id, label[1:] if label.startswith(_ESCAPE) else label)
