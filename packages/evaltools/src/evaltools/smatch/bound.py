"""Upper bounds: an assignment problem over shared-out gains, made tighter by moving the shares.

What two partners gain together is shared between them. A pair is then worth at most its own gain
plus, for each row around it, the best share it has there (or for each column, if that is less), and
no solution is worth more than the best assignment by these figures. Wherever a pair has slack in
that assignment it can take shares over from pairs that have none, and the bound falls; a pair whose
choice would put the bound below the value that is to be beaten is dropped for good.

Gains are integers in units of 1 / SCALE triples, so the proof has no rounding in it.
"""

from __future__ import annotations

from collections import Counter
from heapq import heappop, heappush

from evaltools.smatch.problem import FREE, Problem

SCALE = 5040
"""Units in one triple; many divisors, so that shares divide evenly."""

Options = list[list[tuple[int, int]]]
"""For each row, its columns and their gains."""


def assign(options: Options, n_columns: int) -> tuple[list[int], list[int], list[int]]:
    """Return the best assignment, and the prices of rows and columns that prove it.

    Prices are >= 0, those of a row and a column sum to at least the gain of their pair, and all
    prices together are worth exactly the assignment.

    >>> assign([[(0, 5), (1, 4)], [(0, 4)]], 2)
    ([1, 0], [4, 3], [1, 0])
    """
    made = _Assignment(options, n_columns)
    for row in range(len(options)):
        made.insert(row)
    return made.match, made.row_price, made.column_price


class _Assignment:
    """The best assignment of the rows inserted so far (the Hungarian method, on sparse gains)."""

    def __init__(self, options: Options, n_columns: int) -> None:
        self.options = options
        self.match = [FREE] * len(options)
        self.owner = [FREE] * n_columns
        self.row_price = [0] * len(options)
        self.column_price = [0] * n_columns

    def insert(self, row: int) -> None:
        column_price, owner = self.column_price, self.owner
        best, best_column = 0, FREE
        for column, gain in self.options[row]:
            net = gain - column_price[column]
            if net > best or (net == best and best and owner[best_column] != FREE):
                best, best_column = net, column
        self.row_price[row] = best
        if best_column == FREE:
            return
        if owner[best_column] == FREE:
            self.match[row] = best_column
            owner[best_column] = row
        else:
            self.make_room(row)

    def make_room(self, start: int) -> None:
        """Find the cheapest chain of changes that ends with row *start* (Dijkstra on slacks).

        A chain ends at a free column, or with a row that is left without a column.
        """
        row_price, column_price, owner = self.row_price, self.column_price, self.owner
        row_distance = {start: 0}
        column_distance: dict[int, int] = {}
        came_from: dict[int, int] = {}
        heap: list[tuple[int, int]] = []
        limit, end_row, end_column = row_price[start], start, FREE
        row, done = start, set[int]()
        while end_column == FREE:
            base = row_distance[row] + row_price[row]
            for column, gain in self.options[row]:
                distance = base + column_price[column] - gain
                if distance < column_distance.get(column, limit):
                    column_distance[column] = distance
                    came_from[column] = row
                    heappush(heap, (distance, column))
            while heap and heap[0][1] in done:
                heappop(heap)
            if not heap or heap[0][0] >= limit:
                break
            distance, column = heappop(heap)
            row = owner[column]
            if row == FREE:
                limit, end_column = distance, column
                break
            done.add(column)
            row_distance[row] = distance
            if distance + row_price[row] < limit:
                limit, end_row = distance + row_price[row], row
        for column in done:
            column_price[column] += max(0, limit - column_distance[column])
        for row, distance in row_distance.items():
            row_price[row] -= max(0, limit - distance)
        if end_column == FREE and end_row != start:
            end_column, self.match[end_row] = self.match[end_row], FREE
        self.shift_along(came_from, start, end_column)

    def shift_along(self, came_from: dict[int, int], start: int, column: int) -> None:
        """Give *column* to the row it was reached from, that row's column to the one before."""
        while column != FREE:
            row = came_from[column]
            self.owner[column] = row
            self.match[row], column = column, self.match[row]
            if row == start:
                return


