"""What a job is: an input is cut into pieces, and a worker makes the text of a shard from each.

>>> [(piece.number, piece.items, piece.last) for piece in pieces("abc", 2, Notes())]
[(1, ['a', 'b'], False), (2, ['c'], True)]
>>> [piece.items for piece in pieces("", 2, Notes())]
[[]]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any, NamedTuple, Protocol

from graphconv.errors import FileError, GraphconvError


@dataclass
class Notes:
    """Sentences about what is not in the output."""

    lost: list[str] = field(default_factory=list)
    """What should be there: the command fails."""
    skipped: list[str] = field(default_factory=list)
    """What the user wants to be left out, as it is invalid."""

    def lose(self, problem: object) -> None:
        """Note something that is lost."""
        self.lost.append(str(problem))

    def skip(self, error: GraphconvError) -> None:
        """Note a graph that is left out; the unread rest of a file is lost."""
        if isinstance(error, FileError):
            self.lose(error)
        else:
            self.skipped.append(str(error))

    def take(self) -> Notes:
        """Return what was noted, and begin anew."""
        taken = Notes(self.lost, self.skipped)
        self.lost, self.skipped = [], []
        return taken


class Piece(NamedTuple):
    """Some items of an input; its shard has its number."""

    number: int
    """From 1."""
    items: list[Any]
    last: bool
    notes: Notes
    """What reading found in their place."""


class Made(NamedTuple):
    """What a worker makes of a piece."""

    text: bytes
    graphs: int
    notes: Notes
    head: str = ""
    """What a file that begins with this shard has before it."""
    counts: Mapping[str, int] = {}
    """What else is to be added up and told."""


Work = Callable[[Piece], Made]


class Job(Protocol):
    """Work that an engine can do; it goes to other machines, so it must be picklable."""

    @property
    def command(self) -> str:
        """The name of the command."""
        ...

    @property
    def suffix(self) -> str:
        """What the names of the shards end with; ``.gz`` packs them."""
        ...

    @property
    def model(self) -> str:
        """The hash of the model, if there is one."""
        ...

    @property
    def options(self) -> Mapping[str, Any]:
        """All else that decides what comes out, in JSON's types."""
        ...

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """The errors about data beside graphconv's own: one sentence each."""
        ...

    def cut(self, paths: tuple[str, ...]) -> Iterator[Piece]:
        """Cut an input between sentences; the same input is always cut in the same way."""
        ...

    def worker(self) -> Work:
        """Return what makes shards; loads the model. Called once in each worker."""
        ...

    def ends(self, head: str, graphs: int) -> tuple[str, str]:
        """Return what stands before and after the *graphs* of an input, given its first head."""
        ...


def pieces(items: Iterable[Any], size: int, notes: Notes) -> Iterator[Piece]:
    """Group items into pieces of *size*; an input without items is one empty piece.

    *notes* is where the source of the items notes what it cannot read.
    """
    stream = iter(items)
    group = list(islice(stream, size))
    for number in count(1):
        following = list(islice(stream, size))
        yield Piece(number, group, not following, notes.take())
        if not following:
            return
        group = following


class Headed:
    """Writes the graphs of a shard without what a file has before its first graph: the head."""

    def __init__(self, write: Callable[[Any], str]) -> None:
        self._write = write
        self._first = True
        self.head = ""

    def __call__(self, item: Any) -> str:
        """Return the text of a graph."""
        text = self._write(item)
        if self._first:
            whole, text = text, self._write(item)
            self.head = whole[: len(whole) - len(text)]
            self._first = False
        return text
