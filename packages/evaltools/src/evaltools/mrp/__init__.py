"""MRP F1, the score of the shared tasks on Cross-Framework Meaning Representation Parsing.

Tops, labels, properties, anchors, edges and attributes of edges are counted under one alignment of
nodes, the one that matches most of them in all: the maximum common edge subgraph. mtool searches
for it up to a limit; here it is proved, by the solver of Smatch.

>>> from graphconv.graph import Edge, Graph, Node
>>> gold = Graph("1", "amr", nodes=(Node("w", "want-01"), Node("b", "boy")),
...              edges=(Edge("w", "b", "ARG0"),), tops=("w",))
>>> pred = Graph("1", "amr", nodes=(Node("x", "boy"), Node("y", "want-01")),
...              edges=(Edge("y", "x", "ARG1"),), tops=("y",))
>>> scores = score([gold], [pred])
>>> scores.labels, scores.edges, scores.main
(Counts(gold=2, pred=2, match=2), Counts(gold=1, pred=1, match=0), Counts(gold=4, pred=4, match=3))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evaltools.amr_triples import Triples
from evaltools.counts import Counts
from evaltools.items import PairedItems
from evaltools.mrp.items import KINDS, check_texts, items, kind_of, triples
from evaltools.smatch.alignment import Settings, align, matched
from evaltools.smatch.items import aligned
from graphconv.graph import Graph

__all__ = ["ZERO", "Scores", "items", "pair_counts", "paired_items", "score"]

_NONE = Counts()
_NOTHING = Triples((), frozenset())


@dataclass(frozen=True, slots=True)
class Scores:
    """The counts of the six kinds of items; they add up over graphs."""

    tops: Counts = _NONE
    labels: Counts = _NONE
    properties: Counts = _NONE
    anchors: Counts = _NONE
    edges: Counts = _NONE
    attributes: Counts = _NONE
    bound: int = 0
    """The most items that any alignment could match."""

    def __add__(self, other: Scores) -> Scores:
        sums = {kind: getattr(self, kind) + getattr(other, kind) for kind in KINDS}
        return Scores(bound=self.bound + other.bound, **sums)

    @property
    def main(self) -> Counts:
        """All items together, the official score."""
        return sum((getattr(self, kind) for kind in KINDS), Counts())

    @property
    def certified(self) -> bool:
        """Whether every alignment is proved to be the best."""
        return self.main.match == self.bound

    def to_json(self) -> dict[str, Any]:
        """Return the metric's part of the report."""
        report: dict[str, Any] = {kind: getattr(self, kind).to_json() for kind in KINDS}
        report["all"] = self.main.to_json()
        if not self.certified:
            report["all"]["bound"] = self.bound
        return report


ZERO = Scores()


def score(
    gold_graphs: Iterable[Graph],
    pred_graphs: Iterable[Graph | None],
    *,
    time_limit: float | None = None,
) -> Scores:
    """Score two equally long sequences of graphs."""
    total = ZERO
    for gold, pred in zip(gold_graphs, pred_graphs, strict=True):
        total += pair_counts(gold, pred, time_limit=time_limit)
    return total


def pair_counts(gold: Graph, pred: Graph | None, *, time_limit: float | None = None) -> Scores:
    """Score one pair; no prediction counts as a graph without nodes.

    Args:
        gold: The gold graph.
        pred: The predicted graph.
        time_limit: Seconds after which the best alignment so far is taken, with its bound.

    Raises:
        ConversionError: The two graphs are not about the same text.
    """
    if pred is not None:
        check_texts(gold, pred)
    wanted, found = triples(gold), triples(pred) if pred else _NOTHING
    alignment = align(wanted, found, Settings(time_limit=time_limit))
    sizes = [Counter(map(kind_of, side.items)) for side in (wanted, found)]
    pairs = matched(wanted, found, alignment.columns)
    matches = Counter(kind_of(triple) for triple, _ in pairs)
    counts = {kind: Counts(sizes[0][kind], sizes[1][kind], matches[kind]) for kind in KINDS}
    return Scores(bound=alignment.bound, **counts)


def paired_items(gold: Graph, pred: Graph, *, time_limit: float | None = None) -> PairedItems:
    """Return the items of both graphs, gold's with the nodes of the prediction."""
    sides = items(gold), items(pred)
    return aligned(triples(gold), triples(pred), Settings(time_limit=time_limit), sides)
