"""Encoders that several models have in common: held in memory once, and run once for a sentence.

Models that were trained together (:mod:`transducer.training.joint`) have the same fine-tuned
layers, of which one may read more than another. The file that they came from tells, else equal
tensors do.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from transducer.encoders.contextual import ContextualEncoder
from transducer.encoders.features import Features, RememberedFeatures


def shared_features(encoders: Mapping[str, ContextualEncoder], name: str) -> dict[str, Features]:
    """Return sources of vectors for those of some encoders that compute the same.

    *name* is that of the pre-trained encoder of all. Those that are like no other are left out.
    """
    result: dict[str, Features] = {}
    for group in _groups(encoders):
        if len(group) > 1:
            alike = [encoders[key] for key in group]
            features = RememberedFeatures(alike, name, torch.float32)
            result |= {key: features.of(place) for place, key in enumerate(group)}
    return result


def _groups(encoders: Mapping[str, ContextualEncoder]) -> list[list[str]]:
    """Group encoders whose layers are those of the first one, the deepest of its group."""
    groups: list[list[str]] = []
    for key in sorted(encoders, key=lambda key: -encoders[key].depth):
        group = next((g for g in groups if unite(encoders[g[0]], encoders[key])), None)
        if group is None:
            groups.append([key])
        else:
            group.append(key)
    return groups


def unite(deeper: ContextualEncoder, encoder: ContextualEncoder) -> bool:
    """Let an encoder hold the tensors of another one where they are equal; say if all are.

    Those of one file are not compared: to read them would bring all of both into memory.
    """
    same = bool(encoder.origin) and encoder.origin == deeper.origin
    known, model = _tensors(deeper.model), encoder.model
    assert model is not None
    every = True
    for name, tensor in _tensors(model).items():
        other = known.get(name)
        if other is tensor:
            continue
        if other is None or not _alike(other, tensor) or not (same or torch.equal(other, tensor)):
            every = False
            continue
        holder, _, attribute = name.rpartition(".")
        setattr(model.get_submodule(holder), attribute, other)
    return every


def _tensors(encoder: Any) -> dict[str, Tensor]:
    return dict(chain(encoder.named_parameters(), encoder.named_buffers()))


def _alike(one: Tensor, other: Tensor) -> bool:
    return (one.dtype, one.device, one.shape) == (other.dtype, other.device, other.shape)
