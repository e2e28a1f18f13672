"""Scores as a table.

>>> from evaltools.counts import Counts
>>> print(score_table({"smatch": Counts(4, 5, 3).to_json(), "labelled_match": 50.0}))
                    P      R     F1  gold  pred  match
smatch          60.00  75.00  66.67     4     5      3
labelled match                50.00
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphconv.cliutil import table

_NUMBERS = ("p", "r", "f1", "gold", "pred", "match")


def score_table(report: dict[str, Any]) -> str:
    """Return a metric's part of the report as a table, rounded to two decimals."""
    return table([("", "P", "R", "F1", *_NUMBERS[3:]), *_rows(report, "")])


def _rows(report: dict[str, Any], prefix: str) -> Iterator[tuple[object, ...]]:
    for key, value in report.items():
        name = f"{prefix} {key}".strip().replace("_", " ")
        if not isinstance(value, dict):
            yield (name, "", "", value, "", "", "")
        elif "f1" in value:
            yield (name, *(value[number] for number in _NUMBERS))
        else:
            yield from _rows(value, name)
