"""Operands in order: ``op1``, ``op2``, ... once below a node, and a constant once below a role.

A model numbers operands one by one and now and then says ``op2`` twice; their order is right far
more often than the numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from graphconv.graph import Edge, Graph

_OPERAND = re.compile(r"op[1-9]\d*")


def number_operands(graph: Graph) -> Graph:
    """Return the graph with the operands of a node that has one of them twice counted anew.

    >>> from graphconv.graph import Node
    >>> nodes = tuple(Node(name, name) for name in ("and", "x", "y", "z"))
    >>> edges = (Edge("and", "x", "op1"), Edge("and", "y", "op2"), Edge("and", "z", "op2"))
    >>> [edge.label for edge in number_operands(Graph("1", "amr", nodes=nodes, edges=edges)).edges]
    ['op1', 'op2', 'op3']
    """
    edges = _without_repeated_constants(graph)
    said = Counter((edge.source, edge.label) for edge in edges if _OPERAND.fullmatch(edge.label))
    wrong = {source for (source, _), times in said.items() if times > 1}
    if not wrong and len(edges) == len(graph.edges):
        return graph
    numbers: Counter[str] = Counter()
    counted = []
    for edge in edges:
        if edge.source in wrong and _OPERAND.fullmatch(edge.label):
            numbers[edge.source] += 1
            counted.append(edge._replace(label=f"op{numbers[edge.source]}"))
        else:
            counted.append(edge)
    left = {edge.target for edge in graph.edges} - {edge.target for edge in edges}
    nodes = tuple(node for node in graph.nodes if node.id not in left)
    return replace(graph, nodes=nodes, edges=tuple(counted))


def _without_repeated_constants(graph: Graph) -> list[Edge]:
    """Return the edges without those that repeat a constant, such as a second ``:polarity -``."""
    constants = {node.id: node.label for node in graph.nodes if node.constant}
    sources = {edge.source for edge in graph.edges}
    seen: set[tuple[str, str, str | None]] = set()
    kept = []
    for edge in graph.edges:
        if edge.target in constants and edge.target not in sources:
            key = (edge.source, edge.label, constants[edge.target])
            if key in seen:
                continue
            seen.add(key)
        kept.append(edge)
    return kept
