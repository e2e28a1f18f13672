"""Training: it learns, it repeats itself exactly, and it says in one sentence what is wrong."""

from __future__ import annotations

import json
import math
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import load_file, save_file
from unsigned import unsigned

import graphconv
from evaltools import sdp
from transducer import Transducer, console
from transducer.cli import main
from transducer.config import Config, ModelConfig, TrainConfig
from transducer.data.batches import batches
from transducer.data.vocabularies import SPECIALS
from transducer.encoders.loading import load
from transducer.errors import ModelError, TrainingError
from transducer.storage import checkpoint
from transducer.storage.cards import training_command
from transducer.storage.record import read_record
from transducer.training import runs
from transducer.training.state import Epoch, Progress
from transducer.training.trainer import make_trainer

Ten = Callable[[str], Path]


def tiny(task: str = "dm", *, dropout: float = 0.0, **train: Any) -> Config:
    """Return a config of a few thousand weights and, for ten graphs, four updates an epoch."""
    model = ModelConfig(
        word_size=8, pos_size=4, char_size=4, char_embedding=4, index_size=4, relation_size=4,
        encoder_size=8, decoder_size=16, attention_size=8, biaffine_size=8, bilinear_size=8,
        dropout=dropout, anchored=True,
    )  # fmt: skip
    return Config(task, model=model, train=TrainConfig(**{"batch_size": 3, "epochs": 2, **train}))


class Run:
    """A training and everything that it told."""

    def __init__(
        self,
        config: Config,
        file: Path,
        folder: Path,
        *,
        stop_at: int = 0,
        dev: bool = True,
        **options: Any,
    ) -> None:
        self.curve: list[dict[str, float]] = []
        self.epochs: list[Epoch] = []

        def on_progress(progress: Progress) -> None:
            self.curve.append(progress.losses)
            if len(self.curve) == stop_at:
                signal.raise_signal(signal.SIGINT)

        self.trainer = make_trainer(
            config,
            [str(file)],
            [str(file)] if dev else [],
            folder,
            device="cpu",
            on_progress=on_progress,
            on_epoch=self.epochs.append,
            **options,
        )
        self.interrupted = False
        try:
            self.trainer.fit()
        except KeyboardInterrupt:
            self.interrupted = True

    @property
    def weights(self) -> dict[str, torch.Tensor]:
        return dict(self.trainer.model.state_dict())


