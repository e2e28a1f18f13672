"""The laws of the conversions, each on every valid graph that the strategies can think of."""

import json
from dataclasses import replace

import networkx
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from graphconv import (
    Graph,
    check,
    from_relations,
    linkage_units,
    relations,
    to_arborescence,
    to_graph,
)
from graphconv.arborescence import Arborescence, rows_from_relations
from graphconv.frameworks import FRAMEWORKS, Nodes
from graphconv.graph import Edge, Node, Token
from graphconv.isomorphism import isomorphic
from graphconv.testing import arborescences, graphs

pytestmark = pytest.mark.property

frameworks = pytest.mark.parametrize("framework", FRAMEWORKS)


def renamed(graph: Graph, ids: dict[str, str]) -> Graph:
    nodes = tuple(node._replace(id=ids[node.id]) for node in graph.nodes)
    edges = tuple(e._replace(source=ids[e.source], target=ids[e.target]) for e in graph.edges)
    return with_parts(graph, nodes, edges, tuple(ids[top] for top in graph.tops))


def with_parts(
    graph: Graph, nodes: tuple[Node, ...], edges: tuple[Edge, ...], tops: tuple[str, ...]
) -> Graph:
    return Graph(graph.id, graph.framework, graph.tokens, nodes, edges, tops)


def bare(tree: Arborescence) -> Arborescence:
    return from_relations(relations(tree), id=tree.id, framework=tree.framework, tokens=tree.tokens)


def contradicts_root(tree: Arborescence) -> bool:
    copies = [row for row in tree.rows[1:] if row.index == 1]
    return bool(copies) or any(row.head == 1 and row.relation[-1:] == "~" for row in tree.rows)


@frameworks
@given(data=st.data())
def test_law_1_the_graph_comes_back(framework: str, data: st.DataObject) -> None:
    graph = data.draw(graphs(framework))
    tree = to_arborescence(graph)
    note(str(tree))
    assert to_graph(tree) == graph
    assert json.loads(json.dumps(tree.side)) == tree.side
    stored = Arborescence(
        tree.id, tree.framework, tree.tokens, tree.rows, json.loads(json.dumps(tree.side))
    )
    assert to_graph(stored) == graph


@frameworks
@given(data=st.data())
def test_law_2_relations_are_enough(framework: str, data: st.DataObject) -> None:
    tree = data.draw(arborescences(framework))
    assert rows_from_relations(relations(tree)) == tree.rows
    graph = to_graph(tree)
    recovered = to_graph(bare(tree))
    recovered.validate()
    note(str(tree.rows))
    note(str(recovered))
    assert isomorphic(recovered, graph)


@frameworks
@given(data=st.data())
def test_law_3_the_arborescence_comes_back(framework: str, data: st.DataObject) -> None:
    tree = data.draw(arborescences(framework))
    tree.validate()
    assert networkx.is_arborescence(tree.to_networkx())
    assert to_arborescence(to_graph(tree)) == tree


# These graphs do not say which edges the tree followed backwards.
@pytest.mark.parametrize("framework", [n for n in FRAMEWORKS if n not in ("eds", "ptg", "drg")])
@given(data=st.data())
def test_a_graph_from_relations_has_the_same_rows(framework: str, data: st.DataObject) -> None:
    tree = bare(data.draw(arborescences(framework)))
    # A UCCA root is 1.1 in every file, even where its place among siblings would be a later one.
    assume(framework != "ucca" or not contradicts_root(tree))
    note(str(to_graph(tree)))
    again = to_arborescence(to_graph(tree))
    assert again.rows == tree.rows
    assert to_graph(again) == to_graph(tree)


@frameworks
@given(data=st.data())
def test_law_5_order_without_meaning_changes_nothing(framework: str, data: st.DataObject) -> None:
    graph = data.draw(graphs(framework))
    nodes, edges, tops = graph.nodes, graph.edges, graph.tops
    nodes = tuple(data.draw(st.permutations(nodes)))
    if FRAMEWORKS[framework].nodes is not Nodes.CONCEPT:  # where edges and tops stand as written
        edges = tuple(data.draw(st.permutations(edges)))
        tops = tuple(data.draw(st.permutations(tops)))
    changed = with_parts(graph, nodes, edges, tops)
    if framework != "ucca":  # where ids are the order of siblings
        new = data.draw(st.permutations([f"n{i}" for i in range(len(nodes))]))
        changed = renamed(changed, dict(zip([node.id for node in nodes], new, strict=True)))
    assert to_arborescence(changed).rows == to_arborescence(graph).rows


@given(graphs("ucca"))
def test_foundational_drops_linkage_alone(graph: Graph) -> None:
    dropped = {*linkage_units(graph)}
    kept = to_graph(to_arborescence(graph, foundational=True))
    assert kept.nodes == tuple(node for node in graph.nodes if node.id not in dropped)
    assert kept.edges == tuple(e for e in graph.edges if not {e.source, e.target} & dropped)
    assert (kept.tokens, kept.metadata) == (graph.tokens, graph.metadata)


@given(graphs("ucca"))
def test_unit_labels_do_not_carry_the_graph(graph: Graph) -> None:
    tree = to_arborescence(graph, unit_labels=False)
    assert to_graph(tree) == graph
    assert isomorphic(to_graph(bare(tree)), graph)
    assert {row.label for row in tree.rows if not row.anchors} <= {"UNIT", "UNIT!", "<virtual>"}


@pytest.mark.parametrize("framework", ["amr", "eds", "ptg", "drg"])
def test_parts_that_no_top_reaches_are_still_the_same_graph(framework: str) -> None:
    ends = ("10", "20", "13", "40", "00", "20", "00", "10")
    edges = (*(Edge(pair[0], pair[1], "ARG0") for pair in ends), Edge("2", "1", "="))
    nodes = tuple(Node(name, None) for name in "01234")
    assert check.check_graph(Graph("1", framework, nodes=nodes, edges=edges)) == ()


def test_nodes_without_edges_stand_in_the_order_of_their_words() -> None:
    nodes = Node("a", None), Node("b", None, (0,)), Node("c", None)
    graph = Graph("1", "ptg", (Token("the"),), nodes, tops=("a",))
    turned = replace(graph, nodes=nodes[::-1])
    assert to_arborescence(turned).rows == to_arborescence(graph).rows
