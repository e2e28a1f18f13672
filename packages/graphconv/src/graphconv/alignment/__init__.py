r"""Align: which words the nodes of an AMR stand for, by rules, without any model.

>>> from graphconv.graph import Edge, Token
>>> nodes = (Node("t", "teach-01"), Node("p", "person"), Node(":0", "-", constant=True))
>>> edges = (Edge("t", "p", "ARG0"), Edge("t", ":0", "polarity"))
>>> tokens = tuple(map(Token, "The people never teach .".split()))
>>> result = align(Graph("1", "amr", tokens, nodes, edges, ("t",)))
>>> result.words
{'t': (3,), 'p': (1,), ':0': (2,)}

The rules, in this order:

1. A node goes to the word that fits its label best (:mod:`.words`). Of several, to the one nearest
   to the words of its neighbors; two nodes with the same label go to different words.
2. Names, and what has a name, go to the words of the name; dates to those of their parts.
3. What no word says goes where its parts go: ``person`` to the teacher of ``:ARG0-of teach-01``,
   ``have-org-role-91`` to its ``:ARG2``.

Marks that are there stay. ``:wiki`` links have no words. The rest is told as unaligned.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import NamedTuple

from graphconv.alignment.words import STEM, fit
from graphconv.graph import Graph, Node, attribute

__all__ = ["Alignment", "align"]

_HOLDERS = frozenset(
    "name date-entity ordinal-entity percentage-entity monetary-quantity temporal-quantity "
    "distance-quantity url-entity email-address-entity phone-number-entity date-interval "
    "value-interval string-entity person thing government-organization organization company city "
    "country".split()
)
"""Concepts that often hold others together and then have no word of their own."""

_INHERIT = (
    "name ARG2 unit value quant op1 month year day weekday dayperiod season time ARG0 ARG1 mod"
).split()
_ROUNDS = 3


class Alignment(NamedTuple):
    """A graph with marks, the words of each node, and the nodes that have none."""

    graph: Graph
    words: dict[str, tuple[int, ...]]
    unaligned: tuple[Node, ...]


def align(graph: Graph) -> Alignment:
    """Align the nodes of an AMR with its tokens, as marks ``~e.N``; existing marks stay."""
    words = _Aligner(graph).aligned()
    nodes = tuple(_marked(node, words.get(node.id, ())) for node in graph.nodes)
    links = _links(graph)
    unaligned = tuple(
        node
        for node in nodes
        if attribute(node.attributes, "alignment") is None and node.id not in links
    )
    return Alignment(replace(graph, nodes=nodes), words, unaligned)


def _marked(node: Node, positions: tuple[int, ...]) -> Node:
    if not positions or not node.label or attribute(node.attributes, "alignment") is not None:
        return node
    mark = f"e.{','.join(map(str, positions))}"
    return node._replace(attributes=(*node.attributes, ("alignment", mark)))


def _links(graph: Graph) -> frozenset[str]:
    return frozenset(edge.target for edge in graph.edges if edge.label == "wiki")


class _Aligner:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.labels = {node.id: node.label or "" for node in graph.nodes}
        self.words: dict[str, tuple[int, ...]] = {}
        self.around: dict[str, list[str]] = defaultdict(list)
        self.below: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for edge in graph.edges:
            self.around[edge.source].append(edge.target)
            self.around[edge.target].append(edge.source)
            self.below[edge.source].append((edge.label, edge.target))
        self.links = _links(graph)
        self.names = {
            edge.target: edge.source
            for edge in graph.edges
            if edge.label == "name" and self.labels[edge.target] == "name"
        }

    def aligned(self) -> dict[str, tuple[int, ...]]:
        """Return the words of each node that has some, in the order of the nodes."""
        for name in self.names:
            self._align_name(name)
        self._align_words()
        for _ in range(_ROUNDS):
            self._inherit()
        return {node.id: self.words[node.id] for node in self.graph.nodes if node.id in self.words}

    def _align_name(self, name: str) -> None:
        """Find the words of a name in a row, and give them to all that has the name."""
        parts = [(int(role[2:]), target) for role, target in self.below[name] if role[2:].isdigit()]
        targets = [target for _, target in sorted(parts)]
        tokens = self.graph.tokens
        taken = {p for positions in self.words.values() for p in positions}
        best: tuple[int, list[int]] = (0, [])
        for start in range(len(tokens) - len(targets) + 1):
            fits = [
                fit(self.labels[target], tokens[start + i].form) for i, target in enumerate(targets)
            ]
            score = sum(fits) - (start in taken)
            if targets and min(fits) >= STEM and score > best[0]:
                best = (score, list(range(start, start + len(targets))))
        if best[1]:
            for node in (name, self.names[name], *targets):
                self.words[node] = tuple(best[1])

    def _align_words(self) -> None:
        """Give each node the word that fits best, the clearest cases first."""
        choices = []
        for order, node in enumerate(self.graph.nodes):
            if node.id in self.words or node.id in self.links or not node.label:
                continue
            if row := self._row(node.label):
                self.words[node.id] = row
                continue
            scores = {i: fit(node.label, t.form) for i, t in enumerate(self.graph.tokens)}
            best = max(scores.values(), default=0)
            if best:
                options = [i for i, score in scores.items() if score == best]
                choices.append((len(options) > 1, -best, order, node.id, options))
        used: dict[str, set[int]] = defaultdict(set)
        for _, _, _, node_id, options in sorted(choices):
            label = self.labels[node_id]
            free = [i for i in options if i not in used[label]] or options
            position = min(free, key=lambda i: (self._distance(node_id, i), i))
            self.words[node_id] = (position,)
            used[label].add(position)

    def _row(self, label: str) -> tuple[int, ...]:
        """Return the words in a row that a label of several words is (``at-last``)."""
        parts = [part for part in label.split("-") if not part.isdigit()]
        forms = [token.form.lower() for token in self.graph.tokens]
        for start in range(len(forms) - len(parts) + 1) if len(parts) > 1 else ():
            if all(fit(part, forms[start + i]) >= STEM for i, part in enumerate(parts)):
                return tuple(range(start, start + len(parts)))
        return ()

    def _distance(self, node_id: str, position: int) -> float:
        """Return how far a word is from those of the node's neighbors."""
        near = [
            min(abs(position - p) for p in self.words[other])
            for other in self.around[node_id]
            if other in self.words
        ]
        return sum(near) / len(near) if near else 0.0

    def _inherit(self) -> None:
        """Give nodes without a word those of a part of them, where such concepts have none."""
        for node in reversed(self.graph.nodes):
            if node.id in self.words or node.constant or node.id in self.links:
                continue
            if self.labels[node.id] not in _HOLDERS and not self.labels[node.id].endswith("-91"):
                continue
            parts = dict(reversed(self.below[node.id]))
            sources = [
                edge.source
                for edge in self.graph.edges
                if edge.target == node.id and edge.label.startswith("ARG")
                and attribute(edge.attributes, "inverted")
            ]  # fmt: skip
            options = [*sources, *(parts[role] for role in _INHERIT if role in parts)]
            found = next((self.words[option] for option in options if option in self.words), None)
            if found:
                self.words[node.id] = found
