"""The side record: what a graph says beyond its rows, kept so that it comes back exactly.

The rows alone describe a *bare* graph. The record holds only how the real graph differs from it, so
that it is small, and empty for a tree made from relations:

``ids``
    The ids of the nodes, in the order that the framework's ``build`` says.
``node_order``, ``edge_order``
    The numbers of the bare graph's nodes and edges in the order of the real one.
``nodes``, ``edges``
    Pairs (number in the real order, the fields that differ).
``tops``, ``metadata``, ``extras``, ``scores``
    Those fields of the graph.

Everything in it is made of JSON's types, so that it equals itself after a trip through a file.
Tuples are lists here; lists and objects in the value of an attribute are wrapped to stay apart:

>>> thaw(frozen := freeze((1, ["a"], {"b": ()}))), frozen
((1, ['a'], {'b': ()}), [1, {'list': ['a']}, {'dict': {'b': []}}])
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from graphconv.arborescence import Row
from graphconv.graph import Attributes, Edge, Graph, Node

Item = TypeVar("Item", Node, Edge)


class Built(NamedTuple):
    """What a framework makes of a graph: its rows, and its ids in the order of the bare graph."""

    rows: tuple[Row, ...]
    ids: list[str]
    side: dict[str, Any] | None = None
    """What :func:`pack` would return, where that is known without reading the rows back."""


class Bare(NamedTuple):
    """What a framework reads from the rows alone."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    tops: tuple[str, ...]


def pack(graph: Graph, bare: Bare, ids: list[str]) -> dict[str, Any]:
    """Return how the structure of *graph* differs from *bare*, which already has its *ids*."""
    side: dict[str, Any] = {"ids": ids}
    if bare.nodes != graph.nodes:
        numbers = {node.id: i for i, node in enumerate(bare.nodes)}
        order = [numbers[node.id] for node in graph.nodes]
        _differences(side, "node", graph.nodes, bare.nodes, order)
    if bare.edges != graph.edges:
        _differences(side, "edge", graph.edges, bare.edges, _edge_order(graph.edges, bare.edges))
    if bare.tops != graph.tops:
        side["tops"] = list(graph.tops)
    return side


def unpack(side: Mapping[str, Any], bare: Bare) -> Bare:
    """Return nodes, edges and tops as they were when *side* was packed."""
    return Bare(
        _restored(side, "node", bare.nodes),
        _restored(side, "edge", bare.edges),
        tuple(side["tops"]) if "tops" in side else bare.tops,
    )


def reordered(ids: list[str], node_order: list[int], edge_order: list[int]) -> dict[str, Any]:
    """Return the record of a graph that only differs from the bare one in ids and in order.

    Args:
        ids: The ids of the nodes of the bare graph.
        node_order: For each node of the bare graph its number in the real one.
        edge_order: The same for edges.
    """
    side: dict[str, Any] = {"ids": ids}
    for kind, order in (("node", node_order), ("edge", edge_order)):
        if order != [*range(len(order))]:
            places = [0] * len(order)
            for place, number in enumerate(order):
                places[number] = place
            side[f"{kind}_order"] = places
    return side


def freeze(value: Any) -> Any:
    """Return *value* in JSON's types; :func:`thaw` undoes it."""
    if isinstance(value, tuple):
        return [freeze(item) for item in value]
    if isinstance(value, list):
        return {"list": [freeze(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": {key: freeze(item) for key, item in value.items()}}
    return value


def freeze_pairs(pairs: Attributes) -> list[list[Any]]:
    """Freeze attributes."""
    return [[name, value if type(value) is str else freeze(value)] for name, value in pairs]


def thaw_pairs(frozen: Iterable[tuple[str, Any]]) -> Attributes:
    """Return what :func:`freeze_pairs` was called with."""
    pairs = [(name, value if type(value) is str else thaw(value)) for name, value in frozen]
    return tuple(pairs)


def thaw(value: Any) -> Any:
    """Return what :func:`freeze` was called with."""
    if isinstance(value, list):
        return tuple([thaw(item) for item in value])
    if isinstance(value, dict):
        if "list" in value:
            return [thaw(item) for item in value["list"]]
        return {key: thaw(item) for key, item in value["dict"].items()}
    return value


def _differences(
    side: dict[str, Any],
    kind: str,
    items: Sequence[Item],
    bare: Sequence[Item],
    order: list[int],
) -> None:
    if order != list(range(len(bare))):
        side[f"{kind}_order"] = order
    patches = []
    for number, (item, place) in enumerate(zip(items, order, strict=True)):
        expected = bare[place]
        if item != expected:
            names = type(item)._fields
            patch = {
                name: freeze(value)
                for name, value, other in zip(names, item, expected, strict=True)
                if value != other
            }
            patches.append([number, patch])
    if patches:
        side[f"{kind}s"] = patches


def _edge_order(edges: Iterable[Edge], bare: Sequence[Edge]) -> list[int]:
    places: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for place in range(len(bare) - 1, -1, -1):
        places[bare[place][:3]].append(place)
    return [places[edge[:3]].pop() for edge in edges]


def _restored(side: Mapping[str, Any], kind: str, bare: tuple[Item, ...]) -> tuple[Item, ...]:
    order, patches = side.get(f"{kind}_order"), side.get(f"{kind}s")
    if order is None and patches is None:
        return bare
    items = list(bare) if order is None else [bare[place] for place in order]
    for number, patch in patches or ():
        fields = {name: thaw(value) for name, value in patch.items()}
        items[number] = items[number]._replace(**fields)
    return tuple(items)
