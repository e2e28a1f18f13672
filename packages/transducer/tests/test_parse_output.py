"""What parse writes and what it reads: nothing lost, nothing mixed, nothing of others touched."""

from __future__ import annotations

import gzip
import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import graphconv
from graphconv.errors import ConversionError
from graphconv.io import files
from graphconv.testing import interrupt_imports
from transducer import Transducer
from transducer.cli import main
from transducer.parsing import files as parsing
from transducer.parsing.inputs import text_lines

Memorized = Callable[[str], tuple[Path, Path]]


def parse(model: Path, *arguments: object, stdin: str | bytes | None = None) -> Result:
    words = ["parse", "--model", str(model), "--device", "cpu", *map(str, arguments)]
    result = CliRunner().invoke(main, words, input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def done(model: Path, *arguments: object, stdin: str | bytes | None = None) -> Result:
    result = parse(model, *arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result


def refused(message: str, model: Path, *arguments: object) -> Result:
    result = parse(model, *arguments)
    assert result.exit_code == 1, result.output
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    return result


def content(path: Path) -> dict[str, bytes]:
    found = path.iterdir() if path.is_dir() else [path]
    return {file.name if path.is_dir() else "": file.read_bytes() for file in found}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run parse and stop it in its eighth sentence, when six are written."""
    monkeypatch.setattr(parsing, "EVERY", 3)
    stream = Transducer.stream

    def run(model: Path, *arguments: object, by: type[BaseException] = KeyboardInterrupt) -> Result:
        def dying(*given: Any, **options: Any) -> Iterator[Any]:
            for place, parsed in enumerate(stream(*given, **options)):
                if place == 7:
                    raise by
                yield parsed

        with monkeypatch.context() as patch:
            patch.setattr(Transducer, "stream", dying)
            result = parse(model, *arguments)
        assert result.exit_code == 1, result.output
        return result

    return run


# Resuming ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out", "out.gz", "out.mrp", "out.tsv"])
def test_an_interrupted_parse_goes_on(
    name: str, memorized: Memorized, tmp_path: Path, stopped: Callable[..., Result]
) -> None:
    file, model = memorized("dm")
    (tmp_path / "whole").mkdir()
    whole, path = tmp_path / "whole" / name, tmp_path / name
    done(model, file, "-o", whole)
    result = stopped(model, file, "-o", path)
    assert "6 sentences of" in result.stderr
    assert not path.exists()
    journal = json.loads((tmp_path / f".{name}.unfinished.json").read_text())
    assert journal["documents"] == 6
    assert str(tmp_path) not in json.dumps(journal)
    done(model, file, "-o", path, "--resume")
    assert content(path) == content(whole)
    assert names(tmp_path) == sorted([name, "whole"])


@pytest.mark.parametrize("name", ["out", "out.xml"])
def test_interrupted_passages_go_on_and_repeated_ids_survive(
    name: str, memorized: Memorized, tmp_path: Path, stopped: Callable[..., Result]
) -> None:
    source, model = memorized("ucca")
    file = tmp_path / "same.mrp"
    graphconv.write((replace(graph, id="x") for graph in graphconv.read(source)), file)
    (tmp_path / "whole").mkdir()
    whole, path = tmp_path / "whole" / name, tmp_path / name
    done(model, file, "-o", whole)
    stopped(model, file, "-o", path)
    done(model, file, "-o", path, "--resume")
    assert content(path) == content(whole)
    assert names(tmp_path) == sorted([name, "same.mrp", "whole"])
    assert len(list(graphconv.read(path))) == 10
    if name == "out":
        assert names(path) == sorted(["x.xml", *(f"x-{i}.xml" for i in range(2, 11))])


def test_only_the_same_input_model_and_options_go_on(
    memorized: Memorized, tmp_path: Path, stopped: Callable[..., Result]
) -> None:
    file, model = memorized("dm")
    out = tmp_path / "out"
    stopped(model, file, "-o", out)
    left = content(tmp_path)
    other = tmp_path / "other.sdp"
    graphconv.write(list(graphconv.read(file))[:8], other)
    refused("the input is not the same", model, other, "-o", out, "--resume")
    for options in (("--beam", 2), ("--to", "mrp"), ("--input", "text"), ("--annotator", "auto")):
        message = "the options are not the same"
        if options != ("--annotator", "auto"):
            refused(message, model, file, "-o", out, "--resume", *options)
    changed = tmp_path / "model"
    changed.mkdir()
    for path in model.iterdir():
        if path.is_file():
            (changed / path.name).write_bytes(path.read_bytes())
    config = json.loads((changed / "config.json").read_text())
    config["config"]["decode"]["length_penalty"] = 0.5
    (changed / "config.json").write_text(json.dumps(config))
    refused("the model is not the same", changed, file, "-o", out, "--resume")
    assert {n: data for n, data in content_of_files(tmp_path).items() if n in left} == left


def content_of_files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"documents": -5}, "is not the journal of a parse"),
        ({"bytes": 10**20}, "is not the journal of a parse"),
        ({"bytes": 20_000_000_000}, "is gone or cut"),
        ({"sha256": "../victim"}, "is not the journal of a parse"),
        ({"unfinished": ["../victim"]}, "is not the journal of a parse"),
        ({"sha256": "0" * 64}, "has been changed"),
        ("{", "is not the journal of a parse"),
        ("[]", "is not the journal of a parse"),
    ],
)
def test_a_journal_that_is_wrong_is_refused(
    damage: Any,
    message: str,
    memorized: Memorized,
    tmp_path: Path,
    stopped: Callable[..., Result],
) -> None:
    file, model = memorized("dm")
    (tmp_path / "victim").write_text("precious")
    stopped(model, file, "-o", tmp_path / "out")
    journal = tmp_path / ".out.unfinished.json"
    if isinstance(damage, dict):
        journal.write_text(json.dumps(json.loads(journal.read_text()) | damage))
    else:
        journal.write_text(damage)
    refused(message, model, file, "-o", tmp_path / "out", "--resume")
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "victim").read_text() == "precious"


def test_a_part_that_is_gone_or_changed_is_refused(
    memorized: Memorized, tmp_path: Path, stopped: Callable[..., Result]
) -> None:
    file, model = memorized("dm")
    stopped(model, file, "-o", tmp_path / "out")
    part = tmp_path / ".out.unfinished"
    data = part.read_bytes()
    part.write_bytes(data[:-1])
    refused("is gone or cut", model, file, "-o", tmp_path / "out", "--resume")
    part.write_bytes(data.replace(b"#", b"%"))
    refused("has been changed", model, file, "-o", tmp_path / "out", "--resume")
    part.unlink()
    refused("is gone or cut", model, file, "-o", tmp_path / "out", "--resume")
    done(model, file, "-o", tmp_path / "out")
    assert names(tmp_path) == ["out"]


def test_lost_sentences_are_remembered(
    memorized: Memorized, tmp_path: Path, stopped: Callable[..., Result]
) -> None:
    _, model = memorized("dm")
    file = tmp_path / "in.txt"
    lines = ["a " * 1001, *("A dog barks ." for _ in range(9))]
    file.write_text("\n".join(lines), encoding="utf-8")
    stopped(model, file, "--input", "tokens", "-o", tmp_path / "out")
    result = parse(model, file, "--input", "tokens", "-o", tmp_path / "out", "--resume")
    assert result.exit_code == 1
    assert len(list(graphconv.read(tmp_path / "out", format="sdp"))) == 9


def test_what_cannot_be_resumed_is_refused(memorized: Memorized, tmp_path: Path) -> None:
    file, model = memorized("dm")
    refused("--resume needs -o", model, file, "--resume")
    out = ("-o", tmp_path / "out", "--resume")
    refused("--resume needs a file", model, *out)
    refused("--resume is for graphs", model, file, "--scores", *out)
    refused("--resume is for graphs", model, file, "--attention", tmp_path / "a", *out)
    done(model, file, *out)  # there is nothing to resume: it begins


# Private names and locks -------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["dm", "ucca"])
def test_files_of_others_are_left_alone(task: str, memorized: Memorized, tmp_path: Path) -> None:
    file, model = memorized(task)
    (tmp_path / "out.part").mkdir()
    (tmp_path / "out.part" / "chapter1.txt").write_text("my thesis")
    (tmp_path / "out.part.json").write_text('{"documents": 1, "bytes": 597453}')
    done(model, file, "-o", tmp_path / "out")
    done(model, file, "-o", tmp_path / "out", "--resume", "--overwrite")
    assert names(tmp_path) == ["out", "out.part", "out.part.json"]
    assert (tmp_path / "out.part" / "chapter1.txt").read_text() == "my thesis"


def test_an_obstacle_is_not_removed(memorized: Memorized, tmp_path: Path) -> None:
    file, model = memorized("dm")
    (tmp_path / ".out.unfinished").write_text("mine")
    refused("is in the way", model, file, "-o", tmp_path / "out")
    assert (tmp_path / ".out.unfinished").read_text() == "mine"


@pytest.mark.parametrize("task", ["dm", "ucca"])
def test_a_second_parse_of_one_output_is_refused(
    task: str, memorized: Memorized, tmp_path: Path
) -> None:
    file, model = memorized(task)
    with files.lock(str(tmp_path / "out")):
        refused("another process is writing it", model, file, "-o", tmp_path / "out")
        refused("another process is writing it", model, file, "-o", tmp_path / "out", "--scores")
    done(model, file, "-o", tmp_path / "out")
    assert names(tmp_path) == ["out"]


def test_a_full_disk_keeps_what_was_written(
    memorized: Memorized, tmp_path: Path, stopped: Callable[..., Result]
) -> None:
    file, model = memorized("dm")
    done(model, file, "-o", tmp_path / "whole")
    result = stopped(model, file, "-o", tmp_path / "out", by=OSError)
    assert "kept for --resume" in result.stderr
    done(model, file, "-o", tmp_path / "out", "--resume")
    assert content(tmp_path / "out") == content(tmp_path / "whole")


@pytest.mark.parametrize("task", ["dm", "ucca"])
def test_after_an_error_nothing_is_left(task: str, memorized: Memorized, tmp_path: Path) -> None:
    _, model = memorized(task)
    (tmp_path / "in.txt").write_bytes(b"A dog barks .\n\nA caf\xe9 opens .\n")
    refused("in.txt:3: byte 6 is 0xe9", model, tmp_path / "in.txt", "-o", tmp_path / "out")
    (tmp_path / "in.txt").write_bytes("A dog barks .".encode("utf-16"))
    kind = ("--input", "text")
    refused("UTF-16", model, tmp_path / "in.txt", *kind, "-o", tmp_path / "out")
    assert names(tmp_path) == ["in.txt"]


def test_a_file_keeps_its_mode(memorized: Memorized, tmp_path: Path) -> None:
    file, model = memorized("dm")
    out = tmp_path / "out"
    out.write_text("")
    out.chmod(0o600)
    done(model, file, "-o", out)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


# Folders of passages -----------------------------------------------------------------------------


def test_passages_of_an_earlier_run_are_refused_or_replaced(
    memorized: Memorized, tmp_path: Path
) -> None:
    file, model = memorized("ucca")
    out = tmp_path / "out"
    done(model, file, "-o", out)
    (out / "notes.txt").write_text("mine")
    few = tmp_path / "few.txt"
    few.write_text("A dog barks .\n")
    refused("holds passages of an earlier run", model, few, "--input", "tokens", "-o", out)
    done(model, few, "--input", "tokens", "-o", out, "--overwrite")
    assert names(out) == ["1.xml", "notes.txt"]


def test_passages_on_standard_output_can_be_read(memorized: Memorized, tmp_path: Path) -> None:
    file, model = memorized("ucca")
    (tmp_path / "all.xml").write_text(done(model, file).stdout)
    assert len(list(graphconv.read(tmp_path / "all.xml"))) == 10
    one = done(model, "--input", "tokens", stdin="A dog barks .\n").stdout
    assert one.startswith("<root")
    done(model, file, "-o", tmp_path / "out.xml.gz")
    assert (
        gzip.decompress((tmp_path / "out.xml.gz").read_bytes()).decode() == done(model, file).stdout
    )


# Formats and contradictions ----------------------------------------------------------------------


def test_the_name_of_the_output_says_the_format(memorized: Memorized, tmp_path: Path) -> None:
    file, model = memorized("dm")
    for name, start in (("x.mrp", '{"id"'), ("x.tsv", "#"), ("x.sdp", "#SDP"), ("x", "#SDP")):
        done(model, file, "-o", tmp_path / name)
        assert (tmp_path / name).read_text().startswith(start), name
    refused("x.mrp is the name of a mrp file", model, file, "--to", "sdp", "-o", tmp_path / "x.mrp")
    refused("x.amr is the name", model, file, "--to", "sdp", "-o", tmp_path / "x.amr")
    refused("the format amr cannot hold dm graphs", model, file, "-o", tmp_path / "x.amr")
    refused("x.sdp is the name", model, file, "--scores", "-o", tmp_path / "x.sdp")


def test_two_outputs_are_two_files(memorized: Memorized, tmp_path: Path) -> None:
    file, model = memorized("dm")
    out = tmp_path / "x"
    (tmp_path / "link").symlink_to(out)
    refused("are both", model, file, "-o", out, "--attention", out)
    refused("are both", model, file, "-o", out, "--attention", tmp_path / "link")
    refused("are both", model, file, "--attention", "-")
    refused("exclude each other", model, file, "--incremental", "--attention", out)
    refused("exclude each other", model, file, "--incremental", "--scores")
    assert not out.exists()
    done(model, file, "-o", out, "--attention", tmp_path / "y")
    assert len((tmp_path / "y").read_text().splitlines()) == 10


def test_a_graph_that_cannot_be_written_is_exit_1(
    memorized: Memorized, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, model = memorized("dm")
    formatter = parsing.formatter

    def picky(*arguments: Any, **options: Any) -> Callable[[graphconv.Graph], str]:
        write = formatter(*arguments, **options)

        def write_some(graph: graphconv.Graph) -> str:
            if len(seen := [*seen_ids, graph.id]) == 3:
                seen_ids[:] = seen
                raise ConversionError("it is too odd")
            seen_ids[:] = seen
            return write(graph)

        return write_some

    seen_ids: list[str] = []
    monkeypatch.setattr(parsing, "formatter", picky)
    for arguments in ((), ("-o", tmp_path / "out")):
        seen_ids.clear()
        refused("is not written: it is too odd", model, file, *arguments)
    assert len(list(graphconv.read(tmp_path / "out", format="sdp"))) == 9


# Input that is not a file, or not UTF-8 ----------------------------------------------------------


def test_encodings(memorized: Memorized, tmp_path: Path) -> None:
    _, model = memorized("dm")
    file = tmp_path / "in.txt"
    file.write_bytes("Ein Café öffnet .\n".encode("latin-1"))
    for kind in ("text", "sentences", "tokens"):
        refused("in.txt:1: byte 8 is 0xe9", model, file, "--input", kind)
        out = done(model, file, "--input", kind, "--encoding", "latin-1").stdout
        assert "\tCafé\t" in out
    refused("there is no encoding 'nonsense'", model, file, "--encoding", "nonsense")
    refused("there is no encoding 'rot13'", model, file, "--encoding", "rot13")
    refused("in.txt:1: not text in ascii", model, file, "--encoding", "ascii")
    sdp = memorized("dm")[0]
    refused("--encoding is for raw text", model, sdp, "--encoding", "latin-1")


def test_lines_in_other_encodings(tmp_path: Path) -> None:
    text = "erste Zeile\nzweite: Café\n" + "lang " * 40_000 + "\nEnde"
    for encoding in ("utf-16", "latin-1", "utf-32", "cp1252"):
        (tmp_path / "x").write_bytes(text.encode(encoding))
        assert "".join(text_lines(str(tmp_path / "x"), encoding)) == text
    (tmp_path / "x").write_bytes(b"\n" * 100_000 + b"\xff\n")
    with pytest.raises(graphconv.FormatError, match=r"x:100001: not text in ascii"):
        list(text_lines(str(tmp_path / "x"), "ascii"))


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
@pytest.mark.parametrize("kind", ["text", "treebank"])
def test_pipes(kind: str, memorized: Memorized, tmp_path: Path) -> None:
    file, model = memorized("dm")
    data = b"A dog barks.\n" if kind == "text" else file.read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,), daemon=True)
    writer.start()
    out = done(model, pipe, "-o", tmp_path / "out")
    writer.join(5)
    assert not writer.is_alive(), out.output
    expected = 1 if kind == "text" else 10
    assert len(list(graphconv.read(tmp_path / "out", format="sdp"))) == expected
    assert names(tmp_path) == ["out", "pipe"]


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="/dev/stdin")
def test_dev_stdin(memorized: Memorized) -> None:
    _, model = memorized("dm")
    command = [sys.executable, "-m", "transducer", "parse", "--model", str(model), "/dev/stdin"]
    result = subprocess.run(command, input=b"A dog barks.\n", capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count(b"\tdog\t") == 1


def test_graphs_of_another_framework_are_sentences(memorized: Memorized, tmp_path: Path) -> None:
    dm, _ = memorized("dm")
    _, model = memorized("ucca")
    graphs = list(graphconv.read(dm))
    graphconv.write(graphs, tmp_path / "dm.mrp")
    done(model, tmp_path / "dm.mrp", "-o", tmp_path / "a")
    assert len(names(tmp_path / "a")) == 10
    both = [replace(graph, framework=name) for graph in graphs for name in ("dm", "psd")]
    graphconv.write(both, tmp_path / "both.mrp")  # each sentence once
    done(model, tmp_path / "both.mrp", "-o", tmp_path / "b")
    assert content(tmp_path / "a") == content(tmp_path / "b")


# Ctrl-C ------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_during_imports_is_silent() -> None:
    interrupt_imports("transducer.cli")
