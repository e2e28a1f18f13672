"""tools/make_models.py: every step can be taken, once, after those that it starts from."""

from __future__ import annotations

import itertools
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from transducer.cli import main
from transducer.training import joint, runs

TOOLS = Path(__file__).parents[1] / "tools"
TASKS = ("amr", "dm", "ucca")


def call(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOLS / "make_models.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class Step(NamedTuple):
    words: list[str]
    given: str


def commands(task: str, folder: Path) -> list[Step]:
    places = ("--runs", folder / "runs", "--corpora", folder / "real treebanks")
    lines = iter(call(task, "--commands", *places).stdout.splitlines(keepends=True))
    steps = []
    for line in lines:
        words = shlex.split(line)
        given = ""
        if words[-1] == "<<END":
            given = "".join(itertools.takewhile(lambda each: each != "END\n", lines))
            del words[-1]
        steps.append(Step(words, given))
    return steps


def files_of(plan: str) -> set[str]:
    """Return what a plan names in quotes, without the settings before it."""
    return {word for word in plan.split('"') if "/" in word}


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(TOOLS))
    return SimpleNamespace(**runpy.run_path(str(TOOLS / "make_models.py")))


def test_a_step_that_says_what_its_kind_does_not_know_is_refused(make: Any, tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    joint = 'updates = 1\n[step.x.joint.dm]\nfrm = "x"'
    several = 'average = ["a"]\nrecipe = "tiny"'
    for wrong in (several, 'train = "dm"\nfrm = "x"', 'recipe = "tiny"', joint):
        path.write_text(f"[step.x]\n{wrong}\n")
        with pytest.raises(SystemExit, match="the step x has "):
            make.read_steps(path)


@pytest.mark.parametrize("task", TASKS)
def test_steps_come_after_those_that_they_need(task: str, tmp_path: Path) -> None:
    inside = f"{tmp_path / 'runs'}/"
    made: list[str] = []
    for (*arguments, output), given in commands(task, tmp_path):
        named = {argument.rpartition("=")[2].removesuffix("/last") for argument in arguments}
        named = {name for name in named | files_of(given) if name.startswith(inside)}
        assert {inside + name.removeprefix(inside).partition("/")[0] for name in named} <= set(made)
        made.append(output)
    assert made[-1] == f"{inside}{task}"
    assert len(made) == len(set(made)) > 2


@pytest.mark.parametrize("task", TASKS)
def test_trainings_have_settings_that_exist(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(runs, "train", lambda run, **_: seen.append(run.config.task))
    monkeypatch.setattr(
        joint, "train_together", lambda runs, *_, **__: seen.extend(r.config.task for r in runs)
    )
    trainings = [step for step in commands(task, tmp_path) if {"train", "joint"} & {*step.words}]
    for words, given in trainings:
        trained = {
            file for option, file in itertools.pairwise(words) if option in ("--train", "--dev")
        }
        for file in trained | files_of(given):
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            Path(file).touch()
        result = CliRunner().invoke(main, words[3:], input=given)
        assert result.exit_code == 0, result.output
    assert len(seen) >= len(trainings)
    assert task in seen


def test_a_step_is_taken_once_but_again_if_it_failed(make: Any, tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    step = tmp_path / "step.py"
    step.write_text(
        "import sys\nfrom pathlib import Path\ntries = Path(sys.argv[1])\n"
        "tries.write_text('x' + (tries.read_text() if tries.exists() else ''))\n"
        "sys.exit(tries.read_text() == 'x')\n"
    )
    words = [sys.executable, str(step), str(tries)]
    with pytest.raises(SystemExit):
        make.make(tmp_path / "model", make.Command(words))
    for _ in range(3):
        make.make(tmp_path / "model", make.Command(words))
    assert tries.read_text() == "xx"


def test_an_interrupted_training_is_resumed(
    make: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model" / "last").mkdir(parents=True)
    with pytest.raises(SystemExit):  # there is nothing in it
        make.make(tmp_path / "model", make.Command(["never"]))
    assert "train --resume" in capfd.readouterr().err
    (tmp_path / "several" / "dm" / "last").mkdir(parents=True)
    with pytest.raises(SystemExit):
        make.make(tmp_path / "several", make.Command(["never"]))
    assert "joint --resume" in capfd.readouterr().err


def test_missing_treebanks_are_told(tmp_path: Path) -> None:
    result = call("dm", "--corpora", tmp_path / "none")
    assert result.returncode == 1
    assert result.stderr.startswith(f"Error: {tmp_path / 'none'} is no folder")
    assert result.stderr.count("\n") == 1
