"""The weights a new model starts from: word vectors, a tuned encoder, all of another model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from transducer.config import TASKS, Config
from transducer.data.vocabularies import Vocabularies
from transducer.encoders.vectors import load_vectors
from transducer.errors import TrainingError
from transducer.model.network import TransducerModel
from transducer.storage import checkpoint
from transducer.storage.compact import CONTEXTUAL, MIX
from transducer.storage.shipped import find_model

Weights = dict[str, Tensor]


def initialize(
    model: TransducerModel,
    config: Config,
    vocabularies: Vocabularies,
    on_note: Callable[[str], None],
) -> None:
    """Give a new model the weights that its recipe asks for; the others are random."""
    if config.model.word_vectors:
        on_note(load_vectors(model, vocabularies, Path(config.model.word_vectors)))
    if config.train.contextual_from:
        _take_encoder(model, config, config.train.contextual_from)
    if config.train.start_from:
        _take_model(model, config, config.train.start_from)


def _take_encoder(model: TransducerModel, config: Config, folder: str) -> None:
    """Start from the contextual encoder that another model has tuned."""
    path = find_model(folder) if folder in TASKS else folder
    saved = checkpoint.load(path, torch.device("cpu"))
    other = saved.model.encoder_embedding.contextual
    own = model.encoder_embedding.contextual
    if own is None or own.model is None or other is None or other.model is None:
        raise TrainingError(
            f"train.contextual_from: this model and {folder} must both tune their encoder"
        )
    if _encoder(saved.config) != _encoder(config):
        raise TrainingError(f"train.contextual_from: the model in {folder} tunes another encoder")
    rest, encoder = _split(model.state_dict())
    model.load_state_dict(rest | _layers(_split(saved.model.state_dict())[1], encoder))


def _take_model(model: TransducerModel, config: Config, folder: str) -> None:
    """Start from all weights of another model, whose vocabularies this one's begin with.

    If it has another contextual encoder, all but that one's are taken. What only this one has,
    such as words, or more layers of the same encoder, is as it was made.
    """
    other = checkpoint.load(folder, torch.device("cpu"))
    rest, encoder = _split(other.model.state_dict())
    own_rest, own_encoder = _split(model.state_dict())
    if _encoder(other.config) == _encoder(config):
        own_encoder = _layers(encoder, own_encoder)
    try:
        grown = {name: _grown(name, weight, own_rest) for name, weight in rest.items()}
        model.load_state_dict(own_rest | grown | own_encoder)
    except RuntimeError as error:
        raise TrainingError(
            f"train.start_from: the model in {folder} has other sizes or switches"
        ) from error


def _encoder(config: Config) -> tuple[str, int, int]:
    """Return which contextual encoder a model has, and how it is tuned, however deep it is."""
    m = config.model
    return m.contextual, m.contextual_rank, m.contextual_size


def _split(weights: Weights) -> tuple[Weights, Weights]:
    """Return all weights but those of the contextual encoder, and those."""
    encoder = {name: w for name, w in weights.items() if name.startswith(CONTEXTUAL)}
    return {name: w for name, w in weights.items() if name not in encoder}, encoder


def _layers(known: Weights, own: Weights) -> Weights:
    """Return the weights of a known encoder for one that may be deeper, or less deep."""
    result = own | {name: weight for name, weight in known.items() if name in own}
    if MIX in known and MIX in own:
        both = min(len(known[MIX]), len(own[MIX]))
        result[MIX] = torch.cat([known[MIX][:both], own[MIX][both:]])
    return result


_ITEMS = {
    "encoder_embedding.tables": 0,
    "encoder_embedding.chars.embedding": 0,
    "node_embedding.words": 0,
    "node_embedding.pos": 0,
    "node_embedding.chars.embedding": 0,
    "relation_embedding": 0,
    "ffn_vocab": 0,
    "ffn_way": 0,
    "bilinear.u": 1,
    "bilinear.bias": 0,
    "frames.scores": 0,
    "frames.meaning": 1,
}
"""The weights of the items of vocabularies and of ways of copying, by the beginning of their names:
rows or columns. New ones come after the known."""


def _grown(name: str, known: Tensor, own: Weights) -> Tensor:
    """Return known weights and, for items that come after the known ones, those of a new model."""
    axis = next((axis for start, axis in _ITEMS.items() if name.startswith(start)), None)
    if axis is None or name not in own:
        return known
    new = own[name].narrow(axis, known.shape[axis], own[name].shape[axis] - known.shape[axis])
    return torch.cat([known, new], dim=axis)
