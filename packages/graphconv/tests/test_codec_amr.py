"""PENMAN: what is read, what is written, what is refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import graphconv
from graphconv.codecs import Block, amr
from graphconv.codecs.amr.alignments import with_alignments
from graphconv.errors import FormatError
from graphconv.graph import Edge, Graph, Node, Token, attribute
from graphconv.testing import CORPORA

FILES = sorted((CORPORA / "amr").glob("*.amr"))

HEADER = """# AMR release; corpus: x (generated on Fri Mar 4)

# ::id a.1 ::date 2012 ::preferred
# ::snt Chapter 1 .
(c / chapter :mod 1)

# a remark
# ::id a.2
# ::snt He said std::x ::) so .
(s / say-01
      :ARG0 (h / he))
# the end
"""


def read(text: str) -> Graph:
    return amr.parse(Block(text, "x.amr", 1))


def read_all(text: str) -> list[Graph]:
    return [amr.parse(block) for block in amr.blocks(text.splitlines(keepends=True), "x.amr")]


def triples(graph: Graph) -> list[tuple[str, str, str]]:
    labels = {node.id: node.label for node in graph.nodes if node.constant}
    return [(e.source, e.label, labels.get(e.target) or e.target) for e in graph.edges]


def decoded(text: str) -> tuple[Any, ...]:
    import penman
    from penman.models.amr import model

    graph = penman.decode(text, model=model)
    return graph.triples, graph.top, graph.metadata, penman.surface.alignments(graph)


TEXTS = {
    "wiki": '(p / person :wiki - :name (n / name :op1 "Ann"))',
    "odd strings": r'(x / x :op1 "a (b) :c # d ~e \"f\" / g" :op2 "h")',
    "alignments": '(b / boy~e.1,2 :ARG0~e.3 (g / go-02~e.4) :op1 "x~y"~e.5 :ARG1 g~e.6)',
    "not inverted": "(x / x :consist-of (y / y) :prep-on-behalf-of (z / z))",
    "inverted": "(x / x :ARG0-of (y / y :ARG1 x) :consist-of-of (z / z))",
    "mention before definition": "(a / a :ARG0 b :ARG1 (c / c :ARG0 (b / b :ARG1 c)))",
    "self-loop and parallel edges": "(a / a :ARG0 a :ARG1 (b / b) :ARG2 b :ARG2 b)",
    "constant as source": "(a / a :polarity-of -)",
    "no concept": "(a :ARG0 (b / ) :ARG1 (c))",
    "no target": "(a / a :ARG0 :ARG1-of :ARG2 (b / b))",
    "empty role": "(a / a : (b / b) : c)",
    "time without quotes": "(d / date-entity :time 16:42)",
    "concept in quotes": '(a / "a b"~e.1)',
    "instance role": "(a :ARG0 (b / b) :instance c)",
    "numbers as variables": "(1 / a :ARG0 (2 / b :ARG1 1) :quant 3)",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_penman_reads_what_is_written(text: str) -> None:
    graph = read(f"# ::id 1\n{text}")
    graph.validate()
    again = amr.format(graph)
    assert sorted(map(str, decoded(again)[0])) == sorted(map(str, decoded(text)[0]))
    assert decoded(again)[1] == decoded(text)[1]
    assert decoded(again)[3] == decoded(text)[3]
    assert read(again.rstrip("\n")) == graph


def test_directions_and_roles() -> None:
    graph = read("(x / x :ARG0-of (y / y) :consist-of (z / z) :polarity-of -)")
    assert triples(graph) == [("y", "ARG0", "x"), ("x", "consist-of", "z"), (":0", "polarity", "x")]
    assert [attribute(edge.attributes, "inverted") for edge in graph.edges] == [True, None, True]


def test_nodes_are_in_written_order() -> None:
    graph = read('(a / a :op1 "x" :ARG0 b :ARG1 (c / c :quant 5) :ARG2 (b / b))')
    assert [node.id for node in graph.nodes] == ["a", ":0", "c", ":1", "b"]
    assert [node.constant for node in graph.nodes] == [False, True, False, True, False]
    assert [attribute(edge.attributes, "mention") for edge in graph.edges][1] is True


def test_alignments_have_their_places() -> None:
    graph = read('(b / boy~e.1,2 :ARG0~e.3 (g / go-02) :op1 "x~y"~e.5 :ARG1 g~e.6)')
    boy, _, constant = graph.nodes
    assert (boy.label, boy.attributes) == ("boy", (("alignment", "e.1,2"),))
    assert (constant.label, constant.attributes) == ('"x~y"', (("alignment", "e.5"),))
    assert graph.edges[0].attributes == (("alignment", "e.3"),)
    assert graph.edges[2].attributes == (("target_alignment", "e.6"),)


def test_a_file_comes_back() -> None:
    graphs = read_all(HEADER)
    assert [graph.id for graph in graphs] == ["a.1", "a.2"]
    assert graphs[0].metadata[:3] == (("id", "a.1"), ("date", "2012"), ("preferred", ""))
    assert graphs[1].metadata == (("id", "a.2"), ("snt", "He said std::x ::) so ."))
    assert "".join(map(amr.format, graphs)).rstrip("\n") == HEADER.rstrip("\n")


def test_tokens_prefer_tok() -> None:
    assert read("# ::snt Go!\n(g / go-02)").tokens == (Token("Go!"),)
    assert read("# ::snt Go!\n# ::tok Go !\n(g / go-02)").tokens == (Token("Go"), Token("!"))


@pytest.mark.parametrize(
    "forms",
    [
        ["std", "::vector", "::id", "\\::x", "::"],
        ["::first", "\\\\::x", "std::x"],
        ["New York", "sleeps"],
        ["New\u00a0York ::x", "", '"'],
        [""],
    ],
)
def test_every_token_survives(forms: list[str]) -> None:
    graph = replace(read("(s / sleep-01)"), tokens=tuple(map(Token, forms)))
    back = read(amr.format(graph).rstrip("\n"))
    assert [token.form for token in back.tokens] == forms
    assert amr.format(back) == amr.format(graph)


def test_a_sentence_may_look_like_metadata() -> None:
    said = "Call std ::vector now ."
    tokens = tuple(map(Token, said.split()))
    graph = replace(read("(s / sleep-01)"), metadata=(("snt", said),), tokens=tokens)
    assert amr.format(graph) == "# ::snt Call std \\::vector now .\n(s / sleep-01)\n\n"
    assert read(amr.format(graph).rstrip("\n")).metadata == graph.metadata


def test_a_field_of_others_called_tokens_is_kept() -> None:
    for value in ("7", "none", '[1, "x"]', "[]"):
        text = f"# ::snt Go !\n# ::tokens {value}\n(g / go-02)\n\n"
        graph = read(text.rstrip("\n"))
        assert [token.form for token in graph.tokens] == ["Go", "!"]
        assert amr.format(graph) == text


def test_graphs_without_id_are_anonymous() -> None:
    graphs = read_all("(a / a)(b / b)\n# ::id real\n(c / c) (d / d)")
    assert [graph.id for graph in graphs] == ["#1", "#2", "real", "#4"]
    anonymous = [attribute(graph.extras, "anonymous") for graph in graphs]
    assert anonymous == [True, True, None, True]
    assert "::id" not in amr.format(graphs[0])


def test_odd_comment_lines_stay_as_they_are() -> None:
    text = "#::id  x\n# ::snt a  ::tok b\t\n##  nothing ::else here\n(a / a)\n\n"
    graph = read(text.rstrip("\n"))
    assert dict(graph.metadata) == {"id": " x", "snt": "a", "tok": "b", "else": "here"}
    assert amr.format(graph) == text.replace("\t", "")


def test_a_broken_graph_does_not_swallow_the_next() -> None:
    text = "# ::id 1\n(a / a\n   :ARG0 (b / b)\n\n# ::id 2\n(c / c)\n(d / d))\nword\n\n(e / e)\n"
    blocks = list(amr.blocks(text.splitlines(keepends=True), "x.amr"))
    assert [block.text.split("\n")[-1].strip() for block in blocks] == [
        ":ARG0 (b / b)",
        "(c / c)",
        "(d / d)",
        "word",
        "(e / e)",
    ]
    # The bracket too many is the beginning of the text outside of brackets.
    assert blocks[3].text == ")\nword"
    assert [block.lineno for block in blocks] == [1, 5, 7, 7, 10]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("\n# ::id 1\n(a / a\n  :ARG0 (b / b)\n", 4, "before its brackets are closed"),
        ("(a / a\n  b)", 2, "a role or a closing bracket"),
        ("(a / a\n  :ARG0 (a / b))", 2, "'a' is defined twice"),
        ("(a / a\n  :ARG0 ())", 2, "without a variable"),
        ("()", 1, "without a variable"),
        ("(a / a :quant 1/2)", 1, "a role or a closing bracket"),
        ("(a / a\n # comment\n :ARG0 b)", 2, "a role or a closing bracket"),
        ("word", 1, "text outside of brackets"),
        ('(a / a :op1 "x)', 1, "a value or a bracket"),
    ],
)
def test_refusals_name_the_line(text: str, line: int, message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        read_all(text)
    assert (caught.value.filename, caught.value.lineno) == ("x.amr", line)


def test_text_behind_the_graph_is_refused() -> None:
    with pytest.raises(FormatError, match="outside of brackets"):
        read("(a / a) b")


def test_comments_alone_are_no_graph() -> None:
    assert read_all("# ::id 1\n\n# nothing\n") == []
    with pytest.raises(FormatError, match="no graph"):
        read("# ::id 1")


def test_too_deep_to_read() -> None:
    depth = 5000
    text = "".join(f"(x{i} / x :ARG0 " for i in range(depth)) + "y" + ")" * depth
    with pytest.raises(FormatError, match="deeper than the penman library reads"):
        read(text)


def test_a_long_chain_is_written() -> None:
    length = 50_000
    nodes = tuple(Node(f"x{i}", "x") for i in range(length))
    edges = tuple(Edge(f"x{i}", f"x{i + 1}", "ARG0") for i in range(length - 1))
    text = amr.format(Graph("1", "amr", nodes=nodes, edges=edges, tops=("x0",)))
    assert text.count(":ARG0") == length - 1
    turned = tuple(edge._replace(source=edge.target, target=edge.source) for edge in edges)
    text = amr.format(Graph("1", "amr", nodes=nodes, edges=turned, tops=("x0",)))
    assert text.count(":ARG0-of") == length - 1


def test_layout_is_made_where_there_is_none() -> None:
    constant = Node(":0", "1", constant=True)
    nodes = (Node("0", "see-01"), Node("1", "boy"), Node("2", "go-02"), constant)
    edges = (Edge("2", "1", "ARG0"), Edge("0", "1", "ARG0"), Edge("2", ":0", "quant"))
    graph = Graph("7", "amr", tokens=(Token("Go"),), nodes=nodes, edges=edges, tops=("0",))
    assert amr.format(graph) == (
        "# ::id 7\n# ::tok Go\n"
        "(s / see-01\n      :ARG0 (b / boy\n            :ARG0-of (g / go-02 :quant 1)))\n\n"
    )


def test_a_lost_definition_moves() -> None:
    graph = read("(a / a :ARG0 b :ARG1 (c / c :ARG2 (b / b)))")
    kept = Graph("1", "amr", nodes=graph.nodes, edges=graph.edges[:2], tops=graph.tops)
    assert "(a / a\n      :ARG0 (b / b)\n      :ARG1 (c / c))" in amr.format(kept)


A, B = Node("a", "a"), Node("b", "b")


@pytest.mark.parametrize(
    ("nodes", "edges", "tops", "message"),
    [
        ((A, B), (), ("a",), "'b' that the top is not connected to"),
        ((A, Node(":0", "-", constant=True)), (), ("a",), "not connected"),
        ((A,), (), (), "0 tops"),
        ((A, B), (Edge("a", "b", "ARG0"),), ("a", "b"), "2 tops"),
        ((A,), (), ("z",), "not a variable"),
        ((Node("a", "two words"),), (), ("a",), "neither a symbol nor a string"),
        ((A, B), (Edge("a", "b", "two words"),), ("a",), "an edge 'two words'"),
        # Written inverted it would be read as the role consist-of.
        ((A, B), (Edge("b", "a", "consist"),), ("a",), "not connected"),
        ((A, B), (Edge("a", "z", "ARG0"),), ("a",), "unknown node"),
    ],
)
def test_what_penman_cannot_hold(
    nodes: tuple[Node, ...], edges: tuple[Edge, ...], tops: tuple[str, ...], message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        amr.format(Graph("1", "amr", nodes=nodes, edges=edges, tops=tops))


def test_a_forward_role_that_looks_inverted_is_turned() -> None:
    graph = Graph("1", "amr", nodes=(A, B), edges=(Edge("b", "a", "ARG0-of"),), tops=("a",))
    again = read(amr.format(graph).rstrip("\n"))
    assert triples(again) == [("b", "ARG0-of", "a")]


def test_metadata_that_cannot_be_read_back_is_refused() -> None:
    graph = Graph("1", "amr", nodes=(A,), tops=("a",), metadata=(("snt", "x\n# ::id y"),))
    with pytest.raises(FormatError, match="metadata"):
        amr.format(graph)


@pytest.mark.corpora
@pytest.mark.skipif(not FILES, reason="the corpora are not here")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.name, marks=[pytest.mark.slow] if "train" in path.name else [])
        for path in FILES
    ],
)
def test_real_graphs_come_back(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    graphs = read_all(text)
    again = "".join(map(amr.format, graphs))
    assert read_all(again) == graphs
    assert "".join(map(amr.format, read_all(again))) == again


ALIGNED = """# ::id 1
# ::tok The boy in Paris left twice
(l / leave-11~e.4
   :ARG0~e.4 (b / boy~e.1
                :location (c / city~e.3
                             :name (n / name
                                      :op1 "Paris"~e.3)))
   :frequency 2~e.4,5
   :mod-of (g / go-02
              :ARG0 b~e.1))
