"""What bounds and search leave open, as a linear program (tight), then as an integer program.

Variables are the pairs (x) and the partnerships (y). For a pair and one row around it, at most x of
the partnerships hold, and the same for each column around it; this is much tighter than y <= x.
"""

from __future__ import annotations

from collections import defaultdict
from math import floor
from time import process_time
from typing import Any

from evaltools.smatch.problem import FREE, Problem

_EPSILON = 1e-6
# A program with so many partnerships takes about a second to be made and presolved, and 70 MB.
_LINKS_PER_SECOND = 10_000


def maximize(
    problem: Problem, alive: list[bool], deadline: float | None
) -> tuple[int, list[int] | None]:
    """Return a bound over the pairs that are *alive*, and the best assignment if one was found.

    With a *deadline* (of process_time), a program that cannot be solved before it is not made.
    """
    pairs = [pair for pair, lives in enumerate(alive) if lives]
    number = {pair: n for n, pair in enumerate(pairs)}
    links = [
        (pair, other, weight)
        for pair in pairs
        for other, weight in problem.partners[pair].items()
        if pair < other and alive[other]
    ]
    gains = [problem.gain[pair] for pair in pairs] + [weight for _, _, weight in links]
    if deadline is not None and len(links) > _LINKS_PER_SECOND * _left(deadline):
        return problem.constant + sum(gains), None
    model = _model(problem, number, links)
    result = _solve(gains, model, integral=False, deadline=deadline)
    bound = _bound(result, sum(gains))
    if result.x is None or any(_EPSILON < x < 1 - _EPSILON for x in result.x[: len(pairs)]):
        result = _solve(gains, model, integral=True, deadline=deadline)
        bound = min(bound, _bound(result, sum(gains)))
    bound += problem.constant
    if result.x is None:
        return bound, None
    assignment = [FREE] * problem.n_rows
    for pair in pairs:
        if result.x[number[pair]] > 0.5:
            assignment[problem.row[pair]] = problem.column[pair]
    return bound, assignment


def _model(
    problem: Problem, number: dict[int, int], links: list[tuple[int, int, int]]
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return the constraints as coefficients, their places, and the right-hand sides."""
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for pair, n in number.items():
        groups["row", problem.row[pair]].append(n)
        groups["column", problem.column[pair]].append(n)
    for position, (pair, other, _) in enumerate(links, start=len(number)):
        for one, two in ((pair, other), (other, pair)):
            groups["row", problem.row[two], one].append(position)
            groups["column", problem.column[two], one].append(position)
    values: list[int] = []
    columns: list[int] = []
    starts = [0]
    limits: list[int] = []
    for key, members in groups.items():
        columns += members
        values += [1] * len(members)
        limits.append(1)
        if len(key) == 3:  # partnerships around a pair: at most x, not 1
            columns.append(number[key[2]])
            values.append(-1)
            limits[-1] = 0
        starts.append(len(columns))
    return values, columns, starts, limits


def _solve(
    gains: list[int],
    model: tuple[list[int], list[int], list[int], list[int]],
    *,
    integral: bool,
    deadline: float | None,
) -> Any:
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415 - slow to import
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    values, columns, starts, limits = model
    matrix = csr_array((values, columns, starts), shape=(len(limits), len(gains)))
    options = {} if deadline is None else {"time_limit": _left(deadline)}
    return milp(
        [-gain for gain in gains],
        integrality=int(integral),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, ub=limits),
        options=options,
    )


def _left(deadline: float) -> float:
    return max(0.0, deadline - process_time())


def _bound(result: Any, everything: int) -> int:
    bound = result.get("mip_dual_bound")
    if bound is None:
        bound = result.fun if result.status == 0 else -everything
    return min(everything, floor(_EPSILON - float(bound)))
