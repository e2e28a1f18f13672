"""The metrics by name, each imported when it is first used.

>>> metric_of("psd")
'sdp'
>>> METRICS["smatch"].option_names
('profile', 'fine_grained', 'restarts', 'seed', 'time_limit')
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from evaltools.counts import Statistics
from evaltools.errors import EvaluationError
from evaltools.items import PairedItems
from graphconv.frameworks import FRAMEWORKS
from graphconv.graph import Graph


class Metric(NamedTuple):
    """A metric module, what it scores, and the options it takes."""

    module: str
    frameworks: tuple[str, ...]
    option_names: tuple[str, ...] = ()

    @property
    def is_general(self) -> bool:
        """Whether it scores every framework, so that it does not tell which one is meant."""
        return self.frameworks == tuple(FRAMEWORKS)

    def pair_counts(self, gold: Graph, pred: Graph | None, options: dict[str, Any]) -> Statistics:
        """Score one pair."""
        statistics: Statistics = import_module(self.module).pair_counts(gold, pred, **options)
        return statistics

    def paired_items(self, gold: Graph, pred: Graph, options: dict[str, Any]) -> PairedItems:
        """Return what is compared in one pair; see :mod:`evaltools.items`."""
        module = import_module(self.module)
        if not hasattr(module, "paired_items"):
            name = self.module.rpartition(".")[2]
            raise EvaluationError(f"{name} counts nothing that can be shown one by one; use smatch")
        found: PairedItems = module.paired_items(gold, pred, **options)
        return found

    def zero(self) -> Statistics:
        """Return the score of nothing, to add others to."""
        statistics: Statistics = import_module(self.module).ZERO
        return statistics


METRICS = {
    "smatch": Metric(
        "evaltools.smatch",
        ("amr", "eds"),
        ("profile", "fine_grained", "restarts", "seed", "time_limit"),
    ),
    "sdp": Metric("evaltools.sdp", ("dm", "pas", "psd")),
    "ucca": Metric("evaltools.ucca", ("ucca",), ("normalize",)),
    "s2match": Metric("evaltools.s2match", ("amr",), ("vectors", "time_limit")),
    "wlk": Metric("evaltools.wlk", ("amr",)),
    "wwlk": Metric("evaltools.wwlk", ("amr",), ("vectors",)),
    "sembleu": Metric("evaltools.sembleu", ("amr",)),
    "mrp": Metric("evaltools.mrp", tuple(FRAMEWORKS), ("time_limit",)),
}
"""The metrics by name; the first one that scores a framework is its usual one."""


def metric_of(framework: str) -> str:
    """Return the usual metric of a framework."""
    for name, metric in METRICS.items():
        if framework in metric.frameworks:
            return name
    raise EvaluationError(f"there is no metric for {framework} graphs")
