"""WLK, the Weisfeiler-Leman kernel for AMR (Opitz, Daza and Frank 2021, TACL 9).

Two graphs are compared as bags of labels. At first these are the nodes and the triples; in each of
two rounds a node's label becomes its own with those of its neighbors and the roles between them.
The counts of round k weigh 1 / (k + 1), and the similarity is the cosine of the two vectors. As in
the authors' program, equal labels of one graph are numbered, from the last one on, so that a
second ``person`` is another feature; case and quotes count, and every ``-of`` is turned.

>>> from graphconv.graph import Edge, Graph, Node
>>> def wants(role):
...     nodes = Node("w", "want-01"), Node("b", "boy")
...     return Graph("1", "amr", nodes=nodes, edges=(Edge("w", "b", role),), tops=("w",))
>>> score([wants("ARG0")], [wants("ARG0")]).similarity
100.0
>>> round(score([wants("ARG0")], [wants("ARG1")]).similarity, 2)
53.73
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from typing import Any

from evaltools.counts import Counts
from evaltools.written import turned, written
from graphconv.graph import Graph

SCALE = 1_000_000
"""Similarities are kept as whole millionths, so that sums do not depend on their order."""

_ROUNDS = 2


@dataclass(frozen=True, slots=True)
class Scores:
    """The sum of similarities; the score of a corpus is their mean."""

    graphs: int = 0
    millionths: int = 0

    def __add__(self, other: Scores) -> Scores:
        return Scores(self.graphs + other.graphs, self.millionths + other.millionths)

    @property
    def similarity(self) -> float:
        """The mean similarity in percent."""
        return self.main.f1

    @property
    def main(self) -> Counts:
        """Each graph as a million items, of which as many match as it is similar."""
        return Counts(self.graphs * SCALE, self.graphs * SCALE, self.millionths)

    def to_json(self) -> dict[str, Any]:
        """Return the metric's part of the report."""
        return {"wlk": self.similarity}


ZERO = Scores()


def score(gold_graphs: Iterable[Graph], pred_graphs: Iterable[Graph | None]) -> Scores:
    """Score two equally long sequences of graphs."""
    total = ZERO
    for gold, pred in zip(gold_graphs, pred_graphs, strict=True):
        total += pair_counts(gold, pred)
    return total


def pair_counts(gold: Graph, pred: Graph | None) -> Scores:
    """Score one pair; no prediction is similar to nothing."""
    one, two = features(gold), features(pred) if pred else {}
    if not one or not two:
        return Scores(1, SCALE if one == two else 0)
    product = sum(weight * two.get(key, 0.0) for key, weight in sorted(one.items()))
    cosine = product / sqrt(_square(one) * _square(two))
    return Scores(1, round(min(cosine, 1.0) * SCALE))


def features(graph: Graph) -> dict[tuple[int, str], float]:
    """Return the weights of the labels and triples of each round."""
    nodes, edges = written(graph)
    labels = _numbered(nodes)
    ends = [(s, role.removesuffix("-of"), t) for s, role, t in map(turned, edges)]
    around: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for source, role, target in ends:
        around[source].append((role, target))
        around[target].append((role, source))
    found: Counter[tuple[int, str]] = Counter((0, label) for label in labels)
    found.update((0, f"{labels[s]} :{role} {labels[t]}") for s, role, t in ends)
    for turn in range(1, _ROUNDS + 1):
        labels = [
            "\0".join(sorted((label, *(f":{role} {labels[n]}" for role, n in around[number]))))
            for number, label in enumerate(labels)
        ]
        found.update((turn, label) for label in labels)
    return {key: min(count, 1) / (key[0] + 1) for key, count in found.items()}


def _numbered(labels: list[str]) -> list[str]:
    left = Counter(labels)
    numbered = []
    for label in labels:
        numbered.append(f"{label}###{left[label]}")
        left[label] -= 1
    return numbered


def _square(weights: dict[tuple[int, str], float]) -> float:
    return sum(weight * weight for _, weight in sorted(weights.items()))
