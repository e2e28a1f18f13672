"""How sure a score or a difference is: bootstrap intervals and approximate randomization.

Everything is computed from the counts of each pair, so the graphs are scored only once. Results
depend on the seed alone.

>>> certain = [Counts(10, 10, 8)] * 50
>>> bootstrap(certain, samples=100)
Interval(low=80.0, high=80.0)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from evaltools.counts import Counts

# Draws are made in portions of so many numbers, to bound memory.
_PORTION = 1 << 20


class Interval(NamedTuple):
    """A 95 % interval, in percentage points of F1."""

    low: float
    high: float


class Comparison(NamedTuple):
    """System B against system A."""

    difference: float
    """F1 of B less F1 of A."""
    interval: Interval
    """Paired bootstrap."""
    bootstrap_p: float
    """Twice the share of bootstrap samples in which the better system is not better."""
    randomization_p: float
    """The share of random exchanges of outputs with a difference at least as large."""


def bootstrap(pairs: Sequence[Counts], samples: int = 1000, seed: int = 0) -> Interval:
    """Return the percentile interval of F1 under resampling of the pairs."""
    f1 = _resampled([_numbers(pairs)], samples, seed)[0]
    return _interval(f1)


def compare(
    first: Sequence[Counts], second: Sequence[Counts], samples: int = 10_000, seed: int = 0
) -> Comparison:
    """Compare two systems on the same gold graphs, in the same order.

    >>> better = compare([Counts(10, 10, 5)] * 40, [Counts(10, 10, 6)] * 40, samples=200)
    >>> better.difference, better.randomization_p < 0.05
    (10.0, True)
    """
    a, b = _numbers(first), _numbers(second)
    observed = _f1(b.sum(axis=0)) - _f1(a.sum(axis=0))
    resampled = _resampled([a, b], samples, seed)
    differences = resampled[1] - resampled[0]
    reversed_ = (differences <= 0) if observed >= 0 else (differences >= 0)
    exchanged = _exchanged(a, b, samples, seed)
    # One more of each: the observed outputs are one of the possible exchanges.
    as_large = int((abs(exchanged) >= abs(observed) - 1e-9).sum())
    return Comparison(
        float(observed),
        _interval(differences),
        min(1.0, 2 * (int(reversed_.sum()) + 1) / (samples + 1)),
        (as_large + 1) / (samples + 1),
    )


def _numbers(pairs: Sequence[Counts]) -> Any:
    import numpy as np  # noqa: PLC0415 - slow to import

    rows = [(counts.gold + counts.pred, 2 * counts.match) for counts in pairs]
    return np.array(rows, dtype=np.float64).reshape(len(rows), 2)


def _f1(totals: Any) -> Any:
    """Return F1 in percent from sums of (gold + pred, 2 * match); 100 where both are empty."""
    import numpy as np  # noqa: PLC0415 - slow to import

    size, match = totals[..., 0], totals[..., 1]
    return np.where(size > 0, 100.0 * match / np.maximum(size, 1), 100.0)


def _resampled(systems: Sequence[Any], samples: int, seed: int) -> list[Any]:
    """Return the F1 of each system in each sample; a sample has the same pairs for all."""
    import numpy as np  # noqa: PLC0415 - slow to import

    generator = np.random.default_rng(seed)
    size = len(systems[0])
    found: list[list[Any]] = [[] for _ in systems]
    for portion in _portions(samples, size):
        chosen = generator.integers(0, max(size, 1), (portion, size))
        for values, numbers in zip(found, systems, strict=True):
            values.append(_f1(numbers[chosen].sum(axis=1)))
    return [np.concatenate(values) for values in found]


def _exchanged(a: Any, b: Any, samples: int, seed: int) -> Any:
    """Return the difference after exchanging the two outputs of each pair by a coin's toss."""
    import numpy as np  # noqa: PLC0415 - slow to import

    generator = np.random.default_rng(seed)
    found = []
    for portion in _portions(samples, len(a)):
        moved = generator.integers(0, 2, (portion, len(a))) @ (b - a)
        found.append(_f1(b.sum(axis=0) - moved) - _f1(a.sum(axis=0) + moved))
    return np.concatenate(found)


def _portions(samples: int, size: int) -> Iterator[int]:
    step = max(1, _PORTION // max(size, 1))
    for start in range(0, samples, step):
        yield min(step, samples - start)


def _interval(values: Any) -> Interval:
    import numpy as np  # noqa: PLC0415 - slow to import

    low, high = np.percentile(values, (2.5, 97.5))
    return Interval(float(low), float(high))
