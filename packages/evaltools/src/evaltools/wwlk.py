"""WWLK, the Wasserstein Weisfeiler-Leman kernel for AMR (Opitz, Daza and Frank 2021, TACL 9).

A node is a vector: that of its label, the one after a first round and the one after a second, side
by side, scaled to length 1. In a round each node adds the mean of its neighbors' vectors, weighed
by the role between them. The distance of two graphs is what it costs to move one's nodes onto the
other's (the earth mover's distance, all nodes of a graph with equal shares); it lies between 0 and
2. The authors' program prints its negative; here the score is 1 - distance / 2, in percent, so that
equal graphs have 100.

That program draws the weights of roles (from 0.25 to 0.35) and the vectors of unknown labels at
random, anew in each run. Here both come from the name alone, so that a score is always the same.
Labels are looked up in lower case, without quotes and sense; of several words between hyphens the
greatest numbers are taken. Without word vectors all labels are unknown, and different.

>>> from graphconv.graph import Edge, Graph, Node
>>> def wants(concept):
...     nodes = Node("w", "want-01"), Node("b", concept)
...     return Graph("1", "amr", nodes=nodes, edges=(Edge("w", "b", "ARG0"),), tops=("w",))
>>> score([wants("boy")], [wants("boy")]).percent
100.0
>>> 70 < score([wants("boy")], [wants("girl")]).percent < 95
True
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from random import Random
from typing import Any

from evaltools.similarity import Similarity, similar
from evaltools.vectors import Vector, read_vectors
from evaltools.written import written
from graphconv.graph import Graph

_ROUNDS = 2
_DIMENSIONS = 100
"""Of vectors that are made up, where there are no others."""

ZERO = Similarity("wwlk")


def score(
    gold_graphs: Iterable[Graph],
    pred_graphs: Iterable[Graph | None],
    *,
    vectors: str | None = None,
) -> Similarity:
    """Score two equally long sequences of graphs; *vectors* is a path of word vectors."""
    total = ZERO
    for gold, pred in zip(gold_graphs, pred_graphs, strict=True):
        total += pair_counts(gold, pred, vectors=vectors)
    return total


def pair_counts(gold: Graph, pred: Graph | None, *, vectors: str | None = None) -> Similarity:
    """Score one pair; no prediction is similar to nothing."""
    if not gold.nodes or pred is None or not pred.nodes:
        return similar("wwlk", float(not gold.nodes and not (pred and pred.nodes)))
    from scipy.spatial.distance import cdist  # noqa: PLC0415 - slow to import

    distances = cdist(_embedded(gold, vectors), _embedded(pred, vectors))
    return similar("wwlk", 1 - _earth_movers_distance(distances) / 2)


def _embedded(graph: Graph, vectors: str | None) -> Any:
    """Return the vectors of the nodes, one a row."""
    import numpy as np  # noqa: PLC0415 - slow to import

    labels, edges = written(graph)
    around: dict[int, dict[tuple[int, bool], float]] = defaultdict(dict)
    for source, role, target in edges:
        # Several edges between two nodes in one direction: the product of their weights.
        inverse = role.endswith("-of")
        weight = _weight(role.removesuffix("-of"))
        for here, there, way in ((source, target, inverse), (target, source, not inverse)):
            around[here][there, way] = around[here].get((there, way), 1.0) * weight
    now = np.array([_vector(label, vectors) for label in labels])
    rounds = [now]
    for _ in range(_ROUNDS):
        means = np.zeros_like(now)
        for node, found in around.items():
            means[node] = sum(now[n] * weight for (n, _), weight in found.items()) / len(found)
        now = now + means
        rounds.append(now)
    joined = np.concatenate(rounds, axis=1)
    return joined / np.maximum(np.linalg.norm(joined, axis=1, keepdims=True), 1e-12)


def _earth_movers_distance(distances: Any) -> float:
    """Return the least cost of moving the rows, with equal shares, onto the columns."""
    from scipy.optimize import linear_sum_assignment, linprog  # noqa: PLC0415 - slow to import
    from scipy.sparse import eye_array, kron, vstack  # noqa: PLC0415 - slow to import

    rows, columns = distances.shape
    if rows == columns:  # Then a permutation is among the best.
        return float(distances[linear_sum_assignment(distances)].mean())
    ones = [[[1.0] * size] for size in (columns, rows)]
    shares = vstack([kron(eye_array(rows), ones[0]), kron(ones[1], eye_array(columns))])
    sums = [1 / rows] * rows + [1 / columns] * columns
    # One of the sums follows from the others; rounding must not make it contradict them.
    found = linprog(distances.ravel(), A_eq=shares.tocsr()[:-1], b_eq=sums[:-1])
    return float(found.fun)


@lru_cache(maxsize=1 << 14)
def _vector(label: str, path: str | None) -> Vector:
    known = read_vectors(path) if path else None
    words = re.sub(r"-[0-9]+", "", re.sub("[\"']", "", label.strip()).lower()).split("-")
    found = [] if known is None or label == "-" else list(filter(None, map(known.get, words)))
    if found:
        return tuple(map(max, zip(*found, strict=True)))
    rng = Random(label)
    size = known.dimensions if known else _DIMENSIONS
    return tuple(rng.random() for _ in range(size))


@lru_cache(maxsize=1 << 10)
def _weight(role: str) -> float:
    return Random(role).uniform(0.25, 0.35)
