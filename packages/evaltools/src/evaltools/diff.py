"""What matched and what did not, in one pair of graphs: as text and as marks for a picture."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Set
from typing import Any, NamedTuple

from evaltools.items import Item
from evaltools.metrics import METRICS
from graphconv.draw import EXTRA, MATCH, MISSING, Highlight
from graphconv.graph import Graph


class Difference(NamedTuple):
    """The items of two graphs by what became of them."""

    matched: list[str]
    missing: list[str]
    extra: list[str]
    gold: Highlight
    pred: Highlight
    pairs: tuple[tuple[str, str], ...] = ()
    """The ids of gold and predicted nodes that stand for each other."""
    certified: bool = True
    """Whether no other pairs can match more."""

    def text(self) -> str:
        """Return what is missing (-) and what is extra (+), one item a line."""
        lines = [f"  - {item}" for item in self.missing] + [f"  + {item}" for item in self.extra]
        return "\n".join([f"  {len(self.matched)} items match", *lines])


def difference(gold: Graph, pred: Graph, metric: str, options: dict[str, Any]) -> Difference:
    """Compare two graphs item by item, as *metric* does: what it counts, and no more."""
    found = METRICS[metric].paired_items(gold, pred, options)
    common = {item.key for item in found.gold} & {item.key for item in found.pred}
    gold_states, gold_marks = _marked(found.gold, common, MISSING)
    pred_states, pred_marks = _marked(found.pred, common, EXTRA)
    return Difference(
        [text for text, state in gold_states if state == MATCH],
        [text for text, state in gold_states if state != MATCH],
        [text for text, state in pred_states if state != MATCH],
        gold_marks,
        pred_marks,
        tuple(found.pairs),
        found.certified,
    )


def _marked(
    items: Iterable[Item], common: Set[Hashable], wrong: str
) -> tuple[list[tuple[str, str]], Highlight]:
    states: list[tuple[str, str]] = []
    nodes: dict[str, str] = {}
    edges: dict[int, str] = {}
    for item in items:
        state = MATCH if item.key in common else wrong
        states.append((item.text, state))
        # What is wrong in one respect is marked, even if it is right in others.
        nodes.update((node, state) for node in item.nodes if nodes.get(node) != wrong)
        edges.update((edge, state) for edge in item.edges if edges.get(edge) != wrong)
    return states, Highlight(nodes, edges)
