"""parse on an engine: the shards of an input, joined, are what one machine writes for it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from transducer.cli import main
from transducer.frameworks.tasks import LONGEST

Memorized = Callable[[str], tuple[Path, Path]]
LONG = "so " * (LONGEST + 1)
WINDOW = 4


@pytest.fixture(autouse=True)
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batch few sentences, so that few are enough for several shards."""
    monkeypatch.setattr("transducer.parsing.parser.WINDOW", WINDOW)


def parse(model: Path, *arguments: object) -> Result:
    words = ["parse", "--model", str(model), "--device", "cpu", "--beam", "1"]
    return CliRunner().invoke(main, [*words, *map(str, arguments)])


def on_engine(model: Path, output: Path, *arguments: object) -> Result:
    return parse(model, *arguments, "--engine", "local", "--shard", WINDOW, "-o", output)


def joined(folder: Path, index: int = 0) -> bytes:
    return b"".join(p.read_bytes() for p in sorted(folder.glob(f"part-{index:06}-*")))


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


@pytest.mark.parametrize("to", ["own", "mrp"])
@pytest.mark.parametrize("task", ["amr", "dm", "ucca"])
def test_shards_joined_are_what_one_machine_writes(
    task: str, to: str, memorized: Memorized, tmp_path: Path
) -> None:
    _, model = memorized(task)
    text, other = tmp_path / "a.txt", tmp_path / "b.txt"
    # A passage is never too long: it is cut.
    lost = [] if task == "ucca" else [LONG]
    text.write_text("\n".join(["go home"] * WINDOW + lost + ["the boy\n"]))
    other.write_text("they go\n")
    inputs = (text, other)
    options = ("--input", "sentences", *(("--to", "mrp") if to == "mrp" else ()))
    suffix = {"own": {"amr": ".amr", "dm": ".sdp", "ucca": ".xml"}[task], "mrp": ".mrp"}[to]
    ended = on_engine(model, tmp_path / "out", *inputs, *options)
    problems = []
    for index, path in enumerate(inputs):
        one = tmp_path / f"one{index}{suffix}"
        alone = parse(model, path, *options, "-o", one)
        problems += [line for line in alone.stderr.splitlines() if "is not parsed" in line]
        assert joined(tmp_path / "out", index) == one.read_bytes()
    assert ended.exit_code == len(problems) == len(lost)
    assert all(problem in ended.stderr for problem in problems)
    found = manifest(tmp_path / "out")
    assert found["complete"]
    assert found["totals"]["lost"] == len(lost)
    assert len([shard for shard in found["shards"] if shard["input"] == 0]) == 2


def test_a_first_shard_without_a_graph_leaves_the_head_to_the_second(
    memorized: Memorized, tmp_path: Path
) -> None:
    _, model = memorized("dm")
    text = tmp_path / "a.txt"
    text.write_text("\N{ZERO WIDTH SPACE}x\n" + f"{LONG}\n" * WINDOW + "go\n")
    on_engine(model, tmp_path / "out", text, "--input", "tokens")
    parse(model, text, "--input", "tokens", "-o", tmp_path / "one.sdp")
    assert joined(tmp_path / "out") == (tmp_path / "one.sdp").read_bytes()


def test_packed_inputs_and_shards_and_a_restart(memorized: Memorized, tmp_path: Path) -> None:
    _, model = memorized("dm")
    source = tmp_path / "a.txt.gz"
    source.write_bytes(gzip.compress(b"go\n" * 3))
    assert on_engine(model, tmp_path / "out", source, "--pack").exit_code == 0
    again = on_engine(model, tmp_path / "out", source, "--pack")
    assert "1 of them from an earlier run" in again.stderr
    assert parse(model, source, "-o", tmp_path / "one.sdp").exit_code == 0
    assert gzip.decompress(joined(tmp_path / "out")) == (tmp_path / "one.sdp").read_bytes()


def test_another_model_and_other_options_are_refused(memorized: Memorized, tmp_path: Path) -> None:
    _, model = memorized("dm")
    _, other = memorized("ucca")
    source = tmp_path / "a.txt"
    source.write_text("go\n")
    assert on_engine(model, tmp_path / "out", source, "--to", "mrp").exit_code == 0
    refused = on_engine(other, tmp_path / "out", source, "--to", "mrp")
    assert refused.exit_code == 1
    assert "the model of that run is not the same" in refused.stderr
    refused = on_engine(model, tmp_path / "out", source, "--to", "mrp", "--beam", "2")
    assert refused.exit_code == 1
    assert "the options of that run are not the same" in refused.stderr


def test_text_that_cannot_be_read_leaves_the_other_files_alone(
    memorized: Memorized, tmp_path: Path
) -> None:
    _, model = memorized("dm")
    (tmp_path / "1.txt").write_bytes(b"caf\xe9\n")
    (tmp_path / "2.txt").write_text("go\n")
    ended = on_engine(model, tmp_path / "out", tmp_path / "*.txt")
    assert ended.exit_code == 1
    assert "1.txt:1: byte 4 is 0xe9, which is not UTF-8" in ended.stderr
    [failure] = manifest(tmp_path / "out")["failures"]
    assert "not UTF-8" in failure["why"]
    assert manifest(tmp_path / "out")["totals"]["graphs"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--scores",), "--scores does not go with --engine"),
        (("--resume",), "--resume does not go with --engine"),
        (("--to", "json"), "--to json does not go with --engine"),
        (("--task", "dm"), "one --model DIR or --task T"),
        (("--shard", "7"), "a multiple of 4"),
    ],
)
def test_contradictions(
    options: tuple[str, ...], message: str, memorized: Memorized, tmp_path: Path
) -> None:
    gold, model = memorized("dm")
    where = ("--engine", "local", "-o", tmp_path / "out")
    ended = parse(model, gold, *where, *options)
    assert ended.exit_code == 2
    assert message in ended.stderr
    assert not (tmp_path / "out").exists()


def test_several_files_need_an_engine(memorized: Memorized) -> None:
    gold, model = memorized("dm")
    ended = parse(model, gold, gold)
    assert ended.exit_code == 2
    assert "2 files are parsed together with --engine" in ended.stderr
