"""Training and parsing keep to the device of the model and the batch.

No GPU is needed: the CPU poses as one. Tensors that are made without naming a device land on
``meta``, which has no data, so that whatever mixes them with the batch fails, as it would on CUDA.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from transducer.config import DecodeConfig, ModelConfig
from transducer.decoding.search import decode
from transducer.encoders.features import FrozenFeatures
from transducer.model.losses import LossWeights

HOST = torch.device("meta")
WEIGHTS = LossWeights(smoothing=0.1, coverage=1.0, links=1.0)
SWITCHES: dict[str, dict[str, object]] = {
    "ours": {},
    "paper": {
        "anchored": False, "copy_attention": False, "pointer_reach": 0, "link_size": 0,
        "copy_ways": "concept", "source_candidates": "preceding",
    },
}  # fmt: skip


def test_what_lands_elsewhere_is_noticed() -> None:
    there = torch.ones(3)
    with HOST, pytest.raises(RuntimeError):
        (there + torch.arange(3)).sum().item()


@pytest.mark.parametrize("kind", SWITCHES)
@pytest.mark.parametrize("task", ["amr", "dm", "ucca"])
def test_an_update_keeps_to_its_device(
    task: str, kind: str, make_small: Callable[..., Any]
) -> None:
    small = make_small(task, **SWITCHES[kind])
    batch = small.batch()
    small.model.train()
    with HOST:
        losses = small.model(batch, replace(WEIGHTS, force_copy=True))
        losses.total.backward()
    assert torch.isfinite(losses.total)
    learned = [w for w in small.model.parameters() if w.grad is not None]
    assert len(learned) > 20
    assert {w.grad.device.type for w in learned} == {"cpu"}


@pytest.mark.parametrize(("kind", "beam"), [("ours", 1), ("paper", 2)])
@pytest.mark.parametrize("task", ["amr", "dm", "ucca"])
def test_decoding_keeps_to_its_device(
    task: str, kind: str, beam: int, make_small: Callable[..., Any]
) -> None:
    small = make_small(task, size=2, **SWITCHES[kind])
    batch, rules = small.batch(), small.rules
    plain = decode(small.model, batch, small.items, rules, DecodeConfig(beam=beam))
    with HOST:
        posing = decode(small.model, batch, small.items, rules, DecodeConfig(beam=beam))
    assert [[d.rows for d in found] for found in posing] == [
        [d.rows for d in found] for found in plain
    ]


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_frozen_encoders_run_on_the_device_they_are_given(
    kind: str, random_encoder: Callable[[str], Path]
) -> None:
    """On ``meta`` everything but the copy to the host can be done: shapes, and no memory."""
    config = ModelConfig(contextual=str(random_encoder(kind)))
    source = FrozenFeatures(config, None, torch.device("meta"))
    with pytest.raises(RuntimeError, match=r"(?i)meta"):  # torch 2.6 cannot count there, either
        source([["Dogs", "bark"]])
    assert {weight.device.type for weight in source._model.parameters()} == {"meta"}
    assert len(FrozenFeatures(config)([["Dogs", "bark"]])[0]) == 2  # that of the CPU is unharmed


@pytest.mark.parametrize("task", ["amr", "dm", "ucca"])
def test_an_update_in_bf16_is_near_that_in_fp32(task: str, make_small: Callable[..., Any]) -> None:
    totals = []
    for short in (False, True):
        small = make_small(task, dropout=0.0)
        small.model.train()
        with torch.autocast("cpu", enabled=short):
            losses = small.model(small.batch(), WEIGHTS)
        losses.total.backward()
        assert all(w.grad.isfinite().all() for w in small.model.parameters() if w.grad is not None)
        totals.append(float(losses.total.detach()))
    assert totals[0] != totals[1]
    assert totals[1] == pytest.approx(totals[0], rel=0.02)
