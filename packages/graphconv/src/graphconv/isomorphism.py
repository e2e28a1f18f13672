"""Whether two graphs are the same up to their node ids.

What counts is what a model predicts: labels, anchors, constants, implicit units, tops, and edges
with their labels and remote flags. Other attributes, metadata and all orders do not.

>>> from graphconv.graph import Edge
>>> first = Graph("1", "amr", (), (Node("a", "x"), Node("b", "y")), (Edge("a", "b", "mod"),))
>>> second = Graph("2", "amr", (), (Node("y", "y"), Node("x", "x")), (Edge("x", "y", "mod"),))
>>> third = Graph("3", "amr", (), second.nodes, (Edge("y", "x", "mod"),))
>>> isomorphic(first, second), isomorphic(first, third)
(True, False)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from graphconv.frameworks import framework
from graphconv.graph import Graph, Node


class _Network(NamedTuple):
    looks: list[Hashable]
    """What can be seen of each node without its neighbors."""
    neighbors: list[list[tuple[bool, str, bool, int]]]
    """For each node: whether it is the source, label, remote, number of the other end."""


_Coloring = tuple[list[int], list[int]]
"""A color for each node of both graphs; only nodes of the same color may be mapped."""


def isomorphic(first: Graph, second: Graph) -> bool:
    """Say whether the graphs differ in nothing but ids, order and attributes."""
    networks = (_network(first), _network(second))
    start = _recolored(networks[0].looks, networks[1].looks)
    # Refine the colors; where they leave a choice, try each node of one color in turn.
    pending = [start] if start else []
    while pending:
        coloring = _refined(networks, pending.pop())
        if coloring is None:
            continue
        counts = Counter(coloring[0])
        if len(counts) == len(coloring[0]):
            return True
        color = min((c for c in counts if counts[c] > 1), key=lambda c: (counts[c], c))
        chosen = coloring[0].index(color)
        pending.extend(
            (_singled_out(coloring[0], chosen), _singled_out(coloring[1], candidate))
            for candidate, other in enumerate(coloring[1])
            if other == color
        )
    return False


def _network(graph: Graph) -> _Network:
    numbers = {node.id: i for i, node in enumerate(graph.nodes)}
    neighbors: list[list[tuple[bool, str, bool, int]]] = [[] for _ in graph.nodes]
    for edge in graph.edges:
        source, target = numbers[edge.source], numbers[edge.target]
        neighbors[source].append((True, edge.label, edge.remote, target))
        neighbors[target].append((False, edge.label, edge.remote, source))
    looks = [_look(node, node.id in graph.tops) for node in map(_unaligned(graph), graph.nodes)]
    return _Network(looks, neighbors)


def _unaligned(graph: Graph) -> Callable[[Node], Node]:
    """Return what takes the alignment from a node: of AMR it is a note, no part of the graph."""
    if framework(graph.framework, graph.id).penman_notes:
        return lambda node: node._replace(anchors=())
    return lambda node: node


def _look(node: Node, is_top: bool) -> Hashable:
    return (node.label, tuple(sorted(node.anchors)), node.constant, node.implicit, is_top)


def _refined(networks: tuple[_Network, _Network], coloring: _Coloring) -> _Coloring | None:
    """Tell nodes apart by the colors around them, as far as that goes; None: not isomorphic."""
    count = len(set(coloring[0]))
    while True:
        signatures = [
            [
                (color, *sorted((*arc[:3], colors[arc[3]]) for arc in arcs))
                for color, arcs in zip(colors, network.neighbors, strict=True)
            ]
            for network, colors in zip(networks, coloring, strict=True)
        ]
        refined = _recolored(*signatures)
        if refined is None:
            return None
        if len(set(refined[0])) == count:
            return refined
        coloring, count = refined, len(set(refined[0]))


def _recolored(first: Sequence[Hashable], second: Sequence[Hashable]) -> _Coloring | None:
    if Counter(first) != Counter(second):
        return None
    colors: dict[Hashable, int] = {}
    for signature in first:
        colors.setdefault(signature, len(colors))
    return [colors[s] for s in first], [colors[s] for s in second]


def _singled_out(colors: list[int], node: int) -> list[int]:
    return [-1 if i == node else color for i, color in enumerate(colors)]
