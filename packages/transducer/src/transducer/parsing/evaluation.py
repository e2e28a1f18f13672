"""Scores of parsed graphs, by evaltools: one headline number per framework."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaltools.counts import Counts
from evaltools.metrics import METRICS
from graphconv.graph import Graph
from transducer.frameworks import task_of


def score(gold: Sequence[Graph], pred: Sequence[Graph | None], **options: Any) -> Any:
    """Return evaltools' statistics of a corpus; a missing prediction counts as empty."""
    metric = METRICS[task_of(gold[0].framework).metric]
    total: Any = metric.zero()
    for gold_graph, pred_graph in zip(gold, pred, strict=True):
        total = total + metric.pair_counts(gold_graph, pred_graph, options)
    return total


def headline(gold: Sequence[Graph], pred: Sequence[Graph | None]) -> Counts:
    """Return the counts behind Smatch, SDP's labelled F1 with tops, or UCCA's of all edges."""
    counts: Counts = score(gold, pred).main
    return counts
