"""Smatch as an optimization problem: which variable of one graph stands for which of the other.

A *pair* is a variable of the left graph (row) with one of the right graph (column). Choosing it
gains the triples that hold for it alone, and together with another chosen pair (its *partner*) the
edges between the two. A solution uses no row and no column twice.

>>> from evaltools.amr_triples import Triples
>>> left = Triples(("a", "b"), frozenset({(0, "/", "x"), (1, "/", "y"), (0, "arg0", 1)}))
>>> right = Triples(("c", "d"), frozenset({(0, "/", "y"), (1, "/", "x"), (1, "arg0", 0)}))
>>> problem = build(left, right)
>>> problem.value([1, 0])
3
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from evaltools.amr_triples import Triple, Triples

FREE = -1
"""In an assignment: the row has no column."""


@dataclass(slots=True)
class Problem:
    """Rows, columns, pairs and what they gain; pairs that cannot gain anything are left out."""

    n_rows: int
    n_columns: int
    row: list[int]
    column: list[int]
    """The row and the column of each pair."""
    gain: list[int]
    """What a pair gains alone."""
    partners: list[dict[int, int]]
    """What it gains with each partner."""
    pair_of: list[dict[int, int]]
    """For each row, its pairs by column."""
    constant: int = 0
    """What every solution gains."""

    def value(self, assignment: Sequence[int]) -> int:
        """Return what an assignment (a column or FREE for each row) gains."""
        chosen = self.chosen(assignment)
        twice = sum(
            weight
            for pair in chosen
            for other, weight in self.partners[pair].items()
            if other in chosen
        )
        return self.constant + sum(self.gain[pair] for pair in chosen) + twice // 2

    def chosen(self, assignment: Sequence[int]) -> set[int]:
        """Return the pairs of an assignment."""
        return {
            self.pair_of[row][column]
            for row, column in enumerate(assignment)
            if column in self.pair_of[row]
        }


def build(left: Triples, right: Triples) -> Problem:
    """Return the problem of matching the triples of two graphs."""
    left_unary, left_edges, left_rest = _split(left.items)
    right_unary, right_edges, right_rest = _split(right.items)
    problem = empty(len(left.variables), len(right.variables))
    problem.constant = len(left_rest & right_rest)
    pair_of, gain, partners = problem.pair_of, problem.gain, problem.partners
    for key, rows in left_unary.items():
        for column in right_unary.get(key, ()):
            for row in rows:
                pair = pair_of[row].get(column)
                gain[add_pair(problem, row, column) if pair is None else pair] += 1
    for role, edges in left_edges.items():
        others = right_edges.get(role)
        if others is None:
            continue
        for source, target in edges:
            sources, targets = pair_of[source], pair_of[target]
            for other_source, other_target in others:
                pair = sources.get(other_source)
                if pair is None:
                    pair = add_pair(problem, source, other_source)
                other = targets.get(other_target)
                if other is None:
                    other = add_pair(problem, target, other_target)
                weights = partners[pair]
                weights[other] = partners[other][pair] = weights.get(other, 0) + 1
    return problem


def empty(n_rows: int, n_columns: int) -> Problem:
    """Return a problem without pairs."""
    return Problem(n_rows, n_columns, [], [], [], [], [{} for _ in range(n_rows)])


def add_pair(problem: Problem, row: int, column: int, gain: int = 0) -> int:
    """Add a pair to a problem under construction and return its number."""
    pair = len(problem.row)
    problem.pair_of[row][column] = pair
    problem.row.append(row)
    problem.column.append(column)
    problem.gain.append(gain)
    problem.partners.append({})
    return pair


_Unary = tuple[str, str, bool]


def _split(
    items: frozenset[Triple],
) -> tuple[dict[_Unary, list[int]], dict[str, list[tuple[int, int]]], set[Triple]]:
    """Sort triples: about one variable (by what they say), about two (by role), about none."""
    unary: dict[_Unary, list[int]] = defaultdict(list)
    edges: dict[str, list[tuple[int, int]]] = defaultdict(list)
    rest: set[Triple] = set()
    # Sorted, so that nothing below depends on the hash seed.
    for source, role, target in sorted(items, key=repr):
        if isinstance(source, int):
            if isinstance(target, str):
                unary[role, target, False].append(source)
            elif source == target:
                unary[role, "", True].append(source)
            else:
                edges[role].append((source, target))
        elif isinstance(target, int):
            unary[role, source, True].append(target)
        else:
            rest.add((source, role, target))
    return unary, edges, rest
