"""Encoders that several models have in common: held in memory once, and run once for a sentence.

Models that were trained together (:mod:`transducer.training.joint`) have the same fine-tuned
layers, of which one may read more than another. Nothing has to say so: equal tensors tell.
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
        own = encoders[key].model
        group = next((g for g in groups if unite(encoders[g[0]].model, own)), None)
        if group is None:
            groups.append([key])
        else:
            group.append(key)
    return groups


def unite(deeper: Any, encoder: Any) -> bool:
    """Let an encoder hold the tensors of another one where they are equal; say if all are."""
    known = dict(_tensors(deeper))
    same = True
    for name, tensor in _tensors(encoder).items():
        other = known.get(name)
        if other is tensor:
            continue
        if other is None or not _equal(other, tensor):
            same = False
            continue
        holder, _, attribute = name.rpartition(".")
        setattr(encoder.get_submodule(holder), attribute, other)
    return same


def _tensors(encoder: Any) -> dict[str, Tensor]:
    return dict(chain(encoder.named_parameters(), encoder.named_buffers()))


def _equal(one: Tensor, other: Tensor) -> bool:
    alike = (one.dtype, one.device, one.shape) == (other.dtype, other.device, other.shape)
    return alike and torch.equal(one, other)
