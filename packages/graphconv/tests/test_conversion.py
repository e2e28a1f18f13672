"""What the conversions promise beyond the laws: options, errors, size, and independence."""

import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import graphconv
from graphconv import (
    Arborescence,
    ConversionError,
    Edge,
    Graph,
    Node,
    Relation,
    Row,
    Token,
    from_relations,
    linkage_units,
    relations,
    to_arborescence,
    to_graph,
)
from graphconv.arborescence import rows_from_relations
from graphconv.conversion.labels import STRUCTURAL, edge_label, relation
from graphconv.graph import attribute

LONG = 50_000
GOLDEN = Path(__file__).parent / "golden" / "conversion"


def node_of(framework: str, i: int) -> Node:
    nodes = {
        "amr": Node(f"v{i}", "c"),
        "dm": Node(str(i + 1), None, (i,)),
        "ucca": Node(f"1.{i + 1}"),
    }
    return nodes[framework]


def graph_of(framework: str, count: int, ends: Sequence[tuple[int, int]]) -> Graph:
    nodes = tuple(node_of(framework, i) for i in range(count))
    edges = tuple(Edge(nodes[s].id, nodes[t].id, "A") for s, t in ends)
    words = (Token("w"),) * count if framework == "dm" else ()
    return Graph("long", framework, words, nodes, edges, (nodes[0].id,))


SHAPES = {
    "chain": [(i, i + 1) for i in range(LONG - 1)],
    "chain backwards": [(i + 1, i) for i in range(LONG - 1)],
    "star": [(0, i) for i in range(1, LONG)],
    "star backwards": [(i, 0) for i in range(1, LONG)],
    "no edges": [],
}


@pytest.mark.parametrize(
    "shape", ["chain", *(pytest.param(shape, marks=pytest.mark.slow) for shape in [*SHAPES][1:])]
)
@pytest.mark.parametrize("framework", ["amr", "dm", "ucca"])
def test_large_graphs_convert_both_ways(framework: str, shape: str) -> None:
    graph = graph_of(framework, LONG, SHAPES[shape])
    tree = to_arborescence(graph)
    assert to_graph(tree) == graph
    assert rows_from_relations(relations(tree)) == tree.rows


@pytest.mark.parametrize(
    ("label", "mark"),
    [
        (label, mark)
        for label in ("A", "x-of", "A*", "null", "null=", "=", "")
        for mark in ("", "-of", "*")
    ],
)
def test_relations_give_labels_back(label: str, mark: str) -> None:
    assert relation(label, mark) not in STRUCTURAL
    assert edge_label(relation(label, mark)) == (label, mark)


def test_relations_of_different_labels_differ() -> None:
    labels = [
        "".join(random.Random(i).choices(["-of", "=", "*", "~", "null", "a"], k=3))
        for i in range(300)
    ]
    seen = {relation(label, mark) for label in {*labels} for mark in ("", "-of", "*", "~", "^")}
    assert len(seen) == 5 * len({*labels})


def ucca(*edges: Edge) -> Graph:
    ids = dict.fromkeys(["1.1", *(end for edge in edges for end in edge[:2])])
    return Graph("u", "ucca", (), tuple(Node(i) for i in ids), edges, ("1.1",))


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (Graph("g", "amr", (), (Node("a"),), (Edge("a", "b", "x"),)), "unknown node 'b'"),
        (Graph("g", "amr", (), (Node("a"), Node("a"))), "'a' is defined 2 times"),
        (Graph("g", "amr", (), (Node("a"),), (), ("b",)), "top 'b' is not a node"),
        (Graph("g", "dm", (), (Node("1", None, (0,)),)), "token 0, which does not exist"),
        (
            Graph("g", "dm", (Token("x"),), (Node("1", None, (-1,)),)),
            "token -1, which does not exist",
        ),
        (Graph("g", "dm", (Token("x"),), (Node("1"),)), "not anchored to one token"),
        (
            Graph("g", "dm", (Token("x"),), (Node("1", None, (0,)), Node("2", None, (0,)))),
            "same token",
        ),
        (
            Graph("g", "dm", (Token("x"),) * 2, (Node("1", None, (0,)), Node("1", None, (1,)))),
            "2 times",
        ),
        (Graph("g", "ucca", (Token("x"),), (Node("1.1", None, (-1,)),), (), ("1.1",)), "token -1"),
        (Graph("g", "ucca", (), (Node("1.1"), Node("1.1"))), "2 times"),
        (ucca(Edge("1.1", "1.2", "A"), Edge("1.2", "1.3", "A"), Edge("1.3", "1.2", "A")), "cycle"),
        (ucca(Edge("1.2", "1.2", "A")), "cycle"),
        (Graph("g", "ccg", ()), "unknown framework 'ccg'"),
    ],
)
def test_bad_graphs_are_refused(graph: Graph, message: str) -> None:
    with pytest.raises(ConversionError, match=message) as caught:
        to_arborescence(graph)
    assert caught.value.graph_id == graph.id


@pytest.mark.parametrize(
    "side",
    [
        {"ids": ["a"]},
        {"ids": 5},
        {"ids": ["a", "b"], "node_order": [0, 7]},
        {"ids": ["a", "b"], "edges": [[0, {"color": 1}]]},
        {"ids": ["a", "b"], "edges": [[9, {}]]},
        {"ids": ["a", "b"], "nodes": "x"},
        {"ids": ["a", "b"], "metadata": [{}]},
    ],
)
def test_a_side_record_of_another_graph_is_refused(side: dict[str, object]) -> None:
    rows = (Row("x", 1, 0, "root"), Row("y", 2, 1, "mod"))
    with pytest.raises(ConversionError, match="do not fit together"):
        to_graph(Arborescence("g", "amr", (), rows, side))


