"""Two processes work as one: the same updates, the same output, and a clear end if one is lost."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from processes import transducer_in_two
from safetensors.torch import load_file

from transducer.cli import main
from transducer.config import recipes
from transducer.storage import checkpoint

SIZES = {
    "word_size": 8, "pos_size": 4, "char_size": 4, "char_embedding": 4, "index_size": 4,
    "relation_size": 4, "encoder_size": 8, "decoder_size": 16, "attention_size": 8,
    "biaffine_size": 8, "bilinear_size": 8, "dropout": 0.0,
}  # fmt: skip

# Kills the second process in the second epoch, when the first epoch's checkpoint is there.
LOSE_ONE = """
import os, signal, sys
from transducer.cli import main
from transducer.config import recipes
from transducer.training.trainer import Trainer

update = Trainer._update

def dying_update(self, group):
    if self.state.epoch == 1 and self.group.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return update(self, group)

Trainer._update = dying_update
main(sys.argv[1:], prog_name="transducer")
"""


def launch(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run two processes by torchrun."""
    runner = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
    return subprocess.run(
        [*runner, *map(str, arguments)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def alone(*arguments: object) -> str:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def training(file: Path, folder: Path, batch_size: int, epochs: int = 2) -> list[object]:
    settings: dict[str, object] = {f"model.{name}": size for name, size in SIZES.items()}
    settings |= {
        "train.batch_size": batch_size,
        "train.epochs": epochs,
        "train.word_dropout": 0,
        "train.feature_dropout": 0,
    }
    settings |= {"train.schedule": "constant", "train.evaluate_from": 1, "train.evaluate_every": 1}
    given = [x for name, value in settings.items() for x in ("--set", f"{name}={value}")]
    files = ("--train", file, "--dev", file, "-o", folder)
    return ["train", "--task", "dm", "--device", "cpu", *files, *given]


def losses(folder: Path) -> list[dict[str, float]]:
    with (folder / "log.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    names = ("updates", "loss", "node", "source", "relation", "dev_score")
    return [{name: float(line[name]) for name in names} for line in lines]


def test_two_processes_are_one_with_the_doubled_batch(
    ten: Callable[[str], Path], tmp_path: Path
) -> None:
    file = ten("dm")
    done = launch("-m", "transducer", *training(file, tmp_path / "two", 2))
    assert done.returncode == 0, done.stderr
    alone(*training(file, tmp_path / "one", 4))
    one, two = losses(tmp_path / "one"), losses(tmp_path / "two")
    assert len(one) == len(two) == 2
    for left, right in zip(one, two, strict=True):
        assert left == pytest.approx(right, rel=1e-4)
    weights = [load_file(tmp_path / name / checkpoint.WEIGHTS) for name in ("one", "two")]
    off = torch.cat([(weights[0][name] - weights[1][name]).flatten().abs() for name in weights[0]])
    # Adam makes a whole step of a gradient that is nothing but rounding: so not quite all.
    assert float((off > 1e-5).float().mean()) < 0.01
    assert done.stderr.count("epoch 1:") == 1  # the first process alone prints
    assert done.stdout == ""


def test_two_processes_parse_like_one(
    memorized: Callable[[str], tuple[Path, Path]], tmp_path: Path
) -> None:
    file, model = memorized("dm")
    options = ["--model", model, file, "--batch-tokens", 40, "--device", "cpu"]
    done = launch("-m", "transducer", "parse", *options, "-o", tmp_path / "two.sdp")
    assert done.returncode == 0, done.stderr
    alone("parse", *options, "-o", tmp_path / "one.sdp")
    assert (tmp_path / "two.sdp").read_bytes() == (tmp_path / "one.sdp").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.sdp", "two.sdp"]


def test_standard_input_cannot_be_shared(memorized: Callable[[str], tuple[Path, Path]]) -> None:
    from dataclasses import replace

    from transducer import Transducer
    from transducer.distributed import Group
    from transducer.errors import TransducerError
    from transducer.parsing.files import parse_file
    from transducer.parsing.request import Request

    parser = Transducer.load(memorized("dm")[1], "cpu")
    parser.group = Group(0, 2)
    request = Request("text", "sdp", replace(parser.task.config.decode))
    with pytest.raises(TransducerError, match="name a file"):
        parse_file(parser, "-", "-", request)


@pytest.mark.slow
def test_a_lost_process_ends_the_run_and_it_resumes(
    ten: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    script = tmp_path / "lose_one.py"
    script.write_text(LOSE_ONE, encoding="utf-8")
    done = launch(script, *training(ten("dm"), folder, 2, epochs=3))
    assert done.returncode != 0
    assert f"transducer train --resume {folder} continues from the last checkpoint" in done.stderr
    assert "process 0 of 2 lost contact" in done.stderr
    output = alone("train", "--resume", folder)
    assert "epoch 1:" not in output
    assert "epoch 3:" in output
    assert len(losses(folder)) == 3


QUICK = ("large", "paper-ucca", "tiny")
"""The recipes of the default run: a tuned encoder, the paper's frozen one, the sample's."""


@pytest.mark.parametrize(
    "recipe",
    [pytest.param(r, marks=[] if r in QUICK else pytest.mark.slow) for r in recipes()],
)
def test_every_recipe_survives_a_killed_process(
    recipe: str, ten: Callable[[str], Path], tiny_mpnet: Path, tmp_path: Path
) -> None:
    """Two processes train, one is killed, two resume: bit by bit what an untroubled run gives.

    Weights that get no gradient in a recipe would stop the second update.
    """
    task = "amr" if "amr" in recipe or "silver" in recipe else "ucca" if "ucca" in recipe else "dm"
    sizes = {**SIZES, "dropout": 0.2, "contextual": tiny_mpnet, "contextual_depth": 0}
    settings: dict[str, object] = {f"model.{name}": value for name, value in sizes.items()}
    settings |= {"train.batch_size": 3, "train.batch_tokens": 0, "train.epochs": 2}
    settings |= {"train.updates": 0, "train.minutes": 0, "train.annotator": "none"}
    settings |= {"train.contextual_from": "", "train.start_from": ""}
    given = [x for name, value in settings.items() for x in ("--set", f"{name}={value}")]
    command = ["train", "--recipe", recipe, "--task", task, "--train", ten(task), *given]
    command += ["--device", "cpu", "-o"]
    whole, lost = tmp_path / "whole", tmp_path / "lost"
    codes, said = transducer_in_two([*command, whole])
    assert codes == [0, 0], said
    codes, said = transducer_in_two([*command, lost], dies_in_epoch=1)
    assert codes == [1, -signal.SIGKILL], said
    assert f"transducer train --resume {lost} continues from the last checkpoint" in said
    codes, said = transducer_in_two(["train", "--resume", lost])
    assert codes == [0, 0], said
    first, second = (checkpoint.load_last(folder)["weights"] for folder in (whole, lost))
    assert first.keys() == second.keys()
    assert [name for name in first if not torch.equal(first[name], second[name])] == []
    assert str(losses(whole)) == str(losses(lost))  # without a dev section a score is nan
