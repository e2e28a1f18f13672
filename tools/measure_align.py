"""How well `graphconv align` agrees with marks: precision, recall and F1 of (node, word) pairs.

    python tools/measure_align.py FILE.amr...

The marks of each file are taken off, the graphs aligned anew, and the pairs compared. Nodes with
the same words as in gold are counted as *exact*.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import NamedTuple

from graphconv import Graph, read
from graphconv.alignment import align
from graphconv.search.match import anchors_of


def bare(graph: Graph) -> Graph:
    """Return the graph without the marks of its nodes."""
    nodes = tuple(
        node._replace(attributes=tuple(a for a in node.attributes if a[0] != "alignment"))
        for node in graph.nodes
    )
    return replace(graph, nodes=nodes)


class Counts(NamedTuple):
    """What the marks of a file and ours have in common."""

    graphs: int
    nodes: int
    exact: int
    gold: int
    pred: int
    match: int


def compared(path: str) -> Counts:
    """Align the graphs of a file anew, and compare."""
    graphs = nodes = exact = gold_count = pred_count = match = 0
    for graph in read(path):
        words = align(bare(graph)).words
        graphs += 1
        for node in graph.nodes:
            gold, pred = set(anchors_of(node)), set(words.get(node.id, ()))
            nodes += bool(gold)
            exact += bool(gold) and gold == pred
            gold_count += len(gold)
            pred_count += len(pred)
            match += len(gold & pred)
    return Counts(graphs, nodes, exact, gold_count, pred_count, match)


def main() -> None:
    print("| file | graphs | nodes | P | R | F1 | exact nodes |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for path in sys.argv[1:]:
        found = compared(path)
        p, r = 100 * found.match / found.pred, 100 * found.match / found.gold
        print(
            f"| {path.rpartition('/')[2]} | {found.graphs:,} | {found.nodes:,} | {p:.1f} | {r:.1f} "
            f"| {2 * p * r / (p + r):.1f} | {100 * found.exact / found.nodes:.1f} % |"
        )


if __name__ == "__main__":
    main()
