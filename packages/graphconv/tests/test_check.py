import dataclasses
from collections.abc import Callable

import pytest

from graphconv import check
from graphconv.arborescence import Arborescence
from graphconv.conversion import to_arborescence
from graphconv.graph import Edge, Graph, Node, Token
from graphconv.io import stream

BOY = Graph(
    "1",
    "amr",
    nodes=(Node("w", "want-01"), Node("b", "boy"), Node("g", "go-02")),
    edges=(Edge("w", "b", "ARG0"), Edge("w", "g", "ARG1"), Edge("g", "b", "ARG0")),
    tops=("w",),
)
DOG = Graph(
    "2",
    "dm",
    tokens=(Token("dogs"), Token("bark")),
    nodes=(Node("1", None, (0,)), Node("2", None, (1,))),
    edges=(Edge("2", "1", "ARG1"),),
    tops=("2",),
)


@pytest.mark.parametrize("graph", [BOY, DOG])
def test_good_graphs_pass(graph: Graph) -> None:
    assert check.check_graph(graph) == ()


def _break(change: Callable[[Arborescence], Arborescence], monkeypatch: pytest.MonkeyPatch) -> str:
    def broken(graph: Graph) -> Arborescence:
        return change(to_arborescence(graph))

    monkeypatch.setattr(check, "to_arborescence", broken)
    return " ".join(check.check_graph(BOY))


def test_a_lost_id_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _break(
        lambda tree: dataclasses.replace(tree, side={"ids": ["x", "y", "z"]}), monkeypatch
    )
    assert "graph -> arborescence -> graph: not the same" in found


def test_a_lost_edge_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _break(lambda tree: dataclasses.replace(tree, rows=tree.rows[:3]), monkeypatch)
    assert "graph -> relations -> graph: not the same" in found


def test_rows_out_of_order_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _break(lambda tree: dataclasses.replace(tree, rows=tree.rows[::-1]), monkeypatch)
    assert "arborescence -> graph -> arborescence" in found


def test_a_graph_that_cannot_be_converted_is_named() -> None:
    bad = dataclasses.replace(BOY, tops=("nobody",))
    assert check.check_graph(bad)[0].startswith("conversion: graph 1:")


def test_a_file_that_does_not_come_back_is_found() -> None:
    source = stream.Source((check.sample_paths()[0],))
    item = next(stream.results(lambda item: item, source))
    assert check.check_input(item).failures == ()
    odd = item._replace(graph=dataclasses.replace(item.graph, tokens=(Token("other"),)))
    assert check.check_input(odd).failures == ("graph -> amr file -> graph: not the same",)


def test_summary_counts_by_file_and_framework() -> None:
    results = [
        check.Result("a", "amr", "1", ()),
        check.Result("a", "amr", "2", ("law",)),
        check.Result("b", "dm", "1", ()),
    ]
    lines, failures = check.summary(results)
    assert lines == [check.Line("a", "amr", 2, 1, 1), check.Line("b", "dm", 1, 1, 0)]
    assert [failure.id for failure in failures] == ["2"]
