"""Which node of the claim stands for which of the source: the alignment that agrees most, proved.

What agrees is weighed: a concept or a name more than a relation, so that in *the man bit the dog*
and *the dog bit the man* the dogs are paired, and not the biters.
"""

from __future__ import annotations

from typing import NamedTuple

from evaltools.amr_triples import Triple, Triples
from evaltools.entailment.statements import Statements
from evaltools.entailment.tables import OPPOSITES
from evaltools.smatch.alignment import Settings, align
from evaltools.smatch.problem import FREE

_CONCEPT, _NAME, _DESCRIPTION, _EDGE = 4, 3, 3, 2


class Match(NamedTuple):
    """The pairs of an alignment."""

    pairs: dict[str, str]
    """The node of the source for nodes of the claim."""
    value: int
    """How much agrees."""
    certified: bool


def match(claim: Statements, source: Statements, time_limit: float | None = None) -> Match:
    """Align the nodes of two graphs."""
    opposites = _shared_opposites(claim, source)
    left, right = _triples(claim, opposites), _triples(source, opposites)
    found = align(left, right, Settings(None, 0, time_limit))
    pairs = {
        left.variables[row]: right.variables[column]
        for row, column in enumerate(found.columns)
        if column != FREE
    }
    return Match(pairs, found.counts.match, found.counts.match == found.bound)


def _shared_opposites(claim: Statements, source: Statements) -> list[frozenset[str]]:
    sides = set(claim.concepts.values()), set(source.concepts.values())
    pairs = [pair for pair in OPPOSITES if pair & sides[0] and pair & sides[1]]
    return sorted(pairs, key=sorted)


def _triples(found: Statements, opposites: list[frozenset[str]]) -> Triples:
    numbers = {node: number for number, node in enumerate(found.concepts)}
    items: set[Triple] = set()
    for node, number in numbers.items():
        concept = found.concepts[node]
        if concept:
            items |= {(number, f"/{copy}", concept) for copy in range(_CONCEPT)}
            for place, pair in enumerate(opposites):
                if concept in pair:
                    items.add((number, "//", str(place)))
        if node in found.negated:
            items.add((number, "polarity", "-"))
        for part in found.names.get(node, ()):
            items |= {(number, f"name{copy}", part) for copy in range(_NAME)}
        if node in found.wiki:
            items |= {(number, f"wiki{copy}", found.wiki[node]) for copy in range(_NAME)}
        for part, value in found.dates.get(node, {}).items():
            items.add((number, f"date {part}", str(value)))
    for (node, role), quantity in found.quantities.items():
        if node in numbers:
            items.add((numbers[node], f"quantity {role}", str(quantity)))
    for fact in found.facts:
        target = fact.target if fact.is_value else numbers[fact.target]
        # What a thing is (the one *who teaches*) tells more than what happens to it.
        copies = range(_DESCRIPTION if fact.turned else _EDGE)
        items |= {(numbers[fact.source], f"{fact.role} {copy}", target) for copy in copies}
    return Triples(tuple(numbers), frozenset(items))
