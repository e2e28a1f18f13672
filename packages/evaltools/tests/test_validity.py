import pytest

from evaltools.validity import count_faults, faults
from graphconv.graph import Edge, Graph, Node, Token

ABC = Node("a", "x"), Node("b", "y"), Node("c", "z")


def amr(*edges: Edge, tops: tuple[str, ...] = ("a",)) -> Graph:
    return Graph("1", "amr", nodes=ABC, edges=edges, tops=tops)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (amr(Edge("a", "b", "ARG0"), Edge("a", "c", "ARG1")), []),
        (amr(Edge("a", "b", "ARG0"), Edge("a", "c", "ARG0")), ["repeated core role"]),
        (amr(Edge("a", "b", "mod"), Edge("a", "c", "mod")), []),
        (amr(Edge("b", "a", "ARG0"), Edge("c", "a", "ARG0")), []),
        (amr(Edge("a", "b", "ARG0")), ["disconnected"]),
        (amr(Edge("a", "b", "ARG0"), Edge("b", "c", "ARG0"), tops=()), ["no root"]),
        (
            amr(Edge("a", "b", "ARG0"), Edge("b", "c", "ARG0"), Edge("c", "a", "ARG0")),
            ["cyclic"],
        ),
        (Graph("1", "amr"), ["no root", "empty"]),
        (Graph("1", "amr", nodes=(Node("a"),), tops=("a",)), ["node without a label"]),
    ],
)
def test_amr(graph: Graph, expected: list[str]) -> None:
    assert faults(graph) == expected


def test_pas_roles_have_prefixes_and_psd_functors_may_repeat() -> None:
    nodes = Node("1", anchors=(0,)), Node("2", anchors=(1,)), Node("3", anchors=(2,))
    tokens = Token("a"), Token("b"), Token("c")

    def graph(framework: str, label: str) -> Graph:
        edges = Edge("1", "2", label), Edge("1", "3", label)
        return Graph("1", framework, tokens, nodes, edges, ("1",))

    assert faults(graph("pas", "verb_ARG1")) == ["repeated core role"]
    assert faults(graph("dm", "ARG1")) == ["repeated core role"]
    assert faults(graph("psd", "ACT-arg")) == []


def test_ucca() -> None:
    tokens = Token("a"), Token("b")
    units = Node("1.1"), Node("1.2", anchors=(0,)), Node("1.3", anchors=(1,))
    edges = Edge("1.1", "1.2", "A"), Edge("1.1", "1.3", "P")
    good = Graph("1", "ucca", tokens, units, edges, ("1.1",))
    assert faults(good) == []
    uncovered = Graph("2", "ucca", tokens, units[:2], edges[:1], ("1.1",))
    assert faults(uncovered) == ["token in no unit"]
    twice = Graph("3", "ucca", tokens[:1], (units[0], units[1], Node("1.3", anchors=(0,))), edges)
    assert faults(twice) == ["no root", "token in two units"]
    hollow = Graph("4", "ucca", tokens, (*units, Node("1.4")), (*edges, Edge("1.1", "1.4", "D")))
    assert faults(hollow) == ["no root", "unit without content"]
    implicit = Graph(
        "5",
        "ucca",
        tokens,
        (*units, Node("1.4", implicit=True)),
        (*edges, Edge("1.1", "1.4", "D"), Edge("1.2", "1.3", "A", remote=True)),
        ("1.1",),
    )
    assert faults(implicit) == []
    shared = Graph("6", "ucca", tokens, units, (*edges, Edge("1.2", "1.3", "A")), ("1.1",))
    assert faults(shared) == ["two primary parents"]
    number, failed = count_faults([good, uncovered, twice])
    assert number == 3
    assert failed["token in no unit"] == ["2"]
    assert failed["cyclic"] == []


def test_a_long_cycle_needs_no_recursion() -> None:
    n = 50_000
    nodes = tuple(Node(str(i), "x") for i in range(n))
    edges = tuple(Edge(str(i), str((i + 1) % n), "ARG0") for i in range(n))
    assert faults(Graph("1", "amr", nodes=nodes, edges=edges, tops=("0",))) == ["cyclic"]
