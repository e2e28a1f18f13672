r"""How edge labels become relations, and the sibling order of relations.

A relation is the label of its edge, plus at most one mark that says how the row takes part in it:

=========  =====================================================================================
mark       the row below is
=========  =====================================================================================
(none)     the target of the edge
``-of``    the source of the edge: the tree follows it backwards
``*``      UCCA: the target of a remote edge
``~``      UCCA: the target of an edge that is not remote, but not the target's primary one either
``^``      UCCA: a terminal, reached by an edge that is more than a plain ``Terminal`` one
=========  =====================================================================================

The names in :data:`STRUCTURAL` are relations that stand for no edge. A label that looks like one of
them, or ends like a mark, gets one ``=`` more, so that every label of every treebank survives:

>>> [relation("ARG1"), relation("ARG1", REVERSED), relation("consist-of"), relation("null")]
['ARG1', 'ARG1-of', 'consist-of=', 'null=']
>>> [edge_label(r) for r in ("ARG1", "ARG1-of", "consist-of=", "null=", "null==")]
[('ARG1', ''), ('ARG1', '-of'), ('consist-of', ''), ('null', ''), ('null=', '')]
"""

from __future__ import annotations

import re
from functools import lru_cache

from graphconv.arborescence import ROOT_RELATION
from graphconv.graph import LINKAGE, split_categories

REVERSED = "-of"
REMOTE = "*"
SECONDARY = "~"
TERMINAL = "^"

NULL = "null"
"""From the first row to the root of a part that nothing else connects."""
TOP = "top"
"""From the virtual root to a top."""
PHRASE = "phrase"
"""UCCA: from the first word of a pre-terminal to its others."""
TERMINAL_CHILD = "Terminal"
"""UCCA: from a unit that also has other children to its own words."""
NULL_TERMINAL = "null-Terminal"
"""UCCA: like ``null``, to a terminal that only remote edges lead to."""

STRUCTURAL = frozenset({ROOT_RELATION, NULL, TOP, PHRASE, TERMINAL_CHILD, NULL_TERMINAL})
IMPLICIT = "!"
"""UCCA: ends the label of an implicit unit."""
CONSTANT = "="
"""AMR: begins the label of a constant."""
VIRTUAL = "<virtual>"
"""The label of the first row where the graph has not exactly one top."""

_MARKS = (REVERSED, REMOTE, SECONDARY, TERMINAL)
_replace_numbers = re.compile("[0-9]+").sub
_CACHED = 1 << 16


@lru_cache(_CACHED)
def relation(label: str, mark: str = "") -> str:
    """Return the relation of a row that an edge called *label* leads to."""
    if mark:
        return label + mark
    return f"{label}=" if _needs_escape(label) else label


@lru_cache(_CACHED)
def both_ways(label: str) -> tuple[str, str]:
    """Return the relation of an edge that the tree follows forwards, and backwards."""
    return relation(label), relation(label, REVERSED)


@lru_cache(_CACHED)
def edge_label(relation: str) -> tuple[str, str]:
    """Return the label of the edge and the mark: what :func:`relation` was called with."""
    for mark in _MARKS:
        if relation.endswith(mark):
            return relation[: -len(mark)], mark
    if relation.endswith("=") and _needs_escape(relation):
        return relation[:-1], ""
    return relation, ""


@lru_cache(_CACHED)
def is_linkage(label: str) -> bool:
    """Say whether an edge of UCCA is one of linkage, which never is a unit's primary edge."""
    return LINKAGE.issuperset(split_categories(label))


@lru_cache(_CACHED)
def natural(text: str) -> str:
    """Return a sort key that compares numbers inside *text* as numbers.

    >>> sorted(["op10", "op2", "ARG1", "1.10", "1.9"], key=natural)
    ['1.9', '1.10', 'ARG1', 'op2', 'op10']
    """
    # One string is compared faster than a tuple; the text itself tells 1.2 from 1.02.
    return f"{_replace_numbers(_with_length, text)}\0{text}"


def _with_length(number: re.Match[str]) -> str:
    digits = number[0].lstrip("0")
    return f"{len(digits):06}{digits}"


def _needs_escape(label: str) -> bool:
    bare = label.rstrip("=")
    return bare in STRUCTURAL or bare.endswith(_MARKS)
