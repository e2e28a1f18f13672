"""Ids for UCCA units that come from bare relations.

The order of siblings is the numeric order of their ids, and of several parents the one with the
first id is primary. So ids are given in an order that agrees with every list of siblings and every
primary parent: a topological order, and of several the one nearest to pre-order. What a model
predicts may contradict itself; then the first unit in pre-order comes next.

>>> rows = (
...     Row("ROOT", 1, 0, "root"),
...     Row("H", 2, 1, "H"),
...     Row("A", 3, 2, "A*"),
...     Row("A", 4, 2, "A"),
...     Row("H", 5, 1, "H"),
...     Row("A", 3, 5, "A"),
... )
>>> sibling_ids(rows, [1, 2, 3, 4, 5])
{1: '1.1', 2: '1.2', 3: '1.3', 4: '1.4', 5: '1.5'}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

from graphconv.arborescence import Row
from graphconv.conversion.labels import (
    SECONDARY,
    STRUCTURAL,
    TERMINAL,
    edge_label,
    is_linkage,
)


def sibling_ids(rows: Sequence[Row], units: Sequence[int]) -> dict[int, str]:
    """Return an id for each of *units*, which are indices in pre-order."""
    after: dict[int, list[int]] = {unit: [] for unit in units}
    missing = dict.fromkeys(units, 0)
    for earlier, later in _constraints(rows):
        if earlier in after and later in after and earlier != later:
            after[earlier].append(later)
            missing[later] += 1
    ids: dict[int, str] = {}
    # The root is 1.1 in every file, so that it never waits.
    ready = [unit for unit in units if not missing[unit] or unit == rows[0].index]
    heapify(ready)
    rest = iter(units)
    while len(ids) < len(units):
        unit = heappop(ready) if ready else next(rest)
        if unit not in ids:
            ids[unit] = f"1.{len(ids) + 1}"
            for later in after[unit]:
                missing[later] -= 1
                if not missing[later]:
                    heappush(ready, later)
    return ids


def _constraints(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """Yield pairs of indices of which the first needs the smaller id."""
    siblings: dict[int, int] = {}
    parents: dict[int, int] = {}
    secondary: list[tuple[int, int]] = []
    for _, index, head, relation, _ in rows:
        if relation in STRUCTURAL:
            label, mark = "", SECONDARY
        else:
            label, mark = edge_label(relation)
            above = rows[head - 1].index
            if mark in ("", TERMINAL):
                parents[index] = above
            elif mark == SECONDARY and not is_linkage(label):
                secondary.append((index, above))
        if head in siblings:
            yield siblings[head], index
        siblings[head] = index
    for index, above in secondary:
        if index in parents:
            yield parents[index], above
