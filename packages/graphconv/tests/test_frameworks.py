"""The table of frameworks: a row that something is missing from would fail for a user only."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphconv import check, draw, io, stats
from graphconv.codecs import Block, mrp
from graphconv.conversion import CONVERSIONS, to_arborescence
from graphconv.errors import ConversionError
from graphconv.frameworks import FRAMEWORKS, Nodes, Properties, framework, written_as
from graphconv.graph import Graph, Node
from graphconv.testing import graphs

every_framework = pytest.mark.parametrize("name", FRAMEWORKS)


@every_framework
def test_every_row_is_complete(name: str) -> None:
    row = FRAMEWORKS[name]
    assert row.codec in io.FORMATS
    assert name in io.held_frameworks(row.codec)
    assert {"build", "read"} <= set(dir(CONVERSIONS[row.conversion]))
    assert callable(draw.DRAWINGS[row.drawing])
    assert row.flavor in (0, 1, 2)
    assert isinstance(row.nodes, Nodes)
    assert isinstance(row.properties, Properties)


@every_framework
@settings(max_examples=20)
@given(data=st.data())
def test_every_row_serves_its_graphs(name: str, data: st.DataObject) -> None:
    graph = data.draw(graphs(name))
    assert not check.check_graph(graph)
    assert stats.count(graph)["nodes"] == len(graph.nodes)
    assert draw.svg(graph).startswith("<svg")
    record = mrp.parse(Block(mrp.format(graph), "a.mrp", 1))
    assert record.framework == name


@every_framework
def test_files_of_a_framework_are_written_in_its_usual_format(name: str) -> None:
    node = Node("1.1" if name == "ucca" else "1")
    assert io.native_format(Graph("1", name, nodes=(node,))) == FRAMEWORKS[name].codec


def test_names_in_the_table_are_all_in_use() -> None:
    assert {row.conversion for row in FRAMEWORKS.values()} == set(CONVERSIONS)
    assert {row.drawing for row in FRAMEWORKS.values()} == set(draw.DRAWINGS)
    assert {row.nodes for row in FRAMEWORKS.values()} == set(Nodes)
    assert written_as("ucca") == ("ucca",)


@pytest.mark.parametrize(
    "use", [draw.svg, io.dumps, lambda graph: graph.text, to_arborescence], ids=range(4)
)
def test_an_unknown_framework_is_an_error_that_names_it(use: object) -> None:
    graph = Graph("7", "umr", nodes=(Node("a", "a"),), tops=("a",))
    with pytest.raises(ConversionError, match="graph 7: unknown framework 'umr', not one of amr"):
        use(graph)  # type: ignore[operator]
    with pytest.raises(ConversionError, match="unknown framework 'umr'"):
        framework("umr")
