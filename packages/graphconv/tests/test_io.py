"""Files in every disguise: gzip, folders, standard input, wrong encodings, damaged, cut off."""

from __future__ import annotations

import gzip
import io as stdio
import os
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from graphconv import io
from graphconv.codecs import ucca
from graphconv.errors import FormatError, GraphconvError
from graphconv.graph import Edge, Graph, Node, Token
from graphconv.io import files
from graphconv.testing import passage

SENTENCE = "1\tIt\tit\tPRP\t-\t-\t_\tARG1\n2\trains\train\tVBZ\t+\t+\tv:e-i\t_\n"
SDP = f"#SDP 2015\n#1\n{SENTENCE}\n#2\n{SENTENCE}\n"
AMR = '# ::id 1\n# ::snt Barak "O" barks .\n(b / bark-01 :ARG0 (p / person :name "O"))\n\n'


@pytest.fixture
def sdp(tmp_path: Path) -> Path:
    path = tmp_path / "a.sdp"
    path.write_bytes(SDP.encode())
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "ucca"
    path.mkdir()
    for name in ("p10", "p9", "p1"):
        (path / f"{name}.xml").write_text(passage(name))
    (path / "README.txt").write_text("not a passage")
    return path


def read_from_stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> list[Graph]:
    monkeypatch.setattr(sys, "stdin", stdio.TextIOWrapper(stdio.BytesIO(data)))
    return list(io.read("-"))


# Reading


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (SDP, "sdp"),
        (AMR, "amr"),
        (passage("1"), "ucca"),
        (f'<?xml version="1.0"?>\n{passage("1")}', "ucca"),
        ('{"id": "1", "framework": "dm", "flavor": 0, "input": "Go", "nodes": []}', "mrp"),
        ('{"id": "1", "input": "Go", "tops": [', "mrp"),
        ('{"arborescence": 1, "id": "1"}', "arborescence"),
        ('{"id": "1", "framework": "dm", "tokens": [], "relations": []}', "relations"),
        ('{"id": "1", "framework": "dm", "tokens": [["a", "b", "c"], ["d"', "relations"),
        ("#id\t1\n#framework\tdm\n", "relations"),
        ("# sent_id = 1\n1\tGo\tgo\t_\tVB\t_\t_\t_\t0:root\t_\n", "conllu"),
        ("1\tGo\tgo\tVERB\tVB\t_\t0\troot\t0:root\t_\n", "conllu"),
        ("<?xml version='1.0'?>\n<graphml>\n<graph/>\n</graphml>", "graphml"),
    ],
)
def test_the_format_is_recognized_from_the_content(content: str, expected: str) -> None:
    assert io.detect(content) == expected
    assert io.detect(f"\ufeff{content}") == expected
    for name in io.FORMATS:
        assert io.codec(name).sniff(content) is (name == expected)


def test_unknown_content_is_refused() -> None:
    with pytest.raises(FormatError, match=r'^x:1: the format is not recognized.*: "some text"$'):
        io.detect("some text\nmore", "x")


