"""Smatch: the share of matching triples under the best alignment of variables, proved optimal.

>>> from graphconv.graph import Edge, Graph, Node
>>> gold = Graph("1", "amr", nodes=(Node("w", "want-01"), Node("b", "boy")),
...              edges=(Edge("w", "b", "ARG0"),), tops=("w",))
>>> pred = Graph("1", "amr", nodes=(Node("x", "boy"), Node("y", "want-01")),
...              edges=(Edge("y", "x", "ARG1"),), tops=("y",))
>>> score([gold], [pred]).smatch
Counts(gold=4, pred=4, match=3)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from evaltools.amr_triples import PROFILES, Triples
from evaltools.counts import Counts
from evaltools.smatch.alignment import Settings, align
from evaltools.smatch.fine_grained import fine_grained_counts
from evaltools.smatch.items import items, paired_items
from graphconv.graph import Graph

__all__ = ["ZERO", "Scores", "items", "pair_counts", "paired_items", "score"]

_NOTHING = Triples((), frozenset())


@dataclass(frozen=True, slots=True)
class Scores:
    """Smatch counts, and those of the fine-grained scores by name; they add up over graphs."""

    smatch: Counts = field(default_factory=Counts)
    bound: int = 0
    """The most triples that any alignment could match."""
    fine_grained: dict[str, Counts] = field(default_factory=dict)
    fine_bound: int = 0
    """The sum of the matches of the fine-grained scores, if every search found the best."""

    def __add__(self, other: Scores) -> Scores:
        names = self.fine_grained | other.fine_grained
        none = Counts()
        return Scores(
            self.smatch + other.smatch,
            self.bound + other.bound,
            {
                name: self.fine_grained.get(name, none) + other.fine_grained.get(name, none)
                for name in names
            },
            self.fine_bound + other.fine_bound,
        )

    @property
    def main(self) -> Counts:
        """The Smatch counts."""
        return self.smatch

    @property
    def certified(self) -> bool:
        """Whether every value is proved optimal."""
        found = sum(counts.match for counts in self.fine_grained.values())
        return self.smatch.match == self.bound and found == self.fine_bound

    def to_json(self) -> dict[str, Any]:
        """Return the metric's part of the report."""
        report: dict[str, Any] = {"smatch": self.smatch.to_json()}
        if self.smatch.match < self.bound:
            report["smatch"]["bound"] = self.bound
        if self.fine_grained:
            report["fine_grained"] = {
                name: counts.to_json() for name, counts in self.fine_grained.items()
            }
        return report


ZERO = Scores()


def score(
    gold_graphs: Iterable[Graph],
    pred_graphs: Iterable[Graph | None],
    *,
    profile: str = "smatch-1.0.4",
    fine_grained: bool = False,
    restarts: int | None = None,
    seed: int = 0,
    time_limit: float | None = None,
) -> Scores:
    """Score two equally long sequences of graphs; the options are those of :func:`pair_counts`.

    Raises:
        TypeError: Given strings; :func:`evaltools.score` takes those, and paths.
    """
    given: tuple[object, ...] = (gold_graphs, pred_graphs)
    if any(isinstance(one, str) for one in given):
        raise TypeError("smatch.score takes graphs; evaltools.score takes strings and paths, too")
    total = ZERO
    for gold, pred in zip(gold_graphs, pred_graphs, strict=True):
        total += pair_counts(
            gold,
            pred,
            profile=profile,
            fine_grained=fine_grained,
            restarts=restarts,
            seed=seed,
            time_limit=time_limit,
        )
    return total


def pair_counts(
    gold: Graph,
    pred: Graph | None,
    *,
    profile: str = "smatch-1.0.4",
    fine_grained: bool = False,
    restarts: int | None = None,
    seed: int = 0,
    time_limit: float | None = None,
) -> Scores:
    """Score one pair; no prediction counts as a graph without triples.

    Args:
        gold: The gold graph.
        pred: The predicted graph.
        profile: Which triples a graph has, a key of ``PROFILES``.
        fine_grained: Also compute the scores of Damonte et al. (2017).
        restarts: Plain hill-climbing with so many random starts instead of the proved optimum.
        seed: The seed of these random starts.
        time_limit: Seconds after which the best value so far is taken, with its bound.
    """
    triples_of = PROFILES[profile]
    settings = Settings(restarts, seed, time_limit)
    found = align(triples_of(gold), triples_of(pred) if pred else _NOTHING, settings)
    if not fine_grained:
        return Scores(found.counts, found.bound)
    fine, fine_bound = fine_grained_counts(gold, pred, triples_of, settings)
    return Scores(found.counts, found.bound, fine, fine_bound)
