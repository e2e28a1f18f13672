"""The frameworks: one table says how graphs of each are read, converted, drawn and written.

A new framework is a new row. Where it needs more than the modules named here can do, it also gets
a module of its own: a codec, a conversion or a drawing.

>>> FRAMEWORKS["psd"].codec, FRAMEWORKS["psd"].drawing, FRAMEWORKS["amr"].flavor
('sdp', 'arcs', 2)
>>> written_as("sdp")
('dm', 'pas', 'psd')

This module imports nothing of graphconv but its errors, so that a command's ``--help`` is quick.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from graphconv.errors import ConversionError


class Nodes(Enum):
    """What a node stands for."""

    TOKEN = "token"
    """A word: the node has one anchor and no label."""
    UNIT = "unit"
    """A unit over words and other units; an edge may have several categories."""
    CONCEPT = "concept"
    """A label; words are at most noted beside it."""


class Properties(Enum):
    """What the ``properties`` of MRP's nodes are in a Graph."""

    ATTRIBUTES = "attributes"
    """Attributes of the node; those of an edge are the edge's."""
    CONSTANTS = "constants"
    """Constants: nodes of their own, below an edge."""
    NONE = "none"
    """There are none."""


class Framework(NamedTuple):
    """How the graphs of a framework are treated."""

    nodes: Nodes
    codec: str
    """The usual file format: a module in :mod:`graphconv.codecs`."""
    conversion: str
    """The module in :mod:`graphconv.conversion`."""
    drawing: str
    """One of :data:`graphconv.draw.DRAWINGS`."""
    flavor: int
    """MRP: how nodes are anchored. 0: each in a word, 1: each in some words, 2: not at all."""
    properties: Properties
    merges_anchors: bool = False
    """MRP: whether words in a row are one anchor."""
    penman_notes: bool = False
    """Whether it has what PENMAN adds: edges written as ``-of``, the sentence in the metadata
    ``snt``, and anchors that are an alignment, not a part of the graph."""

    @property
    def has_words(self) -> bool:
        """Whether nodes are words or stand for words, so that a drawing shows the sentence."""
        return self.nodes is not Nodes.CONCEPT

    @property
    def is_anchored(self) -> bool:
        """Whether anchors are a part of the graph, and rows of arborescences hold them."""
        return self.flavor < 2

    @property
    def has_categories(self) -> bool:
        """Whether the label of an edge may be several categories, joined."""
        return self.nodes is Nodes.UNIT


_BILEXICAL = Framework(
    Nodes.TOKEN, "sdp", "bilexical", "arcs", flavor=0, properties=Properties.ATTRIBUTES
)

FRAMEWORKS: dict[str, Framework] = {
    "amr": Framework(
        Nodes.CONCEPT,
        codec="amr",
        conversion="amr",
        drawing="layers",
        flavor=2,
        properties=Properties.CONSTANTS,
        penman_notes=True,
    ),
    "dm": _BILEXICAL,
    "pas": _BILEXICAL,
    "psd": _BILEXICAL,
    "ucca": Framework(
        Nodes.UNIT,
        codec="ucca",
        conversion="ucca",
        drawing="units",
        flavor=1,
        properties=Properties.NONE,
    ),
    "eds": Framework(
        Nodes.CONCEPT,
        codec="mrp",
        conversion="anchored",
        drawing="layers",
        flavor=1,
        properties=Properties.ATTRIBUTES,
        merges_anchors=True,
    ),
    "ptg": Framework(
        Nodes.CONCEPT,
        codec="mrp",
        conversion="anchored",
        drawing="layers",
        flavor=1,
        properties=Properties.ATTRIBUTES,
    ),
    "drg": Framework(
        Nodes.CONCEPT,
        codec="mrp",
        conversion="amr",
        drawing="layers",
        flavor=2,
        properties=Properties.ATTRIBUTES,
    ),
}
"""Every framework that graphconv knows."""

BILEXICAL = frozenset(name for name, row in FRAMEWORKS.items() if row.nodes is Nodes.TOKEN)
"""The frameworks in which a node is a token."""


def framework(name: str, graph_id: str | None = None) -> Framework:
    """Return the row of a framework, or raise ConversionError, which names the graph."""
    row = FRAMEWORKS.get(name)
    if row is None:
        known = ", ".join(FRAMEWORKS)
        raise ConversionError(f"unknown framework {name!r}, not one of {known}", graph_id=graph_id)
    return row


def written_as(codec: str) -> tuple[str, ...]:
    """Return the frameworks that have a file format of their own: this one."""
    return tuple(name for name, row in FRAMEWORKS.items() if row.codec == codec)
