"""Scores of semantic dependency graphs (DM, PAS, PSD), as defined for SemEval 2014 and 2015.

An item is an edge (source, target, label); the unlabelled score leaves the label out. Each top is
one more item, an edge from outside; ``without_tops`` has the scores without them. The match scores
are the share of graphs whose items are all right. Two more scores look at verbs only (predicates
with a part of speech that starts with V): a *complete predication* is a verb with all its core
arguments, a *semantic frame* is the same with the verb's sense.

Core arguments are all arguments in DM, those with a label in ``-arg`` in PSD. In PAS the definition
of the task says all; the official program has a list of labels instead, the arguments of verbs,
adjectives, prepositions and coordination, so that auxiliaries have none. ``complete_predications``
and ``semantic_frames`` follow the definition, those under ``listed_arguments`` the list.

Nodes are compared by position, so graphs from different file formats can be compared. Where a
format says nothing about predicates, the sources of edges are taken, and gold's part of speech
where the prediction has none.

>>> from graphconv.graph import Edge, Graph, Node, Token
>>> def rains(label):
...     tokens = Token("It", pos="PRP"), Token("rains", pos="VBZ")
...     nodes = Node("1", anchors=(0,)), Node("2", anchors=(1,))
...     return Graph("1", "dm", tokens, nodes, (Edge("2", "1", label),), ("2",))
>>> result = pair_counts(rains("ARG1"), rains("ARG2"))
>>> result.labelled, result.unlabelled, result.complete_predications
(Counts(gold=2, pred=2, match=1), Counts(gold=2, pred=2, match=2), Counts(gold=1, pred=1, match=0))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from evaltools.counts import Counts
from evaltools.items import Item, PairedItems
from evaltools.tokens import check_tokens
from graphconv.errors import ConversionError
from graphconv.graph import Graph, attribute

Anchors = tuple[int, ...]
Frame = tuple[str | None, set[tuple[Anchors, str]]]
"""The sense of a verb, and its arguments with their labels."""
IsCore = Callable[[str], Any]
"""Says whether edges with a label lead to core arguments."""

_LISTED = re.compile(r"(verb|adj|prep|coord)(_mod)?_ARG\d", re.IGNORECASE).fullmatch
# A framework that is not mentioned has core arguments only, or no list that differs.
_CORE: dict[str, IsCore] = {"psd": lambda label: label.endswith("-arg")}
_LISTED_CORE: dict[str, IsCore] = {"pas": _LISTED}
_NONE = Counts()


@dataclass(frozen=True, slots=True)
class Scores:
    """The counts of all SDP scores; they add up over sentences."""

    graphs: int = 0
    edges: Counts = _NONE
    """Labelled edges, without tops."""
    pairs: Counts = _NONE
    """Unlabelled edges, without tops."""
    tops: Counts = _NONE
    exact: int = 0
    """Graphs with the right labelled edges and tops; the next three are variants of it."""
    exact_unlabelled: int = 0
    exact_edges: int = 0
    exact_pairs: int = 0
    complete_predications: Counts = _NONE
    semantic_frames: Counts = _NONE
    listed_predications: Counts = _NONE
    listed_frames: Counts = _NONE

    def __add__(self, other: Scores) -> Scores:
        return Scores(*[getattr(self, name) + getattr(other, name) for name in _FIELDS])

    @property
    def labelled(self) -> Counts:
        """Labelled edges and tops: LP, LR, LF."""
        return self.edges + self.tops

    @property
    def unlabelled(self) -> Counts:
        """Unlabelled edges and tops: UP, UR, UF."""
        return self.pairs + self.tops

    @property
    def main(self) -> Counts:
        """The official score, labelled with tops."""
        return self.labelled

    def to_json(self) -> dict[str, Any]:
        """Return the metric's part of the report."""
        return {
            "labelled": self.labelled.to_json(),
            "unlabelled": self.unlabelled.to_json(),
            "labelled_match": self._share(self.exact),
            "unlabelled_match": self._share(self.exact_unlabelled),
            "without_tops": {
                "labelled": self.edges.to_json(),
                "unlabelled": self.pairs.to_json(),
                "labelled_match": self._share(self.exact_edges),
                "unlabelled_match": self._share(self.exact_pairs),
            },
            "complete_predications": self.complete_predications.to_json(),
            "semantic_frames": self.semantic_frames.to_json(),
            "listed_arguments": {
                "complete_predications": self.listed_predications.to_json(),
                "semantic_frames": self.listed_frames.to_json(),
            },
        }

    def _share(self, exact: int) -> float:
        return 100.0 * exact / self.graphs if self.graphs else 100.0


_FIELDS = tuple(field.name for field in fields(Scores))

ZERO = Scores()


