"""What XML must say and a graph from elsewhere does not: ids and types of units and terminals."""

from __future__ import annotations

import re

from graphconv.graph import LINKAGE, Graph, Node, attribute

_is_unit_id = re.compile(r"1\.[0-9]+").fullmatch


def name_units(graph: Graph, fresh: bool) -> dict[str, str]:
    """Return the ids to write: those of the graph, or 1.1, 1.2, ... with the top first."""
    units = [node.id for node in graph.nodes if not (node.attributes and is_terminal(node))]
    if not fresh or all(map(_is_unit_id, units)):
        return {unit: unit for unit in units}
    units.sort(key=lambda unit: unit not in graph.tops)
    return {unit: f"1.{number}" for number, unit in enumerate(units, 1)}


def guess_kinds(graph: Graph) -> dict[str, str]:
    """Guess the types of terminals and units in a graph that does not say them.

    The word of a ``U`` unit is punctuation, that of another unit is none, even if it is a ``$``;
    where a unit has more words or children, what has no letter and no digit is. So it is for
    all words of the dev parts of English-Wiki and EWT.
    """
    incoming: dict[str, set[str]] = {node.id: set() for node in graph.nodes}
    outgoing: dict[str, set[str]] = {node.id: set() for node in graph.nodes}
    for edge in graph.edges:
        incoming[edge.target].add(edge.label)
        outgoing[edge.source].add(edge.label)
    alone = {
        node.anchors[0]: incoming[node.id] == {"U"}
        for node in graph.nodes
        if len(node.anchors) == 1 and not outgoing[node.id] and not is_terminal(node)
    }
    kinds = {
        f"0.{position + 1}": "Punctuation"
        for position, token in enumerate(graph.tokens)
        if alone.get(position, token.form and not any(map(str.isalnum, token.form)))
    }
    for node in graph.nodes:
        if outgoing[node.id] and outgoing[node.id] <= LINKAGE:
            kinds[node.id] = "LKG"
        elif (
            incoming[node.id] == {"U"}
            and node.anchors
            and not outgoing[node.id]
            and all(f"0.{anchor + 1}" in kinds for anchor in node.anchors)
        ):
            kinds[node.id] = "PNCT"
    return kinds


def is_terminal(node: Node) -> bool:
    """Say whether a node stands for a terminal, which most graphs have as an anchor alone."""
    return bool(attribute(node.attributes, "terminal"))
