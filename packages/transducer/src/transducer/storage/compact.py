"""Weights in few bits: what a model directory that ships holds in ``model.safetensors``.

A large matrix is rounded to 8 (or 4) bits a weight with one scale per row; everything else is half
floats. A contextual encoder that was tuned is stored as its difference to the pretrained weights,
which come from a package of their own: the difference is small, so that its rounding error is, too,
and what was not tuned takes no space. One that was tuned by differences of low rank
(:mod:`transducer.encoders.low_rank`) is stored as these.

The file itself says how a tensor is stored, so that :func:`read_weights` needs no option: rounded
``x`` has an integer type and a companion ``x:scale``, and the header names the pretrained weights.

>>> import torch
>>> rounded, scale = rounded_rows(torch.tensor([[1.0, -0.5, 0.25]]), bits=8)
>>> rounded.tolist(), restored_rows(rounded, scale, columns=3).tolist()[0][0]
([[127, -64, 32]], 1.0)
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from transducer.encoders.low_rank import LEARNED
from transducer.errors import ModelError
from transducer.storage.shared_encoder import find_encoder
from transducer.storage.writing import written

BITS = (4, 8, 16)

CONTEXTUAL = "encoder_embedding.contextual."
"""The weights of the contextual encoder and of what mixes its layers."""

MIX = f"{CONTEXTUAL}mix"
"""How much each of its layers counts."""

PRETRAINED = f"{CONTEXTUAL}model."
"""The weights of a tuned contextual encoder."""

UNUSED = f"{PRETRAINED}pooler."
"""Those of them that nothing reads."""

_CHECKSUM = "pretrained"
_ENCODER = "encoder"
"""Of the header: the hash of the file with what tuning changed in the encoder, if it has one."""
_SCALE = ":scale"
_SMALLEST = 4096
"""Tensors with fewer weights stay half floats."""
_NARROWEST = 32
"""Rows with fewer weights are not worth a scale of their own."""
_LARGEST = 1e4
"""What no weight exceeds: with larger ones sums overflow, and a parser computes with no numbers."""
_MOST_HEADER = 16_000_000
"""Bytes in which the file says what it holds."""
_FLOATS: tuple[str, ...] = ("F64", "F32", "F16", "BF16")
_ROUNDED = {"I8": 1, "U8": 2}
"""Types of rounded weights -> how many of them are in a byte."""
_NOISE = 1e-6
"""Relative differences up to here are rounding errors of the training, not changes."""


def write_weights(
    path: Path,
    weights: Mapping[str, Tensor],
    fresh: Mapping[str, Tensor],
    *,
    bits: int = 8,
    tuned_bits: int = 8,
    keep_encoder: Callable[[Mapping[str, Tensor]], str] | None = None,
) -> None:
    """Write weights; *fresh* are those of the model before training, encoder included.

    *keep_encoder* takes what tuning changed in the encoder, and returns the hash of its file.
    """
    stored: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if not _is_pretrained(name):
            stored |= _stored(name, weight, tuned_bits if name.startswith(PRETRAINED) else bits)
        elif not name.startswith(UNUSED):
            difference = weight - fresh[name]
            if difference.abs().max() > _NOISE * fresh[name].abs().max():
                stored |= _stored(name, difference, tuned_bits)
    header = {_CHECKSUM: _checksum(fresh)} if any(map(_is_pretrained, weights)) else {}
    if keep_encoder is not None:
        tuned = {name: stored.pop(name) for name in list(stored) if name.startswith(PRETRAINED)}
        header[_ENCODER] = keep_encoder(tuned)
    with written(path) as hidden:
        save_file(stored, hidden, metadata=header)
        hidden.chmod(0o644)  # safetensors lets nobody else read it


class Stored(NamedTuple):
    """What a file says of a tensor."""

    dtype: str
    shape: tuple[int, ...]


def read_header(path: Path) -> dict[str, Stored]:
    """Return what a weights file holds, without reading any tensor."""
    if not path.is_file():  # safetensors' own error does not say which file
        raise FileNotFoundError(path)
    with path.open("rb") as file:
        if int.from_bytes(file.read(8), "little") > _MOST_HEADER:
            raise ModelError(f"{path} is damaged: its header has more than {_MOST_HEADER:,} bytes")
    with safe_open(path, "pt") as file:
        slices = ((name, file.get_slice(name)) for name in file.keys())  # noqa: SIM118
        return {name: Stored(s.get_dtype(), tuple(s.get_shape())) for name, s in slices}


def misfit(stored: Mapping[str, Stored], model: Mapping[str, Tensor]) -> str:
    """Return the first difference between what a file holds and a model's weights, or nothing.

    A tensor of the pretrained encoder may be missing: it was not tuned.
    """
    for name in stored:
        if name.removesuffix(_SCALE) not in model:
            return f"{name} is not part of the model"
    for name, weight in model.items():
        if name not in stored:
            if _is_pretrained(name):
                continue
            return f"{name} is missing"
        found, scale = stored[name], stored.get(name + _SCALE)
        expected, dtypes = tuple(weight.shape), _FLOATS
        if scale is not None and weight.dim() > 1 and weight.numel():
            columns = _columns(weight)
            rows = weight.numel() // columns
            expected, dtypes = (rows, -(-columns // _ROUNDED.get(found.dtype, 1))), tuple(_ROUNDED)
            if scale.dtype not in _FLOATS or scale.shape != (rows,):
                return f"{name}{_SCALE} is {_told(scale)}, not {rows} numbers"
        if found.shape != expected or (weight.is_floating_point() and found.dtype not in dtypes):
            return f"{name} is {_told(found)}, not {' x '.join(map(str, expected)) or 'a number'}"
    return ""


def _told(stored: Stored) -> str:
    return f"{' x '.join(map(str, stored.shape)) or 'a number'} of type {stored.dtype}"


def check_numbers(path: Path, weights: Mapping[str, Tensor]) -> None:
    """Refuse weights that are no numbers, or too large to compute with."""
    problem = wrong_number(weights)
    if problem:
        raise ModelError(f"{path} is damaged: {problem}")


def wrong_number(weights: Mapping[str, Tensor]) -> str:
    """Return which weights are no numbers, or too large to compute with, or nothing."""
    for name, weight in weights.items():
        # Asked so that what is no number is refused, too.
        if weight.numel() and not bool(weight.abs().max() <= _LARGEST):
            return f"{name} has a weight that is not a number up to {_LARGEST:,.0f}"
    return ""


def read_weights(path: Path, fresh: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Read weights, rounded or not, for a model that was just made and has the weights *fresh*."""
    contents = {path: read_header(path)}
    header = _metadata(path)
    if _ENCODER in header:
        encoder = find_encoder(path.parent, header[_ENCODER])
        # Of the layers that models share, this one may have fewer.
        found = read_header(encoder).items()
        contents[encoder] = {n: s for n, s in found if n.removesuffix(_SCALE) in fresh}
    problem = misfit({n: s for content in contents.values() for n, s in content.items()}, fresh)
    if problem:
        raise ModelError(f"{path} does not fit the model: {problem}")
    stored: dict[str, Tensor] = {}
    for place, content in contents.items():
        with safe_open(place, "pt") as file:
            stored |= {name: file.get_tensor(name) for name in content}
    names = [name for name in stored if not name.endswith(_SCALE)]
    weights = {name: _restored(name, stored, fresh) for name in names}
    check_numbers(path, weights)
    if _CHECKSUM not in header:
        missing = next((name for name in fresh if name not in weights), None)
        if missing is not None:
            raise ModelError(f"{path} does not fit the model: {missing} is missing")
        return weights
    if header[_CHECKSUM] != _checksum(fresh):
        raise ModelError(f"{path} belongs to another version of the pretrained encoder")
    base = {name: weight for name, weight in fresh.items() if _is_pretrained(name)}
    return weights | {n: w + weights[n] if n in weights else w for n, w in base.items()}


