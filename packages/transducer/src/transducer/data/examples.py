"""From treebank graphs to batches of tensors.

``Arborescence -> Example`` (strings: what the model sees of a sentence and its tree), ``Example ->
Item`` (numbers), ``Items -> Batch`` (padded tensors). Only the last step makes tensors.

Row 0 of the target side is the begin symbol, so that row numbers are those of the arborescence.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from graphconv.arborescence import Row
from graphconv.graph import Token
from transducer.data.vocabularies import (
    BOS,
    EOS,
    FIRST,
    PAD,
    SPECIALS,
    UNK,
    Vocabularies,
    Vocabulary,
)
from transducer.frameworks.structure import candidate_heads
from transducer.model.frames import token_frames
from transducer.text.annotation import token_features

if TYPE_CHECKING:
    from transducer.encoders.subwords import Subwords

COPY = -1
"""Target outcome of a step: copy a preceding node."""

IGNORE = -2
"""Target outcome of a step: none, the label is neither in the vocabulary nor offered by a token."""

LONGEST_STRING = 24
"""Characters of a word that the CharCNN reads."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence and, in training, its tree."""

    id: str
    task: str
    tokens: tuple[Token, ...]
    offers: tuple[tuple[str, ...], ...] = ()
    """AMR: the labels that copying each token can give, one per way of copying; for the other
    frameworks a token offers itself, by position."""
    anonymous: tuple[bool, ...] = ()
    rows: tuple[Row, ...] = ()

    @property
    def positional(self) -> bool:
        """Whether source copy is by position: a node is the word itself, not its label."""
        return not self.offers


class Item(NamedTuple):
    """An example in numbers; S tokens, T = rows + 1 steps, M ways to copy a token."""

    forms: tuple[str, ...]
    words: Array  # (S,)
    pos: Array
    ner: Array
    dep: Array
    shape: Array
    punct: Array
    anonymous: Array
    frames: Array  # (S,) or PAD where nothing is known of them
    offer_labels: tuple[str, ...]  # M * S labels, way after way
    offers: Array  # (M * S,) the outcome that each of them is: a label, or V + its place
    offer_nodes: Array  # (M * S,) and its number among the nodes
    labels: tuple[str, ...]  # (T,)
    nodes: Array  # (T,)
    node_pos: Array
    node_tokens: Array  # 1 + position of the token that the node is or can be copied from, or 0
    link_tokens: Array  # the same, and for a UCCA unit that of the first word below it
    link_rows: Array  # the row from which on that is known
    indices: Array
    heads: Array
    relations: Array
    outcomes: Array  # (T,) what step i predicts
    candidates: Array  # (T, T) which rows can be the head of row i

    @property
    def steps(self) -> int:
        """The number of decoding steps."""
        return len(self.nodes)


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


def build_vocabularies(
    examples: Sequence[Example], *, words: int | None = None, nodes: int | None = None
) -> Vocabularies:
    """Build the vocabularies of a model from its training examples.

    *words* and *nodes* bound the input words and the node labels. A label that is always copied
    need not be generated, so it is left out of the labels.
    """
    counts: dict[str, Counter[str]] = {
        name: Counter()
        for name in ("words", "nodes", "labels", "relations", "chars", "frames", *_FEATURES)
    }
    for example in examples:
        for token in example.tokens:
            counts["words"][token.form.lower()] += 1
            counts["chars"].update(token.form)
            for name in _FEATURES:
                counts[name][token_features(token)[name] or SPECIALS[UNK]] += 1
        counts["frames"].update(token_frames(example.tokens))
        offered = {label for labels in example.offers for label in labels}
        for number, row in enumerate(example.rows, start=1):
            counts["nodes"][row.label] += 1
            counts["chars"].update(row.label)
            counts["relations"][row.relation] += 1
            if row.index == number and not row.anchors and row.label not in offered:
                counts["labels"][row.label] += 1
    build = Vocabulary.build
    return Vocabularies(
        words=build(counts["words"], size=words),
        nodes=build(counts["nodes"], size=nodes, specials=FIRST["nodes"]),
        labels=build(counts["labels"], size=nodes, specials=FIRST["labels"]),
        relations=build(counts["relations"], specials=FIRST["relations"]),
        chars=build(counts["chars"]),
        frames=build(counts["frames"]),
        **{name: build(counts[name]) for name in _FEATURES},
    )


