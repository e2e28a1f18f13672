"""Parsing with 8-bit weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from transducer.int8 import Int8Linear, to_int8


def test_rounded_layer_is_close() -> None:
    torch.manual_seed(0)
    layer = torch.nn.Linear(64, 80)
    inputs = torch.randn(5, 64)
    expected = layer(inputs).detach()
    found = Int8Linear(layer.weight, layer.bias)(inputs)
    assert float((found - expected).abs().max()) < 0.03 * float(expected.abs().max())
    assert not torch.equal(found, expected)


def test_rounded_model_steps_like_the_model(make_small: Callable[..., Any]) -> None:
    small = make_small("dm", size=2, decoder_size=64, encoder_size=32)
    rounded = to_int8(small.model)
    assert len(small.model.decoder_cells) == 0  # the model itself is as before
    torch.manual_seed(0)
    inputs = torch.randn(3, small.model.decoder.input_size)
    states = torch.randn(2, 2, 3, 64)
    with torch.inference_mode():
        for left, right in zip(
            small.model.step(inputs, *states), rounded.step(inputs, *states), strict=True
        ):
            torch.testing.assert_close(left, right, atol=0.05, rtol=0.05)
            assert not torch.equal(left, right)
