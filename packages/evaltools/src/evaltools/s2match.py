"""S2match (Opitz, Parcalabescu and Frank 2020, TACL 8): Smatch that knows similar concepts.

Two concepts are worth 1 if they are equal, one half if only their senses differ (``hit-01`` and
``hit-02``, or ``hit``), and, with word vectors, the cosine of their vectors where it is above one
half, again halved if one of them is a frame. All other triples are those of Smatch. Which variable
stands for which is proved to be best, in thousandths of a triple.

Vectors are looked up as in the authors' program: a frame by its lemma, to which the vector of the
lemma with ``s`` is added; another concept by itself, or as the sum of the parts between hyphens.

>>> from graphconv.graph import Graph, Node
>>> def alone(concept):
...     return Graph("1", "amr", nodes=(Node("a", concept),), tops=("a",))
>>> score([alone("hit-01")], [alone("hit-02")]).main
Counts(gold=2000, pred=2000, match=1500)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Any

from evaltools.amr_triples import INSTANCE, Triples, smatch_triples
from evaltools.counts import Counts
from evaltools.smatch.problem import Problem, add_pair, build
from evaltools.smatch.search import solve
from evaltools.vectors import Vector, read_vectors
from graphconv.graph import Graph

UNIT = 1000
"""What a triple is worth."""

_NONE = Counts()
_CUTOFF = 0.5
_OTHER_SENSE = 0.5
_frame = re.compile(r"(.+)-[0-9]+").fullmatch


@dataclass(frozen=True, slots=True)
class Scores:
    """Counts in thousandths of a triple; they add up over graphs."""

    s2match: Counts = _NONE
    bound: int = 0
    """The most that any alignment could match."""

    def __add__(self, other: Scores) -> Scores:
        return Scores(self.s2match + other.s2match, self.bound + other.bound)

    @property
    def main(self) -> Counts:
        """The counts in thousandths."""
        return self.s2match

    @property
    def certified(self) -> bool:
        """Whether every alignment is proved to be the best."""
        return self.s2match.match == self.bound

    def to_json(self) -> dict[str, Any]:
        """Return the metric's part of the report, in triples."""
        report: dict[str, Any] = dict(self.s2match.to_json())
        for name in ("gold", "pred", "match"):
            report[name] /= UNIT
        if not self.certified:
            report["bound"] = self.bound / UNIT
        return {"s2match": report}


ZERO = Scores()


def score(
    gold_graphs: Iterable[Graph],
    pred_graphs: Iterable[Graph | None],
    *,
    vectors: str | None = None,
    time_limit: float | None = None,
) -> Scores:
    """Score two equally long sequences of graphs; the options are those of :func:`pair_counts`."""
    total = ZERO
    for gold, pred in zip(gold_graphs, pred_graphs, strict=True):
        total += pair_counts(gold, pred, vectors=vectors, time_limit=time_limit)
    return total


def pair_counts(
    gold: Graph, pred: Graph | None, *, vectors: str | None = None, time_limit: float | None = None
) -> Scores:
    """Score one pair; no prediction counts as a graph without triples.

    Args:
        gold: The gold graph.
        pred: The predicted graph.
        vectors: The path of word vectors in GloVe's text format.
        time_limit: Seconds after which the best value so far is taken, with its bound.
    """
    left = smatch_triples(gold)
    right = smatch_triples(pred) if pred else Triples((), frozenset())
    value, bound, _ = solve(_problem(left, right, vectors), time_limit)
    return Scores(Counts(UNIT * len(left.items), UNIT * len(right.items), value), bound)


def _problem(left: Triples, right: Triples, vectors: str | None) -> Problem:
    """Return Smatch's problem in thousandths, with what similar concepts gain."""
    problem = build(left, right)
    problem.constant *= UNIT
    problem.gain = [UNIT * gain for gain in problem.gain]
    problem.partners = [
        {pair: UNIT * gain for pair, gain in around.items()} for around in problem.partners
    ]
    concepts = [
        sorted((int(s), str(t)) for s, role, t in side.items if role == INSTANCE)
        for side in (left, right)
    ]
    for row, concept in concepts[0]:
        for column, other in concepts[1]:
            gain = 0 if concept == other else round(UNIT * similarity(concept, other, vectors))
            if gain:
                pair = problem.pair_of[row].get(column)
                problem.gain[add_pair(problem, row, column) if pair is None else pair] += gain
    return problem


@lru_cache(maxsize=1 << 16)
def similarity(concept: str, other: str, vectors: str | None = None) -> float:
    """Return what two concepts are worth together, from 0 to 1.

    >>> [similarity("hit-01", other) for other in ("hit-01", "hit-02", "hit", "boy")]
    [1.0, 0.5, 0.5, 0.0]
    """
    if concept == other:
        return 1.0
    frames = [_frame(concept), _frame(other)]
    words = [f[1] if f else c for f, c in zip(frames, (concept, other), strict=True)]
    if any(frames) and words[0] == words[1]:
        return _OTHER_SENSE
    found = [_vector(w, bool(f), vectors) for w, f in zip(words, frames, strict=True)]
    if found[0] is None or found[1] is None:
        return 0.0
    cosine = _cosine(found[0], found[1])
    if cosine <= _CUTOFF:
        return 0.0
    return cosine * _OTHER_SENSE if any(frames) else cosine


def _vector(word: str, is_frame: bool, path: str | None) -> Vector | None:
    if path is None:
        return None
    known = read_vectors(path)
    found = known.get(word)
    if is_frame:
        also = known.get(f"{word}s")
        return found if found is None or also is None else _sum([found, also])
    if found is None and "-" in word:
        parts = [part for part in map(known.get, word.split("-")) if part is not None]
        return _sum(parts) if parts else None
    return found


def _sum(vectors: list[Vector]) -> Vector:
    return tuple(map(sum, zip(*vectors, strict=True)))


def _cosine(one: Vector, two: Vector) -> float:
    norm = sqrt(sum(x * x for x in one) * sum(x * x for x in two))
    return sum(x * y for x, y in zip(one, two, strict=True)) / norm if norm else 0.0
