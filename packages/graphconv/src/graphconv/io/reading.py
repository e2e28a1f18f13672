"""Read treebank files: the format from the content, one graph at a time."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from graphconv.codecs import Block
from graphconv.errors import FileError, FormatError, GraphconvError, located
from graphconv.frameworks import BILEXICAL, FRAMEWORKS, Nodes, written_as
from graphconv.graph import Graph
from graphconv.io import files

if TYPE_CHECKING:
    from graphconv.arborescence import Arborescence

T = TypeVar("T")

FORMATS = ("sdp", "conllu", "arborescence", "relations", "mrp", "graphml", "ucca", "amr")
"""The names of the file formats, in the order in which content is compared with them."""

TREE_FORMATS = frozenset({"arborescence", "relations"})
"""The formats whose records are arborescences."""

MIXED_FORMATS = TREE_FORMATS | {"mrp", "graphml", "conllu"}
"""The formats whose records name their framework, so that one file may hold several."""

OnError = Callable[[GraphconvError], None]
"""Called with the error about a bad graph, which is then skipped."""

_HEAD = 1 << 16
_FOLDERS = {".xml": "ucca", ".sdp": "sdp", ".mrp": "mrp", ".amr": "amr", ".txt": "amr"}
"""What a folder is read for, in this order: it has files of one kind, and others beside them."""
_STARTS = ("(", "#", "{", "<")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Codec(Protocol):
    """What a module in :mod:`graphconv.codecs` offers."""

    def blocks(self, lines: Iterable[str], filename: str) -> Iterator[Block]:
        """Cut the lines of a file into graphs."""

    def parse(self, block: Block, framework: str | None) -> Any:
        """Turn one block into a Graph or an Arborescence."""

    def format(self, graph: Any) -> str:
        """Turn a Graph or an Arborescence into text."""

    def sniff(self, head: str) -> bool:
        """Say whether a file that starts with *head* has this format."""


@lru_cache
def codec(name: str) -> Codec:
    """Return the codec of a format."""
    if name not in FORMATS:
        raise FormatError(f"unknown format {name!r}; known are {', '.join(sorted(FORMATS))}")
    return cast("Codec", import_module(f"graphconv.codecs.{name}"))


def detect(head: str, filename: str | None = None) -> str:
    """Return the format of a file from its first characters."""
    text = head.removeprefix("\ufeff").lstrip()
    if not text:
        raise FileError("the file is empty", filename=filename)
    for name in FORMATS:
        if codec(name).sniff(text[:_HEAD]):
            return name
    raise FileError(
        "the format is not recognized from the content",
        filename=filename,
        lineno=head.count("\n", 0, len(head) - len(text)) + 1,
        text=text.split("\n", 1)[0],
    )


def held_frameworks(name: str) -> tuple[str, ...]:
    """Return the frameworks that files of a format can hold.

    >>> held_frameworks("sdp")
    ('dm', 'pas', 'psd')
    """
    if name == "conllu":
        return tuple(framework for framework in FRAMEWORKS if framework in BILEXICAL)
    return tuple(FRAMEWORKS) if name in MIXED_FORMATS else written_as(name)


def check_framework(name: str, framework: str | None, filename: str) -> None:
    """Refuse a framework that is none, or that files of the format cannot hold."""
    held = held_frameworks(name)
    if framework is None or framework in held:
        return
    if framework not in FRAMEWORKS:
        raise FileError(f"unknown framework {framework!r}; known are {', '.join(FRAMEWORKS)}")
    message = f"the file holds {' or '.join(held)} graphs ({name}), not {framework}"
    raise FileError(message, filename=filename)


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the name that users type
    framework: str | None = None,
    on_error: OnError | None = None,
) -> Iterator[Graph]:
    """Read the graphs of a file, of the files in a folder, or of standard input (``-``).

    Of a file that may hold several frameworks (MRP and JSON lines) *framework* chooses one, which
    must be there. One that the file cannot hold is an error.
    """
    return _parsed(parse_block, path, format, framework, on_error)


def read_arborescences(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the name that users type
    framework: str | None = None,
    on_error: OnError | None = None,
) -> Iterator[Arborescence]:
    """Read arborescences; graphs of other formats are converted."""
    return _parsed(parse_tree, path, format, framework, on_error)


def read_blocks(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the name that users type
    framework: str | None = None,
    on_error: OnError | None = None,
) -> tuple[str, Iterator[Block]]:
    """Return the format of a file, and the texts of its graphs for :func:`parse_block`.

    A *framework* that the file cannot hold is an error.
    """
    path = os.fspath(path)
    if format is not None:
        codec(format)  # an unknown format is the first thing to say
    if path != files.STDIO and Path(path).is_dir():
        kind, names = _folder_files(Path(path), format)
        check_framework(kind, framework, path)
        return kind, _folder_blocks(codec(kind), Path(path), names, on_error)
    if looks_like_graphs(path) and not os.path.lexists(path):
        message = "there is no such file; graphs in a string are read with graphconv.loads"
        raise FormatError(message, text=path)
    filename = files.shown(path)
    pieces = files.chunks(path)
    start = next(pieces, b"")
    name = format
    if name is None:
        encoding = files.encoding_of(start, filename)
        name = detect(start.decode(encoding, "replace"), filename)
    check_framework(name, framework, filename)
    return name, blocks_of(codec(name), chain([start], pieces), filename, on_error)


def looks_like_graphs(text: str) -> bool:
    """Say whether a string begins as a graph does, and no usual name of a file.

    >>> looks_like_graphs("(b / boy)"), looks_like_graphs("gold.amr")
    (True, False)
    """
    return text.lstrip("\ufeff \t\r\n").startswith(_STARTS)


def parse_block(name: str, block: Block, framework: str | None = None) -> Graph:
    """Parse one block of a file of format *name*."""
    item = _parse(name, block, framework)
    graph = as_graph(item)
    if item is not graph:
        if not _is_sound(graph):
            message = "the side record is not that of a graph"
            text = block.text.strip()
            raise FormatError(message, filename=block.filename, lineno=block.lineno, text=text)
        if FRAMEWORKS[graph.framework].nodes is Nodes.UNIT:
            as_tree(graph)  # refuses cycles and the like, of which rows know nothing
    if name in MIXED_FORMATS and name != "mrp" and "mrp" in block.text:
        _check_residue(graph, block)
    return graph


def _check_residue(graph: Graph, block: Block) -> None:
    """Raise an error unless what a graph says of its record in MRP gives one that can be read."""
    from graphconv.codecs import mrp  # noqa: PLC0415 - few files need it
    from graphconv.codecs.mrp.residue import has_residue  # noqa: PLC0415

    if not has_residue(graph):
        return
    try:
        mrp.parse(Block(mrp.format(graph), block.filename, block.lineno))
    except (GraphconvError, ValueError, TypeError, KeyError, AttributeError) as error:
        message = "what 'mrp' says of the graph is not that of a record"
        text = block.text.strip()
        raise FormatError(
            message, filename=block.filename, lineno=block.lineno, text=text
        ) from error


def parse_tree(name: str, block: Block, framework: str | None = None) -> Arborescence:
    """Parse one block of a file of format *name* to an arborescence."""
    return as_tree(_parse(name, block, framework))


def _parsed(
    parse: Callable[[str, Block, str | None], T],
    path: str | os.PathLike[str],
    name: str | None,
    framework: str | None,
    on_error: OnError | None,
) -> Iterator[T]:
    try:
        name, blocks = read_blocks(path, format=name, framework=framework, on_error=on_error)
    except GraphconvError as error:
        report(error, on_error)
        return
    found = others = False
    for block in blocks:
        try:
            item = parse(name, block, framework)
        except GraphconvError as error:
            report(located(error, block.filename, block.lineno), on_error)
            continue
        if framework and name in MIXED_FORMATS and item.framework != framework:  # type: ignore[attr-defined]
            others = True
            continue
        found = True
        yield item
    if others and not found:
        filename = files.shown(os.fspath(path))
        report(FileError(f"there is no {framework} graph in it", filename=filename), on_error)


def report(error: GraphconvError, on_error: OnError | None) -> None:
    """Raise an error, or hand it to whom it may concern."""
    if on_error is None:
        raise error
    on_error(error)


def blocks_of(
    module: Codec, pieces: Iterable[bytes], filename: str, on_error: OnError | None = None
) -> Iterator[Block]:
    """Cut the bytes of a file into the texts of its graphs."""
    # SDP files are kept byte for byte, a byte order mark included.
    keep_bom = getattr(module, "KEEPS_BOM", False)
    is_one_block = getattr(module, "is_one_block", lambda _: False)
    damage: FileError | None = None
    size = 0

    def until_damage(texts: Iterable[str]) -> Iterator[str]:
        nonlocal damage, size
        try:
            for text in texts:
                size += len(text)
                if size > files.LONGEST_GRAPH + len(text):
                    message = f"a graph of more than {files.LONGEST_GRAPH >> 20} MB"
                    damage = FileError(message, filename=filename)
                    return
                yield text
        except FileError as error:
            damage = error

    held: Block | None = None
    try:
        stream = iter(pieces)
        start = next(stream, b"")
        one_block = is_one_block(start)
        decode = files.whole if one_block else files.texts
        text = until_damage(decode(chain([start], stream), filename, keep_bom=keep_bom))
        for block in module.blocks(text if one_block else files.split(text), filename):
            size = 0
            if held:
                yield held
            held = block
    except FormatError as error:
        if held:
            yield held
        report(error, on_error)
        return
    if damage:
        # The last graph may be cut, and still look whole.
        report(_cut_off(damage, held), on_error)
    elif held:
        yield held
    else:
        report(FileError("there is no graph in the file", filename=filename), on_error)


def _cut_off(damage: FileError, last: Block | None) -> FileError:
    """Return the error about a file of which only the graphs before *last* can be read."""
    lineno, text = damage.lineno, damage.text
    if last is None:
        return damage
    message = f"{damage.message}; what begins in line {last.lineno} and all that follows is lost"
    if lineno is None:
        lineno, text = last.lineno, last.text.strip().split("\n", 1)[0]
    return FileError(message, filename=damage.filename, lineno=lineno, text=text)


def _folder_files(folder: Path, format: str | None) -> tuple[str, list[str]]:  # noqa: A002
    """Return the format and the names of the treebank files in a folder, in natural order."""
    with files.os_errors(str(folder)):
        found = [file.name for file in folder.iterdir()]
    suffixes = [suffix for suffix, name in _FOLDERS.items() if format in (None, name)]
    for suffix in suffixes:
        names = [name for name in found if name.lower().removesuffix(".gz").endswith(suffix)]
        if names:
            return _FOLDERS[suffix], sorted(names, key=_natural)
    if not suffixes:
        message = f"a folder, where a file of format {format} is expected"
    else:
        message = f"there is no {' or '.join(suffixes)} file in the folder"
    raise FileError(message, filename=str(folder))


def _folder_blocks(
    module: Codec, folder: Path, names: Iterable[str], on_error: OnError | None
) -> Iterator[Block]:
    for name in names:
        filename = f"{folder}{os.sep}{name}"
        yield from blocks_of(module, files.chunks(filename), filename, on_error)


def _natural(name: str) -> list[tuple[int, str]]:
    """Order 2 before 10."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)
    ]


