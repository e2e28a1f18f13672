"""Models that are trained together have one encoder, which runs once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import load_file
from torch import Tensor

import graphconv
import transducer
from transducer import Pipeline, Transducer
from transducer.cli import main
from transducer.config import DecodeConfig
from transducer.encoders import contextual, features
from transducer.encoders.low_rank import mean_difference
from transducer.encoders.places import find
from transducer.encoders.sharing import shared_features
from transducer.errors import ModelError
from transducer.model.network import TransducerModel
from transducer.storage import checkpoint
from transducer.storage.compact import PRETRAINED
from transducer.storage.export import export
from transducer.storage.shared_encoder import ENCODER
from transducer.training import joint
from transducer.training.trainer import Trainer

PLAN = """
updates = {updates}
[dm]
recipe = "tiny"
train = ["{dm}"]
dev = ["{dm}"]
[dm.set]
{settings}
"model.contextual_depth" = 2
[amr]
recipe = "tiny"
train = ["{amr}"]
seed = 3
[amr.set]
{settings}
"""
SETTINGS = {
    **dict.fromkeys(("word", "char", "encoder", "decoder", "attention", "biaffine"), 8),
}

Ten = Callable[[str], Path]


@pytest.fixture
def plan(ten: Ten, tiny_mpnet: Path, tmp_path: Path) -> Callable[..., Path]:
    """Return what writes a plan for small models with one random encoder."""
    settings: dict[str, object] = {f"model.{name}_size": size for name, size in SETTINGS.items()}
    settings |= {
        "model.contextual": f'"{find(str(tiny_mpnet)).reference}"',
        "model.contextual_tuned": "true",
        "model.contextual_layers": '"mix"',
        "model.contextual_rank": 2,
        "train.contextual_rate": 0.01,
        "train.moving_average": 0.5,
    }

    def write(updates: int = 5, **more: object) -> Path:
        lines = (f'"{key}" = {value}' for key, value in {**settings, **more}.items())
        path = tmp_path / f"{updates}.toml"
        text = PLAN.format(updates=updates, dm=ten("dm"), amr=ten("amr"), settings="\n".join(lines))
        path.write_text(text, encoding="utf-8")
        return path

    return write


def run(*arguments: object) -> str:
    """Run the command, which has to succeed."""
    result = CliRunner().invoke(main, ["joint", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


def encoder_of(folder: Path) -> dict[str, Tensor]:
    weights = load_file(folder / checkpoint.WEIGHTS)
    return {name: w for name, w in weights.items() if name.startswith(PRETRAINED)}


def test_models_that_take_turns_have_one_encoder(plan: Callable[..., Path], tmp_path: Path) -> None:
    output = run(plan(), "-o", tmp_path / "joint", "--device", "cpu")
    assert "joint/dm: dev F1" in output
    deep, shallow = (encoder_of(tmp_path / "joint" / task) for task in ("amr", "dm"))
    assert shallow.keys() < deep.keys()  # three layers, and two
    assert all(torch.equal(deep[name], weight) for name, weight in shallow.items())
    assert any(weight.any() for name, weight in deep.items() if name.endswith(".up"))


def test_an_interrupted_training_goes_on_exactly(
    plan: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run(plan(), "-o", whole, "--device", "cpu")
    monkeypatch.setattr(joint, "BETWEEN_CHECKPOINTS", 2)
    update = Trainer._update
    turns = 0

    def die(self: Trainer, *arguments: object) -> dict[str, float]:
        nonlocal turns
        turns += 1
        if turns > 5:  # after the second turn's checkpoint, in the middle of the third
            raise OSError("the machine is switched off")
        return update(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Trainer, "_update", die)
    assert CliRunner().invoke(main, ["joint", str(plan()), "-o", str(parts)]).exit_code
    monkeypatch.setattr(Trainer, "_update", update)
    run("--resume", parts)
    for task in ("amr", "dm"):
        one, other = (load_file(folder / task / checkpoint.WEIGHTS) for folder in (whole, parts))
        assert one.keys() == other.keys()
        for name, weight in one.items():
            assert torch.equal(weight, other[name]), (task, name)


def test_encoders_to_begin_with_become_their_mean(
    plan: Callable[..., Path], tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    run(plan(2), "-o", first, "--device", "cpu")
    rates = {"train.contextual_rate": 1e-12, "train.learning_rate": 1e-12}
    starts = {task: f"train.start_from={first / task}" for task in ("amr", "dm")}
    path = plan(1, **rates)
    text = path.read_text(encoding="utf-8")
    for task, start in starts.items():
        key, value = start.split("=", 1)
        text = text.replace(f"[{task}.set]", f'[{task}.set]\n"{key}" = "{value}"')
    path.write_text(text, encoding="utf-8")
    run(path, "-o", second, "--device", "cpu")
    before, after = encoder_of(first / "amr"), encoder_of(second / "amr")
    for name, product in products(before).items():
        assert torch.allclose(product, products(after)[name], atol=1e-5), name


def products(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the differences of low rank."""
    return {
        name: weight @ weights[f"{name.removesuffix('.up')}.down"]
        for name, weight in weights.items()
        if name.endswith(".up")
    }


