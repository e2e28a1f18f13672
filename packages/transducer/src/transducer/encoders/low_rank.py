"""Tune a large encoder by small differences (LoRA; Hu et al., 2022).

A matrix W of the encoder stays as it is, and ``W + up down`` takes its place, with two thin
matrices that are learned. Training needs no gradient of W, and a model that ships holds only the
thin ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

DOWN, UP = LEARNED = (".down", ".up")
"""How the names of the thin matrices end."""


class LowRankLinear(nn.Linear):
    """A linear layer with fixed weights and a learned difference to them."""

    def __init__(self, layer: nn.Linear, rank: int) -> None:
        nn.Module.__init__(self)  # not nn.Linear's: the weights are there
        self.in_features, self.out_features = layer.in_features, layer.out_features
        self.weight, self.bias = layer.weight, layer.bias
        self.requires_grad_(False)
        self.down = nn.Parameter(torch.empty(rank, layer.in_features))
        self.up = nn.Parameter(torch.zeros(layer.out_features, rank))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return inputs (W + up down)' + b."""
        difference = functional.linear(functional.linear(inputs, self.down), self.up)
        return super().forward(inputs) + difference

    def merged(self) -> nn.Linear:
        """Return a plain layer that does the same."""
        result = nn.Linear(self.in_features, self.out_features, device="meta")
        result.weight = nn.Parameter(self.weight + self.up @ self.down, requires_grad=False)
        result.bias = self.bias
        return result


def learn_differences(encoder: nn.Module, rank: int) -> None:
    """Replace the linear layers of an encoder by ones that learn a difference of this rank."""
    for parent in list(encoder.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear):
                setattr(parent, name, LowRankLinear(child, rank))


@torch.no_grad()
def merge_differences(module: nn.Module) -> None:
    """Replace layers that learn a difference by plain ones, which are faster and learn no more."""
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, LowRankLinear):
                setattr(parent, name, child.merged())


def mean_difference(pairs: Sequence[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """Return the *up* and *down* whose product is nearest to the mean of the pairs' products."""
    rank = pairs[0][0].shape[1]
    # The mean has at most the rank of all pairs together: its small core is all there is to cut.
    left, core_left = torch.linalg.qr(torch.cat([up for up, _ in pairs], dim=1) / len(pairs))
    right, core_right = torch.linalg.qr(torch.cat([down for _, down in pairs]).T)
    u, values, v = torch.linalg.svd(core_left @ core_right.T)
    root = values[:rank].sqrt()
    return left @ u[:, :rank] * root, (right @ v[:rank].T * root).T
