"""A file of vectors that survives whatever happens to the processes that write it.

The file is a sequence of records, each with the key of a sentence, its number of words, a checksum
and its half floats. What a process left that died in the middle of a record, and whatever else is
no record, is cut off by the next one that writes; vectors whose checksum is wrong count as absent.
So vectors are computed again, but never taken for those of other words. Processes write one at a
time, whole batches at once.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

Vectors = np.ndarray[Any, Any]

_HEADER = struct.Struct("<4s32sII")
"""The mark of a record, its key, its words, and the checksum of all that follows the mark."""
_MARK = b"vec1"


class Store:
    """The vectors of sentences, (words, layers, size) each."""

    def __init__(self, folder: Path, shape: tuple[int, int]) -> None:
        self.path = folder / "vectors.rec"
        self.shape = shape
        self._row = 2 * shape[0] * shape[1]
        self._lock = FileLock(folder / "vectors.lock")
        self._places: dict[bytes, tuple[int, int, int]] = {}
        self._end = 0
        self.reload()

    def __contains__(self, key: bytes) -> bool:
        return key in self._places

    def reload(self) -> None:
        """See what was added to the file, by this process or another one."""
        size = self.path.stat().st_size if self.path.is_file() else 0
        if size < self._end:  # somebody has cut it off, or deleted it
            self._places.clear()
            self._end = 0
        if size == self._end:
            return
        with self.path.open("rb") as file:
            while self._end + _HEADER.size <= size:
                start = self._end + _HEADER.size
                file.seek(self._end)
                mark, key, words, checksum = _HEADER.unpack(file.read(_HEADER.size))
                if mark != _MARK or start + words * self._row > size:
                    break
                self._places[key] = (start, words, checksum)
                self._end = start + words * self._row

    def get(self, key: bytes) -> Vectors | None:
        """Return a sentence's vectors, or None."""
        if key not in self._places:
            return None
        start, words, checksum = self._places[key]
        # Read and compared each time, not mapped: others may do anything to the file meanwhile.
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                payload = np.frombuffer(file.read(words * self._row), dtype=np.uint8)
        except FileNotFoundError:
            payload = np.zeros(0, dtype=np.uint8)
        if len(payload) < words * self._row or _checksum(key, words, payload) != checksum:
            del self._places[key]
            return None
        return payload.view(np.float16).reshape(words, *self.shape)

    def add(self, found: Mapping[bytes, Vectors]) -> None:
        """Append the vectors of sentences."""
        records = [_record(key, vectors) for key, vectors in found.items()]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._lock:
            self.path.touch()
            self.reload()
            with self.path.open("r+b") as file:
                file.truncate(self._end)
                file.seek(self._end)
                file.write(b"".join(records))
        self.reload()


def _record(key: bytes, vectors: Vectors) -> bytes:
    payload = np.ascontiguousarray(vectors, dtype=np.float16).view(np.uint8).reshape(-1)
    checksum = _checksum(key, len(vectors), payload)
    return _HEADER.pack(_MARK, key, len(vectors), checksum) + payload.tobytes()


def _checksum(key: bytes, words: int, payload: Vectors) -> int:
    return zlib.crc32(payload.data, zlib.crc32(key + words.to_bytes(8, "little")))
