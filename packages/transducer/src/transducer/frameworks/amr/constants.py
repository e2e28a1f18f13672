"""Constants where AMR has none: strings below roles that take concepts, numbers as concepts.

A decoder that copies words now and then writes ``:quant "several"``, ``:mod "Yves" :mod "Saint"``
or ``:year (x / 1979)``. What was meant is plain: a concept, a name, a number.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from graphconv.graph import Edge, Graph, Node
from transducer.frameworks.amr.gazetteer import Gazetteer
from transducer.frameworks.amr.numbers import parse_number
from transducer.frameworks.amr.structure import fresh_constants

# Below these roles a string is as it should be.
_STRINGS = re.compile(r"(op|snt)\d+|value|wiki|era|timezone|time|li|mode|polite|polarity")
# These, and clock times and the like, are no misplaced words.
_OWN_ARGUMENTS = re.compile(r".*-91")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NUMERIC = frozenset({"quant", "value"})
_YEARS = re.compile(r"([12]\d{3})[-–]([12]\d{3})")
_ERAS = frozenset({"BC", "AD", "BCE", "CE", "B.C.", "A.D."})
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_NAME = "name"
_UNKNOWN_NAME = "thing"

Part = tuple[list[Node], list[Edge]]
"""Nodes and edges in place of a constant and its edge."""


def repair_constants(graph: Graph, gazetteer: Gazetteer, concept_of: Callable[[str], str]) -> Graph:
    """Return the graph with numbers, concepts and names in place of misplaced constants.

    *concept_of* says what a word that is no name is called.

    >>> nodes = Node("d", "day"), Node(":0", '"several"', constant=True)
    >>> graph = Graph("1", "amr", nodes=nodes, edges=(Edge("d", ":0", "quant"),), tops=("d",))
    >>> repaired = repair_constants(graph, Gazetteer({}), str.lower)
    >>> [(node.label, node.constant) for node in repaired.nodes]
    [('day', False), ('several', False)]
    """
    graph = _with_numbers(graph)
    nodes = {node.id: node for node in graph.nodes}
    misplaced = [edge for edge in graph.edges if _is_misplaced(edge, nodes)]
    if not misplaced:
        return graph
    fresh = fresh_constants(graph)
    forms = [token.form for token in graph.tokens]
    parts: dict[Edge, Part] = {}
    for run in _runs(misplaced, nodes, forms):
        words = [_text(nodes[edge.target]) for edge in run]
        parts.update({edge: ([], []) for edge in run})
        parts[run[0]] = (
            _name(run[0], words, fresh)
            if run[0].label == _NAME
            else _meant(run[0], words, gazetteer, concept_of, fresh)
        )
    dropped = {edge.target for edge in misplaced}
    kept = [node for node in graph.nodes if node.id not in dropped]
    added = [node for part in parts.values() for node in part[0]]
    edges = [new for edge in graph.edges for new in parts.get(edge, ([], [edge]))[1]]
    return replace(graph, nodes=(*kept, *added), edges=tuple(edges))


def _with_numbers(graph: Graph) -> Graph:
    """Make constants of numbers that are leaves of the graph; of words where a number belongs."""
    sources = {edge.source for edge in graph.edges} | set(graph.tops)
    roles = defaultdict(list)
    for edge in graph.edges:
        roles[edge.target].append(edge.label)

    def number(node: Node) -> str | None:
        above = roles[node.id]
        if node.constant or node.id in sources or len(above) != 1:
            return None
        label = node.label or ""
        return parse_number([label]) if _NUMBER.fullmatch(label) or above[0] in _NUMERIC else None

    found = {node.id: number(node) for node in graph.nodes}
    nodes = (
        node if (value := found[node.id]) is None else node._replace(label=value, constant=True)
        for node in graph.nodes
    )
    return replace(graph, nodes=tuple(nodes))


def _is_misplaced(edge: Edge, nodes: dict[str, Node]) -> bool:
    source, target = nodes[edge.source], nodes[edge.target]
    string = target.constant and (target.label or "").startswith('"')
    free = _STRINGS.fullmatch(edge.label) or _OWN_ARGUMENTS.fullmatch(source.label or "")
    return string and not source.constant and not free


def _runs(
    edges: Sequence[Edge], nodes: dict[str, Node], forms: Sequence[str]
) -> Iterator[list[Edge]]:
    """Yield the constants that are one name of several words, and the others one by one.

    >>> nodes = {form: Node(form, f'"{form}"', constant=True) for form in ("Yves", "Laurent")}
    >>> edges = [Edge("f", "Yves", "mod"), Edge("f", "Laurent", "mod")]
    >>> [len(run) for run in _runs(edges, nodes, ["the", "Yves", "Laurent", "line"])]
    [2]
    """
    run: list[Edge] = []
    for edge in edges:
        words = [_text(nodes[other.target]) for other in (*run, edge)]
        if run and not (all(word[:1].isupper() for word in words) and _follow(words, forms)):
            yield run
            run = []
        run.append(edge)
    yield run


def _follow(words: Sequence[str], forms: Sequence[str]) -> bool:
    length = len(words)
    return any(list(forms[at : at + length]) == list(words) for at in range(len(forms)))


def _text(node: Node) -> str:
    return (node.label or "").strip('"')


def _is_word(text: str) -> bool:
    """Say whether a text is a word, and neither an abbreviation nor a number of a figure."""
    return _WORD.fullmatch(text) is not None and text[1:].islower()


def _meant(
    edge: Edge,
    words: Sequence[str],
    gazetteer: Gazetteer,
    concept_of: Callable[[str], str],
    fresh: Iterator[str],
) -> Part:
    """Return what stands for a misplaced string, which keeps its node's id."""
    text = " ".join(words)
    number, years = parse_number(words), _YEARS.fullmatch(text)
    if number is not None:
        return [Node(edge.target, number, constant=True)], [edge]
    if years and edge.label == "year":
        end = Node(next(fresh), years[2], constant=True)
        first = Node(edge.target, years[1], constant=True)
        return [first, end], [edge, Edge(edge.source, end.id, "year2")]
    if text in _ERAS:
        return [Node(edge.target, f'"{text}"', constant=True)], [edge._replace(label="era")]
    known = gazetteer.readings(words)
    if not known and not all(map(_is_word, words)):  # Bio AMR has ``figure :mod "5F"``
        return [Node(edge.target, f'"{text}"', constant=True)], [edge]
    if not text[:1].isupper():
        return [Node(edge.target, concept_of(text))], [edge]
    entity = Node(edge.target, known[0].type if known else _UNKNOWN_NAME)
    above = Edge(entity.id, next(fresh), _NAME)
    nodes, edges = _name(above, words, fresh)
    return [entity, *nodes], [edge, *edges]


def _name(edge: Edge, words: Sequence[str], fresh: Iterator[str]) -> Part:
    """Return the name node to which an edge leads, with its words."""
    operands = [Node(next(fresh), f'"{word}"', constant=True) for word in words]
    named = [Edge(edge.target, node.id, f"op{n}") for n, node in enumerate(operands, start=1)]
    return [Node(edge.target, _NAME), *operands], [edge, *named]
