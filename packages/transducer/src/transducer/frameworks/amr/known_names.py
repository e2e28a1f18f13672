"""Named entities that a gazetteer knows better than the decoder.

A decoder that has read that *Hamas* is a name, but never this name, makes a ``person`` of it. One
that copies a name word by word leaves out its beginning (*German* of *Standard German*), or puts
two names into one (*Mediterranean Mare Nostrum*), or takes what a word is named after (*Rome
Empire*). What is known of the name corrects that where nothing in the sentence speaks against it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from graphconv.graph import Edge, Graph, Node
from transducer.frameworks.amr.anonymize import constant_label
from transducer.frameworks.amr.gazetteer import PERSON, Gazetteer
from transducer.frameworks.amr.nationalities import named_after
from transducer.frameworks.amr.structure import fresh_constants, names

_ROLESET = re.compile(r".*-\d\d+")
_MOLECULES = frozenset(
    """amino-acid cell cell-line dna-sequence enzyme gene macro-molecular-complex
    molecular-physical-entity nucleic-acid pathway protein protein-family protein-segment
    small-molecule""".split()
)
"""Their names are abbreviations, of much else, too."""
_PREFIX = re.compile(r"^(?:anti|ex|mid|non|post|pre|pro|trans)-(?=[A-Z])")
_LONG_WORD = 6
"""Letters of a word that is no abbreviation, if it is not in capitals."""
_LANGUAGE = "language"
_NAMED_AFTER = frozenset("city continent country ethnic-group person state world-region".split())
"""What *French* is about where it is no language."""


def correct_names(graph: Graph, gazetteer: Gazetteer) -> Graph:
    """Return the graph with names as the sentence writes them, and types that they can have.

    >>> name = [Node("t", "thing"), Node("n", "name"), Node(":0", '"Hamas"', constant=True)]
    >>> edges = Edge("t", "n", "name"), Edge("n", ":0", "op1")
    >>> graph = Graph("1", "amr", nodes=tuple(name), edges=edges, tops=("t",))
    >>> correct_names(graph, Gazetteer({"Hamas": "organization Hamas"})).nodes[0].label
    'organization'
    """
    if not gazetteer:
        return graph
    forms = [token.form for token in graph.tokens]
    return _with_types(_with_spelling(graph, forms, gazetteer), forms, gazetteer)


def _with_spelling(graph: Graph, forms: Sequence[str], gazetteer: Gazetteer) -> Graph:
    """Write names as a known name of the sentence that they overlap with."""
    taken = {words for _, _, words in _entities(graph)}
    better: dict[str, Sequence[str]] = {}
    for entity, node, words in _entities(graph):
        found = next(_spellings(entity.label or "", words, forms, gazetteer), words)
        if found != words and found not in taken:
            better[node.id] = found
            taken.add(found)
    return _renamed(graph, better) if better else graph


def _spellings(
    label: str, words: tuple[str, ...], forms: Sequence[str], gazetteer: Gazetteer
) -> Iterator[tuple[str, ...]]:
    """Yield known names of the sentence that a name may stand for, the best first."""
    known = [
        span
        for size in range(gazetteer.longest, 0, -1)
        for span in _spans(forms, size)
        if gazetteer.readings(span)
    ]
    for span in known:
        types = [reading.type for reading in gazetteer.readings(span)]
        if len(span) > len(words) and label in types and _is_part(words, span):
            yield span  # *German* of *Standard German*
        is_language = _LANGUAGE in types and label not in _NAMED_AFTER
        if is_language and span != words and tuple(map(_named, span)) == words:
            yield span  # *France* for *French*, which is not said to be a country
    bare = (_PREFIX.sub("", words[0]), *words[1:])
    if bare != words and gazetteer.readings(bare):
        yield bare  # *pro-Beijing*
    if words in _spans(forms, len(words)) or gazetteer.readings(words):
        return
    for span in known:
        if 1 < len(span) == len(words) and tuple(map(_named, span)) == words:
            yield span  # *Rome Empire*
        if len(span) < len(words) and span == words[: len(span)]:
            yield span  # *Brexit July*


def _named(form: str) -> str:
    return named_after(form) or form


def _spans(forms: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(forms[at : at + size]) for at in range(len(forms) - size + 1)]


def _is_part(part: Sequence[str], whole: Sequence[str]) -> bool:
    return tuple(part) in _spans(whole, len(part))


def _with_types(graph: Graph, forms: Sequence[str], gazetteer: Gazetteer) -> Graph:
    """Give well-known names a type that they can have.

    A type stays if the gazetteer has it for the name, if the sentence says it (*the fragrance
    Opium*), if a single word may be a person's name, or if it may be a molecule's. What has a name
    and is no entity (*the Brexit vote*) is one's that it is about.
    """
    said = [form.lower() for form in forms]
    types: dict[str, str] = {}
    owners: dict[str, str] = {}
    for entity, node, words in _entities(graph):
        label = entity.label or ""
        known = [reading.type for reading in gazetteer.readings(words)]
        own = [word.lower() for word in words]
        if not known or label in known:
            continue
        compound = (*own, label) in _spans(said, len(own) + 1) and label not in gazetteer.types
        if _ROLESET.fullmatch(label) or compound:
            owners[node.id] = known[0]
        elif said.count(label) <= own.count(label) and not _is_ambiguous(label, words, gazetteer):
            types[entity.id] = known[0]
    nodes = tuple(
        node._replace(label=types[node.id]) if node.id in types else node for node in graph.nodes
    )
    return _owned(replace(graph, nodes=nodes), owners)


def _is_ambiguous(label: str, words: Sequence[str], gazetteer: Gazetteer) -> bool:
    if len(words) > 1:
        return False
    short = len(words[0]) < _LONG_WORD or not words[0][1:].islower()
    return (label in _MOLECULES and short) or (label == PERSON and words[0] in gazetteer.persons)


def _owned(graph: Graph, owners: Mapping[str, str]) -> Graph:
    """Put an entity between each of these names and what it modifies; *owners* say its type."""
    if not owners:
        return graph
    fresh = fresh_constants(graph)
    nodes = list(graph.nodes)
    edges: list[Edge] = []
    for edge in graph.edges:
        if edge.label == "name" and edge.target in owners:
            owner = Node(next(fresh), owners[edge.target])
            nodes.append(owner)
            edges += [Edge(edge.source, owner.id, "mod"), edge._replace(source=owner.id)]
        else:
            edges.append(edge)
    return replace(graph, nodes=tuple(nodes), edges=tuple(edges))


def _entities(graph: Graph) -> list[tuple[Node, Node, tuple[str, ...]]]:
    """Return (entity, name node, words of the name)."""
    return [
        (entity, node, tuple(word.strip('"') for word in name))
        for entity, node, name in names(graph)
    ]


def _renamed(graph: Graph, better: Mapping[str, Sequence[str]]) -> Graph:
    """Return the graph with other operands below some name nodes."""
    constants = {node.id for node in graph.nodes if node.constant}
    old = {
        edge.target for edge in graph.edges if edge.source in better and edge.target in constants
    }
    fresh = fresh_constants(graph)
    nodes = [node for node in graph.nodes if node.id not in old]
    edges: list[Edge] = []
    for edge in graph.edges:
        if edge.target not in old:
            edges.append(edge)
        if edge.label == "name" and edge.target in better:
            for number, word in enumerate(better[edge.target], start=1):
                nodes.append(Node(next(fresh), constant_label(word), constant=True))
                edges.append(Edge(edge.target, nodes[-1].id, f"op{number}"))
    return replace(graph, nodes=tuple(nodes), edges=tuple(edges))
