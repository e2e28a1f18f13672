"""From whatever a model emitted to a complete AMR: connected, with one top, writable as PENMAN.

A graph that is complete already comes back as it is.

>>> graph = Graph("1", "amr", nodes=(Node("a", "a (b)"), Node("b", "boy")))
>>> [(node.label, node.id in recover(graph).tops) for node in recover(graph).nodes]
[('a-b', True), ('boy', False)]
>>> recover(Graph("2", "amr")).nodes
(Node(id='a', label='amr-empty', anchors=(), constant=False, implicit=False, attributes=()),)
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import replace

from graphconv.codecs.amr import as_symbol
from graphconv.graph import Edge, Graph, Node

EMPTY = "amr-empty"
UNKNOWN = "thing"
LOOSE = "mod"
"""The role by which a part that hangs nowhere is joined to the top."""

_NO_SYMBOL = re.compile(r"[\s\"()/:~\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_NO_ROLE = re.compile(r"[^A-Za-z0-9-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


def recover(graph: Graph) -> Graph:
    """Return a complete AMR that differs as little as possible."""
    nodes = {node.id: node for node in graph.nodes}
    if not nodes:
        return replace(graph, nodes=(Node("a", EMPTY),), edges=(), tops=("a",))
    edges = [_role(edge) for edge in graph.edges if edge.source in nodes and edge.target in nodes]
    nodes = _one_kind_each(nodes, edges, graph.tops)
    edges = _distinct(edges)
    nodes, edges = _one_parent_each(nodes, edges)
    top = _top(graph, nodes, edges)
    nodes = {name: node._replace(label=_label(node)) for name, node in nodes.items()}
    edges += _joining(nodes, edges, top)
    result = replace(graph, nodes=tuple(nodes.values()), edges=tuple(edges), tops=(top,))
    return graph if result == graph else result


def _role(edge: Edge) -> Edge:
    label = edge.label.lstrip(":")
    if _NO_ROLE.search(label) or not label:
        label = _NO_ROLE.sub("-", label).strip("-") or LOOSE
    return edge._replace(label=label)


def _one_kind_each(
    nodes: dict[str, Node], edges: Iterable[Edge], tops: tuple[str, ...]
) -> dict[str, Node]:
    """Make a variable of each constant that is a top or has edges that a constant cannot have.

    A constant may be the source of its only edge, to a variable, as in ``:polarity-of -``.
    """
    degrees = Counter(end for edge in edges for end in (edge.source, edge.target))
    variables = set(tops)
    for edge in edges:
        if degrees[edge.source] > 1 or nodes[edge.target].constant:
            variables.add(edge.source)
    return {
        name: node._replace(constant=False, label=(node.label or "").strip('"'))
        if node.constant and name in variables
        else node
        for name, node in nodes.items()
    }


def _distinct(edges: Iterable[Edge]) -> list[Edge]:
    found: dict[tuple[str, str, str], Edge] = {}
    for edge in edges:
        found.setdefault((edge.source, edge.label, edge.target), edge)
    return list(found.values())


def _one_parent_each(
    nodes: dict[str, Node], edges: Iterable[Edge]
) -> tuple[dict[str, Node], list[Edge]]:
    """Give each further edge to a constant a copy of it, and drop constants without an edge."""
    used: set[str] = set()
    names = (f":{number}" for number in range(2 * len(nodes) + 2**20))
    result: list[Edge] = []
    copies: dict[str, Node] = {}
    for edge in edges:
        node = nodes[edge.target]
        if node.constant and node.id in used:
            name = next(name for name in names if name not in nodes and name not in copies)
            copies[name] = node._replace(id=name)
            result.append(edge._replace(target=name))
            continue
        used.update((edge.source, edge.target))
        result.append(edge)
    kept = {name: node for name, node in nodes.items() if not node.constant or name in used}
    return kept | copies, result


def _top(graph: Graph, nodes: dict[str, Node], edges: Iterable[Edge]) -> str:
    for top in graph.tops:
        if top in nodes:
            return top
    targets = {edge.target for edge in edges}
    variables = [name for name, node in nodes.items() if not node.constant]
    if not variables:  # constants alone, all without an edge, were dropped
        nodes["a"] = Node("a", EMPTY)
        return "a"
    return next((name for name in variables if name not in targets), variables[0])


def _label(node: Node) -> str:
    label = node.label
    if node.constant:
        plain = _CONTROL.sub(" ", label or "")
        return as_symbol(plain) if plain.strip() else '""'
    if label is not None and as_symbol(label) == label and not _CONTROL.search(label):
        return label
    return _NO_SYMBOL.sub("-", label or "").strip("-#") or UNKNOWN


def _joining(nodes: dict[str, Node], edges: Iterable[Edge], top: str) -> list[Edge]:
    """Return edges from the top to one node of each part that is not connected to it."""
    neighbors: dict[str, list[str]] = {name: [] for name in nodes}
    targets = set()
    for edge in edges:
        neighbors[edge.source].append(edge.target)
        neighbors[edge.target].append(edge.source)
        targets.add(edge.target)
    reached: set[str] = set()
    added: list[Edge] = []
    # Roots first, so that a part hangs by its root where it has one.
    order = [name for name in nodes if name not in targets] + list(nodes)
    for start in (top, *(name for name in order if not nodes[name].constant)):
        if start in reached:
            continue
        if start != top:
            added.append(Edge(top, start, LOOSE))
        todo = deque([start])
        reached.add(start)
        while todo:
            for name in neighbors[todo.popleft()]:
                if name not in reached:
                    reached.add(name)
                    todo.append(name)
    return added
