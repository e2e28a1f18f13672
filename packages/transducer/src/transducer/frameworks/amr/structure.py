"""Small questions about AMR graphs that every step asks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from graphconv.graph import Edge, Graph, Node

WIKI = "wiki"


def outgoing(graph: Graph) -> dict[str, list[Edge]]:
    """Return the edges that leave each node, in written order."""
    result: dict[str, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        result[edge.source].append(edge)
    return result


def constant_edges(edges: list[Edge], nodes: dict[str, Node]) -> list[tuple[str, str]]:
    """Return (role, constant) for those edges that lead to a constant."""
    return [
        (edge.label, nodes[edge.target].label or "")
        for edge in edges
        if edge.target in nodes and nodes[edge.target].constant
    ]


def names(graph: Graph) -> Iterator[tuple[Node, Node, tuple[str, ...]]]:
    """Yield (entity, name node, name) for the named entities; the name as written, in quotes."""
    nodes = {node.id: node for node in graph.nodes}
    edges = outgoing(graph)
    for edge in graph.edges:
        if edge.label == "name" and edge.source in nodes and edge.target in nodes:
            parts = constant_edges(edges[edge.target], nodes)
            ops = [(int(role[2:]), text) for role, text in parts if role[2:].isdecimal()]
            if ops:
                yield nodes[edge.source], nodes[edge.target], tuple(text for _, text in sorted(ops))


def page_constants(graph: Graph) -> dict[str, str]:
    """Return the Wikipedia page of each entity that has one as a constant, as written."""
    constants = {node.id: node.label or "" for node in graph.nodes if node.constant}
    return {
        edge.source: constants[edge.target]
        for edge in graph.edges
        if edge.label == WIKI and edge.target in constants
    }


def fresh_constants(graph: Graph) -> Iterator[str]:
    """Yield ids for new constants."""
    taken = {node.id for node in graph.nodes}
    number = 0
    while True:
        name = f":{number}"
        if name not in taken:
            yield name
        number += 1
