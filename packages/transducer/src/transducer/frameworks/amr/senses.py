"""Senses: ``want-01`` becomes ``want`` in training; the most frequent roleset comes back later.

Words such as "answer" are both rolesets and concepts without a sense; whether the node has a core
argument (``ARG0``, ...) tells them apart, so the table has two keys for a stem: ``answer()`` with
arguments and ``answer`` without. A sense is removed only where the table restores exactly that
roleset, so the round trip is exact.

>>> counts = {("answer-01", True): 5, ("answer", False): 4, ("go-02", True): 3, ("go-09", True): 1}
>>> table = learn_senses(counts)
>>> table
{'answer': 'answer', 'answer()': 'answer-01', 'go()': 'go-02'}
>>> remove_sense("answer-01", True, table), remove_sense("go-09", True, table)
('answer', 'go-09')
>>> restore_sense("answer", True, table), restore_sense("answer", False, table)
('answer-01', 'answer')
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from graphconv.graph import Graph, Node

_FRAME = re.compile(r"(.+)-(\d\d+)")
_CORE = re.compile(r"ARG\d+")
# A roleset of the user's list never outweighs what the training data says.
_LISTED = 0.5


def stem(concept: str) -> str:
    """Return the concept without its sense."""
    match = _FRAME.fullmatch(concept)
    return match.group(1) if match else concept


def count_concepts(graphs: Iterable[Graph]) -> Counter[tuple[str, bool]]:
    """Count (concept, whether it has a core argument)."""
    counts: Counter[tuple[str, bool]] = Counter()
    for graph in graphs:
        predicates = _predicates(graph)
        for node in graph.nodes:
            if not node.constant and node.label is not None:
                counts[node.label, node.id in predicates] += 1
    return counts


def learn_senses(
    counts: Mapping[tuple[str, bool], int], rolesets: Iterable[str] = ()
) -> dict[str, str]:
    """Map each key to its most frequent roleset, or to the stem if that occurs without a sense.

    *rolesets* is an optional list of rolesets, such as PropBank's, for what was never seen; of
    several senses the lowest number wins.
    """
    weights: dict[str, dict[str, float]] = defaultdict(dict)
    for (concept, arguments), count in counts.items():
        weights[_key(stem(concept), arguments)][concept] = count
    for roleset in rolesets:
        if stem(roleset) != roleset:
            for arguments in (True, False):
                weights[_key(stem(roleset), arguments)].setdefault(roleset, _LISTED)
    table = {}
    for key, row in sorted(weights.items()):
        bare = key.removesuffix("()")
        table[key] = bare if bare in row else min(row, key=lambda roleset: (-row[roleset], roleset))
    return table


def remove_sense(concept: str, arguments: bool, table: Mapping[str, str]) -> str:
    """Remove the sense of a roleset if the table restores it."""
    bare = stem(concept)
    return bare if table.get(_key(bare, arguments)) == concept else concept


def restore_sense(concept: str, arguments: bool, table: Mapping[str, str]) -> str:
    """Give a stem its most frequent roleset; an unknown one with arguments gets sense 01."""
    for known in (arguments, not arguments):
        if _key(concept, known) in table:
            return table[_key(concept, known)]
    if arguments and concept.replace("-", "").isalpha():  # only rolesets have core arguments
        return f"{concept}-01"
    return concept


def remove_senses(graph: Graph, table: Mapping[str, str]) -> Graph:
    """Remove the senses of all concepts that the table restores."""
    predicates = _predicates(graph)

    def changed(node: Node) -> Node:
        if node.constant or node.label is None:
            return node
        return node._replace(label=remove_sense(node.label, node.id in predicates, table))

    return replace(graph, nodes=tuple(map(changed, graph.nodes)))


def restore_senses(graph: Graph, table: Mapping[str, str]) -> Graph:
    """Restore the senses of all concepts."""
    predicates = _predicates(graph)

    def changed(node: Node) -> Node:
        if node.constant or node.label is None:
            return node
        return node._replace(label=restore_sense(node.label, node.id in predicates, table))

    return replace(graph, nodes=tuple(map(changed, graph.nodes)))


def _key(bare: str, arguments: bool) -> str:
    return f"{bare}()" if arguments else bare


def _predicates(graph: Graph) -> set[str]:
    return {edge.source for edge in graph.edges if _CORE.fullmatch(edge.label)}
