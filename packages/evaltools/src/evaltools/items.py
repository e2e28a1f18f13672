"""What a metric counts, one by one, each with its place in the graph.

Every metric module that counts items has, beside ``pair_counts``,

``items(graph, **options)``
    What it counts in a graph, each once.
``paired_items(gold, pred, **options)``
    The same for both graphs of a pair, with keys that are equal where the metric finds a match:
    nodes are aligned, UCCA is normalized. As many keys are common as ``pair_counts`` matches.

``diff`` shows these, so what a picture marks is what a score counted.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple


class Item(NamedTuple):
    """A part of a graph that is right or wrong."""

    key: Hashable
    text: str
    nodes: tuple[str, ...] = ()
    """The ids of the nodes that a picture marks for it."""
    edges: tuple[int, ...] = ()
    """The numbers of the edges that a picture marks for it."""


class PairedItems(NamedTuple):
    """The items of both graphs, which of their nodes are pairs, and whether that is proved best."""

    gold: list[Item]
    pred: list[Item]
    pairs: list[tuple[str, str]]
    """The ids of gold and predicted nodes that stand for each other."""
    certified: bool = True
