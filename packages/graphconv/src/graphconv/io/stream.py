"""The stream behind every command: files to blocks to graphs to results, in several processes.

A command is a *step*, a function of one graph; :func:`results` runs it over all graphs of some
files in order. Bad graphs are reported to *on_error*, or raise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from graphconv import io
from graphconv.codecs import Block, arborescence, relations
from graphconv.conversion import linkage_units, to_arborescence
from graphconv.errors import FileError, FormatError, GraphconvError, located
from graphconv.graph import Graph
from graphconv.io import files
from graphconv.io.parallel import ordered_map
from graphconv.io.writing import Place

R = TypeVar("R")


class Input(NamedTuple):
    """One graph as it came from a file."""

    graph: Graph
    path: str
    """What the user named: a file, a folder or ``-``."""
    format: str
    block: Block


class Source(NamedTuple):
    """The files that a command reads, and how."""

    paths: tuple[str, ...]
    format: str | None = None
    framework: str | None = None
    jobs: int = 1
    on_error: io.OnError | None = None


class _Outcome(NamedTuple, Generic[R]):
    """A result, or an error, or neither (the graph is of another framework than asked for)."""

    value: R | None = None
    error: GraphconvError | None = None


PlacedBlock = tuple[str, str, Block]
"""What the user named, its format, and the text of a graph in it."""


def results(
    step: Callable[[Input], R], source: Source, found_blocks: Iterable[PlacedBlock] | None = None
) -> Iterator[R]:
    """Yield *step* of every graph of the source, in order; with jobs > 1 it must be picklable.

    *found_blocks* are some of its :func:`blocks`, where somebody else has read them.
    """
    given = blocks(source) if found_blocks is None else found_blocks
    outcomes = ordered_map(partial(_outcome, step, source.framework), given, source.jobs)
    found = others = False
    for value, error in outcomes:
        if error is not None:
            if source.on_error is None:
                raise error
            source.on_error(error)
        elif value is not None:
            found = True
            yield value
        else:
            others = True
    if others and not found and found_blocks is None:
        message = f"there is no {source.framework} graph in it"
        io.report(FileError(message, filename=", ".join(source.paths)), source.on_error)


def graphs(source: Source) -> Iterator[Graph]:
    """Yield the graphs of the source."""
    return results(_graph, source)


class Reader:
    """The graphs of a source, and where the last one came from."""

    def __init__(self, source: Source, found_blocks: Iterable[PlacedBlock] | None = None) -> None:
        self._source = source
        self._blocks = found_blocks
        self._last: Place | None = None

    def __iter__(self) -> Iterator[Graph]:
        for graph, place in results(_placed, self._source, self._blocks):
            self._last = place
            yield graph

    def place(self) -> Place | None:
        """Return where the last graph came from."""
        return self._last


def find(source: Source, graph_id: str | None = None) -> Graph:
    """Return the first graph of the source, or the first with this id."""
    for graph in graphs(source):
        if graph_id in (None, graph.id):
            return graph
    wanted = "there is no graph" if graph_id is None else f"there is no graph {graph_id!r}"
    raise FormatError(wanted, filename=", ".join(source.paths))


def _graph(item: Input) -> Graph:
    return item.graph


def _placed(item: Input) -> tuple[Graph, Place]:
    return item.graph, Place(item.block.filename, item.block.lineno, item.format)


def blocks(source: Source) -> Iterator[PlacedBlock]:
    """Yield the texts of the graphs of the source; cheap, none is parsed."""
    for path in source.paths:
        try:
            name, texts = io.read_blocks(
                path, format=source.format, framework=source.framework, on_error=source.on_error
            )
        except GraphconvError as error:
            io.report(error, source.on_error)
            continue
        for block in texts:
            yield path, name, block


def _outcome(step: Callable[[Input], R], framework: str | None, place: PlacedBlock) -> _Outcome[R]:
    path, name, block = place
    try:
        graph = io.parse_block(name, block, framework)
        if framework is not None and graph.framework != framework:
            return _Outcome()
        return _Outcome(step(Input(graph, path, name, block)))
    except GraphconvError as error:
        return _Outcome(error=located(error, block.filename, block.lineno))


class TreeText(NamedTuple):
    """An arborescence as text, and how many linkage units were left out of it."""

    text: str
    dropped: int


def tree_text(
    item: Input,
    *,
    format: str,  # noqa: A002 - the name that users type
    foundational: bool = False,
    unit_labels: bool = True,
) -> TreeText:
    """Return the arborescence of a graph in one of the :data:`TREE_TEXTS`."""
    dropped = len(linkage_units(item.graph)) if foundational else 0
    tree = to_arborescence(item.graph, foundational=foundational, unit_labels=unit_labels)
    return TreeText(TREE_TEXTS[format](tree), dropped)


TREE_TEXTS = {
    "arborescence": arborescence.format,
    "relations": relations.format,
    "tsv": relations.format_tsv,
}
"""The ways to write an arborescence."""


def write_trees(texts: Iterable[TreeText], path: str) -> int:
    """Write arborescences and return how many linkage units were left out of all of them."""
    dropped = 0
    with files.output(path) as file:
        for text, number in texts:
            file.write(text.encode())
            dropped += number
    return dropped