def number(example: Example, vocabularies: Vocabularies) -> Item:
    """Turn an example into numbers."""
    v = vocabularies
    features = [token_features(token) for token in example.tokens]
    columns = {
        name: _array(getattr(v, name)[f[name] or SPECIALS[UNK]] for f in features)
        for name in _FEATURES
    }
    forms = tuple(token.form for token in example.tokens)
    offer_labels, offers = _offers(example, v)
    return Item(
        forms=forms,
        words=_array(v.words[form.lower()] for form in forms),
        pos=columns["pos"],
        ner=columns["ner"],
        dep=columns["dep"],
        shape=columns["shape"],
        punct=_array(int(f["punct"] == "yes") for f in features),
        anonymous=_array(example.anonymous or [0] * len(forms)),
        frames=_array([v.frames[f] for f in token_frames(example.tokens)] or [PAD] * len(forms)),
        offer_labels=offer_labels,
        offers=_array(offers),
        offer_nodes=_array(v.nodes[label] for label in offer_labels),
        **_number_rows(example, v, columns["pos"], offers),
    )


def _offers(example: Example, v: Vocabularies) -> tuple[tuple[str, ...], list[int]]:
    """Return what copying gives: labels, and their numbers as outcomes."""
    if example.positional:
        size = len(v.labels)
        return tuple(t.form for t in example.tokens), [size + i for i in range(len(example.tokens))]
    labels = tuple(label for way in zip(*example.offers, strict=True) for label in way)
    first: dict[str, int] = {}
    outcomes = []
    for place, label in enumerate(labels):
        known = v.labels[label] if label in v.labels else len(v.labels) + place
        outcomes.append(first.setdefault(label, known))  # equal offers are one outcome
    return labels, outcomes


def _number_rows(
    example: Example, v: Vocabularies, pos: Array, offers: Sequence[int]
) -> dict[str, Any]:
    """Number the target side."""
    n_tokens, labels_size = len(example.tokens), len(v.labels)
    labels, nodes, node_pos, node_tokens = [""], [BOS], [UNK], [0]
    indices, heads, relations, outcomes = [0], [0], [PAD], []
    offered = {outcome: place for place, outcome in reversed(list(enumerate(offers)))}
    numbers = {label: outcome for outcome, label in enumerate(v.labels.items)}
    if not example.positional:
        numbers |= dict(zip(*_offers(example, v), strict=True))
    for row_number, row in enumerate(example.rows, start=1):
        if row.index != row_number:
            outcome, token = COPY, node_tokens[row.index]
        elif row.anchors:
            outcome, token = labels_size + row.anchors[0], row.anchors[0] + 1
        else:
            outcome = numbers.get(row.label, IGNORE)
            token = offered[outcome] % n_tokens + 1 if outcome in offered else 0
        outcomes.append(outcome)
        labels.append(row.label)
        nodes.append(v.nodes[row.label])
        node_tokens.append(token)
        node_pos.append(int(pos[token - 1]) if token else UNK)
        indices.append(row.index)
        heads.append(row.head)
        relations.append(v.relations[row.relation])
    outcomes.append(EOS)
    link_tokens, link_rows = _link_words(example, node_tokens)
    return {
        "labels": tuple(labels),
        "nodes": _array(nodes),
        "node_pos": _array(node_pos),
        "node_tokens": _array(node_tokens),
        "link_tokens": _array(link_tokens),
        "link_rows": _array(link_rows),
        "indices": _array(indices),
        "heads": _array(heads),
        "relations": _array(relations),
        "outcomes": _array(outcomes),
        "candidates": _candidates(example),
    }


