"""The solver against exhaustive search, and the laws of the score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltools.amr_triples import PROFILES, Triple, Triples
from evaltools.smatch import pair_counts, score, search
from evaltools.smatch.alignment import Settings, align, matched
from evaltools.smatch.bound import SCALE, Relaxation, assign
from evaltools.smatch.climb import climb, smart_start
from evaltools.smatch.problem import FREE, Problem, build
from evaltools.smatch.program import maximize
from evaltools.smatch.search import solve
from graphconv.graph import Edge, Graph, Node

ROLES = st.sampled_from(["arg0", "arg1", "mod"])
VALUES = st.sampled_from(["x", "y", "z"])


@st.composite
def triples(draw: st.DrawFn, size: int = 6) -> Triples:
    n = draw(st.integers(0, size))
    items: set[Triple] = {(i, "/", draw(VALUES)) for i in range(n)}
    if n:
        variable = st.integers(0, n - 1)
        edges = st.tuples(variable, ROLES, variable)
        constants = st.tuples(variable, ROLES, VALUES) | st.tuples(VALUES, ROLES, variable)
        items |= draw(st.sets(edges | constants | st.tuples(VALUES, ROLES, VALUES), max_size=12))
    return Triples(tuple(f"v{i}" for i in range(n)), frozenset(items))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    n = draw(st.integers(1, 5))
    nodes = [Node(f"n{i}", draw(VALUES)) for i in range(n)]
    nodes += [Node(f":{i}", draw(VALUES), constant=True) for i in range(draw(st.integers(0, 2)))]
    ids = st.sampled_from([node.id for node in nodes])
    marks = st.sampled_from([(), (("inverted", True),)])
    edge = st.builds(Edge, ids, ids, ROLES, st.just(False), marks)
    edges = draw(st.lists(edge, max_size=8))
    return Graph("1", "amr", nodes=tuple(nodes), edges=tuple(edges), tops=("n0",))


def exhaustive(left: Triples, right: Triples) -> int:
    """Try every alignment, counting triples, not with the problem's own tables."""
    partial: list[list[int]] = [[]]
    for _ in left.variables:
        partial = [
            [*columns, column]
            for columns in partial
            for column in (FREE, *(set(range(len(right.variables))) - set(columns)))
        ]
    return max(len(matched(left, right, columns)) for columns in partial)


@pytest.mark.property
@given(triples(size=4), triples())
def test_the_solver_finds_the_optimum(left: Triples, right: Triples) -> None:
    found = align(left, right, Settings())
    assert found.counts.match == found.bound
    assert found.counts.match == len(matched(left, right, found.columns))
    assert found.counts.match == exhaustive(left, right)


@pytest.mark.slow
@pytest.mark.property
@given(triples(), triples())
def test_the_solver_finds_the_optimum_of_six_nodes(left: Triples, right: Triples) -> None:
    assert align(left, right, Settings()).counts.match == exhaustive(left, right)


@pytest.mark.property
@given(triples(), triples())
def test_bounds_hold_and_programs_agree(left: Triples, right: Triples) -> None:
    problem = build(left, right)
    best = solve(problem)
    relaxation = Relaxation(problem)
    relaxation.solve()
    assert problem.constant + relaxation.bound / SCALE >= best.value
    relaxation.shift()
    before = relaxation.bound
    relaxation.solve()
    assert before >= relaxation.bound
    assert problem.constant + relaxation.bound / SCALE >= best.value
    climbed, assignment = climb(problem, smart_start(problem))
    assert climbed == problem.value(assignment) <= best.value
    if problem.row:
        bound, found = maximize(problem, [True] * len(problem.row), None)
        assert found is not None
        assert bound == problem.value(found) == best.value


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), unique_by=lambda o: o[0]),
        max_size=5,
    )
)
def test_an_assignment_is_proved_by_its_prices(options: list[list[tuple[int, int]]]) -> None:
    match, row_price, column_price = assign(options, 5)
    taken = [column for column in match if column != FREE]
    assert len(taken) == len(set(taken))
    gains = [dict(choices) for choices in options]
    value = sum(gains[row][column] for row, column in enumerate(match) if column != FREE)
    assert value == sum(row_price) + sum(column_price)
    assert min([0, *row_price, *column_price]) == 0
    for row, choices in enumerate(options):
        assert all(row_price[row] + column_price[column] >= gain for column, gain in choices)


