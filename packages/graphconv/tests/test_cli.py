import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from graphconv import cli, export, io
from graphconv.check import SAMPLE
from graphconv.isomorphism import isomorphic
from graphconv.testing import interrupt_imports

AMR, SDP, UCCA = (str(SAMPLE / name) for name in ("sample.amr", "sample.sdp", "ucca"))
ALL = (AMR, SDP, UCCA)


def run(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments], input=stdin)


def ok(*arguments: str | Path, stdin: bytes | None = None) -> str:
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_names_of_formats_are_those_of_the_library() -> None:
    assert set(cli.FORMATS) == set(io.FORMATS)
    assert cli.EXPORTS == export.EXPORTS


def test_commands_are_the_documented_ones() -> None:
    assert set(cli.main.commands) == {
        "to-arborescence", "from-arborescence", "relations", "from-relations",
        "convert", "check", "stats", "draw", "repair", "grep", "index", "align",
    }  # fmt: skip


@pytest.mark.parametrize("command", [(), *[(name,) for name in cli.main.commands]])
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help(command: tuple[str, ...], option: str) -> None:
    assert "Usage:" in ok(*command, option)


def test_version() -> None:
    assert ok("--version").startswith("graphconv, version ")


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from graphconv.cli import main\n"
        "heavy = {'penman', 'networkx', 'numpy', 'multiprocessing', 'graphconv.draw'}\n"
        "try: main(['--help'])\n"
        "finally: print(sorted(heavy & {*sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stderr.decode().strip() == "[]"


@pytest.mark.parametrize("source", [AMR, SDP])
def test_arborescences_and_back_byte_for_byte(source: str, tmp_path: Path) -> None:
    trees, back, again = tmp_path / "trees.jsonl", tmp_path / "back", tmp_path / "again"
    ok("to-arborescence", source, "-o", trees)
    ok("from-arborescence", trees, "-o", back)
    ok("convert", source, "-o", again, "--to", Path(source).suffix[1:])
    assert back.read_bytes() == again.read_bytes()
    assert list(io.read(back)) == list(io.read(source))


def test_ucca_goes_to_a_folder(tmp_path: Path) -> None:
    ok("to-arborescence", UCCA, "-o", tmp_path / "trees.jsonl")
    ok("from-arborescence", tmp_path / "trees.jsonl", "-o", tmp_path / "back")
    assert list(io.read(tmp_path / "back")) == list(io.read(UCCA))


def test_records_have_nothing_but_relations_and_tokens() -> None:
    for line in ok("relations", *ALL).splitlines():
        record = json.loads(line)
        assert list(record) == ["id", "framework", "tokens", "relations"]
        assert all(len(relation) == 6 for relation in record["relations"])


@pytest.mark.parametrize("source", ALL)
@pytest.mark.parametrize("format_", ["jsonl", "tsv"])
def test_relations_and_back(source: str, format_: str, tmp_path: Path) -> None:
    sequences, back = tmp_path / "relations", tmp_path / "back"
    ok("relations", source, "-o", sequences, "--format", format_)
    ok("from-relations", sequences, "-o", back)
    assert ok("relations", back, "--format", format_) == sequences.read_text(encoding="utf-8")


def test_standard_input_and_output() -> None:
    text = Path(SDP).read_bytes()
    trees = ok("to-arborescence", "-", stdin=text)
    assert ok("from-arborescence", "-", "-o", "-", stdin=trees.encode()).encode() == text


def test_gzip(tmp_path: Path) -> None:
    packed = tmp_path / "a.jsonl.gz"
    ok("to-arborescence", AMR, "-o", packed)
    assert gzip.decompress(packed.read_bytes()).decode() == ok("to-arborescence", AMR)
    assert ok("stats", packed) == ok("stats", AMR)


def test_jobs_change_nothing() -> None:
    for command in ("to-arborescence", "relations", "check", "stats"):
        assert ok(command, *ALL, "--jobs", "2") == ok(command, *ALL)


def test_framework_of_sdp_files() -> None:
    assert json.loads(ok("relations", SDP).splitlines()[0])["framework"] == "dm"
    psd = ok("relations", SDP, "--framework", "psd").splitlines()[0]
    assert json.loads(psd)["framework"] == "psd"


def test_framework_chooses_from_a_mixed_file(tmp_path: Path) -> None:
    mixed = tmp_path / "mixed.jsonl"
    ok("to-arborescence", *ALL, "-o", mixed)
    found = json.loads(ok("stats", mixed, "--framework", "ucca", "--format", "json"))
    assert list(found) == ["ucca"]


