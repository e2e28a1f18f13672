"""Negation: rules read off the training data say which concept gets ``:polarity -``.

A rule fires on a cue word ("not", "never") or prefix ("un-") and picks a concept that a word nearby
stands for; which cues mean a negation, and at which distance its concept stands, are counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from graphconv.graph import Edge, Graph, Node, Token
from transducer.amr.senses import stem
from transducer.amr.structure import fresh_constants

POLARITY = "polarity"
NEGATIVE = "-"
_WINDOW = range(-2, 7)
_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis")
_MIN_COUNT = 3
_RELIABLE = 0.5
_MEANINGFUL = 0.7

Lemma = Callable[[Token], str]
"""What a token is called in the graph."""


def learn_polarity(
    pairs: Iterable[tuple[Sequence[Token], Graph]], lemma: Lemma
) -> dict[str, float]:
    """Return how often each rule is right, for the rules that are right at least half of the time.

    A rule is "cue distance" or "prefix-". The cue must also mean that there is a negation at all:
    "did" is near one often enough, but only because "not" is.
    """
    tries: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    cues: Counter[str] = Counter()
    negations: Counter[str] = Counter()
    for tokens, graph in pairs:
        negated = _negated(graph)
        firings = list(_firings(tokens, graph, lemma))
        for rule, node_id in firings:
            tries[rule] += 1
            hits[rule] += node_id in negated
        for cue in {_cue(rule) for rule, _ in firings}:
            cues[cue] += 1
            negations[cue] += bool(negated)
    return {
        rule: round(hits[rule] / count, 4)
        for rule, count in sorted(tries.items())
        if count >= _MIN_COUNT
        and hits[rule] >= _RELIABLE * count
        and negations[_cue(rule)] >= _MEANINGFUL * cues[_cue(rule)]
    }


def _cue(rule: str) -> str:
    return rule.partition(" ")[0]


def find_negated(
    tokens: Sequence[Token], graph: Graph, rules: Mapping[str, float], lemma: Lemma
) -> set[str]:
    """Return the nodes that the rules negate: per cue the one with the best rule."""
    best: dict[str, tuple[float, str]] = {}
    for rule, node_id in _firings(tokens, graph, lemma):
        cue = _cue(rule)
        if rules.get(rule, 0.0) > best.get(cue, (0.0, ""))[0]:
            best[cue] = (rules[rule], node_id)
    return {node_id for _, node_id in best.values()}


def remove_polarity(
    graph: Graph, tokens: Sequence[Token], rules: Mapping[str, float], lemma: Lemma
) -> Graph:
    """Remove the negations that the rules add again."""
    restored = find_negated(tokens, _without(graph, set(_negated(graph).values())), rules, lemma)
    dropped = {target for source, target in _negated(graph).items() if source in restored}
    return _without(graph, dropped)


def restore_polarity(
    graph: Graph, tokens: Sequence[Token], rules: Mapping[str, float], lemma: Lemma
) -> Graph:
    """Add ``:polarity -`` where a rule says so and there is none."""
    present = {edge.source for edge in graph.edges if edge.label == POLARITY}
    ids = fresh_constants(graph)
    nodes, edges = [], []
    bare = _without(graph, set(_negated(graph).values()))
    for node_id in sorted(find_negated(tokens, bare, rules, lemma) - present):
        nodes.append(Node(next(ids), NEGATIVE, constant=True))
        edges.append(Edge(node_id, nodes[-1].id, POLARITY))
    return replace(graph, nodes=graph.nodes + tuple(nodes), edges=graph.edges + tuple(edges))


def _firings(tokens: Sequence[Token], graph: Graph, lemma: Lemma) -> Iterable[tuple[str, str]]:
    """Yield (rule, node) for every word near which some word of the graph stands."""
    by_stem: dict[str, str] = {}
    for node in graph.nodes:
        if not node.constant and node.label is not None:
            by_stem.setdefault(stem(node.label), node.id)
    lemmas = [lemma(token) for token in tokens]
    for position, token in enumerate(tokens):
        cue = token.form.lower()
        if not cue.strip("'’").isalnum() and cue not in ("n't", "n’t"):
            continue
        for prefix in _PREFIXES:
            rest = cue.removeprefix(prefix)
            if rest != cue and len(rest) > 2:
                node_id = by_stem.get(lemma(Token(rest)))
                if node_id is not None:
                    yield f"{prefix}-", node_id
        for distance in _WINDOW:
            other = position + distance
            if distance and 0 <= other < len(tokens) and lemmas[other] in by_stem:
                yield f"{cue} {distance}", by_stem[lemmas[other]]


def _negated(graph: Graph) -> dict[str, str]:
    """Return the negated nodes, each with its constant."""
    constants = {node.id for node in graph.nodes if node.constant and node.label == NEGATIVE}
    return {
        edge.source: edge.target
        for edge in graph.edges
        if edge.label == POLARITY and edge.target in constants
    }


def _without(graph: Graph, dropped: set[str]) -> Graph:
    return replace(
        graph,
        nodes=tuple(node for node in graph.nodes if node.id not in dropped),
        edges=tuple(edge for edge in graph.edges if edge.target not in dropped),
    )
