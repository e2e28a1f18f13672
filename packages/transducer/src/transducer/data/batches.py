"""From items to batches of tensors: which sentences go together, and how they are padded."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from transducer.data.examples import FEATURES, IGNORE, Array, Item, array
from transducer.data.vocabularies import PAD, Vocabularies, Vocabulary

if TYPE_CHECKING:
    from transducer.encoders.subwords import Subwords

LONGEST_STRING = 24
"""Characters of a word that the CharCNN reads."""


class Batch(NamedTuple):
    """Padded items; U distinct strings of C characters, L layers of D-dimensional vectors."""

    strings: Tensor  # (U, C)
    tokens: Tensor  # (B, S) numbers of strings
    words: Tensor  # (B, S), like all features of tokens
    pos: Tensor
    ner: Tensor
    dep: Tensor
    shape: Tensor
    punct: Tensor
    anonymous: Tensor
    frames: Tensor
    source_mask: Tensor  # (B, S)
    offers: Tensor  # (B, M * S) outcomes; a way's tokens are at way * S
    offer_nodes: Tensor  # (B, M * S)
    offer_strings: Tensor  # (B, M * S)
    nodes: Tensor  # (B, T), like all that follow
    node_strings: Tensor
    node_pos: Tensor
    node_tokens: Tensor
    link_tokens: Tensor
    link_rows: Tensor
    indices: Tensor
    heads: Tensor
    relations: Tensor
    outcomes: Tensor
    target_mask: Tensor
    candidates: Tensor  # (B, T, T)
    contextual: Tensor | None = None  # (B, S, L, D) frozen vectors
    subwords: Subwords | None = None  # input of a tuned encoder

    def to(self, device: torch.device) -> Batch:
        """Move all tensors."""
        return Batch(*(_move(part, device) for part in self))


def batches(
    items: Sequence[Item], size: int, *, tokens: int = 0, seed: int | None = None
) -> Iterator[list[int]]:
    """Group items of similar length, at most *size* of them and *tokens* (0: any) in all.

    With a *seed*, in an order that depends on it alone.
    """
    generator = random.Random(seed)
    noise = [generator.random() if seed is not None else 0.0 for _ in items]
    order = sorted(range(len(items)), key=lambda i: len(items[i].forms) * (1 + 0.2 * noise[i]))
    groups: list[list[int]] = [[]]
    used = 0
    for number in order:
        length = len(items[number].forms)
        full = len(groups[-1]) == size or (tokens and used + length > tokens)
        if groups[-1] and full:
            groups.append([])
            used = 0
        groups[-1].append(number)
        used += length
    if seed is not None:
        generator.shuffle(groups)
    yield from (group for group in groups if group)


def by_tokens(numbers: Iterable[int], items: Sequence[Item], budget: int) -> Iterator[list[int]]:
    """Group items of similar length so that a padded batch has at most *budget* tokens."""
    group: list[int] = []
    for i in sorted(numbers, key=lambda i: len(items[i].forms)):
        if group and (len(group) + 1) * len(items[i].forms) > budget:
            yield group
            group = []
        group.append(i)
    if group:
        yield group


def collate(
    items: Sequence[Item],
    vocabularies: Vocabularies,
    *,
    contextual: Sequence[Array] | None = None,
    subwords: Subwords | None = None,
) -> Batch:
    """Pad items into a batch."""
    width = max(len(item.forms) for item in items)
    labels = len(vocabularies.labels)
    strings: dict[str, int] = {"": 0}

    def intern(labels: Iterable[str]) -> Array:
        return array(strings.setdefault(label, len(strings)) for label in labels)

    tokens = _pad([intern(item.forms) for item in items])
    offer_strings = _pad_ways([intern(item.offer_labels) for item in items], items, width)
    node_strings = _pad([intern(item.labels) for item in items])
    steps = node_strings.shape[1]
    candidates = np.zeros((len(items), steps, steps), dtype=bool)
    for row, item in enumerate(items):
        candidates[row, : item.steps, : item.steps] = item.candidates
    return Batch(
        strings=characters(tuple(strings), vocabularies.chars),
        tokens=tokens,
        **{
            name: _pad([getattr(item, name) for item in items])
            for name in ("words", *FEATURES, "punct", "anonymous", "frames")
        },
        source_mask=_mask([len(item.forms) for item in items]),
        offers=_pad_ways([_in_batch(i.offers, i, width, labels) for i in items], items, width),
        offer_nodes=_pad_ways([item.offer_nodes for item in items], items, width),
        offer_strings=offer_strings,
        node_strings=node_strings,
        **{name: _pad([getattr(item, name) for item in items]) for name in _ROW_COLUMNS},
        outcomes=_pad([_in_batch(i.outcomes, i, width, labels) for i in items], IGNORE),
        target_mask=_mask([item.steps for item in items]),
        candidates=torch.from_numpy(candidates),
        contextual=None if contextual is None else _pad_vectors(contextual),
        subwords=subwords,
    )


_ROW_COLUMNS = (
    "nodes", "node_pos", "node_tokens", "link_tokens", "link_rows", "indices", "heads", "relations",
)  # fmt: skip


def _in_batch(outcomes: Array, item: Item, width: int, labels: int) -> Array:
    """Return outcomes of an item as those of its batch, where a way's tokens are at way * S."""
    way, token = np.divmod(outcomes - labels, max(len(item.forms), 1))
    return np.where(outcomes >= labels, labels + way * width + token, outcomes)


def _pad_ways(arrays: Sequence[Array], items: Sequence[Item], width: int) -> Tensor:
    """Pad each way of copying on its own."""
    ways = max(
        len(values) // max(len(item.forms), 1) for values, item in zip(arrays, items, strict=True)
    )
    result = np.zeros((len(items), ways, width), dtype=np.int64)
    for row, values in enumerate(arrays):
        shaped = values.reshape(ways, -1)
        result[row, :, : shaped.shape[1]] = shaped
    return torch.from_numpy(result.reshape(len(items), ways * width))


def _pad(arrays: Sequence[Array], fill: int = PAD) -> Tensor:
    result = np.full((len(arrays), max(len(values) for values in arrays)), fill, dtype=np.int64)
    for row, values in enumerate(arrays):
        result[row, : len(values)] = values
    return torch.from_numpy(result)


def _pad_vectors(vectors: Sequence[Array]) -> Tensor:
    longest = max(len(own) for own in vectors)
    result = np.zeros((len(vectors), longest, *vectors[0].shape[1:]), dtype=vectors[0].dtype)
    for row, own in enumerate(vectors):
        result[row, : len(own)] = own
    return torch.from_numpy(result)


def _mask(lengths: Sequence[int]) -> Tensor:
    return torch.arange(max(lengths))[None, :] < torch.tensor(lengths)[:, None]


def characters(strings: tuple[str, ...], chars: Vocabulary) -> Tensor:
    """Return the character numbers of strings, padded: (U, C)."""
    numbers = [_character_numbers(string, chars) for string in strings]
    longest = max(1, *(len(n) for n in numbers))
    result = np.zeros((len(strings), longest), dtype=np.int64)
    for row, own in enumerate(numbers):
        result[row, : len(own)] = own
    return torch.from_numpy(result)


@lru_cache(maxsize=200_000)
def _character_numbers(string: str, chars: Vocabulary) -> tuple[int, ...]:
    return tuple(chars[character] for character in string[:LONGEST_STRING])


def _move(part: Any, device: torch.device) -> Any:
    if part is None:
        return None
    if isinstance(part, Tensor):
        return part.to(device, non_blocking=True)
    return type(part)(*(tensor.to(device, non_blocking=True) for tensor in part))