def test_ucca_options() -> None:
    full = ok("relations", UCCA)
    result = run("relations", UCCA, "--foundational")
    assert "1 linkage units were left out" in result.stderr
    assert len(result.stdout) < len(full)
    plain = [json.loads(line) for line in ok("relations", UCCA, "--no-unit-labels").splitlines()]
    units = {r[3] for record in plain for r in record["relations"][1:] if r[5] is None}
    assert len({label.rstrip("!") for label in units} - {"null"}) == 1


def test_convert_between_formats(tmp_path: Path) -> None:
    ok("convert", AMR, "-o", tmp_path / "a.mrp", "--to", "mrp")
    ok("convert", tmp_path / "a.mrp", "-o", tmp_path / "b.amr", "--to", "amr")
    for first, second in zip(io.read(AMR), io.read(tmp_path / "b.amr"), strict=True):
        assert isomorphic(first, second)


def test_convert_needs_a_format() -> None:
    assert run("convert", AMR).exit_code == 2


def test_check_counts_and_succeeds() -> None:
    lines = ok("check", "--sample").splitlines()
    assert [line.split()[1:] for line in lines[1:]] == [
        ["amr", "5", "5", "0"],
        ["dm", "5", "5", "0"],
        ["ucca", "5", "5", "0"],
    ]


def test_check_needs_an_input() -> None:
    assert run("check").exit_code == 2


def test_stats() -> None:
    counts = json.loads(ok("stats", *ALL, "--format", "json"))
    assert counts["amr"]["re-entrancies"] == 5
    assert counts["ucca"]["implicit units"] == 1
    assert "re-entrancies" in ok("stats", AMR)


BAD = {
    "empty": b"",
    "garbled": b"\x00\x01\x02 what is this",
    "cut.amr": b"# ::id 1\n(w / want-01 :ARG0 (b / boy",
    "columns.sdp": b"#SDP 2015\n#1\n1\tGo\tgo\n\n",
    "bomb.xml": b'<!DOCTYPE r [<!ENTITY a "aaaa">]><root passageID="1">&a;</root>',
    "record.jsonl": b'{"arborescence": 1, "id": "1"}\n',
    "encoding.sdp": b"#SDP 2015\n#1\n1\t\xff\tgo\tVB\t-\t-\t_\n\n",
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("command", ["to-arborescence", "check", "stats"])
def test_bad_input_is_one_sentence(name: str, command: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(BAD[name])
    result = run(command, file)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith(f"Error: {file}")


def test_bad_input_leaves_no_output(tmp_path: Path) -> None:
    file, out = tmp_path / "in.sdp", tmp_path / "out.jsonl"
    file.write_bytes(Path(SDP).read_bytes() + b"#9\n1\tGo\n\n")
    out.write_text("old")
    assert run("to-arborescence", file, "-o", out).exit_code == 1
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.sdp", "out.jsonl"]


def test_skip_invalid_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "in.sdp"
    file.write_bytes(b"#SDP 2015\n#9\n1\tGo\n\n" + Path(SDP).read_bytes().split(b"\n", 1)[1])
    result = run("to-arborescence", file, "--skip-invalid")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 5
    assert "1 invalid graphs were skipped" in result.stderr


def test_bad_input_stops_all_jobs(tmp_path: Path) -> None:
    file = tmp_path / "in.sdp"
    file.write_bytes(Path(SDP).read_bytes() + b"#9\n1\tGo\n\n")
    result = run("check", file, "--jobs", "2")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {file}:")


@pytest.mark.parametrize(
    "arguments",
    [("no-such-command",), ("stats",), ("stats", "no-such-file"), ("stats", AMR, "--from", "x")],
)
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


def test_unwritable_output() -> None:
    result = run("to-arborescence", AMR, "-o", "/no/such/folder/out")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: /no/such/folder/out")


def _start(*arguments: str, **options: object) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "graphconv", *arguments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload, no-any-return]


def test_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    large = tmp_path / "large.amr"
    large.write_bytes(Path(AMR).read_bytes() * 400)
    process = _start("to-arborescence", str(large), stdout=subprocess.PIPE)
    assert process.stdout
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait()


def _listen() -> None:
    """Undo what a shell does to the programs that it starts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_during_imports_is_silent() -> None:
    interrupt_imports("graphconv.cli")


def test_interrupt_ends_quietly() -> None:
    reader, writer = os.pipe()
    with open(reader, "rb") as stdin, open(writer, "wb", buffering=0) as feed:  # noqa: PTH123
        process = _start(
            "stats", "-", "--from", "sdp", stdin=stdin, stdout=subprocess.DEVNULL,
            preexec_fn=_listen,
        )  # fmt: skip
        assert process.stderr
        feed.write(b"#\n" * (1 << 17))  # more than a pipe holds: returns when it is being read
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait() == 1
