"""Random choices of a derivation, and the record of the constructions it used."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

from english.lexicon import NAMES, NOUNS, VERBS, Name, Noun, Verb

T = TypeVar("T")


class Choice:
    """One derivation: its random numbers, whether it may use test words, what it has used."""

    def __init__(self, rng: random.Random, heldout: bool) -> None:
        self._rng = rng
        self._heldout = heldout
        self.used: set[str] = set()
        self.depth = 0
        """How many clauses are open; deep ones stay simple."""

    def chance(self, probability: float) -> bool:
        """Say yes with *probability*."""
        return self._rng.random() < probability

    def one(self, options: Sequence[T]) -> T:
        """Choose one of *options*; words of the test part only where they are allowed."""
        allowed = [o for o in options if self._heldout or not getattr(o, "heldout", False)]
        return allowed[int(self._rng.random() * len(allowed))]

    def number(self, low: int, high: int) -> int:
        """Choose a whole number, both bounds included."""
        return low + int(self._rng.random() * (high - low + 1))

    def weighted(self, weights: Mapping[str, float]) -> str:
        """Choose a key of *weights* and record it as a construction used."""
        point = self._rng.random() * sum(weights.values())
        chosen = ""
        for name, weight in weights.items():
            point -= weight
            chosen = name if weight else chosen
            if point < 0:
                break
        self.used.add(chosen)
        return chosen

    def noun(self, kind: str) -> Noun:
        """Choose a noun of *kind*."""
        return self.one(NOUNS[kind])

    def verb(self, kind: str, noun: str = "") -> Verb:
        """Choose a verb of *kind*, one that can take a noun of the kind *noun* if given."""
        return self.one([verb for verb in VERBS[kind] if not noun or noun in verb.select])

    def name(self, kind: str) -> Name:
        """Choose a name of *kind*."""
        return self.one(NAMES[kind])
