r"""The two ways in which PENMAN files say which words a node stands for.

ISI: marks behind concepts and constants, ``(b / boy~e.1)``. JAMR: a line of metadata with spans of
tokens and the places of nodes in the tree, ``# ::alignments 1-2|0.0``; the first child of a node
at ``0.1`` is at ``0.1.0``, and a variable that is mentioned again is no child.

>>> from graphconv.io import loads
>>> [graph] = loads("# ::tok The boy left\n(l / leave-11~e.2 :ARG0 (b / boy~e.1))")
>>> [(node.id, node.anchors) for node in graph.nodes]
[('l', (2,)), ('b', (1,))]
>>> print(with_alignments(graph, "jamr"))
# ::tok The boy left
# ::alignments 2-3|0 1-2|0.0
(l / leave-11
      :ARG0 (b / boy))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from graphconv.codecs import Block
from graphconv.errors import FormatError
from graphconv.graph import Attributes, Graph, Node

FIELD = "alignments"
"""The name of JAMR's line."""

_MARKS = ("alignment", "target_alignment")
_SPAN = re.compile(r"([0-9]+)-([0-9]+)\|([0-9.+]+)")


def with_alignments(graph: Graph, style: str) -> Graph:
    """Return an AMR that is written with its anchors as alignments in that style, or with none."""
    if style not in STYLES:
        raise FormatError(f"there is no style {style!r} of alignments: choose {', '.join(STYLES)}")
    if graph.framework != "amr":
        raise FormatError(f"graph {graph.id}: only AMR is written with alignments")
    return STYLES[style](graph)


def without_alignments(graph: Graph) -> Graph:
    """Return the graph without marks and without JAMR's line; anchors stay."""
    return replace(
        graph,
        nodes=tuple(node._replace(attributes=_unmarked(node.attributes)) for node in graph.nodes),
        edges=tuple(edge._replace(attributes=_unmarked(edge.attributes)) for edge in graph.edges),
        metadata=tuple(pair for pair in graph.metadata if pair[0] != FIELD),
    )


def _isi(graph: Graph) -> Graph:
    bare = without_alignments(graph)
    return replace(bare, nodes=tuple(map(_marked, bare.nodes)))


def _marked(node: Node) -> Node:
    if not node.anchors:
        return node
    mark = "e." + ",".join(map(str, sorted(node.anchors)))
    return node._replace(attributes=(*node.attributes, ("alignment", mark)))


def _jamr(graph: Graph) -> Graph:
    from graphconv.codecs.amr import reader  # noqa: PLC0415 - it needs this module

    # The places of nodes are those of the text, which the marks show after reading it again.
    text = reader.format(replace(_isi(graph), extras=()))
    again, places = reader.parse_with_places(Block(text, "", 1))
    found = [
        f"{start}-{end}|{place}"
        for node, place in zip(again.nodes, places, strict=True)
        for start, end in _ranges(sorted(node.anchors))
    ]
    bare = without_alignments(graph)
    return replace(bare, metadata=(*bare.metadata, (FIELD, " ".join(found)))) if found else bare


def _ranges(positions: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield [start, end) of each run of neighbors."""
    start = 0
    for i in range(1, len(positions) + 1):
        if i == len(positions) or positions[i] != positions[i - 1] + 1:
            yield positions[start], positions[i - 1] + 1
            start = i


def _unmarked(attributes: Attributes) -> Attributes:
    return tuple(pair for pair in attributes if pair[0] not in _MARKS)


def read_line(line: Any, places: Sequence[str], tokens: int) -> list[tuple[int, ...]]:
    """Return the anchors of the nodes at *places* that JAMR's line gives them.

    >>> read_line("0-1|0.0 1-3|0+0.1 ::annotator x", ["0", "0.0", "0.1"], 3)
    [(1, 2), (0,), (1, 2)]
    """
    found: dict[str, list[int]] = {}
    for start, end, names in _SPAN.findall(str(line)):
        if int(start) < int(end) <= tokens:
            for name in names.split("+"):
                found.setdefault(name, []).extend(range(int(start), int(end)))
    return [tuple(dict.fromkeys(found.get(place, ()))) for place in places]


STYLES: dict[str, Callable[[Graph], Graph]] = {
    "isi": _isi,
    "jamr": _jamr,
    "none": without_alignments,
}
"""The ways to write alignments."""
