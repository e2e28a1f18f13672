"""Scores of parsed graphs, by evaltools: one headline number per framework."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import evaltools.sdp
import evaltools.smatch
import evaltools.ucca
from evaltools.counts import Counts
from graphconv.graph import Graph

_METRICS: dict[str, Any] = {
    "amr": evaltools.smatch,
    "dm": evaltools.sdp,
    "pas": evaltools.sdp,
    "psd": evaltools.sdp,
    "ucca": evaltools.ucca,
}


def score(gold: Sequence[Graph], pred: Sequence[Graph | None], **options: Any) -> Any:
    """Return evaltools' statistics of a corpus; a missing prediction counts as empty."""
    metric = _METRICS[gold[0].framework]
    total = metric.ZERO
    for gold_graph, pred_graph in zip(gold, pred, strict=True):
        total = total + metric.pair_counts(gold_graph, pred_graph, **options)
    return total


def headline(gold: Sequence[Graph], pred: Sequence[Graph | None]) -> Counts:
    """Return the counts behind Smatch, SDP's labelled F1 with tops, or UCCA's of all edges."""
    counts: Counts = score(gold, pred).main
    return counts
