"""Input that is cut, too long, in another framework, or made to harm: refused with its place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphconv import io
from graphconv.cli import main
from graphconv.codecs._json import Malformed, load
from graphconv.errors import FileError, FormatError, GraphconvError
from graphconv.io import files

AMR = "# ::id 1\n(a / apple)\n\n# ::id 2\n(b / boy)\n"
SDP = "#SDP 2015\n" + "".join(
    f"#{i}\n1\tIt{i * 7919}\tit\tPRP\t-\t-\t_\tARG1\n2\trains\train\tVBZ\t+\t+\tv:e\t_\n\n"
    for i in range(1, 201)
)
MRP = {
    "id": "1",
    "flavor": 2,
    "framework": "amr",
    "input": "Go",
    "tops": [0],
    "nodes": [{"id": 0, "label": "go-02"}],
    "edges": [],
}


def invoke(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "a": 2}', "the key 'a' stands twice"),
        ('{"a": {"b": 1, "c": 1, "b": 1}}', "the key 'b' stands twice"),
        ('{"a": "\\ud800"}', "lone surrogate"),
        ('{"a": ["\\uDFFF"]}', "lone surrogate"),
        ('{"a": 1e999}', "too large"),
        ('{"a": NaN}', "NaN"),
        ('{"a": ' + "9" * 5000 + "}", "not valid JSON"),
        ('{"a": ' + "[" * 200 + "]" * 200 + "}", "nested too deeply"),
        ('{"a": ' + "[" * 200_000 + "]" * 200_000 + "}", "nested too deeply"),
    ],
)
def test_json_that_is_refused(text: str, reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        load(text)


def test_json_that_is_not_refused() -> None:
    assert load('{"a": "\\ud83d\\ude00", "b": [[1.5, -0.0]], "A": null}')["a"] == "\U0001f600"


@pytest.mark.parametrize("cut", [0.3, 0.9, 0.999])
def test_a_cut_gzip_file_gives_what_is_there_and_is_an_error(tmp_path: Path, cut: float) -> None:
    data = gzip.compress(SDP.encode(), mtime=0)
    path = tmp_path / "a.sdp.gz"
    path.write_bytes(data[: int(len(data) * cut)])
    errors: list[GraphconvError] = []
    graphs = list(io.read(path, on_error=errors.append))
    whole = list(io.read(_written(tmp_path / "whole.sdp", SDP)))
    assert 0 < len(graphs) < 200
    assert graphs == whole[: len(graphs)]
    (error,) = errors
    assert isinstance(error, FileError)
    assert "a.sdp.gz:" in str(error)
    assert "lost" in str(error)
    code, _, said = invoke("stats", "--skip-invalid", path)
    assert code == 1
    assert "1 files could not be read to their end" in said


@pytest.mark.parametrize("padding", [b"", b"\0" * 100])
def test_gzip_members_one_after_the_other_are_one_file(tmp_path: Path, padding: bytes) -> None:
    half = SDP.index("#100\n")
    packed = [gzip.compress(part.encode()) for part in (SDP[:half], SDP[half:])]
    path = tmp_path / "a.sdp.gz"
    path.write_bytes(b"".join(packed) + padding)
    assert len(list(io.read(path))) == 200


def test_blank_lines_before_the_first_graph(tmp_path: Path) -> None:
    path = _written(tmp_path / "a.amr", "\n" * 200_000 + AMR)
    assert [graph.id for graph in io.read(path)] == ["1", "2"]
    path = _written(tmp_path / "b", "\n" * 200_000 + "nothing that we know")
    with pytest.raises(FileError, match=r"b:200001: the format is not recognized.*nothing"):
        list(io.read(path))


def test_a_line_and_a_graph_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONGEST_LINE", 1 << 20)
    monkeypatch.setattr(files, "LONGEST_GRAPH", 2 << 20)
    long_line = AMR + "(c / cat :op1 " + "x" * (2 << 20) + ")\n"
    errors: list[GraphconvError] = []
    path = tmp_path / "a.amr.gz"
    path.write_bytes(gzip.compress(long_line.encode()))
    assert [graph.id for graph in io.read(path, on_error=errors.append)] == ["1"]
    assert "a.amr.gz:6: a line of more than 1 MB; what begins in line 4" in str(errors[0])
    long_graph = AMR + "(c / cat\n" + " :op1 x\n" * 500_000 + ")\n"
    with pytest.raises(FileError, match=r"a\.amr:6: a graph of more than 2 MB"):
        list(io.read(_written(tmp_path / "a.amr", long_graph)))
    many = AMR * 100_000  # long files are no long graphs
    assert sum(1 for _ in io.read(_written(tmp_path / "many.amr", many))) == 200_000


@pytest.mark.parametrize("framework", ["amr", "ucca", "eds", "ptg", "drg"])
@pytest.mark.parametrize("command", ["stats", "to-arborescence", "relations", "check"])
def test_a_framework_that_contradicts_an_sdp_file(
    tmp_path: Path, framework: str, command: str
) -> None:
    path = _written(tmp_path / "a.sdp", SDP)
    code, out, said = invoke(command, path, "--framework", framework)
    assert (code, out) == (1, "")
    assert f"a.sdp: the file holds dm or pas or psd graphs (sdp), not {framework}" in said


def test_a_framework_that_contradicts_other_files(tmp_path: Path) -> None:
    path = _written(tmp_path / "a.amr", AMR)
    with pytest.raises(FileError, match="holds amr graphs"):
        list(io.read(path, framework="dm"))
    with pytest.raises(FileError, match="unknown framework 'nonsense'"):
        list(io.read(path, framework="nonsense"))
    mrp = _written(tmp_path / "a.mrp", json.dumps(MRP) + "\n")
    assert len(list(io.read(mrp, framework="amr"))) == 1
    with pytest.raises(FileError, match=r"a\.mrp: there is no dm graph"):
        list(io.read(mrp, framework="dm"))
    assert invoke("stats", mrp, "--framework", "dm")[0] == 1


def test_messages_name_the_place_and_hold_no_escape_sequences(tmp_path: Path) -> None:
    path = _written(tmp_path / "a.amr", "(a / b \x1b]0;title\x07\u202e")
    code, _, said = invoke("stats", path)
    assert code == 1
    assert "a.amr:1:" in said
    assert not set("\x1b\x07\u202e") & set(said)
    error = FormatError("\x1b[31m", filename="\x9b", lineno=1, text="\ud800\x00")
    assert str(error) == '\\x9b:1: \\x1b[31m: "\\ud800\\x00"'


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
