"""Parsing with 8-bit weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from transducer.config import DecodeConfig
from transducer.int8 import Int8Linear, Int8LSTM, has_int8, to_int8
from transducer.model.network import packed_bilstm, padded_bilstm
from transducer.parsing.parser import Transducer


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
    assert isinstance(small.model.decoder, torch.nn.LSTM)  # the model itself is as before
    torch.manual_seed(0)
    inputs = torch.randn(3, small.model.decoder.input_size)
    states = torch.randn(2, 2, 3, 64)
    with torch.inference_mode():
        for left, right in zip(
            small.model.step(inputs, *states), rounded.step(inputs, *states), strict=True
        ):
            torch.testing.assert_close(left, right, atol=0.05, rtol=0.05)
            assert not torch.equal(left, right)


def test_rounded_encoder_reads_like_the_encoder() -> None:
    torch.manual_seed(0)
    lstm = torch.nn.LSTM(24, 64, 2, batch_first=True, bidirectional=True).eval()
    inputs = torch.randn(3, 5, 24)
    mask = torch.arange(5) < torch.tensor([[5], [2], [4]])
    with torch.inference_mode():
        rounded = packed_bilstm(Int8LSTM(lstm), inputs, mask)
        for left, right in zip(padded_bilstm(lstm, inputs, mask), rounded, strict=True):
            assert left.shape == right.shape
            torch.testing.assert_close(left, right, atol=0.05, rtol=0.05)
            assert not torch.equal(left, right)
        longer = torch.cat([inputs, torch.randn(3, 2, 24)], dim=1)
        padded = packed_bilstm(Int8LSTM(lstm), longer, torch.nn.functional.pad(mask, (0, 2)))
    torch.testing.assert_close(padded[0][:, :5], rounded[0], atol=0.05, rtol=0.05)
    assert not padded[0][:, 5:].any()


def test_a_rounded_model_shares_what_is_not_rounded(make_small: Callable[..., Any]) -> None:
    small = make_small("dm", size=2)
    rounded = to_int8(small.model)
    assert rounded.node_embedding.words.weight is small.model.node_embedding.words.weight


def test_8_bits_are_for_the_cpu(make_small: Callable[..., Any]) -> None:
    assert has_int8(torch.device("cpu"))
    assert not has_int8(torch.device("cuda"))
    small = make_small("dm", size=2)
    parser = Transducer(small.task, small.vocabularies, small.model, {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("transducer.parsing.parser.has_int8", lambda _: False)
        parser.decode(small.items, DecodeConfig(int8=True))
    assert parser._rounded is None
    parser.decode(small.items, DecodeConfig(int8=True))
    assert parser._rounded is not None


@pytest.mark.parametrize("tuned", [False, True])
def test_parsing_in_8_bits_rounds_the_contextual_encoder_too(
    make_small: Callable[..., Any], here: Callable[[str], str], *, tuned: bool
) -> None:
    name = here("sentence-transformers/all-MiniLM-L6-v2")
    small = make_small("dm", size=2, contextual=name, contextual_tuned=tuned)
    parser = Transducer(small.task, small.vocabularies, small.model, {})
    model, features = parser._in_8_bits()
    batches = [parser.batch(small.items), parser.batch(small.items, features)]
    with torch.inference_mode():
        exact, rounded = (
            weights.encoder_embedding.contextual(batch)
            for weights, batch in zip((small.model, model), batches, strict=True)
        )
    assert (features is None) == tuned
    assert float((exact - rounded).norm() / exact.norm()) < 0.02
    settings = DecodeConfig(int8=True)
    assert [path.rows for (path,) in parser.decode(small.items, settings)] == [
        path.rows for (path,) in parser.decode(small.items, settings)
    ]
