"""What a metric counts, one by one, each with its place in the graph."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple


class Item(NamedTuple):
    """A part of a graph that is right or wrong.

    A metric's ``items(graph)`` names every one that its ``pair_counts`` counts in a graph, once;
    ``diff`` shows them. So what a picture marks is what a score counted.
    """

    key: Hashable
    """What is compared: equal in two graphs, under the alignment of their nodes, if in both."""
    text: str
    node: str | None = None
    """The id of the node that a picture marks for it."""
    edge: int | None = None
    """The number of the edge that a picture marks for it."""