def _parse(name: str, block: Block, framework: str | None) -> Graph | Arborescence:
    try:
        if not block.text.isascii():
            block.text.encode()
    except UnicodeEncodeError as error:
        start = block.text.rfind("\n", 0, error.start) + 1
        raise FormatError(
            "not valid UTF-8",
            filename=block.filename,
            lineno=block.lineno + block.text.count("\n", 0, error.start),
            text=_SURROGATE.sub("\ufffd", block.text[start:].split("\n", 1)[0]),
        ) from error
    return cast("Graph | Arborescence", codec(name).parse(block, framework))


def as_graph(item: Graph | Arborescence) -> Graph:
    """Return a graph as it is, and an arborescence as its graph."""
    if isinstance(item, Graph):
        return item
    from graphconv.conversion import to_graph  # noqa: PLC0415 - most files need it nowhere

    return to_graph(item)


def _is_sound(graph: Any) -> bool:
    """Say whether a graph made from any record has the right types and references."""
    try:
        graph.validate()
    except (GraphconvError, TypeError):
        return False
    return (
        all(
            isinstance(node.id, str)
            and isinstance(node.label, str | None)
            and isinstance(node.constant, bool)
            and isinstance(node.implicit, bool)
            and _are_pairs(node.attributes)
            for node in graph.nodes
        )
        and all(
            isinstance(edge.label, str)
            and isinstance(edge.remote, bool)
            and _are_pairs(edge.attributes)
            for edge in graph.edges
        )
        and _are_pairs(graph.metadata)
        and _are_pairs(graph.extras)
    )


def _are_pairs(pairs: Any) -> bool:
    return isinstance(pairs, tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs
    )


def as_tree(item: Graph | Arborescence) -> Arborescence:
    """Return an arborescence as it is, and a graph as its arborescence."""
    if not isinstance(item, Graph):
        return item
    from graphconv.conversion import to_arborescence  # noqa: PLC0415 - most files need it nowhere

    return to_arborescence(item)
