"""What a graph says to be the case, and what it only mentions: wishes, reports, conditions.

The *context* of a node is the set of nodes that stand between it and the assertion of the text. It
is empty for what is asserted. Factive and implicative predicates are transparent, some of them turn
what they embed into its negation; all others are opaque.

>>> from graphconv import loads
>>> from evaltools.entailment.statements import statements
>>> [graph] = loads("(w / want-01 :ARG1 (f / forget-01 :ARG1 (g / go-02 :ARG0 (b / boy))))")
>>> found = contexts(statements(graph))
>>> found.around["g"], found.negative
(frozenset({'w'}), {'g'})
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from evaltools.entailment.statements import Fact, Statements, is_frame, lemma
from evaltools.entailment.tables import (
    ALMOST,
    BLOCKED,
    FACTIVE,
    IMPLICATIVE,
    REVERSING,
    UNREAL_ROLES,
)

_QUESTION = "amr-unknown"


class Contexts(NamedTuple):
    """The contexts of the nodes of one graph."""

    around: dict[str, frozenset[str]]
    """By node: other nodes, and the modes ``interrogative`` and ``imperative``."""
    negative: set[str]
    """The nodes that are said not to hold, by a negation or by what embeds them."""
    embedders: dict[str, list[str]]
    """For each node the predicates that it is an argument of."""


def contexts(found: Statements) -> Contexts:
    """Return the context of every node that says that something is the case."""
    embedders: dict[str, list[str]] = defaultdict(list)
    own: dict[str, set[str]] = defaultdict(set)
    for fact in found.facts:
        if fact.is_value:
            continue
        if fact.role in UNREAL_ROLES:
            own[fact.target].add(fact.source)
            if fact.role == "condition":
                own[fact.source].add(fact.target)
        elif found.concepts[fact.target] in ALMOST:
            own[fact.source].add(fact.target)
        elif found.concepts[fact.target] == _QUESTION:
            own[fact.source].add("interrogative")
        elif found.concepts[fact.source] == "or" and fact.role.startswith("op"):
            own[fact.target].add(fact.source)
        elif _embeds(fact, found):
            embedders[fact.target].append(fact.source)
    for node, mode in found.modes.items():
        own[node].add(mode)
    around: dict[str, frozenset[str]] = {}
    negative: set[str] = set()
    for node in found.concepts:
        _climb(node, own, found, Contexts(around, negative, embedders))
    return Contexts(around, negative, embedders)


def _embeds(fact: Fact, found: Statements) -> bool:
    """Say whether a fact makes its target part of what its source is about."""
    above = found.concepts[fact.source]
    if fact.target not in found.predicates or not fact.role.startswith(("ARG", "PAT", "arg")):
        return False
    if above.endswith("-91"):
        return False
    return is_frame(above) or fact.source in found.predicates


def _climb(start: str, own: dict[str, set[str]], found: Statements, known: Contexts) -> None:
    """Find the context of *start*, and first those of what is above it."""
    around, negative, embedders = known
    path = [start]
    while path:
        node = path[-1]
        above = [] if node in found.tops else embedders[node]
        waiting = [other for other in above if other not in around and other not in path]
        if node not in around and waiting:
            path.append(waiting[0])
            continue
        path.pop()
        if node in around:
            continue
        # Where several predicates embed it, the one that says most about it counts.
        ways = [_through(p, found, known) for p in above if p in around]
        context, sign = min(ways, key=lambda way: len(way[0])) if ways else (frozenset(), False)
        around[node] = context | own[node]
        if sign != (node in found.negated):
            negative.add(node)


def _through(embedder: str, found: Statements, known: Contexts) -> tuple[frozenset[str], bool]:
    """Return the context that an embedder gives, and whether it negates what is below."""
    word, denied = lemma(found.concepts[embedder]), embedder in known.negative
    context = known.around[embedder]
    if word in FACTIVE:
        return context, False
    if word in IMPLICATIVE:
        return context, denied
    if word in REVERSING:
        return context, not denied
    if word in BLOCKED and denied:
        return context, True
    return context | {embedder}, False
