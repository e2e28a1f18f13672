"""SemBleu (Song and Gildea 2019, ACL): BLEU over the paths of an AMR.

A 1-gram is a node, a 2-gram a node with a role and the node it leads to, a 3-gram a path of three
nodes. Paths are compared as in the authors' program (the one in Python 3; that of 2019 kept the
name ``:X-of``): labels in lower case without quotes; ``:X-of`` is an ``:X`` the other way round;
roles with another ``-of`` in them (``:prep-on-behalf-of``) lose it, too; only what can be reached
from nodes without parents counts (from the root if there is none). The length of a graph is its
number of nodes and edges. Precisions without a match are smoothed (NIST), their weights are 0.34,
0.33, 0.34, and equal where no prediction has long paths.

>>> from graphconv.graph import Edge, Graph, Node
>>> def wants(role):
...     nodes = Node("w", "want-01"), Node("b", "boy")
...     return Graph("1", "amr", nodes=nodes, edges=(Edge("w", "b", role),), tops=("w",))
>>> score([wants("ARG0")], [wants("ARG0")]).bleu
100.0
>>> round(score([wants("ARG0")], [wants("ARG1")]).bleu, 2)
70.71
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, fsum, log
from typing import Any

from evaltools.counts import Counts
from evaltools.similarity import SCALE
from evaltools.written import turned, written
from graphconv.graph import Graph

Path = tuple[str, ...]
"""Labels of nodes and roles in turn."""

ORDERS = 3
_WEIGHTS = (0.34, 0.33, 0.34)
_NONE = (0,) * ORDERS


@dataclass(frozen=True, slots=True)
class Scores:
    """What BLEU is computed from, by length of paths; they add up over graphs."""

    matches: tuple[int, ...] = _NONE
    paths: tuple[int, ...] = _NONE
    """Of the predictions."""
    gold_size: int = 0
    pred_size: int = 0
    graphs: int = 0
    millionths: int = 0
    """The sum of the graphs' own scores."""

    def __add__(self, other: Scores) -> Scores:
        return Scores(
            tuple(map(sum, zip(self.matches, other.matches, strict=True))),
            tuple(map(sum, zip(self.paths, other.paths, strict=True))),
            self.gold_size + other.gold_size,
            self.pred_size + other.pred_size,
            self.graphs + other.graphs,
            self.millionths + other.millionths,
        )

    @property
    def bleu(self) -> float:
        """SemBleu of the corpus, in percent."""
        return 100.0 * _bleu(self.matches, self.paths, self.gold_size, self.pred_size)

    @property
    def main(self) -> Counts:
        """The mean over graphs, by which they are ranked and resampled."""
        return Counts(self.graphs * SCALE, self.graphs * SCALE, self.millionths)

    def to_json(self) -> dict[str, Any]:
        """Return the metric's part of the report."""
        return {"sembleu": self.bleu, "sembleu_mean": self.main.f1}


ZERO = Scores()


def score(gold_graphs: Iterable[Graph], pred_graphs: Iterable[Graph | None]) -> Scores:
    """Score two equally long sequences of graphs."""
    total = ZERO
    for gold, pred in zip(gold_graphs, pred_graphs, strict=True):
        total += pair_counts(gold, pred)
    return total


def pair_counts(gold: Graph, pred: Graph | None) -> Scores:
    """Score one pair; no prediction has no paths."""
    wanted, found = paths(gold), paths(pred) if pred else (Counter[Path](),) * ORDERS
    matches = tuple((a & b).total() for a, b in zip(wanted, found, strict=True))
    numbers = tuple(each.total() for each in found)
    gold_size, pred_size = _size(gold), _size(pred) if pred else 0
    own = _bleu(matches, numbers, gold_size, pred_size)
    return Scores(matches, numbers, gold_size, pred_size, 1, round(own * SCALE))


def paths(graph: Graph) -> tuple[Counter[Path], ...]:
    """Return the paths of one, two and three nodes."""
    nodes, edges = written(graph)
    labels = [label.strip('"').lower() for label in nodes]
    below: dict[int, list[tuple[int, str, int]]] = defaultdict(list)
    ends = [
        (source, role.replace("-of", "") if role.endswith("-of") else role, target)
        for source, role, target in map(turned, edges)
    ]
    for number, (source, role, target) in enumerate(ends):
        below[source].append((number, f":{role}", target))
    found = tuple(Counter[Path]() for _ in range(ORDERS))
    for start in _reached(len(nodes), ends, below):
        # Each entry: the node at the end, the path, and the edges on it, which are taken once.
        ways: list[tuple[int, Path, tuple[int, ...]]] = [(start, (labels[start],), ())]
        for order in range(ORDERS):
            found[order].update(path for _, path, _ in ways)
            ways = [
                (target, (*path, role, labels[target]), (*taken, number))
                for end, path, taken in ways
                for number, role, target in below[end]
                if number not in taken
            ]
    return found


def _reached(
    size: int,
    ends: list[tuple[int, str, int]],
    below: dict[int, list[tuple[int, str, int]]],
) -> list[int]:
    """Return the nodes that can be reached from those without parents, else from the first."""
    children = {target for _, _, target in ends}
    order = [node for node in range(size) if node not in children] or list(range(min(size, 1)))
    seen = set(order)
    for node in order:  # grows
        for _, _, target in below[node]:
            if target not in seen:
                seen.add(target)
                order.append(target)
    return order


def _size(graph: Graph) -> int:
    return len(graph.nodes) + len(graph.edges)


def _bleu(
    matches: tuple[int, ...], numbers: tuple[int, ...], gold_size: int, pred_size: int
) -> float:
    if not gold_size and not pred_size:
        return 1.0
    if not matches[0]:
        return 0.0
    orders = max(order for order, number in enumerate(numbers, start=1) if number)
    weights = _WEIGHTS if orders == ORDERS else (1 / orders,) * orders
    logs, missed = [], 0
    for weight, match, number in zip(weights, matches, numbers, strict=False):
        missed += not match
        precision = match / number if match else 1 / (2**missed * max(1, number))
        logs.append(weight * log(precision))
    brevity = 1.0 if pred_size > gold_size else exp(1 - gold_size / pred_size)
    return brevity * exp(fsum(logs))
