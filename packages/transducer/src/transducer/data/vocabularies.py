"""Vocabularies: strings to numbers and back. Imports no torch.

>>> from collections import Counter
>>> vocabulary = Vocabulary.build(Counter("aab"), specials=("<pad>", "<unk>"))
>>> vocabulary["a"], vocabulary["z"], vocabulary.items
(2, 1, ('<pad>', '<unk>', 'a', 'b'))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from transducer.schema import Printable, SchemaError, checked, shown, unknown

PAD, UNK, EOS, BOS = 0, 1, 2, 2
"""Numbers of the special items: EOS in the vocabulary of labels, BOS in that of nodes."""

ROOT = 2
"""The relation ``root`` of the first row: given, never predicted."""

SPECIALS = ("<pad>", "<unk>")

FIRST = {
    "nodes": (*SPECIALS, "<begin>"),
    "labels": (*SPECIALS, "<end>"),
    "relations": (*SPECIALS, "root"),
}
"""What vocabularies begin with, where that is more than SPECIALS."""

_MOST = 1_000_000
"""Items of a vocabulary."""

_WRITTEN = ("labels", "relations", "frames")
"""Vocabularies whose items end up in graphs."""


class Vocabulary:
    """An immutable list of distinct strings; what it does not hold is ``<unk>``."""

    __slots__ = ("_numbers", "items")

    def __init__(self, items: Iterable[str]) -> None:
        self.items = tuple(items)
        self._numbers = {item: number for number, item in enumerate(self.items)}

    @classmethod
    def build(
        cls, counts: Counter[str], *, size: int | None = None, specials: tuple[str, ...] = SPECIALS
    ) -> Vocabulary:
        """Take the *size* most frequent items; equal counts in alphabetical order."""
        ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return cls((*specials, *(item for item, _ in ranked[:size] if item not in specials)))

    def __or__(self, other: Vocabulary) -> Vocabulary:
        """Return this vocabulary and, after it, what only *other* has: known numbers stay."""
        return Vocabulary((*self.items, *(item for item in other.items if item not in self)))

    def __getitem__(self, item: str) -> int:
        return self._numbers.get(item, UNK)

    def __contains__(self, item: str) -> bool:
        return item in self._numbers

    def __len__(self) -> int:
        return len(self.items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.items == other.items

    def __hash__(self) -> int:
        return hash(self.items)


@dataclass(frozen=True, slots=True)
class Vocabularies:
    """All vocabularies of a model."""

    words: Vocabulary
    """Lower-cased input words."""
    nodes: Vocabulary
    """Node labels that have an embedding of their own in the decoder."""
    labels: Vocabulary
    """Node labels that can be generated, EOS among them."""
    relations: Vocabulary
    pos: Vocabulary
    ner: Vocabulary
    dep: Vocabulary
    shape: Vocabulary
    chars: Vocabulary
    frames: Vocabulary = field(default_factory=lambda: Vocabulary(SPECIALS))
    """What words can be (SDP 2015); none where the training data do not say it."""

    def __or__(self, other: Vocabularies) -> Vocabularies:
        """Return these vocabularies and, after them, what only *other* has."""
        return Vocabularies(
            **{f.name: getattr(self, f.name) | getattr(other, f.name) for f in fields(self)}
        )

    def to_json(self) -> dict[str, list[str]]:
        """Return what :meth:`from_json` reads."""
        return {f.name: list(getattr(self, f.name).items) for f in fields(self)}

    @classmethod
    def from_json(cls, data: Any) -> Vocabularies:
        """Build the vocabularies that :meth:`to_json` wrote; earlier models have no frames."""
        known = [f.name for f in fields(cls)]
        lists: dict[str, tuple[str, ...]] = checked(dict[str, tuple[str, ...]], data)
        for name, items in lists.items():
            if name not in known:
                raise SchemaError(f"{shown(name)}: {unknown(name, known)}")
            _check_items(name, items)
        for name in known[:-1]:
            if name not in lists:
                raise SchemaError(f"{name} is missing")
        return cls(**{name: Vocabulary(items) for name, items in lists.items()})


def _check_items(name: str, items: tuple[str, ...]) -> None:
    first = FIRST.get(name, SPECIALS)
    if items[: len(first)] != first:
        raise SchemaError(f"{name} begins with {', '.join(first)}, not {shown(items[:3])}")
    if len(items) > _MOST:
        raise SchemaError(f"{name} has {len(items):,} items, and {_MOST:,} is the most")
    if len(set(items)) < len(items):
        raise SchemaError(f"{name} has {shown(Counter(items).most_common(1)[0][0])} twice")
    for item in items if name in _WRITTEN else ():
        if item not in Printable():
            raise SchemaError(f"{name} has {shown(item)}, which holds a control character")
