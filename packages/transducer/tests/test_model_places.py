"""Training, averaging, exporting: no model and no file of others is lost, nothing half-written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner, Result
from safetensors import SafetensorError

import graphconv
from graphconv.io import files
from transducer.cli import main
from transducer.errors import ModelError
from transducer.storage import checkpoint, compact
from transducer.training import trainer

Memorized = Callable[[str], tuple[Path, Path]]
SMALL = [
    word
    for setting in (
        "train.epochs=1", "model.word_size=8", "model.char_size=8", "model.encoder_size=16",
        "model.decoder_size=32", "model.link_size=8", "model.attention_size=8",
    )
    for word in ("--set", setting)
]  # fmt: skip
SMALL += ["--recipe", "tiny", "--device", "cpu"]


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def refused(message: str, *arguments: object) -> None:
    result = run(*arguments)
    assert result.exit_code == 1, result.output
    assert message in result.stderr


def train(file: Path, folder: Path, *more: object) -> list[object]:
    return [
        "train",
        "--task",
        "dm",
        "--train",
        file,
        *SMALL,
        "--device",
        "cpu",
        "-o",
        folder,
        *more,
    ]


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A file of three sentences, and a model of one epoch."""
    folder = tmp_path_factory.mktemp("trained")
    lines = ["#SDP 2015"]
    for number, (subject, verb) in enumerate((("Dogs", "bark"), ("Cats", "sing"), ("We", "go"))):
        lines += [f"#{number + 1}", f"1\t{subject}\t{subject}\tNN\t-\t-\tn\tARG1"]
        lines += [f"2\t{verb}\t{verb}\tVB\t+\t+\tv\t_", ""]
    file = folder / "three.sdp"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert run(*train(file, folder / "model")).exit_code == 0
    return file, folder / "model"


# Other models, and files of others ---------------------------------------------------------------


def test_a_model_is_replaced_only_if_the_user_says_so(
    trained: tuple[Path, Path], tmp_path: Path
) -> None:
    file, model = trained
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    (folder / "notes.txt").write_text("mine")
    before = content(folder)
    for command in (
        train(file, folder, "--seed", 7),
        ["average", model, model / "last", "-o", folder],
        ["export", model, "-o", folder],
    ):
        refused("holds a model: --overwrite replaces it", *command)
        assert content(folder) == before
    assert run("export", model, "-o", folder, "--overwrite").exit_code == 0
    assert sorted(content(folder)) == [
        "config.json", "model.safetensors", "notes.txt", "score.json", "vocabularies.json.gz",
    ]  # fmt: skip
    assert run(*train(file, folder, "--overwrite")).exit_code == 0
    assert "vocabularies.json" in content(folder)
    assert "vocabularies.json.gz" not in content(folder)
    assert (folder / "notes.txt").read_text() == "mine"
    assert run("average", model, model / "last", "-o", folder, "--overwrite").exit_code == 0
    assert "last/state.pt" not in content(folder)
    refused("is the model itself", "export", model, "-o", model, "--overwrite")


def test_files_of_others_are_refused(trained: tuple[Path, Path], tmp_path: Path) -> None:
    file, model = trained
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "config.json").write_text('{"my": "settings"}')
    for command in (
        train(file, mine),
        ["export", model, "-o", mine],
        ["average", model, "-o", mine],
    ):
        refused("is not empty, it holds config.json", *command)
    refused("is a file, where a folder", *train(file, mine / "config.json"))
    assert content(mine) == {"config.json": b'{"my": "settings"}'}
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_bad_data_leaves_the_model_that_was_there(
    trained: tuple[Path, Path], tmp_path: Path
) -> None:
    _, model = trained
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    before = content(folder)
    (tmp_path / "bad.sdp").write_text("#SDP 2015\n#1\n1\tbad\n\n")
    refused("bad.sdp:3", *train(tmp_path / "bad.sdp", folder, "--overwrite"))
    assert content(folder) == before
    refused("bad.sdp:3", *train(tmp_path / "bad.sdp", tmp_path / "new"))
    assert not (tmp_path / "new").exists()


def test_a_second_training_in_one_folder_is_refused(
    trained: tuple[Path, Path], tmp_path: Path
) -> None:
    file, model = trained
    with files.lock(str(tmp_path / "same")):
        refused("another process is writing it", *train(file, tmp_path / "same"))
        refused("another process is writing it", "export", model, "-o", tmp_path / "same")
    assert not list(tmp_path.iterdir())
    with files.lock(str(model)):
        refused("another process is writing it", "train", "--resume", model)


