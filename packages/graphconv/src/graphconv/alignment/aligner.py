"""Find the words of the nodes of one graph: by rules, then by what was learned."""

from __future__ import annotations

from collections import defaultdict

from graphconv.alignment.statistics import Near, Statistics, relation
from graphconv.alignment.words import STEM, fit, letters
from graphconv.graph import Graph, attribute
from graphconv.search.match import anchors_of

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
_SURE = 0.5
"""How probable a guess must be."""


class Aligner:
    """The words of a graph's nodes, as far as they are found; marks come first."""

    def __init__(self, graph: Graph, statistics: Statistics | None = None) -> None:
        self.graph = graph
        self.labels = {node.id: node.label or "" for node in graph.nodes}
        self.forms = [token.form for token in graph.tokens]
        self.statistics = statistics
        self.words: dict[str, tuple[int, ...]] = {}
        for node in graph.nodes:
            if marks := tuple(i for i in anchors_of(node) if i < len(self.forms)):
                self.words[node.id] = marks
        self.around: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self.below: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for edge in graph.edges:
            self.around[edge.source].append((relation(edge.label, True), edge.target))
            self.around[edge.target].append((relation(edge.label, False), edge.source))
            self.below[edge.source].append((edge.label, edge.target))
        self.links = links(graph)
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
        known = -1
        while known < len(self.words):  # What one finds can help the other.
            known = len(self.words)
            self._inherit()
            if self.statistics and known == len(self.words):
                self._guess(self.statistics)
        return {node.id: self.words[node.id] for node in self.graph.nodes if node.id in self.words}

    def _align_name(self, name: str) -> None:
        """Find the words of a name in a row, and give them to all that has the name."""
        parts = [(int(role[2:]), target) for role, target in self.below[name] if role[2:].isdigit()]
        targets = [target for _, target in sorted(parts)]
        if targets and all(target in self.words for target in targets):
            marked = {position for target in targets for position in self.words[target]}
            found = tuple(sorted(marked))
        else:
            labels = [self.labels[target] for target in targets]
            found = self._name_row(labels) or self._spelled("".join(labels))
        for node in (name, self.names[name], *targets) if found else ():
            self.words.setdefault(node, found)

    def _name_row(self, labels: list[str]) -> tuple[int, ...]:
        """Return the words in a row that are the parts of a name, one each."""
        taken = {p for positions in self.words.values() for p in positions}
        best, found = 0, range(0)
        for start in range(len(self.forms) - len(labels) + 1 if labels else 0):
            fits = [fit(label, self.forms[start + i]) for i, label in enumerate(labels)]
            score = sum(fits) - (start in taken)
            if min(fits) >= STEM and score > best:
                best, found = score, range(start, start + len(labels))
        return tuple(found)

    def _spelled(self, label: str) -> tuple[int, ...]:
        """Return the words in a row that spell a label together (``B``, ``-``, ``Raf``)."""
        wanted = letters(label)
        pieces = [(i, piece) for i, form in enumerate(self.forms) if (piece := letters(form))]
        for start in range(len(pieces)) if wanted else ():
            joined = ""
            for end in range(start, len(pieces)):
                joined += pieces[end][1]
                if joined == wanted:
                    return tuple(i for i, _ in pieces[start : end + 1])
                if not wanted.startswith(joined):
                    break
        return ()

    def _align_words(self) -> None:
        """Give each node the word that fits best, the clearest cases first."""
        choices = []
        for order, node in enumerate(self.graph.nodes):
            if node.id in self.words or node.id in self.links or not node.label:
                continue
            if row := self._row(node.label):
                self.words[node.id] = row
                continue
            scores = {i: fit(node.label, form) for i, form in enumerate(self.forms)}
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
        forms = self.forms
        for start in range(len(forms) - len(parts) + 1) if len(parts) > 1 else ():
            if all(fit(part, forms[start + i]) >= STEM for i, part in enumerate(parts)):
                return tuple(range(start, start + len(parts)))
        return ()

    def near(self, node_id: str) -> Near:
        """Return the aligned neighbors of a node."""
        return [(way, self.words[n]) for way, n in self.around[node_id] if n in self.words]

    def open_nodes(self) -> list[str]:
        """Return the nodes without a word that could have one, parts before wholes."""
        return [
            node.id
            for node in reversed(self.graph.nodes)
            if node.id not in self.words
            and node.id not in self.links
            and node.label
            and not node.label.startswith('"')
            and self.forms
        ]

    def candidates(self, near: Near) -> list[int]:
        """Return the words for a node without one: those that nothing has, and its neighbors'."""
        taken = {p for positions in self.words.values() for p in positions}
        taken.difference_update(p for _, positions in near for p in positions)
        return [i for i in range(len(self.forms)) if i not in taken]

    def _distance(self, node_id: str, position: int) -> float:
        """Return how far a word is from where the node's neighbors let expect it."""
        near = self.near(node_id)
        if self.statistics:
            return self.statistics.distance(self.labels[node_id], near, position)
        spans = [min(abs(position - p) for p in positions) for _, positions in near]
        return sum(spans) / len(spans) if spans else 0.0

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

    def _guess(self, statistics: Statistics) -> None:
        """Give nodes without a word one that is likelier than all others and none together."""
        for node_id in self.open_nodes():
            near = self.near(node_id)
            label, candidates = self.labels[node_id], self.candidates(near)
            found = statistics.likely(label, self.forms, candidates, near)
            best, share = max(found.items(), key=lambda item: item[1])
            if best is not None and share > _SURE:
                self.words[node_id] = next((w for _, w in near if best in w), (best,))


def links(graph: Graph) -> frozenset[str]:
    """Return the links to Wikipedia, which have no words."""
    return frozenset(edge.target for edge in graph.edges if edge.label == "wiki")
