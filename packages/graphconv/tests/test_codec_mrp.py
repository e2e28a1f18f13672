"""MRP: nothing in a record is lost, and graphs of every other format can become records."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphconv import io
from graphconv.codecs import Block, amr, mrp, sdp
from graphconv.conversion import to_arborescence, to_graph
from graphconv.draw import svg
from graphconv.errors import FormatError
from graphconv.frameworks import FRAMEWORKS
from graphconv.graph import Edge, Graph, Node, Token, attribute
from graphconv.isomorphism import isomorphic
from graphconv.testing import CORPORA, graphs

Record = dict[str, Any]

DM: Record = {
    "id": "20001001",
    "flavor": 0,
    "framework": "dm",
    "version": 1.0,
    "time": "2019-04-10",
    "input": "It can't rain in New York.",
    "tops": [1],
    "nodes": [
        {
            "id": 1,
            "label": "can",
            "properties": ["pos", "frame"],
            "values": ["MD", "v_modal:e-h"],
            "anchors": [{"from": 3, "to": 6}],
        },
        {
            "id": 3,
            "label": "rain",
            "properties": ["pos"],
            "values": ["VB"],
            "anchors": [{"from": 9, "to": 13}],
        },
        {"id": 5, "label": "New York", "anchors": [{"from": 17, "to": 25}]},
    ],
    "edges": [
        {"source": 1, "target": 3, "label": "ARG1"},
        {"source": 3, "target": 5, "label": "loc"},
    ],
}
AMR: Record = {
    "id": "a",
    "flavor": 2,
    "framework": "amr",
    "version": 1.0,
    "time": "2019-04-10",
    "input": "Obama did not see two boys?",
    "tops": [0],
    "nodes": [
        {
            "id": 0,
            "label": "see-01",
            "properties": ["polarity", "mode"],
            "values": ["-", "interrogative"],
        },
        {"id": 1, "label": "name", "properties": ["op1"], "values": ["Obama"]},
        {"id": 2, "label": "boy", "properties": ["quant"], "values": ["2"]},
    ],
    "edges": [
        {"source": 2, "target": 0, "label": "ARG1-of", "normal": "ARG1"},
        {"source": 0, "target": 1, "label": "ARG0"},
        {"source": 2, "target": 1, "label": "mod", "normal": "domain"},
    ],
}
UCCA: Record = {
    "id": "u",
    "flavor": 1,
    "framework": "ucca",
    "version": 1.0,
    "time": "2019-04-10",
    "input": "He gave up.",
    "tops": [3],
    "nodes": [
        {"id": 0, "anchors": [{"from": 0, "to": 2}]},
        {"id": 1, "anchors": [{"from": 3, "to": 7}, {"from": 8, "to": 10}]},
        {"id": 2, "anchors": [{"from": 10, "to": 11}]},
        {"id": 3},
        {"id": 4},
        {"id": 5},
    ],
    "edges": [
        {"source": 4, "target": 0, "label": "A"},
        {"source": 4, "target": 1, "label": "P"},
        {"source": 3, "target": 4, "label": "H"},
        {"source": 4, "target": 1, "label": "D"},
        {"source": 3, "target": 2, "label": "U"},
        {"source": 4, "target": 5, "label": "A"},
        {"source": 3, "target": 0, "label": "A", "attributes": ["remote"], "values": [True]},
    ],
}
EDS: Record = {
    "id": "e",
    "flavor": 1,
    "framework": "eds",
    "version": 1.0,
    "time": "2019-04-10",
    "input": "Kim left the house.",
    "tops": [1],
    "nodes": [
        {
            "id": 0,
            "label": "named",
            "properties": ["carg", "NUM"],
            "values": ["Kim", "sg"],
            "anchors": [{"from": 0, "to": 3}],
        },
        {"id": 1, "label": "_leave_v_1", "anchors": [{"from": 0, "to": 19}]},
    ],
    "edges": [{"source": 1, "target": 0, "label": "ARG1"}],
}


def read(record: Record) -> Graph:
    return mrp.parse(Block(json.dumps(record), "a.mrp", 1))


def written(graph: Graph) -> Record:
    record = json.loads(mrp.format(graph))
    assert isinstance(record, dict)
    return record


@pytest.mark.parametrize("record", [DM, AMR, UCCA, EDS], ids=lambda record: record["framework"])
def test_usual_records_come_back_without_residues(record: Record) -> None:
    graph = read(record)
    assert written(graph) == record
    parts = [node.attributes for node in graph.nodes] + [edge.attributes for edge in graph.edges]
    assert not [pairs for pairs in (graph.extras, *parts) if attribute(pairs, "mrp") is not None]


def test_tokens_come_from_anchors_and_whitespace() -> None:
    graph = read(DM)
    forms = [token.form for token in graph.tokens]
    assert forms == ["It", "can", "'t", "rain", "in", "New York", "."]
    assert all(DM["input"][slice(*(t.span or ()))] == t.form for t in graph.tokens)
    assert graph.tokens[1] == Token(
        "can", "can", "MD", (3, 6), features=(("frame", "v_modal:e-h"),)
    )
    assert [node.anchors for node in graph.nodes] == [(1,), (3,), (5,)]
    assert [node.anchors for node in read(EDS).nodes] == [(0,), (0, 1, 2, 3)]


def test_dm_becomes_sdp_and_comes_back() -> None:
    graph = read(DM)
    text = sdp.format(graph)
    assert text.split("\n")[2] == "2\tcan\tcan\tMD\t+\t+\tv_modal:e-h\t_\t_"
    assert text.split("\n")[6] == "6\tNew York\tNew York\t_\t-\t-\t_\t_\tloc"
    again = written(sdp.parse(Block(text, "a.sdp", 1)))
    assert [node["label"] for node in again["nodes"]] == ["can", "rain", "New York"]
    assert again["edges"] == DM["edges"]
    assert again["tops"] == DM["tops"]


def test_sdp_survives_a_trip_through_mrp() -> None:
    text = (
        "#1\n1\tIt\tit\tPRP\t-\t-\tpron\tARG1\t_\n2\trains\train\tVBZ\t+\t+\t_\t_\t_\n"
        "3\tNew York\t_\tNNP\t-\t+\t_\t_\t_\n4\t.\t_\t.\t-\t-\t_\t_\t_\n\n"
    )
    record = written(sdp.parse(Block(text, "a.sdp", 1)))
    assert record["input"] == "It rains New York ."
    assert [node["id"] for node in record["nodes"]] == [0, 1, 2]
    assert sdp.format(read(record)) == text


def test_properties_of_amr_are_constants() -> None:
    graph = read(AMR)
    constants = {node.id: node.label for node in graph.nodes if node.constant}
    assert constants == {":0": "-", ":1": "interrogative", ":2": '"Obama"', ":3": "2"}
    assert Edge("1", ":2", "op1") in graph.edges
    assert Edge("0", "2", "ARG1", attributes=(("inverted", True),)) in graph.edges
    assert Edge("2", "1", "mod") in graph.edges


def test_amr_becomes_penman_and_comes_back() -> None:
    text = amr.format(read(AMR))
    assert ':op1 "Obama"' in text
    assert "# ::snt Obama did not see two boys?" in text
    (block,) = amr.blocks(text.splitlines(keepends=True), "a.amr")
    again = written(amr.parse(block))
    assert isomorphic(read(again), read(AMR))
    assert {key: again[key] for key in ("id", "flavor", "input", "version", "time")} == {
        key: AMR[key] for key in ("id", "flavor", "input", "version", "time")
    }
    assert "graphconv" not in again


@pytest.mark.parametrize(
    "text",
    [
        '(s / say-01 :ARG1 "5" :mode imperative :quant 5 :wiki foo :op1 "a \\"b\\" c")',
        "(s / say-01~e.1 :polarity~e.2 -~e.3 :ARG0 (b / b :quant-of~e.4 s))",
        "(s / say-01 :polarity-of - :ARG1-of s :consist-of (a / a))",
        "(s / say-01 :ARG0 )",
    ],
)
def test_penman_survives_a_trip_through_mrp(text: str) -> None:
    graph = amr.parse(Block(f"# ::id 1\n{text}", "a.amr", 1))
    again = read(written(graph))
    assert isomorphic(graph, again)
    assert sorted(sorted(map(str, node.attributes)) for node in again.nodes) == sorted(
        sorted(map(str, node.attributes)) for node in graph.nodes
    )
    assert amr.format(again).split("\n", 1)[0] == "# ::id 1"


def test_a_role_without_normal_is_inverted_as_in_penman() -> None:
    record = json.loads(json.dumps(AMR))
    del record["edges"][0]["normal"]
    record["edges"][1]["label"] = "consist-of"
    graph = read(record)
    assert [edge[:3] for edge in graph.edges[-3:-1]] == [
        ("0", "2", "ARG1"),
        ("0", "1", "consist-of"),
    ]
    assert written(graph) == record


def test_units_of_ucca() -> None:
    graph = read(UCCA)
    assert [node.id for node in graph.nodes] == ["1.1", "1.2", "1.3", "1.4", "1.5", "1.6"]
    assert graph.nodes[1].anchors == (1, 2)
    assert [node.id for node in graph.nodes if node.implicit] == ["1.6"]
    assert Edge("1.5", "1.2", "P|D") in graph.edges
    assert Edge("1.4", "1.1", "A", remote=True) in graph.edges
    # What the XML of UCCA calls punctuation.
    assert graph.nodes[2].attributes == (("type", "PNCT"),)
    assert graph.tokens[3].features == (("type", "Punctuation"),)


def test_an_odd_ucca_graph_survives() -> None:
    graph = Graph(
        "1",
        "ucca",
        tokens=(Token("a", "A", features=(("dep", "x"),)), Token("b")),
        nodes=(
            Node("1.7", attributes=(("type", "FN"), ("note", [1]))),
            Node("1.3", None, (0, 1)),
            Node("0.1", None, (0,), attributes=(("terminal", True),)),
            Node("1.4", implicit=True),
        ),
        edges=(
            Edge("1.7", "1.3", "A"),
            Edge("1.7", "1.3", "B|C", attributes=(("type", "B"),)),
            Edge("1.7", "0.1", "T"),
            Edge("1.7", "1.4", "A"),
        ),
        tops=("1.7",),
    )
    again = read(written(graph))
    assert (again.tokens, again.nodes, again.edges, again.tops) == (
        graph.tokens,
        graph.nodes,
        graph.edges,
        graph.tops,
    )


ODDITIES: dict[str, Record] = {
    "id is a number": {"id": 7},
    "no edges": {"edges": None},
    "flavor": {"flavor": 17},
    "unknown keys": {"language": "en", "provenance": {"a": [1, None]}, "targets": ["dm"]},
    "odd whitespace": {"input": "It can't rain in New York. \t"},
    "tops twice": {"tops": [1, 1, 3]},
}


@pytest.mark.parametrize("change", ODDITIES.values(), ids=ODDITIES)
def test_odd_records_come_back(change: Record) -> None:
    record = {**DM, **change}
    graph = read(record)
    assert written(graph) == record
    assert read(written(graph)) == graph


@pytest.mark.parametrize("key", ["version", "time", "flavor", "tops", "edges", "nodes", "input"])
def test_absent_keys_stay_absent(key: str) -> None:
    record = {k: v for k, v in DM.items() if k != key}
    if key == "nodes":
        record |= {"edges": [], "tops": []}
    if key == "input":
        record["nodes"] = [{"id": node["id"]} for node in DM["nodes"]]
    assert written(read(record)) == record


NODES: dict[str, Record] = {
    "id is a string": {"id": "12"},
    "label is null": {"label": None},
    "label is a number": {"label": 3},
    "unknown keys": {"x": {"y": [1]}, "type": None},
    "nested values": {"properties": ["a", "pred", "mrp"], "values": [[1], {"b": 2}, None]},
    "empty lists": {"properties": [], "values": [], "anchors": []},
    "several anchors": {"anchors": [{"from": 0, "to": 1}, {"from": 1, "to": 2, "x": 1}]},
    "anchor inside of a word": {"anchors": [{"from": 1, "to": 1}]},
    "anchor with blanks": {"anchors": [{"from": 2, "to": 9}]},
}


@pytest.mark.parametrize("framework", ["dm", "amr", "ucca", "eds", "ptg", "drg"])
@pytest.mark.parametrize("node", NODES.values(), ids=NODES)
def test_odd_nodes_come_back(node: Record, framework: str) -> None:
    record = {**DM, "framework": framework, "nodes": [*DM["nodes"], {"id": 9, **node}]}
    if "id" in node:
        record["tops"] = [1, "12"]
        record["edges"] = [{"source": "12", "target": 3, "label": "x"}]
    graph = read(record)
    assert written(graph) == record
    assert read(written(graph)) == graph


EDGES: dict[str, Record] = {
    "label is null": {"label": None},
    "no label": {},
    "properties of version 0.9": {"label": "A", "properties": ["remote"], "values": [True]},
    "more attributes": {"label": "A", "attributes": ["remote", "x"], "values": [False, [1]]},
    "unknown keys": {"label": "A|B\\", "id": 4, "anchors": [{"from": 0, "to": 1}]},
    "odd normal": {"label": "B-of", "normal": "C"},
    "twice": {"label": "loc"},
}


@pytest.mark.parametrize("framework", ["dm", "amr", "ucca", "eds", "ptg", "drg"])
@pytest.mark.parametrize("edge", EDGES.values(), ids=EDGES)
def test_odd_edges_come_back(edge: Record, framework: str) -> None:
    edges = [*DM["edges"], {"source": 3, "target": 5, **edge}, {"source": 1, "target": 3, **edge}]
    record = {**DM, "framework": framework, "edges": edges}
    graph = read(record)
    assert written(graph) == record
    assert read(written(graph)) == graph


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"framework": None}, "'framework' is missing"),
        ({"framework": "ud"}, "unknown framework 'ud'"),
        ({"id": None}, "'id' is neither a number nor a string"),
        ({"nodes": {}}, "'nodes' is not a list"),
        ({"nodes": [1]}, "an element of 'nodes' is not an object"),
        ({"nodes": [{"label": "x"}]}, "the id of a node is neither a number nor a string"),
        ({"nodes": [{"id": 1}, {"id": 1}]}, "node 1 is defined twice"),
        ({"nodes": [{"id": 1}, {"id": "1"}], "edges": []}, "two nodes have the same id"),
        ({"tops": [2]}, "the top 2 is not a node"),
        ({"tops": 1}, "'tops' is not a list"),
        ({"edges": [{"source": 1, "target": 2}]}, "the target of an edge 2 is not a node"),
        ({"edges": [{"target": 1}]}, "the source of an edge is neither a number nor a string"),
        ({"input": 5}, "'input' is not a string"),
        ({"input": "It"}, "the anchor 3:6 lies outside of the input"),
    ],
)
def test_bad_records_name_their_line(change: Record, message: str) -> None:
    text = json.dumps({k: v for k, v in {**DM, **change}.items() if k != "framework" or v})
    with pytest.raises(FormatError) as caught:
        mrp.parse(Block(text, "a.mrp", 7))
    assert caught.value.message == message
    assert (caught.value.filename, caught.value.lineno) == ("a.mrp", 7)


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"anchors": [{"from": 0}]}, "'to' is missing"),
        ({"anchors": [{"from": True, "to": 1}]}, "'from' is not a whole number"),
        ({"anchors": ["0:1"]}, "an anchor is not an object"),
        ({"properties": ["a"], "values": []}, "there are 1 properties, but 0 values"),
        ({"properties": [1], "values": [1]}, "an element of 'properties' is not a string"),
        ({"graphconv": 1}, "'graphconv' is not an object"),
        ({"graphconv": {"attributes": [["a"]]}}, "a feature is not a pair"),
        ({"graphconv": {"constants": [1]}}, "there are as many 'constants' as properties, or none"),
    ],
)
def test_bad_nodes_are_refused(node: Record, message: str) -> None:
    record = {**AMR, "nodes": [*AMR["nodes"], {"id": 9, **node}]}
    with pytest.raises(FormatError) as caught:
        read(record)
    assert caught.value.message == message


def test_the_user_may_name_the_framework_of_a_record_without_one() -> None:
    text = json.dumps({k: v for k, v in DM.items() if k != "framework"})
    assert mrp.parse(Block(text, "a.mrp", 1), "psd").framework == "psd"


@pytest.mark.property
@given(st.sampled_from([*FRAMEWORKS]).flatmap(graphs))
def test_every_graph_survives_as_a_record(graph: Graph) -> None:
    record = written(graph)
    again = read(record)
    assert isomorphic(again, graph)
    assert [t._replace(span=None) for t in again.tokens] == [
        t._replace(span=None) for t in graph.tokens
    ]
    assert written(again) == record
    assert read(written(again)) == again


@pytest.mark.corpora
def test_the_corpus_comes_back() -> None:
    path = CORPORA / "mrp" / "lpps.mrp"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    with path.open(encoding="utf-8") as file:
        for graph, line in zip(io.read(path), file, strict=True):
            assert written(graph) == json.loads(line)
            assert mrp.parse(Block(mrp.format(graph), "again", 1)) == graph


PTG = {
    "id": "1", "flavor": 1, "framework": "ptg", "version": 1.1, "time": "2020-06-01",
    "language": "en", "input": "Dogs and cats have barked.", "tops": [0],
    "nodes": [
        {"id": 0},
        {"id": 1, "label": "bark", "properties": ["sempos", "frame"], "values": ["v", "en-v#1"],
         "anchors": [{"from": 14, "to": 18}, {"from": 19, "to": 25}]},
        {"id": 2, "label": "and", "anchors": [{"from": 5, "to": 8}]},
        {"id": 3, "label": "dog", "properties": ["sempos"], "values": ["n.denot"],
         "anchors": [{"from": 0, "to": 4}]},
        {"id": 4, "label": "cat", "anchors": [{"from": 9, "to": 13}]},
        {"id": 5, "label": "#Gen"},
    ],
    "edges": [
        {"source": 0, "target": 1, "label": "PRED"},
        {"source": 1, "target": 2, "label": "ACT"},
        {"source": 2, "target": 3, "label": "ACT", "attributes": ["member"], "values": [True]},
        {"source": 2, "target": 4, "label": "ACT", "attributes": ["member"], "values": [True]},
        {"source": 1, "target": 3, "label": "ACT", "attributes": ["effective"], "values": [True]},
        {"source": 1, "target": 5, "label": "PAT"},
        {"source": 5, "target": 1, "label": "coref.gram"},
    ],
}  # fmt: skip
DRG = {
    "id": "1", "flavor": 2, "framework": "drg", "version": 1.1, "time": "2020-06-01",
    "language": "en", "input": "No dog barks.", "tops": [0],
    "nodes": [
        {"id": 0}, {"id": 1}, {"id": 2, "label": "Agent"}, {"id": 3, "label": "bark.v.01"},
        {"id": 4, "label": "dog.n.01"}, {"id": 5, "label": '"now"'},
    ],
    "edges": [
        {"source": 0, "target": 1, "label": "NOT"},
        {"source": 1, "target": 3, "label": "in"},
        {"source": 1, "target": 4, "label": "in"},
        {"source": 1, "target": 2, "label": "in"},
        {"source": 3, "target": 2},
        {"source": 2, "target": 4},
        {"source": 3, "target": 5, "label": "EQU"},
    ],
}  # fmt: skip


@pytest.mark.parametrize("record", [PTG, DRG], ids=["ptg", "drg"])
def test_ptg_and_drg(record: dict[str, Any]) -> None:
    graph = mrp.parse(Block(json.dumps(record), "test.mrp", 1))
    assert json.loads(mrp.format(graph)) == record
    assert to_graph(to_arborescence(graph)) == graph
    picture = svg(graph)
    for node in graph.nodes:
        assert (node.label or "").strip('"') in picture
    assert graph.framework == record["framework"]
    if graph.framework == "ptg":
        assert [len(node.anchors) for node in graph.nodes] == [0, 2, 1, 1, 1, 0]
        assert graph.nodes[1].attributes == (("sempos", "v"), ("frame", "en-v#1"))
        assert graph.edges[2].attributes == (("member", True),)
    else:
        assert [edge.label for edge in graph.edges].count("") == 2
