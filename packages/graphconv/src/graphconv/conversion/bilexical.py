r"""DM, PAS and PSD: a node is a token, and the tree may follow edges backwards.

"the cat sleeps", whose top is "sleeps":

>>> from graphconv.graph import Graph, Token
>>> graph = Graph(
...     "1", "dm", tuple(map(Token, "the cat sleeps".split())),
...     nodes=(Node("1", None, (0,)), Node("2", None, (1,)), Node("3", None, (2,))),
...     edges=(Edge("3", "2", "ARG1"), Edge("1", "2", "BV")),
...     tops=("3",),
... )
>>> for row in build(graph).rows:
...     print(*row)
sleeps 1 0 root (2,)
cat 2 1 ARG1 (1,)
the 3 2 BV-of (0,)

With exactly one top the first row is the top; otherwise it is a virtual root with ``top`` to each
top. Parts that nothing connects with it hang below the first row by ``null``. Siblings stand in the
order of the text, then of their relation.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from graphconv.arborescence import ROOT_RELATION, Row
from graphconv.conversion.labels import REVERSED, STRUCTURAL, TOP, VIRTUAL, edge_label, relation
from graphconv.conversion.side import Bare, Built
from graphconv.conversion.spanning import (
    NO_EDGE,
    UNVISITED,
    Arc,
    empty_arcs,
    preorder,
    span,
    span_rest,
)
from graphconv.errors import ConversionError
from graphconv.graph import Attributes, Edge, Graph, Node

_PREDICATE: Attributes = (("pred", "+"),)


def build(graph: Graph, *, unit_labels: bool = True) -> Built:
    """Return the rows of *graph*, and the ids of its nodes in the order of the text."""
    del unit_labels  # an option of UCCA
    nodes = sorted(graph.nodes, key=_anchors)
    anchors = [node[2] for node in nodes]
    _check(graph, anchors)
    tokens = graph.tokens
    labels = [tokens[position][0] for (position,) in anchors]
    ids = [node[0] for node in nodes]
    number = {node_id: i for i, node_id in enumerate(ids)}
    root = virtual = len(nodes)
    labels.append(VIRTUAL)
    anchors.append(())
    arcs = empty_arcs(len(labels))
    out, incoming, parent = arcs
    for k, (source, target, label, _, _) in enumerate(graph.edges):
        s, t = number[source], number[target]
        out[s].append((t, relation(label), k))
        incoming[t].append((s, relation(label, REVERSED), k))
    tops = sorted({number[top] for top in graph.tops})
    if len(tops) == 1:
        root = tops[0]
    else:
        out[virtual] = [(top, TOP, NO_EDGE) for top in tops]
    _sort(out)
    _sort(incoming)
    span(root, arcs)
    if UNVISITED in parent[:virtual]:
        span_rest(root, range(virtual), [len(siblings) for siblings in out], arcs)
    _sort(out)
    return Built(preorder(root, out, parent, labels, anchors).rows, ids)


def read(rows: Sequence[Row], ids: Sequence[str], framework: str) -> Bare:
    """Return the graph that the rows alone describe."""
    del framework
    positions = _positions(rows)
    names = dict(zip(positions, ids, strict=True))
    arcs: list[tuple[int, int, str]] = []
    tops: list[str] = []
    for _, _, head, row_relation, anchors in rows:
        if row_relation not in STRUCTURAL:
            label, mark = edge_label(row_relation)
            above, below = rows[head - 1][4][0], anchors[0]
            arcs.append((above, below, label) if mark == REVERSED else (below, above, label))
        elif row_relation == TOP or (row_relation == ROOT_RELATION and anchors):
            tops.append(names[anchors[0]])
    # The order of SDP files: a line is a target, its columns are the sources.
    arcs.sort()
    predicates = {source for _, source, _ in arcs}
    return Bare(
        tuple([_node(names[p], p, p in predicates) for p in positions]),
        tuple([Edge(names[source], names[target], label) for target, source, label in arcs]),
        tuple(tops),
    )


def fresh_ids(rows: Sequence[Row]) -> list[str]:
    """Return the ids of SDP files: the number of the token, from 1."""
    return [str(position + 1) for position in _positions(rows)]


def _anchors(node: Node) -> tuple[int, ...]:
    return node[2]


def _check(graph: Graph, anchors: Sequence[tuple[int, ...]]) -> None:
    for position in anchors:
        if len(position) != 1:
            raise ConversionError("a node is not anchored to one token", graph_id=graph.id)
    if len(set(anchors)) != len(anchors):
        raise ConversionError("two nodes are anchored to the same token", graph_id=graph.id)


def _positions(rows: Sequence[Row]) -> list[int]:
    return sorted({row[4][0] for row in rows if row[4]})


def _sort(arcs: list[list[Arc]]) -> None:
    for siblings in arcs:
        if len(siblings) > 1:
            siblings.sort()


# Files share few node ids, and a Node holds nothing else here.
@lru_cache(1 << 12)
def _node(node_id: str, position: int, is_predicate: bool) -> Node:
    return Node(node_id, None, (position,), attributes=_PREDICATE if is_predicate else ())