@pytest.mark.parametrize(
    "sequence",
    [
        [Relation("<root>", 0, "root", "a", 1), Relation("b", 2, "mod", "c", 2)],
        [Relation("a", 1, "mod", "b", 1)],
        [Relation("<root>", 0, "root", "a", 1), Relation("<root>", 0, "root", "b", 2)],
        [Relation("<root>", 0, "root", "a", 2)],
    ],
)
def test_bad_relations_are_refused(sequence: list[Relation]) -> None:
    with pytest.raises(ConversionError) as caught:
        from_relations(sequence, id="g", framework="amr", tokens=())
    assert caught.value.graph_id == "g"


def test_deeply_nested_attributes_are_refused() -> None:
    value: tuple[object, ...] = ()
    for _ in range(5000):
        value = (value,)
    with pytest.raises(ConversionError, match="nested too deeply"):
        to_arborescence(Graph("g", "amr", metadata=(("x", value),)))


def test_a_terminal_is_one_node() -> None:
    terminal = Node("0.1", None, (0,), attributes=(("terminal", True),))
    nodes = (Node("1.1"), terminal, terminal._replace(id="0.2"))
    with pytest.raises(ConversionError, match="same terminal"):
        to_arborescence(Graph("g", "ucca", (Token("a"),), nodes, (), ("1.1",)))


def test_no_relations_are_no_graph() -> None:
    tree = from_relations((), id="g", framework="amr", tokens=())
    assert to_graph(tree) == Graph("g", "amr")


def test_foundational_drops_linkage() -> None:
    (graph,) = graphconv.read(GOLDEN / "ucca.xml")
    assert linkage_units(graph) == ("1.16",)
    tree = to_arborescence(graph, foundational=True)
    assert tree.rows == to_arborescence(graph).rows[:-4]
    assert to_arborescence(to_graph(tree)) == tree


def test_relations_of_ucca_give_types_and_ids() -> None:
    (graph,) = graphconv.read(GOLDEN / "ucca.xml")
    tree = to_arborescence(graph)
    bare = from_relations(relations(tree), id="u", framework="ucca", tokens=graph.tokens)
    recovered = to_graph(bare)
    types = {node.id: attribute(node.attributes, "type") for node in recovered.nodes}
    assert [*types.values()].count("PNCT") == [*types.values()].count("LKG") == 1
    assert [*types] == [f"1.{i}" for i in range(1, len(graph.nodes) + 1)]
    assert to_arborescence(recovered).rows == tree.rows


def test_unit_labels_can_be_left_out() -> None:
    (graph,) = graphconv.read(GOLDEN / "ucca.xml")
    labels = {
        row.label for row in to_arborescence(graph, unit_labels=False).rows if not row.anchors
    }
    assert labels == {"UNIT", "UNIT!"}


def test_contradictory_units_get_ids_nevertheless() -> None:
    rows = [("ROOT", 0, "root", 1), ("H", 1, "H", 2), ("A", 2, "A", 3), ("B", 2, "B", 4)]
    rows += [("H", 1, "H", 5), ("B", 5, "B*", 4), ("A", 5, "A*", 3)]
    sequence = [Relation("", head, name, label, index) for label, head, name, index in rows]
    graph = to_graph(from_relations(sequence, id="u", framework="ucca", tokens=()))
    graph.validate()
    assert [node.id for node in graph.nodes] == ["1.1", "1.2", "1.3", "1.4", "1.5"]


def test_the_primary_parent_of_a_terminal_gets_the_first_id() -> None:
    terminal = Node("0.1", None, (0,), attributes=(("terminal", True),))
    nodes = (Node("1.1"), Node("1.2"), Node("1.3"), terminal)
    edges = (Edge("1.3", "1.2", "A"), Edge("1.3", "0.1", "B"), Edge("1.2", "0.1", "B"))
    graph = Graph("u", "ucca", (Token("a"),), nodes, edges, ("1.1",))
    tree = to_arborescence(graph)
    bare = from_relations(relations(tree), id="u", framework="ucca", tokens=graph.tokens)
    assert to_arborescence(to_graph(bare)).rows == tree.rows


@pytest.mark.parametrize("outer", ["phrase", "Terminal"])
def test_what_a_model_hangs_below_a_word_belongs_to_the_unit(outer: str) -> None:
    sequence = [
        Relation("<root>", 0, "root", "ROOT", 1),
        Relation("ROOT", 1, "A", "a", 2, 0),
        Relation("a", 2, outer, "b", 3, 1),
        Relation("b", 3, "phrase", "c", 4, 2),
        Relation("b", 3, "E", "d", 5, 3),
    ]
    tree = from_relations(sequence, id="u", framework="ucca", tokens=map(Token, "abcd"))
    graph = to_graph(tree)
    graph.validate()
    assert [node.anchors for node in graph.nodes] == [(), (0, 1, 2), (3,)]
    assert [edge[:3] for edge in graph.edges] == [("1.1", "1.2", "A"), ("1.2", "1.3", "E")]


def test_nothing_is_changed_in_place() -> None:
    tree = to_arborescence(
        Graph("g", "amr", (), (Node("x", "y", (), False, False, (("a", [1]),)),))
    )
    graph = to_graph(tree)
    attribute(graph.nodes[0].attributes, "a").append(2)
    assert to_graph(tree) != graph


def test_hash_seeds_change_nothing() -> None:
    script = (
        "import sys, graphconv\n"
        "for path in sys.argv[1:]:\n"
        "    for graph in graphconv.read(path):\n"
        "        print(graphconv.to_arborescence(graph))\n"
    )
    paths = [str(GOLDEN / name) for name in ("amr.amr", "dm.sdp", "ucca.xml")]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script, *paths],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
