"""Word vectors in GloVe's text format: a word and its numbers on a line, separated by blanks.

A file is indexed in one pass; the numbers of a word are read when they are asked for, so that a
large file costs little memory.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from evaltools.errors import EvaluationError

Vector = tuple[float, ...]


class Vectors:
    """The words of a file and where their numbers are."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._places: dict[bytes, int] = {}
        self._size: int | None = None
        place = 0
        try:
            with Path(path).open("rb") as file:
                for line in file:
                    self._places.setdefault(line.partition(b" ")[0].rstrip(), place)
                    place += len(line)
        except OSError as error:
            raise EvaluationError(f"cannot be read: {error.strerror}", filename=path) from error
        if not self.dimensions:
            raise EvaluationError("has no word vectors", filename=path)

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has: as many as the first word's."""
        if self._size is None and self._places:
            self.get(next(iter(self._places)).decode("utf-8", "surrogateescape"))
        return self._size or 0

    def get(self, word: str) -> Vector | None:
        """Return the vector of a word, or None.

        Raises:
            EvaluationError: The line of this word is not numbers, or not as many as elsewhere.
        """
        place = self._places.get(word.encode("utf-8", "surrogateescape"))
        if place is None:
            return None
        with Path(self.path).open("rb") as file:
            file.seek(place)
            numbers = file.readline().split()[1:]
        try:
            vector = tuple(map(float, numbers))
        except ValueError as error:
            raise EvaluationError(
                f"the vector of {word[:40]!r} is no row of numbers", filename=self.path
            ) from error
        self._size = self._size or len(vector)
        if not vector or len(vector) != self._size:
            message = f"the vector of {word!r} has {len(vector)} numbers, not {self._size or 'any'}"
            raise EvaluationError(message, filename=self.path)
        return vector


@lru_cache(maxsize=1)
def read_vectors(path: str) -> Vectors:
    """Return the vectors of a file, indexed once in a process."""
    return Vectors(path)
