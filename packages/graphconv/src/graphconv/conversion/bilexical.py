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

from collections.abc import Callable, Container, Sequence
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any

from graphconv.arborescence import Row
from graphconv.conversion.labels import REVERSED, STRUCTURAL, TOP, VIRTUAL, both_ways, edge_label
from graphconv.conversion.side import Bare, Built
from graphconv.conversion.spanning import (
    NO_EDGE,
    UNVISITED,
    Arc,
    Arcs,
    preorder,
    span,
    span_rest,
)
from graphconv.errors import ConversionError
from graphconv.graph import PREDICATE, Edge, Graph, Node, token_nodes

# The constructor of a NamedTuple runs Python code; this does not.
_edge: Callable[[Any], Edge] = partial(tuple.__new__, Edge)

# No sentence is longer; a position may be any number in rows that nobody checked.
_LONGEST = 1 << 16


def build(graph: Graph, *, unit_labels: bool = True) -> Built:
    """Return the rows of *graph*, and the ids of its nodes in the order of the text."""
    del unit_labels  # an option of UCCA
    nodes = sorted(graph.nodes, key=attrgetter("anchors"))
    anchors = [node.anchors for node in nodes]
    if [*map(len, anchors)].count(1) != len(anchors):
        raise ConversionError("a node is not anchored to one token", graph_id=graph.id)
    if len(set(anchors)) != len(anchors):
        raise ConversionError("two nodes are anchored to the same token", graph_id=graph.id)
    positions = [position for (position,) in anchors]
    if positions and positions[0] < 0:
        graph.validate()
    tokens = graph.tokens
    labels = [tokens[position].form for position in positions]
    ids = [node.id for node in nodes]
    number = {node_id: i for i, node_id in enumerate(ids)}
    arcs, in_order = _arcs(graph, number)
    out = arcs.out
    tops = sorted({number[top] for top in graph.tops})
    is_plain = in_order and [ids[top] for top in tops] == [*graph.tops]
    is_plain = is_plain and _is_plain(graph, positions, out)
    virtual = len(nodes)
    labels.append(VIRTUAL)
    anchors.append(())
    if len(tops) == 1:
        root = tops[0]
    else:
        root = virtual
        out[root] = [(top, TOP, NO_EDGE) for top in tops]
    unvisited = span(root, arcs, virtual + (root == virtual))
    if unvisited:
        degrees = [len(siblings) for siblings in out]
        span_rest(root, range(virtual), degrees, arcs, unvisited)
    rows = preorder(root, out, arcs.parent, labels, anchors).rows
    return Built(rows, ids, {} if is_plain else None)


def read(rows: Sequence[Row], ids: Sequence[str] | None, framework: str) -> Bare:
    """Return the graph that the rows alone describe."""
    del framework
    positions = sorted({row.anchors[0] for row in rows if row.anchors})
    arcs: list[tuple[int, int, str]] = []
    tops: list[int] = []
    for _, _, head, row_relation, anchors in rows:
        if row_relation not in STRUCTURAL:
            label, mark = edge_label(row_relation)
            above, below = rows[head - 1].anchors[0], anchors[0]
            arcs.append((above, below, label) if mark == REVERSED else (below, above, label))
        elif anchors and (row_relation == TOP or not head):
            tops.append(anchors[0])
    # The order of SDP files: a line is a target, its columns are the sources.
    arcs.sort()
    predicates = {source for _, source, _ in arcs}
    if ids is None:
        nodes = _plain_nodes(positions, predicates)
    else:
        named = zip(ids, positions, strict=True)
        nodes = tuple([_node(name, p, p in predicates) for name, p in named])
    names = {position: node.id for position, node in zip(positions, nodes, strict=True)}
    return Bare(
        nodes,
        tuple([_edge((names[s], names[t], label, False, ())) for t, s, label in arcs]),
        tuple([names[top] for top in sorted(tops)]),
    )


def fresh_names(rows: Sequence[Row]) -> dict[int, str]:
    """Return the id that the node of each index has in the graph of the rows alone."""
    return {row.index: str(row.anchors[0] + 1) for row in rows if row.anchors}


def _arcs(graph: Graph, number: dict[str, int]) -> tuple[Arcs, bool]:
    """Return the arcs of *graph*, and whether its edges already stand in the order of SDP files."""
    count = len(graph.nodes) + 1
    out: list[list[Arc]] = [[] for _ in range(count)]
    incoming: list[list[Arc]] = [[] for _ in range(count)]
    in_order = True
    last = -1
    for k, (source, target, label, _, _) in enumerate(graph.edges):
        s, t = number[source], number[target]
        forwards, backwards = both_ways(label)
        out[s].append((t, forwards, k))
        incoming[t].append((s, backwards, k))
        place = t * count + s
        in_order = in_order and place > last
        last = place
    if not in_order:  # else siblings are in order, too
        for siblings in (*out, *incoming):
            siblings.sort()
    return Arcs(out, lambda: incoming, [UNVISITED] * count, [], list.sort), in_order


def _is_plain(graph: Graph, positions: Sequence[int], out: Sequence[Sequence[Arc]]) -> bool:
    """Say whether nodes and edges are what the rows alone describe, as in nearly every file."""
    if [edge for edge in graph.edges if edge.remote or edge.attributes]:
        return False
    predicates = {position for position, arcs in zip(positions, out, strict=False) if arcs}
    return graph.nodes == _plain_nodes(positions, predicates)


def _plain_nodes(positions: Sequence[int], predicates: Container[int]) -> tuple[Node, ...]:
    """Return the nodes of sorted *positions*, with the ids that SDP files give them."""
    if positions and (positions[0] < 0 or positions[-1] >= _LONGEST):
        return tuple([_node(str(p + 1), p, p in predicates) for p in positions])
    _, plain, marked = token_nodes(positions[-1] + 1 if positions else 0)
    return tuple([marked[p] if p in predicates else plain[p] for p in positions])


# Files share few node ids, and a Node holds nothing else here.
@lru_cache(1 << 12)
def _node(node_id: str, position: int, is_predicate: bool) -> Node:
    return Node(node_id, None, (position,), attributes=PREDICATE if is_predicate else ())