def assert_equal_weights(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> None:
    assert left.keys() == right.keys()
    for name, tensor in left.items():
        assert torch.equal(tensor, right[name]), name


# It learns ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["amr", "dm", "ucca"])
def test_ten_graphs_are_memorized(task: str, memorized: Callable[[str], tuple[Path, Path]]) -> None:
    file, folder = memorized(task)
    score = checkpoint.read_score(folder)
    assert score["dev_f1"] == pytest.approx(100.0)
    assert score["sentences"] >= 10
    assert list(score["sha256"]) == [str(file)]
    log = (folder / "log.csv").read_text(encoding="utf-8").splitlines()
    assert log[0].startswith("epoch,updates,minutes")


def test_a_loaded_model_parses_like_the_trained_one(ten: Ten, tmp_path: Path) -> None:
    file = ten("dm")
    run = Run(tiny(), file, tmp_path / "model", dev=False)
    own = Transducer(run.trainer.task, run.trainer.vocabularies, run.trainer.model.eval(), {})
    sentences = [graph.tokens for graph in graphconv.read(file)]
    loaded = Transducer.load(tmp_path / "model", "cpu")
    assert unsigned(loaded.parse(sentences)) == unsigned(own.parse(sentences))


# It repeats itself -------------------------------------------------------------------------------


def test_same_seed_same_model(ten: Ten, tmp_path: Path) -> None:
    config, file = tiny(dropout=0.3, word_dropout=0.5), ten("dm")
    one, same, other = (
        Run(config, file, tmp_path / name, seed=seed, dev=False)
        for name, seed in (("one", 1), ("same", 1), ("other", 2))
    )
    assert one.curve == same.curve
    assert one.curve != other.curve
    weights = [(tmp_path / name / checkpoint.WEIGHTS).read_bytes() for name in ("one", "same")]
    assert weights[0] == weights[1]


def as_format_2(path: Path) -> None:
    """Give a training state the names that it had up to format 2."""
    state = torch.load(path, weights_only=True)
    torch.save({("average" if k == "moving_average" else k): v for k, v in state.items()}, path)


@pytest.mark.parametrize("stop_at", [2, 4, 5])
def test_a_resumed_run_is_the_uninterrupted_one(ten: Ten, tmp_path: Path, stop_at: int) -> None:
    file = ten("dm")
    config = tiny(
        dropout=0.3, word_dropout=0.5, feature_dropout=0.5, moving_average=0.9, schedule="cosine",
        warmup=2, edge_smoothing=0.1,
    )  # fmt: skip
    whole = Run(config, file, tmp_path / "whole")
    assert len(whole.curve) == 8
    first = Run(config, file, tmp_path / "model", stop_at=stop_at)
    assert first.interrupted
    if stop_at == 4:
        as_format_2(tmp_path / "model" / checkpoint.LAST / checkpoint.STATE)
    rest = Run(config, file, tmp_path / "model", resume=True)
    assert first.curve + rest.curve == whole.curve
    assert_equal_weights(rest.weights, whole.weights)
    assert_equal_weights(rest.trainer.moving_average.weights, whole.trainer.moving_average.weights)
    scores = [epoch.dev_score for epoch in first.epochs + rest.epochs]
    assert scores == [epoch.dev_score for epoch in whole.epochs]
    kept = [load_file(tmp_path / name / checkpoint.WEIGHTS) for name in ("whole", "model")]
    assert_equal_weights(*kept)


def test_a_finished_run_has_nothing_to_resume(ten: Ten, tmp_path: Path) -> None:
    file = ten("dm")
    before = Run(tiny(epochs=1), file, tmp_path / "model", dev=False)
    after = Run(tiny(epochs=1), file, tmp_path / "model", dev=False, resume=True)
    assert not after.curve
    assert_equal_weights(before.weights, after.weights)
    longer = Run(tiny(epochs=2), file, tmp_path / "model", dev=False, resume=True)
    assert len(longer.curve) == 4


def test_training_can_start_from_another_model(ten: Ten, tmp_path: Path) -> None:
    file = ten("dm")
    folder = tmp_path / "first"
    first = Run(tiny(epochs=2), file, folder, dev=False)
    more = tiny(epochs=1, start_from=str(folder), learning_rate=1e-9)
    second = Run(more, file, tmp_path / "second", dev=False)
    assert second.trainer.vocabularies == first.trainer.vocabularies
    for name, weight in second.weights.items():
        assert torch.allclose(weight, first.weights[name], atol=1e-6), name
    wider = replace(more, model=replace(more.model, decoder_size=18))
    with pytest.raises(TrainingError, match="has other sizes"):
        Run(wider, file, tmp_path / "third", dev=False)
    tuned = tiny(contextual_from=str(folder))
    with pytest.raises(TrainingError, match="must both tune"):
        Run(tuned, file, tmp_path / "fourth", dev=False)


@pytest.mark.parametrize("task", ["dm", "amr"])
def test_starting_from_another_model_learns_new_words(task: str, ten: Ten, tmp_path: Path) -> None:
    graphs = list(graphconv.read(ten(task)))
    first_file, all_file = tmp_path / "first.jsonl", tmp_path / "all.jsonl"
    graphconv.write(graphs[:3], first_file)
    graphconv.write(graphs, all_file)
    first = Run(tiny(task, epochs=1), first_file, tmp_path / "first", dev=False)
    more = tiny(task, epochs=1, start_from=str(tmp_path / "first"), learning_rate=1e-9)
    second = Run(more, all_file, tmp_path / "second", dev=False)
    known, grown = first.trainer.vocabularies, second.trainer.vocabularies
    for name in ("words", "nodes", "labels", "relations"):
        items = getattr(known, name).items
        assert getattr(grown, name).items[: len(items)] == items
    assert len(grown.words) > len(known.words)
    assert len(grown.relations) > len(known.relations)
    for name, weight in first.weights.items():
        same = second.weights[name][tuple(map(slice, weight.shape))]
        assert torch.allclose(same, weight, atol=1e-6), name


def test_an_encoder_is_tuned_until_its_rate_is_zero(
    ten: Ten, tmp_path: Path, here: Callable[[str], str]
) -> None:
    file, name = ten("dm"), here("sentence-transformers/all-MiniLM-L6-v2")
    config = tiny(epochs=1, contextual_rate=1e-4, moving_average=0.5)
    config = replace(config, model=replace(config.model, contextual=name, contextual_tuned=True))
    tuned = Run(config, file, tmp_path / "tuned", dev=False)
    pretrained = load(name)[1].state_dict()
    rest = replace(
        config, train=replace(config.train, contextual_rate=0.0, start_from=str(tmp_path / "tuned"))
    )
    fixed = Run(rest, file, tmp_path / "fixed", dev=False)
    averaged = load_file(tmp_path / "tuned" / checkpoint.WEIGHTS)
    prefix = "encoder_embedding.contextual.model."
    for key, weight in pretrained.items():
        embedding = key.startswith(("embeddings.", "pooler."))
        assert torch.equal(tuned.weights[prefix + key], weight) == embedding, key
        assert torch.equal(fixed.weights[prefix + key], averaged[prefix + key]), key
    sentences = [graph.tokens for graph in graphconv.read(file)]
    own = Transducer(fixed.trainer.task, fixed.trainer.vocabularies, fixed.trainer.model.eval(), {})
    alone = own.parse(sentences)
    own.features = fixed.trainer.features
    assert own.parse(sentences) == alone


def test_batches_are_bounded_by_tokens(ten: Ten, tmp_path: Path) -> None:
    trainer = Run(tiny(epochs=1), ten("dm"), tmp_path / "model", dev=False).trainer
    items = trainer.data.items
    longest = max(len(item.forms) for item in items)
    groups = list(batches(items, 4, tokens=longest, seed=1))
    assert sorted(i for group in groups for i in group) == list(range(len(items)))
    assert all(sum(len(items[i].forms) for i in group) <= longest for group in groups)
    assert 1 < max(len(group) for group in groups) <= 4


def test_accumulation_is_a_larger_batch(ten: Ten, tmp_path: Path) -> None:
    file = ten("dm")
    large = Run(tiny(batch_size=4, coverage=1.0), file, tmp_path / "large", dev=False)
    small = Run(tiny(batch_size=2, accumulate=2, coverage=1.0), file, tmp_path / "small", dev=False)
    assert len(large.curve) == len(small.curve)
    for left, right in zip(large.curve, small.curve, strict=True):
        assert left == pytest.approx(right, rel=1e-3, abs=1e-4)


def test_the_average_is_what_is_saved(ten: Ten, tmp_path: Path) -> None:
    run = Run(tiny(moving_average=0.9), ten("dm"), tmp_path / "model", dev=False)
    saved = load_file(tmp_path / "model" / checkpoint.WEIGHTS)
    assert_equal_weights(saved, run.trainer.moving_average.weights)
    assert any(not torch.equal(saved[name], run.weights[name]) for name in saved)


def test_training_with_half_the_bits_keeps_all_bits_of_the_weights(
    ten: Ten, tmp_path: Path
) -> None:
    run = Run(tiny(precision="bf16"), ten("dm"), tmp_path / "half", dev=False)
    whole = Run(tiny(), ten("dm"), tmp_path / "whole", dev=False)
    assert {weight.dtype for weight in run.weights.values()} == {torch.float32}
    assert run.curve[-1]["total"] == pytest.approx(whole.curve[-1]["total"], rel=0.02)
    assert run.curve[-1]["total"] != whole.curve[-1]["total"]


def test_cosine_falls_to_zero_and_warmup_rises(ten: Ten, tmp_path: Path) -> None:
    rates: list[float] = []
    config = tiny(schedule="cosine", warmup=2, epochs=3)
    trainer = make_trainer(config, [str(ten("dm"))], [], tmp_path / "model", device="cpu")
    trainer.on_progress = lambda _: rates.append(trainer.optimizer.param_groups[0]["lr"])
    trainer.fit()
    assert rates[0] == pytest.approx(0.0005)
    assert rates[1] > rates[0]
    assert rates[2:] == sorted(rates[2:], reverse=True)
    assert rates[-1] < 0.00005


# It stops ----------------------------------------------------------------------------------------


def test_training_stops_without_progress(ten: Ten, tmp_path: Path) -> None:
    config = tiny(learning_rate=0.0, epochs=50, patience=2, evaluate_from=2)
    run = Run(config, ten("dm"), tmp_path / "model")
    assert len(run.epochs) == 4  # the first score, in epoch 2, and two epochs that are no better
    assert math.isnan(run.epochs[0].dev_score)


def test_training_stops_after_its_minutes(ten: Ten, tmp_path: Path) -> None:
    run = Run(tiny(minutes=1e-6, epochs=50), ten("dm"), tmp_path / "model")
    assert len(run.curve) == 1
    assert not math.isnan(run.epochs[-1].dev_score)
    assert (tmp_path / "model" / checkpoint.WEIGHTS).is_file()


def test_training_stops_after_its_updates_and_the_rate_follows(ten: Ten, tmp_path: Path) -> None:
    config = tiny(updates=7, epochs=50, batch_size=4, schedule="cosine", moving_average=0.0)
    run = Run(config, ten("dm"), tmp_path / "model")
    assert [epoch.updates for epoch in run.epochs] == [3, 6, 7]  # ten sentences, four at a time
    assert run.epochs[-1].learning_rate < 0.1 * run.epochs[0].learning_rate
    assert not math.isnan(run.epochs[-1].dev_score)


def test_a_loss_that_is_not_finite_stops(ten: Ten, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"^the loss is nan in epoch \d, update \d: lower"):
        Run(tiny(learning_rate=1e30), ten("dm"), tmp_path / "model", dev=False)


# The command -------------------------------------------------------------------------------------


def command(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def settings(config: Config) -> list[str]:
    values = config.to_dict()
    pairs = [(s, k, v) for s in ("model", "train") for k, v in values[s].items() if v != ""]
    return [x for s, k, v in pairs for x in ("--set", f"{s}.{k}={json.dumps(v)}")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_resume_goes_on(
    ten: Ten, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    file, folder = ten("dm"), tmp_path / "model"

    def interrupt(progress: Progress) -> None:
        if (progress.epoch, progress.update) == (2, 1):
            signal.raise_signal(number)

    start = ("train", "--task", "dm", "--train", file, "--dev", file, "-o", folder)
    with monkeypatch.context() as patch:
        patch.setattr(console, "bar", lambda _: interrupt)
        code, output = command(*start, "--device", "cpu", *settings(tiny()))
    assert code == 1
    assert output.splitlines()[-1] == (
        f"Error: stopped; transducer train --resume {folder} continues from here"
    )
    code, output = command("train", "--resume", folder)
    assert code == 0, output
    assert "epoch 2:" in output
    assert "epoch 1:" not in output
    assert (folder / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert len((folder / "log.csv").read_text(encoding="utf-8").splitlines()) == 3


def test_wrong_commands_are_one_sentence(ten: Ten, tmp_path: Path) -> None:
    amr = ten("amr")
    cases = {
        ("train",): "--task is missing",
        ("train", "--task", "pas"): "the sample corpus has no pas; add --train",
        ("train", "--task", "dm", "--recipe", "x"): "there is no recipe 'x'",
        ("train", "--task", "dm", "--set", "x=1"): "unknown key",
        ("train", "--task", "dm", "--device", "x"): "there is no device 'x' here",
        (
            "train",
            "--task",
            "ucca",
            "--train",
            amr,
            "-o",
            tmp_path / "m",
        ): "amr graphs (amr), not ucca",
        ("train", "--resume", tmp_path): "is not a training run",
        ("train", "--recipe", "tiny", "--config", amr): "exclude each other",
        ("inspect", tmp_path / "nothing"): "is not a model directory",
        ("parse", "--task", "pas", amr): "no model for pas ships",
        ("parse", amr): "--model DIR or --task T is missing",
    }
    for arguments, message in cases.items():
        code, output = command(*arguments)
        assert code in (1, 2), arguments
        assert message in output.splitlines()[-1], output


def test_only_training_settings_change_when_resuming(ten: Ten, tmp_path: Path) -> None:
    file, folder = ten("dm"), tmp_path / "model"
    run = runs.new_run(tiny(epochs=1), [str(file)], [], folder, device="cpu")
    runs.train(run)
    code, output = command("train", "--resume", folder, "--set", "model.word_size=9")
    assert code == 1
    assert "only train.* can change" in output
    code, output = command("train", "--resume", folder, "--set", "train.epochs=2")
    assert code == 0, output
    assert "epoch 2:" in output
    again = runs.load_run(folder, ["train.minutes=9"])
    assert (again.config.train.epochs, again.current.train.epochs) == (1, 2)
    assert again.current.train.minutes == 9
    _, resumed = training_command(run.config, read_record(folder), "runs/dm").splitlines()
    assert resumed == "transducer train --resume runs/dm --set train.epochs=2"


# Model directories -------------------------------------------------------------------------------


def _no_file(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def _text(name: str, text: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (folder / name).write_text(text, encoding="utf-8")

    return damage


def _other_version(folder: Path) -> None:
    setup = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**setup, "format": 99}), encoding="utf-8")


def _other_sizes(folder: Path) -> None:
    weights = load_file(folder / checkpoint.WEIGHTS)
    save_file(
        {name: tensor[:1].clone() for name, tensor in weights.items()}, folder / checkpoint.WEIGHTS
    )


def _cut_weights(folder: Path) -> None:
    path = folder / checkpoint.WEIGHTS
    path.write_bytes(path.read_bytes()[:1000])


DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "version": (_other_version, "has model format 99, and this version reads 3"),
    "no config": (_no_file("config.json"), "is not a model directory: .* is missing"),
    "config": (_text("config.json", "{"), "is damaged"),
    "other json": (_text("config.json", "[]"), "is damaged"),
    "vocabularies": (_text("vocabularies.json", "[]"), "is damaged"),
    "no weights": (_no_file(checkpoint.WEIGHTS), "has no weights yet"),
    "cut weights": (_cut_weights, "does not fit the model"),
    "other weights": (_other_sizes, "does not fit the model"),
    "score": (_text(checkpoint.SCORE, "{"), "score.json is damaged"),
}


def test_damaged_models_are_refused_in_one_sentence(ten: Ten, tmp_path: Path) -> None:
    import shutil

    Run(tiny(epochs=1), ten("dm"), tmp_path / "model", dev=False)
    for name, (damage, message) in DAMAGES.items():
        folder = tmp_path / name
        shutil.copytree(tmp_path / "model", folder)
        damage(folder)
        with pytest.raises(ModelError, match=message) as error:
            Transducer.load(folder, "cpu")
        assert "\n" not in str(error.value), name
    state = tmp_path / "model" / "last" / "state.pt"
    state.write_bytes(state.read_bytes()[:500])
    with pytest.raises(ModelError, match=r"state.pt is damaged"):
        checkpoint.load_last(tmp_path / "model")
    state.unlink()
    with pytest.raises(ModelError, match="has no training state"):
        checkpoint.load_last(tmp_path / "model")


def test_evaluate_scores_what_was_learned(
    memorized: Callable[[str], tuple[Path, Path]],
) -> None:
    file, folder = memorized("dm")
    code, output = command("evaluate", "--model", folder, file, "--format", "json", "--beam", 2)
    assert code == 0, output
    report = json.loads(output)
    assert report["f1"] == pytest.approx(100.0)
    assert (report["graphs"], report["unparsed"], report["beam"]) == (10, 0, 2)
    assert report["tokens_per_second"] > 0
    gold = list(graphconv.read(file))
    parsed = Transducer.load(folder, "cpu").parse([graph.tokens for graph in gold], beam=2)
    total = sdp.ZERO
    for left, right in zip(gold, parsed, strict=True):
        total = total + sdp.pair_counts(left, replace(right, id=left.id))
    assert total.main.f1 == pytest.approx(100.0)


def test_training_can_go_on_with_another_encoder(
    ten: Ten, tiny_mpnet: Path, tmp_path: Path
) -> None:
    file = ten("dm")
    first = tiny(epochs=1)
    model = replace(
        first.model,
        contextual=str(tiny_mpnet),
        contextual_tuned=True,
        contextual_layers="mix",
        contextual_size=12,
    )
    before = Run(replace(first, model=model), file, tmp_path / "first", dev=False)
    other = replace(model, contextual_rank=2, contextual_depth=1)
    train = replace(first.train, start_from=str(tmp_path / "first"), learning_rate=1e-9)
    after = Run(replace(first, model=other, train=train), file, tmp_path / "second", dev=False)
    prefix = "encoder_embedding.contextual."
    for name, weight in after.weights.items():
        if not name.startswith(prefix):
            assert torch.allclose(weight, before.weights[name], atol=1e-6), name
    deeper = replace(other, contextual_depth=2, frame_size=4)
    more = replace(train, start_from=str(tmp_path / "second"))
    grown = Run(replace(first, model=deeper, train=more), file, tmp_path / "grown", dev=False)
    for name, weight in after.weights.items():
        known = grown.weights[name][: len(weight)]  # of the mix, there are more now
        assert torch.allclose(known, weight, atol=1e-3), name
    assert any("layer.1." in name for name in grown.weights.keys() - after.weights.keys())
    assert len(grown.trainer.vocabularies.frames) > len(SPECIALS)
    fewer = replace(train, start_from="", contextual_from=str(tmp_path / "grown"))
    Run(replace(first, model=other, train=fewer), file, tmp_path / "fewer", dev=False)
    ups = [weight for name, weight in after.weights.items() if name.endswith(".up")]
    assert ups
    assert all(up.any() for up in ups)
    again = replace(train, start_from="", contextual_from=str(tmp_path / "first"))
    with pytest.raises(TrainingError, match="tunes another encoder"):
        Run(replace(first, model=other, train=again), file, tmp_path / "third", dev=False)
    wider = replace(other, contextual_size=16)
    with pytest.raises(TrainingError, match="has other sizes"):
        Run(replace(first, model=wider, train=train), file, tmp_path / "third", dev=False)


def test_several_files_after_one_option_and_what_is_missing_is_told(
    ten: Ten, tmp_path: Path
) -> None:
    files = [str(ten("amr")), str(ten("amr"))]
    sizes = (
        "word",
        "pos",
        "ner",
        "char",
        "encoder",
        "decoder",
        "attention",
        "biaffine",
        "bilinear",
    )
    settings = [x for name in sizes for x in ("--set", f"model.{name}_size=8")]
    settings += ["--set", "train.epochs=1", "--set", "train.updates=1"]
    output = ["-o", str(tmp_path / "m"), "--device", "cpu"]
    result = CliRunner().invoke(
        main, ["train", "--task", "amr", "--train", *files, "--dev", files[0], *output, *settings]
    )
    assert result.exit_code == 0, result.output
    assert "amr: 20 sentences" in result.output
    assert "10 dev graphs" in result.output
    assert "named entities: missing in the files" in result.output
    assert "part of speech: missing" not in result.output  # the sample has it
    assert "Spotlight: none" in result.output
