"""Hill-climbing: a good solution quickly, without a proof.

>>> from evaltools.smatch.problem import add_pair, empty
>>> problem = empty(2, 2)
>>> for row, column, gain in ((0, 0, 1), (0, 1, 3), (1, 1, 3)):
...     _ = add_pair(problem, row, column, gain)
>>> climb(problem, [0, 1])
(4, [0, 1])
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from evaltools.smatch.problem import FREE, Problem


def climb(
    problem: Problem, start: Sequence[int], *, steepest: bool = False
) -> tuple[int, list[int]]:
    """Take moves and exchanges until none gains; return the value and the assignment.

    A row moves to a column; the row that had this column gets the column left behind, if that pair
    exists, or none. *steepest* takes the best of all moves each time, as smatch does, and is slow
    for large graphs.
    """
    assignment = list(start)
    owner = [FREE] * problem.n_columns
    for row, column in enumerate(assignment):
        if column != FREE:
            owner[column] = row
    # worth[p]: what p gains next to the pairs chosen now.
    worth = list(problem.gain)
    for pair in problem.chosen(assignment):
        for other, weight in problem.partners[pair].items():
            worth[other] += weight
    places = list(zip(problem.row, problem.column, strict=True))
    climbing = True
    while climbing:
        best, best_pair = 0, FREE
        climbing = False
        for pair, (row, column) in enumerate(places):
            # Most pairs are worth too little to look at what they would replace.
            if worth[pair] > best and assignment[row] != column:
                gain = _gain(problem, worth, assignment, owner, pair)
                if gain > best:
                    climbing = True
                    if steepest:
                        best, best_pair = gain, pair
                    else:
                        _take(problem, worth, assignment, owner, pair)
        if best_pair != FREE:
            _take(problem, worth, assignment, owner, best_pair)
    return problem.value(assignment), assignment


def smart_start(problem: Problem, rng: Random | None = None) -> list[int]:
    """Give each row a free column with which it gains something alone, the best one first.

    With *rng*, a random free column among all pairs of the row instead.
    """
    assignment = [FREE] * problem.n_rows
    taken: set[int] = set()
    rows = list(range(problem.n_rows))
    if rng is not None:
        rng.shuffle(rows)
    for row in rows:
        options = [c for c in problem.pair_of[row] if c not in taken]
        if rng is None:
            gains = {c: problem.gain[problem.pair_of[row][c]] for c in options}
            options = [c for c in options if gains[c]]
            options.sort(key=gains.__getitem__, reverse=True)
        if options:
            column = options[0] if rng is None else rng.choice(options)
            assignment[row] = column
            taken.add(column)
    return assignment


def restarts(problem: Problem, n: int, rng: Random) -> tuple[int, list[int]]:
    """Return the best of one climb from the smart start and *n* from random ones."""
    best = climb(problem, smart_start(problem), steepest=True)
    for _ in range(n):
        found = climb(problem, smart_start(problem, rng), steepest=True)
        best = max(best, found, key=lambda solution: solution[0])
    return best


def _gain(
    problem: Problem, worth: list[int], assignment: list[int], owner: list[int], pair: int
) -> int:
    """Return what it gains to choose *pair* and undo what is in its way."""
    row, column = problem.row[pair], problem.column[pair]
    old = problem.pair_of[row].get(assignment[row])
    rival = owner[column]
    gain = worth[pair]
    if old is not None:
        gain -= worth[old]
    if rival == FREE:
        return gain
    evicted = problem.pair_of[rival].get(column)
    if evicted is not None:
        gain -= worth[evicted]
        if old is not None:
            gain += problem.partners[evicted].get(old, 0)
    back = problem.pair_of[rival].get(assignment[row])
    if back is not None:
        gain += worth[back] + problem.partners[back].get(pair, 0)
    return gain


def _take(
    problem: Problem, worth: list[int], assignment: list[int], owner: list[int], pair: int
) -> None:
    row, column = problem.row[pair], problem.column[pair]
    left = assignment[row]
    rival = owner[column]
    if rival != FREE:
        _set(problem, worth, assignment, rival, FREE)
    _set(problem, worth, assignment, row, column)
    owner[column] = row
    if left != FREE:
        owner[left] = FREE
        if rival != FREE and left in problem.pair_of[rival]:
            _set(problem, worth, assignment, rival, left)
            owner[left] = rival


def _set(problem: Problem, worth: list[int], assignment: list[int], row: int, column: int) -> None:
    for position, sign in ((assignment[row], -1), (column, 1)):
        pair = problem.pair_of[row].get(position)
        if pair is not None:
            for other, weight in problem.partners[pair].items():
                worth[other] += sign * weight
    assignment[row] = column
