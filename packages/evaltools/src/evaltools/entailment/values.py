"""Quantities, names and dates: when one says what another does, and when both cannot hold.

A quantity is an interval. ``more-than 200`` says what ``more-than 100`` does, and rules out 150:

>>> more, less = comparison("more-than", [200.0]), comparison("more-than", [100.0])
>>> relation(less, more), relation(more, less), relation(exactly(150), more)
('supported', 'lacking', 'contradicted')
>>> relate_names(("curie",), ("marie", "curie")), relate_names(("ann",), ("bob",))
('supported', 'contradicted')
>>> relate_dates({"decade": exactly(1980)}, {"year": exactly(1985), "month": exactly(3)})
{'decade': 'supported'}
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf
from typing import NamedTuple

SUPPORTED = "supported"
CONTRADICTED = "contradicted"
LACKING = "lacking"

_ABOUT = 0.1
"""How far ``about 100`` reaches to either side."""

_NUMBER = re.compile(r"[-+]?[0-9]+(?:[.,][0-9]+)*")
_THOUSANDS = re.compile(r"[-+]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")


class Interval(NamedTuple):
    """Numbers from *low* to *high*; open at an end that is not part of it."""

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.low:g}"
        left = "" if self.low == -inf else f"{self.low:g}"
        right = "" if self.high == inf else f"{self.high:g}"
        return f"{'(' if self.open_low else '['}{left}..{right}{')' if self.open_high else ']'}"

    def scaled(self, factor: float) -> Interval:
        """Return the same quantity in another unit."""
        return self._replace(low=self.low * factor, high=self.high * factor)


def exactly(number: float) -> Interval:
    """Return the interval of one number."""
    return Interval(number, number)


def number_of(text: str) -> float | None:
    """Return the number that a constant says.

    >>> [number_of(text) for text in ("2,000.5", "3.5", "-", "1:2")]
    [2000.5, 3.5, None, None]
    """
    if _THOUSANDS.fullmatch(text):
        return float(text.replace(",", ""))
    return (
        float(text) if _NUMBER.fullmatch(text) and text.count(".") < 2 and "," not in text else None
    )


def comparison(concept: str, numbers: Sequence[float]) -> Interval | None:
    """Return the interval of a concept such as ``more-than`` with the numbers below it."""
    if concept in ("between", "value-interval") and len(numbers) == 2:
        return Interval(min(numbers), max(numbers))
    if len(numbers) != 1:
        return None
    number = numbers[0]
    table = {
        "more-than": Interval(number, inf, open_low=True),
        "over": Interval(number, inf, open_low=True),
        "after": Interval(number, inf, open_low=True),
        "since": Interval(number, inf),
        "at-least": Interval(number, inf),
        "less-than": Interval(-inf, number, open_high=True),
        "under": Interval(-inf, number, open_high=True),
        "before": Interval(-inf, number, open_high=True),
        "at-most": Interval(-inf, number),
        "up-to": Interval(-inf, number),
    }
    about = abs(number) * _ABOUT
    for word in ("about", "approximately", "around", "roughly", "almost", "nearly", "close-to"):
        table[word] = Interval(number - about, number + about)
    return table.get(concept)


def relation(claim: Interval, source: Interval) -> str:
    """Say what a source that gives *source* makes of *claim*."""
    if _is_empty(max(claim.low, source.low), min(claim.high, source.high), claim, source):
        return CONTRADICTED
    low = claim.low < source.low or (
        claim.low == source.low and (source.open_low or not claim.open_low)
    )
    high = claim.high > source.high or (
        claim.high == source.high and (source.open_high or not claim.open_high)
    )
    return SUPPORTED if low and high else LACKING


def relate_names(claim: tuple[str, ...], source: tuple[str, ...]) -> str:
    """Compare names part by part: a part of a name is a name, ``Curie`` for ``Marie Curie``."""
    if _is_part(claim, source):
        return SUPPORTED
    return LACKING if _is_part(source, claim) else CONTRADICTED


def relate_dates(
    claim: dict[str, Interval | str], source: dict[str, Interval | str]
) -> dict[str, str]:
    """Compare the parts of two dates; decade and century follow from a year."""
    known = dict(source)
    year = source.get("year")
    if isinstance(year, Interval) and year.low == year.high:
        known.setdefault("decade", exactly(year.low // 10 * 10))
        known.setdefault("century", exactly((year.low - 1) // 100 + 1))
    verdicts = {}
    for part, value in claim.items():
        other = known.get(part)
        if other is None:
            verdicts[part] = LACKING
        elif isinstance(value, Interval) and isinstance(other, Interval):
            verdicts[part] = relation(value, other)
        else:
            verdicts[part] = SUPPORTED if value == other else CONTRADICTED
    return verdicts


def shown(value: Interval | str | None) -> str:
    """Return a value as a sentence can quote it."""
    return "" if value is None else str(value)


def _is_part(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    size = len(short)
    return any(long[start : start + size] == short for start in range(len(long) - size + 1))


def _is_empty(low: float, high: float, one: Interval, two: Interval) -> bool:
    if low != high:
        return low > high
    return any(
        (side.low == low and side.open_low) or (side.high == high and side.open_high)
        for side in (one, two)
    )
