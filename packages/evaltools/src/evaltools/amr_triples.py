"""The triples that Smatch compares, by profile.

A graph is a set of triples over its variables, which are numbers here; a constant is a string. So
a duplicate triple counts once, and a triple whose *source* is a constant (``:polarity-of -``) is
kept.

>>> from graphconv.graph import Edge, Graph, Node
>>> graph = Graph(
...     id="1",
...     framework="amr",
...     nodes=(Node("w", "Want-01"), Node("b", "boy"), Node(":0", '"-"', constant=True)),
...     edges=(Edge("w", "b", "mod"), Edge("w", ":0", "polarity")),
...     tops=("w",),
... )
>>> sorted(smatch_triples(graph).items, key=str)
[(0, '/', 'want-01'), (0, 'TOP', 'top'), (0, 'polarity', '-'), (1, '/', 'boy'), (1, 'domain', 0)]
>>> sorted(smatchpp_triples(graph).items, key=str)
[(0, '/', 'want-01'), (0, 'TOP', 'want-01'), (0, 'mod', 1), (0, 'polarity', '-'), (1, '/', 'boy')]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from graphconv.graph import Edge, Graph, attribute

Term = int | str
"""A variable (its number) or a constant."""

Triple = tuple[Term, str, Term]
"""Source, role, target; roles are in lower case, so INSTANCE and TOP are not among them."""

INSTANCE = "/"
TOP = "TOP"


class Triples(NamedTuple):
    """One graph as Smatch sees it."""

    variables: tuple[str, ...]
    """The node ids behind the numbers."""
    items: frozenset[Triple]


# smatch 1.0.4 takes these three for plain roles and every other "-of" for an inversion.
_SMATCH_PLAIN = frozenset({"consist-of", "prep-on-behalf-of", "prep-out-of"})

# concept: (role, argument that is its source, argument that is its target); the reifications of
# the AMR guidelines that name one relation each.
REIFICATIONS = {
    "accompany-01": ("accompanier", "arg1", "arg0"),
    "age-01": ("age", "arg1", "arg2"),
    "be-destined-for-91": ("destination", "arg1", "arg2"),
    "be-from-91": ("source", "arg1", "arg2"),
    "be-located-at-91": ("location", "arg1", "arg2"),
    "be-temporally-at-91": ("time", "arg1", "arg2"),
    "benefit-01": ("beneficiary", "arg0", "arg1"),
    "concern-02": ("topic", "arg0", "arg1"),
    "exemplify-01": ("example", "arg1", "arg0"),
    "have-concession-91": ("concession", "arg1", "arg2"),
    "have-condition-91": ("condition", "arg1", "arg2"),
    "have-degree-91": ("degree", "arg1", "arg2"),
    "have-extent-91": ("extent", "arg1", "arg2"),
    "have-frequency-91": ("frequency", "arg1", "arg2"),
    "have-instrument-91": ("instrument", "arg1", "arg2"),
    "have-li-91": ("li", "arg1", "arg2"),
    "have-manner-91": ("manner", "arg1", "arg2"),
    "have-mod-91": ("mod", "arg1", "arg2"),
    "have-name-91": ("name", "arg1", "arg2"),
    "have-ord-91": ("ord", "arg1", "arg2"),
    "have-part-91": ("part", "arg1", "arg2"),
    "have-polarity-91": ("polarity", "arg1", "arg2"),
    "have-purpose-91": ("purpose", "arg1", "arg2"),
    "have-quant-91": ("quant", "arg1", "arg2"),
    "have-subevent-91": ("subevent", "arg1", "arg2"),
    "have-value-91": ("value", "arg1", "arg2"),
    "last-01": ("duration", "arg1", "arg2"),
    "own-01": ("poss", "arg1", "arg0"),
}


class _Way(NamedTuple):
    """How a profile reads a graph."""

    text: Callable[[str], str]
    direction: Callable[[Term, str, Term], Triple]
    standardized: bool = False
    """Whether TOP has the root's concept, and reifications are undone."""


def smatch_triples(graph: Graph) -> Triples:
    """Return the triples of smatch 1.0.4, less its bugs: TOP is a constant, no triple is lost."""
    return _triples(graph, _WAYS["smatch-1.0.4"])


def smatchpp_triples(graph: Graph) -> Triples:
    """Return the triples of Smatch++ for AMR: TOP is the root's concept, reifications undone."""
    triples = _triples(graph, _WAYS["smatchpp-amr"])
    items, undone = _standardized(triples.items)
    removed = {triple for replaced in undone.values() for triple in replaced}
    return Triples(triples.variables, frozenset((items - removed) | undone.keys()))


PROFILES: dict[str, Callable[[Graph], Triples]] = {
    "smatch-1.0.4": smatch_triples,
    "smatchpp-amr": smatchpp_triples,
}
"""The triples by the name of the profile."""