class Relaxation:
    """The bound of a problem, restricted to the pairs that are still alive."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        half = SCALE // 2
        self.shares = [{q: w * half for q, w in weights.items()} for weights in problem.partners]
        self.alive = [True] * len(problem.row)
        self.bound = 0
        self.match: list[int] = []
        self.slack: list[int] = []

    def copy(self) -> Relaxation:
        """Return an independent copy, to drop other pairs in."""
        other = Relaxation.__new__(Relaxation)
        other.problem = self.problem
        other.shares = [dict(shares) for shares in self.shares]
        other.alive = list(self.alive)
        other.bound, other.match, other.slack = self.bound, self.match, self.slack
        return other

    def solve(self) -> None:
        """Compute the bound, the assignment that attains it, and the slack of every pair."""
        problem = self.problem
        row, column = problem.row, problem.column
        options: Options = [[] for _ in range(problem.n_rows)]
        gains = [0] * len(row)
        for pair, alive in enumerate(self.alive):
            if alive:
                gain = gains[pair] = SCALE * problem.gain[pair] + self._around(pair)
                options[row[pair]].append((column[pair], gain))
        self.match, row_price, column_price = assign(options, problem.n_columns)
        self.bound = sum(row_price) + sum(column_price)
        self.slack = [
            row_price[row[pair]] + column_price[column[pair]] - gain
            for pair, gain in enumerate(gains)
        ]

    def drop(self, pair: int) -> None:
        """Remove a pair from the problem."""
        self.alive[pair] = False
        for other in self.shares[pair]:
            del self.shares[other][pair]
        self.shares[pair] = {}

    def choose(self, pair: int) -> None:
        """Drop the pairs that exclude this one."""
        row, column = self.problem.row[pair], self.problem.column[pair]
        for other, alive in enumerate(self.alive):
            same = self.problem.row[other] == row or self.problem.column[other] == column
            if alive and same and other != pair:
                self.drop(other)

    def doubtful(self) -> int | None:
        """Return the pair with rivals that promises most beyond what it really gains.

        None means that the pairs alive exclude each other nowhere.
        """
        row, column = self.problem.row, self.problem.column
        alive = [pair for pair, lives in enumerate(self.alive) if lives]
        row_size = Counter(row[pair] for pair in alive)
        column_size = Counter(column[pair] for pair in alive)
        rivals = [p for p in alive if row_size[row[p]] > 1 or column_size[column[p]] > 1]
        chosen = self.problem.chosen(self.match)
        return max(
            rivals,
            default=None,
            key=lambda pair: (
                pair in chosen,
                sum(share for other, share in self.shares[pair].items() if other not in chosen),
            ),
        )

    def everything(self) -> list[int]:
        """Return the assignment of all pairs alive, where none excludes another."""
        assignment = [FREE] * self.problem.n_rows
        for pair, alive in enumerate(self.alive):
            if alive:
                assignment[self.problem.row[pair]] = self.problem.column[pair]
        return assignment

    def drop_hopeless(self, target: int) -> int:
        """Drop the pairs that no solution worth *target* can use; return how many."""
        room = self.bound - target * SCALE
        hopeless = [
            pair for pair, alive in enumerate(self.alive) if alive and self.slack[pair] > room
        ]
        for pair in hopeless:
            self.drop(pair)
        return len(hopeless)

    def shift(self) -> None:
        """Move shares from pairs without slack to their partners that have some."""
        slack, shares, row = self.slack, self.shares, self.problem.row
        for pair, own in enumerate(shares):
            room = slack[pair]
            if not own or room <= 0:
                continue
            takers = [other for other in own if slack[other] == 0 and shares[other][pair]]
            if not takers:
                continue
            step = room // len({row[other] for other in takers})
            for other in takers:
                moved = min(step, shares[other][pair])
                own[other] += moved
                shares[other][pair] -= moved

    def _around(self, pair: int) -> int:
        by_row: dict[int, int] = {}
        by_column: dict[int, int] = {}
        row, column = self.problem.row, self.problem.column
        for other, share in self.shares[pair].items():
            if share > by_row.get(row[other], 0):
                by_row[row[other]] = share
            if share > by_column.get(column[other], 0):
                by_column[column[other]] = share
        return min(sum(by_row.values()), sum(by_column.values()))
