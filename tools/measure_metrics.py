"""Compare evaltools' metrics with their definitions (tools/reference_metrics.py), and time both.

$ python tools/measure_metrics.py --pairs 500 $ARBORA_CORPORA/amr/lpp-dev.amr ... --mrp lpps.mrp

Pairs are real graphs with copies in which a fifth of the labels and roles are others of the file.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import reference_metrics as reference

import graphconv
from evaltools import mrp, s2match, sembleu, wlk, wwlk
from graphconv.codecs import Block
from graphconv.codecs import mrp as mrp_codec
from graphconv.codecs.amr import format as to_penman
from graphconv.codecs.amr import parse as from_penman
from graphconv.graph import Graph

Function = Callable[..., Sequence[float]]
RATE = 0.2
LARGEST = 40


def amr_pairs(paths: list[Path], number: int) -> Iterator[tuple[Graph, Graph, str, str]]:
    """Yield gold graphs and damaged copies, as graphs and as PENMAN."""
    chance = random.Random(35)
    graphs = [graph for path in paths for graph in graphconv.read(path)]
    concepts = [node.label for graph in graphs for node in graph.nodes if not node.constant]
    roles = [edge.label for graph in graphs for edge in graph.edges]
    usable = (graph for graph in graphs if 1 < len(graph.nodes) <= LARGEST)
    for graph in islice(usable, number):
        nodes = [
            node if node.constant or chance.random() > RATE
            else node._replace(label=chance.choice(concepts))
            for node in graph.nodes
        ]  # fmt: skip
        edges = [
            edge if chance.random() > RATE else edge._replace(label=chance.choice(roles))
            for edge in graph.edges
        ]
        copy = replace(graph, nodes=tuple(nodes), edges=tuple(edges))
        texts = [_bare(to_penman(each)) for each in (graph, copy)]
        read = [from_penman(Block(text, "pair", 1)) for text in texts]
        yield read[0], read[1], texts[0], texts[1]


def _bare(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.startswith("#"))


def mrp_pairs(path: Path, number: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield MRP records and damaged copies."""
    chance = random.Random(35)
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for record in islice(records, number):
        copy = json.loads(json.dumps(record))
        chance.shuffle(copy["nodes"])
        nodes, edges = copy["nodes"], copy.get("edges", [])
        for item in chain(nodes, edges):
            if "label" in item and chance.random() < RATE:
                others = edges if "source" in item else nodes
                item["label"] = chance.choice(others).get("label", "x")
                item.pop("normal", None)
        copy["edges"] = [edge for edge in edges if chance.random() > RATE / 2]
        yield record, copy


class Comparison:
    """How often two functions agree, and how long each takes."""

    def __init__(self) -> None:
        self.pairs = self.equal = 0
        self.seconds = [0.0, 0.0]

    def add(
        self, ours: tuple[Function, Any], theirs: tuple[Function, Any]
    ) -> list[Sequence[float]]:
        """Call both, each with a pair, and return what they say."""
        values = []
        for place, (function, pair) in enumerate((ours, theirs)):
            start = time.process_time()
            values.append(function(*pair))
            self.seconds[place] += time.process_time() - start
        self.pairs += 1
        self.equal += all(abs(a - b) < 2e-6 for a, b in zip(*values, strict=True))
        return values

    def __str__(self) -> str:
        ours, theirs = self.seconds
        times = f"{ours:.2f} s against {theirs:.2f} s: {theirs / max(ours, 1e-9):.1f} times"
        return f"{self.equal} of {self.pairs} pairs equal; {times}"


def compare_amr(pairs: Iterator[tuple[Graph, Graph, str, str]]) -> dict[str, Comparison]:
    """Compare the metrics of AMR."""
    found = {name: Comparison() for name in METRICS}
    for gold, pred, *texts in pairs:
        for name, (ours, theirs) in METRICS.items():
            found[name].add((ours, (gold, pred)), (theirs, texts))
    return found


def compare_mrp(pairs: Iterator[tuple[dict[str, Any], dict[str, Any]]]) -> dict[str, Comparison]:
    """Compare MRP F1, by framework."""
    found: dict[str, Comparison] = {}
    for pair in pairs:
        graphs = [mrp_codec.parse(Block(json.dumps(side), "pair", 1)) for side in pair]
        comparison = found.setdefault(f"mrp {pair[0]['framework']}", Comparison())
        comparison.add((_mrp, graphs), (reference.mrp, pair))
    return found


def _mrp(gold: Graph, pred: Graph) -> list[float]:
    counts = mrp.pair_counts(gold, pred).main
    return [counts.gold, counts.pred, counts.match]


def _s2match(gold: Graph, pred: Graph) -> list[float]:
    counts = s2match.pair_counts(gold, pred).main
    return [number / s2match.UNIT for number in (counts.gold, counts.pred, counts.match)]


def _wlk(gold: Graph, pred: Graph) -> list[float]:
    return [wlk.pair_counts(gold, pred).millionths / 1e6]


def _wwlk(gold: Graph, pred: Graph) -> list[float]:
    return [wwlk.pair_counts(gold, pred).millionths / 1e6]


def _sembleu(gold: Graph, pred: Graph) -> list[float]:
    return [sembleu.pair_counts(gold, pred).millionths / 1e6]


def _reference_wlk(gold: str, pred: str) -> list[float]:
    return [reference.wlk(gold, pred)]


def _reference_wwlk(gold: str, pred: str) -> list[float]:
    # The made-up vectors and weights are part of the definition.
    return [reference.wwlk(gold, pred, lambda label: wwlk._vector(label, None), wwlk._weight)]


def _reference_sembleu(gold: str, pred: str) -> list[float]:
    return [reference.sembleu(gold, pred)]


METRICS: dict[str, tuple[Function, Function]] = {
    "s2match": (_s2match, reference.s2match),
    "wlk": (_wlk, _reference_wlk),
    "wwlk": (_wwlk, _reference_wwlk),
    "sembleu": (_sembleu, _reference_sembleu),
}
"""The metrics of AMR: evaltools' and the definition's."""


def main() -> None:
    """Print a line per metric."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("amr", nargs="*", type=Path)
    parser.add_argument("--mrp", type=Path)
    parser.add_argument("--pairs", type=int, default=500)
    arguments = parser.parse_args()
    found = compare_amr(amr_pairs(arguments.amr, arguments.pairs))
    if arguments.mrp:
        found |= compare_mrp(mrp_pairs(arguments.mrp, arguments.pairs))
    for name, comparison in found.items():
        print(f"{name:10} {comparison}")


if __name__ == "__main__":
    main()