class _Items(NamedTuple):
    """What is compared, every node by its anchors."""

    edges: set[tuple[Anchors, Anchors, str]]
    pairs: set[tuple[Anchors, Anchors]]
    tops: set[Anchors]
    verbs: dict[Anchors, Frame]


_EMPTY = _Items(set(), set(), set(), {})


def score(gold_graphs: Iterable[Graph], pred_graphs: Iterable[Graph | None]) -> Scores:
    """Score two equally long sequences of graphs."""
    total = ZERO
    for gold, pred in zip(gold_graphs, pred_graphs, strict=True):
        total += pair_counts(gold, pred)
    return total


def pair_counts(gold: Graph, pred: Graph | None) -> Scores:
    """Score one pair; no prediction counts as a graph without nodes.

    Raises:
        ConversionError: The two graphs are not about the same tokens, or a node has no position.
    """
    if pred is not None and (pred.nodes or pred.tokens):
        check_tokens(gold, pred)
    wanted = _items(gold, gold)
    found = _items(pred, gold) if pred else _EMPTY
    same_edges = wanted.edges == found.edges
    same_pairs = same_edges or wanted.pairs == found.pairs
    same_tops = wanted.tops == found.tops
    frames = _count_frames(wanted.verbs, found.verbs, _CORE.get(gold.framework))
    listed = _LISTED_CORE.get(gold.framework)
    return Scores(
        1,
        _count(wanted.edges, found.edges),
        _count(wanted.pairs, found.pairs),
        _count(wanted.tops, found.tops),
        same_edges and same_tops,
        same_pairs and same_tops,
        same_edges,
        same_pairs,
        *frames,
        *(_count_frames(wanted.verbs, found.verbs, listed) if listed else frames),
    )


def _count(gold: set[Any], pred: set[Any]) -> Counts:
    return Counts(len(gold), len(pred), len(gold & pred))


def _count_frames(
    gold: dict[Anchors, Frame], pred: dict[Anchors, Frame], is_core: IsCore | None
) -> tuple[Counts, Counts]:
    """Count complete predications and semantic frames."""
    predications = frames = 0
    for position in gold.keys() & pred.keys():
        (sense, arguments), (other_sense, other_arguments) = gold[position], pred[position]
        if is_core:
            arguments = {argument for argument in arguments if is_core(argument[1])}
            other_arguments = {argument for argument in other_arguments if is_core(argument[1])}
        if arguments == other_arguments:
            predications += 1
            frames += sense == other_sense
    sizes = len(gold), len(pred)
    return Counts(*sizes, predications), Counts(*sizes, frames)


def _items(graph: Graph, gold: Graph) -> _Items:
    anchors: dict[str, Anchors] = {}
    verbs: dict[str, Frame] = {}
    sources = {edge[0] for edge in graph.edges}
    # Plain indices instead of names: scoring must not take long beside reading.
    for node in graph.nodes:
        position = anchors[node[0]] = node[2]
        if not position:
            raise ConversionError(f"node {node.id!r} has no position", graph_id=graph.id)
        if node[0] in sources or attribute(node[5], "pred") == "+":
            first = position[0]
            token = graph.tokens[first]
            pos = token[2] or attribute(node[5], "pos") or gold.tokens[first][2]
            if pos and pos[0] == "V":
                sense = attribute(token[4], "frame", attribute(node[5], "frame"))
                verbs[node[0]] = sense, set()
    edges = set()
    for source, target, label, _, _ in graph.edges:
        end = anchors[target]
        edges.add((anchors[source], end, label))
        if source in verbs:
            verbs[source][1].add((end, label))
    return _Items(
        edges,
        {edge[:2] for edge in edges},
        {anchors[top] for top in graph.tops},
        {anchors[node_id]: frame for node_id, frame in verbs.items()},
    )


def items(graph: Graph) -> list[Item]:
    """Return the labelled edges and the tops of a graph, every node by its position."""
    anchors = {node.id: node.anchors for node in graph.nodes}
    words = {
        node.id: " ".join(graph.tokens[position].form for position in node.anchors)
        for node in graph.nodes
    }
    found = [Item((anchors[top],), f"top {words[top]}", (top,)) for top in graph.tops]
    found += [
        Item(
            (anchors[source], anchors[target], label),
            f"{words[source]} --{label}--> {words[target]}",
            edges=(number,),
        )
        for number, (source, target, label, *_) in enumerate(graph.edges)
    ]
    return list({item.key: item for item in reversed(found)}.values())[::-1]


def paired_items(gold: Graph, pred: Graph) -> PairedItems:
    """Return the items of both graphs, whose keys need no alignment."""
    positions = {node.anchors: node.id for node in reversed(pred.nodes)}
    pairs = [(n.id, positions.pop(n.anchors)) for n in gold.nodes if n.anchors in positions]
    return PairedItems(items(gold), items(pred), pairs)
