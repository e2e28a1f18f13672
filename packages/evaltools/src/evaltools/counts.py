"""Counts of gold, predicted and matched items, and the protocol that every metric follows.

>>> sentence = Counts(gold=4, pred=5, match=3)
>>> corpus = sentence + Counts(gold=2, pred=1, match=1)
>>> corpus
Counts(gold=6, pred=6, match=4)
>>> sentence.p, sentence.r
(60.0, 75.0)

The protocol: a metric module (``evaltools.smatch``, ``.sdp``, ``.ucca``, ``.mrp``) has

``pair_counts(gold, pred, **options)``
    The statistics of one pair of graphs, *pred* being None where there is no prediction (it counts
    as an empty graph). The result is a frozen object with ``__add__`` (sums over sentences),
    ``to_json()`` (the fixed keys of the report, percentages included) and the property ``main``:
    the :class:`Counts` behind the metric's headline score, by which graphs are ranked and compared.
``score(gold_graphs, pred_graphs, **options)``
    The sum of ``pair_counts`` over two equally long sequences, in the same type.
``ZERO``
    The neutral element of that sum, so that an empty corpus has a score too.

Corpus scores, per-graph tables, bootstrap and significance tests all come from these sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self


@dataclass(frozen=True, slots=True)
class Counts:
    """How many items are in gold, in the prediction, and in both; they add up over sentences."""

    gold: int = 0
    pred: int = 0
    match: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.gold + other.gold, self.pred + other.pred, self.match + other.match)

    @property
    def p(self) -> float:
        """Precision in percent; nothing predicted is not wrong, so it is 100."""
        return 100.0 * self.match / self.pred if self.pred else 100.0

    @property
    def r(self) -> float:
        """Recall in percent; 100 where gold has nothing to find."""
        return 100.0 * self.match / self.gold if self.gold else 100.0

    @property
    def f1(self) -> float:
        """F1 in percent: 100 if both sides are empty, 0 if only one is."""
        total = self.gold + self.pred
        return 200.0 * self.match / total if total else 100.0

    def to_json(self) -> dict[str, float | int]:
        """Return the six numbers under the keys of the report."""
        return {
            "p": self.p,
            "r": self.r,
            "f1": self.f1,
            "gold": self.gold,
            "pred": self.pred,
            "match": self.match,
        }


class Statistics(Protocol):
    """What ``pair_counts`` of every metric returns; see the module docstring."""

    @property
    def main(self) -> Counts:
        """The counts behind the headline score."""
        ...

    def __add__(self, other: Any, /) -> Self:
        """Return the sum over two sets of sentences."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the metric's part of the report."""
        ...
