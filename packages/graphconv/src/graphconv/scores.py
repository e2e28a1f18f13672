"""How sure a parser was of a graph, its nodes and its edges: log-probabilities.

They are no part of what a graph means: two graphs are equal whatever their scores, scorers do not
see them, and PENMAN, SDP and UCCA's XML leave them out. MRP, the arborescence format and
``Graph.to_dict`` keep them.

>>> scores = Scores(-0.5, {"w": -0.1, "b": -0.2}, {("w", "b", "ARG0"): -0.15})
>>> scores.edges["w", "b", "ARG0"], round(scores.probability("w"), 2)
(-0.15, 0.9)
>>> scores.probability("x") is None
True
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphconv.graph import Edge, Graph

EdgeName = tuple[str, str, str]
"""Source, target and label of an edge."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Log-probabilities; a node or edge that rules added has none."""

    graph: float | None
    """That of the whole graph: of all decisions that led to it."""
    nodes: Mapping[str, float]
    """By the id of the node."""
    edges: Mapping[EdgeName, float]
    """By source, target and label of the edge."""

    def of(self, part: str | Edge) -> float | None:
        """Return the log-probability of a node, given by its id, or of an edge."""
        return self.nodes.get(part) if isinstance(part, str) else self.edges.get(part[:3])

    def probability(self, part: str | Edge) -> float | None:
        """Return the probability of a node, given by its id, or of an edge."""
        log_p = self.of(part)
        return None if log_p is None else math.exp(log_p)

    def only(self, graph: Graph) -> Scores:
        """Return the scores of what is in *graph*, in its order."""
        nodes = {node.id: self.nodes[node.id] for node in graph.nodes if node.id in self.nodes}
        names = [edge[:3] for edge in graph.edges]
        edges = {name: self.edges[name] for name in names if name in self.edges}
        return Scores(self.graph, nodes, edges)

    def renamed(self, names: Mapping[str, str]) -> Scores:
        """Return the scores of the graph whose nodes have other ids."""
        edges = {(names[s], names[t], label): p for (s, t, label), p in self.edges.items()}
        return Scores(self.graph, {names[name]: p for name, p in self.nodes.items()}, edges)

    def to_json(self) -> dict[str, Any]:
        """Return the scores in JSON's types."""
        return {
            "graph": self.graph,
            "nodes": [[name, log_p] for name, log_p in self.nodes.items()],
            "edges": [[*name, log_p] for name, log_p in self.edges.items()],
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Scores:
        """Return what :meth:`to_json` was called on; ValueError if there is nothing of the kind."""
        return collected(
            record["graph"],
            [(name, log_p) for name, log_p in record["nodes"]],
            [((s, t, label), log_p) for s, t, label, log_p in record["edges"]],
        ) or cls(None, {}, {})


def collected(
    graph: Any, nodes: Iterable[tuple[str, Any]], edges: Iterable[tuple[EdgeName, Any]]
) -> Scores | None:
    """Return the scores that a file gives, None where it gives none; ValueError: no number."""
    found = Scores(
        number(graph),
        {name: checked for name, log_p in nodes if (checked := number(log_p)) is not None},
        {name: checked for name, log_p in edges if (checked := number(log_p)) is not None},
    )
    return None if found == Scores(None, {}, {}) else found


def number(value: Any) -> float | None:
    """Return a score that a file gives."""
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise ValueError("a score is not a number")


def joined(parts: Iterable[Scores | None]) -> Scores | None:
    """Return the scores of a graph that is made of parts; they are independent of each other."""
    given = [part for part in parts if part is not None]
    if not given:
        return None
    totals = [part.graph for part in given if part.graph is not None]
    nodes = {name: log_p for part in given for name, log_p in part.nodes.items()}
    edges = {name: log_p for part in given for name, log_p in part.edges.items()}
    return Scores(round(sum(totals), 4) if totals else None, nodes, edges)
