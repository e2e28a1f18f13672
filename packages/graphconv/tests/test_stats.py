import pytest

from graphconv import stats
from graphconv.graph import Edge, Graph, Node, Token


def _graph(framework: str, edges: str, nodes: str = "abc", tops: str = "a") -> Graph:
    """Build a graph from edges such as ``ab`` (from a to b)."""
    return Graph(
        "1",
        framework,
        nodes=tuple(Node(name, name.upper()) for name in nodes),
        edges=tuple(Edge(ends[0], ends[1], "x") for ends in edges.split()),
        tops=tuple(tops),
    )


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (_graph("amr", "ab ac"), {"nodes": 3, "edges": 2, "tops": 1, "components": 1}),
        (_graph("amr", "ab ac bc"), {"re-entrancies": 1, "re-entrant graphs": 1, "copies": 1}),
        (_graph("amr", "ab bc ca"), {"cyclic graphs": 1, "components": 1, "re-entrancies": 0}),
        (_graph("amr", "ab ab bc"), {"parallel edges": 1, "re-entrancies": 1, "cyclic graphs": 0}),
        (_graph("amr", "aa ab bc"), {"self-loops": 1, "cyclic graphs": 1, "parallel edges": 0}),
    ],
)
def test_shape(graph: Graph, expected: dict[str, int]) -> None:
    counts = stats.count(graph)
    assert {name: counts[name] for name in expected} == expected


def test_unconnected_and_topless_graphs() -> None:
    tokens = (Token("a"), Token("b"))
    nodes = (Node("1", None, (0,)), Node("2", None, (1,)))
    two = stats.count(Graph("1", "dm", tokens, nodes, (), ("1", "2")))
    assert (two["components"], two["graphs with several components"]) == (2, 1)
    assert two["graphs with several tops"] == 1
    none = stats.count(Graph("1", "dm", tokens, nodes))
    assert (none["graphs without top"], none["graphs without nodes"]) == (1, 0)
    empty = stats.count(Graph("1", "dm", tokens))
    assert (empty["graphs without top"], empty["graphs without nodes"]) == (0, 1)


def _ucca(anchors: dict[str, tuple[int, ...]], edges: tuple[Edge, ...], n_tokens: int) -> Graph:
    tokens = tuple(Token(f"w{i}") for i in range(n_tokens))
    nodes = tuple(Node(name, None, positions) for name, positions in anchors.items())
    return Graph("1", "ucca", tokens, nodes, edges, ("1.1",))


def test_discontiguous_units() -> None:
    edges = (
        Edge("1.1", "1.2", "H"),
        Edge("1.2", "1.3", "P"),
        Edge("1.2", "1.4", "A"),
        Edge("1.4", "1.3", "A", remote=True),
    )
    anchors: dict[str, tuple[int, ...]] = {"1.1": (), "1.2": (), "1.3": (0, 2), "1.4": (1,)}
    counts = stats.count(_ucca(anchors, edges, 3))
    assert counts["discontiguous units"] == 1
    assert counts["remote edges"] == 1
    together = stats.count(_ucca({**anchors, "1.3": (0,), "1.4": (1, 2)}, edges, 3))
    assert together["discontiguous units"] == 0


def test_several_categories() -> None:
    edges = (Edge("1.1", "1.2", "A|S"), Edge("1.1", "1.3", "A"))
    counts = stats.count(_ucca({"1.1": (), "1.2": (0,), "1.3": (1,)}, edges, 2))
    assert counts["edges with several categories"] == 1


def test_every_count_is_documented() -> None:
    graph = _ucca({"1.1": (), "1.2": (0,)}, (Edge("1.1", "1.2", "H"),), 1)
    assert set(stats.count(graph)) <= set(stats.MEASURES)


def test_totals_and_table() -> None:
    graph = _graph("amr", "ab ac bc")
    totals = stats.totals([("amr", stats.count(graph)), ("amr", stats.count(graph))])
    assert totals["amr"]["graphs"] == 2
    rows = stats.rows(totals)
    assert rows[0] == ["", "amr"]
    assert ["re-entrancies", 2] in rows
    assert "cyclic graphs" not in {row[0] for row in rows}
