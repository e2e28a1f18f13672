"""The fine-grained AMR scores of Damonte et al. (2017), on exact Smatch.

============  =====================================================================================
score         what is compared
============  =====================================================================================
Unlabeled     Smatch with all roles alike; edges in their written direction, as in the original
No WSD        Smatch with all senses (``-01``) alike
Reentrancies  Smatch on the edges into nodes with several incoming edges, and the nodes they touch
Concepts      the concepts, as often as they occur
Named Ent.    the concepts of nodes that have a ``:name``
Wikification  the values of ``:wiki``, ``-`` included
Negation      the concepts of nodes that have a ``:polarity``
SRL           Smatch on the edges with ``:ARG`` roles and the nodes they touch
============  =====================================================================================
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

from evaltools.amr_triples import INSTANCE, TOP, Triple, Triples
from evaltools.counts import Counts
from evaltools.smatch.alignment import Settings, align
from graphconv.graph import Edge, Graph, attribute

TriplesOf = Callable[[Graph], Triples]

_SENSE = re.compile(r"-[0-9]+$")


def fine_grained_counts(
    gold: Graph, pred: Graph | None, triples_of: TriplesOf, settings: Settings
) -> tuple[dict[str, Counts], int]:
    """Return the counts of each score, and the sum of their matches if each search is the best."""
    counts: dict[str, Counts] = {}
    bound = 0
    plain = triples_of(gold), triples_of(pred) if pred else Triples((), frozenset())
    unlabeled = triples_of(_unlabeled(gold)), triples_of(_unlabeled(pred)) if pred else plain[1]
    for name, view in _VIEWS.items():
        sides = unlabeled if name == "Unlabeled" else plain
        found = align(view(sides[0]), view(sides[1]), settings)
        counts[name] = found.counts
        bound += found.bound
    for name, items in _ITEMS.items():
        one, two = (Counter(items(side)) for side in plain)
        match = (one & two).total()
        counts[name] = Counts(one.total(), two.total(), match)
        bound += match
    return {name: counts[name] for name in NAMES}, bound


NAMES = (
    "Unlabeled",
    "No WSD",
    "Reentrancies",
    "Concepts",
    "Named Ent.",
    "Wikification",
    "Negation",
    "SRL",
)
"""The scores, in the order of the paper's table."""


def _unlabeled(graph: Graph) -> Graph:
    """Give all edges the same role, in the direction in which they are written."""
    edges = (
        Edge(edge.target, edge.source, "label")
        if attribute(edge.attributes, "inverted")
        else Edge(edge.source, edge.target, "label")
        for edge in graph.edges
    )
    return Graph(graph.id, graph.framework, nodes=graph.nodes, edges=tuple(edges), tops=graph.tops)


def _without_senses(triples: Triples) -> Triples:
    return triples._replace(
        items=frozenset(
            (source, role, _SENSE.sub("-01", target))
            if role == INSTANCE and isinstance(target, str)
            else (source, role, target)
            for source, role, target in triples.items
        )
    )


def _reentrancies(triples: Triples) -> Triples:
    edges = [t for t in triples.items if isinstance(t[2], int)]
    parents = Counter(target for _, _, target in edges)
    return _part(triples, (edge for edge in edges if parents[edge[2]] > 1))


def _arguments(triples: Triples) -> Triples:
    return _part(triples, (t for t in triples.items if t[1].startswith("arg")))


def _part(triples: Triples, chosen: Iterable[Triple]) -> Triples:
    """Return some edges, the concepts of the nodes they touch, and the first node as top."""
    items = set(chosen)
    touched = {term for source, _, target in items for term in (source, target)}
    concepts = {s: t for s, role, t in triples.items if role == INSTANCE and s in touched}
    items.update((variable, INSTANCE, concept) for variable, concept in concepts.items())
    first = min((term for term in touched if isinstance(term, int)), default=None)
    # A root that is a constant has no number to replace; what its top says is the profile's affair.
    tops = [target for _, role, target in triples.items if role == TOP]
    if first is not None and tops:
        items.add((first, TOP, "top" if tops[0] == "top" else concepts.get(first, "top")))
    return triples._replace(items=frozenset(items))


def _concepts(triples: Triples) -> list[str]:
    return [str(target) for _, role, target in triples.items if role == INSTANCE]


def _concepts_with(role: str) -> Callable[[Triples], list[str]]:
    def items(triples: Triples) -> list[str]:
        concepts = {s: str(t) for s, r, t in triples.items if r == INSTANCE}
        return [concepts[s] for s, r, _ in triples.items if r == role and s in concepts]

    return items


def _wiki(triples: Triples) -> list[str]:
    return [str(target) for _, role, target in triples.items if role == "wiki"]


_VIEWS: dict[str, Callable[[Triples], Triples]] = {
    "Unlabeled": lambda triples: triples,
    "No WSD": _without_senses,
    "Reentrancies": _reentrancies,
    "SRL": _arguments,
}

_ITEMS: dict[str, Callable[[Triples], list[str]]] = {
    "Concepts": _concepts,
    "Named Ent.": _concepts_with("name"),
    "Wikification": _wiki,
    "Negation": _concepts_with("polarity"),
}
