r"""AMR, and EDS, PTG and DRG through the same machinery: concepts, constants and roles.

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

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import count
from typing import Any

from graphconv.arborescence import Row
from graphconv.conversion.labels import (
    CONSTANT,
    REVERSED,
    STRUCTURAL,
    TOP,
    VIRTUAL,
    both_ways,
    edge_label,
    natural,
)
from graphconv.conversion.side import Bare, Built, freeze, reordered
from graphconv.conversion.spanning import (
    NO_EDGE,
    UNVISITED,
    Arc,
    Arcs,
    preorder,
    span,
    span_rest,
)
from graphconv.frameworks import FRAMEWORKS
from graphconv.graph import Attributes, Edge, Graph, Node, attribute

_ESCAPE = "\\"
_SPECIAL = frozenset({CONSTANT, _ESCAPE, VIRTUAL[0]})
"""What the labels begin with that :func:`row_label` changes, or may change."""
_INVERTED: Attributes = (("inverted", True),)

# The constructor of a NamedTuple runs Python code; these do not.
_new_node: Callable[[Any], Node] = partial(tuple.__new__, Node)
_new_edge: Callable[[Any], Edge] = partial(tuple.__new__, Edge)


def row_label(node: Node) -> str:
    """Return the label of the rows of *node*."""
    return _row_label(node.label, node.constant)


@lru_cache(1 << 16)
def _row_label(label: str | None, constant: bool) -> str:
    if constant:
        return CONSTANT + (label or "")
    if label is None:
        return ""
    if not label or label == VIRTUAL or label[0] in (CONSTANT, _ESCAPE):
        return _ESCAPE + label
    return label


def build(graph: Graph, *, unit_labels: bool = True) -> Built:
    """Return the rows of *graph*, and the ids of its nodes in the order of their first rows."""
    del unit_labels  # an option of UCCA
    nodes = graph.nodes
    number = {node.id: i for i, node in enumerate(nodes)}
    labels = [
        # Nearly every concept is its own label.
        label
        if label and not constant and label[0] not in _SPECIAL
        else _row_label(label, constant)
        for _, label, _, constant, _, _ in nodes
    ]
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
    anchors: list[tuple[int, ...]] = [()] * len(labels)
    tree = preorder(root, out, None, labels, anchors)
    # The direction that edges were written in leads to every node of nearly every graph.
    if 0 in tree.first[:virtual]:
        unvisited = span(root, arcs, virtual + (root == virtual))
        if unvisited:
            span_rest(root, *_rest(graph, number, labels), arcs, unvisited)
        tree = preorder(root, out, None, labels, anchors)
    order = sorted(range(virtual), key=tree.first.__getitem__)
    ids = [nodes[i].id for i in order]
    side = None
    if len(graph.tops) == 1 and not arcs.turned and _is_plain(graph):
        side = reordered(ids, order, [k for k in tree.edges if k != NO_EDGE])
        patches = [
            [k, {"attributes": freeze(attributes)}]
            for k, (_, _, _, _, attributes) in enumerate(graph.edges)
            if attributes and attributes != _INVERTED
        ]
        if patches:
            side["edges"] = patches
    return Built(tree.rows, ids, side)


def read(rows: Sequence[Row], ids: Sequence[str] | None, framework: str) -> Bare:
    """Return the graph that the rows alone describe."""
    inverted = _INVERTED if FRAMEWORKS[framework].penman_notes else ()
    indices = _indices(rows)
    names = dict(zip(indices, _fresh_ids(rows) if ids is None else ids, strict=True))
    nodes = tuple([_node(name, rows[index - 1].label) for index, name in names.items()])
    edges: list[Edge] = []
    tops: list[str] = []
    for _, index, head, row_relation, _ in rows:
        if row_relation not in STRUCTURAL:
            label, mark = edge_label(row_relation)
            above, below = names[rows[head - 1].index], names[index]
            if mark == REVERSED:
                edges.append(_new_edge((below, above, label, False, inverted)))
            else:
                edges.append(_new_edge((above, below, label, False, ())))
        elif index in names and (row_relation == TOP or not head):
            tops.append(names[index])
    return Bare(nodes, tuple(edges), tuple(tops))


def fresh_names(rows: Sequence[Row]) -> dict[int, str]:
    """Return the id that the node of each index has in the graph of the rows alone."""
    return dict(zip(_indices(rows), _fresh_ids(rows), strict=True))


def _is_plain(graph: Graph) -> bool:
    """Say whether rows can hold everything but the order, and attributes of edges."""
    is_penman = FRAMEWORKS[graph.framework].penman_notes
    if not is_penman or [edge for edge in graph.edges if edge.remote]:
        return False
    return not [
        node_id
        for node_id, label, anchors, _, implicit, attributes in graph.nodes
        if attributes or anchors or implicit or label is None
    ]


def _arcs(graph: Graph, number: dict[str, int]) -> Arcs:
    written = []
    for k, (source, target, label, _, attributes) in enumerate(graph.edges):
        if attributes and attribute(attributes, "inverted"):
            key, forwards, _ = _inverted(label)
            written.append((key, k, number[target], (number[source], forwards, k)))
        else:
            key, forwards, _ = _written(label)
            written.append((key, k, number[source], (number[target], forwards, k)))
    # To sort all edges at once costs less than to sort those of each node.
    written.sort()
    nodes = range(len(number) + 1)
    out: list[list[Arc]] = [[] for _ in nodes]
    for _, _, above, arc in written:
        out[above].append(arc)

    into: list[list[Arc]] = []

    def incoming() -> list[list[Arc]]:
        if not into:
            into.extend([] for _ in nodes)
            for _, k, above, (below, _, _) in written:
                edge = graph.edges[k]
                inverted = attribute(edge.attributes, "inverted")
                _, _, backwards = (_inverted if inverted else _written)(edge.label)
                into[below].append((above, backwards, k))
            for siblings in into:
                _sort(siblings)
        return into

    return Arcs(out, incoming, [UNVISITED] * len(nodes), [], _sort)


# Two functions of one argument, whose caches are faster than that of one function of two.
@lru_cache(1 << 16)
def _written(label: str) -> tuple[str, str, str]:
    """Return the sort key of an edge, its relation, and that of the other direction."""
    forwards, backwards = both_ways(label)
    return natural(forwards), forwards, backwards


@lru_cache(1 << 16)
def _inverted(label: str) -> tuple[str, str, str]:
    """Return the same of an edge that is written inverted."""
    backwards, forwards = both_ways(label)
    return natural(forwards), forwards, backwards


def _rest(
    graph: Graph, number: dict[str, int], labels: Sequence[str]
) -> tuple[list[int], list[int]]:
    """Return the nodes in an order that does not depend on that of the file, and their degrees."""
    degrees = [0] * len(labels)
    mentioned: list[int] = []
    for edge in graph.edges:
        ends = (number[edge.source], number[edge.target])
        degrees[ends[0]] += 1
        mentioned.extend(reversed(ends) if attribute(edge.attributes, "inverted") else ends)
    nodes = graph.nodes
    alone = sorted(range(len(nodes)), key=lambda node: (labels[node], nodes[node].anchors))
    return [*mentioned, *alone], degrees


def _sort(siblings: list[Arc]) -> None:
    siblings.sort(key=_sibling_key)


def _sibling_key(arc: Arc) -> tuple[str, int]:
    _, name, number = arc
    return natural(name), number


def _fresh_ids(rows: Sequence[Row]) -> list[str]:
    """Return variables as annotators name them: the first letter of the concept, then numbered."""
    constants = count()
    used: dict[str, int] = {}
    ids = []
    for index in _indices(rows):
        label = rows[index - 1].label
        if label.startswith(CONSTANT):
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


@lru_cache(1 << 14)
def _node(node_id: str, label: str) -> Node:
    first = label[:1]
    if first == CONSTANT:
        return _new_node((node_id, label[1:], (), True, False, ()))
    text = label[1:] if first == _ESCAPE else label if label else None
    return _new_node((node_id, text, (), False, False, ()))
