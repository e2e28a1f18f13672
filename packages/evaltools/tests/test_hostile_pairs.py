"""Pairs that cannot be made, pipes, wrong options: an error that names file and graph."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from evaltools import smatch
from evaltools.cli import main
from evaltools.smatch import program
from graphconv.graph import Edge, Graph, Node

WITH_IDS = "# ::id 1\n(a / apple)\n\n# ::id 2\n(b / boy)\n"
NO_IDS = "(a / apple)\n\n(b / boy)\n"
FIRST_HAS_NONE = "(b / boy)\n\n# ::id 1\n(a / apple)\n"
LAST_HAS_NONE = "# ::id 1\n(a / apple)\n\n(b / boy)\n"


def invoke(*arguments: object, text: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=text)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def files(tmp_path: Path) -> Path:
    texts = {
        "ids": WITH_IDS,
        "none": NO_IDS,
        "first": FIRST_HAS_NONE,
        "last": LAST_HAS_NONE,
        "broken-first": "(a / apple :ARG0)\n\n(b / boy)\n",
        "broken-last": "(a / apple)\n\n(b / boy :ARG0)\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.amr").write_text(text)
    return tmp_path


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("gold", "pred", "blamed"),
    [
        ("first", "ids", "first.amr: graph 1 has an id, but others have none"),
        ("ids", "first", "first.amr: graph 1 has an id, but others have none"),
        ("last", "ids", "last.amr: graph #2 has no id, but others have one"),
        ("ids", "last", "last.amr: graph #2 has no id, but others have one"),
        ("none", "last", "last.amr: graph #2 has no id, but others have one"),
        ("last", "none", "last.amr: graph #2 has no id, but others have one"),
    ],
)
def test_a_file_has_ids_or_none(
    files: Path, jobs: int, *, gold: str, pred: str, blamed: str
) -> None:
    arguments = (files / f"{gold}.amr", files / f"{pred}.amr", "--jobs", jobs)
    code, out, said = invoke("score", *arguments)
    assert (code, out) == (1, "")
    assert blamed in said


@pytest.mark.parametrize("pred", ["ids", "none"])
@pytest.mark.parametrize("gold", ["ids", "none"])
def test_all_ids_or_none_are_scored(files: Path, gold: str, pred: str) -> None:
    code, out, _ = invoke("score", files / f"{gold}.amr", files / f"{pred}.amr")
    assert code == 0
    assert "100.00" in out


@pytest.mark.parametrize("pred", ["broken-first", "broken-last"])
def test_which_prediction_is_broken_does_not_matter(files: Path, pred: str) -> None:
    arguments = (files / "ids.amr", files / f"{pred}.amr")
    code, out, said = invoke("score", "--skip-invalid", *arguments)
    assert code == 0
    assert "66.67" in out
    assert "1 broken predictions count as empty" in said
    code, _, said = invoke("score", *arguments)
    assert code == 1
    assert f"{pred}.amr:" in said


@pytest.mark.parametrize("command", ["validity", "score"])
@pytest.mark.parametrize("framework", ["dm", "nonsense"])
def test_another_framework(files: Path, command: str, framework: str) -> None:
    paths = [files / "ids.amr"] * (2 if command == "score" else 1)
    code, out, said = invoke(command, "--framework", framework, *paths)
    assert code == (1 if framework == "dm" else 2)
    assert not out
    assert framework in said


@pytest.mark.parametrize("command", ["score", "compare"])
def test_a_negative_seed_is_wrong_usage(files: Path, command: str) -> None:
    paths = [files / "ids.amr"] * (3 if command == "compare" else 2)
    assert invoke(command, "--seed", "-3", *paths)[0] == 2


def test_standard_input_has_its_name_in_messages() -> None:
    code, _, said = invoke("validity", "-", text="(a / b\n")
    assert code == 1
    assert "<stdin>:1:" in said


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
@pytest.mark.parametrize("command", ["score", "diff", "compare"])
def test_pipes_are_read_once_and_hashed(files: Path, command: str) -> None:
    pipe = files / "pipe"
    os.mkfifo(pipe)
    others = [str(files / "ids.amr")] * (2 if command == "compare" else 1)
    line = [sys.executable, "-c", "from evaltools.cli import main; main()", command]
    with subprocess.Popen(
        [*line, str(pipe), *others], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        pipe.write_text(WITH_IDS)
        out, said = run.communicate(timeout=60)
    assert (run.returncode, said) == (0, "")
    if command == "score":
        digest = hashlib.sha256(WITH_IDS.encode()).hexdigest()[:12]
        assert f"gold:{digest}|pred:{digest}" in out


def test_a_time_limit_bounds_time_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = tuple(Node(str(i), "x") for i in range(200))
    edges = tuple(Edge(str(i), str(i + 1), "ARG1") for i in range(199))
    chain = Graph("1", "amr", (), nodes, edges, ("0",))
    # The program of so many partnerships would take far more than the limit: it is not made.
    monkeypatch.setattr(program, "_model", None)
    start = time.process_time()
    scores = smatch.pair_counts(chain, chain, time_limit=0.2)
    assert time.process_time() - start < 5
    assert scores.smatch.match <= scores.bound <= scores.smatch.gold