def encoder_digest(path: Path) -> str:
    """Return the hash of the file in which a weights file keeps its encoder, or nothing."""
    if not path.is_file():  # the end of a training has its weights elsewhere
        return ""
    read_header(path)
    return _metadata(path).get(_ENCODER, "")


def _metadata(path: Path) -> dict[str, str]:
    with safe_open(path, "pt") as file:
        return file.metadata() or {}


def _is_pretrained(name: str) -> bool:
    """Return whether a weight comes from the pretrained encoder."""
    return name.startswith(PRETRAINED) and not name.endswith(LEARNED)


def rounded_rows(weight: Tensor, bits: int) -> tuple[Tensor, Tensor]:
    """Round each row to *bits* (8, or 4: two in a byte); return it with the scales."""
    largest = 2 ** (bits - 1) - 1
    scale = weight.abs().amax(1, keepdim=True) / largest
    whole = (weight / scale.clamp_min(torch.finfo(torch.float32).tiny)).round()
    whole = whole.clamp(-largest, largest).to(torch.int8)
    if bits == 8:
        return whole, scale.squeeze(1)
    pairs = torch.nn.functional.pad(whole, (0, whole.shape[1] % 2)).unflatten(1, (-1, 2)) + 8
    return (pairs[..., 0] * 16 + pairs[..., 1]).to(torch.uint8), scale.squeeze(1)


def restored_rows(rounded: Tensor, scale: Tensor, columns: int) -> Tensor:
    """Undo :func:`rounded_rows`, up to what rounding lost."""
    if rounded.dtype == torch.uint8:
        pairs = torch.stack([rounded >> 4, rounded & 15], dim=-1).to(torch.int8) - 8
        rounded = pairs.flatten(1)[:, :columns]
    return rounded.float() * scale.unsqueeze(1)


def _stored(name: str, weight: Tensor, bits: int) -> dict[str, Tensor]:
    """Return a tensor as it is written, under one or two names."""
    weight = weight.detach().float().cpu()
    if bits == 16 or weight.dim() < 2 or weight.numel() < _SMALLEST:
        return {name: weight.half().contiguous()}
    rounded, scale = rounded_rows(weight.reshape(-1, _columns(weight)), bits)
    return {name: rounded.contiguous(), name + _SCALE: scale.contiguous()}


def _restored(name: str, stored: Mapping[str, Tensor], fresh: Mapping[str, Tensor]) -> Tensor:
    """Return a tensor as it was, up to rounding."""
    weight = stored[name]
    if name + _SCALE not in stored:
        return weight.float()
    model = fresh[name]
    return restored_rows(weight, stored[name + _SCALE], _columns(model)).view(model.shape)


def _columns(weight: Tensor) -> int:
    """Return how many weights share a scale: the last dimension, or all but the first one."""
    last = weight.shape[-1]
    return last if last >= _NARROWEST else weight.numel() // len(weight)


def _checksum(fresh: Mapping[str, Tensor]) -> str:
    """Return a number that tells versions of the pretrained weights apart, fast."""
    used = (n for n in fresh if _is_pretrained(n) and not n.startswith(UNUSED))
    total = 0
    for name in sorted(used):
        total = zlib.crc32(fresh[name].detach().cpu().contiguous().numpy().data, total)
    return f"{total:08x}"
