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
    from torch.nn.utils.rnn import PackedSequence

    from transducer.model.network import TransducerModel

_SMALLEST = 64
"""Layers with fewer outputs are not worth rounding."""


class Int8Linear(nn.Module):
    """A linear layer whose weights are rounded."""

    weight: Tensor
    scale: Tensor
    bias: Tensor | None

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        super().__init__()
        rounded, scale = _rounded_rows(weight.detach())
        self._hold(rounded, scale, None if bias is None else bias.detach())

    @classmethod
    def of(cls, rounded: Tensor, scale: Tensor, bias: Tensor | None) -> Int8Linear:
        """Return a layer of weights that are rounded already."""
        layer = cls.__new__(cls)
        nn.Module.__init__(layer)
        layer._hold(rounded, scale, bias)
        return layer

    def _hold(self, rounded: Tensor, scale: Tensor, bias: Tensor | None) -> None:
        self.register_buffer("weight", rounded)
        self.register_buffer("scale", scale)
        self.register_buffer("bias", bias)
        self._packed: Any = None

    def forward(self, inputs: Tensor) -> Tensor:
        """Return inputs W' + b."""
        result: Tensor = torch.ops.quantized.linear_dynamic(inputs, self.packed(), True)
        return result

    def packed(self) -> Any:
        """Return the weights in the order in which the CPU reads them."""
        if self._packed is None:  # made when the weights are there
            self._packed = _packed(self.weight, self.scale, self.bias)
        return self._packed


def _rounded_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return the weights as whole numbers, and what one is worth in each row."""
    if weight.is_meta:
        return torch.empty_like(weight, dtype=torch.int8), weight.new_empty(len(weight))
    scale = (weight.abs().amax(1) / 127).clamp_min(1e-12)
    zero = torch.zeros(len(weight), dtype=torch.long)
    with _undeprecated():
        return torch.quantize_per_channel(weight, scale, zero, 0, torch.qint8).int_repr(), scale


def _packed(weight: Any, scale: Any, bias: Any) -> Any:
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
    """The rounded weights of one layer of an LSTM, in one direction."""

    def __init__(self, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor) -> None:
        super().__init__()
        self.input = Int8Linear(w_ih, b_ih)
        self.recurrent = Int8Linear(w_hh, b_hh)

    def packed(self) -> Any:
        """Return them as torch's LSTM wants them."""
        of_input, recurrent = self.input, self.recurrent
        return torch.ops.quantized.make_quantized_cell_params_dynamic(
            of_input.packed(), recurrent.packed(), of_input.bias, recurrent.bias, True
        )


class Int8LSTM(nn.Module):
    """An LSTM whose weights are rounded: what ``nn.LSTM`` does with packed sequences, or a step."""

    def __init__(self, lstm: nn.LSTM) -> None:
        super().__init__()
        self.size, self.layers, self.both_ways = (
            lstm.hidden_size,
            lstm.num_layers,
            lstm.bidirectional,
        )
        self.cells = nn.ModuleList(Int8Cell(*weights) for weights in lstm.all_weights)
        self._packed: list[Any] = []

    def forward(self, packed: PackedSequence) -> tuple[PackedSequence, tuple[Tensor, Tensor]]:
        """Return the states, and the last hidden and cell of each layer and direction."""
        sentences = int(packed.batch_sizes[0])
        zeros = packed.data.new_zeros(len(self.cells), sentences, self.size)
        states, hidden, cell = self._run(packed.data, packed.batch_sizes, (zeros, zeros))
        order: Any = packed.unsorted_indices
        final = (hidden.index_select(1, order), cell.index_select(1, order))
        return packed._replace(data=states), final

    def step(self, inputs: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Take one step: (N, ·), (layers, N, D) twice -> h, hidden, cell."""
        return self._run(inputs, torch.tensor([len(inputs)]), (hidden, cell))

    def _run(self, *given: Any) -> tuple[Tensor, Tensor, Tensor]:
        if not self._packed:  # made when the weights are there
            self._packed = [cell.packed() for cell in self.cells]  # type: ignore[operator]
        result: tuple[Tensor, Tensor, Tensor] = torch.quantized_lstm(
            *given,
            self._packed,
            has_biases=True,
            num_layers=self.layers,
            dropout=0.0,
            train=False,
            bidirectional=self.both_ways,
            dtype=torch.qint8,
            use_dynamic=True,
        )
        return result


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
    result.encoder, result.decoder = Int8LSTM(result.encoder), Int8LSTM(result.decoder)
    _replace_linear(result, Int8Linear, but=result.encoder_embedding)
    result.fixed = True
    return result
