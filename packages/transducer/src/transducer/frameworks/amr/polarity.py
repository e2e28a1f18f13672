"""Negation: rules read off the training data say which roleset gets ``:polarity -``.

A rule fires on a cue word ("not", "never") or prefix ("un-") and picks a concept that a word nearby
stands for; which cues mean a negation, and at which distance its roleset stands, are counts. The
model learns negations as well; the rules add what it left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from graphconv.graph import Edge, Graph, Node, Token
from transducer.frameworks.amr.senses import stem
from transducer.frameworks.amr.structure import fresh_constants

POLARITY = "polarity"
NEGATIVE = "-"
_WINDOW = range(-2, 7)
_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis")
_MIN_COUNT = 3
_RELIABLE = 0.5
_MEANINGFUL = 0.7
# A rule counts as tried this many times more, and wrong: what was seen thrice may be chance.
_PRIOR = 1

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
        for _, rule, node_id in firings:
            tries[rule] += 1
            hits[rule] += node_id in negated
        for cue in {_cue(rule) for _, rule, _ in firings}:
            cues[cue] += 1
            negations[cue] += bool(negated)
    rates = {rule: hits[rule] / (count + _PRIOR) for rule, count in sorted(tries.items())}
    return {
        rule: round(rate, 4)
        for rule, rate in rates.items()
        if tries[rule] >= _MIN_COUNT
        and rate >= _RELIABLE
        and negations[_cue(rule)] >= _MEANINGFUL * cues[_cue(rule)]
    }


def _cue(rule: str) -> str:
    return rule.partition(" ")[0]


def find_negated(
    tokens: Sequence[Token], graph: Graph, rules: Mapping[str, float], lemma: Lemma
) -> set[str]:
    """Return the nodes that the rules negate: per cue the one with the best rule.

    A cue near a polarity of the graph has done its work, and negates nothing more.
    """
    present = {edge.source for edge in graph.edges if edge.label == POLARITY}
    best: dict[int, tuple[float, str]] = {}
    used: set[int] = set()
    for place, rule, node_id in _firings(tokens, graph, lemma):
        if node_id in present:
            used.add(place)
        if rules.get(rule, 0.0) > best.get(place, (0.0, ""))[0]:
            best[place] = (rules[rule], node_id)
    return {node_id for place, (_, node_id) in best.items() if place not in used}


def restore_polarity(
    graph: Graph, tokens: Sequence[Token], rules: Mapping[str, float], lemma: Lemma
) -> Graph:
    """Add ``:polarity -`` where a rule says so and there is none."""
    ids = fresh_constants(graph)
    nodes, edges = [], []
    for node_id in sorted(find_negated(tokens, graph, rules, lemma)):
        nodes.append(Node(next(ids), NEGATIVE, constant=True))
        edges.append(Edge(node_id, nodes[-1].id, POLARITY))
    return replace(graph, nodes=graph.nodes + tuple(nodes), edges=graph.edges + tuple(edges))


def _firings(tokens: Sequence[Token], graph: Graph, lemma: Lemma) -> Iterator[tuple[int, str, str]]:
    """Yield (place of the cue, rule, node) for each concept that a word near a cue stands for.

    By distance only rolesets: "not" beside a thing mostly negates what is said of it.
    """
    by_stem: dict[str, str] = {}
    rolesets: dict[str, str] = {}
    for node in graph.nodes:
        if not node.constant and node.label is not None:
            bare = stem(node.label)
            if by_stem.setdefault(bare, node.id) == node.id and bare != node.label:
                rolesets[bare] = node.id
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
                    yield position, f"{prefix}-", node_id
        for distance in _WINDOW:
            other = position + distance
            if distance and 0 <= other < len(tokens) and lemmas[other] in rolesets:
                yield position, f"{cue} {distance}", rolesets[lemmas[other]]


def _negated(graph: Graph) -> set[str]:
    """Return the nodes that are negated; what is asked about (``amr-unknown``) is not."""
    constants = {node.id for node in graph.nodes if node.constant and node.label == NEGATIVE}
    return {e.source for e in graph.edges if e.label == POLARITY and e.target in constants}
