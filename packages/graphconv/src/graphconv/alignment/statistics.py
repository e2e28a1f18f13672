"""What sentences with their graphs taught: words of concepts, distances, and who shares a word.

>>> from graphconv.alignment.statistics import learned
>>> found = learned().likely("cause-01", ["tired", "due", "to", "work"], range(4), [])
>>> max(found, key=found.get)
1

``tools/learn_alignments.py`` counts them, by expectation maximization where no rule and no mark
says which word a node has. A node goes to a word with the probability

    p(label | word) x the mean (geometric) over its aligned neighbors of p(distance | role)

against p(label) alone, for no word. A distance of 0, the neighbor's own word, has a probability
for each label and role: ``person`` shares the word of what it is the ``:ARG0`` of.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp, log

TABLE = "statistics.json.gz"
ANY = "*"
"""Stands for every label, or every role, in counts."""

Near = Sequence[tuple[str, tuple[int, ...]]]
"""The aligned neighbors of a node: relation and words."""

_EDGES = (1, 2, 3, 5, 9, 17)
_WIDTHS = (1, 1, 2, 4, 8, 16)
_PRIOR = 2.0
"""How many times something more general counts as seen beside the counts of a label or role."""


def relation(role: str, down: bool) -> str:
    """Name the way from a node to its neighbor; operands are all alike.

    >>> relation("op2", True), relation("ARG0", False)
    ('op>', 'ARG0<')
    """
    name = role.rstrip("0123456789") if role.startswith(("op", "snt")) else role
    return name + (">" if down else "<")


def bucket(distance: int) -> int:
    """Return the class of a distance of words, which is not 0: 1 to 6, or below 0 to the left.

    >>> [bucket(distance) for distance in (1, 3, 4, -8, 100)]
    [1, 3, 3, -4, 6]
    """
    size = sum(abs(distance) >= edge for edge in _EDGES)
    return size if distance > 0 else -size


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts, in which a guess of probability p counts p."""

    pairs: Mapping[str, Mapping[str, float]]
    """How often a label has a word."""
    words: Mapping[str, float]
    """How often a word occurs."""
    labels: Mapping[str, tuple[float, float]]
    """How often a label occurs, and how often without a word."""
    distances: Mapping[str, Mapping[int, float]]
    """How often a relation spans a distance, in classes."""
    shared: Mapping[str, Mapping[str, tuple[float, float]]]
    """How often a label has another word than its neighbor in a relation, and the same."""

    def likely(
        self, label: str, forms: Sequence[str], candidates: Iterable[int], near: Near
    ) -> dict[int | None, float]:
        """Return how probable each candidate is as the word of a node, and None for no word."""
        seen, without = self.labels.get(label, (0.0, 0.0))
        total = self.labels[ANY][0]
        base = (seen + 0.1) / (total + 0.1)
        nothing = (without + 1) / (seen + 2)
        anywhere = -log(len(forms))
        scores: dict[int | None, float] = {None: log(nothing * base) + anywhere}
        for position in candidates:
            fit = log((1 - nothing) * self._word(label, forms[position].lower(), base))
            place = -self.distance(label, near, position) if near else anywhere
            scores[position] = fit + place
        best = max(scores.values())
        mass = sum(exp(score - best) for score in scores.values())
        return {position: exp(score - best) / mass for position, score in scores.items()}

    def distance(self, label: str, near: Near, position: int) -> float:
        """Return how unlikely a word is beside those of the neighbors: 0 or more."""
        if not near:
            return 0.0
        return sum(-log(self._place(label, *other, position)) for other in near) / len(near)

    def _word(self, label: str, word: str, base: float) -> float:
        """Return p(label | word); a word that was seldom seen tells little."""
        count = self.pairs.get(label, {}).get(word, 0.0)
        return (count + _PRIOR * base) / (self.words.get(word, 0.0) + _PRIOR)

    def _place(self, label: str, way: str, words: tuple[int, ...], position: int) -> float:
        shared = self._shared(label, way)
        if position in words:
            return shared
        distance = min((position - word for word in words), key=abs)
        return (1 - shared) * self._distance(way, distance)

    def _shared(self, label: str, way: str) -> float:
        other, same = self.shared.get(ANY, {}).get(way, (0.0, 0.0))
        general = (same + 0.5) / (other + same + 5)
        other, same = self.shared.get(label, {}).get(way, (0.0, 0.0))
        return (same + _PRIOR * general) / (other + same + _PRIOR)

    def _distance(self, way: str, distance: int) -> float:
        place, every = bucket(distance), self.distances.get(ANY, {})
        general = (every.get(place, 0.0) + 1) / (sum(every.values()) + 2 * len(_EDGES))
        own = self.distances.get(way, {})
        share = (own.get(place, 0.0) + _PRIOR * general) / (sum(own.values()) + _PRIOR)
        return share / _WIDTHS[abs(place) - 1]


@cache
def learned() -> Statistics:
    """Return the statistics that come with the package."""
    packed = files("graphconv.alignment").joinpath(TABLE).read_bytes()
    return from_json(json.loads(gzip.decompress(packed)))


def to_json(statistics: Statistics) -> dict[str, object]:
    """Return plain data for a file, counts with a digit after the point."""
    return {name: _rounded(getattr(statistics, name)) for name in Statistics.__dataclass_fields__}


def from_json(data: dict[str, dict[str, dict[str, float]]]) -> Statistics:
    """Read what :func:`to_json` wrote."""
    distances = {
        way: {int(place): count for place, count in counts.items()}
        for way, counts in data["distances"].items()
    }
    return Statistics(**{**data, "distances": distances})  # type: ignore[arg-type]


def _rounded(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _rounded(inner) for key, inner in sorted(value.items())}
    if isinstance(value, tuple):
        return [_rounded(inner) for inner in value]
    number = round(float(value), 1)  # type: ignore[arg-type]
    return int(number) if number.is_integer() else number
