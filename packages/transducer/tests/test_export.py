"""Models in few bits, their cards, and the models that ship."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from safetensors import safe_open
from torch import Tensor
from unsigned import unsigned

import graphconv
from graphconv.io import files
from transducer.cli import main
from transducer.config import load_recipe, override
from transducer.errors import ModelError
from transducer.parsing.parser import Transducer
from transducer.parsing.report import measure
from transducer.storage import cards, checkpoint, shipped
from transducer.storage.cards import About, read_about, read_card, training_command
from transducer.storage.compact import (
    PRETRAINED,
    read_weights,
    restored_rows,
    rounded_rows,
    write_weights,
)
from transducer.storage.export import add_card, export

CPU = torch.device("cpu")
Memorized = Callable[[str], tuple[Path, Path]]

ABOUT = """
title = "Ten sentences"
data = "the first ten sentences of the sample"
data_licence = "MIT"
weights_licence = "CC0"
notes = "For tests."
"""


def command(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    return result.exit_code, result.output


@pytest.mark.parametrize(("bits", "largest"), [(8, 127), (4, 7)])
def test_rounding_errs_by_half_a_step_of_the_row(bits: int, largest: int) -> None:
    torch.manual_seed(0)
    weight = torch.randn(6, 33) * torch.tensor([1e-6, 1e-3, 1.0, 50.0, 1e4, 0.0])[:, None]
    rounded, scale = rounded_rows(weight, bits)
    assert rounded.shape == (6, 33 if bits == 8 else 17)
    assert rounded.element_size() == 1
    back = restored_rows(rounded, scale, 33)
    steps = weight.abs().amax(1, keepdim=True) / largest
    assert bool(((back - weight).abs() <= steps * 0.5001).all())
    again, same = rounded_rows(back, bits)
    assert torch.equal(again, rounded)
    torch.testing.assert_close(same, scale)


def _tensors() -> dict[str, Tensor]:
    torch.manual_seed(1)
    return {
        "matrix": torch.randn(100, 64),
        "cube": torch.randn(5, 40, 40),
        "convolution": torch.randn(64, 32, 3),
        "small": torch.randn(4, 4),
        "bias": torch.randn(10_000),
        f"{PRETRAINED}layer.weight": torch.randn(80, 96),
        f"{PRETRAINED}embeddings.weight": torch.randn(500, 96),
        f"{PRETRAINED}pooler.weight": torch.randn(96, 96),
    }


def test_each_tensor_is_stored_as_it_should_be(tmp_path: Path) -> None:
    fresh = _tensors()
    layer, embeddings, pooler = (name for name in fresh if name.startswith(PRETRAINED))
    change = torch.randn(80, 96) * 1e-3
    weights = {**fresh, layer: fresh[layer] + change, pooler: torch.zeros(96, 96)}
    path = tmp_path / "w"
    write_weights(path, weights, fresh)
    with safe_open(path, "pt") as file:
        types = {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118
    assert types == {
        **dict.fromkeys(("matrix", "cube", "convolution", layer), "I8"),
        **{f"{n}:scale": "F32" for n in ("matrix", "cube", "convolution", layer)},
        **dict.fromkeys(("small", "bias"), "F16"),
    }
    back = read_weights(path, fresh)
    assert back.keys() == fresh.keys()
    for name in ("matrix", "cube", "convolution", "small", "bias"):
        torch.testing.assert_close(back[name], weights[name], atol=0.02, rtol=1e-3)
        assert not torch.equal(back[name], weights[name])
    torch.testing.assert_close(back[layer], weights[layer], atol=2e-5, rtol=0)
    assert torch.equal(back[embeddings], fresh[embeddings])
    assert torch.equal(back[pooler], fresh[pooler])  # not used, so not kept


def test_more_bits_are_closer(tmp_path: Path) -> None:
    fresh = _tensors()
    errors = []
    for bits in (4, 8, 16):
        write_weights(tmp_path / "w", fresh, fresh, bits=bits)
        back = read_weights(tmp_path / "w", fresh)
        errors.append((float((back["matrix"] - fresh["matrix"]).abs().max()), bits))
    assert [bits for _, bits in sorted(errors, reverse=True)] == [4, 8, 16]


def test_another_pretrained_encoder_is_refused(tmp_path: Path) -> None:
    fresh = _tensors()
    write_weights(tmp_path / "w", fresh, fresh)
    other = {**fresh, f"{PRETRAINED}layer.weight": fresh[f"{PRETRAINED}layer.weight"] + 1e-4}
    with pytest.raises(ModelError, match="another version of the pretrained encoder"):
        read_weights(tmp_path / "w", other)


@pytest.mark.parametrize("task", ["amr", "dm", "ucca"])
def test_an_exported_model_parses_as_before(
    task: str, memorized: Memorized, tmp_path: Path
) -> None:
    file, run = memorized(task)
    export(run, tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    tables = {"tables.json.gz"} if task == "amr" else set()
    assert names == tables | {
        "config.json", "vocabularies.json.gz", "model.safetensors", "score.json",
    }  # fmt: skip
    before, after = (
        (folder / checkpoint.WEIGHTS).stat().st_size for folder in (run, tmp_path / "out")
    )
    assert after < before * 0.4
    sentences = [graph.tokens for graph in graphconv.read(file, framework=task)]
    graphs = [Transducer.load(f, "cpu").parse(sentences) for f in (run, tmp_path / "out")]
    assert unsigned(graphs[0]) == unsigned(graphs[1])


def test_an_export_is_the_same_every_time_and_names_no_folder(
    memorized: Memorized, tmp_path: Path
) -> None:
    _, run = memorized("dm")
    changed = tmp_path / "run"
    shutil.copytree(run, changed)
    setup = json.loads((changed / "config.json").read_text())
    setup["config"]["model"]["word_vectors"] = "/home/me/vectors.txt"
    (changed / "config.json").write_text(json.dumps(setup))
    for name in ("one", "two"):
        export(changed, tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
        assert b"/home" not in path.read_bytes()
        assert str(run.parent).encode() not in path.read_bytes()
    with pytest.raises(ModelError, match="is the model itself"):
        export(changed, changed)


def test_a_tuned_encoder_is_stored_as_a_difference(
    make_small: Callable[..., Any], tmp_path: Path, here: Callable[[str], str]
) -> None:
    name = here("sentence-transformers/all-MiniLM-L6-v2")
    small = make_small("dm", contextual=name, contextual_tuned=True)
    layer = small.model.encoder_embedding.contextual.model.encoder["layer"][0]["output"]["dense"]
    with torch.no_grad():
        layer.weight += 1e-3 * torch.randn(layer.weight.shape)
    checkpoint.save_setup(tmp_path / "run", small.task, small.vocabularies)
    weights = small.model.state_dict()
    checkpoint.save_weights(tmp_path / "run" / checkpoint.WEIGHTS, weights)
    export(tmp_path / "run", tmp_path / "out")
    assert (tmp_path / "out" / checkpoint.WEIGHTS).stat().st_size < 1_000_000  # of 91 MB
    found = checkpoint.load(tmp_path / "out", CPU).model.state_dict()
    for key, weight in weights.items():
        if key.startswith(PRETRAINED):
            torch.testing.assert_close(found[key], weight, atol=3e-5, rtol=0)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def test_damaged_exports_are_refused_in_one_sentence(memorized: Memorized, tmp_path: Path) -> None:
    _, run = memorized("dm")
    for name, message in {
        "vocabularies.json.gz": "vocabularies.json.gz is damaged",
        "model.safetensors": "does not fit the model",
    }.items():
        export(run, tmp_path / name)
        _cut(tmp_path / name / name)
        with pytest.raises(ModelError, match=message) as error:
            Transducer.load(tmp_path / name, "cpu")
        assert "\n" not in str(error.value)


@pytest.fixture
def trained(memorized: Memorized, tmp_path: Path) -> tuple[Path, Path]:
    """A file of ten graphs and a run that says what it was trained on."""
    file, folder = memorized("dm")
    shutil.copytree(folder, tmp_path / "run")
    record = {"train": [str(file)], "dev": [str(file)], "seed": 1}
    (tmp_path / "run" / "run.json").write_text(json.dumps(record))
    return file, tmp_path / "run"


def test_the_command_exports_scores_and_writes_a_card(
    trained: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, run = trained
    (tmp_path / "about.toml").write_text(ABOUT)
    os.utime(run / checkpoint.WEIGHTS, (1_700_000_000, 1_700_000_000))
    out = tmp_path / "models" / "dm"
    options = ("--about", tmp_path / "about.toml", "--gold", file, "--beam", 1, "--beam", 2)
    code, output = command("export", run, "-o", out, *options)
    assert code == 0, output
    card = read_card(out)
    assert card.date == "2023-11-14"
    assert card.about == About(
        "Ten sentences", "the first ten sentences of the sample", "MIT", "CC0", "For tests."
    )
    assert [(s.gold, s.graphs, s.beam, round(s.f1, 6)) for s in card.scores] == [
        (file.name, 10, 1, 100.0),
        (file.name, 10, 2, 100.0),
    ]
    assert card.training.sentences == 10
    assert list(card.training.files) == [file.name]
    words = shlex.split(card.training.command)
    assert words[:5] == ["transducer", "train", "--task", "dm", "--recipe"]
    assert words[6:11] == ["--train", "ten.sdp", "--dev", "ten.sdp", "--set"]
    settings = [value for option, value in pairwise(words) if option == "--set"]
    repeated = override(load_recipe(words[5], task="dm"), settings)
    assert repeated == checkpoint.load_setup(run)[0]
    assert "--set model.decoder_size=96" in card.training.command
    assert card.weights.size == cards.model_size(out)
    assert str(tmp_path) not in (out / "README.md").read_text() + (out / "card.json").read_text()

    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "models")
    code, output = command("models")
    assert code == 0, output
    for word in ("dm", "2023-11-14", "CC0", "ten", "100.0", "labelled F1 with tops"):
        assert word in output
    code, output = command("models", "--json")
    assert [row["task"] for row in json.loads(output)] == ["dm"]
    code, output = command("models", "--card", "dm")
    assert output == (out / "README.md").read_text()
    result = CliRunner().invoke(
        main, ["parse", "--task", "dm", "--input", "tokens", "--device", "cpu"], input="She sings\n"
    )
    assert result.exit_code == 0, result.output
    assert "sings" in result.stdout
    assert Transducer.shipped("dm", "cpu").parse(["She sings"])

    export(run, out, bits=16, overwrite=True)
    with pytest.raises(ModelError, match="has no model card"):  # the old one would be wrong now
        read_card(out)


def test_a_card_needs_scores_and_a_run_that_says_its_data(
    memorized: Memorized, tmp_path: Path
) -> None:
    _, run = memorized("dm")
    (tmp_path / "about.toml").write_text(ABOUT)
    code, output = command("export", run, "-o", tmp_path / "o", "--about", tmp_path / "about.toml")
    assert code == 2
    assert "--gold" in output
    export(run, tmp_path / "o")
    about = read_about(tmp_path / "about.toml")
    with pytest.raises(ModelError, match="is not a training run"):
        add_card(run, tmp_path / "o", about, [], bits=8, tuned_bits=8)
    with pytest.raises(ModelError, match="has no model card"):
        read_card(tmp_path / "o")
    (tmp_path / "o" / "card.json").write_text("{}")
    with pytest.raises(ModelError, match="is damaged"):
        read_card(tmp_path / "o")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ABOUT.replace("data_licence", "data_license"), "unknown field 'data_license'"),
        (ABOUT.replace('data_licence = "MIT"', ""), "the field 'data_licence' is missing"),
        ("title =", "about.toml"),
    ],
)
def test_what_a_person_says_is_checked(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "about.toml").write_text(text)
    with pytest.raises(ModelError, match=message):
        read_about(tmp_path / "about.toml")


def test_the_command_of_a_card_gives_the_config_again() -> None:
    settings = ["model.encoder_size=77", "train.schedule=constant", "amr.anonymize=true"]
    config = override(load_recipe("small", task="amr"), settings)
    run = {"train": ["/a/b/x.amr", "/a/c/x.amr"], "dev": ["/a/c/y.amr"], "seed": 3}
    words = training_command(config, run, "runs/dm").split()
    assert words[words.index("--recipe") + 1] == "small"
    sets = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
    assert override(load_recipe("small", task="amr"), sets) == config
    files = [words[i + 1] for i, word in enumerate(words) if word in ("--train", "--dev")]
    assert files == ["b/x.amr", "c/x.amr", "c/y.amr"]


def test_without_models_the_commands_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    assert command("models") == (
        0,
        "no model ships with this version: transducer train makes one\n",
    )
    assert command("models", "--json") == (0, "[]\n")
    for arguments in (("parse", "--task", "ucca"), ("models", "--card", "ucca")):
        code, output = command(*arguments)
        assert code == 1
        assert "no model for ucca ships with this version (there is: none)" in output


def test_the_table_of_shipped_models_fits_a_terminal() -> None:
    code, output = command("models")
    assert code == 0
    assert {line.split()[0] for line in output.splitlines()[1:]} >= set(shipped.shipped_tasks())
    assert max(map(len, output.splitlines())) <= 100


def test_parse_says_why_a_shipped_model_is_experimental(
    tmp_path: Path, trained: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, run = trained
    why = "It has seen ten sentences."
    (tmp_path / "about.toml").write_text(f'{ABOUT}\nexperimental = "{why}"\n')
    out = tmp_path / "models" / "dm"
    options = ("--about", tmp_path / "about.toml", "--gold", file)
    code, output = command("export", run, "-o", out, *options)
    assert code == 0, output
    assert f"**Experimental.** {why}" in (out / "README.md").read_text()
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "models")
    arguments = ["parse", "--task", "dm", "--input", "tokens", "--device", "cpu"]
    result = CliRunner().invoke(main, arguments, input="She sings\n")
    assert (result.exit_code, result.stderr) == (0, f"the DM model is experimental. {why}\n")
    result = CliRunner().invoke(main, [*arguments[:1], "--model", str(out), *arguments[3:]])
    assert "experimental" not in result.stderr


def test_the_cards_of_shipped_models_are_true() -> None:
    for task in shipped.shipped_tasks():
        folder = shipped.FOLDER / task
        card = read_card(folder)
        assert card.task == task
        assert card.weights.sha256 == files.sha256(folder / checkpoint.WEIGHTS)
        assert card.weights.size == cards.model_size(folder) <= 25_000_000
        assert cards.page(card) == (folder / cards.PAGE).read_text(encoding="utf-8")
        config, _, _ = checkpoint.load_setup(folder)
        assert config.task == task
        assert f"--task {task}" in card.training.command


def test_measure_scores_with_every_beam(memorized: Memorized) -> None:
    file, run = memorized("dm")
    assert [(s.beam, round(s.f1)) for s in measure(run, [str(file)], (1, 3))] == [
        (1, 100),
        (3, 100),
    ]
