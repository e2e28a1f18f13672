"""Which trees are possible: kinds of rows and relations, and the heads that a row may have.

Training and decoding share these rules. They follow from what an arborescence is (a pre-order; one
row of a node has children) and from what each framework allows, which :class:`TreeRules` says. They
exclude no graph that graphconv produces; a test checks that on whole treebanks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from graphconv.arborescence import Row
from graphconv.conversion.labels import (
    NULL,
    NULL_TERMINAL,
    PHRASE,
    REMOTE,
    REVERSED,
    SECONDARY,
    TERMINAL,
    TERMINAL_CHILD,
    TOP,
    VIRTUAL,
    edge_label,
)
from graphconv.conversion.ucca import ROOT_UNIT

FIRST_LABELS = {VIRTUAL, ROOT_UNIT}
"""Labels that only the first row can have."""


class RelationKind(IntEnum):
    """What a relation means for the shape of the graph."""

    PLAIN = 0
    REVERSED = 1
    """The edge leads from the child to the head."""
    NULL = 2
    """No edge: a part of the graph that is not connected to the rest."""
    TOP = 3
    """No edge: the child is a top."""
    REMOTE = 4
    """UCCA: a remote edge; the child's primary row is elsewhere."""
    SECONDARY = 5
    """UCCA: a second parent that is not remote; the child's primary row is elsewhere."""
    PHRASE = 6
    """UCCA: a further word of the same pre-terminal unit."""
    TERMINAL = 7
    """UCCA: a word straight below a unit, without a unit of its own."""


ELSEWHERE = frozenset({RelationKind.REMOTE, RelationKind.SECONDARY})
"""Relations of rows that are never the primary one of their node."""


class RowKind(IntEnum):
    """What may hang below a row."""

    NODE = 0
    WORD = 1
    """UCCA: only further words of the unit."""
    LEAF = 2


_NAMED = {
    NULL: RelationKind.NULL,
    TOP: RelationKind.TOP,
    PHRASE: RelationKind.PHRASE,
    TERMINAL_CHILD: RelationKind.TERMINAL,
    NULL_TERMINAL: RelationKind.TERMINAL,
}
_MARKED = {
    REVERSED: RelationKind.REVERSED,
    REMOTE: RelationKind.REMOTE,
    SECONDARY: RelationKind.SECONDARY,
    TERMINAL: RelationKind.TERMINAL,
}


def relation_kind(relation: str) -> RelationKind:
    """Return what a relation means.

    >>> relation_kind("ARG1-of").name, relation_kind("A*").name, relation_kind("A").name
    ('REVERSED', 'REMOTE', 'PLAIN')
    """
    if relation in _NAMED:
        return _NAMED[relation]
    return _MARKED.get(edge_label(relation)[1], RelationKind.PLAIN)


@dataclass(frozen=True, slots=True)
class TreeRules:
    """What sets the trees of a framework apart."""

    row_kind: Callable[[str, str, bool], RowKind]
    """What may hang below a row, by its label, its relation, and whether it is a word."""
    words_are_nodes: bool
    """Copying a token makes that word a node, once; otherwise it gives a label, again and again."""
    units: bool = False
    """Nodes are words, or units of them: none is empty, and for links its first word is the unit"""
    text_order: bool = True
    """Whether the rows below a row come in the order of the text."""


def candidate_heads(trees: TreeRules, rows: Sequence[Row]) -> list[list[int]]:
    """Return, for every row, the numbers of the rows that could be its head.

    Row 1 has the begin symbol, 0. The others have the rows on the path from the root to the row
    before, except those that cannot have children, or not this one.
    """
    kinds: list[RowKind] = []
    remote: list[bool] = []
    primary: dict[int, int] = {}  # node -> the row that has its children
    result: list[list[int]] = []
    path: list[int] = []
    for number, row in enumerate(rows, start=1):
        new_word = bool(row.anchors) and row.index == number
        if number == 1:
            heads = [0]
        elif trees.units and kinds[-1] == RowKind.NODE and not remote[-1]:
            heads = [number - 1]  # a unit is never empty
        else:
            heads = [
                j
                for j in path
                if not remote[j - 1]
                and (kinds[j - 1] == RowKind.NODE or (kinds[j - 1] == RowKind.WORD and new_word))
                and primary.get(rows[j - 1].index, j) == j
            ]
        result.append(heads)
        while path and path[-1] != row.head:
            path.pop()
        path.append(number)
        if row.head:
            primary[rows[row.head - 1].index] = row.head
        kinds.append(trees.row_kind(row.label, row.relation, bool(row.anchors)))
        remote.append(relation_kind(row.relation) in ELSEWHERE)
    return result