def _link_words(example: Example, node_tokens: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return by which word each row takes part in links, and from which row on.

    A UCCA unit is no word: the first one below it stands for it.
    """
    tokens, since = list(node_tokens), list(range(len(node_tokens)))
    if example.task != "ucca":
        return tokens, since
    for number, row in enumerate(example.rows, start=1):
        if row.index != number:
            tokens[number], since[number] = tokens[row.index], max(number, since[row.index])
        above = row.head if row.anchors and row.index == number else 0
        while above and not tokens[above]:
            tokens[above], since[above] = tokens[number], number
            above = example.rows[above - 1].head
    return tokens, since


def _candidates(example: Example) -> Array:
    steps = len(example.rows) + 1
    candidates = np.zeros((steps, steps), dtype=bool)
    for row_number, heads in enumerate(candidate_heads(example.task, example.rows), start=1):
        candidates[row_number, heads] = True
        candidates[row_number, example.rows[row_number - 1].head] = True
    return candidates


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
        return _array(strings.setdefault(label, len(strings)) for label in labels)

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
            for name in ("words", *_FEATURES, "punct", "anonymous", "frames")
        },
        source_mask=_mask([len(item.forms) for item in items]),
        offers=_pad_ways([_moved(i.offers, i, width, labels) for i in items], items, width),
        offer_nodes=_pad_ways([item.offer_nodes for item in items], items, width),
        offer_strings=offer_strings,
        node_strings=node_strings,
        **{name: _pad([getattr(item, name) for item in items]) for name in _ROW_COLUMNS},
        outcomes=_pad([_moved(i.outcomes, i, width, labels) for i in items], IGNORE),
        target_mask=_mask([item.steps for item in items]),
        candidates=torch.from_numpy(candidates),
        contextual=None if contextual is None else _pad_vectors(contextual),
        subwords=subwords,
    )


_FEATURES = ("pos", "ner", "dep", "shape")
_ROW_COLUMNS = (
    "nodes", "node_pos", "node_tokens", "link_tokens", "link_rows", "indices", "heads", "relations",
)  # fmt: skip


def _moved(outcomes: Array, item: Item, width: int, labels: int) -> Array:
    """Return outcomes of an item as those of its batch, where a way's tokens are at way * S."""
    way, token = np.divmod(outcomes - labels, max(len(item.forms), 1))
    return np.where(outcomes >= labels, labels + way * width + token, outcomes)


def _pad_ways(arrays: Sequence[Array], items: Sequence[Item], width: int) -> Tensor:
    """Pad each way of copying on its own."""
    ways = max(
        len(array) // max(len(item.forms), 1) for array, item in zip(arrays, items, strict=True)
    )
    result = np.zeros((len(items), ways, width), dtype=np.int64)
    for row, array in enumerate(arrays):
        shaped = array.reshape(ways, -1)
        result[row, :, : shaped.shape[1]] = shaped
    return torch.from_numpy(result.reshape(len(items), ways * width))


def _pad(arrays: Sequence[Array], fill: int = PAD) -> Tensor:
    result = np.full((len(arrays), max(len(array) for array in arrays)), fill, dtype=np.int64)
    for row, array in enumerate(arrays):
        result[row, : len(array)] = array
    return torch.from_numpy(result)


def _pad_vectors(vectors: Sequence[Array]) -> Tensor:
    longest = max(len(array) for array in vectors)
    result = np.zeros((len(vectors), longest, *vectors[0].shape[1:]), dtype=np.float16)
    for row, array in enumerate(vectors):
        result[row, : len(array)] = array
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


def _array(values: Iterable[int]) -> Array:
    return np.fromiter(values, dtype=np.int64)


def _move(part: Any, device: torch.device) -> Any:
    if part is None:
        return None
    if isinstance(part, Tensor):
        return part.to(device, non_blocking=True)
    return type(part)(*(tensor.to(device, non_blocking=True) for tensor in part))
