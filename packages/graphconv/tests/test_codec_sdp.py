r"""SDP: every byte of a file comes back, and bad files are refused with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphconv import io
from graphconv.codecs import Block, sdp
from graphconv.errors import FormatError
from graphconv.graph import Edge, Graph, Node, Token, attribute
from graphconv.testing import CORPORA

IT_RAINS = "1\tIt\tit\tPRP\t-\t-\t_\tARG1\n2\trains\train\tVBZ\t+\t+\tv:e-i\t_\n"
IT_RAINS_2014 = "1\tIt\tit\tPRP\t-\t-\tARG1\n2\trains\train\tVBZ\t+\t+\t_\n"
HEADER = "#SDP 2015\n"


def read(text: str) -> list[Graph]:
    lines = text.splitlines(keepends=True) if "\r" not in text else text.split("\n")
    if "\r" in text:
        lines = [line + "\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]
    return [sdp.parse(block) for block in sdp.blocks(lines, "a.sdp")]


def rewritten(text: str) -> str:
    writer = sdp.file_format()
    return "".join([writer(graph) for graph in read(text)])


def test_a_sentence_becomes_a_graph() -> None:
    (graph,) = read(f"{HEADER}#20001001\n{IT_RAINS}\n")
    assert graph == Graph(
        "20001001",
        "dm",
        tokens=(
            Token("It", "it", "PRP"),
            Token("rains", "rain", "VBZ", features=(("frame", "v:e-i"),)),
        ),
        nodes=(Node("1", None, (0,)), Node("2", None, (1,), attributes=(("pred", "+"),))),
        edges=(Edge("2", "1", "ARG1"),),
        tops=("2",),
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{HEADER}#1\n{IT_RAINS}\n#2\n{IT_RAINS}\n", id="usual"),
        pytest.param(f"#1\n{IT_RAINS}\n", id="2015 without header"),
        pytest.param(f"#1\n{IT_RAINS_2014}\n#2\n{IT_RAINS_2014}\n", id="2014"),
        pytest.param(f"{HEADER}\n#1\n{IT_RAINS}\n", id="empty line after the header"),
        pytest.param(f"# by me\n{HEADER}# more\n#1\n{IT_RAINS}\n", id="comments around the header"),
        pytest.param(f"{HEADER}#1\n# a comment\n{IT_RAINS}\n", id="comment after the id"),
        pytest.param(f"{HEADER}#1\n{IT_RAINS}\n{HEADER}#2\n{IT_RAINS}\n", id="two files joined"),
        pytest.param(f"{HEADER}#1\n{IT_RAINS}\n\n\n#2\n{IT_RAINS}\n", id="more empty lines"),
        pytest.param(f"{HEADER}#1\n{IT_RAINS} \t\n#2\n{IT_RAINS}\n", id="blanks in an empty line"),
        pytest.param(f"{HEADER}#1\n{IT_RAINS}", id="no empty line at the end"),
        pytest.param(f"{HEADER}#1\n{IT_RAINS}".rstrip("\n"), id="no newline at the end"),
        pytest.param(f"{HEADER}#1\n{IT_RAINS}\n\n# the end\n", id="comment at the end"),
        pytest.param(f"{HEADER}#1\n{IT_RAINS}\n# the end", id="comment without newline at the end"),
        pytest.param(f"{HEADER}#1\n{IT_RAINS}\n".replace("\n", "\r\n"), id="CRLF"),
        pytest.param(f"#1\n{IT_RAINS_2014}".replace("\n", "\r\n").rstrip(), id="CRLF, cut, 2014"),
        pytest.param(f"{HEADER}#1\n{IT_RAINS}\n".replace("_\n", "_\r\n"), id="mixed line ends"),
        pytest.param(
            f"{HEADER}#1\n{IT_RAINS}\n".replace("1\n", "1\r\n"), id="mixed line ends, head"
        ),
        pytest.param(f"{HEADER}#1\n\n#2\n{IT_RAINS}\n", id="sentence without tokens"),
        pytest.param(f"{HEADER}#1\n\n".replace("\n", "\r\n"), id="without tokens, CRLF"),
        pytest.param(f"{HEADER}#1\n1\tHm\t_\tUH\t-\t-\tuh\n\n", id="frame without node"),
        pytest.param(f"{HEADER}#1\n1\tGo\tgo\tVB\t+\t-\t_\n\n", id="top without edges"),
        pytest.param(f"{HEADER}#1\n1\tGo\tgo\tVB\t-\t+\tv\t_\n\n", id="empty argument column"),
        pytest.param(f"{HEADER}#1\n1\tGo\tgo\tVB\t-\t+\tv\tARG1\n\n", id="self-loop"),
        pytest.param(f"{HEADER}#1\n1\tNew York\t_\tNNP\t-\t+\t\t_\n\n", id="blank, empty frame"),
        pytest.param(f"{HEADER}#1\n1\t\t\t\t-\t-\t_\n2\t_\t_\t_\t-\t-\t_\n\n", id="empty cells"),
        pytest.param(f"{HEADER}#1\n1\tx\x0b\x85\u2028y\t_\t_\t-\t-\t_\n\n", id="odd separators"),
        pytest.param(f"{HEADER}#a b c\n{IT_RAINS}\n", id="id with blanks"),
        pytest.param(f"{HEADER}#\n{IT_RAINS}\n", id="empty id"),
        pytest.param(f"\ufeff{HEADER}#1\n{IT_RAINS}\n", id="byte order mark"),
        pytest.param(f"\ufeff#1\n{IT_RAINS}\n", id="byte order mark, no header"),
    ],
)
def test_every_byte_comes_back(text: str, tmp_path: Path) -> None:
    source, target = tmp_path / "in.sdp", tmp_path / "out.sdp"
    source.write_bytes(text.encode())
    graphs = list(io.read(source))
    assert io.write(graphs, target) == len(graphs) > 0
    assert target.read_bytes() == text.encode()
    assert list(io.read(target)) == graphs


def test_usual_files_need_no_extras() -> None:
    assert [graph.extras for graph in read(f"{HEADER}#1\n{IT_RAINS}\n#2\n{IT_RAINS}\n")] == [(), ()]
    assert [graph.extras for graph in read(f"#1\n{IT_RAINS_2014}\n")] == [(("format", "sdp2014"),)]


def test_only_tops_predicates_and_arguments_are_nodes() -> None:
    (graph,) = read(
        f"{HEADER}#1\n"
        "1\ta\ta\tX\t-\t-\tq\t_\n"  # FRAME alone makes no node
        "2\tb\tb\tX\t+\t-\t_\t_\n"
        "3\tc\tc\tX\t-\t+\t_\t_\n"
        "4\td\td\tX\t-\t-\t_\tA\n\n"
    )
    assert [node.id for node in graph.nodes] == ["2", "3", "4"]
    assert attribute(graph.tokens[0].features, "frame") == "q"


def test_edges_are_listed_by_target_then_source() -> None:
    (graph,) = read(
        f"{HEADER}#1\n1\ta\ta\tX\t-\t+\t_\t_\tR\n2\tb\tb\tX\t-\t+\t_\tL\tS\n\n",
    )
    assert [edge[:3] for edge in graph.edges] == [
        ("2", "1", "R"),
        ("1", "2", "L"),
        ("2", "2", "S"),
    ]


@pytest.mark.parametrize(
    ("lines", "lineno", "message"),
    [
        ("1\tIt\tit\tPRP\t-\n", 3, "7 columns separated by tabs expected, 5 found"),
        ("It rains\n", 3, "7 columns separated by tabs expected, 1 found"),
        (IT_RAINS.replace("\tARG1", ""), 3, "8 columns separated by tabs expected, 7 found"),
        (
            IT_RAINS.replace("v:e-i\t_", "v:e-i\t_\t_"),
            4,
            "8 columns separated by tabs expected, 9 found",
        ),
        (IT_RAINS.replace("2\t", "3\t"), 4, "token id 2 expected, '3' found"),
        (IT_RAINS.replace("+\t+", "*\t+"), 4, "TOP is neither + nor - but '*'"),
        (IT_RAINS.replace("+\t+", "+\t_"), 4, "PRED is neither + nor - but '_'"),
        (IT_RAINS.replace("+\t+", "+\t-"), 3, "0 tokens have PRED +, so 7 columns are expected"),
        (IT_RAINS.replace("ARG1", ""), 3, "an argument column is empty"),
        (IT_RAINS_2014, 3, "1 tokens have PRED +, so 8 columns are expected, 7 found"),
        (f"{IT_RAINS}#2\n{IT_RAINS}", 5, "8 columns separated by tabs expected, 1 found"),
    ],
)
def test_bad_sentences_name_their_line(lines: str, lineno: int, message: str) -> None:
    text = f"{HEADER}#1\n{lines}\n"
    with pytest.raises(FormatError) as caught:
        read(text)
    assert caught.value.message.startswith(message)
    assert (caught.value.filename, caught.value.lineno) == ("a.sdp", lineno)
    assert caught.value.text == text.split("\n")[lineno - 1]


def test_tokens_without_id_line_are_refused() -> None:
    with pytest.raises(FormatError, match=r"^a\.sdp:6: a sentence without the line #id"):
        read(f"{HEADER}#1\n{IT_RAINS}\n{IT_RAINS}\n")


def test_one_bad_sentence_can_be_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.sdp"
    path.write_text(f"{HEADER}#1\n{IT_RAINS}\n#2\n1\tIt\n\n#3\n{IT_RAINS}\n")
    errors: list[Exception] = []
    assert [graph.id for graph in io.read(path, on_error=errors.append)] == ["1", "3"]
    assert [str(error) for error in errors] == [
        f'{path}:7: 7 columns separated by tabs expected, 2 found: "1\\tIt"'
    ]


def predicted(*edges: Edge, **fields: object) -> Graph:
    tokens = (Token("It"), Token("rains", "rain", "VBZ"))
    nodes = (Node("a", None, (1,)), Node("b", None, (0,)))
    return Graph("7", "dm", tokens, nodes, edges, **fields)  # type: ignore[arg-type]


def framed(frame: object, **fields: object) -> Graph:
    tokens = (Token("It", features=(("frame", frame),)),)
    return Graph("7", "dm", tokens, **fields)  # type: ignore[arg-type]


def test_a_graph_that_was_never_a_file_is_written() -> None:
    text = sdp.format(predicted(Edge("a", "b", "ARG1"), tops=("a",)))
    assert text == "#7\n1\tIt\t_\t_\t-\t-\t_\tARG1\n2\trains\train\tVBZ\t+\t+\t_\t_\n\n"


def test_a_node_without_edges_stays_a_node() -> None:
    graph = predicted()
    (again,) = read(sdp.format(graph))
    assert [node.anchors for node in again.nodes] == [(0,), (1,)]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (predicted(Edge("a", "b", "X"), Edge("a", "b", "Y")), "two edges from a to b"),
        (predicted(Edge("a", "b", "_")), "the edge label '_'"),
        (predicted(Edge("a", "b", "X\tY")), "a tab, a line break"),
        (predicted(Edge("a", "b", "X\nY")), "a tab, a line break"),
        (predicted(Edge("a", "b", "X\r")), "a carriage return at the end of a line"),
        (predicted(Edge("a", "c", "X")), "the unknown node 'c'"),
        (predicted(tops=("c",)), "the unknown node 'c'"),
        (Graph("7", "dm", (), (Node("a", None, (0,)),)), "a token that does not exist"),
        (Graph("7", "dm", (Token("a"),), (Node("a"),)), "not one token of its own"),
        (Graph("7", "ucca"), "a graph of ucca"),
        (framed(5), "a frame that is not text"),
        (framed("", extras=(("format", "sdp2014"),)), "an SDP 2014 frame"),
    ],
)
def test_what_sdp_cannot_say_is_refused(graph: Graph, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        sdp.format(graph)
    assert message in str(caught.value)
    assert str(caught.value).startswith("graph 7: ")


def test_a_header_decides_on_the_version_of_a_file() -> None:
    old, new = read(f"#1\n{IT_RAINS_2014}\n")[0], read(f"{HEADER}#2\n{IT_RAINS}\n")[0]
    writer = sdp.file_format()
    assert (writer(new) + writer(old)).count("\t_\tARG1") == 2


def test_a_file_without_header_may_hold_both_versions() -> None:
    text = f"#1\n{IT_RAINS_2014}\n#2\n{IT_RAINS}\n"
    writer = sdp.file_format()
    assert "".join(map(writer, read(text))) == text


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (HEADER, True),
        (f"#1\n{IT_RAINS_2014}", True),
        ("#1\n1\tIt\tit\tPRP\tX\tY\n", False),
        ("# ::id 1\n(a / b)", False),
        ("", False),
    ],
)
def test_sniff(head: str, expected: bool) -> None:
    assert sdp.sniff(head) is expected


def test_the_framework_is_what_the_user_says() -> None:
    block = Block(f"#1\n{IT_RAINS}\n", "a.sdp", 1)
    assert sdp.parse(block, "psd").framework == "psd"
    assert sdp.parse(block).framework == "dm"


@pytest.mark.corpora
@pytest.mark.parametrize(
    "name",
    [
        "wescience-dev",
        pytest.param("wescience-train", marks=pytest.mark.slow),
        pytest.param("redwoods-train", marks=pytest.mark.slow),
    ],
)
def test_the_corpora_come_back(name: str) -> None:
    path = CORPORA / "dm" / f"{name}.sdp"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    writer = sdp.file_format()
    with path.open("rb") as file:
        for block in io.read_blocks(path)[1]:
            text = writer(sdp.parse(block)).encode()
            assert file.read(len(text)) == text
        assert not file.read()
