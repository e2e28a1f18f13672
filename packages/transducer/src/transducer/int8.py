"""8-bit weights for parsing on a CPU: the same model in less time, at a small cost in precision.

The large matrices are rounded to 8 bits, with one scale per output; their inputs are rounded call
by call. A pre-trained encoder has inputs that are too uneven for that (rounded so, MiniLM's vectors
err by 25 %): its matrices get 16 bits (0.6 %), where the CPU computes with these. Embeddings,
attention scores and softmaxes stay as they are.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from transducer.model.network import TransducerModel

_SMALLEST = 64
"""Layers with fewer outputs are not worth rounding."""


class Int8Linear(nn.Module):
    """A linear layer whose weights are rounded."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        super().__init__()
        rounded, scale = _rounded_rows(weight.detach())
        self.register_buffer("weight", rounded)
        self.register_buffer("scale", scale)
        self.register_buffer("bias", None if bias is None else bias.detach())
        self._packed: Any = None

    def forward(self, inputs: Tensor) -> Tensor:
        """Return inputs W' + b."""
        if self._packed is None:  # made when the weights are there
            self._packed = _packed(self.weight, self.scale, self.bias)
        result: Tensor = torch.ops.quantized.linear_dynamic(inputs, self._packed, True)
        return result


def _rounded_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return the weights as whole numbers, and what one is worth in each row."""
    if weight.is_meta:
        return torch.empty_like(weight, dtype=torch.int8), weight.new_empty(len(weight))
    scale = (weight.abs().amax(1) / 127).clamp_min(1e-12)
    zero = torch.zeros(len(weight), dtype=torch.long)
    with _undeprecated():
        return torch.quantize_per_channel(weight, scale, zero, 0, torch.qint8).int_repr(), scale


def _packed(weight: Any, scale: Any, bias: Any) -> Any:
    """Return rounded weights in the order in which the CPU reads them."""
    zero = torch.zeros(len(weight), dtype=torch.long)
    with _undeprecated():
        rounded = torch._make_per_channel_quantized_tensor(weight, scale, zero, 0)
        return torch.ops.quantized.linear_prepack(rounded, bias)


@contextmanager
def _undeprecated() -> Iterator[None]:
    """Torch means to replace its quantized tensors; nothing else is as fast on a CPU yet."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*quantize", UserWarning)
        yield


class Int8Cell(nn.Module):
    """An LSTM cell whose weights are rounded."""

    def __init__(self, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor) -> None:
        super().__init__()
        self.input = Int8Linear(w_ih, b_ih)
        self.recurrent = Int8Linear(w_hh, b_hh)

    def forward(self, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        """Return the next h and c."""
        return self.step(self.input(x), h, c)

    def step(self, projected: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        """Do the same for an input that is projected already."""
        gates = projected + self.recurrent(h)
        i, f, _, o = gates.sigmoid().chunk(4, dim=-1)  # one call for three
        c = f * c + i * gates.chunk(4, dim=-1)[2].tanh()
        return o * c.tanh(), c


class Int8BiLSTM(nn.Module):
    """A BiLSTM whose weights are rounded; it does what ``padded_bilstm`` does."""

    def __init__(self, lstm: nn.LSTM) -> None:
        super().__init__()
        self.size = lstm.hidden_size
        self.cells = nn.ModuleList(Int8Cell(*weights) for weights in lstm.all_weights)

    def forward(self, inputs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return states (B, S, 2H) and final (2 * layers, B, H) twice."""
        finals = []
        for layer in range(0, len(self.cells), 2):
            runs = [self._run(self.cells[layer + way], inputs, mask, way) for way in (0, 1)]
            inputs = torch.cat([states for states, *_ in runs], dim=-1)
            finals += [final for _, *final in runs]
        hidden, cells = zip(*finals, strict=True)
        return inputs, torch.stack(hidden), torch.stack(cells)

    def _run(
        self, cell: Any, inputs: Tensor, mask: Tensor, way: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        projected = cell.input(inputs).unbind(1)  # of all words at once
        here, full = mask.unsqueeze(-1).unbind(1), mask.all(0).tolist()
        h = c = inputs.new_zeros(len(inputs), self.size)
        states = [h] * len(projected)
        for place in reversed(range(len(projected))) if way else range(len(projected)):
            new_h, new_c = cell.step(projected[place], h, c)
            if full[place]:
                states[place] = h = new_h
                c = new_c
            else:  # padding leaves everything as it was
                h, c = torch.where(here[place], new_h, h), torch.where(here[place], new_c, c)
                states[place] = torch.where(here[place], h, 0.0)
        return torch.stack(states, dim=1), h, c


class Bf16Linear(nn.Module):
    """A linear layer that computes with 16 bits."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.detach().bfloat16(), requires_grad=False)
        self.register_buffer("bias", None if bias is None else bias.detach().bfloat16())

    def forward(self, inputs: Tensor) -> Tensor:
        """Return inputs W' + b."""
        bias: Any = self.bias
        return functional.linear(inputs.bfloat16(), self.weight, bias).float()


def _replace_linear(
    module: nn.Module, kind: type[Int8Linear | Bf16Linear], *, but: nn.Module | None = None
) -> None:
    """Replace the large linear layers inside of a module, *but* not those inside of another."""
    kept = set() if but is None else set(but.modules())
    for parent in [part for part in module.modules() if part not in kept]:
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear) and child.out_features >= _SMALLEST:
                setattr(parent, name, kind(**dict(child.named_parameters())))


@torch.no_grad()
def shorten(encoder: nn.Module) -> None:
    """Let a pre-trained encoder compute with 16 bits, where that is faster."""
    if has_bf16():
        _replace_linear(encoder, Bf16Linear)


def has_bf16() -> bool:
    """Return whether this CPU computes with 16 bits."""
    return torch.cpu._is_avx512_bf16_supported()


def has_int8(device: torch.device) -> bool:
    """Return whether torch computes with 8 bits on a device."""
    return device.type == "cpu" and torch.backends.quantized.engine != "none"


@torch.no_grad()
def to_int8(model: TransducerModel) -> TransducerModel:
    """Return a model with 8-bit weights; it cannot be trained, and shares the others."""
    shared: dict[int, Any] = {id(weight): weight for weight in model.parameters()}
    result = copy.deepcopy(model, shared).eval()
    shorten(result.encoder_embedding)
    result.decoder_cells = nn.ModuleList(Int8Cell(*layer) for layer in result.decoder.all_weights)
    result.decoder = None  # its cells take its place
    result.encoder = Int8BiLSTM(result.encoder)
    _replace_linear(result, Int8Linear, but=result.encoder_embedding)
    return result
