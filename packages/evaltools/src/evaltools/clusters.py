"""The job of ``evaltools score`` on a cluster: shards are what is found in pairs, as JSON lines.

The driver adds them up in the order of the files, as one machine does.

>>> from evaltools.counts import Counts
>>> record_of(Outcome("a", "a", (False, False), Counts(2, 3, 1)))["statistics"]
{'gold': 2, 'pred': 3, 'match': 1}
>>> typed(Counts, {"gold": 2, "pred": 3, "match": 1})
Counts(gold=2, pred=3, match=1)
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from evaltools.metrics import METRICS
from evaltools.pairing import Evaluation, Outcome, Plan, Worker
from evaltools.signature import signature
from graphconv.cluster.shards import Shard, name_of
from graphconv.cluster.work import Made, Notes, Piece, Work, pieces
from graphconv.errors import FormatError
from graphconv.graph import Graph


@dataclass(frozen=True, slots=True)
class ScoreJob:
    """Score the pairs of two files."""

    plan: Plan
    metric: str
    """As the user said it."""
    framework: str | None
    size: int
    """Pairs in a shard."""
    packed: bool = False
    command: str = "evaltools score"
    model: str = ""
    errors: tuple[type[Exception], ...] = ()

    @property
    def suffix(self) -> str:
        """See Job."""
        return ".jsonl" + (".gz" if self.packed else "")

    @property
    def options(self) -> Mapping[str, Any]:
        """See Job."""
        plan = self.plan
        signed = signature(plan.metric, plan.options, certified=True, hashes={})
        return {**plan._asdict(), **signed, "size": self.size}

    def cut(self, paths: tuple[str, ...]) -> Iterator[Piece]:
        """See Job."""
        pairs = Evaluation(*paths, metric=self.metric, framework=self.framework).pairs()
        return pieces(pairs, self.size, Notes())

    def worker(self) -> Work:
        """See Job."""
        score = Worker(self.plan)
        return lambda piece: _scored(map(score, piece.items))

    def ends(self, head: str, graphs: int) -> tuple[str, str]:  # noqa: ARG002 - as all jobs
        """See Job."""
        return "", ""


def _scored(found: Iterable[Outcome]) -> Made:
    lines = [json.dumps(record_of(outcome)) + "\n" for outcome in found]
    return Made("".join(lines).encode(), len(lines), Notes())


def record_of(outcome: Outcome) -> dict[str, Any]:
    """Return what is found in a pair in JSON's types; :func:`outcome_of` undoes it."""
    statistics: Any = outcome.statistics
    return {
        **outcome._asdict(),
        "gold": _side(outcome.gold),
        "pred": _side(outcome.pred),
        "statistics": None if statistics is None else asdict(statistics),
    }


def _side(found: Graph | Exception | str | None) -> Any:
    if isinstance(found, Graph):
        return {"graph": found.to_dict()}
    return {"error": str(found)} if isinstance(found, Exception) else found


def outcome_of(record: dict[str, Any], kind: type) -> Outcome:
    """Return what :func:`record_of` was called on; *kind* is the type of the statistics."""
    statistics = record["statistics"]
    return Outcome(
        **{
            **record,
            "gold": _side_of(record["gold"]),
            "pred": _side_of(record["pred"]),
            "anonymous": tuple(record["anonymous"]),
            "statistics": None if statistics is None else typed(kind, statistics),
        }
    )


def _side_of(said: Any) -> Any:
    if not isinstance(said, dict):
        return said
    return FormatError(said["error"]) if "error" in said else Graph.from_dict(said["graph"])


def typed(kind: Any, value: Any) -> Any:
    """Return a value from JSON as what it was: dataclasses, tuples, and dicts of them."""
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        return kind(**{f.name: typed(hints[f.name], value[f.name]) for f in fields(kind)})
    if get_origin(kind) is tuple:
        return tuple(value)
    if get_origin(kind) is dict:
        return {name: typed(get_args(kind)[1], item) for name, item in value.items()}
    return value


def outcomes(shards: list[Shard], folder: str, job: ScoreJob) -> Iterator[Outcome]:
    """Yield what was found in the pairs, in order."""
    kind = type(METRICS[job.plan.metric].zero())
    for shard in shards:
        place = Path(folder, name_of(shard.input, shard.number, job.suffix))
        open_ = gzip.open if job.packed else open
        with open_(place, "rt", encoding="utf-8") as file:
            for line in file:
                yield outcome_of(json.loads(line), kind)
