"""Make a model directory that ships from a training run: small, with a card, ready to parse."""

from __future__ import annotations

import functools
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from graphconv.io.files import sha256
from transducer.config import Config, from_dict
from transducer.errors import ModelError
from transducer.model.network import TransducerModel
from transducer.storage import checkpoint
from transducer.storage.cards import (
    About,
    Card,
    Score,
    Training,
    Weights,
    day,
    model_size,
    shortened,
    training_command,
    write_card,
)
from transducer.storage.compact import PRETRAINED, UNUSED, write_weights
from transducer.storage.folders import new_model, refuse_taken
from transducer.storage.record import AVERAGED, read_record
from transducer.storage.shared_encoder import ENCODER, write_encoder
from transducer.storage.writing import write_text, written

_PATHS = {
    "model": ("word_vectors",),
    "train": ("contextual_from", "start_from"),
    "amr": ("rolesets", "gazetteer"),
}
"""Settings that name a file of the machine that trained; only its name is kept."""


def export(
    run: Path,
    folder: Path,
    *,
    bits: int = 8,
    tuned_bits: int = 8,
    share_encoder: bool = False,
    overwrite: bool = False,
) -> None:
    """Write what parsing needs of a training run, in few bits.

    With *share_encoder* the fine-tuned layers of the contextual encoder are kept beside the folder,
    once for all models that have them.
    """
    training = checkpoint.training_of(run)
    if folder.resolve() in (run.resolve(), training.resolve()):
        raise ModelError(f"{folder} is the model itself: export it to another folder")
    refuse_taken(folder, overwrite=overwrite)
    saved = checkpoint.load(run, torch.device("cpu"))
    fresh = TransducerModel(saved.config.model, saved.vocabularies, saved.task.trees)
    setup = json.loads((training / checkpoint.CONFIG).read_text(encoding="utf-8"))
    setup["format"] = checkpoint.FORMAT
    setup["config"] = _without_folders(saved.config).to_dict()
    texts = [checkpoint.VOCABULARIES, *([checkpoint.TABLES] if saved.task.tables else [])]
    names = shortened(saved.score.get("sha256", {}))
    hashes = {names[path]: value for path, value in saved.score.get("sha256", {}).items()}
    keep = functools.partial(write_encoder, folder.parent / ENCODER, overwrite=overwrite)
    with new_model(folder, overwrite=overwrite) as new:
        write_text(new / checkpoint.CONFIG, json.dumps(setup, indent=1))
        for name in texts:
            text = checkpoint.read_packed(training / name)
            with written(new / f"{name}.gz") as hidden:
                hidden.write_bytes(gzip.compress(text.encode(), mtime=0))
        write_weights(
            new / checkpoint.WEIGHTS,
            saved.model.state_dict(),
            fresh.state_dict(),
            bits=bits,
            tuned_bits=tuned_bits,
            keep_encoder=keep if share_encoder else None,
        )
        write_text(new / checkpoint.SCORE, json.dumps({**saved.score, "sha256": hashes}, indent=1))


def add_card(
    run: Path, folder: Path, about: About, scores: Sequence[Score], *, bits: int, tuned_bits: int
) -> Card:
    """Write the card of an exported model."""
    training = checkpoint.training_of(run)
    record = read_record(training)
    saved = checkpoint.load(folder, torch.device("cpu"))
    setup = json.loads((folder / checkpoint.CONFIG).read_text(encoding="utf-8"))
    used = ((n, p) for n, p in saved.model.named_parameters() if not n.startswith(UNUSED))
    counts = [(name.startswith(PRETRAINED), weight) for name, weight in used]
    score = saved.score
    card = Card(
        task=saved.config.task,
        date=day(training / checkpoint.WEIGHTS),
        about=about,
        training=Training(
            command=_commands(saved.config, record),
            files=score["sha256"],
            **{k: score[k] for k in ("sentences", "seed", "epoch", "minutes", "dev_f1")},
        ),
        weights=Weights(
            own=sum(p.numel() for tuned, p in counts if not tuned),
            tuned=sum(p.numel() for tuned, p in counts if tuned and p.requires_grad),
            bits=bits,
            tuned_bits=tuned_bits,
            encoder=saved.config.model.contextual,
            sha256=sha256(folder / checkpoint.WEIGHTS),
            size=model_size(folder),
        ),
        scores=tuple(scores),
        versions=setup["versions"],
    )
    write_card(folder, card)
    return card


def _commands(config: Config, record: Mapping[str, Any]) -> str:
    """Return the commands that repeat a training, or those whose mean a model is."""
    folder = f"runs/{config.task}"
    if AVERAGED not in record:
        return training_command(config, record, folder)
    commands: dict[str, str] = {}
    models = []
    for run in record[AVERAGED]:
        config = _without_folders(from_dict(run["config"]))
        training = run["folder"].removesuffix(f"/{checkpoint.LAST}")
        name = f"{folder}-{[*commands, training].index(training) + 1}"
        commands[training] = training_command(config, run, name)
        models.append(run["folder"].replace(training, name, 1))
    return "\n".join([*commands.values(), f"transducer average {' '.join(models)} -o {folder}"])


def _without_folders(config: Config) -> Config:
    values = config.to_dict()
    for section, keys in _PATHS.items():
        for key in keys:
            values[section][key] = Path(values[section][key]).name
    return from_dict(values)
