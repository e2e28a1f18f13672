"""UCCA scores: labelled, unlabelled and weak F1 of primary, remote and implicit units.

A unit is known by its yield, the set of its words. Units of one yield make one item with the union
of their categories; an implicit unit is known by its parent's yield. Two items match if the yield
is the same and (labelled) a category is shared; the weak match lets P pass for S, H for C, N for L
and F for R. Counts equal those of the ``ucca`` toolkit 1.3.11; ``all`` is primary + remote, as in
SemEval 2019.

Where the toolkit fails, these rules hold: an F or a lone A that is a terminal does not swallow its
unit, a lone A without a primary parent stays, a coordinated main relation without centers is not
split, an implicit participant listed twice is deleted once, a scene with an H as second category
(``A|H``) is not separated again and again.

>>> from graphconv.graph import Edge, Graph, Node, Token
>>> def dogs(category):
...     nodes = Node("1.1"), Node("1.2"), Node("1.3", anchors=(0,)), Node("1.4", anchors=(1,))
...     edges = Edge("1.1", "1.2", "H"), Edge("1.2", "1.3", "A"), Edge("1.2", "1.4", category)
...     return Graph("1", "ucca", (Token("Dogs"), Token("bark")), nodes, edges, ("1.1",))
>>> result = pair_counts(dogs("P"), dogs("S"))
>>> result.labelled.primary, result.weak.primary
(Counts(gold=3, pred=3, match=2), Counts(gold=3, pred=3, match=3))
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from evaltools.counts import Counts
from evaltools.tokens import check_tokens
from evaltools.ucca.normalize import move_common_functions, normalize_passage
from evaltools.ucca.passage import LINKAGE_UNIT, PUNCTUATION, Passage, passages
from graphconv.graph import LINKAGE, Graph

_WEAK = {"P": "S", "S": "P", "H": "C", "C": "H", "N": "L", "L": "N", "F": "R", "R": "F"}
_EXCLUDED = LINKAGE | {"Terminal"}

_NONE = Counts()

Items = dict[int, set[str]]
"""The categories at each yield."""


@dataclass(frozen=True, slots=True)
class Constructions:
    """The counts of each kind of unit under one kind of match."""

    primary: Counts = _NONE
    remote: Counts = _NONE
    implicit: Counts = _NONE

    def __add__(self, other: Constructions) -> Constructions:
        return Constructions(
            self.primary + other.primary,
            self.remote + other.remote,
            self.implicit + other.implicit,
        )

    @property
    def all(self) -> Counts:
        """Primary and remote units together, the score of SemEval 2019."""
        return self.primary + self.remote

    def to_json(self) -> dict[str, Any]:
        """Return the six numbers of each construction."""
        counts = (self.primary, self.remote, self.implicit, self.all)
        return {
            name: count.to_json()
            for name, count in zip(("primary", "remote", "implicit", "all"), counts, strict=True)
        }


@dataclass(frozen=True, slots=True)
class Scores:
    """The counts of every construction under every kind of match; they add up over passages."""

    labelled: Constructions = field(default_factory=Constructions)
    unlabelled: Constructions = field(default_factory=Constructions)
    weak: Constructions = field(default_factory=Constructions)

    def __add__(self, other: Scores) -> Scores:
        return Scores(
            self.labelled + other.labelled,
            self.unlabelled + other.unlabelled,
            self.weak + other.weak,
        )

    @property
    def main(self) -> Counts:
        """Labelled primary + remote."""
        return self.labelled.all

    def to_json(self) -> dict[str, Any]:
        """Return the metric's part of the report."""
        return {item.name: getattr(self, item.name).to_json() for item in fields(self)}


ZERO = Scores()


def score(
    gold_graphs: Iterable[Graph], pred_graphs: Iterable[Graph | None], *, normalize: bool = True
) -> Scores:
    """Score two equally long sequences of graphs."""
    total = ZERO
    for gold, pred in zip(gold_graphs, pred_graphs, strict=True):
        total += pair_counts(gold, pred, normalize=normalize)
    return total


def pair_counts(gold: Graph, pred: Graph | None, *, normalize: bool = True) -> Scores:
    """Score one pair; no prediction, or one without nodes, has no units.

    Raises:
        ConversionError: The two graphs are not about the same tokens.
    """
    found = items_of(gold, pred, normalize=normalize)
    return _compare(found[0], found[1] if len(found) == 2 else ({}, {}, {}))


def items_of(
    gold: Graph, pred: Graph | None, *, normalize: bool
) -> list[tuple[Items, Items, Items]]:
    """Return the primary, remote and implicit items of one or two graphs, normalized together."""
    if pred is None or not pred.nodes:
        sides = passages(gold)
    else:
        check_tokens(gold, pred)
        sides = passages(gold, pred)
    if normalize:
        for side in sides:
            normalize_passage(side)
    for side in sides:
        side.compute_yields()
    if normalize and len(sides) == 2:
        move_common_functions(*sides)
        for side in sides:
            side.compute_yields()
    return [_items(side) for side in sides]


def _items(passage: Passage) -> tuple[Items, Items, Items]:
    """Collect the primary, remote and implicit items."""
    primary: Items = {}
    remote: Items = {}
    implicit: Items = {}
    for parent in passage.units.values():
        for edge in parent.out:
            child = edge.child
            categories = edge.categories
            if child.key < 0 or child.tag is LINKAGE_UNIT or not _EXCLUDED.isdisjoint(categories):
                continue
            if child.implicit:
                if not edge.remote:
                    implicit.setdefault(parent.span, set()).update(categories)
            elif child.tag is not PUNCTUATION and "U" not in categories:
                items = remote if edge.remote else primary
                items.setdefault(child.span, set()).update(categories)
    return primary, remote, implicit


def _compare(
    gold_items: tuple[Items, Items, Items], pred_items: tuple[Items, Items, Items]
) -> Scores:
    labelled, unlabelled, weak = [], [], []
    for gold, pred in zip(gold_items, pred_items, strict=True):
        common = gold.keys() & pred.keys()
        exact = loose = 0
        for span in common:
            if not gold[span].isdisjoint(pred[span]):
                exact += 1
            elif any(_WEAK.get(category) in gold[span] for category in pred[span]):
                loose += 1
        sizes = len(gold), len(pred)
        labelled.append(Counts(*sizes, exact))
        unlabelled.append(Counts(*sizes, len(common)))
        weak.append(Counts(*sizes, exact + loose))
    return Scores(Constructions(*labelled), Constructions(*unlabelled), Constructions(*weak))
