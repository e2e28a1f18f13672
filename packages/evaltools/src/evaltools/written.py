"""An AMR as a labeled graph in which constants are nodes: what similarity metrics look at."""

from __future__ import annotations

from typing import NamedTuple

from graphconv.graph import Graph, attribute


class Written(NamedTuple):
    """The labels of nodes, and edges between their numbers as they are written."""

    labels: list[str]
    edges: list[tuple[int, str, int]]
    """Source, role, target; an inverted role ends in ``-of``."""


def written(graph: Graph) -> Written:
    """Return the nodes of a graph, variables first, and its edges as the file has them.

    >>> from graphconv.graph import Edge, Node
    >>> nodes = Node("b", "boy"), Node(":0", "-", constant=True), Node("g", "go-02")
    >>> turned_round = Edge("g", "b", "ARG0", attributes=(("inverted", True),))
    >>> edges = turned_round, Edge("g", ":0", "polarity")
    >>> written(Graph("1", "amr", nodes=nodes, edges=edges)).edges
    [(0, 'ARG0-of', 1), (1, 'polarity', 2)]
    """
    nodes = sorted(graph.nodes, key=lambda node: node.constant)  # stable
    number = {node.id: place for place, node in enumerate(nodes)}
    edges = []
    for source, target, label, _, attributes in graph.edges:
        if attributes and attribute(attributes, "inverted"):
            edges.append((number[target], f"{label}-of", number[source]))
        else:
            edges.append((number[source], label, number[target]))
    return Written([node.label or "" for node in nodes], edges)


def turned(edge: tuple[int, str, int]) -> tuple[int, str, int]:
    """Return an edge with its source and target exchanged if its role ends in ``-of``."""
    source, role, target = edge
    return (target, role, source) if role.endswith("-of") else edge