def test_an_unfinished_training_is_named_as_such(
    trained: tuple[Path, Path], tmp_path: Path
) -> None:
    file, model = trained
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    (folder / checkpoint.WEIGHTS).unlink()
    refused("--resume continues it", *train(file, folder))


# Data --------------------------------------------------------------------------------------------


def test_resuming_needs_the_same_data(trained: tuple[Path, Path], tmp_path: Path) -> None:
    source, _ = trained
    file = tmp_path / "data.sdp"
    shutil.copy(source, file)
    assert run(*train(file, tmp_path / "model")).exit_code == 0
    more = ("train", "--resume", tmp_path / "model", "--set", "train.epochs=2")
    file.write_text(source.read_text().replace("bark", "yodel"))
    refused("data.sdp has changed since the training", *more)
    file.unlink()
    refused("data.sdp", *more)
    shutil.copy(source, file)
    assert run(*more).exit_code == 0


@pytest.mark.parametrize("task", ["amr", "ucca"])
def test_data_of_another_framework_are_refused(
    task: str, trained: tuple[Path, Path], tmp_path: Path
) -> None:
    file, _ = trained
    folder = tmp_path / "model"
    refused("three.sdp", "train", "--task", task, "--train", file, *SMALL, "-o", folder)
    graphconv.write(graphconv.read(file), tmp_path / "dm.mrp")
    refused("dm.mrp", "train", "--task", task, "--train", tmp_path / "dm.mrp", *SMALL, "-o", folder)
    assert not folder.exists()


def test_models_of_two_frameworks_have_no_mean(trained: tuple[Path, Path], tmp_path: Path) -> None:
    _, model = trained
    other = tmp_path / "pas"
    shutil.copytree(model, other)
    setup = json.loads((other / "config.json").read_text())
    setup["config"]["task"] = "pas"
    (other / "config.json").write_text(json.dumps(setup))
    refused("is a model for pas, and", "average", model, other, "-o", tmp_path / "mean")


def test_a_record_that_lacks_something_is_refused(
    trained: tuple[Path, Path], tmp_path: Path
) -> None:
    _, model = trained
    other = tmp_path / "other"
    shutil.copytree(model, other)
    (other / "run.json").write_text("{}")
    refused("run.json is damaged: config is missing", "average", other, model, "-o", tmp_path / "m")
    refused("run.json is damaged: config is missing", "train", "--resume", other)
    (other / "score.json").write_text("[]")
    refused("score.json is damaged", "average", other, model, "-o", tmp_path / "m")
    refused("score.json is damaged", "export", other, "-o", tmp_path / "m")
    assert not (tmp_path / "m").exists()


# Disks and numbers -------------------------------------------------------------------------------


def full_disk(*_: Any, **__: Any) -> None:
    raise SafetensorError("Error while serializing: I/O error: No space left on device")


def full_disk_of_torch(_: Any, path: Path) -> None:
    path.write_bytes(b"half")
    raise RuntimeError("PytorchStreamWriter failed writing file data/0\nmore\nlines")


def test_a_full_disk_is_one_sentence_and_leaves_nothing(
    trained: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, model = trained
    monkeypatch.setattr(checkpoint, "save_file", full_disk)
    monkeypatch.setattr(compact, "save_file", full_disk)
    refused("model.safetensors cannot be written", *train(file, tmp_path / "a"))
    refused("model.safetensors cannot be written", "average", model, "-o", tmp_path / "b")
    refused("model.safetensors cannot be written", "export", model, "-o", tmp_path / "c")
    monkeypatch.undo()
    monkeypatch.setattr(torch, "save", full_disk_of_torch)
    refused("state.pt cannot be written: PytorchStream", *train(file, tmp_path / "d"))
    assert not list(tmp_path.iterdir())


def test_weights_that_are_no_numbers_are_never_written(
    trained: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, _ = trained
    weights = {"x": torch.tensor([1.0, float("nan")])}
    with pytest.raises(ModelError, match="is not written: x has a weight that is not a number"):
        checkpoint.save_weights(tmp_path / "w", weights)
    with pytest.raises(ModelError, match="is not written"):
        checkpoint.save_last(tmp_path, weights, {"moving_average": {}})
    assert not list(tmp_path.iterdir())

    update = trainer.Trainer._update

    def last_one_fails(self: trainer.Trainer, group: Any) -> dict[str, float]:
        losses = update(self, group)
        with torch.no_grad():
            next(self.model.parameters()).fill_(float("nan"))
        return losses

    monkeypatch.setattr(trainer.Trainer, "_update", last_one_fails)
    refused("is not a number", *train(file, tmp_path / "model"))
    assert not (tmp_path / "model").exists()