"""


def test_alignments_are_anchors_and_come_back_as_they_were() -> None:
    [graph] = graphconv.loads(ALIGNED)
    anchors = {node.label: node.anchors for node in graph.nodes}
    assert anchors == {
        "leave-11": (4,), "boy": (1,), "city": (3,), "name": (), '"Paris"': (3,), "2": (4, 5),
        "go-02": (),
    }  # fmt: skip
    assert graph.span("c") == (11, 16)
    assert graphconv.loads(graphconv.dumps(graph)) == [graph]
    assert "~e.4,5" in str(graph)
    tree = graphconv.to_arborescence(graph)
    assert graphconv.to_graph(tree) == graph
    again = graphconv.loads(graphconv.dumps(graph, "mrp"))[0]
    assert {node.label: node.anchors for node in again.nodes} == anchors


def test_alignments_to_words_that_are_not_there_are_no_anchors() -> None:
    [graph] = graphconv.loads("# ::tok Go\n(g / go-02~e.7 :polarity -~e.0,8)")
    assert [node.anchors for node in graph.nodes] == [(), ()]
    assert "~e.7" in str(graph)


@pytest.mark.parametrize("style", ["isi", "jamr"])
def test_alignments_are_written_in_both_styles(style: str) -> None:
    [graph] = graphconv.loads(ALIGNED)
    written = str(with_alignments(graph, style))
    [again] = graphconv.loads(written)
    assert [node.anchors for node in again.nodes] == [node.anchors for node in graph.nodes]
    assert ("~" in written) == (style == "isi")
    assert graphconv.loads(str(with_alignments(again, "isi")))[0].nodes[0].anchors == (4,)


def test_jamrs_line_names_places_in_the_tree() -> None:
    [graph] = graphconv.loads(ALIGNED)
    line = dict(with_alignments(graph, "jamr").metadata)["alignments"]
    assert line == "4-5|0 1-2|0.0 3-4|0.0.0 3-4|0.0.0.0.0 4-6|0.1"
    bare = str(with_alignments(graph, "none"))
    assert "~" not in bare
    assert "::alignments" not in bare


def test_only_amr_has_alignments() -> None:
    with pytest.raises(FormatError, match="there is no style 'x' of alignments: choose isi, jamr"):
        with_alignments(graphconv.loads(ALIGNED)[0], "x")
    with pytest.raises(FormatError, match="only AMR is written with alignments"):
        with_alignments(Graph("1", "dm"), "isi")
