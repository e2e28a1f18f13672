"""Faster ways to compute something give what the plain ways give."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from transducer.config import ModelConfig
from transducer.model.network import CharCNN, packed_bilstm, padded_bilstm


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
