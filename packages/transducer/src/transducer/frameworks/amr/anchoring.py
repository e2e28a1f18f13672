"""Which words the nodes of a parsed AMR stand for: the word that was copied, else the attention's.

A label that words offer (their lemma, roleset or form) was copied from one of them, or might have
been: of these words the attention chooses. For a negation it chooses among negative words, for any
other label among all. What only holds a name or a date together stands for the words of its parts.

>>> from graphconv.arborescence import Row
>>> rows = Row("want-01", 1, 0, "root"), Row("boy", 2, 1, "ARG0")
>>> forms, offers = ("the", "boy", "wants"), (("the",), ("boy",), ("want-01",))
>>> places(rows, forms, offers, ((0.1, 0.5, 0.4), (0.5, 0.3, 0.2)))
[Place(position=2, offered=True), Place(position=1, offered=True)]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from graphconv.arborescence import Row
from graphconv.graph import Graph

_HOLDERS = frozenset({"name", "date-entity"})
"""Concepts that hold constants together, and have no word of their own."""


_NEGATION = "=-"
_NEGATIVE_WORDS = frozenset(
    "not n't n’t no never none nobody nothing nowhere neither nor cannot without".split()
)


class Place(NamedTuple):
    """The word that a node stands for."""

    position: int
    offered: bool
    """Whether the word offers the node's label."""


def places(
    rows: Sequence[Row],
    forms: Sequence[str],
    offers: Sequence[Sequence[str]],
    attention: Sequence[Sequence[float]],
) -> list[Place]:
    """Return the place of each node, in the order of their first rows."""
    found = []
    for number, (row, weights) in enumerate(zip(rows, attention, strict=True), start=1):
        if row.index == number:
            fitting = [place for place, labels in enumerate(offers) if row.label in labels]
            if row.label == _NEGATION and not fitting:
                fitting = [p for p, form in enumerate(forms) if form.lower() in _NEGATIVE_WORDS]
            position = max(fitting or range(len(weights)), key=weights.__getitem__)
            found.append(Place(position, bool(fitting)))
    return found


def anchored(graph: Graph, found: Sequence[Place]) -> Graph:
    """Return the graph, as the rows give it, with the words that its nodes stand for."""
    if len(found) != len(graph.nodes):
        return graph
    anchors: dict[str, tuple[int, ...]] = {
        node.id: (p.position,) for node, p in zip(graph.nodes, found, strict=True)
    }
    offered = {node.id for node, p in zip(graph.nodes, found, strict=True) if p.offered}
    labels = {node.id: node.label for node in graph.nodes}
    constants = {node.id for node in graph.nodes if node.constant}
    held: dict[str, set[int]] = {}
    for edge in graph.edges:
        if labels[edge.source] in _HOLDERS and edge.target in constants:
            held.setdefault(edge.source, set()).update(anchors[edge.target])
    anchors |= {node_id: tuple(sorted(words)) for node_id, words in held.items()}
    for edge in graph.edges:
        # A city called Paris: no word says city.
        if edge.label == "name" and edge.source not in offered and edge.target in held:
            anchors[edge.source] = anchors[edge.target]
    nodes = tuple(node._replace(anchors=anchors[node.id]) for node in graph.nodes)
    return replace(graph, nodes=nodes)
