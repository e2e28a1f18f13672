"""How well `graphconv align` agrees with marks: precision, recall and F1 of (node, word) pairs.

    python tools/measure_align.py FILE.amr... FILE.umr...

The marks of each file are taken off, the graphs aligned anew, by rules alone and with statistics,
and the pairs compared. Nodes with the same words as in gold are *exact*. Automatic marks leave out
many nodes, and marks of UMR those that no word says: *marked* has only the nodes that gold
marks. *Parts* are words with all the nodes that stand for just these words, right or wrong as a
whole, as in LEAMR's evaluation of subgraphs. The second table has the exact nodes by type.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from graphconv import Graph, Node, read
from graphconv.alignment import align
from graphconv.search.match import anchors_of

_TYPES = {
    "frame": re.compile(r".+-\d\d+"),
    "name or string": re.compile(r'".*"|name'),
    "pronoun": re.compile("i|you|he|she|it|we|they|this|that|one"),
    "number": re.compile(r"[\d.,:/]+"),
    "polarity, mode": re.compile(r"-|\+|imperative|interrogative|expressive|amr-unknown"),
    "abstract": re.compile(
        "person|thing|.*-(?:entity|quantity|interval|organization)|(?:and|or|multi-sentence)"
    ),
    "other concept": re.compile(".*"),
}


class Counts(NamedTuple):
    """What marks and ours have in common."""

    nodes: int = 0
    exact: int = 0
    gold: int = 0
    pred: int = 0
    match: int = 0

    def f1(self) -> tuple[float, float, float]:
        """Return precision, recall and F1 in percent."""
        p, r = 100 * self.match / max(self.pred, 1), 100 * self.match / max(self.gold, 1)
        return p, r, 2 * p * r / ((p + r) or 1)


def bare(graph: Graph) -> Graph:
    """Return the graph without the marks of its nodes."""
    nodes = tuple(
        node._replace(
            anchors=(), attributes=tuple(a for a in node.attributes if a[0] != "alignment")
        )
        for node in graph.nodes
    )
    return replace(graph, nodes=nodes)


def parts_of(words: Mapping[str, Iterable[int]]) -> set[tuple[frozenset[int], frozenset[str]]]:
    """Return words, each with all the nodes that stand for just these words."""
    nodes: dict[frozenset[int], set[str]] = defaultdict(set)
    for node, positions in words.items():
        nodes[frozenset(positions)].add(node)
    return {(positions, frozenset(found)) for positions, found in nodes.items() if positions}


def parts_f1(path: Path, *, statistics: bool) -> float:
    """Return the F1 of parts, in percent."""
    gold_count = pred_count = match = 0
    for graph in graphs(path):
        gold = parts_of({node.id: anchors_of(node) for node in graph.nodes})
        pred = parts_of(align(bare(graph), statistics=statistics).words)
        gold_count, pred_count = gold_count + len(gold), pred_count + len(pred)
        match += len(gold & pred)
    return 200 * match / (gold_count + pred_count)


def graphs(path: Path) -> Iterator[Graph]:
    """Read AMR, or UMR as AMR."""
    if path.suffix != ".umr":
        return read(path)
    import umr  # noqa: PLC0415 - beside this file, which tests run from elsewhere

    return umr.graphs(path)


def compared(path: Path, *, statistics: bool) -> dict[tuple[str, bool], Counts]:
    """Align the graphs of a file anew, and compare, by type and by whether gold marks the node."""
    found: Counter[tuple[str, bool, str]] = Counter()
    for graph in graphs(path):
        words = align(bare(graph), statistics=statistics).words
        for node in graph.nodes:
            gold, pred = set(anchors_of(node)), set(words.get(node.id, ()))
            key = _type(node), bool(gold)
            found[*key, "nodes"] += bool(gold)
            found[*key, "exact"] += bool(gold) and gold == pred
            found[*key, "gold"] += len(gold)
            found[*key, "pred"] += len(pred)
            found[*key, "match"] += len(gold & pred)
    keys = [(name, marked) for name in _TYPES for marked in (True, False)]
    return {key: Counts(*(found[*key, field] for field in Counts._fields)) for key in keys}


def _type(node: Node) -> str:
    label = node.label or ""
    return next(name for name, pattern in _TYPES.items() if pattern.fullmatch(label))


def summed(parts: Mapping[tuple[str, bool], Counts], *, marked: bool = False) -> Counts:
    """Return the counts of all nodes, or of those that gold marks."""
    chosen = [counts for (_, is_marked), counts in parts.items() if is_marked or not marked]
    return Counts(*map(sum, zip(*chosen, strict=True)))


def main() -> None:
    """Print both tables."""
    paths = list(map(Path, sys.argv[1:]))
    ways = {"rules": False, "with statistics": True}
    found = {(p, way): compared(p, statistics=ways[way]) for p in paths for way in ways}
    print("| file | by | nodes | P | R | F1 | F1, marked | exact nodes | F1 of parts |")
    print("|---|---|" + "---:|" * 7)
    for (path, way), parts in found.items():
        every, marked = summed(parts), summed(parts, marked=True)
        numbers = " | ".join(f"{n:.1f}" for n in (*every.f1(), marked.f1()[2]))
        exact = 100 * every.exact / every.nodes
        f1 = parts_f1(path, statistics=ways[way])
        print(f"| {path.name} | {way} | {every.nodes:,} | {numbers} | {exact:.1f} % | {f1:.1f} |")
    print("\n| exact nodes of type |", " | ".join(f"{p.name} | nodes" for p in paths), "|")
    print("|---|" + "---:|" * 2 * len(paths))
    for name in _TYPES:
        cells = []
        for path in paths:
            counts = [found[path, way][name, True] for way in ways]
            shares = [f"{100 * c.exact / c.nodes:.1f}" if c.nodes else "" for c in counts]
            cells += [" -> ".join(shares), f"{counts[0].nodes:,}"]
        print(f"| {name} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
