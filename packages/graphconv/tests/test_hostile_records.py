"""Records that contradict themselves or say what no writer may believe: refused, with the place."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from graphconv import check, io
from graphconv.arborescence import relations
from graphconv.check import check_graph
from graphconv.cli import main
from graphconv.codecs import Block, ucca
from graphconv.conversion import from_relations, to_arborescence, to_graph
from graphconv.errors import FormatError
from graphconv.graph import Edge, Graph, Node, Token
from graphconv.testing import passage

UCCA_TREE: dict[str, Any] = {
    "arborescence": 1,
    "id": "1",
    "framework": "ucca",
    "tokens": [["Go"]],
    "rows": [["ROOT", 1, 0, "root"], ["Go", 2, 1, "H", [0]]],
    "side": {"ids": ["1.1", "1.2"]},
}
AMR_TREE: dict[str, Any] = {
    "arborescence": 1,
    "id": "1",
    "framework": "amr",
    "tokens": [["Go"]],
    "rows": [["go-02", 1, 0, "root"], ["boy", 2, 1, "ARG0"]],
    "side": {"ids": ["g", "b"]},
}
DM_TREE: dict[str, Any] = {
    "arborescence": 1,
    "id": "1",
    "framework": "dm",
    "tokens": [["Dogs"], ["bark"]],
    "rows": [["bark", 1, 0, "root", [1]], ["Dogs", 2, 1, "ARG1", [0]]],
    "side": {},
}


def invoke(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def written(path: Path, *records: object) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("tree", "side"),
    [
        (UCCA_TREE, {"nodes": [[1, {"attributes": [["order", "x"]]}]]}),
        (UCCA_TREE, {"nodes": [[1, {"attributes": [["order", 5]]}]]}),
        (UCCA_TREE, {"nodes": [[1, {"attributes": [["terminals", "? ?"]]}]]}),
        (UCCA_TREE, {"nodes": [[1, {"attributes": [["children", "x"]]}]]}),
        (UCCA_TREE, {"nodes": [[1, {"attributes": [["children", "[3]"]]}]]}),
        (UCCA_TREE, {"nodes": [[1, {"attributes": [["children", '["a", "</node>"]']]}]]}),
        (UCCA_TREE, {"extras": [["children", '["a", "0", "1", "</root>"]']]}),
        (UCCA_TREE, {"extras": [["epilog", "<root />"]]}),
        (UCCA_TREE, {"ids": ["1.1", "0.1"], "extras": [["format", "ucca-xml"]]}),
        (UCCA_TREE, {"metadata": [["\u00b2", "value"]]}),
        (UCCA_TREE, {"metadata": [["a/b", "value"]]}),
        (AMR_TREE, {"extras": [["trailer", "(x / y)"]]}),
        (AMR_TREE, {"extras": [["comments", 5]]}),
        (AMR_TREE, {"extras": [["comments", "(x / y)"]]}),
        (AMR_TREE, {"metadata": [["snt", "Go\n(x / y)"]]}),
        (DM_TREE, {"extras": [["head", "#1\n1\tHi\thi\tUH\t-\t-\t_\n\n#2\n"]]}),
        (DM_TREE, {"extras": [["newline", 7]]}),
        (DM_TREE, {"extras": [["tail", "\n#2\n1\tHi\thi\tUH\t-\t-\t_\n\n"]]}),
    ],
)
def test_side_records_that_no_writer_believes(
    tmp_path: Path, tree: dict[str, Any], side: dict[str, Any]
) -> None:
    record = {**tree, "side": {**tree["side"], **side}}
    source = written(tmp_path / "a.jsonl", tree, record)
    code, out, said = invoke("from-arborescence", source, "--to", _native(tree), "-o", "-")
    if _native(tree) == "ucca":  # one passage per file
        source = written(tmp_path / "a.jsonl", record)
        code, out, said = invoke("from-arborescence", source, "--to", "ucca")
        assert re.search(r"a\.jsonl:1: ", said)
    else:
        assert re.search(r"a\.jsonl:2: ", said)
        assert code == 1
    assert (code, "Traceback" in said) == (1, False)
    assert out.count("#1\n") + out.count("::id 1") <= 1


@pytest.mark.parametrize(
    "said_of_node",
    [
        '[{"anchors": [{"from": 9, "to": 99}]}, []]',
        '[{"anchors": [{"from": null, "to": 0}]}, []]',
        '[{"anchors": 3}, []]',
        '[{"properties": [1]}, []]',
        '[{"id": [1]}, []]',
        "[{}, [1]]",
        "[[], []]",
        "[",
    ],
)
def test_what_a_side_record_says_of_mrp_is_not_believed(tmp_path: Path, said_of_node: str) -> None:
    attributes = [["mrp", said_of_node]]
    side = {**DM_TREE["side"], "nodes": [[0, {"attributes": attributes}]]}
    source = written(tmp_path / "a.jsonl", {**DM_TREE, "side": side})
    for command in (["convert", source, "--to", "mrp"], ["stats", source]):
        code, out, said = invoke(*command)
        assert (code, out) == (1, "")
        assert "a.jsonl:1: what 'mrp' says of the graph is not that of a record" in said


def test_keys_of_graphml_that_are_not_utf_8(tmp_path: Path) -> None:
    source = tmp_path / "a.graphml"
    text = io.dumps(list(io.read(check.sample_paths()[0]))[:1], "graphml")
    source.write_bytes(text.encode().replace(b"<key ", b"<key odd='\xff' ", 1))
    code, out, said = invoke("convert", source, "--to", "mrp")
    assert (code, out) == (1, "")
    assert "not valid UTF-8" in said


def _native(tree: dict[str, Any]) -> str:
    return {"ucca": "ucca", "amr": "amr", "dm": "sdp"}[tree["framework"]]


@pytest.mark.parametrize(
    ("tree", "rows", "message"),
    [
        (DM_TREE, [["sing", 1, 0, "root", [1]]], "row 1 is called 'sing', but its token is 'bark'"),
        (
            AMR_TREE,
            [["go-02", 1, 0, "root"], ["boy", 2, 1, "ARG0"], ["girl", 2, 1, "ARG1"]],
            "row 3 is called 'girl', but the first row of its node, 2, is 'boy'",
        ),
        (
            UCCA_TREE,
            [["ROOT", 1, 0, "root"], ["H", 2, 1, "H"], ["H", 2, 2, "A~"], ["Go", 4, 2, "P", [0]]],
            "cycle",
        ),
    ],
)
def test_rows_that_contradict_themselves(
    tmp_path: Path, tree: dict[str, Any], rows: list[Any], message: str
) -> None:
    record = {**tree, "rows": rows, "side": {}}
    with pytest.raises(FormatError, match=re.escape(message)) as caught:
        list(io.read(written(tmp_path / "a.jsonl", record)))
    assert caught.value.lineno == 1


def test_the_private_key_of_mrp_injects_nothing(tmp_path: Path) -> None:
    def record(*attributes: list[Any]) -> dict[str, Any]:
        node = {"id": 1, "anchors": [{"from": 0, "to": 2}]}
        return {
            "id": "1",
            "flavor": 1,
            "framework": "ucca",
            "input": "Go",
            "tops": [0],
            "nodes": [{"id": 0}, {**node, "graphconv": {"attributes": attributes}}],
            "edges": [{"source": 0, "target": 1, "label": "H"}],
        }

    unit = "</node><node ID='1.9' type='FN'><attributes />"
    for bad in (["children", json.dumps(["a", "e", unit])], ["order", "x"]):
        source = written(tmp_path / "a.mrp", record(bad))
        code, out, said = invoke("convert", source, "--to", "ucca")
        assert (code, out) == (1, "")
        assert "a.mrp:1: graph 1" in said
    assert invoke("convert", written(tmp_path / "a.mrp", record()), "--to", "ucca")[0] == 0


@pytest.mark.parametrize(
    ("framework", "anchors", "fits"), [("dm", [], 0), ("amr", [], 1), ("amr", [(0, 3)], 0)]
)
def test_tokens_that_the_input_of_mrp_contradicts(
    tmp_path: Path, framework: str, anchors: list[tuple[int, int]], fits: int
) -> None:
    spans = [{"from": start, "to": end} for start, end in anchors]
    record = {
        "id": "1",
        "framework": framework,
        "input": "Dogs bark",
        "tops": [0],
        "nodes": [{"id": 0, "label": "x", "anchors": spans}],
        "edges": [],
        "graphconv": {"tokens": [["Cats"], ["bark"]]},
    }
    code, _, said = invoke("check", written(tmp_path / "a.mrp", record))
    assert code == 1 - fits
    assert fits or "a.mrp:1: the tokens are not those of the input" in said


@pytest.mark.parametrize(("graph_id", "tokens"), [("SDP 7", ["Go"]), ("a b", [])])
def test_ids_that_sdp_cannot_hold(tmp_path: Path, graph_id: str, tokens: list[str]) -> None:
    graph = Graph(graph_id, "dm", tuple(map(Token, tokens)))
    with pytest.raises(FormatError, match=f"graph {graph_id} cannot be written as sdp"):
        io.write([graph, Graph("c", "dm", (Token("Go"),))], tmp_path / "a.sdp")
    assert not list(tmp_path.iterdir())


def test_amr_that_is_too_deep_for_penman_is_not_written(tmp_path: Path) -> None:
    nodes = tuple(Node(f"x{i}", "x") for i in range(3000))
    edges = tuple(Edge(f"x{i}", f"x{i + 1}", "ARG1") for i in range(2999))
    with pytest.raises(FormatError, match="nested deeper"):
        io.write([Graph("1", "amr", (), nodes, edges, ("x0",))], tmp_path / "a.amr")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("framework", "to"), [("amr", "ucca"), ("dm", "ucca"), ("dm", "amr")])
def test_no_format_takes_another_framework(tmp_path: Path, framework: str, to: str) -> None:
    graph = Graph("1", framework, (Token("Go"),), (Node("1", None, (0,)),), (), ("1",))
    with pytest.raises(FormatError, match=f"a graph of {framework} cannot be written as"):
        io.write([graph], tmp_path / "out", format=to)


# UCCA


def _edge(way: str, target: str) -> str:
    category = {
        "-": "",
        "c": '        <category tag="Terminal" />\n',
        "s": '        <category slot="" tag="Terminal" />\n',
    }[way]
    return (
        f'      <edge toID="{target}" type="Terminal">\n        <attributes />\n'
        f"{category}      </edge>\n"
    )


@pytest.mark.parametrize("second", "-cs")
@pytest.mark.parametrize("first", "-cs")
def test_all_ways_to_write_a_terminal_are_the_plain_edge(first: str, second: str) -> None:
    text = passage().replace(_edge("s", "0.1"), _edge(first, "0.1"))
    text = text.replace(_edge("s", "0.2"), _edge(second, "0.2"))
    graph = ucca.parse(Block(text, "7.xml", 1))
    tree = to_arborescence(graph)
    assert [row[:4] for row in tree.rows] == [
        ("ROOT", 1, 0, "root"),
        ("Go", 2, 1, "H"),
        ("!", 3, 1, "U"),
    ]
    assert ucca.format(to_graph(tree)) == text
    assert check_graph(graph) == ()


def test_check_sees_types_that_rows_do_not_tell(tmp_path: Path) -> None:
    path = tmp_path / "7.xml"
    path.write_text(passage(), encoding="utf-8")
    assert invoke("check", path)[0] == 0
    path.write_text(passage().replace('"Word"', '"Punctuation"'), encoding="utf-8")
    code, out, _ = invoke("check", path)
    assert code == 1
    assert "graph -> relations -> graph as it is scored: not the same" in out


def test_the_word_of_a_u_unit_is_punctuation_and_no_other() -> None:
    tokens = tuple(map(Token, ("\u00b2", "$", "x")))
    nodes = (Node("1.1"), *(Node(f"1.{i + 2}", None, (i,)) for i in range(3)))
    edges = tuple(Edge("1.1", f"1.{i + 2}", label) for i, label in enumerate(("U", "C", "U")))
    text = ucca.format(Graph("1", "ucca", tokens, nodes, edges, ("1.1",)))
    types = re.findall(r'<node ID="0\.." type="(\w+)"', text)
    assert types == ["Punctuation", "Word", "Punctuation"]


def test_the_root_is_the_primary_parent_whatever_its_id() -> None:
    nodes = (Node("1.2"), Node("1.1", None, (0,)), Node("1.3"), Node("1.4"))
    edges = (Edge("1.2", "1.1", "A"), Edge("1.3", "1.2", "A"), Edge("1.4", "1.2", "A"))
    graph = Graph("odd", "ucca", (Token("Go"),), nodes, edges, ("1.4",))
    assert check_graph(graph) == ()
    tree = to_arborescence(graph)
    bare = from_relations(relations(tree), id="odd", framework="ucca", tokens=graph.tokens)
    assert to_arborescence(to_graph(bare)).rows == tree.rows


def test_an_empty_terminal_survives_mrp(tmp_path: Path) -> None:
    path = tmp_path / "7.xml"
    path.write_text(passage().replace('text="!"', 'text=""'), encoding="utf-8")
    (graph,) = io.read(path)
    io.write([graph], tmp_path / "7.mrp")
    (again,) = io.read(tmp_path / "7.mrp")
    assert [node.anchors for node in again.nodes] == [node.anchors for node in graph.nodes]


@pytest.mark.parametrize("digits", [19, 4400])
@pytest.mark.parametrize("old", ['"0.1"', 'paragraph_position="1"', '"1.2"'])
def test_numbers_of_any_length(tmp_path: Path, old: str, digits: int) -> None:
    number = "1" * digits
    new = old.replace("1", number) if old[1] != "1" else f'"1.{number}"'
    path = tmp_path / "7.xml"
    path.write_text(passage().replace(old, new), encoding="utf-8")
    code, _, said = invoke("check", path)
    assert code in (0, 1)
    assert len(said) < 400


def test_attributes_in_a_namespace_are_refused_when_read(tmp_path: Path) -> None:
    path = tmp_path / "7.xml"
    text = passage().replace("<root ", '<root xmlns:x="http://example.org/x" ')
    path.write_text(text.replace('ID="0.1"', 'ID="0.1" x:note="hi"'), encoding="utf-8")
    with pytest.raises(FormatError, match=r"7\.xml:5: an attribute in a namespace.*<node ID="):
        list(io.read(path))


def test_errors_in_xml_show_their_line(tmp_path: Path) -> None:
    path = tmp_path / "7.xml"
    path.write_text(passage().replace(' text="Go"', ""), encoding="utf-8")
    with pytest.raises(FormatError, match=r'7\.xml:5: a terminal needs.*type="Word"'):
        list(io.read(path))


def test_a_carriage_return_in_metadata_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.amr"
    path.write_bytes(b"# ::id 1\r\n# ::snt It\rbarks .\n(b / bark-01\r\n   :ARG0 (i / it))\n")
    code, out, _ = invoke("convert", path, "--to", "amr")
    assert code == 0
    (graph,), (again,) = io.read(path), io.loads(out)
    assert again == graph


# SDP, AMR and pictures


@pytest.mark.parametrize("newer_first", [False, True])
def test_sentences_of_both_widths_come_back(tmp_path: Path, newer_first: bool) -> None:
    six = "#1\n1\tIt\tit\tPRP\t-\t-\tARG1\n2\trains\train\tVBZ\t+\t+\t_\n\n"
    seven = "#2\n1\tIt\tit\tPRP\t-\t-\t_\tARG1\n2\tsnows\tsnow\tVBZ\t+\t+\t_\t_\n\n"
    path = tmp_path / "mix.sdp"
    path.write_text(seven + six if newer_first else six + seven, encoding="utf-8")
    assert invoke("convert", path, "--to", "sdp")[1] == path.read_text(encoding="utf-8")
    assert invoke("check", path)[0] == 0


@pytest.mark.parametrize("tokens", ["", "1\tGo\tgo\tVB\t+\t-\t_\n\n"])
@pytest.mark.parametrize("first", ["", "#SDP 2015\n"])
def test_a_header_below_the_id_comes_back_once(tmp_path: Path, first: str, tokens: str) -> None:
    source = tmp_path / "a.sdp"
    source.write_text(f"{first}#1\n#SDP 2015\n{tokens}")
    assert invoke("check", source, "--from", "sdp")[0] == 0
    arguments = ("--from", "sdp", "--to", "sdp")
    assert invoke("convert", source, *arguments)[:2] == (0, source.read_text())


def test_what_sdp_has_no_place_for_is_told(tmp_path: Path) -> None:
    record = {
        "id": "1",
        "flavor": 0,
        "framework": "dm",
        "source": "wsj",
        "input": "Dogs   bark!",
        "tops": [1],
        "nodes": [
            {
                "id": 0,
                "label": "dog",
                "properties": ["pos", "sense"],
                "values": ["NNS", "canine"],
                "anchors": [{"from": 0, "to": 4}],
            },
            {"id": 1, "label": "bark", "anchors": [{"from": 7, "to": 11}]},
        ],
        "edges": [
            {
                "source": 1,
                "target": 0,
                "label": "ARG1",
                "attributes": ["certain"],
                "values": [True],
            }
        ],
    }
    code, out, said = invoke("convert", written(tmp_path / "a.mrp", record), "--to", "sdp")
    assert code == 0
    for what in ("metadata", "properties of nodes", "attributes of edges"):
        assert f"sdp has no place for {what}, which 1 graphs had" in said
    (tmp_path / "a.sdp").write_text(out, encoding="utf-8")
    assert invoke("convert", tmp_path / "a.sdp", "--to", "mrp")[2] == ""


def test_quotes_that_do_not_end_take_linear_time() -> None:
    start = time.process_time()
    with pytest.raises(FormatError, match="a value or a bracket expected"):
        io.loads('(a / b :op1 "' + '\\"' * 200_000 + ")\n")
    assert time.process_time() - start < 5  # hours, if it grew with the square
    (graph,) = io.loads('(a / b :op1 "\\")(" :op2 "x")\n')
    assert [node.label for node in graph.nodes] == ["b", '"\\")("', '"x"']


def test_pictures_are_xml_whatever_the_labels_hold(tmp_path: Path) -> None:
    path = tmp_path / "x.amr"
    path.write_text("# ::id 1\n# ::snt x\n(a / b\x01 :ARG0 (c / d\x07))\n", encoding="utf-8")
    for kind in ("svg", "html"):
        assert invoke("draw", path, "-o", tmp_path / f"x.{kind}")[0] == 0
        assert not {"\x01", "\x07"} & {*(tmp_path / f"x.{kind}").read_text(encoding="utf-8")}
    ElementTree.parse(tmp_path / "x.svg")
