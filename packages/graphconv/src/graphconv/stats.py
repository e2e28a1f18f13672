"""Counts of what is in a treebank: how large its graphs are, and how far from being trees.

>>> from graphconv.graph import Edge, Node
>>> nodes = (Node("w", "want-01"), Node("b", "boy"), Node("g", "go-02"))
>>> edges = (Edge("w", "b", "ARG0"), Edge("w", "g", "ARG1"), Edge("g", "b", "ARG0"))
>>> found = count(Graph("1", "amr", nodes=nodes, edges=edges, tops=("w",)))
>>> found["edges"], found["re-entrancies"], found["cyclic graphs"]
(3, 1, 0)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from graphconv.conversion import linkage_units, to_arborescence
from graphconv.conversion.labels import is_linkage
from graphconv.frameworks import FRAMEWORKS, Nodes
from graphconv.graph import Graph, split_categories
from graphconv.io.stream import Input
from graphconv.topology import components, has_cycle, parents_first

MEASURES = {
    "graphs": "graphs",
    "tokens": "words of the sentences",
    "nodes": "nodes",
    "edges": "edges",
    "tops": "nodes that are a top",
    "re-entrancies": "incoming edges of a node beyond its first",
    "re-entrant graphs": "graphs with a re-entrancy",
    "components": "weakly connected components",
    "self-loops": "edges from a node to itself",
    "parallel edges": "edges beyond the first from one node to another",
    "cyclic graphs": "graphs with a directed cycle",
    "graphs without nodes": "graphs without any node",
    "graphs without top": "graphs with nodes and no top",
    "graphs with several tops": "graphs with more than one top",
    "graphs with several components": "graphs that are not connected",
    "constants": "AMR: nodes that are constants",
    "inverted edges": "AMR: edges written as -of",
    "remote edges": "UCCA: remote edges",
    "implicit units": "UCCA: units without words",
    "linkage units": "UCCA: units that link scenes",
    "discontiguous units": "UCCA: units whose words have a gap",
    "edges with several categories": "UCCA: edges with more than one category",
    "rows": "rows of the arborescences",
    "copies": "rows that repeat a node",
}
"""What is counted, and what it means."""


def count(graph: Graph) -> Counter[str]:
    """Count everything in one graph."""
    tree = to_arborescence(graph)
    counts = _shape(graph)
    counts["graphs"] = 1
    counts["tokens"] = len(graph.tokens)
    counts["rows"] = len(tree.rows)
    counts["copies"] = sum(row.index != number for number, row in enumerate(tree.rows, start=1))
    counts["constants"] = sum(node.constant for node in graph.nodes)
    counts["inverted edges"] = sum(("inverted", True) in edge.attributes for edge in graph.edges)
    counts["remote edges"] = sum(edge.remote for edge in graph.edges)
    counts["implicit units"] = sum(node.implicit for node in graph.nodes)
    if FRAMEWORKS[graph.framework].nodes is Nodes.UNIT:
        counts["linkage units"] = len(linkage_units(graph))
        counts["discontiguous units"] = _discontiguous(graph)
        counts["edges with several categories"] = sum(
            len(split_categories(edge.label)) > 1 for edge in graph.edges
        )
    return counts


def count_input(item: Input) -> tuple[str, Counter[str]]:
    """Count a graph that was read from a file; return its framework too."""
    return item.graph.framework, count(item.graph)


def totals(counts: Iterable[tuple[str, Counter[str]]]) -> dict[str, dict[str, int]]:
    """Add up counts by framework; measures are in the order of :data:`MEASURES`."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for framework, counted in counts:
        sums[framework].update(counted)
    return {name: {key: total[key] for key in MEASURES} for name, total in sorted(sums.items())}


def rows(totals: Mapping[str, Mapping[str, int]]) -> list[list[object]]:
    """Return a table of the totals, a column per framework; what nowhere occurs is left out."""
    lines = [[measure, *(counts[measure] for counts in totals.values())] for measure in MEASURES]
    return [["", *totals], *(line for line in lines if any(line[1:]))]


def _shape(graph: Graph) -> Counter[str]:
    """Count what any directed graph has."""
    incoming = Counter(edge.target for edge in graph.edges)
    pairs = Counter((edge.source, edge.target) for edge in graph.edges)
    re_entrancies = sum(number - 1 for number in incoming.values())
    ids = [node.id for node in graph.nodes]
    n_components = len(components(ids, pairs))
    return Counter(
        {
            "nodes": len(graph.nodes),
            "edges": len(graph.edges),
            "tops": len(graph.tops),
            "re-entrancies": re_entrancies,
            "re-entrant graphs": int(re_entrancies > 0),
            "components": n_components,
            "self-loops": sum(n for (source, target), n in pairs.items() if source == target),
            "parallel edges": sum(number - 1 for number in pairs.values()),
            "cyclic graphs": int(has_cycle(ids, pairs)),
            "graphs without nodes": int(not graph.nodes),
            "graphs without top": int(bool(graph.nodes) and not graph.tops),
            "graphs with several tops": int(len(graph.tops) > 1),
            "graphs with several components": int(n_components > 1),
        }
    )


def _discontiguous(graph: Graph) -> int:
    """Count the units whose words, those of the units below included, are not one stretch."""
    parent: dict[str, str] = {}
    for edge in graph.edges:
        if not edge.remote and not is_linkage(edge.label):
            parent.setdefault(edge.target, edge.source)
    far = len(graph.tokens)
    first = {node.id: min(node.anchors, default=far) for node in graph.nodes}
    last = {node.id: max(node.anchors, default=-1) for node in graph.nodes}
    number = {node.id: len(node.anchors) for node in graph.nodes}
    children_first = parents_first([node.id for node in graph.nodes], parent.items())
    for node_id in children_first:
        above = parent.get(node_id)
        if above is not None:
            first[above] = min(first[above], first[node_id])
            last[above] = max(last[above], last[node_id])
            number[above] += number[node_id]
    return sum(last[n] - first[n] + 1 > number[n] for n in children_first if number[n])
