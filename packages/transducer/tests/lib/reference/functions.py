"""The functions of the paper's appendix, on vectors; *w* is the model's weights, by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

Weights = Mapping[str, Tensor]

PAD, UNK = 0, 1
LONGEST_STRING = 24


def ffn(w: Weights, name: str, x: Tensor) -> Tensor:
    """FFN(x) = W x + b."""
    return w[f"{name}.weight"] @ x + w[f"{name}.bias"]


def elu(x: Tensor) -> Tensor:
    """x where it is positive, else exp(x) - 1."""
    return torch.where(x > 0, x, torch.exp(x) - 1)


def mlp(w: Weights, name: str, x: Tensor) -> Tensor:
    """MLP(x) = ELU(W x + b)."""
    return elu(ffn(w, f"{name}.0", x))


def biaffine(w: Weights, name: str, x1: Tensor, x2: Tensor) -> float:
    """x1' U x2 + W [x1; x2] + b; the two halves of W have names of their own."""
    score = x1 @ w[f"{name}.u"] @ x2
    score = score + w[f"{name}.start.weight"][0] @ x1 + w[f"{name}.end.weight"][0] @ x2
    return float(score + w[f"{name}.start.bias"][0])


def bilinear(w: Weights, name: str, x1: Tensor, x2: Tensor) -> Tensor:
    """x1' U_r x2 + b_r for each relation type r; the U_r are side by side in one matrix."""
    u, bias, size = w[f"{name}.u"], w[f"{name}.bias"], len(x1)
    scores = []
    for r in range(len(bias)):
        u_r = u[:, r * size : (r + 1) * size]
        scores.append(x2 @ u_r @ x1 + bias[r])
    return torch.stack(scores)


def attention_score(w: Weights, name: str, query: Tensor, key: Tensor) -> float:
    """v' ELU(W [h; s] + b): MLP attention with a hidden layer; the halves of W are apart."""
    hidden = elu(ffn(w, f"{name}.query", query) + w[f"{name}.key.weight"] @ key)
    return float(w[f"{name}.weight.weight"][0] @ hidden)


def softmax(scores: Sequence[float]) -> list[float]:
    """exp(x_i) / sum_j exp(x_j); an impossible one is at minus infinity."""
    if not scores:
        return []
    largest = max(scores)
    powers = [math.exp(score - largest) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def lstm_cell(
    w: Weights, name: str, layer: str, x: Tensor, state: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: gates i, f, g and o."""
    h, c = state
    gates = w[f"{name}.weight_ih_{layer}"] @ x + w[f"{name}.bias_ih_{layer}"]
    gates = gates + w[f"{name}.weight_hh_{layer}"] @ h + w[f"{name}.bias_hh_{layer}"]
    size = len(h)
    i, f, g, o = (gates[k * size : (k + 1) * size] for k in range(4))
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def char_cnn(w: Weights, name: str, characters: Sequence[int]) -> Tensor:
    """A convolution over all windows that touch the string, and the maximum over them."""
    table, kernel = w[f"{name}.embedding.weight"], w[f"{name}.convolution.weight"]
    size = kernel.shape[2]
    around = [PAD] * (size - 1)
    padded = [*around, *characters[:LONGEST_STRING], *around]
    outputs = []
    for start in range(max(len(padded) - size + 1, 1)):
        window = padded[start : start + size]
        outputs.append(
            sum(
                (kernel[:, :, k] @ table[c] for k, c in enumerate(window)),
                start=torch.zeros(1, dtype=table.dtype),
            )
        )
    best = outputs[0]
    for output in outputs[1:]:
        best = torch.maximum(best, output)
    return elu(best + w[f"{name}.convolution.bias"])
