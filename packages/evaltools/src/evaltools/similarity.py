"""The mean similarity of graphs, in the form that every metric's statistics have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evaltools.counts import Counts

SCALE = 1_000_000
"""Similarities are kept as whole millionths, so that sums do not depend on their order."""


@dataclass(frozen=True, slots=True)
class Similarity:
    """The sum of similarities; the score of a corpus is their mean.

    >>> (similar("wlk", 0.5) + similar("wlk", 1.0)).percent
    75.0
    """

    name: str
    graphs: int = 0
    millionths: int = 0

    def __add__(self, other: Similarity) -> Similarity:
        graphs, millionths = self.graphs + other.graphs, self.millionths + other.millionths
        return Similarity(self.name, graphs, millionths)

    @property
    def percent(self) -> float:
        """The mean similarity in percent."""
        return self.main.f1

    @property
    def main(self) -> Counts:
        """Each graph as a million items, of which as many match as it is similar."""
        return Counts(self.graphs * SCALE, self.graphs * SCALE, self.millionths)

    def to_json(self) -> dict[str, Any]:
        """Return the metric's part of the report."""
        return {self.name: self.percent}


def similar(name: str, similarity: float) -> Similarity:
    """Return the similarity, from 0 to 1, of one pair."""
    return Similarity(name, 1, round(min(max(similarity, 0.0), 1.0) * SCALE))
