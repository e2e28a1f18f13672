r"""Search: every place where graphs have a pattern.

>>> from graphconv import Edge, Graph, Node
>>> nodes = (Node("w", "want-01"), Node("b", "boy"), Node("g", "go-02"))
>>> edges = (Edge("w", "b", "ARG0"), Edge("w", "g", "ARG1"), Edge("g", "b", "ARG0"))
>>> graph = Graph("1", "amr", nodes=nodes, edges=edges, tops=("w",))
>>> [match.hit.nodes for match in grep("(x / *-01 :ARG0 (y) :ARG1 (z :ARG0 y))", [graph])]
[(('x', 'w'), ('y', 'b'), ('z', 'g'))]

:mod:`.pattern` is the language, :mod:`.match` says what a hit is and finds them all, :mod:`.index`
keeps graphs on disk so that most of them need not be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from graphconv.graph import Graph
from graphconv.search.match import Found, Hit, anchors_of, find
from graphconv.search.pattern import Pattern, parse

__all__ = ["Found", "Hit", "Match", "Pattern", "as_json", "as_text", "find", "grep", "parse"]


class Match(NamedTuple):
    """A hit and its graph."""

    graph: Graph
    hit: Hit


def grep(
    pattern: str | Pattern,
    graphs: Iterable[Graph],
    *,
    time_limit: float = 10.0,
    on_timeout: Callable[[Graph], None] | None = None,
) -> Iterator[Match]:
    """Yield every hit of *pattern* in *graphs*.

    A search that takes longer than *time_limit* seconds in one graph is broken off there; the graph
    is given to *on_timeout*, or raises TimeoutError.
    """
    wanted = parse(pattern) if isinstance(pattern, str) else pattern
    for graph in graphs:
        found = find(wanted, graph, time_limit=time_limit)
        for hit in found.hits:
            yield Match(graph, hit)
        if not found.complete:
            if on_timeout is None:
                raise TimeoutError(f"graph {graph.id}: the search took more than {time_limit:g} s")
            on_timeout(graph)


def as_text(match: Match) -> str:
    """Return a hit as one line: its nodes, and the sentence with their words in brackets."""
    graph, hit = match
    nodes = {node.id: node for node in graph.nodes}
    marked = {anchor for _, node_id in hit.nodes for anchor in anchors_of(nodes[node_id])}
    words = [
        f"[{token.form}]" if i in marked else token.form for i, token in enumerate(graph.tokens)
    ]
    found = " ".join(f"{name or '_'}={_shown(graph, node_id)}" for name, node_id in hit.nodes)
    return "\t".join((graph.id, found, " ".join(words)))


def as_json(match: Match) -> dict[str, Any]:
    """Return a hit as what JSON can hold."""
    graph, hit = match
    nodes = {node.id: node for node in graph.nodes}
    return {
        "id": graph.id,
        "framework": graph.framework,
        "sentence": " ".join(token.form for token in graph.tokens),
        "nodes": [
            {
                "name": name,
                "node": node_id,
                "label": nodes[node_id].label,
                "anchors": list(anchors_of(nodes[node_id])),
            }
            for name, node_id in hit.nodes
        ],
        "edges": [list(graph.edges[number][:3]) for number in hit.edges],
    }


def _shown(graph: Graph, node_id: str) -> str:
    node = next(node for node in graph.nodes if node.id == node_id)
    if node.label is None:
        words = [graph.tokens[a].form for a in node.anchors if a < len(graph.tokens)]
        return f"{node_id}/{'_'.join(words)}" if words else node_id
    return node.label if node.constant else f"{node_id}/{node.label}"
