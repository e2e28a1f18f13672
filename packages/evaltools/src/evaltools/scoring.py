"""Score from Python what the command scores, with the same numbers, table, JSON and signature.

>>> found = score("(w / want-01 :ARG0 (b / boy))", "(w / want-01 :ARG1 (b / boy))")
>>> found.f1, found.metric
(75.0, 'smatch')
>>> print(found.table)
            P      R     F1  gold  pred  match
smatch  75.00  75.00  75.00     4     4      3
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

from evaltools.amr_triples import PROFILES
from evaltools.counts import Counts, Statistics
from evaltools.errors import EvaluationError
from evaltools.metrics import METRICS
from evaltools.pairing import Evaluation
from evaltools.report import score_table
from evaltools.signature import one_line, signature
from evaltools.sources import Scorable, source_of

_DEFAULTS: dict[str, Any] = {
    "profile": "smatch-1.0.4",
    "fine_grained": False,
    "restarts": None,
    "seed": 0,
    "time_limit": None,
    "vectors": None,
    "normalize": True,
}
"""The options of the metrics; None is left out of the signature."""

_GENERAL: dict[str, Any] = {"framework": None, "skip_invalid": False, "jobs": 1, "bootstrap": None}
_SEED = 0


@dataclass(frozen=True)
class Score:
    """A score with everything that makes it quotable; ``print`` shows what the command prints."""

    statistics: Statistics
    """The counts of the metric; they add up over graphs."""
    signed: dict[str, Any]
    """The parts of the signature."""
    missing: list[str] = field(default_factory=list)
    """The ids of gold graphs without a valid prediction, which count as not found."""
    extra: list[str] = field(default_factory=list)
    """The ids of predictions without a gold graph, which are left out."""
    bootstrap: dict[str, Any] | None = None
    """The 95 % interval of F1."""

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return str(self.signed["metric"])

    @property
    def p(self) -> float:
        """The precision of the headline score, in percent."""
        return self.statistics.main.p

    @property
    def r(self) -> float:
        """The recall of the headline score, in percent."""
        return self.statistics.main.r

    @property
    def f1(self) -> float:
        """The headline score, in percent."""
        return self.statistics.main.f1

    @property
    def certified(self) -> bool:
        """Whether the score is proved to be the best."""
        return bool(self.signed["certified"])

    @property
    def table(self) -> str:
        """All scores of the metric."""
        return score_table(self.statistics.to_json())

    @property
    def signature(self) -> str:
        """Metric, options, version and the hashes of both sides, in one line."""
        return one_line(self.signed)

    def to_json(self) -> dict[str, Any]:
        """Return what the command prints with ``--format json``."""
        extra = {} if self.bootstrap is None else {"bootstrap": self.bootstrap}
        pairing = {"missing": self.missing, "extra": self.extra}
        return {**self.statistics.to_json(), **extra, **pairing, "signature": self.signed}

    def __str__(self) -> str:
        lines = [self.table]
        if self.bootstrap is not None:
            (low, high), samples = self.bootstrap["f1"], self.bootstrap["samples"]
            lines.append(f"95 % interval of F1: {low:.2f} to {high:.2f} ({samples} samples)")
        return "\n".join([*lines, self.signature])

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return f"<pre>{escape(str(self))}</pre>"


def score(gold: Scorable, pred: Scorable, metric: str = "auto", **options: Any) -> Score:
    """Score predicted graphs against gold ones.

    Graphs are paired by id; by order where one side has no ids, where both are single graphs, and
    where lists of graphs that are equally long share no id.

    Args:
        gold: The path of a file or folder, a string with graphs in any format, a graph, or several.
        pred: The same.
        metric: ``smatch``, ``sdp``, ``ucca``, ``mrp``, ``s2match``, ``wlk``, ``wwlk``,
            ``sembleu``, or ``auto``: by framework.
        options: Those of ``evaltools score``: ``framework``, ``skip_invalid``, ``jobs``,
            ``bootstrap``; Smatch: ``profile``, ``fine_grained``, ``restarts``, ``seed``,
            ``time_limit``; MRP: ``time_limit``; S2match: ``vectors``,
            ``time_limit``; WWLK: ``vectors``; UCCA: ``normalize``.

    Raises:
        EvaluationError: The two sides cannot be compared, or an option is unknown.
    """
    _check(metric, options)
    general = {name: options.get(name, value) for name, value in _GENERAL.items()}
    samples = general.pop("bootstrap")
    wanted = general["framework"]
    sources = source_of(gold, framework=wanted), source_of(pred, "pred", framework=wanted)
    evaluation = Evaluation(*sources, metric=metric, **general)
    chosen = evaluation.plan.metric
    evaluation.plan = evaluation.plan._replace(options=_metric_options(chosen, options))
    total = METRICS[chosen].zero()
    counts: list[Counts] = []
    for result in evaluation:
        total += result.statistics
        counts.append(result.statistics.main)
    interval = bootstrap_interval(counts, samples, options.get("seed", _SEED)) if samples else None
    return finished(evaluation, total, interval)


def finished(
    evaluation: Evaluation, total: Statistics, bootstrap: dict[str, Any] | None = None
) -> Score:
    """Return the score of an evaluation that is done."""
    plan = evaluation.plan
    certified = getattr(total, "certified", True)
    signed = signature(plan.metric, plan.options, certified, evaluation.hashes)
    return Score(total, signed, evaluation.missing, evaluation.extra, bootstrap)


def bootstrap_interval(counts: list[Counts], samples: int, seed: int) -> dict[str, Any]:
    """Return the 95 % interval of F1 for the report."""
    from evaltools.significance import bootstrap  # noqa: PLC0415 - numpy is slow to import

    low, high = bootstrap(counts, samples, seed)
    return {"f1": [low, high], "confidence": 95, "samples": samples, "seed": seed}


def _check(metric: str, options: dict[str, Any]) -> None:
    if metric not in ("auto", *METRICS):
        raise EvaluationError(f"there is no metric {metric!r}: choose auto, {', '.join(METRICS)}")
    for name in options:
        if name not in _DEFAULTS | _GENERAL:
            known = ", ".join(_GENERAL | _DEFAULTS)
            raise EvaluationError(f"there is no option {name!r}; there are {known}")
    profile = options.get("profile", _DEFAULTS["profile"])
    if profile not in PROFILES:
        raise EvaluationError(f"there is no profile {profile!r}: choose {' or '.join(PROFILES)}")


def _metric_options(metric: str, given: dict[str, Any]) -> dict[str, Any]:
    names = METRICS[metric].option_names
    for name in given:
        if name not in (*names, *_GENERAL) and not (name == "seed" and "bootstrap" in given):
            raise EvaluationError(f"{name} is no option of {metric}: leave it out")
    chosen = {name: given.get(name, _DEFAULTS[name]) for name in names}
    return {name: value for name, value in chosen.items() if value is not None}