def origins(graph: Graph, profile: str) -> dict[Triple, tuple[set[str], set[int]]]:
    """Return the triples of a graph, each with the nodes and the edges (by number) that make it.

    The one of TOP has none.
    """
    way = _WAYS[profile]
    terms, _ = _terms(graph, way.text)
    found: dict[Triple, tuple[set[str], set[int]]] = {}
    for node in graph.nodes:
        if not node.constant and node.label is not None:
            found[_instance(terms[node.id], node.label, way.text)] = {node.id}, set()
    for top in graph.tops[:1]:
        found[terms[top], TOP, "top"] = set(), set()
    for number, edge in enumerate(graph.edges):
        found.setdefault(_relation(edge, terms, way), (set(), set()))[1].add(number)
    if not way.standardized:
        return found
    items, undone = _standardized(found)
    renamed = {triple: found.get(triple, (set(), set())) for triple in items}
    for new, replaced in undone.items():
        nodes, edges = renamed.get(new, (set(), set()))
        for triple in replaced:
            nodes, edges = nodes | renamed[triple][0], edges | renamed[triple][1]
        renamed[new] = nodes, edges
    removed = {triple for replaced in undone.values() for triple in replaced}
    return {triple: origin for triple, origin in renamed.items() if triple not in removed}


def _triples(graph: Graph, way: _Way) -> Triples:
    terms, variables = _terms(graph, way.text)
    items: set[Triple] = {
        _instance(terms[node.id], node.label, way.text)
        for node in graph.nodes
        if not node.constant and node.label is not None
    }
    for top in graph.tops[:1]:
        items.add((terms[top], TOP, "top"))
    items.update(_relation(edge, terms, way) for edge in graph.edges)
    return Triples(variables, frozenset(items))


def _terms(graph: Graph, text: Callable[[str], str]) -> tuple[dict[str, Term], tuple[str, ...]]:
    """Return what stands for each node in triples, and the ids of the variables."""
    terms: dict[str, Term] = {}
    variables: list[str] = []
    for node in graph.nodes:
        if node.constant:
            terms[node.id] = text(_unquoted(node.label or ""))
        else:
            terms[node.id] = len(variables)
            variables.append(node.id)
    return terms, tuple(variables)


def _instance(term: Term, label: str, text: Callable[[str], str]) -> Triple:
    return term, INSTANCE, text(_unquoted(label))


def _relation(edge: Edge, terms: dict[str, Term], way: _Way) -> Triple:
    source, target, label, _, attributes = edge
    if attributes and attribute(attributes, "inverted"):
        triple = way.direction(terms[target], label + "-of", terms[source])
    else:
        triple = way.direction(terms[source], label, terms[target])
    return triple[0], way.text(triple[1]), triple[2]


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value


def _smatch_text(value: str) -> str:
    return value.lower().rstrip("_")


def _smatchpp_text(value: str) -> str:
    return value.lower()


def _smatch_direction(source: Term, role: str, target: Term) -> Triple:
    """Turn a triple as written into smatch's direction; "mod-of" stays "mod", as it does there."""
    if role.endswith("-of") and role not in _SMATCH_PLAIN:
        return target, role[:-3], source
    if role == "mod":
        return target, "domain", source
    return source, role, target


def _smatchpp_direction(source: Term, role: str, target: Term) -> Triple:
    """Turn a triple as written into Smatch++'s direction, which inverts "consist-of" too."""
    role = role.lower()
    if role == "domain":
        return target, "mod", source
    if role == "domain-of":
        return source, "mod", target
    if role.endswith("-of"):
        return target, role[:-3], source
    return source, role, target


def _standardized(items: Iterable[Triple]) -> tuple[set[Triple], dict[Triple, list[Triple]]]:
    """Give TOP the root's concept; return also what each relation that was a node replaces."""
    concepts: dict[Term, Term] = {source: t for source, role, t in items if role == INSTANCE}
    result: set[Triple] = {
        (source, role, concepts.get(source, target) if role == TOP else target)
        for source, role, target in items
    }
    return result, _undone(result, concepts)


def _undone(items: set[Triple], concepts: dict[Term, Term]) -> dict[Triple, list[Triple]]:
    """Find the nodes that stand for a relation, and for nothing more, and that relation."""
    entered = {target for _, _, target in items if isinstance(target, int)}
    roles: dict[Term, list[Triple]] = defaultdict(list)
    for triple in items:
        roles[triple[0]].append(triple)
    found: dict[Triple, list[Triple]] = {}
    for node, concept in concepts.items():
        reification = REIFICATIONS.get(str(concept))
        if reification is None or node in entered:
            continue
        role, source, target = reification
        arguments = {r: t for _, r, t in roles[node] if r != INSTANCE}
        if len(roles[node]) == 3 and arguments.keys() == {source, target}:
            relation = arguments[source], role, arguments[target]
            found[relation] = found.get(relation, []) + roles[node]
    return found


_WAYS = {
    "smatch-1.0.4": _Way(_smatch_text, _smatch_direction),
    "smatchpp-amr": _Way(_smatchpp_text, _smatchpp_direction, standardized=True),
}
