"""Faster ways to compute something give what the plain ways give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from transducer.config import ModelConfig
from transducer.encoders.bert import is_bert, load_bert
from transducer.encoders.places import locate
from transducer.model.network import CharCNN, packed_bilstm, padded_bilstm

MINILM = "sentence-transformers/all-MiniLM-L6-v2"


def test_padded_and_packed_lstm_agree() -> None:
    torch.manual_seed(0)
    lstm = nn.LSTM(5, 4, 2, batch_first=True, bidirectional=True)
    inputs = torch.randn(3, 6, 5)
    mask = torch.arange(6) < torch.tensor([[6], [1], [4]])
    for padded, packed in zip(
        padded_bilstm(lstm, inputs, mask), packed_bilstm(lstm, inputs, mask), strict=True
    ):
        torch.testing.assert_close(padded, packed)


def test_padded_and_packed_lstm_learn_the_same() -> None:
    torch.manual_seed(0)
    mask = torch.arange(6) < torch.tensor([[6], [1], [4]])
    inputs, weights = torch.randn(3, 6, 5), torch.randn(3, 6, 8)
    gradients = []
    for run in (padded_bilstm, packed_bilstm):
        torch.manual_seed(1)
        lstm = nn.LSTM(5, 4, 2, batch_first=True, bidirectional=True)
        states, hidden, cell = run(lstm, inputs, mask)
        ((states * weights).sum() + hidden.square().sum() + cell.square().sum()).backward()
        gradients.append([parameter.grad for parameter in lstm.parameters()])
    for padded, packed in zip(*gradients, strict=True):
        torch.testing.assert_close(padded, packed)


@pytest.mark.parametrize("kernel", [1, 3])
def test_characters_are_read_as_by_a_convolution(kernel: int) -> None:
    torch.manual_seed(0)
    cnn = CharCNN(ModelConfig(char_size=6, char_embedding=5, char_kernel=kernel), 9)
    strings = torch.tensor([[1, 2, 3, 8], [4, 0, 0, 0], [0, 0, 0, 0]])
    weights = torch.randn(3, 6)
    convolved = cnn.convolution(cnn.embedding(strings).transpose(1, 2))
    touched = (strings > 0).sum(1) + kernel - 1
    expected = torch.stack(
        [
            row[:, :n].amax(1) if n else torch.full((6,), -torch.inf)
            for row, n in zip(convolved, touched, strict=True)
        ]
    )
    expected = nn.functional.elu(expected)
    found = cnn(strings)
    torch.testing.assert_close(found, expected)
    gradients = [
        torch.autograd.grad((values * weights).sum(), list(cnn.parameters()))
        for values in (found, expected)
    ]
    for left, right in zip(*gradients, strict=True):
        torch.testing.assert_close(left, right)
    assert not gradients[0][0][0].any()  # padding is not learned


def test_bert_is_that_of_transformers(here: Callable[[str], str]) -> None:
    folder = locate(here(MINILM))
    reference = _compare(folder, length=9)
    assert set(load_bert(folder)[1].state_dict()) == set(reference.state_dict())


def test_mpnet_is_that_of_transformers(tiny_mpnet: Path) -> None:
    _compare(tiny_mpnet, length=200)  # beyond the furthest distance that counts


def _compare(folder: Path, length: int) -> Any:
    from transformers import AutoModel, AutoTokenizer

    assert is_bert(folder)
    pieces, model = load_bert(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True)
    for word in ("town", "Unbelievable", "naïve", "語", "...", "", "x" * 300):
        expected = tokenizer(word, add_special_tokens=False)["input_ids"]
        assert pieces(word, add_special_tokens=False)["input_ids"] == expected
    for name in ("unk_token_id", "pad_token_id", "cls_token_id", "sep_token_id", "mask_token_id"):
        assert getattr(pieces, name) == getattr(tokenizer, name)
    reference: Any = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    torch.manual_seed(0)
    mask = torch.arange(length) < torch.tensor([[length], [5]])
    ids = torch.randint(5, reference.config.vocab_size, mask.shape).where(
        mask, reference.config.pad_token_id
    )
    with torch.inference_mode():
        found = model(ids, mask.long())
        expected = reference(input_ids=ids, attention_mask=mask.long(), output_hidden_states=True)
    for left, right in zip(found, expected.hidden_states, strict=True):
        torch.testing.assert_close(left, right[mask], atol=1e-4, rtol=1e-4)
    return reference
