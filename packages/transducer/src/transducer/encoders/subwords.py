"""Cut sentences into the sub-words of an encoder, as the encoder saw them when it was trained.

A sentence is given to the tokenizer as words (``is_pretokenized``), which says of each sub-word to
which word it belongs. Byte-level tokenizers (RoBERTa, DeBERTa, GPT-2) take a word and the blank
before it for another word than the same letters without it, so they get the blank.

A sentence with more sub-words than an encoder takes at once is read in windows. They overlap by
half, and every word is taken from the window in which it has most context on its poorer side:

>>> windows([1] * 10, limit=4)
[(0, 4, 0, 3), (2, 6, 3, 5), (4, 8, 5, 7), (6, 10, 7, 10)]
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

MOST_AT_ONCE = 512
"""No encoder gets more sub-words at once, even if it takes more."""
MOST_OF_A_WORD = 32
"""Sub-words far beyond any real word (base64, URLs) say nothing more."""


class Subwords(NamedTuple):
    """A batch of sentences cut into the encoder's sub-words."""

    ids: Tensor  # (W, P) windows of sub-words
    mask: Tensor  # (W, P)
    words: Tensor  # (W, P) flat number b * S + s of the word that a sub-word belongs to, or -1


class Window(NamedTuple):
    """A part of a sentence: its sub-words, and the words that are taken from it."""

    start: int
    end: int
    first: int
    last: int
    """The word after the last one."""

    def __repr__(self) -> str:
        """Write it as the tuple it is."""
        return repr(tuple(self))


@dataclass(frozen=True, slots=True)
class Cutter:
    """A tokenizer, and what an encoder gets around and besides the sub-words of a sentence."""

    tokenizer: Any
    """One of ``tokenizers``, or one of ``transformers`` that is written in Python."""
    before: tuple[int, ...]
    after: tuple[int, ...]
    pad: int
    unknown: int
    mask: int
    blank: str = ""
    """What stands before a word."""
    positions: int = MOST_AT_ONCE
    """Sub-words at once, those around the sentence among them."""

    @property
    def limit(self) -> int:
        """Sub-words of the sentence at once."""
        return max(self.positions - len(self.before) - len(self.after), 2)

    def pieces(self, words: Sequence[str]) -> list[list[int]]:
        """Return the numbers of each word's sub-words; there is at least one."""
        most = min(MOST_OF_A_WORD, self.limit // 2)
        spaced = [self.blank + word for word in words]
        result: list[list[int]] = [[] for _ in words]
        if hasattr(self.tokenizer, "encode_batch"):
            encoding = self.tokenizer.encode(spaced, is_pretokenized=True, add_special_tokens=False)
            for number, place in zip(encoding.ids, encoding.word_ids, strict=True):
                result[place].append(number)
        else:
            for place, word in enumerate(spaced):
                result[place] = list(self.tokenizer(word, add_special_tokens=False)["input_ids"])
        return [found[:most] or [self.unknown] for found in result]


def make_cutter(tokenizer: Any, numbers: dict[str, int | None], positions: int) -> Cutter:
    """Return the cutter of a tokenizer.

    Args:
        tokenizer: See :attr:`Cutter.tokenizer`.
        numbers: Those of the sub-words ``unk``, ``pad``, ``cls``, ``sep`` and ``mask``.
        positions: How many sub-words the encoder takes at once.
    """
    blank = ""
    if hasattr(tokenizer, "encode_batch"):
        tokenizer.no_truncation()
        tokenizer.no_padding()
        before, after = _around(tokenizer)
        blank = " " if _is_byte_level(tokenizer) else ""
    else:
        before, after = (), ()
    if not before and not after and numbers["cls"] is not None and numbers["sep"] is not None:
        before, after = (numbers["cls"],), (numbers["sep"],)
    pad = numbers["pad"] or 0  # which one does not matter: it is masked
    unknown = pad if numbers["unk"] is None else numbers["unk"]
    mask = unknown if numbers["mask"] is None else numbers["mask"]
    return Cutter(tokenizer, before, after, pad, unknown, mask, blank, min(positions, MOST_AT_ONCE))


def _around(tokenizer: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return what a tokenizer puts before and after a sentence."""
    found = tokenizer.encode(["a"], is_pretokenized=True, add_special_tokens=True)
    own = [place for place, word in enumerate(found.word_ids) if word is not None]
    if not own:
        return (), ()
    return tuple(found.ids[: own[0]]), tuple(found.ids[own[-1] + 1 :])


def _is_byte_level(tokenizer: Any) -> bool:
    """Return whether the blank before a word is a part of it."""
    step = json.loads(tokenizer.to_str())["pre_tokenizer"] or {}
    steps = step.get("pretokenizers", [step])
    return any(part.get("type") == "ByteLevel" for part in steps)


def windows(lengths: Sequence[int], limit: int) -> list[Window]:
    """Return the windows of a sentence by its words' numbers of sub-words.

    No word may have more than half of *limit*, so that every word is whole in some window.
    """
    ends = list(accumulate(lengths))
    total = ends[-1] if ends else 0
    last_start = max(total - limit, 0)
    step = max(limit // 2, 1)
    starts = [*range(0, last_start, step), last_start]
    cuts: list[list[int]] = [[] for _ in starts]
    for word, (end, length) in enumerate(zip(ends, lengths, strict=True)):
        begin = end - length
        # At the ends of the sentence there is no more context to be had.
        scores = [
            min(
                begin - start if start else total,
                start + limit - end if start + limit < total else total,
            )
            for start in starts
        ]
        cuts[scores.index(max(scores))].append(word)
    result = []
    for start, words in zip(starts, cuts, strict=True):
        first, last = (words[0], words[-1] + 1) if words else (0, 0)
        result.append(Window(start, min(start + limit, total), first, last))
    return result


def cut_sentences(cutter: Cutter, sentences: Sequence[Sequence[str]], width: int) -> Subwords:
    """Cut sentences into sub-words and pack each into one or more windows."""
    rows: list[tuple[list[int], list[int]]] = []
    for number, sentence in enumerate(sentences):
        pieces = cutter.pieces(sentence)
        lengths = [len(word) for word in pieces]
        ids = [piece for word in pieces for piece in word]
        owners = [place for place, length in enumerate(lengths) for _ in range(length)]
        for start, end, first, last in windows(lengths, cutter.limit):
            kept = [
                number * width + place if first <= place < last else -1
                for place in owners[start:end]
            ]
            rows.append((ids[start:end], kept))
    before, after = len(cutter.before), len(cutter.after)
    shape = (len(rows), max(len(ids) for ids, _ in rows) + before + after)
    ids_array = np.full(shape, cutter.pad, dtype=np.int64)
    mask = np.zeros(shape, dtype=np.int64)
    words = np.full(shape, -1, dtype=np.int64)
    for row, (ids, kept) in enumerate(rows):
        length = before + len(ids) + after
        ids_array[row, :length] = [*cutter.before, *ids, *cutter.after]
        mask[row, :length] = 1
        words[row, before : before + len(ids)] = kept
    return Subwords(*(torch.from_numpy(array) for array in (ids_array, mask, words)))
