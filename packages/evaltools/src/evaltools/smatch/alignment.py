"""Align two graphs: which variable stands for which, and how many triples that matches."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from evaltools.amr_triples import Term, Triple, Triples
from evaltools.counts import Counts
from evaltools.smatch.climb import restarts as climb_from_random_starts
from evaltools.smatch.problem import FREE, build
from evaltools.smatch.search import solve


class Settings(NamedTuple):
    """How to search."""

    restarts: int | None = None
    """Plain hill-climbing with so many random starts; None: the proved optimum."""
    seed: int = 0
    time_limit: float | None = None
    """CPU seconds per pair."""


class Alignment(NamedTuple):
    """The best alignment found, and the most triples that any alignment can match."""

    counts: Counts
    bound: int
    columns: list[int]
    """For each gold variable the predicted one, or FREE."""


def align(gold: Triples, pred: Triples, settings: Settings) -> Alignment:
    """Align two sets of triples."""
    n_gold, n_pred = len(gold.items), len(pred.items)
    problem = build(gold, pred)
    if settings.restarts is None:
        value, bound, columns = solve(problem, settings.time_limit)
        bound = min(bound, n_gold, n_pred)
    else:
        # A generator of its own for each pair: neither order nor processes change a score.
        value, columns = climb_from_random_starts(problem, settings.restarts, Random(settings.seed))
        bound = min(n_gold, n_pred)
    return Alignment(Counts(n_gold, n_pred, value), bound, columns)


def matched(gold: Triples, pred: Triples, columns: list[int]) -> set[tuple[Triple, Triple]]:
    """Return the triples that an alignment matches, each with its counterpart."""

    def image(term: Term) -> Term:
        return columns[term] if isinstance(term, int) else term

    pairs = ((triple, (image(triple[0]), triple[1], image(triple[2]))) for triple in gold.items)
    return {(one, two) for one, two in pairs if FREE not in two and two in pred.items}
