"""Finding a pattern in a graph: every mapping of its nodes, none of them twice.

A *hit* maps each node of the pattern to a node of the graph, different ones to different ones, so
that labels, words and tops are as demanded, and each edge of the pattern is an edge of the graph
between the same nodes (a path: one or more such edges in a row). Then no negated part can be added,
and every optional part that can be added is, in every way.

The search takes the node with the fewest candidates first and goes on along the edges. A time
limit bounds each graph; a search that was broken off says so.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from graphconv.frameworks import FRAMEWORKS, Nodes, framework
from graphconv.graph import Edge, Graph, Node, attribute, split_categories
from graphconv.search.pattern import Demand, Group, Pattern, PatternEdge, PatternNode, WordDemand

Binding = Mapping[int, int]
"""Number of the pattern's node -> number of the graph's node."""


class Hit(NamedTuple):
    """One way to find a pattern in a graph."""

    nodes: tuple[tuple[str, str], ...]
    """(name in the pattern or empty, id in the graph), in the order of the pattern."""
    edges: tuple[int, ...]
    """The edges of the graph that it needs, by their places; those of paths included."""


class Found(NamedTuple):
    """The hits in one graph, and whether these are all."""

    hits: tuple[Hit, ...]
    complete: bool


class _TimeUpError(Exception):
    pass


def find(pattern: Pattern, graph: Graph, *, time_limit: float = 10.0) -> Found:
    """Return every hit of *pattern* in *graph*, in the order of the graph's nodes."""
    search = _Search(pattern, graph, time_limit)
    found: dict[tuple[tuple[int, int], ...], Hit] = {}
    try:
        for binding in search.solutions(pattern.body, {}):
            key = tuple(sorted(binding.items()))
            if key not in found:
                found[key] = search.hit(binding)
    except _TimeUpError:
        return Found(tuple(found[key] for key in sorted(found)), False)
    return Found(tuple(found[key] for key in sorted(found)), True)


def names_of(graph: Graph) -> list[tuple[str, ...]]:
    """Return what each node is called in a pattern.

    AMR and EDS: its label (a string with and without its quotes). DM, PAS and PSD: lemma and form
    of its token. UCCA: the categories of its edges that are not remote; ``ROOT`` for the top.
    """
    nodes = framework(graph.framework, graph.id).nodes
    if nodes is Nodes.UNIT:
        categories: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
        for edge in graph.edges:
            if not edge.remote:
                categories[edge.target] += split_categories(edge.label)
        for top in graph.tops:
            categories[top].append("ROOT")
        return [tuple(dict.fromkeys(categories[node.id])) for node in graph.nodes]
    if nodes is Nodes.TOKEN:
        tokens = [graph.tokens[node.anchors[0]] if node.anchors else None for node in graph.nodes]
        return [
            tuple(dict.fromkeys(n for n in (token.lemma, token.form) if n)) if token else ()
            for token in tokens
        ]
    return [_labels(node) for node in graph.nodes]


def roles_of(edge: Edge, graph: Graph) -> tuple[str, ...]:
    """Return what an edge is called in a pattern: its label, in UCCA each of its categories."""
    if FRAMEWORKS[graph.framework].has_categories:
        return split_categories(edge.label)
    return (edge.label,)


def anchors_of(node: Node) -> tuple[int, ...]:
    """Return the token positions of a node; AMR has them in its alignment.

    >>> anchors_of(Node("b", "boy", attributes=(("alignment", "e.2,3"),)))
    (2, 3)
    """
    if node.anchors:
        return node.anchors
    marks = str(attribute(node.attributes, "alignment", "")).rpartition(".")[2]
    return tuple(
        int(mark)
        for mark in marks.lstrip("abcdefghijklmnopqrstuvwxyz").split(",")
        if mark.isdigit()
    )


def _labels(node: Node) -> tuple[str, ...]:
    label = node.label or ""
    if node.constant and len(label) > 1 and label.startswith('"'):
        return (label, label[1:-1])
    return (label,)