@pytest.mark.parametrize("profile", PROFILES)
@given(gold=graphs(), pred=graphs())
def test_laws_of_the_score(profile: str, gold: Graph, pred: Graph) -> None:
    assert pair_counts(gold, gold, profile=profile).smatch.f1 == 100
    one = pair_counts(gold, pred, profile=profile).smatch
    two = pair_counts(pred, gold, profile=profile).smatch
    assert (one.p, one.r) == (two.r, two.p)
    assert one.f1 <= 100
    assert pair_counts(gold, _renamed(pred), profile=profile).smatch == one
    total = score([gold, pred], [pred, None], profile=profile)
    assert total.smatch == one + pair_counts(pred, None, profile=profile).smatch


@given(graphs(), graphs())
def test_restarts_never_beat_the_optimum(gold: Graph, pred: Graph) -> None:
    best = pair_counts(gold, pred).smatch.match
    climbed = pair_counts(gold, pred, restarts=4, seed=1)
    assert climbed.smatch.match <= best <= climbed.bound
    assert climbed == pair_counts(gold, pred, restarts=4, seed=1)


def _renamed(graph: Graph) -> Graph:
    nodes = [node._replace(id=f"renamed {node.id}") for node in reversed(graph.nodes)]
    edges = [
        edge._replace(source=f"renamed {edge.source}", target=f"renamed {edge.target}")
        for edge in reversed(graph.edges)
    ]
    tops = tuple(f"renamed {top}" for top in graph.tops)
    return Graph("1", "amr", nodes=tuple(nodes), edges=tuple(edges), tops=tops)


def hard_problem(size: int) -> Problem:
    """Two graphs of equal nodes, one a ring and one two rings: nothing tells the nodes apart."""
    ring = {(i, "arg0", (i + 1) % size) for i in range(size)}
    half = size // 2
    halves = {(i, "arg0", (i + 1) % half + (i // half) * half) for i in range(size)}
    halves = {(i, r, j % size) for i, r, j in halves}
    names = tuple(map(str, range(size)))
    same: set[Triple] = {(i, "/", "x") for i in range(size)}
    return build(Triples(names, frozenset(same | ring)), Triples(names, frozenset(same | halves)))


def test_what_search_leaves_open_is_decided_by_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = hard_problem(8)
    searched = solve(problem)
    monkeypatch.setattr(search, "_PAIRS", 0)
    programmed = solve(problem)
    assert searched.certified
    assert programmed.certified
    assert searched.value == programmed.value == 8 + 6


def test_a_time_limit_leaves_a_value_and_a_bound() -> None:
    found = solve(hard_problem(40), time_limit=1e-6)
    assert not found.certified
    assert 40 < found.value < found.bound <= 80


def test_a_time_limit_is_reported() -> None:
    n = 40
    nodes = tuple(Node(f"n{i}", "x") for i in range(n))
    ring = tuple(Edge(f"n{i}", f"n{(i + 1) % n}", "ARG0") for i in range(n))
    half = tuple(Edge(f"n{i}", f"n{(i + 1) % 20 + 20 * (i // 20)}", "ARG0") for i in range(n))
    gold = Graph("1", "amr", nodes=nodes, edges=ring, tops=("n0",))
    pred = Graph("1", "amr", nodes=nodes, edges=half, tops=("n0",))
    scores = pair_counts(gold, pred, time_limit=1e-6)
    assert not scores.certified
    assert scores.to_json()["smatch"]["bound"] == scores.bound > scores.smatch.match


def test_a_long_chain_needs_no_recursion() -> None:
    n = 1500
    nodes = tuple(Node(f"n{i}", f"x{i}") for i in range(n))
    edges = tuple(Edge(f"n{i}", f"n{i + 1}", f"ARG{i % 9}") for i in range(n - 1))
    graph = Graph("1", "amr", nodes=nodes, edges=edges, tops=("n0",))
    scores = pair_counts(graph, graph)
    assert scores.smatch.f1 == 100
    assert scores.certified
