"""Cutting a text of any origin into chunks: comments, one graph, and what does not belong there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from graphconv.codecs.amr.writer import NO_SYMBOL, STRING

_FENCE = re.compile(r"\s*(?:```|~~~)")
_NODE = re.compile(rf"\(\s*[^{NO_SYMBOL}]+\s*/|\(\s*/")
# A graph whose first bracket is missing.
_BARE = re.compile(rf"\s*[^\W\d_][^{NO_SYMBOL}]{{0,3}}\s+/\s+[^{NO_SYMBOL}]+(?:\s+:|\s*[()]|\s*$)")
_GRAPH = re.compile(rf"\s*\((?:\s*[^{NO_SYMBOL}]+\s*(?:[/:()\"~]|$)|\s*[a-z]\d*\s|\s*[/:()]|\s*$)")
_FIELD = re.compile(r"::(id|snt|tok)(?:\s|$)")
_brackets = re.compile(rf"{STRING}|\#.*|[()]|:?[^{NO_SYMBOL}]+").finditer


class Chunk(NamedTuple):
    """Some lines of the text, ends included, and the number of the first."""

    lines: list[str]
    lineno: int


def chunks(lines: Iterable[str]) -> Iterator[Chunk]:
    """Cut *lines* before each graph's comments; a chunk holds at most one header.

    A graph ends with its brackets and an empty line, and at the latest before a line of metadata,
    or before an opening bracket at the start of a line after an empty one.
    """
    held = Chunk([], 1)
    seen = _Seen(False, 0, False, frozenset())
    for lineno, line in enumerate(lines, 1):
        text = line.strip()
        fields = frozenset(_FIELD.findall(line) if text.startswith("#") else ())
        if held.lines and _begins(line, seen, fields):
            yield held
            held, seen = Chunk([], lineno), _Seen(False, 0, False, frozenset())
        held.lines.append(line)
        graph, depth = seen.graph, seen.depth
        if text and not text.startswith("#") and (graph or graph_start(line) is not None):
            graph = True
            depth += _depth(line)
        seen = _Seen(graph, depth, not text, seen.fields | fields)
    if held.lines:
        yield held


class _Seen(NamedTuple):
    """What the lines of a chunk are so far."""

    graph: bool
    depth: int
    blank: bool
    """Whether the last line is."""
    fields: frozenset[str]


def _begins(line: str, seen: _Seen, fields: frozenset[str]) -> bool:
    """Say whether *line* begins a chunk, after one that has a graph or only a header."""
    text = line.strip()
    if not text:
        return False
    if not seen.graph:
        return seen.blank and bool(seen.fields & fields)
    if text.startswith("#"):
        return seen.depth <= 0 or seen.blank or "::" in line
    if seen.blank and seen.depth <= 0:
        return True
    return line.startswith("(") and (seen.blank or (seen.depth <= 0 and not seen.fields))


def graph_start(line: str) -> int | None:
    """Return where a graph starts in a line outside of a graph, or None.

    >>> [graph_start(line) for line in ("(b / boy)", "The graph: (b / boy", "Yes (of course).")]
    [0, 11, None]
    """
    if _GRAPH.match(line) or _BARE.match(line):
        return len(line) - len(line.lstrip())
    match = _NODE.search(line)
    return match.start() if match and not line.lstrip().startswith("#") else None


def is_prose(line: str) -> bool:
    """Say whether a line behind a graph is none of it: a fence, or a sentence."""
    if _FENCE.match(line):
        return True
    text = line.strip()
    return bool(text) and text[0] not in '():"/#~' and not _NODE.search(line)


def has_header(lines: Iterable[str]) -> bool:
    """Say whether comments name a graph or its sentence."""
    return any(_FIELD.search(line) for line in lines)


def _depth(line: str) -> int:
    """Return how many more brackets are opened than closed."""
    if '"' not in line and "#" not in line:
        return line.count("(") - line.count(")")
    found = [match[0] for match in _brackets(line)]
    return found.count("(") - found.count(")")
