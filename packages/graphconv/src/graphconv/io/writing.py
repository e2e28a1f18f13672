"""Write graphs: a file appears under its name only when it is complete; UCCA is a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from graphconv.errors import FormatError, GraphconvError, located
from graphconv.export import EXPORTS, SUFFIXES, export
from graphconv.frameworks import framework
from graphconv.graph import Graph, attribute
from graphconv.io import files
from graphconv.io.proof import prove
from graphconv.io.reading import (
    FORMATS,
    TREE_FORMATS,
    OnError,
    as_graph,
    as_tree,
    codec,
    report,
)

if TYPE_CHECKING:
    from graphconv.arborescence import Arborescence

_SUFFIXES = {
    ".amr": "amr",
    ".sdp": "sdp",
    ".mrp": "mrp",
    ".tsv": "relations",
    ".xml": "ucca",
    ".graphml": "graphml",
    ".conllu": "conllu",
}
_escape = re.compile(r"[^\w.-]|^\.|\A\Z").sub  # what not every system has in the name of a file


class Place(NamedTuple):
    """Where a graph came from."""

    filename: str
    lineno: int
    format: str


def native_format(graph: Graph) -> str:
    """Return the format that a graph came from, or else the usual one of its framework."""
    named = re.match("[a-z]+", str(attribute(graph.extras, "format", "")))
    return named[0] if named and named[0] in FORMATS else framework(graph.framework, graph.id).codec


def write(
    graphs: Iterable[Graph | Arborescence],
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the name that users type
    on_error: OnError | None = None,
    place: Callable[[], Place | None] = lambda: None,
    on_loss: Callable[[str, Iterable[str]], None] | None = None,
) -> int:
    """Write graphs to a file (``-``: standard output; UCCA: a folder) and return their number.

    The format is the one given, else what the name of the file says, else the one that the first
    graph came from; ``cypher`` and ``parquet`` are for other programs and not read again. Relations
    go as TSV to a file called ``.tsv``. *place* says where the last
    graph came from, so that errors can name it; *on_loss* is told the format and what of a graph
    has no place in it.
    """
    path = os.fspath(path)
    items = iter(graphs)
    suffix = _suffix(path)
    name = format or named_format(path) or SUFFIXES.get(suffix)
    if name in EXPORTS:
        return export(_valid(items, on_error, place), path, name)
    if name is None:
        first = next(items, None)
        if first is None:
            raise FormatError("there is no graph to write", filename=path)
        name, items = native_format(as_graph(first)), chain([first], items)
    if on_loss is not None and hasattr(codec(name), "lost"):
        items = _watched(items, name, on_loss)
    written = texts(name, text_of(name, suffix), items, on_error, place)
    if name == "ucca":
        return _write_ucca(written, path, suffix)
    count = 0
    with files.output(path) as file:
        for _, text in written:
            file.write(text)
            count += 1
        if count:
            file.write(footer(name).encode())
    return count


def _valid(
    items: Iterable[Graph | Arborescence],
    on_error: OnError | None,
    place: Callable[[], Place | None],
) -> Iterator[Graph]:
    for item in items:
        try:
            graph = as_graph(item)
            graph.validate()
        except GraphconvError as error:
            report(_at(place(), error), on_error)
        else:
            yield graph


def footer(name: str) -> str:
    """Return what ends a file of a format, after its last graph."""
    return str(getattr(codec(name), "FOOTER", ""))


def _watched(
    items: Iterable[Graph | Arborescence], name: str, on_loss: Callable[[str, Iterable[str]], None]
) -> Iterator[Graph | Arborescence]:
    module: Any = codec(name)
    for item in items:
        if lost := module.lost(as_graph(item)):
            on_loss(name, lost)
        yield item


def named_format(path: str) -> str | None:
    """Return the format that the name of a file says, if it says one.

    >>> named_format("out/x.mrp.gz"), named_format("x.txt")
    ('mrp', None)
    """
    return _SUFFIXES.get(_suffix(path))


def _suffix(path: str) -> str:
    return Path(path.removesuffix(".gz")).suffix


def text_of(name: str, suffix: str = "") -> Callable[[Any], str]:
    """Return the function that writes the graphs of one file, in order."""
    module: Any = codec(name)
    if (name, suffix) == ("relations", ".tsv"):
        return cast("Callable[[Any], str]", module.format_tsv)
    return cast(
        "Callable[[Any], str]",
        module.file_format() if hasattr(module, "file_format") else module.format,
    )


def texts(
    name: str,
    write_one: Callable[[Any], str],
    items: Iterable[Graph | Arborescence],
    on_error: OnError | None,
    place: Callable[[], Place | None] = lambda: None,
) -> Iterator[tuple[str, bytes]]:
    """Yield the id and the text of each graph, proved to be that graph."""
    convert: Callable[[Graph | Arborescence], Any] = as_tree if name in TREE_FORMATS else as_graph
    for item in items:
        found = place()
        try:
            made = convert(item)
            text = _written(made, write_one)
            # What a reader of this very format found in a file can be written as it was.
            if name not in TREE_FORMATS and (found is None or found.format != name):
                prove(name, text, made)
            data = text.encode()
        except UnicodeEncodeError:
            message = f"graph {item.id}: a lone surrogate cannot be written as UTF-8"
            report(_at(found, FormatError(message)), on_error)
        except GraphconvError as error:
            report(_at(found, error), on_error)
        else:
            yield item.id, data


def _written(item: Any, write_one: Callable[[Any], str]) -> str:
    try:
        return write_one(item)
    except _UNSOUND as error:
        if isinstance(error, GraphconvError | UnicodeEncodeError):
            raise
        message = f"graph {item.id}: what it says beside its nodes and edges is not sound ({error})"
        raise FormatError(message) from error


_UNSOUND = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a writer raises for an attribute of a wrong type or shape."""


def _at(place: Place | None, error: GraphconvError) -> GraphconvError:
    return error if place is None else located(error, place.filename, place.lineno)


def _write_ucca(texts: Iterator[tuple[str, bytes]], path: str, suffix: str) -> int:
    if path == files.STDIO or suffix == ".xml":
        passages = [text for text, _ in zip(texts, range(2), strict=False)]
        if len(passages) != 1:
            message = "a UCCA file holds exactly one passage: name a folder for several"
            raise FormatError(message, filename=path)
        with files.output(path) as file:
            file.write(passages[0][1])
        return 1
    count = 0
    with files.output_folder(path) as folder:
        for graph_id, text in texts:
            name = passage_name(graph_id) + ".xml"
            try:
                with open(f"{folder}{os.sep}{name}", "xb") as file:  # noqa: PTH123 - faster
                    file.write(text)
            except FileExistsError as error:
                message = f"two passages have the id {graph_id!r}"
                raise FormatError(message, filename=path) from error
            count += 1
    return count


def passage_name(graph_id: str) -> str:
    """Return the name of a passage's file, without its suffix.

    >>> passage_name("7"), passage_name("../a b")
    ('7', '%2E.%2Fa%20b')
    """
    return _escape(_percent, graph_id)


def _percent(match: re.Match[str]) -> str:
    """Write a character as in a URL."""
    return "".join(f"%{byte:02X}" for byte in match[0].encode()) or "%"
