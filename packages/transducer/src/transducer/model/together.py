"""Linear layers that read the same vector, in one product for each kind of them.

A product of one vector takes longer to call than to compute. Weights that stay as they are
(:mod:`transducer.int8`) are joined once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from transducer.int8 import Int8Linear


class Reading(NamedTuple):
    """What the layers that read z say; None where the model does not have one."""

    labels: Tensor  # (..., V) logits of the vocabulary
    switch: Tensor  # (..., 3)
    nodes: Tensor  # (..., A) the query of node copy
    node_keys: Tensor  # (..., A) the key by which a later step copies this row
    ways: Any  # (..., M)
    words: Any  # (..., A) the query of source copy
    distances: Any  # (..., 2 * reach + 1) scores of words by their distance
    status: Any  # (..., 3) and by whether they are nodes
    link_words: Any  # (..., F) how far links are believed when words are copied
    link_copies: Any  # (..., F') and rows


class Readers(NamedTuple):
    """How decoding reads vectors: what each gives is a list, one item for each layer."""

    z: Callable[[Tensor], list[Any]]  # as Reading
    new: Callable[[Tensor], list[Any]]  # the state of a next node: as the start of edges, as target
    row: Callable[[Tensor], list[Any]]  # the state of a row: as the end of edges, as source


def apart(layers: Iterable[nn.Module | None]) -> Callable[[Tensor], list[Any]]:
    """Return what calls some layers one by one; None instead of one gives None."""
    each = list(layers)
    return lambda inputs: [layer and layer(inputs) for layer in each]


class Together:
    """Do what :func:`apart` does for linear layers, in joined products."""

    def __init__(self, layers: Iterable[nn.Module | None]) -> None:
        layers = list(layers)
        self._count = len(layers)
        self._products: list[tuple[Callable[[Tensor], Tensor], list[int], list[int]]] = []
        for kind, join in _JOIN.items():
            places = [i for i, layer in enumerate(layers) if isinstance(layer, kind)]
            own: list[Any] = [layers[i] for i in places]
            if own:
                self._products.append((join(own), [len(layer.weight) for layer in own], places))

    def __call__(self, inputs: Tensor) -> list[Any]:
        """Return what each layer gives."""
        found: list[Tensor | None] = [None] * self._count
        for product, sizes, places in self._products:
            for place, part in zip(places, product(inputs).split(sizes, -1), strict=True):
                found[place] = part
        return found


def _join_linear(layers: list[nn.Linear]) -> Callable[[Tensor], Tensor]:
    weight, bias = _joined(layers)
    return partial(functional.linear, weight=weight, bias=bias)


def _join_int8(layers: list[Int8Linear]) -> Callable[[Tensor], Tensor]:
    weight, bias = _joined(layers)
    return Int8Linear.of(weight, torch.cat([layer.scale for layer in layers]), bias)


def _joined(layers: list[Any]) -> tuple[Tensor, Tensor]:
    """Return the weights and the biases of all layers; no bias is one of zeros."""
    weights = [layer.weight.detach() for layer in layers]
    sizes = (torch.zeros(len(weight), device=weight.device) for weight in weights)
    biases = [z if x.bias is None else x.bias.detach() for x, z in zip(layers, sizes, strict=True)]
    return torch.cat(weights), torch.cat(biases)


_JOIN: dict[type[nn.Module], Callable[[Any], Callable[[Tensor], Tensor]]] = {
    nn.Linear: _join_linear,
    Int8Linear: _join_int8,
}
