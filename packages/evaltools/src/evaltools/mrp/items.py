"""The items of MRP F1: what nodes and edges say, piece by piece, normalized as in mtool.

A graph is taken as its MRP record, so every format that graphconv reads has the same items. In a
record, constants of AMR are properties of nodes, and a UCCA edge with two categories is two edges.

>>> from graphconv.graph import Edge, Graph, Node, Token
>>> tokens = Token("Dogs", "dog", "NNS"), Token("bark", "Bark", "VBP"), Token(".")
>>> nodes = Node("1", anchors=(0,)), Node("2", anchors=(1,))
>>> graph = Graph("1", "dm", tokens, nodes, (Edge("2", "1", "ARG1"),), ("2",))
>>> for item in items(graph):
...     print(item.text)
top: bark
dog: label dog
dog: pos nns
dog: characters 0-3
bark: label bark
bark: pos vbp
bark: characters 4-7
bark -arg1-> dog
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, NamedTuple

from evaltools.amr_triples import Triple, Triples
from evaltools.items import Item
from graphconv.codecs.mrp.record import Json, edge_items, encode, owned_constants
from graphconv.errors import ConversionError
from graphconv.frameworks import FRAMEWORKS
from graphconv.graph import Graph

KINDS = ("tops", "labels", "properties", "anchors", "edges", "attributes")
"""The kinds of items, in the order of the report."""

_SPACE = frozenset(" \t\n\f")
_PUNCTUATION = _SPACE | frozenset(".?!;,:“\"”‘'’()[]{}")
_SAYS_NOTHING = frozenset({("remote", "false")})
_JOIN = "\0"
"""Between the parts of a role."""


class _Found(NamedTuple):
    """An item under way: its triple, and what a picture marks for it."""

    triple: Triple
    nodes: tuple[str, ...] = ()
    edges: tuple[int, ...] = ()


def items(graph: Graph) -> list[Item]:
    """Return the items of a graph; their keys are triples over the numbers of its nodes."""
    variables, found = _read(graph)
    words = dict(enumerate(variables))
    for source, role, target in found:
        if role == "labels" and isinstance(source, int):
            words[source] = str(target)
    return [
        Item(triple, _shown(triple, words), nodes, edges)
        for triple, (_, nodes, edges) in found.items()
    ]


def triples(graph: Graph) -> Triples:
    """Return the keys of the items, as the aligner takes them."""
    variables, found = _read(graph)
    return Triples(variables, frozenset(found))


def kind_of(triple: Triple) -> str:
    """Return which of the six kinds an item is."""
    return triple[1].partition(_JOIN)[0]


def check_texts(gold: Graph, pred: Graph) -> None:
    """Refuse two graphs over different texts, whose anchors cannot be compared.

    Whitespace makes no difference, nor does the way that a treebank writes a quote.
    """
    if gold.framework == "amr" or not pred.nodes or gold.tokens is pred.tokens:
        return
    texts = ["".join(_record(graph)["input"].split()) for graph in (gold, pred)]
    letters = ["".join(filter(str.isalnum, text)).casefold() for text in texts]
    if letters[0] != letters[1] or len(texts[0]) != len(texts[1]):
        message = f"the text is {texts[0][:40]!r} in gold but {texts[1][:40]!r} in the prediction"
        raise ConversionError(message, graph_id=gold.id)


def _read(graph: Graph) -> tuple[tuple[str, ...], dict[Triple, _Found]]:
    """Return the ids of the nodes that are compared, and the items by triple."""
    record = _record(graph)
    owned = {node.id for pairs in owned_constants(graph).values() for _, node in pairs}
    ids = [node.id for node in graph.nodes if node.id not in owned]
    found = [
        *_about_nodes(graph, record, ids),
        *_about_edges(graph, {n: item["id"] for n, item in zip(ids, record["nodes"], strict=True)}),
    ]
    return tuple(ids), {one.triple: one for one in found}


def _record(graph: Graph) -> Json:
    """Return the MRP record, its usual keys even where the file left them out."""
    record = encode(graph)
    lists = {key: record.get(key) or [] for key in ("tops", "nodes")}
    return {**record, **lists, "input": record.get("input") or ""}


def _about_nodes(graph: Graph, record: Json, ids: list[str]) -> Iterator[_Found]:
    numbers = {item["id"]: number for number, item in enumerate(record["nodes"])}
    for top in record["tops"]:
        yield _Found((numbers[top], "tops", ""), (ids[numbers[top]],))
    text = record["input"]
    places = _places(text)
    edges = {edge[:2]: number for number, edge in enumerate(graph.edges)}
    constants = owned_constants(graph)
    for number, (node_id, item) in enumerate(zip(ids, record["nodes"], strict=True)):
        if item.get("label") is not None:
            yield _Found((number, "labels", _lower(item["label"])), (node_id,))
        own_edges = [edges[edge[:2]] for edge, _ in constants.get(node_id, ())]
        for place, (name, value) in enumerate(_pairs(item, "properties")):
            marked = (own_edges[place],) if own_edges else ()
            yield _Found((number, _role("properties", name), value), (node_id,), marked)
        if item.get("anchors") and graph.framework != "amr":
            characters = _characters(item["anchors"], text, places)
            yield _Found((number, "anchors", characters), (node_id,))


def _about_edges(graph: Graph, names: Mapping[str, Any]) -> Iterator[_Found]:
    numbers = {name: number for number, name in enumerate(names.values())}
    for place, edge in enumerate(graph.edges):
        if edge.source not in names or edge.target not in names:
            continue
        for item in edge_items(edge, FRAMEWORKS[graph.framework], names):
            label, turned = _normal(item)
            source, target = numbers[item["source"]], numbers[item["target"]]
            if turned:
                source, target = target, source
            yield _Found((source, _role("edges", label), target), (), (place,))
            for name, value in _pairs(item, "attributes"):
                if (name, value) not in _SAYS_NOTHING:
                    role = _role("attributes", label, name, value)
                    yield _Found((source, role, target), (), (place,))


def _normal(item: Json) -> tuple[str, bool]:
    """Return the label of an edge in its true direction, and whether this is the other one."""
    label, normal = _lower(item.get("label") or ""), item.get("normal")
    if normal:
        return _lower(normal), True
    if label == "mod":
        return "domain", True
    if label.endswith("-of-of") or (label.endswith("-of") and not label.startswith("prep-")):
        return label[:-3], True
    return label, False


def _pairs(item: Json, names: str) -> Iterator[tuple[str, str]]:
    pairs = zip(item.get(names) or (), item.get("values") or (), strict=False)
    return ((_lower(name), _lower(value)) for name, value in pairs)


def _characters(anchors: Iterable[Json], text: str, places: list[int]) -> str:
    """Return the characters of anchors, as ranges; punctuation at the ends of each is left out.

    >>> text = "He can't, yet."
    >>> _characters([{"from": 3, "to": 9}, {"from": 10, "to": 14}], text, _places(text))
    '2-6 8-10'
    """
    found: set[int] = set()
    for anchor in anchors:
        start, end = max(anchor["from"], 0), min(anchor["to"], len(text))
        while start < end and text[start] in _PUNCTUATION:
            start += 1
        while start < end and text[end - 1] in _PUNCTUATION:
            end -= 1
        found.update(places[i] for i in range(start, end) if not text[i].isspace())
    numbers = sorted(found)
    firsts = [n for n in numbers if n - 1 not in found]
    lasts = [n for n in numbers if n + 1 not in found]
    return " ".join(f"{first}-{last}" for first, last in zip(firsts, lasts, strict=True))


def _places(text: str) -> list[int]:
    """Return for each character how many come before it, whitespace not counted.

    So files that differ in whitespace only, or have tokens and no text, can be compared.
    """
    return list(accumulate((not character.isspace() for character in text), initial=0))


def _role(*parts: str) -> str:
    return _JOIN.join(parts)


def _lower(value: object) -> str:
    return (value if isinstance(value, str) else json.dumps(value, sort_keys=True)).lower()


def _shown(triple: Triple, words: Mapping[int, str]) -> str:
    source, role, target = triple
    kind, *parts = role.split(_JOIN)
    name = words[source] if isinstance(source, int) else source
    if kind == "tops":
        return f"top: {name}"
    if isinstance(target, int):
        return f"{name} -{' '.join(parts)}-> {words[target]}"
    return f"{name}: {_NAMES.get(kind) or parts[0]} {target}"


_NAMES = {"labels": "label", "anchors": "characters"}
