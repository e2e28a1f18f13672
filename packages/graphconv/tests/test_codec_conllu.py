"""CoNLL-U: graphs over words are in DEPS and come back, from the columns wherever they can."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import graphconv
from graphconv import FormatError, Graph
from graphconv.cli import main
from graphconv.frameworks import BILEXICAL
from graphconv.graph import PREDICATE, Edge, Node, Token
from graphconv.scores import Scores
from graphconv.testing import graphs

DOGS = Graph(
    "1",
    "dm",
    (
        Token("Dogs", "dog", "NNS", (0, 4)),
        Token("bark", "bark", "VBP", (5, 9), (("frame", "v:e-i"),)),
        Token("now", "now", "RB", (10, 13)),
        Token(".", ".", ".", (13, 14)),
    ),
    (
        Node("1", None, (0,)),
        Node("2", None, (1,), attributes=PREDICATE),
        Node("3", None, (2,), attributes=PREDICATE),
    ),
    (Edge("2", "1", "ARG1"), Edge("3", "2", "loc:time")),
    ("2",),
    (("source", "a = b"),),
    (("format", "sdp"),),
)


@pytest.mark.property
@pytest.mark.parametrize("framework", sorted(BILEXICAL))
@given(data=st.data())
def test_every_graph_comes_back(framework: str, data: st.DataObject) -> None:
    some = [data.draw(graphs(framework)), DOGS]
    if some[0].tokens:
        assert graphconv.loads(graphconv.dumps(some, format="conllu"), format="conllu") == some


def test_a_usual_graph_is_in_its_columns() -> None:
    text = graphconv.dumps(DOGS, format="conllu")
    assert "# graphconv" not in text
    rows = [line.split("\t") for line in text.splitlines() if line and line[0] != "#"]
    assert [row[8] for row in rows] == ["2:ARG1", "0:root|3:loc:time", "_", "_"]
    assert [row[9] for row in rows] == [
        "TokenRange=0:4",
        "Frame=v:e-i|TokenRange=5:9",
        "TokenRange=10:13",
        "TokenRange=13:14",
    ]
    assert graphconv.loads(text) == [DOGS]


ODD: list[Callable[[Graph], Graph]] = [
    lambda g: Graph("a\nb", "dm", g.tokens, g.nodes, g.edges, g.tops),
    lambda g: Graph("1", "dm", g.tokens, g.nodes, (Edge("2", "1", "a|b"),), g.tops),
    lambda g: Graph("1", "dm", (Token("a\tb"), Token("_", "_")), g.nodes[:2], (), ("1",)),
    lambda g: Graph("1", "dm", g.tokens, (Node("x", None, (0,)),), (), ("x",)),
    lambda g: Graph("1", "dm", (Token("a", features=(("ner", "X"),)),), g.nodes[:1]),
    lambda g: Graph("1", "dm", g.tokens, g.nodes, g.edges[::-1], g.tops),
]


@pytest.mark.parametrize("change", ODD, ids=range(len(ODD)))
def test_what_has_no_column_comes_back_from_a_comment(change: Callable[[Graph], Graph]) -> None:
    graph = change(DOGS)
    text = graphconv.dumps(graph, format="conllu")
    assert "# graphconv = " in text
    assert graphconv.loads(text) == [graph]


def test_scores_come_back() -> None:
    scored = replace(DOGS, scores=Scores(-1.0, {"1": -0.5}, {("2", "1", "ARG1"): -0.25}))
    [read] = graphconv.loads(graphconv.dumps(scored, format="conllu"))
    assert read.scores == scored.scores


def test_columns_that_were_changed_count() -> None:
    odd = ODD[1](DOGS)
    text = graphconv.dumps(odd, format="conllu").replace("2:a_b", "2:ARG2")
    [read] = graphconv.loads(text)
    assert [edge.label for edge in read.edges] == ["ARG2"]


def test_files_of_universal_dependencies_are_read_and_told_apart_from_sdp() -> None:
    """DEPS is what counts; the tree in HEAD is another graph."""
    text = (
        "# sent_id = a\n# text = They buy\n"
        "1\tThey\tthey\tPRON\tPRP\tCase=Nom\t2\tnsubj\t2:nsubj|4:nsubj\tSpaceAfter=No\n"
        "2\tbuy\tbuy\tVERB\tVBP\t_\t0\troot\t0:root\t_\n"
        "3\tand\tand\tCCONJ\tCC\t_\t4\tcc\t4:cc\t_\n"
        "4\tsell\tsell\tVERB\tVBP\t_\t2\tconj\t0:root|2:conj:and\t_\n\n"
    )
    [graph] = graphconv.loads(text, framework="psd")
    assert graph.framework == "psd"
    assert graph.tops == ("2", "4")
    assert ("2", "4", "conj:and") in [edge[:3] for edge in graph.edges]
    assert graphconv.loads(text.split("\n", 2)[2]) != []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2:ARG1", "9:ARG1", "word 1 depends on '9:ARG1', which is no word and label"),
        ("2:ARG1", "ARG1", "word 1 depends on 'ARG1'"),
        ("\tbark\tbark", "\tbark", "9 columns, where CoNLL-U has 10"),
        ("\n2\t", "\n2.1\t", "an empty node"),
        ("\n2\t", "\n2-3\t", "a multiword token"),
        ("\n2\t", "\n7\t", "word '7', where 2 is expected"),
        ("= dm", "= amr", "CoNLL-U holds graphs over words, not amr"),
        ("= dm", "= xyz", "unknown framework 'xyz'"),
        ("# extras = [", "# extras = (", "the comment 'extras' is not JSON"),
        ("# framework", "# graphconv = {}\n# framework", "this dictionary is not a graph"),
    ],
)
def test_what_is_broken_is_told_with_its_line(old: str, new: str, message: str) -> None:
    text = graphconv.dumps(DOGS, format="conllu")
    assert old in text
    with pytest.raises(FormatError, match=message) as caught:
        graphconv.loads(text.replace(old, new, 1), format="conllu")
    assert caught.value.lineno is not None


def test_convert_there_and_back(tmp_path: Path) -> None:
    source, middle, back = (tmp_path / name for name in ("a.sdp", "a.conllu", "b.sdp"))
    text = "#SDP 2015\n#1\n1\tIt\tit\tPRP\t-\t-\tpron\tARG1\n2\trains\train\tVBZ\t+\t+\tv\t_\n\n"
    source.write_text(text, encoding="utf-8")
    for command in (["convert", source, "-o", middle], ["convert", middle, "-o", back]):
        done = CliRunner().invoke(main, [*map(str, command)])
        assert done.exit_code == 0, done.output
    assert "# graphconv = " not in middle.read_text(encoding="utf-8")
    assert back.read_text(encoding="utf-8") == text


def test_a_graph_that_is_not_over_words_is_refused() -> None:
    with pytest.raises(FormatError, match=r"CoNLL-U holds graphs over words \(dm, pas, psd\)"):
        graphconv.dumps(graphconv.loads("(b / boy)"), format="conllu")
