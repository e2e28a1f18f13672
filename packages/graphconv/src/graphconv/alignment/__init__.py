r"""Align: which words the nodes of an AMR stand for, by rules and statistics, without any model.

>>> from graphconv.graph import Edge, Token
>>> nodes = (Node("t", "teach-01"), Node("p", "person"), Node(":0", "-", constant=True))
>>> edges = (Edge("t", "p", "ARG0"), Edge("t", ":0", "polarity"))
>>> tokens = tuple(map(Token, "The people never teach .".split()))
>>> result = align(Graph("1", "amr", tokens, nodes, edges, ("t",)))
>>> result.words
{'t': (3,), 'p': (1,), ':0': (2,)}

In this order:

1. Marks that are there stay.
2. A node goes to the word that fits its label best (:mod:`.words`). Of several, to the one where
   its neighbors let expect it (:mod:`.statistics`); two nodes with the same label go to
   different words.
3. Names, and what has a name, go to the words of the name; dates to those of their parts.
4. What no word says goes where its parts go: ``person`` to the teacher of ``:ARG0-of teach-01``,
   ``have-org-role-91`` to its ``:ARG2``.
5. The rest goes to the most probable word, from what was learned, unless none is likelier.

``:wiki`` links have no words. What has none in the end is told as unaligned.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from graphconv.alignment.aligner import Aligner, links
from graphconv.alignment.statistics import learned
from graphconv.graph import Graph, Node, attribute

__all__ = ["Alignment", "align"]


class Alignment(NamedTuple):
    """A graph with marks, the words of each node, and the nodes that have none."""

    graph: Graph
    words: dict[str, tuple[int, ...]]
    unaligned: tuple[Node, ...]


def align(graph: Graph, *, statistics: bool = True) -> Alignment:
    """Align the nodes of an AMR with its tokens, as marks ``~e.N``; existing marks stay.

    Without *statistics*, by rules alone.
    """
    words = Aligner(graph, learned() if statistics else None).aligned()
    nodes = tuple(_marked(node, words.get(node.id, ())) for node in graph.nodes)
    unlinked = links(graph)
    unaligned = tuple(
        node
        for node in nodes
        if attribute(node.attributes, "alignment") is None and node.id not in unlinked
    )
    return Alignment(replace(graph, nodes=nodes), words, unaligned)


def _marked(node: Node, positions: tuple[int, ...]) -> Node:
    if not positions or not node.label or any(name == "alignment" for name, _ in node.attributes):
        return node
    mark = f"e.{','.join(map(str, positions))}"
    return node._replace(
        anchors=node.anchors or positions, attributes=(*node.attributes, ("alignment", mark))
    )
