"""Graphs in Python: strings, dictionaries, triples, networkx, notebooks."""

import json
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import graphconv
from graphconv import Edge, FormatError, Graph, Node, Token, io
from graphconv.check import sample_paths
from graphconv.errors import ConversionError
from graphconv.frameworks import FRAMEWORKS
from graphconv.testing import graphs

WANT = """# ::id 7
# ::snt The boy wants to go.
(w / want-01
   :ARG0 (b / boy)
   :ARG1 (g / go-02
            :ARG0 b
            :polarity -))
"""
SAMPLE = [graph for path in sample_paths() for graph in io.read(path)]


def test_a_string_is_read_and_written() -> None:
    [graph] = graphconv.loads("(w / want-01 :ARG0 (b / boy))")
    assert graph.framework == "amr"
    assert graphconv.loads(graphconv.dumps(graph)) == [graph]
    assert graphconv.loads(graphconv.dumps([graph], format="mrp"))[0].nodes[0].label == "want-01"
    assert graphconv.dumps([]) == ""


@pytest.mark.parametrize("graph", SAMPLE, ids=lambda g: f"{g.framework}-{g.id}")
def test_str_is_the_native_notation_and_can_be_read(graph: Graph) -> None:
    text = str(graph)
    assert text == graphconv.dumps(graph).rstrip("\n")
    [again] = graphconv.loads(text, framework=graph.framework)
    assert (again.nodes, again.edges, again.tops) == (graph.nodes, graph.edges, graph.tops)


def test_several_graphs_of_a_file_come_back_from_one_string() -> None:
    sentences = [graph for graph in SAMPLE if graph.framework == "dm"]
    text = graphconv.dumps(sentences)
    assert graphconv.loads(text) == sentences
    assert {graph.framework for graph in graphconv.loads(text, framework="psd")} == {"psd"}
    mixed = graphconv.dumps(SAMPLE, "mrp")
    assert {g.framework for g in graphconv.loads(mixed)} == {g.framework for g in SAMPLE}
    assert {g.framework for g in graphconv.loads(mixed, framework="ucca")} == {"ucca"}


def test_an_arborescence_is_written_to_a_string() -> None:
    tree = graphconv.to_arborescence(graphconv.loads(WANT)[0])
    assert graphconv.loads(graphconv.dumps(tree)) == graphconv.loads(WANT)


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("", {}, "the string is empty: there is no graph in it"),
        ("gold.amr", {}, "if it names a file, call graphconv.read"),
        ("(w / want-01", {}, "<string>:1: "),
        ("hello\nworld", {}, "<string>:1: the format is not recognized"),
        ("(w / want-01)", {"format": "xml"}, "unknown format 'xml'; known are amr, "),
        ("(w / want-01)", {"framework": "drs"}, "unknown framework 'drs'; known are amr, "),
    ],
)
def test_a_broken_string_is_one_sentence(text: str, options: Any, says: str) -> None:
    with pytest.raises(FormatError) as caught:
        graphconv.loads(text, **options)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["amr", "sdp", "ucca"])
def test_what_holds_all_frameworks_is_told_where_they_are_mixed(name: str) -> None:
    with pytest.raises(FormatError, match=r"; mrp holds all frameworks$"):
        graphconv.dumps(SAMPLE, name)


def test_a_notation_in_the_place_of_a_path_is_told() -> None:
    with pytest.raises(FormatError, match=r"graphconv\.loads"):
        list(graphconv.read("(w / want-01)"))


def test_what_is_not_a_string_is_told() -> None:
    with pytest.raises(TypeError, match="takes a string, not PosixPath"):
        graphconv.loads(Path("a"))  # type: ignore[arg-type]


def test_two_passages_are_not_one_text() -> None:
    passages = [graph for graph in SAMPLE if graph.framework == "ucca"] * 2
    with pytest.raises(FormatError, match="choose format='mrp' for several"):
        graphconv.dumps(passages)


def test_a_graph_that_no_file_can_hold_still_has_a_string() -> None:
    assert str(Graph("1", "amr")) == repr(Graph("1", "amr"))


def test_the_text_is_the_files() -> None:
    [graph] = graphconv.loads(WANT)
    assert graph.text == "The boy wants to go."
    [record] = graphconv.loads(graphconv.dumps(graph, "mrp"))
    assert record.text == "The boy wants to go."
    assert Graph("1", "dm", (Token("Go"), Token("!"))).text == "Go !"


