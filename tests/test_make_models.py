"""tools/make_models.py: every step can be taken, once, after those that it starts from."""

from __future__ import annotations

import itertools
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from transducer.cli import main
from transducer.training import runs

TOOLS = Path(__file__).parents[1] / "tools"
TASKS = ("amr", "dm", "ucca")


def call(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOLS / "make_models.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def commands(task: str, folder: Path) -> list[list[str]]:
    places = ("--runs", folder / "runs", "--corpora", folder / "real treebanks")
    return [shlex.split(line) for line in call(task, "--commands", *places).stdout.splitlines()]


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(TOOLS))
    return runpy.run_path(str(TOOLS / "make_models.py"))["make"]


def test_a_step_that_says_what_its_kind_does_not_know_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    read_steps = runpy.run_path(str(TOOLS / "make_models.py"))["read_steps"]
    path = tmp_path / "models.toml"
    for wrong in ('average = ["a"]\nrecipe = "tiny"', 'train = "dm"\nfrm = "x"', 'recipe = "tiny"'):
        path.write_text(f"[step.x]\n{wrong}\n")
        with pytest.raises(SystemExit, match="the step x has "):
            read_steps(path)


@pytest.mark.parametrize("task", TASKS)
def test_steps_come_after_those_that_they_need(task: str, tmp_path: Path) -> None:
    inside = f"{tmp_path / 'runs'}/"
    made: list[str] = []
    for *arguments, output in commands(task, tmp_path):
        named = {argument.rpartition("=")[2].removesuffix("/last") for argument in arguments}
        assert {name for name in named if name.startswith(inside)} <= set(made)
        made.append(output)
    assert made[-1] == f"{inside}{task}"
    assert len(made) == len(set(made)) > 2


@pytest.mark.parametrize("task", TASKS)
def test_trainings_have_settings_that_exist(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(runs, "train", lambda run, **_: seen.append(run.config.task))
    trainings = [command[3:] for command in commands(task, tmp_path) if "train" in command]
    for command in trainings:
        for option, file in itertools.pairwise(command):
            if option in {"--train", "--dev"}:
                Path(file).parent.mkdir(parents=True, exist_ok=True)
                Path(file).touch()
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 0, result.output
    assert len(seen) == len(trainings)
    assert task in seen


def test_a_step_is_taken_once_but_again_if_it_failed(make: Any, tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    step = tmp_path / "step.py"
    step.write_text(
        "import sys\nfrom pathlib import Path\ntries = Path(sys.argv[1])\n"
        "tries.write_text('x' + (tries.read_text() if tries.exists() else ''))\n"
        "sys.exit(tries.read_text() == 'x')\n"
    )
    command = [sys.executable, str(step), str(tries)]
    with pytest.raises(SystemExit):
        make(tmp_path / "model", command)
    for _ in range(3):
        make(tmp_path / "model", command)
    assert tries.read_text() == "xx"


def test_an_interrupted_training_is_resumed(
    make: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model" / "last").mkdir(parents=True)
    with pytest.raises(SystemExit):  # there is nothing in it
        make(tmp_path / "model", ["never"])
    assert "train --resume" in capfd.readouterr().err


def test_missing_treebanks_are_told(tmp_path: Path) -> None:
    result = call("dm", "--corpora", tmp_path / "none")
    assert result.returncode == 1
    assert result.stderr.startswith(f"Error: {tmp_path / 'none'} is no folder")
    assert result.stderr.count("\n") == 1
