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
>>> score([wants("ARG0")], [wants("ARG0")]).percent
100.0
>>> round(score([wants("ARG0")], [wants("ARG1")]).percent, 2)
53.73
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from hashlib import blake2b
from math import sqrt

from evaltools.similarity import Similarity, similar
from evaltools.written import turned, written
from graphconv.graph import Graph

_ROUNDS = 2
_LONGEST = 256


ZERO = Similarity("wlk")


def score(gold_graphs: Iterable[Graph], pred_graphs: Iterable[Graph | None]) -> Similarity:
    """Score two equally long sequences of graphs."""
    total = ZERO
    for gold, pred in zip(gold_graphs, pred_graphs, strict=True):
        total += pair_counts(gold, pred)
    return total


def pair_counts(gold: Graph, pred: Graph | None) -> Similarity:
    """Score one pair; no prediction is similar to nothing."""
    one, two = features(gold), features(pred) if pred else {}
    if not one or not two:
        return similar("wlk", float(one == two))
    product = sum(weight * two.get(key, 0.0) for key, weight in sorted(one.items()))
    return similar("wlk", product / sqrt(_square(one) * _square(two)))


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
            _short(
                "\0".join(sorted((label, *(f":{role} {labels[n]}" for role, n in around[number]))))
            )
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


def _short(label: str) -> str:
    """Return a digest in place of a long label, which all neighbors of a node would repeat."""
    if len(label) <= _LONGEST:
        return label
    return blake2b(label.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _square(weights: dict[tuple[int, str], float]) -> float:
    return sum(weight * weight for _, weight in sorted(weights.items()))
