"""The mean of some models' weights: as large and as fast as each of them, and at times better.

The models must have come from the same one (``train.start_from``), or be the best and the last one
of a training (RUN and RUN/last): weights of models that were never one have nothing to do with each
other, and their mean is no model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transducer.config import ModelConfig
from transducer.encoders.low_rank import DOWN, UP, mean_difference
from transducer.errors import ModelError
from transducer.storage import checkpoint
from transducer.storage.folders import RUN, new_model, refuse_taken
from transducer.storage.record import AVERAGED, read_record
from transducer.storage.writing import write_text


def average(runs: Sequence[Path], folder: Path, *, overwrite: bool = False) -> None:
    """Write a model whose weights are the mean of those of some trainings."""
    if folder.resolve() in [run.resolve() for run in runs]:
        raise ModelError(f"{folder} is one of the models: write their mean to another folder")
    refuse_taken(folder, overwrite=overwrite)
    models = [checkpoint.load(run, torch.device("cpu")) for run in runs]
    first = models[0]
    for run, model in zip(runs, models, strict=True):
        if model.config.task != first.config.task:
            raise ModelError(
                f"{run} is a model for {model.config.task}, and {runs[0]} for {first.config.task}"
            )
        if (_sizes(model.config.model), model.vocabularies.to_json()) != (
            _sizes(first.config.model),
            first.vocabularies.to_json(),
        ):
            raise ModelError(f"{run} has other sizes, switches or vocabularies than {runs[0]}")
    records = [_record(run) for run in runs]
    weights = mean_weights([model.model.state_dict() for model in models])
    score = _score(runs, [model.score for model in models])
    with new_model(folder, overwrite=overwrite) as new:
        checkpoint.save_setup(new, first.task, first.vocabularies)
        checkpoint.save_weights(new / checkpoint.WEIGHTS, weights)
        write_text(new / RUN, json.dumps({**records[0], AVERAGED: records}, indent=1))
        write_text(new / checkpoint.SCORE, json.dumps(score, indent=1))


def mean_weights(models: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Return the mean of weights; of differences of low rank that of their products."""
    result = {name: _mean([m[name] for m in models]) for name in models[0]}
    for up in (name for name in models[0] if name.endswith(UP)):
        down = up.removesuffix(UP) + DOWN
        result[up], result[down] = mean_difference([(m[up], m[down]) for m in models])
    return result


def _mean(weights: Sequence[Tensor]) -> Tensor:
    """Return the mean; what all have in common stays as it is, to the last bit and sign of zero.

    That is the pretrained encoder, which all models share and which is known by its checksum.
    """
    first, *others = weights
    if all(torch.equal(first, other) for other in others):
        return first
    return torch.stack([first, *others]).mean(0)


def _sizes(config: ModelConfig) -> ModelConfig:
    return replace(config, dropout=0.0)


def _record(run: Path) -> dict[str, Any]:
    """Return what is known of a model's training, and which of its models it is."""
    training = checkpoint.training_of(run)
    record = read_record(training)
    end = run.relative_to(training)
    for name in ("config", "train", "dev", "folder"):
        if name not in record:
            raise ModelError(f"{training / RUN} is damaged: {name} is missing")
    return record | {"folder": str(Path(record["folder"]) / end)}


def _score(runs: Sequence[Path], scores: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what is known of the mean before it is scored: what went into it."""
    minutes: dict[Path, float] = {}
    for run, score in zip(runs, scores, strict=True):
        training = checkpoint.training_of(run)
        minutes[training] = max(minutes.get(training, 0.0), score.get("minutes", 0.0))
    return {**scores[0], "dev_f1": None, "minutes": round(sum(minutes.values()), 2)}
