"""Small graphs with the rows that they must have, each with the rule it shows."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphconv import Graph, read, to_arborescence, to_graph

GOLDEN = Path(__file__).parent / "golden" / "conversion"
FILES = ("amr.amr", "dm.sdp", "ucca.xml")


def expected_rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    for block in path.read_text(encoding="utf-8").rstrip().split("\n\n"):
        lines = [line for line in block.split("\n") if not line.startswith("# ")]
        yield lines[0], lines[1:]


def shown(graph: Graph) -> list[str]:
    width = 4 if graph.framework == "amr" else 5
    return [" ".join(map(str, row[:width])) for row in to_arborescence(graph).rows]


@pytest.mark.parametrize("name", FILES)
def test_golden_rows(name: str) -> None:
    graphs = {graph.id: graph for graph in read(GOLDEN / name)}
    expected = dict(expected_rows((GOLDEN / name).with_suffix(".rows")))
    assert [*graphs] == [*expected]
    for graph_id, rows in expected.items():
        assert shown(graphs[graph_id]) == rows, graph_id
        assert to_graph(to_arborescence(graphs[graph_id])) == graphs[graph_id]
