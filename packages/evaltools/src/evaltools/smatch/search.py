"""The proved optimum: bounds and climbs first, then branch and bound, then HiGHS.

Nearly every pair of real graphs is proved at the root: the climb from the bound's own assignment
meets the bound. Where a gap stays, the search splits on one pair at a time; when that takes too
many steps, an integer program over what is left decides.
"""

from __future__ import annotations

from time import process_time
from typing import NamedTuple

from evaltools.smatch.bound import SCALE, Relaxation
from evaltools.smatch.climb import climb, smart_start
from evaltools.smatch.problem import Problem

# Beyond so many rounds the bound hardly moves; beyond so many pairs looked at (summed over the
# nodes of the search) a program over the whole rest is faster.
_ROUNDS = 12
_PAIRS = 3000


class Solution(NamedTuple):
    """The best assignment found, and a value that none exceeds."""

    value: int
    bound: int
    assignment: list[int]

    @property
    def certified(self) -> bool:
        """Whether the value is proved optimal."""
        return self.value == self.bound


def solve(problem: Problem, time_limit: float | None = None) -> Solution:
    """Return the optimum, or after *time_limit* CPU seconds the best value with its bound."""
    return _Search(problem, time_limit).run()


class _Search:
    """One search: the best solution so far, and when to stop."""

    def __init__(self, problem: Problem, time_limit: float | None) -> None:
        self.problem = problem
        self.deadline = None if time_limit is None else process_time() + time_limit
        self.value = -1
        self.assignment: list[int] = []

    def run(self) -> Solution:
        root = Relaxation(self.problem)
        open_ = self.tighten(root)
        bound = self.problem.constant + root.bound // SCALE
        if open_ and not self.late():
            self.climb_from(smart_start(self.problem))
            open_ = self.tighten(root)
            bound = self.problem.constant + root.bound // SCALE
        if open_ and not self.branch(root):
            if not self.late():
                bound = min(bound, self.program(root))
            return Solution(self.value, max(bound, self.value), self.assignment)
        return Solution(self.value, self.value, self.assignment)

    def branch(self, root: Relaxation) -> bool:
        """Search below *root*; return whether that could be finished."""
        stack = [root]
        pairs = 0
        while stack:
            node = stack.pop()
            pairs += sum(node.alive)
            if pairs > _PAIRS or self.late():
                return False
            if node is not root and not self.tighten(node):
                continue
            pair = node.doubtful()
            if pair is None:
                self.climb_from(node.everything())
                continue
            without, chosen = node.copy(), node.copy()
            without.drop(pair)
            chosen.choose(pair)
            stack += (without, chosen)
        return True

    def program(self, root: Relaxation) -> int:
        """Let HiGHS decide what is left; return the bound."""
        from evaltools.smatch.program import maximize  # noqa: PLC0415 - scipy is slow to import

        bound, assignment = maximize(self.problem, root.alive, self.deadline)
        if assignment is not None:
            self.climb_from(assignment)
        # A pair was dropped because it cannot beat the value of then: the bound of the rest holds
        # only above that value.
        return max(bound, self.value)

    def tighten(self, node: Relaxation) -> bool:
        """Lower the bound of *node* and raise the value until they meet; False if they do."""
        for turn in range(_ROUNDS):
            before = node.bound
            node.solve()
            if self.closed(node):
                return False
            self.climb_from(node.match)
            if self.closed(node):
                return False
            dropped = node.drop_hopeless(self.value + 1 - self.problem.constant)
            if (turn and not dropped and node.bound * 1000 > before * 999) or self.late():
                break
            node.shift()
        return True

    def closed(self, node: Relaxation) -> bool:
        return self.problem.constant + node.bound // SCALE <= self.value

    def climb_from(self, start: list[int]) -> None:
        value, assignment = climb(self.problem, start)
        if value > self.value:
            self.value, self.assignment = value, assignment

    def late(self) -> bool:
        return self.deadline is not None and process_time() > self.deadline
