"""From the decisions of the rows to the scores of the graph's nodes and edges.

The first row of a node decides the node, and the edge to it: log P(v) is the node's, log P(u) +
log P(r) the edge's. A copy decides nothing but an edge, so all three are the edge's. The label of a
UCCA unit is the category of the edge to it, so log P(v) counts for both; a further word of a unit
is part of the unit.

>>> from graphconv.arborescence import Row
>>> from transducer.decoding.results import Decision
>>> tree = Arborescence("1", "amr", rows=(Row("go-02", 1, 0, "root"), Row("boy", 2, 1, "ARG0")))
>>> scores = scores_of(tree, [Decision(-0.1, 0.0, 0.0), Decision(-0.2, -0.01, -0.3)], -0.7)
>>> scores.nodes, scores.edges
({'g': -0.1, 'b': -0.2}, {('g', 'b', 'ARG0'): -0.31})
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from graphconv.arborescence import Arborescence
from graphconv.conversion import row_parts
from graphconv.conversion.labels import PHRASE, TERMINAL_CHILD
from graphconv.frameworks import framework
from graphconv.scores import EdgeName, Scores
from transducer.decoding.results import Decision

_DIGITS = 4
_WORDS = frozenset({PHRASE, TERMINAL_CHILD})


class Temperatures(NamedTuple):
    """What the log-odds of nodes and edges are divided by; 1: they are as the model says."""

    nodes: float = 1.0
    edges: float = 1.0


AS_THEY_ARE = Temperatures()


def scores_of(
    tree: Arborescence,
    decisions: Sequence[Decision],
    total: float,
    temperatures: Temperatures = AS_THEY_ARE,
) -> Scores:
    """Return the scores of the graph of a tree; rows that rules added have no decision."""
    nodes: dict[str, float] = {}
    edges: dict[EdgeName, float] = {}
    has_categories = framework(tree.framework).has_categories
    decided = zip(tree.rows, row_parts(tree), decisions, strict=False)
    for number, (row, (node, edge), decision) in enumerate(decided, start=1):
        own, attached = decision.node, decision.source + decision.relation
        is_new = row.index == number
        if edge is not None:
            is_category = has_categories and not row.anchors
            attached += own if is_category or not is_new else 0.0
            edges[edge] = edges.get(edge, 0.0) + attached
            own = own if is_new else 0.0
        elif row.relation in _WORDS:
            own += attached
        elif not is_new:  # a top below a virtual root that has its own place elsewhere
            own = 0.0
        if node is not None:
            nodes[node] = nodes.get(node, 0.0) + own
    return Scores(
        round(total, _DIGITS),
        {name: _rounded(log_p, temperatures.nodes) for name, log_p in nodes.items()},
        {name: _rounded(log_p, temperatures.edges) for name, log_p in edges.items()},
    )


def tempered(log_p: float, temperature: float) -> float:
    """Return a log-probability whose log-odds are divided by a temperature.

    >>> round(math.exp(tempered(math.log(0.9), 2.0)), 4)
    0.75
    >>> tempered(0.0, 2.0)
    0.0
    """
    if temperature == 1 or log_p >= 0:
        return log_p
    odds = (log_p - _log1mexp(log_p)) / temperature
    return -math.log1p(math.exp(-odds)) if odds > 0 else odds - math.log1p(math.exp(odds))


def _log1mexp(log_p: float) -> float:
    """Return log(1 - p), exactly also where p is near 0 or 1."""
    return math.log(-math.expm1(log_p)) if log_p > -math.log(2) else math.log1p(-math.exp(log_p))


def _rounded(log_p: float, temperature: float) -> float:
    return round(tempered(log_p, temperature), _DIGITS) + 0.0  # no -0.0
