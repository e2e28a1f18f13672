"""Cypher and Parquet: what other programs are given is all there, in their own terms."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import graphconv
from graphconv import Graph
from graphconv.cli import main
from graphconv.export.cypher import statement
from graphconv.frameworks import FRAMEWORKS
from graphconv.graph import Edge, Node, Token
from graphconv.scores import Scores
from graphconv.testing import graphs

BOY = Graph(
    'a "1"',
    "amr",
    (Token("Boys"), Token("go")),
    (Node("g", "go-02", (1,)), Node("b", "boy", (0,)), Node(":0", '"x\ny"', constant=True)),
    (Edge("g", "b", "ARG0"), Edge("g", ":0", "prep-`in")),
    ("g",),
    (("snt", "Boys go"),),
    scores=Scores(-0.5, {"g": -0.25}, {("g", "b", "ARG0"): -0.125}),
)


def test_a_statement_creates_the_graph() -> None:
    text = statement(BOY)
    assert '(g:Graph {id: "a \\"1\\"", framework: "amr", text: "Boys go", score: -0.5})' in text
    assert 'id: "b", label: "boy", anchors: [0], start: 0, end: 4, words: "Boys"})' in text
    assert "(g)-[:HAS_TOP]->(n0)" in text
    assert '(n0)-[:`ARG0` {label: "ARG0", score: -0.125}]->(n1)' in text
    assert "(n0)-[:`prep-``in` {" in text
    assert text.count(";") == 1


@pytest.mark.parametrize("framework", FRAMEWORKS)
@given(data=st.data())
def test_every_graph_is_a_statement_with_all_nodes_and_edges(
    framework: str, data: st.DataObject
) -> None:
    graph = data.draw(graphs(framework))
    text = statement(graph)
    outside = re.sub(r'"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`', "_", text, flags=re.DOTALL)
    assert outside.count(":Node {") == len(graph.nodes)
    assert outside.count("HAS_TOP") == len(graph.tops)
    assert outside.count("[:_ {") == len(graph.edges)
    assert re.fullmatch(r"[\w(){}\[\]:,.\-> \n]*;\n", outside)


def test_convert_writes_a_script(tmp_path: Path) -> None:
    script = tmp_path / "a.cypher"
    done = CliRunner().invoke(
        main, ["convert", "-", "-o", str(script)], input="(b / boy)\n\n(g / girl)\n"
    )
    assert done.exit_code == 0, done.output
    assert script.read_text(encoding="utf-8").count("CREATE (g:Graph") == 2
    told = CliRunner().invoke(main, ["convert", "-", "--to", "cypher"], input="(b / boy)\n")
    assert told.stdout.startswith("CREATE (g:Graph")


def rows(path: Path) -> list[dict[str, Any]]:
    parquet = pytest.importorskip("pyarrow.parquet")
    found: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return found


def test_tables_have_every_node_and_edge(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    source = tmp_path / "a.mrp"
    source.write_text(graphconv.dumps(BOY, format="mrp"), encoding="utf-8")
    done = CliRunner().invoke(
        main, ["convert", str(source), "--to", "parquet", "-o", str(tmp_path / "tables")]
    )
    assert done.exit_code == 0, done.output
    nodes, edges = (rows(tmp_path / "tables" / f"{name}.parquet") for name in ("nodes", "edges"))
    assert [node["label"] for node in nodes] == ["go-02", "boy", '"x\ny"']
    assert nodes[0] == {
        "graph": 'a "1"',
        "framework": "amr",
        "sentence": "Boys go",
        "node": "0",
        "label": "go-02",
        "top": True,
        "constant": False,
        "implicit": False,
        "anchors": [1],
        "start": 5,
        "end": 7,
        "words": "go",
        "score": -0.25,
    }
    assert {edge["label"]: edge["score"] for edge in edges} == {"ARG0": -0.125, "prep-`in": None}
    assert json.dumps([nodes, edges])


@pytest.mark.parametrize("framework", ["dm", "ucca"])
@settings(max_examples=15)  # each writes files
@given(data=st.data())
def test_tables_of_every_graph(
    framework: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pytest.importorskip("pyarrow")
    graph, folder = data.draw(graphs(framework)), tmp_path_factory.mktemp("t") / "tables"
    assert graphconv.write([graph], folder, format="parquet") == 1
    assert [row["node"] for row in rows(folder / "nodes.parquet")] == [n.id for n in graph.nodes]
    assert [row["label"] for row in rows(folder / "edges.parquet")] == [
        edge.label for edge in graph.edges
    ]


def test_parquet_says_what_it_needs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    to_stdout = CliRunner().invoke(main, ["convert", "-", "--to", "parquet"], input="(b / boy)\n")
    assert to_stdout.exit_code == 1
    assert "Parquet is a folder of two tables: name it with -o OUT" in to_stdout.output
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    command = ["convert", "-", "--to", "parquet", "-o", str(tmp_path / "t")]
    missing = CliRunner().invoke(main, command, input="(b / boy)\n")
    assert missing.exit_code == 1
    assert "pip install 'arbora-graphconv[tables]'" in missing.output
    assert not (tmp_path / "t").exists()


def test_a_bad_graph_is_told_and_skipped() -> None:
    bad = Graph("7", "amr", nodes=(Node("a", "b"),), tops=("z",))
    told: list[str] = []
    count = graphconv.write(
        [bad, BOY], "/dev/null", format="cypher", on_error=lambda e: told.append(str(e))
    )
    assert count == 1
    assert len(told) == 1
    assert "top 'z' is not a node" in told[0]