def learned(folder: Path, seed: int, depth: int) -> TransducerModel:
    """Return a model of which the first layers of the encoder have learned something."""
    model = checkpoint.load(folder, torch.device("cpu")).model
    noise = torch.Generator().manual_seed(seed)
    for name, weight in model.named_parameters():
        if name.startswith(PRETRAINED) and name.endswith((".up", ".down")):
            layer = int(name.split("layer.")[1].partition(".")[0])
            values = torch.randn(weight.shape, generator=noise)
            weight.data = values if layer < depth or name.endswith(".down") else weight.data * 0
    return model


def test_the_mean_has_weights_and_leaves_out_what_nobody_learned(
    plan: Callable[..., Path], tmp_path: Path
) -> None:
    run(plan(1), "-o", tmp_path, "--device", "cpu")
    deep, shallow = learned(tmp_path / "amr", 1, depth=2), learned(tmp_path / "amr", 2, depth=1)
    own = [products(dict(model.named_parameters())) for model in (deep, shallow)]
    mean = {
        name: mean_difference([(u, d) for u, d in pairs])
        for name, pairs in low_rank([deep, deep, shallow]).items()
    }
    joint.share_encoder([deep, shallow], [2, 1])
    for name, product in products(dict(shallow.named_parameters())).items():
        layer = int(name.split("layer.")[1].partition(".")[0])
        if layer == 0:  # the mean of both, of which one counts twice
            up, down = mean[name]
            assert torch.allclose(product, up @ down, atol=1e-4), name
        elif layer == 1:  # only the deep one has learned this layer
            assert torch.allclose(product, own[0][name], atol=1e-4), name
        else:
            assert not product.any(), name


def low_rank(models: Sequence[TransducerModel]) -> dict[str, list[tuple[Tensor, Tensor]]]:
    """Return the pairs of thin matrices of each layer, by the name of the upper one."""
    found = [dict(model.named_parameters()) for model in models]
    names = [name for name in found[0] if name.startswith(PRETRAINED) and name.endswith(".up")]
    return {
        name: [(f[name].detach(), f[f"{name.removesuffix('.up')}.down"].detach()) for f in found]
        for name in names
    }


