"""Learn the statistics of `graphconv align` from AMRs with sentences, with marks or without.

    python tools/learn_alignments.py FILE.amr... [--except FILE.amr...]

Marks count as they are; where there are none, rules say the words of nodes. Which word the nodes
have that neither knows is guessed by expectation maximization: each guess counts as much as it is
probable under the counts of the round before. Sentences that the files of --except have are left
out. The table has counts of words and labels only, none of single sentences, and goes to
packages/graphconv/src/graphconv/alignment/statistics.json.gz.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphconv import Graph, read
from graphconv.alignment import statistics
from graphconv.alignment.aligner import Aligner
from graphconv.alignment.statistics import ANY, Near, Statistics, bucket, to_json
from graphconv.alignment.words import fit, letters

OUTPUT = Path(statistics.__file__).with_name(statistics.TABLE)
_ROUNDS = 5
_LEAST_GUESS = 0.01
_LEAST_COUNT = 3
"""Words and labels that occur less often are left out of the table."""
_LEAST_PAIRS = 2
"""So are pairs of a label and a word."""
_LONGEST = 80
_WORD = re.compile(r"[^\W\d_]{1,20}(?:[-'’][^\W\d_]{1,20})*|[^\w\s]{1,3}")
"""Words and signs; numbers and codes teach nothing."""


def _sums() -> defaultdict[Any, Any]:
    return defaultdict(float)


def _sums_by_name() -> defaultdict[Any, Any]:
    return defaultdict(_sums)


@dataclass
class Counts:
    """Sums of probabilities, as in Statistics."""

    words: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    without: dict[str, float] = field(default_factory=_sums)
    pairs: dict[str, dict[str, float]] = field(default_factory=_sums_by_name)
    distances: dict[str, dict[int, float]] = field(default_factory=_sums_by_name)
    other: dict[str, dict[str, float]] = field(default_factory=_sums_by_name)
    same: dict[str, dict[str, float]] = field(default_factory=_sums_by_name)

    def place(self, label: str, near: Near, words: tuple[int, ...], weight: float) -> None:
        """Count where the words of a node stand beside those of its neighbors."""
        for way, others in near:
            distance = min((a - b for a in words for b in others), key=abs)
            for key in (label, ANY):
                (self.other if distance else self.same)[key][way] += weight
            for key in (way, ANY) if distance else ():
                self.distances[key][bucket(distance)] += weight

    def statistics(self) -> Statistics:
        """Return the counts as what makes guesses."""
        labels = {label: (count, self.without[label]) for label, count in self.labels.items()}
        shared = {
            label: {
                way: (self.other[label][way], self.same[label][way])
                for way in {*self.other[label], *self.same[label]}
            }
            for label in {*self.other, *self.same}
        }
        return Statistics(self.pairs, self.words, labels, self.distances, shared)


def sentences(paths: Iterable[Path], without: Iterable[Path]) -> Iterator[Graph]:
    """Yield the graphs with a sentence to learn from."""
    left_out = {_sentence(graph) for path in without for graph in read(path)}
    for path in paths:
        for graph in read(path):
            if 0 < len(graph.tokens) <= _LONGEST and _sentence(graph) not in left_out:
                yield graph


def _sentence(graph: Graph) -> str:
    return "".join(letters(token.form) for token in graph.tokens)


def count(aligners: Iterable[Aligner], guesses: Statistics | None) -> Counts:
    """Count what marks and rules say, and the guesses for the other nodes."""
    counts = Counts()
    for aligner in aligners:
        forms = [form.lower() for form in aligner.forms]
        counts.words.update(filter(_WORD.fullmatch, forms))
        for node_id, words in aligner.words.items():
            label = aligner.labels[node_id]
            if not label.startswith('"'):
                _add(counts, label, {p: 1 / len(words) for p in words}, forms)
                counts.place(label, aligner.near(node_id), words, 1.0)
        for node_id in aligner.open_nodes():
            label, near = aligner.labels[node_id], aligner.near(node_id)
            found: dict[int | None, float] = {}
            if guesses:
                found = guesses.likely(label, forms, aligner.candidates(near), near)
            counts.without[label] += found.pop(None, 0.0)
            likely = {p: share for p, share in found.items() if p is not None}
            likely = {p: share for p, share in likely.items() if share >= _LEAST_GUESS}
            _add(counts, label, likely, forms)
            for position, share in likely.items():
                counts.place(label, near, (position,), share)
    return counts


def _add(counts: Counts, label: str, shares: dict[int, float], forms: list[str]) -> None:
    for key in (label, ANY):
        counts.labels[key] += 1
    for position, share in shares.items():
        if _WORD.fullmatch(forms[position]):
            counts.pairs[label][forms[position]] += share


def pruned(counts: Counts) -> Statistics:
    """Return what is worth keeping: pairs that no rule knows, and what is not rare."""
    full = counts.statistics()
    pairs = {
        label: known
        for label, found in full.pairs.items()
        if (known := {w: n for w, n in found.items() if n >= _LEAST_PAIRS and not fit(label, w)})
    }
    shared = {
        label: often
        for label, ways in full.shared.items()
        if (often := {way: n for way, n in ways.items() if sum(n) >= _LEAST_COUNT})
    }
    labels = {label: n for label, n in full.labels.items() if n[0] >= _LEAST_COUNT}
    words = {word: n for word, n in full.words.items() if n >= _LEAST_COUNT}
    return Statistics(pairs, words, labels, full.distances, shared)


def learn(graphs: Iterable[Graph]) -> Statistics:
    """Return the statistics of the graphs."""
    aligners = [Aligner(graph) for graph in graphs]
    for aligner in aligners:
        aligner.aligned()
    counts = count(aligners, None)
    for _ in range(_ROUNDS):
        counts = count(aligners, counts.statistics())
    return pruned(counts)


def main() -> None:
    """Learn, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--except", nargs="*", type=Path, default=[], dest="without")
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    found = learn(sentences(arguments.files, arguments.without))
    text = json.dumps(to_json(found), ensure_ascii=False, separators=(",", ":"))
    arguments.output.write_bytes(gzip.compress(text.encode(), mtime=0))
    size = arguments.output.stat().st_size / 1000
    pairs = sum(map(len, found.pairs.values()))
    print(f"{arguments.output.name}: {size:.0f} kB, {pairs:,} pairs of label and word")


if __name__ == "__main__":
    main()