class _Search:
    def __init__(self, pattern: Pattern, graph: Graph, time_limit: float) -> None:
        self.pattern = pattern
        self.graph = graph
        self.deadline = time.monotonic() + time_limit
        self.steps = 0
        numbers = {node.id: i for i, node in enumerate(graph.nodes)}
        self.ends = [(numbers[e.source], numbers[e.target]) for e in graph.edges]
        self.names = names_of(graph)
        self.candidates: dict[int, frozenset[int]] = {}
        self.reached: dict[tuple[int, bool, int], frozenset[int]] = {}
        self.around: list[list[tuple[int, bool]]] = [[] for _ in graph.nodes]
        for i, (source, target) in enumerate(self.ends):
            self.around[source].append((i, True))
            self.around[target].append((i, False))

    def solutions(self, group: Group, binding: dict[int, int]) -> Iterator[dict[int, int]]:
        """Yield every way to add a group to what is bound already."""
        for found in self._bound(group, [n for n in group.nodes if n not in binding], binding):
            if not any(self._has(negation, found) for negation in group.negations):
                yield from self._extended(group.options, found)

    def _has(self, group: Group, binding: dict[int, int]) -> bool:
        return next(self.solutions(group, binding), None) is not None

    def _extended(self, options: list[Group], binding: dict[int, int]) -> Iterator[dict[int, int]]:
        if not options:
            yield binding
            return
        nothing = True
        for found in self.solutions(options[0], binding):
            nothing = False
            yield from self._extended(options[1:], found)
        if nothing:
            yield from self._extended(options[1:], binding)

    def _bound(
        self, group: Group, free: list[int], binding: dict[int, int]
    ) -> Iterator[dict[int, int]]:
        self.steps += 1
        if self.steps % 64 == 0 and time.monotonic() > self.deadline:
            raise _TimeUpError
        if not free:
            if all(self._holds(edge, binding) for edge in group.edges):
                yield binding
            return
        taken = set(binding.values())
        options = {number: self._possible(group, number, binding) - taken for number in free}
        # The rarest first, but along the edges, where that is known to be rare.
        number = min(free, key=lambda n: len(options[n]))
        rest = [n for n in free if n != number]
        for candidate in sorted(options[number]):
            yield from self._bound(group, rest, {**binding, number: candidate})

    def _possible(self, group: Group, number: int, binding: Binding) -> frozenset[int]:
        """Return the nodes of the graph that fit one of the pattern and the edges bound so far."""
        result = self._fitting(number)
        for edge in group.edges:
            if edge.source == number and edge.target in binding:
                result &= self._reach(edge, False, binding[edge.target])
            elif edge.target == number and edge.source in binding:
                result &= self._reach(edge, True, binding[edge.source])
        return result

    def _fitting(self, number: int) -> frozenset[int]:
        if number not in self.candidates:
            wanted = self.pattern.nodes[number]
            self.candidates[number] = frozenset(
                i for i in range(len(self.graph.nodes)) if self._fits(wanted, i)
            )
        return self.candidates[number]

    def _fits(self, wanted: PatternNode, number: int) -> bool:
        node = self.graph.nodes[number]
        if wanted.top and node.id not in self.graph.tops:
            return False
        if wanted.label is not None and not _passes(wanted.label, self.names[number]):
            return False
        return all(self._has_word(word, node) for word in wanted.words)

    def _has_word(self, word: WordDemand, node: Node) -> bool:
        tokens = [self.graph.tokens[a] for a in anchors_of(node) if a < len(self.graph.tokens)]
        values = [
            getattr(token, word.field, None)
            if word.field in ("form", "lemma", "pos")
            else attribute(token.features, word.field)
            for token in tokens
        ]
        texts = tuple(str(value) for value in values if value is not None)
        return bool(texts) and _passes(word.test, texts)

    def _holds(self, edge: PatternEdge, binding: Binding) -> bool:
        return binding[edge.target] in self._reach(edge, True, binding[edge.source])

    def _reach(self, edge: PatternEdge, forward: bool, start: int) -> frozenset[int]:
        """Return the nodes at the other end of an edge, or of a path."""
        key = (id(edge), forward, start)
        if key not in self.reached:
            reached = set(self._step(edge, forward, start))
            todo = list(reached) if edge.path else []
            while todo:
                for node in self._step(edge, forward, todo.pop()):
                    if node not in reached:
                        reached.add(node)
                        todo.append(node)
            self.reached[key] = frozenset(reached)
        return self.reached[key]

    def _step(self, edge: PatternEdge, forward: bool, start: int) -> Iterator[int]:
        for number in self._edges_at(edge, forward, start):
            source, target = self.ends[number]
            yield target if source == start else source

    def _edges_at(self, edge: PatternEdge, forward: bool, start: int) -> Iterator[int]:
        """Yield the edges at a node that a pattern's edge may be."""
        for number, leaves in self.around[start]:
            roles = roles_of(self.graph.edges[number], self.graph)
            if (leaves == forward and _passes(edge.role, roles)) or (
                leaves != forward and edge.inverse is not None and _passes(edge.inverse, roles)
            ):
                yield number

    def hit(self, binding: Binding) -> Hit:
        """Return what a binding means in the graph."""
        nodes = tuple(
            (self.pattern.nodes[n].name, self.graph.nodes[binding[n]].id) for n in sorted(binding)
        )
        edges: set[int] = set()
        for edge in _edges(self.pattern.body):
            if edge.source in binding and edge.target in binding:
                edges.update(self._between(edge, binding[edge.source], binding[edge.target]))
        return Hit(nodes, tuple(sorted(edges)))

    def _between(self, edge: PatternEdge, start: int, end: int) -> Iterator[int]:
        """Yield the graph's edges that an edge of the pattern is, or those of a shortest path."""
        if not edge.path:
            for number in self._edges_at(edge, True, start):
                if set(self.ends[number]) == {start, end}:
                    yield number
            return
        came: dict[int, tuple[int, int]] = {}
        layer = [start]
        while layer and end not in came:
            following = []
            for node in layer:
                for number in self._edges_at(edge, True, node):
                    source, target = self.ends[number]
                    other = target if source == node else source
                    if other not in came:
                        came[other] = (node, number)
                        following.append(other)
            layer = following
        node = end
        while node in came:
            node, number = came[node]
            yield number
            if node == start:
                return


def _edges(group: Group) -> Iterator[PatternEdge]:
    yield from group.edges
    for option in group.options:
        yield from _edges(option)


def _passes(test: Demand, texts: tuple[str, ...]) -> bool:
    """Say whether one of the texts passes; what is negated must not be any of them."""
    if test.negated:
        return all(test.passes(text) for text in texts)
    return any(test.passes(text) for text in texts)
