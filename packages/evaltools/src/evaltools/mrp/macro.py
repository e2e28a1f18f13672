"""MRP's score across frameworks: the mean of the F1 of each, as in the shared tasks.

A framework that gold has and the prediction lacks counts as 0; one that only the prediction has is
left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evaltools.loading import load
from evaltools.mrp import ZERO, Scores, pair_counts
from evaltools.report import score_table
from evaltools.scoring import score
from evaltools.sources import Scorable, source_of
from graphconv.graph import Graph


@dataclass(frozen=True)
class Macro:
    """The scores of each framework, and their mean."""

    frameworks: dict[str, Scores]
    signatures: dict[str, str]
    """Of the frameworks that both sides have."""

    @property
    def f1(self) -> float:
        """The mean of the F1 over frameworks, in percent."""
        return sum(each.main.f1 for each in self.frameworks.values()) / len(self.frameworks)

    def to_json(self) -> dict[str, Any]:
        """Return what the command prints with ``--format json``."""
        each = {name: scores.to_json() for name, scores in self.frameworks.items()}
        return {"macro": self.f1, "frameworks": each, "signature": self.signatures}

    def __str__(self) -> str:
        rows = {name: scores.main.to_json() for name, scores in self.frameworks.items()}
        return "\n".join([score_table({**rows, "macro": self.f1}), *self.signatures.values()])


def macro_score(gold: Scorable, pred: Scorable, **options: Any) -> Macro:
    """Score every framework of *gold*; the options are those of ``evaltools.score`` for MRP."""
    wanted, found = _by_framework(gold, "gold"), _by_framework(pred, "pred")
    scores: dict[str, Scores] = {}
    signatures = {}
    for name, graphs in wanted.items():
        if name not in found:
            scores[name] = sum((pair_counts(graph, None) for graph in graphs), ZERO)
            continue
        one = score(graphs, found[name], "mrp", **options)
        assert isinstance(one.statistics, Scores)
        scores[name] = one.statistics
        signatures[name] = f"{name} {one.signature}"
    return Macro(scores, signatures)


def _by_framework(given: Scorable, side: str) -> dict[str, list[Graph]]:
    source = source_of(given, side)
    found: dict[str, list[Graph]] = {}
    for block in source.blocks:
        graph = load(source.format, block, None)
        found.setdefault(graph.framework, []).append(graph)
    return found
