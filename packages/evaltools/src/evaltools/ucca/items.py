"""The items of UCCA: the yields of primary and of remote units, after normalization.

A yield with its categories is one item, however many units have it, as in the score. Pictures show
the graph as it is in the file, so an item marks every unit there that has its yield.
"""

from __future__ import annotations

from collections import defaultdict

from evaltools.items import Item, PairedItems
from evaltools.ucca.passage import passages, unit_keys
from evaltools.ucca.score import Items, items_of
from graphconv.graph import Graph
from graphconv.topology import parents_first

_KINDS = ("primary", "remote")
_Key = tuple[str, int]
"""The kind of unit and its yield."""


def items(graph: Graph, *, normalize: bool = True) -> list[Item]:
    """Return the labelled primary and remote items of a graph."""
    (found,) = items_of(graph, None, normalize=normalize)
    places = _places(graph)
    return [
        _item(graph, (kind, span), categories, places, (kind, span, frozenset(categories)))
        for kind, own in zip(_KINDS, found, strict=False)
        for span, categories in own.items()
    ]


def paired_items(gold: Graph, pred: Graph, *, normalize: bool = True) -> PairedItems:
    """Return the items of both graphs; two match if their yields do and they share a category."""
    sides = items_of(gold, pred, normalize=normalize)
    empty: tuple[Items, Items, Items] = ({}, {}, {})
    found = sides[0], sides[1] if len(sides) == 2 else empty
    places = _places(gold), _places(pred)
    lists: tuple[list[Item], list[Item]] = [], []
    for number, (graph, place) in enumerate(zip((gold, pred), places, strict=True)):
        for kind, own, other in zip(_KINDS, found[number], found[1 - number], strict=False):
            for span, categories in own.items():
                # Unlike for other metrics, equality is not enough: one of several categories is.
                match = not categories.isdisjoint(other.get(span, ()))
                key = (kind, span) if match else (kind, span, number)
                lists[number].append(_item(graph, (kind, span), categories, place, key))
    return PairedItems(*lists, _pairs(gold, pred))


def _places(graph: Graph) -> dict[_Key, list[int]]:
    """Return the edges to the units with each yield, in the graph as it is written."""
    (passage,) = passages(graph)
    passage.compute_yields()
    spans = {name: passage.units[key].span for name, key in unit_keys(graph).items()}
    edges: dict[_Key, list[int]] = defaultdict(list)
    for number, edge in enumerate(graph.edges):
        if spans.get(edge.target):
            edges[_KINDS[edge.remote], spans[edge.target]].append(number)
    return edges


def _item(
    graph: Graph,
    place: _Key,
    categories: set[str],
    places: dict[_Key, list[int]],
    key: tuple[object, ...],
) -> Item:
    kind, span = place
    words = " ".join(t.form for position, t in enumerate(graph.tokens) if span >> position & 1)
    text = f"{'|'.join(sorted(categories))}{'*' if kind == 'remote' else ''} [{words}]"
    edges = places.get(place, ())
    nodes = [graph.edges[edge].target for edge in edges] if kind == "primary" else []
    return Item(key, text, tuple(nodes), tuple(edges))


def _pairs(gold: Graph, pred: Graph) -> list[tuple[str, str]]:
    """Return the units with the same words, marks included; several are pairs by order."""
    waiting: dict[frozenset[int], list[str]] = defaultdict(list)
    for name, words in _words(pred).items():
        waiting[words].append(name)
    return [
        (name, waiting[words].pop(0))
        for name, words in _words(gold).items()
        if words and waiting.get(words)
    ]


def _words(graph: Graph) -> dict[str, frozenset[int]]:
    """Return the token positions below each unit, remote edges not followed."""
    children: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    for edge in graph.edges:
        if not edge.remote:
            children[edge.source].append(edge.target)
    order = parents_first(
        children, [(edge.source, edge.target) for edge in graph.edges if not edge.remote]
    )
    found = {node.id: frozenset(node.anchors) for node in graph.nodes}
    for node_id in reversed(order):
        found[node_id] = found[node_id].union(*(found[child] for child in children[node_id]))
    return found
