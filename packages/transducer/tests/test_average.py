"""The mean of models."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import load_file

from transducer.cli import main
from transducer.config import load_recipe, override
from transducer.encoders.low_rank import mean_difference
from transducer.errors import ModelError
from transducer.parsing.report import measure
from transducer.storage import checkpoint
from transducer.storage.cards import About
from transducer.storage.compact import PRETRAINED, read_weights
from transducer.storage.export import add_card, export
from transducer.training.average import average, mean_weights
from transducer.training.runs import load_run, new_run, train

SMALL = ["train.epochs=1", "model.encoder_size=16", "model.decoder_size=32"]


def trained(file: Path, folder: Path, *settings: str, seed: int = 1) -> Path:
    """Train an epoch."""
    config = override(load_recipe("tiny", task="dm"), [*SMALL, *settings])
    train(new_run(config, [str(file)], [str(file)], folder, seed=seed))
    return folder


def test_the_mean_of_differences_is_the_nearest_of_its_rank() -> None:
    torch.manual_seed(0)
    pairs = [(torch.randn(9, 3), torch.randn(3, 7)) for _ in range(2)]
    mean = torch.stack([up @ down for up, down in pairs]).mean(0)
    up, down = mean_difference(pairs)
    assert (up.shape, down.shape) == ((9, 3), (3, 7))
    u, values, v = torch.linalg.svd(mean, full_matrices=False)
    torch.testing.assert_close(up @ down, u[:, :3] * values[:3] @ v[:3])
    same = mean_difference([pairs[0], pairs[0]])
    torch.testing.assert_close(same[0] @ same[1], pairs[0][0] @ pairs[0][1])


def test_weights_are_averaged_and_differences_by_their_products() -> None:
    one = {"x": torch.tensor([1.0]), "l.up": torch.ones(2, 1), "l.down": torch.ones(1, 2)}
    other = {"x": torch.tensor([3.0]), "l.up": -torch.ones(2, 1), "l.down": -torch.ones(1, 2)}
    mean = mean_weights([one, other])
    assert mean["x"].tolist() == [2.0]
    torch.testing.assert_close(mean["l.up"] @ mean["l.down"], torch.ones(2, 2))


def test_a_mean_is_a_model_with_a_card(ten: Callable[[str], Path], tmp_path: Path) -> None:
    file = ten("dm")
    start = trained(file, tmp_path / "start")
    runs = [
        trained(file, tmp_path / f"from-{seed}", f"train.start_from={start}", seed=seed)
        for seed in (2, 3)
    ]
    command = ["average", *map(str, runs), "-o", str(tmp_path / "mean")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    assert "holds a model: --overwrite replaces it" in CliRunner().invoke(main, command).output
    one, other, mean = (
        load_file(folder / checkpoint.WEIGHTS) for folder in (*runs, tmp_path / "mean")
    )
    name = "ffn_relation.weight"
    torch.testing.assert_close(mean[name], (one[name] + other[name]) / 2)
    assert not torch.equal(one[name], other[name])
    export(tmp_path / "mean", tmp_path / "out")
    scores = measure(tmp_path / "out", [str(file)])
    about = About("Ten", "ten sentences", "MIT", "CC0", "")
    card = add_card(tmp_path / "mean", tmp_path / "out", about, scores, bits=8, tuned_bits=8)
    first, second, last = card.training.command.splitlines()
    assert first.endswith("--set train.start_from=start --seed 2 -o runs/dm-1")
    assert second.endswith("--seed 3 -o runs/dm-2")
    assert last == "transducer average runs/dm-1 runs/dm-2 -o runs/dm"
    assert card.training.dev_f1 is None
    with pytest.raises(ModelError, match="nothing to resume"):
        load_run(tmp_path / "mean")


def test_the_best_and_the_last_model_of_a_training(
    ten: Callable[[str], Path], tmp_path: Path
) -> None:
    run = trained(ten("dm"), tmp_path / "run")
    average([run, run / "last"], tmp_path / "mean")
    name = "ffn_relation.weight"
    best = load_file(run / checkpoint.WEIGHTS)[name]
    end = checkpoint.load(run / "last", torch.device("cpu"))
    mean = load_file(tmp_path / "mean" / checkpoint.WEIGHTS)[name]
    torch.testing.assert_close(mean, (best + end.model.state_dict()[name]) / 2)
    assert checkpoint.read_score(tmp_path / "mean")["minutes"] == end.score["minutes"]
    about = About("Ten", "ten sentences", "MIT", "CC0", "")
    export(run / "last", tmp_path / "end")
    card = add_card(run / "last", tmp_path / "end", about, [], bits=8, tuned_bits=8)
    assert card.training.command.endswith("-o runs/dm")
    export(tmp_path / "mean", tmp_path / "out")
    card = add_card(tmp_path / "mean", tmp_path / "out", about, [], bits=8, tuned_bits=8)
    first, last = card.training.command.splitlines()
    assert first.endswith("-o runs/dm-1")
    assert last == "transducer average runs/dm-1 runs/dm-1/last -o runs/dm"


def test_reading_a_mean_leaves_the_pretrained_weights_as_they_are(tmp_path: Path) -> None:
    name = f"{PRETRAINED}embeddings.weight"
    fresh = {name: torch.tensor([-0.0, 1.0]), "own": torch.tensor([2.0])}
    mean = mean_weights([fresh, fresh])
    checkpoint.save_weights(tmp_path / "mean", mean)
    read = read_weights(tmp_path / "mean", fresh)
    assert read[name].signbit().tolist() == [True, False]
    assert read["own"].tolist() == [2.0]


def test_what_cannot_be_averaged_is_told(ten: Callable[[str], Path], tmp_path: Path) -> None:
    run = trained(ten("dm"), tmp_path / "run")
    with pytest.raises(ModelError, match="one of the models"):
        average([run], run)
    other = tmp_path / "other"
    shutil.copytree(run, other)
    (other / "run.json").unlink()
    with pytest.raises(ModelError, match="is not a training run"):
        average([run, other], tmp_path / "mean")
    wider = trained(ten("dm"), tmp_path / "wider", "model.attention_size=20")
    with pytest.raises(ModelError, match="wider has other sizes, switches or vocabularies than"):
        average([run, wider], tmp_path / "mean")
    (run / "last" / "state.pt").write_text("junk\n")
    with pytest.raises(ModelError, match=r"state\.pt is damaged"):
        average([run, run / "last"], tmp_path / "mean")
    assert not (tmp_path / "mean").exists()
