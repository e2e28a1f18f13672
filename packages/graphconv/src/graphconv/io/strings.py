r"""Graphs from a string and to a string, in any format that files have.

>>> [graph] = loads("(w / want-01 :ARG0 (b / boy))")
>>> [node.label for node in graph.nodes]
['want-01', 'boy']
>>> dumps(graph)
'(w / want-01\n      :ARG0 (b / boy))\n\n'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from graphconv.codecs import Block
from graphconv.errors import FormatError
from graphconv.graph import Graph
from graphconv.io.reading import (
    MIXED_FORMATS,
    blocks_of,
    check_framework,
    codec,
    detect,
    looks_like_graphs,
    parse_block,
)
from graphconv.io.writing import footer, native_format, text_of, texts

if TYPE_CHECKING:
    from graphconv.arborescence import Arborescence

STRING = "<string>"
"""The name that errors give to a string."""

_LONGEST_SHOWN = 4096


def loads(text: str, format: str | None = None, framework: str | None = None) -> list[Graph]:  # noqa: A002 - the name that users type
    """Read the graphs in a string; its format is recognized unless it is given.

    *framework* says what an SDP text holds (DM if it is not given), and chooses from a text that
    may hold several (MRP and JSON lines).

    Raises:
        FormatError: The string is not graphs; the message has the line and what stands there.
    """
    if not isinstance(text, str):
        raise TypeError(f"graphconv.loads takes a string, not {type(text).__name__}")
    name, blocks = string_blocks(text, format)
    check_framework(name, framework, STRING)
    graphs = (parse_block(name, block, framework) for block in blocks)
    if framework is None or name not in MIXED_FORMATS:
        return list(graphs)
    return [graph for graph in graphs if graph.framework == framework]


def is_no_notation(text: str) -> bool:
    """Say whether a string is one line, and in none of the formats; it may be a file's name."""
    return not looks_like_graphs(text) and "\n" not in text


def string_blocks(text: str, format: str | None = None) -> tuple[str, Iterator[Block]]:  # noqa: A002
    """Return the format of a string, and the texts of its graphs."""
    if format is None:
        if not text.strip():
            raise FormatError("the string is empty: there is no graph in it")
        if is_no_notation(text):
            message = "this string is not a graph; if it names a file, call graphconv.read"
            raise FormatError(message, text=text[:_LONGEST_SHOWN])
        format = detect(text, STRING)  # noqa: A001
    return format, blocks_of(codec(format), iter([text.encode(errors="surrogateescape")]), STRING)


def dumps(
    graphs: Graph | Arborescence | Iterable[Graph | Arborescence],
    format: str | None = None,  # noqa: A002 - the name that users type
) -> str:
    """Write a graph, or several, to a string; by default in the format that the first came from.

    Raises:
        FormatError: The format cannot hold the graphs.
    """
    items: Iterator[Any] = iter([graphs] if hasattr(graphs, "framework") else graphs)
    first = next(items, None)
    if first is None:
        if format is not None:
            codec(format)
        return ""
    name = format or (native_format(first) if isinstance(first, Graph) else "arborescence")
    written = [text for _, text in texts(name, text_of(name), chain([first], items), None)]
    if name == "ucca" and len(written) > 1:
        raise FormatError("a UCCA text holds exactly one passage: choose format='mrp' for several")
    return b"".join(written).decode() + footer(name)
