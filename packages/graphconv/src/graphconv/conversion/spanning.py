"""The algorithm that AMR and the bilexical frameworks share: a spanning tree, and its pre-order.

Nodes are numbers. An *arc* is (node at the other end, relation in this direction, number of the
edge); relations that stand for no edge have the number -1.

:func:`span` is the paper's loop: a depth-first search, then again and again the first node in
order of levels with an unused incoming edge, which is reversed to search on from its source. It
turns ``out`` into the children of each node, in sibling order. An edge between two visited nodes
needs no more than its place there: it ends in a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from graphconv.arborescence import ROOT_RELATION, Row
from graphconv.conversion.labels import NULL

Arc = tuple[int, str, int]

# The constructor of a NamedTuple runs Python code; this does not.
_row: Callable[[Any], Row] = partial(tuple.__new__, Row)

NO_EDGE = -1
UNVISITED = -2


class Arcs(NamedTuple):
    """The arcs of each node in sibling order, and how far the search has come."""

    out: list[list[Arc]]
    """The arcs that leave a node; in the end its children."""
    incoming: Callable[[], list[list[Arc]]]
    """Those that could be followed backwards from it; many graphs never ask."""
    parent: list[int]
    """The number of the edge below which a node hangs with its children, or UNVISITED."""
    turned: list[int]
    """The numbers of the edges that the search followed backwards."""
    sort: Callable[[list[Arc]], None]
    """Puts the arcs of one node in sibling order."""


class Preorder(NamedTuple):
    """The rows of a tree, and which node each index stands for."""

    rows: tuple[Row, ...]
    first: list[int]
    """For each node the number of its first row, its index."""
    edges: list[int]
    """For each row the number of the edge that leads to it."""


def span(root: int, arcs: Arcs, unvisited: int) -> int:
    """Visit all that is connected with *root*, and return how many nodes are still unvisited."""
    out, parent, sort = arcs.out, arcs.parent, arcs.sort
    parent[root] = NO_EDGE
    levels: list[list[int]] = [[root]]
    unvisited -= 1 + _descend(root, levels, 0, arcs)
    if not unvisited:
        return 0
    incoming = arcs.incoming()
    # Level by level, and inside a level in the order of discovery: nodes found while a level is
    # processed are all deeper. A search that begins anew after each reversal, as the paper puts it,
    # has another order inside a level in a few graphs (docs on conversions; tools/bfs_order.py).
    for depth, level in enumerate(levels, start=1):
        if not unvisited:
            break
        for node in level:
            grown = False
            for arc in incoming[node]:
                source, _, number = arc
                if parent[source] == UNVISITED:
                    grown = True
                    parent[source] = number
                    arcs.turned.append(number)
                    out[node].append(arc)
                    rest = out[source]
                    rest = [(t, name, k) for t, name, k in rest if k != number]
                    out[source] = rest
                    if depth == len(levels):
                        levels.append([])
                    levels[depth].append(source)
                    unvisited -= 1 + (_descend(source, levels, depth, arcs) if rest else 0)
            if grown:
                sort(out[node])
    return unvisited


def span_rest(
    root: int, candidates: Iterable[int], degrees: Sequence[int], arcs: Arcs, unvisited: int
) -> None:
    """Hang every part that is not yet visited below *root*, by ``null``.

    The root of a part is its node with the largest degree, of several the first candidate.
    """
    rank: dict[int, int] = {}
    for candidate in candidates:
        rank.setdefault(candidate, len(rank))
    for candidate in rank:
        if arcs.parent[candidate] == UNVISITED:
            part = _component(candidate, arcs)
            top = min(part, key=lambda node: (-degrees[node], rank[node]))
            unvisited = span(top, arcs, unvisited)
            arcs.out[root].append((top, NULL, NO_EDGE))
    arcs.sort(arcs.out[root])


def preorder(
    root: int,
    children: Sequence[Sequence[Arc]],
    parent: Sequence[int] | None,
    labels: Sequence[str],
    anchors: Sequence[tuple[int, ...]],
) -> Preorder:
    """List the rows of a tree whose children are in sibling order.

    Without *parent*, children hang below the first row of their node.
    """
    rows: list[tuple[str, int, int, str, tuple[int, ...]]] = []
    edges: list[int] = []
    first = [0] * len(labels)
    number = 0
    siblings: Iterator[Arc] = iter([(root, ROOT_RELATION, NO_EDGE)])
    head = 0
    above: list[tuple[Iterator[Arc], int]] = []  # the siblings still to come, and their head
    while True:
        for node, relation, edge in siblings:
            number += 1
            index = first[node]
            below = children[node]
            has_children = below and (not index if parent is None else parent[node] == edge)
            if not index:
                index = first[node] = number
            rows.append((labels[node], index, head, relation, anchors[node]))
            edges.append(edge)
            if has_children:
                above.append((siblings, head))
                siblings, head = iter(below), number
                break
        else:
            if not above:
                break
            siblings, head = above.pop()
    return Preorder(tuple(map(_row, rows)), first, edges)


def _descend(start: int, levels: list[list[int]], depth: int, arcs: Arcs) -> int:
    """Search depth-first from *start*, put what is found on its level, and count it."""
    out, parent = arcs.out, arcs.parent
    found = 0
    depth += 1
    stack = [iter(out[start])]
    while stack:
        for target, _, number in stack[-1]:
            if parent[target] == UNVISITED:
                parent[target] = number
                found += 1
                if depth == len(levels):
                    levels.append([])
                levels[depth].append(target)
                if out[target]:
                    stack.append(iter(out[target]))
                    depth += 1
                    break
        else:
            stack.pop()
            depth -= 1
    return found


def _component(start: int, arcs: Arcs) -> list[int]:
    found = {start}
    queue = [start]
    incoming = arcs.incoming()
    for node in queue:
        for neighbors in (arcs.out[node], incoming[node]):
            for other, _, _ in neighbors:
                if other not in found:
                    found.add(other)
                    queue.append(other)
    return queue
