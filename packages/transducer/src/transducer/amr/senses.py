"""Senses: ``want-01`` becomes ``want`` in training; the most frequent frame comes back afterwards.

A sense is removed only where the table restores exactly that frame, so the round trip is exact.

>>> table = learn_senses({"want-01": 5, "long-03": 2, "long": 4, "go-02": 3, "go-09": 1})
>>> table
{'go': 'go-02', 'want': 'want-01'}
>>> remove_sense("want-01", table), remove_sense("go-09", table), restore_sense("want", table)
('want', 'go-09', 'want-01')
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from graphconv.graph import Graph

_FRAME = re.compile(r"(.+)-(\d\d+)")
_CORE = re.compile(r"ARG\d+")
# A frame of the user's list never outweighs what the training data says.
_LISTED = 0.5


def stem(concept: str) -> str:
    """Return the concept without its sense."""
    match = _FRAME.fullmatch(concept)
    return match.group(1) if match else concept


def learn_senses(counts: Mapping[str, int], frames: Iterable[str] = ()) -> dict[str, str]:
    """Map each stem to its most frequent frame, unless the stem is also a concept by itself.

    *frames* is an optional list of frames, such as PropBank's, for stems that were never seen;
    of several senses the lowest number wins.
    """
    weights: dict[str, dict[str, float]] = defaultdict(dict)
    for concept, count in counts.items():
        weights[stem(concept)][concept] = count
    for frame in frames:
        if stem(frame) != frame:
            weights[stem(frame)].setdefault(frame, _LISTED)
    return {
        key: min(row, key=lambda frame: (-row[frame], frame))
        for key, row in sorted(weights.items())
        if key not in row
    }


def remove_sense(concept: str, table: Mapping[str, str]) -> str:
    """Remove the sense of a frame if the table restores it."""
    bare = stem(concept)
    return bare if table.get(bare) == concept else concept


def restore_sense(concept: str, table: Mapping[str, str]) -> str:
    """Give a stem its most frequent frame."""
    return table.get(concept, concept)


def remove_senses(graph: Graph, table: Mapping[str, str]) -> Graph:
    """Remove the senses of all concepts that the table restores."""
    nodes = tuple(
        node
        if node.constant or node.label is None
        else node._replace(label=remove_sense(node.label, table))
        for node in graph.nodes
    )
    return replace(graph, nodes=nodes)


def restore_senses(
    graph: Graph, table: Mapping[str, str], bare: Collection[str] = frozenset()
) -> Graph:
    """Restore the senses of all concepts.

    A stem that is neither in the table nor among the concepts known to be *bare* gets sense 01
    if it has a core argument: only frames do.
    """
    predicates = {edge.source for edge in graph.edges if _CORE.fullmatch(edge.label)}
    nodes = []
    for node in graph.nodes:
        label = node.label
        if label is not None and not node.constant:
            label = restore_sense(label, table)
            unknown = label == node.label and label not in bare and stem(label) == label
            if unknown and node.id in predicates and label.replace("-", "").isalpha():
                label = f"{label}-01"
        nodes.append(node._replace(label=label))
    return replace(graph, nodes=tuple(nodes))