def test_gzip_is_recognized_from_the_content(tmp_path: Path) -> None:
    path = tmp_path / "a.sdp"
    path.write_bytes(gzip.compress(SDP.encode()))
    assert [graph.id for graph in io.read(path)] == ["1", "2"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(pack: type[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    assert [graph.id for graph in read_from_stdin(monkeypatch, pack(SDP.encode()))] == ["1", "2"]


def test_a_folder_is_read_in_natural_order(folder: Path) -> None:
    assert [graph.id for graph in io.read(folder)] == ["p1", "p9", "p10"]


def test_a_folder_may_be_packed(folder: Path) -> None:
    (folder / "p2.xml.gz").write_bytes(gzip.compress(passage("p2").encode()))
    assert [graph.id for graph in io.read(folder)] == ["p1", "p2", "p9", "p10"]


def test_one_bad_file_of_a_folder_can_be_skipped(folder: Path) -> None:
    (folder / "p2.xml").write_text("<root")
    (folder / "p3.xml").write_text("")
    (folder / "p4.xml").write_bytes(passage("p4", "G\xf6").encode("latin-1"))
    errors: list[GraphconvError] = []
    assert [graph.id for graph in io.read(folder, on_error=errors.append)] == ["p1", "p9", "p10"]
    assert [Path(getattr(error, "filename", "")).name for error in errors] == [
        "p2.xml",
        "p3.xml",
        "p4.xml",
    ]


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16", "utf-8", "UTF-8"])
def test_xml_may_name_its_encoding(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n{passage("1", "Größe")}'
    path.write_bytes(text.encode(encoding))
    assert [graph.tokens[0].form for graph in io.read(path)] == ["Größe"]


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "a.amr"
    path.write_bytes(f"\ufeff{AMR}".encode())
    assert [graph.id for graph in io.read(path)] == ["1"]


def test_a_mixed_file_is_filtered_by_framework(tmp_path: Path) -> None:
    path = tmp_path / "a.mrp"
    io.write([Graph("1", "dm"), Graph("2", "psd")], path)
    assert [graph.id for graph in io.read(path)] == ["1", "2"]
    assert [graph.id for graph in io.read(path, framework="psd")] == ["2"]


def test_only_newlines_end_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.sdp"
    path.write_bytes(SDP.replace("It", "I\r\x0b\x0c\x1c\x85\u2028t").encode())
    assert next(io.read(path)).tokens[0].form == "I\r\x0b\x0c\x1c\x85\u2028t"


def test_blocks_can_be_parsed_elsewhere(sdp: Path) -> None:
    name, blocks = io.read_blocks(sdp)
    assert name == "sdp"
    assert [io.parse_block(name, block) for block in blocks] == list(io.read(sdp))
    assert [tree.id for tree in io.read_arborescences(sdp)] == ["1", "2"]


class Endless(stdio.RawIOBase):
    """A stream of sentences that never ends, and counts what was read of it."""

    def __init__(self) -> None:
        self.served = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = SDP.encode()[: len(buffer)]
        buffer[: len(data)] = data
        self.served += len(data)
        return len(data)


def test_reading_and_writing_are_lazy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    endless = Endless()
    stdin = stdio.TextIOWrapper(stdio.BufferedReader(endless))
    monkeypatch.setattr(sys, "stdin", stdin)
    before = []

    def watched() -> Iterator[Graph]:
        for graph in islice(io.read("-"), 3_000):
            before.append(endless.served)
            yield graph

    assert io.write(watched(), tmp_path / "a.sdp") == 3_000
    assert before[0] < 10_000
    assert before[-1] < (tmp_path / "a.sdp").stat().st_size + 100_000


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.sdp.gz"
    with gzip.open(path, "wb", 1) as file:
        file.write(SDP.encode() * 3_000)
    tracemalloc.start()
    try:
        written = io.write(io.read(path), tmp_path / "b.sdp.gz")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert written == 6_000  # of about a kilobyte each
    assert peak < 2_000_000


# Bad files


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b"#SDP 2015\n", "there is no graph in the file"),
        (SDP.encode("utf-16"), "the file is in UTF-16, not in UTF-8"),
        (b"\x00\x01\x02\xff\n", "the format is not recognized from the content"),
        (gzip.compress(SDP.encode())[:40], "damaged gzip file"),
        (gzip.compress(SDP.encode())[:-8] + b"12345678", "damaged gzip file"),
        (b"\x1f\x8bnothing", "damaged gzip file"),
        (b'<?xml version="1.0" encoding="klingon"?>', "unknown encoding 'klingon'"),
        (b'<?xml version="1.0" encoding="hex"?>', "unknown encoding 'hex'"),
        (SDP.encode().replace(b"rains", b"r\xe4ins", 1), "not valid UTF-8"),
        (SDP.encode()[:-1] + b"\xe2\x82", "not valid UTF-8"),
    ],
)
def test_damaged_files_give_one_sentence(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.sdp"
    path.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        list(io.read(path))
    assert caught.value.message.startswith(message)
    assert caught.value.filename == str(path)
    assert "\n" not in str(caught.value)
    errors: list[GraphconvError] = []
    list(io.read(path, on_error=errors.append))
    assert [str(error) for error in errors] == [str(caught.value)]


def test_wrong_bytes_have_a_line_and_spare_the_other_graphs(tmp_path: Path) -> None:
    path = tmp_path / "a.sdp"
    path.write_bytes(SDP.encode().replace(b"rains", b"r\xe4ins", 1))
    errors: list[GraphconvError] = []
    assert [graph.id for graph in io.read(path, on_error=errors.append)] == ["2"]
    assert str(errors[0]).startswith(f'{path}:4: not valid UTF-8: "2\\tr\ufffdins\\t')


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="No such file or directory"):
        list(io.read(tmp_path / "nothing.sdp"))
    with pytest.raises(FormatError, match=r"there is no \.xml or .* file in the folder"):
        list(io.read(tmp_path))
    with pytest.raises(FormatError, match=r"there is no \.sdp file in the folder"):
        list(io.read(tmp_path, format="sdp"))
    with pytest.raises(FormatError, match="a folder, where a file of format relations is expected"):
        list(io.read(tmp_path, format="relations"))
    with pytest.raises(FormatError, match="unknown format 'xls'"):
        list(io.read(tmp_path / "a", format="xls"))
    with pytest.raises(FormatError, match="not a file name"):
        list(io.read("a\0b"))


RELEASE = """# AMR release; corpus: lpp; section: training; number of AMRs: 1 (generated by hand)

# ::id {0} ::date 2012-09-18
# ::snt Go !
(g / go-02 :mode imperative)

"""


def test_a_folder_of_a_release_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    for name in ("amr-10.txt", "amr-2.txt", "amr-1.txt"):
        (tmp_path / name).write_text(RELEASE.format(name), encoding="utf-8")
    (tmp_path / "README.md").write_text("Not a graph.", encoding="utf-8")
    found = [graph.id for graph in io.read(tmp_path)]
    assert found == ["amr-1.txt", "amr-2.txt", "amr-10.txt"]
    assert [graph.id for graph in io.read(tmp_path, format="amr")] == found
    (tmp_path / "amr-2.txt").write_text("no graph at all\n", encoding="utf-8")
    errors: list[GraphconvError] = []
    assert len(list(io.read(tmp_path, on_error=errors.append))) == 2
    assert "amr-2.txt" in str(errors[0])


def test_a_folder_of_sdp_files_is_read_whatever_is_beside_them(tmp_path: Path) -> None:
    for name in ("b.sdp", "a.sdp"):
        (tmp_path / name).write_text(SDP, encoding="utf-8")
    (tmp_path / "README.txt").write_text("Not a graph.", encoding="utf-8")
    assert [graph.id for graph in io.read(tmp_path, framework="dm")] == ["1", "2", "1", "2"]


# Writing


def test_writing_to_standard_output(capfdbinary: pytest.CaptureFixture[bytes], sdp: Path) -> None:
    assert io.write(io.read(sdp), "-", format="sdp") == 2
    assert capfdbinary.readouterr().out == SDP.encode()


def test_gzip_output_depends_on_the_graphs_alone(tmp_path: Path, sdp: Path) -> None:
    first, second = tmp_path / "1.sdp.gz", tmp_path / "2.sdp.gz"
    io.write(io.read(sdp), first)
    io.write(io.read(sdp), second)
    assert first.read_bytes() == second.read_bytes()
    assert gzip.decompress(first.read_bytes()) == SDP.encode()


@pytest.mark.parametrize("name", ["b", "b.sdp", "b.sdp.gz"])
def test_the_format_is_that_of_the_name_or_of_the_graphs(
    name: str, tmp_path: Path, sdp: Path
) -> None:
    io.write(io.read(sdp), tmp_path / name)
    assert io.read_blocks(tmp_path / name)[0] == "sdp"
    assert list(io.read(tmp_path / name)) == list(io.read(sdp))


def failing(graphs: Iterator[Graph]) -> Iterator[Graph]:
    yield next(graphs)
    raise FormatError("bad graph")


@pytest.mark.parametrize("name", ["out.sdp", "out.sdp.gz"])
@pytest.mark.parametrize("before", [None, b"old"])
def test_no_half_written_file_appears(
    name: str, before: bytes | None, tmp_path: Path, sdp: Path
) -> None:
    target = tmp_path / "new" / name
    target.parent.mkdir()
    if before is not None:
        target.write_bytes(before)
    with pytest.raises(FormatError, match="bad graph"):
        io.write(failing(io.read(sdp)), target)
    assert [path.name for path in target.parent.iterdir()] == ([name] if before else [])
    if before is not None:
        assert target.read_bytes() == before


def test_a_graph_that_cannot_be_written_can_be_skipped(tmp_path: Path) -> None:
    edges = (Edge("a", "a", "X"), Edge("a", "a", "Y"))
    bad = Graph("bad", "dm", (Token("a"),), (Node("a", None, (0,)),), edges)
    surrogate = Graph("odd", "dm", (Token("\ud800"),))
    errors: list[GraphconvError] = []
    path = tmp_path / "a.sdp"
    graphs = [bad, Graph("good", "dm"), surrogate]
    assert io.write(graphs, path, on_error=errors.append) == 1
    assert path.read_text() == "#SDP 2015\n#good\n\n"
    assert len(errors) == 2
    with pytest.raises(FormatError, match="a lone surrogate"):
        io.write([surrogate], path)


def test_a_folder_of_passages(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    assert io.write(io.read(folder), target) == 3
    assert sorted(path.name for path in target.iterdir()) == ["p1.xml", "p10.xml", "p9.xml"]
    assert list(io.read(target)) == list(io.read(folder))
    # A second time, beside files of others.
    (target / "notes.txt").write_text("mine")
    assert io.write(io.read(folder), target) == 3
    assert len(list(target.iterdir())) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "ucca"]


def test_no_half_written_folder_appears(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="bad graph"):
        io.write(failing(io.read(folder)), tmp_path / "out")
    first = next(io.read(folder))
    with pytest.raises(FormatError, match="two passages have the id 'p1'"):
        io.write([first, first], tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["ucca"]


@pytest.mark.parametrize("graph_id", ["a/b", "..", "", "ü b", ".x", "a\\b:c"])
def test_any_passage_id_is_a_file_name(graph_id: str, tmp_path: Path) -> None:
    graph = next(_passages([graph_id], tmp_path))
    io.write([graph], tmp_path / "out")
    (file,) = (tmp_path / "out").iterdir()
    assert file.suffix == ".xml"
    assert next(io.read(tmp_path / "out")).id == graph_id


def _passages(ids: list[str], tmp_path: Path) -> Iterator[Graph]:
    for graph_id in ids:
        path = tmp_path / "one.xml"
        path.write_text(passage(graph_id), encoding="utf-8")
        yield from io.read(path)


def test_one_passage_may_be_a_file(folder: Path, tmp_path: Path) -> None:
    first = next(io.read(folder))
    assert io.write([first], tmp_path / "p.xml") == 1
    assert list(io.read(tmp_path / "p.xml")) == [first]
    for graphs in ([first, first], []):
        with pytest.raises(FormatError, match="a UCCA file holds exactly one passage"):
            io.write(graphs, tmp_path / "q.xml")
    assert not (tmp_path / "q.xml").exists()


def test_places_that_cannot_be_written(tmp_path: Path, sdp: Path) -> None:
    with pytest.raises(FormatError, match="a folder, where a file is to be written"):
        io.write(io.read(sdp), tmp_path, format="sdp")
    with pytest.raises(FormatError, match="No such file or directory"):
        io.write(io.read(sdp), tmp_path / "no" / "where.sdp")
    with pytest.raises(FormatError, match="a file, where a folder is to be written"):
        io.write([Graph("1", "ucca")], sdp, format="ucca")
    with pytest.raises(FormatError, match="there is no graph to write"):
        io.write([], tmp_path / "empty")
    assert io.write(io.read(sdp), "/dev/null", format="sdp") == 2


def test_a_link_stays_a_link(tmp_path: Path, sdp: Path) -> None:
    link = tmp_path / "link.sdp"
    link.symlink_to(tmp_path / "target.sdp")
    io.write(io.read(sdp), link)
    assert link.is_symlink()
    assert (tmp_path / "target.sdp").read_bytes() == SDP.encode()


def test_what_others_left_behind_stops_nothing_and_stays(tmp_path: Path, sdp: Path) -> None:
    theirs = [tmp_path / name for name in ("x.sdp.part", f".x.sdp.{os.getpid()}.part")]
    for file in theirs:
        file.write_text("precious")
    (tmp_path / ".x.sdp.lock").touch()  # a process that was killed leaves this
    io.write(io.read(sdp), tmp_path / "x.sdp")
    assert [file.read_text() for file in theirs] == ["precious"] * 2
    left = {file.name for file in tmp_path.iterdir()}
    assert left == {sdp.name, "x.sdp", *(file.name for file in theirs)}


@pytest.mark.parametrize(("name", "format_name"), [("x.sdp", "sdp"), ("x", "ucca")])
def test_a_second_writer_is_refused(
    name: str, format_name: str, tmp_path: Path, sdp: Path, folder: Path
) -> None:
    source = folder if format_name == "ucca" else sdp
    target = tmp_path / "out" / name
    target.parent.mkdir()

    def graphs_while_another_writes() -> Iterator[Graph]:
        with pytest.raises(FormatError, match=f"{name}: another process is writing it"):
            io.write(io.read(source), target, format=format_name)
        yield from io.read(source)

    io.write(graphs_while_another_writes(), target, format=format_name)
    assert list(io.read(target)) == list(io.read(source))
    assert [file.name for file in target.parent.iterdir()] == [name]


def test_permissions_are_kept(tmp_path: Path, sdp: Path) -> None:
    private = tmp_path / "private.sdp"
    private.touch(0o600)
    io.write(io.read(sdp), private)
    assert private.stat().st_mode & 0o777 == 0o600


def test_a_name_may_be_as_long_as_the_system_takes(tmp_path: Path, sdp: Path) -> None:
    long = tmp_path / ("ü" * 125 + ".sdp")
    io.write(io.read(sdp), long)
    assert long.read_bytes() == SDP.encode()


def test_a_pipe_can_be_looked_at_and_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(SDP.encode(),))
    writer.start()
    assert files.peek(str(pipe)).startswith(b"#SDP 2015")
    assert files.peek(str(pipe)).startswith(b"#SDP 2015")
    assert [graph.id for graph in io.read(pipe)] == ["1", "2"]
    writer.join()


def test_passages_in_one_stream(folder: Path, tmp_path: Path) -> None:
    passages = list(io.read(folder))
    texts = [ucca.format(passage) for passage in passages]
    stream = tmp_path / "stream.xml"
    for some in (texts[:1], texts):
        stream.write_text("".join(ucca.join(some)), encoding="utf-8")
        assert list(io.read(stream)) == passages[: len(some)]
    assert [block.text for block in io.read_blocks(stream)[1]] == texts


@pytest.mark.parametrize(
    ("old", "new", "lost", "message"),
    [
        ("</passages>\n", "", 0, "</passages> is missing: the file is cut"),
        ("</passages>\n", "</passages>\nmore\n", 0, 'text after </passages>: "more"'),
        ("<passages>\n", "<passages>\nwords\n", 0, "stream.xml:2: "),
        ('toID="1.2"', 'toID="1.9"', 1, "1.9"),
    ],
)
def test_broken_streams_of_passages(
    tmp_path: Path, *, old: str, new: str, lost: int, message: str
) -> None:
    texts = [passage(name) for name in ("p1", "p2")]
    before, _, after = "".join(ucca.join(texts)).rpartition(old)
    stream = tmp_path / "stream.xml"
    stream.write_text(before + new + after, encoding="utf-8")
    errors: list[GraphconvError] = []
    assert len(list(io.read(stream, on_error=errors.append))) == 2 - lost
    [error] = errors
    assert message in str(error)
    assert isinstance(error, FormatError)
    if lost:  # lines are counted from the beginning of the file
        assert new in stream.read_text().splitlines()[(error.lineno or 0) - 1]
