"""8-bit weights for parsing on a CPU: the same model in less time, at a small cost in precision.

The large matrices of the decoder are rounded to 8 bits, with one scale per output; their inputs are
rounded call by call. Encoder, attention scores and softmaxes stay as they are.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import torch
from torch import Tensor, nn

from transducer.model import TransducerModel

_SMALLEST = 64
"""Layers with fewer outputs are not worth rounding."""


class Int8Linear(nn.Module):
    """A linear layer whose weights are rounded."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        super().__init__()
        weight, bias = weight.detach(), None if bias is None else bias.detach()
        scale = (weight.abs().amax(1) / 127).clamp_min(1e-12)
        zero = torch.zeros(len(weight), dtype=torch.long)
        with warnings.catch_warnings():
            # torch means to replace its quantized tensors; nothing else is as fast on a CPU yet.
            warnings.filterwarnings("ignore", ".*quantize_per_channel", UserWarning)
            rounded = torch.quantize_per_channel(weight, scale, zero, 0, torch.qint8)
        self.packed: Any = torch.ops.quantized.linear_prepack(rounded, bias)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return inputs W' + b."""
        result: Tensor = torch.ops.quantized.linear_dynamic(inputs, self.packed, True)
        return result


class Int8Cell(nn.Module):
    """An LSTM cell whose weights are rounded."""

    def __init__(self, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor) -> None:
        super().__init__()
        self.input = Int8Linear(w_ih, b_ih)
        self.recurrent = Int8Linear(w_hh, b_hh)

    def forward(self, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        """Return the next h and c."""
        i, f, g, o = (self.input(x) + self.recurrent(h)).chunk(4, dim=-1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


@torch.no_grad()
def to_int8(model: TransducerModel) -> TransducerModel:
    """Return a copy of a model with 8-bit weights; it cannot be trained."""
    result = copy.deepcopy(model).eval()
    cells = [Int8Cell(*layer) for layer in result.decoder.all_weights]
    encoder = set(result.encoder_embedding.modules())
    for parent in [module for module in result.modules() if module not in encoder]:
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear) and child.out_features >= _SMALLEST:
                setattr(parent, name, Int8Linear(**dict(child.named_parameters())))
    result.decoder_cells = nn.ModuleList(cells)
    return result
