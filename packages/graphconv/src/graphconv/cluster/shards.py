"""One shard: made from a piece, written at once or not at all, and what is recorded of it."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from graphconv.cluster.work import Job, Made, Piece, Work
from graphconv.errors import FileError, GraphconvError
from graphconv.io import files

OURS = re.compile(r"part-\d{6,}-\d{6,}\.[\w.]+")
"""The names of the files of a run."""


@dataclass(frozen=True, slots=True)
class Shard:
    """What is recorded of a shard."""

    input: int
    number: int
    sha256: str
    bytes: int
    items: int
    graphs: int
    last: bool
    head: str
    lost: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


TRIES = 3
"""How often a piece may end its worker before it is given up."""


class GivenUpError(GraphconvError):
    """A piece has ended its worker too often."""


class Failure(NamedTuple):
    """Why there is no shard of that number; number 0 is the rest of the input."""

    input: int
    number: int
    why: str
    stop: bool = False
    """Whether nothing else can succeed, such as when the disk is full."""


class Task(NamedTuple):
    """An input that is to be worked on."""

    input: int
    paths: tuple[str, ...]
    done: frozenset[int]
    """The shards that are there."""


def name_of(index: int, number: int, suffix: str) -> str:
    """Return the name of a shard; in the order of names they are in that of the input.

    >>> name_of(0, 1, ".sdp.gz")
    'part-000000-000001.sdp.gz'
    """
    return f"part-{index:06}-{number:06}{suffix}"


def write(place: Path, text: bytes) -> tuple[str, int]:
    """Write a shard, and return its hash and size; it appears when it is complete."""
    data = gzip.compress(text, 6, mtime=0) if place.suffix == ".gz" else text
    with files.os_errors(str(place)), files.replacing(place) as hidden:
        hidden.write_bytes(data)
    return hashlib.sha256(data).hexdigest(), len(data)


def hash_of(path: str) -> str:
    """Return the hash of a file or folder; that of what cannot be read is empty."""
    try:
        return files.sha256(path)
    except FileError:  # whoever reads it says why
        return ""


@contextmanager
def once_more(place: Path) -> Iterator[None]:
    """Try what may end the whole process, such as for want of memory; refuse to after some times.

    An engine begins anew what a process did that was killed. A mark counts how often, a byte each
    time, and is gone when the process lives to see the end.
    """
    mark = files.beside(place, "tried")
    tried = 0
    with suppress(OSError):  # whoever writes the shard says that the disk is full
        with mark.open("ab") as file:
            file.write(b".")
        tried = mark.stat().st_size
    try:
        if tried > TRIES:
            raise GivenUpError(f"its worker was killed {TRIES} times (not enough memory?)")
        yield
    finally:
        mark.unlink(missing_ok=True)


def read(job: Job, task: Task, folder: Path) -> Iterator[Piece | Failure]:
    """Yield the pieces of an input that have no shard; what cannot be read is a failure."""
    try:
        with once_more(folder / name_of(task.input, 0, job.suffix)):
            for piece in job.cut(task.paths):
                if piece.number not in task.done:
                    yield piece
    except Exception as error:  # noqa: BLE001 - the other inputs must not suffer
        yield Failure(task.input, 0, _said(error, job))


class Maker:
    """A worker: loads what the job needs once, and makes shards from pieces."""

    def __init__(self, job: Job, folder: Path) -> None:
        self._job = job
        self._folder = folder
        self._work: Work | None = None

    def __call__(self, index: int, piece: Piece | Failure) -> Shard | Failure:
        """Make the shard of a piece of that input."""
        if isinstance(piece, Failure):
            return piece
        place = self._folder / name_of(index, piece.number, self._job.suffix)
        try:
            with once_more(place):
                if self._work is None:
                    self._work = self._job.worker()
                made = self._work(piece)
        except Exception as error:  # noqa: BLE001 - the other pieces must not suffer
            cannot_begin = self._work is None and not isinstance(error, GivenUpError)
            return Failure(index, piece.number, _said(error, self._job), stop=cannot_begin)
        return _written(place, index, piece, made)


def _written(place: Path, index: int, piece: Piece, made: Made) -> Shard | Failure:
    try:
        digest, size = write(place, made.text)
    except FileError as error:
        return Failure(index, piece.number, str(error), stop=True)
    return Shard(
        input=index,
        number=piece.number,
        sha256=digest,
        bytes=size,
        items=len(piece.items),
        graphs=made.graphs,
        last=piece.last,
        head=made.head,
        lost=[*piece.notes.lost, *made.notes.lost],
        skipped=[*piece.notes.skipped, *made.notes.skipped],
        counts=dict(made.counts),
    )


def _said(error: Exception, job: Job) -> str:
    """Return one sentence about an error; a bug has the name of its type before it."""
    text = " ".join(str(error).split("\n"))
    expected = isinstance(error, (GraphconvError, *job.errors))
    return text if expected else f"{type(error).__name__}: {text}"