def test_a_sentence_is_encoded_once_for_all_models(
    plan: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(plan(), "-o", tmp_path / "joint", "--device", "cpu")
    parsers = {task: Transducer.load(tmp_path / "joint" / task, "cpu") for task in ("amr", "dm")}
    text = "The boy wants to go. He left."
    alone = {task: Pipeline({task: parser})(text) for task, parser in parsers.items()}
    encoded: list[int] = []
    whole = contextual.run

    def count(model: object, subwords: object, **more: object) -> object:
        encoded.append(1)
        return whole(model, subwords, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(features, "run", count)
    monkeypatch.setattr(contextual, "run", lambda *_, **__: pytest.fail("it runs alone, too"))
    doc = transducer.Pipeline(parsers)(text)
    assert len(encoded) == 1
    for task, pipeline in alone.items():
        assert doc.graphs[task] == pipeline.graphs[task]
    one, other = (parser.model.encoder_embedding.contextual for parser in parsers.values())
    assert one is not None
    assert other is not None
    weights = dict(one.model.named_parameters())  # type: ignore[union-attr]
    for name, weight in other.model.named_parameters():  # type: ignore[union-attr]
        assert weights[name] is weight, name
    rows: list[tuple[str, int]] = []
    transducer.Pipeline(parsers).watch(text, lambda task, place, *_: rows.append((task, place)))
    assert {task for task, _ in rows} == {"amr", "dm"}


def test_exported_models_keep_their_encoder_once(
    plan: Callable[..., Path], tmp_path: Path, ten: Ten, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(plan(), "-o", tmp_path / "joint", "--device", "cpu")
    shipped = tmp_path / "shipped"
    for task in ("amr", "dm"):
        export(tmp_path / "joint" / task, tmp_path / "own" / task)
        export(tmp_path / "joint" / task, shipped / task, share_encoder=True)
    together = [Transducer.load(shipped / task, "cpu") for task in ("amr", "dm")]
    encoders = {parser.task.config.task: parser.encoder(DecodeConfig()) for parser in together}
    with monkeypatch.context() as patched:  # layers of one file are known to be the same
        patched.setattr(torch, "equal", lambda *_: pytest.fail("layers are compared"))
        assert shared_features({k: e for k, e in encoders.items() if e}, "").keys() == {"amr", "dm"}
    for task in ("amr", "dm"):
        sentences = [graph.tokens for graph in graphconv.read(ten(task))]
        models = [Transducer.load(place / task, "cpu") for place in (tmp_path / "own", shipped)]
        one, other = (
            [replace(graph, metadata=()) for graph in model.parse(sentences)] for model in models
        )
        assert one == other
        weights = load_file(shipped / task / checkpoint.WEIGHTS)
        assert not any(name.startswith(PRETRAINED) for name in weights)
        models[1].save_pretrained(tmp_path / "alone" / task)
        assert (tmp_path / "alone" / task / ENCODER).is_file()
        Transducer.load(tmp_path / "alone" / task, "cpu")
    run(plan(3), "-o", tmp_path / "second", "--device", "cpu")
    with pytest.raises(ModelError, match="holds another encoder"):
        export(tmp_path / "second" / "dm", shipped / "more", share_encoder=True)
    assert not (shipped / "more").exists()
    (shipped / ENCODER).write_bytes(b"another")
    with pytest.raises(ModelError, match="is not the encoder that the model in"):
        Transducer.load(shipped / "dm", "cpu")
    (shipped / ENCODER).unlink()
    with pytest.raises(ModelError, match=r"has no encoder\.safetensors"):
        Transducer.load(shipped / "dm", "cpu")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("updates = 3", "it needs two tasks or more"),
        ("[dm]\nrecipe = 'tiny'\ntrain = []\n[amr]\nrecipe = 'tiny'\ntrain = []", "updates"),
        ("updates = 3\n[xyz]\nrecipe = 'tiny'\ntrain = []", "there is no task 'xyz'"),
        ("updates = 3\n[dm]\nrecip = 'tiny'", "dm"),
        ("updates = ", "Invalid value"),
    ],
)
def test_what_is_no_plan_is_told(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text, encoding="utf-8")
    result = CliRunner().invoke(main, ["joint", str(path), "-o", str(tmp_path / "joint")])
    assert result.exit_code == 1
    assert says in result.output
    assert str(path) in result.output
    assert not (tmp_path / "joint").exists()


def test_models_without_a_common_encoder_are_refused(
    plan: Callable[..., Path], tmp_path: Path
) -> None:
    path = plan(2)
    text = path.read_text(encoding="utf-8").replace('"model.contextual_tuned" = true', "")
    text = text.replace('"model.contextual_rank" = 2', "").replace(
        '"model.contextual_depth" = 2', ""
    )
    path.write_text(text, encoding="utf-8")
    result = CliRunner().invoke(main, ["joint", str(path), "-o", str(tmp_path / "joint")])
    assert result.exit_code == 1
    assert "fine-tune a contextual encoder" in result.output
