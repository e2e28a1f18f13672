"""Measure ``evaltools entails`` on the pairs of data/entails: accuracy, confusion, kinds.

$ python tools/measure_entails.py --part dev --errors
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import graphconv
from evaltools.entailment import VERDICTS, Entailment, check, prepare
from graphconv.graph import Graph, attribute

DATA = Path(__file__).resolve().parents[1] / "data" / "entails"
PARTS = ("dev", "test")


class Pair(NamedTuple):
    """A claim, its source, and what a person says about them."""

    claim: Graph
    source: Graph
    label: str
    kind: str


def pairs(part: str) -> Iterator[Pair]:
    """Read the pairs of a part: a source without a label, then the claims about it."""
    source = None
    for graph in graphconv.read(DATA / f"{part}.amr"):
        label = attribute(graph.metadata, "label")
        if label is None:
            source = graph
        else:
            assert source is not None
            yield Pair(graph, source, label, attribute(graph.metadata, "kind"))


def judged(part: str) -> Iterator[tuple[Pair, Entailment]]:
    """Yield the pairs of a part with what entails says."""
    for pair in pairs(part):
        yield pair, check(prepare(pair.claim), [prepare(pair.source)])


def main() -> None:
    """Print the confusion matrix of each part, and the kinds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--errors", action="store_true", help="also print what went wrong")
    arguments = parser.parse_args()
    for part in arguments.part or PARTS:
        confusion: Counter[tuple[str, str]] = Counter()
        kinds: Counter[tuple[str, bool]] = Counter()
        for pair, found in judged(part):
            confusion[pair.label, found.verdict] += 1
            kinds[pair.kind, pair.label == found.verdict] += 1
            if arguments.errors and pair.label != found.verdict:
                print(f"{pair.label} ({pair.kind}): {pair.source.text} => {pair.claim.text}")
                print(found, end="\n\n")
        total = sum(confusion.values())
        right = sum(confusion[name, name] for name in VERDICTS)
        print(f"{part}: {right} of {total} right; rows: written, columns: found")
        print(f"{'':14}" + "".join(f"{name:>14}" for name in VERDICTS))
        for row in VERDICTS:
            print(f"{row:14}" + "".join(f"{confusion[row, name]:14}" for name in VERDICTS))
        names = sorted({kind for kind, _ in kinds})
        print("; ".join(f"{k} {kinds[k, True]}/{kinds[k, True] + kinds[k, False]}" for k in names))


if __name__ == "__main__":
    main()
