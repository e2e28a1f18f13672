"""GraphML: every graph comes back as it was, and other programs can read it."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import networkx
import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

import graphconv
from graphconv import FormatError, Graph
from graphconv.cli import main
from graphconv.frameworks import FRAMEWORKS
from graphconv.graph import Edge, Node, Token
from graphconv.scores import Scores
from graphconv.testing import graphs

BOY = Graph(
    "1",
    "amr",
    (Token("Boys"), Token("go")),
    (Node("g", "go-02", (1,)), Node("b", "boy", (0,)), Node(":0", "-", constant=True)),
    (Edge("g", "b", "ARG0"), Edge("g", ":0", "polarity")),
    ("g",),
    (("snt", "Boys go"),),
    scores=Scores(-0.5, {"g": -0.25}, {("g", "b", "ARG0"): -0.125}),
)
ODD = Graph(
    "\x01",
    "amr",
    nodes=(Node("\ufffe", "a\x00b"), Node("b", " \r\n\t<&>\"' ")),
    edges=(Edge("\ufffe", "b", "\x0b"), Edge("b", "b", "\ufffd")),
    metadata=(("\x02", "\uffff"),),
)


@pytest.mark.property
@pytest.mark.parametrize("framework", FRAMEWORKS)
@given(data=st.data())
def test_every_graph_comes_back(framework: str, data: st.DataObject) -> None:
    """The law of the format, for the first graph of a file and for others."""
    some = [data.draw(graphs(framework)), BOY]
    assert graphconv.loads(graphconv.dumps(some, format="graphml")) == some
    assert graphconv.loads(graphconv.dumps(some[::-1], format="graphml")) == some[::-1]


@given(
    label=st.text(st.characters(exclude_categories=["Cs"])),
    name=st.text(st.characters(exclude_categories=["Cs"])),
)
@example(label="\r", name="\t")
@example(label="", name="")
def test_every_string_comes_back(label: str, name: str) -> None:
    nodes = (Node(name, label), Node(name + "x", None))
    graph = Graph(name, "amr", nodes=nodes, edges=(Edge(name, name + "x", label),), tops=(name,))
    assert graphconv.loads(graphconv.dumps(graph, format="graphml")) == [graph]


def test_what_xml_cannot_hold_comes_back() -> None:
    assert graphconv.loads(graphconv.dumps([BOY, ODD], format="graphml")) == [BOY, ODD]


def test_scores_come_back() -> None:
    [read] = graphconv.loads(graphconv.dumps(BOY, format="graphml"))
    assert read.scores == BOY.scores


def test_networkx_reads_it() -> None:
    graph = networkx.read_graphml(io.BytesIO(graphconv.dumps(BOY, format="graphml").encode()))
    assert graph.nodes["g"]["label"] == "go-02"
    assert graph.nodes[":0"]["constant"] is True
    assert graph.edges["g", "b"]["label"] == "ARG0"
    assert graph.edges["g", "b"]["score"] == -0.125


def test_what_networkx_saved_is_read() -> None:
    """Its keys have other ids, and a prefix may stand before each element."""
    graph = networkx.read_graphml(io.BytesIO(graphconv.dumps(BOY, format="graphml").encode()))
    saved = "\n".join(networkx.generate_graphml(graph))
    assert "d0" in saved
    [read] = graphconv.loads(saved)
    assert replace(read, id=BOY.id) == BOY
    prefixed = saved.replace("</", "</g:").replace("<", "<g:").replace("<g:/g:", "</g:")
    prefixed = prefixed.replace("<g:?xml", "<?xml").replace("<g:graphml", "<g:graphml")
    [again] = graphconv.loads(prefixed, format="graphml")
    assert again == read


def test_convert_there_and_back(tmp_path: Path) -> None:
    source, middle, back = (tmp_path / name for name in ("a.amr", "a.graphml.gz", "b.amr"))
    text = "# ::id 1\n# ::snt Boys go\n(g / go-02\n   :ARG0 (b / boy))\n\n(s / sleep-01)\n\n"
    source.write_text(text, encoding="utf-8")
    for command in (["convert", source, "-o", middle], ["convert", middle, "-o", back]):
        done = CliRunner().invoke(main, [*map(str, command)])
        assert done.exit_code == 0, done.output
    assert list(graphconv.read(back)) == list(graphconv.read(source))
    assert len(list(graphconv.read(middle))) == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</node>", "", "not well-formed XML"),
        ('target="b"', 'target="z"', "an edge has an unknown node 'z'"),
        (">true<", ">maybe<", "'constant' of a node is not what it should be"),
        (">[1]<", ">[1<", "'anchors' of a node is not what it should be"),
        ('<data key="graph.framework">amr</data>', "", "the graph has no 'framework'"),
        (">amr<", ">xyz<", "unknown framework 'xyz'"),
        ("  </graph>\n", "", "not well-formed XML"),
        ("    <node", "<!ENTITY x 'y'><node", "declarations and entities of XML are not read"),
        ('key="node.label">go-02', 'key="node.json">[1]', "'json' of a node is not an object"),
    ],
)
def test_what_is_broken_is_told_with_its_line(old: str, new: str, message: str) -> None:
    text = graphconv.dumps(BOY, format="graphml")
    assert old in text
    with pytest.raises(FormatError, match=message) as caught:
        graphconv.loads(text.replace(old, new, 1))
    assert caught.value.lineno is not None


def test_a_framework_can_be_given_and_foreign_data_is_passed_over() -> None:
    text = graphconv.dumps(BOY, format="graphml")
    bare = text.replace('<data key="graph.framework">amr</data>', '<data key="x">y</data>')
    assert graphconv.loads(bare, framework="amr") == [BOY]
