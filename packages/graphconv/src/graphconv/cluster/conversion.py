"""The job of ``graphconv``: graphs to arborescences, and to other formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from graphconv import io
from graphconv.cluster.work import Headed, Made, Notes, Piece, Work, pieces
from graphconv.codecs import ucca
from graphconv.errors import FormatError
from graphconv.export import EXPORTS
from graphconv.graph import Graph
from graphconv.io import stream, writing

SUFFIXES = {
    "amr": ".amr", "sdp": ".sdp", "mrp": ".mrp", "ucca": ".xml", "arborescence": ".jsonl",
    "relations": ".jsonl", "graphml": ".graphml", "conllu": ".conllu",
}  # fmt: skip
"""What the names of shards of a format end with."""


def ends_of(name: str, head: str, graphs: int) -> tuple[str, str]:
    r"""Return what stands in a file of a format before and after its graphs.

    >>> ends_of("ucca", "", 2), ends_of("sdp", "#SDP 2015\n", 2)
    (('<passages>\n', '</passages>\n'), ('#SDP 2015\n', ''))
    """
    if name == "ucca":
        before, *_, after = ucca.join(["", ""]) if graphs > 1 else ("", "")
        return before, after
    return head, writing.footer(name) if graphs else ""


@dataclass(frozen=True, slots=True)
class Conversion:
    """How graphs are converted."""

    to: str
    """A format; that of arborescences takes the options of ``to-arborescence``."""
    from_: str | None = None
    framework: str | None = None
    skip_invalid: bool = False
    foundational: bool = False
    unit_labels: bool = True


@dataclass(frozen=True, slots=True)
class ConversionJob:
    """Convert files."""

    command: str
    how: Conversion
    size: int
    """Graphs in a shard."""
    packed: bool = False
    model: str = ""
    errors: tuple[type[Exception], ...] = ()

    def __post_init__(self) -> None:
        if self.how.to in EXPORTS:
            raise FormatError(f"{self.how.to} is written by one machine: leave --engine out")

    @property
    def suffix(self) -> str:
        """See Job."""
        return SUFFIXES[self.how.to] + (".gz" if self.packed else "")

    @property
    def options(self) -> Mapping[str, Any]:
        """See Job."""
        return {**asdict(self.how), "size": self.size}

    def cut(self, paths: tuple[str, ...]) -> Iterator[Piece]:
        """See Job."""
        notes = Notes()
        return pieces(stream.blocks(self._source(paths, notes)), self.size, notes)

    def worker(self) -> Work:
        """See Job."""
        return self._trees if self.how.to == "arborescence" else self._graphs

    def ends(self, head: str, graphs: int) -> tuple[str, str]:
        """See Job."""
        return ends_of(self.how.to, head, graphs)

    def _source(self, paths: tuple[str, ...], notes: Notes) -> stream.Source:
        on_error = notes.skip if self.how.skip_invalid else None
        return stream.Source(paths, self.how.from_, self.how.framework, on_error=on_error)

    def _trees(self, piece: Piece) -> Made:
        notes = Notes()
        how = self.how
        step = partial(
            stream.tree_text,
            format=how.to,
            foundational=how.foundational,
            unit_labels=how.unit_labels,
        )
        made = list(stream.results(step, self._source((), notes), piece.items))
        text = "".join(one.text for one in made).encode()
        counts = {"dropped": sum(one.dropped for one in made)} if how.foundational else {}
        return Made(text, len(made), notes, counts=counts)

    def _graphs(self, piece: Piece) -> Made:
        notes = Notes()
        source = self._source((), notes)
        reader = stream.Reader(source, piece.items)
        lost: Counter[str] = Counter()
        write = Headed(writing.text_of(self.how.to))
        graphs = _watched(reader, self.how.to, lost)
        written = writing.texts(self.how.to, write, graphs, source.on_error, reader.place)
        texts = [text for _, text in written]
        return Made(b"".join(texts), len(texts), notes, write.head, lost)


def _watched(graphs: Iterable[Graph], name: str, lost: Counter[str]) -> Iterator[Graph]:
    """Count what of the graphs has no place in a format."""
    find: Any = getattr(io.codec(name), "lost", lambda _: ())
    for graph in graphs:
        lost.update(find(graph))
        yield graph