def test_a_node_knows_its_characters() -> None:
    tokens = Token("Go", span=(0, 2)), Token("home", span=(4, 8)), Token(".", span=(8, 9))
    nodes = Node("1.1"), Node("1.2", anchors=(0,)), Node("1.3", anchors=(1, 2)), Node("1.4")
    edges = (
        Edge("1.1", "1.2", "P"),
        Edge("1.1", "1.3", "A"),
        Edge("1.2", "1.4", "A"),
        Edge("1.4", "1.3", "A", remote=True),
    )
    graph = Graph("1", "ucca", tokens, nodes, edges, ("1.1",))
    assert graph.text == "Go  home."
    assert [graph.span(node.id) for node in nodes] == [(0, 9), (0, 2), (4, 9), None]
    with pytest.raises(ConversionError, match="there is no node '9'"):
        graph.span("9")


def test_tokens_are_found_in_the_sentence() -> None:
    words = Token("The"), Token("boy"), Token("goes"), Token(".")
    nodes = Node("g", "go-02", (2,)), Node("b", "boy", (1,))
    graph = Graph("1", "amr", words, nodes, (), ("g",), (("snt", "The boy  goes."),))
    assert graph.span("g") == (9, 13)
    assert graph.text[slice(*graph.span("b") or ())] == "boy"


def test_triples() -> None:
    assert graphconv.loads(WANT)[0].triples() == [
        ("w", "instance", "want-01"),
        ("b", "instance", "boy"),
        ("g", "instance", "go-02"),
        ("w", "ARG0", "b"),
        ("w", "ARG1", "g"),
        ("g", "ARG0", "b"),
        ("g", "polarity", "-"),
    ]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_dictionary_loses_nothing(framework: str) -> None:
    @given(graphs(framework))
    def law(graph: Graph) -> None:
        assert Graph.from_dict(graph.to_dict()) == graph
        assert Graph.from_dict(json.loads(json.dumps(graph.to_dict()))) == graph

    law()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"id": 7}, "'id' is not a string"),
        ({"framework": "drs"}, "unknown framework 'drs'"),
        ({"nodes": [{"id": "a", "name": "x"}]}, "a node has no 'name'"),
        ({"nodes": [{"id": "a", "constant": 1}]}, "'constant' is neither true nor false"),
        ({"nodes": ["a"]}, "a node is not an object"),
        ({"edges": [{"source": "a", "target": "b"}]}, "'label' is missing"),
        ({"tops": ["z"]}, "top 'z' is not a node"),
    ],
)
def test_a_dictionary_that_is_no_graph_is_told(change: dict[str, Any], says: str) -> None:
    with pytest.raises(graphconv.GraphconvError, match=says):
        Graph.from_dict({**Graph("1", "amr").to_dict(), **change})


@pytest.mark.parametrize("graph", SAMPLE, ids=lambda g: f"{g.framework}-{g.id}")
def test_flat_networkx_is_written_as_graphml(graph: Graph, tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    flat = graph.to_networkx(flat=True)
    networkx.write_graphml(flat, tmp_path / "a.graphml")
    again = networkx.read_graphml(tmp_path / "a.graphml", force_multigraph=True)
    assert again.graph["framework"] == graph.framework
    assert dict(again.nodes(data="label")) == {node.id: node.label for node in graph.nodes}
    labels = sorted((d["order"], d["label"]) for _, _, d in again.edges(data=True))
    assert [label for _, label in labels] == [edge.label for edge in graph.edges]


def test_a_notebook_shows_the_picture() -> None:
    [graph] = graphconv.loads(WANT)
    picture = graph._repr_svg_()
    assert picture.startswith("<svg")
    assert "want-01" in picture


def test_render_gives_markup_or_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found = graphconv.loads(WANT)
    assert (graphconv.render(found * 2) or "").count("<svg") == 2
    page = graphconv.render(found[0], page=True)
    assert page is not None
    assert page.startswith("<!doctype html>")
    shown: list[str] = []
    package, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    display.HTML = str  # type: ignore[attr-defined]
    display.display = shown.append  # type: ignore[attr-defined]
    package.get_ipython = lambda: types.SimpleNamespace(kernel=1)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    assert graphconv.render(found) is None
    assert graphconv.render(found, jupyter=True) is None
    assert [markup[:4] for markup in shown] == ["<svg", "<svg"]
    assert graphconv.render(found, jupyter=False) is not None
    with pytest.raises(TypeError, match=r"draws graphs, not str: read a string with"):
        graphconv.render(WANT)  # type: ignore[arg-type]


def test_importing_is_light() -> None:
    code = "import sys, graphconv; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"networkx", "numpy", "IPython", "graphconv.draw", "penman"} & {*loaded}


def test_importing_waits_until_a_name_is_used() -> None:
    code = (
        "import sys, graphconv\n"
        "print([name for name in sys.modules if name.startswith('graphconv.')])\n"
        "print([name for name in graphconv.__all__ if name not in dir(graphconv)])\n"
        "print(graphconv.io.read is graphconv.read, graphconv.codecs.__name__)\n"
        "print(all(getattr(graphconv, name) for name in graphconv.__all__))\n"
        "print(hasattr(graphconv, 'nothing'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "[]", "True graphconv.codecs", "True", "False"]
