r"""Repair: broken PENMAN, from any parser or language model, becomes valid graphs.

>>> result = repair("Here it is:\n(w / want-01 :ARG0 (b / boy :ARG1 (g / go-02 :ARG0 b)")
>>> print(result.text)
(w / want-01 :ARG0 (b / boy :ARG1 (g / go-02 :ARG0 b)))
>>> for edit in result.edits:
...     print(edit.line, edit.column, edit.kind, edit.what)
1 1 junk left out Here it is:
2 54 bracket put in )
2 54 bracket put in )

Laws:

1. A valid text comes back unchanged. *Valid* means that graphconv reads it, every variable has a
   concept, every role a name and a value, and a header one graph.
2. What comes back is valid.
3. Every edit is told with its place; one edit is one entry.
4. No repair of a short graph has fewer edits of the :data:`KINDS`; :mod:`.paths` searches them all.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import NamedTuple

from graphconv.codecs import Block, amr
from graphconv.errors import FormatError, GraphconvError
from graphconv.graph import Graph
from graphconv.mend.chunks import Chunk, chunks, graph_start, has_header, is_prose
from graphconv.mend.edits import KINDS, Editor
from graphconv.mend.paths import cheapest

__all__ = ["KINDS", "Edit", "Repair", "repair", "repairs"]

_SURROGATE = re.compile("[\ud800-\udfff]")
_LOST = "\ufffd"
_EMPTY = "(a / amr-empty)"
_SHOWN = 40


class Edit(NamedTuple):
    """One change, and its place in the text as it was; lines and columns count from 1."""

    line: int
    column: int
    kind: str
    what: str
    graph: str = ""


class Repair(NamedTuple):
    """A valid text, and what was changed in it."""

    text: str
    edits: tuple[Edit, ...]
    graphs: int


def repair(text: str) -> Repair:
    """Repair every graph of *text*."""
    found = list(repairs(StringIO(text, newline="\n")))
    edits = tuple(edit for item in found for edit in item.edits)
    return Repair("".join(item.text for item in found), edits, sum(item.graphs for item in found))


def repairs(lines: Iterable[str], filename: str = "text") -> Iterator[Repair]:
    """Repair the graphs of *lines*, ends included, one after the other.

    Raises FormatError for a graph that cannot be repaired: one too deep to be read.
    """
    number = 1
    for chunk in chunks(lines):
        result = _repaired(chunk, filename, number)
        number += result.graphs
        yield result


def _repaired(chunk: Chunk, filename: str, number: int) -> Repair:
    text = "".join(chunk.lines)
    count = _valid(text, filename, chunk.lineno)
    if count is not None:
        return Repair(text, (), count)
    mender = _Mender(chunk)
    mended = mender.mended()
    count = _valid(mended, filename, chunk.lineno, strict=True) or 0
    ids = re.findall(r"::id\s+(\S+)", text)
    name = ids[0] if ids else f"#{number}"
    edits = tuple(
        edit._replace(graph=name) for edit in sorted(mender.edits, key=lambda edit: edit[:2])
    )
    return Repair(mended, edits, count)


def _valid(text: str, filename: str, lineno: int, strict: bool = False) -> int | None:
    """Return how many graphs a valid text has, or None; *strict* raises what is wrong."""
    body = text.removeprefix("\ufeff")
    blocks = list(amr.blocks(body.split("\n"), filename))
    if not blocks and all(
        line.lstrip().startswith("#") for line in body.split("\n") if line.strip()
    ):
        return None if has_header(body.split("\n")) else 0
    try:
        if _SURROGATE.search(body):
            raise FormatError("not valid UTF-8")
        if not blocks:  # and an indented comment behind it, which hides it from the reader
            raise FormatError("text outside of brackets")
        for block in blocks:
            _check(amr.parse(block), block)
        if len(blocks) > 1 and has_header(body.split("\n")):
            raise FormatError("two graphs below one header")
    except GraphconvError as error:
        if strict:
            raise FormatError(
                f"the graph cannot be repaired: {error}", filename=filename, lineno=lineno
            ) from error
        return None
    return len(blocks)


def _check(graph: Graph, block: Block) -> None:
    for node in graph.nodes:
        if not node.label:
            raise FormatError("a concept or a value is missing", lineno=block.lineno)
    if any(not edge.label for edge in graph.edges):
        raise FormatError("a role is missing", lineno=block.lineno)


class _Mender:
    """Repairs one chunk; the edits gather in *edits*."""

    def __init__(self, chunk: Chunk) -> None:
        self.lines = list(chunk.lines)
        self.lineno = chunk.lineno
        self.edits: list[Edit] = []

    def mended(self) -> str:
        """Return the repaired text."""
        self._decode()
        head, start, column = self._head()
        if start == len(self.lines):
            return self._without_graph(head)
        first, rest = self.lines[start][column:], self.lines[start + 1 :]
        prefix = self.lines[start][:column]
        if prefix.strip():
            self._junk(start, prefix)
        elif prefix:
            head.append(prefix)
        rest, tail = self._tail(start, first, rest)
        body = "".join([first, *rest])
        mended, log = Editor(body, cheapest(body)).run()
        starts = [0, *(match.end() for match in re.finditer("\n", body))]
        for offset, kind, what in log:
            line = bisect_right(starts, offset) - 1
            shift = column if line == 0 else 0
            place = offset - starts[line] + 1 + shift
            self.edits.append(Edit(self.lineno + start + line, place, kind, what))
        return "".join([*head, mended, *tail])

    def _decode(self) -> None:
        for number, line in enumerate(self.lines):
            for match in _SURROGATE.finditer(line):
                place = (self.lineno + number, match.start() + 1)
                self.edits.append(Edit(*place, "encoding", "a byte that is not UTF-8"))
            self.lines[number] = _SURROGATE.sub(_LOST, line)

    def _head(self) -> tuple[list[str], int, int]:
        """Return the lines before the graph that stay, and where the graph starts."""
        kept = []
        for number, line in enumerate(self.lines):
            text = line.removeprefix("\ufeff").strip()
            if not text or text.startswith("#"):
                kept.append(line)
                continue
            column = graph_start(line.replace("\ufeff", " "))
            if column is not None:
                return kept, number, column
            self._junk(number, line)
        return kept, len(self.lines), 0

    def _tail(self, start: int, first: str, rest: list[str]) -> tuple[list[str], list[str]]:
        """Split off the blank lines and the prose at the end; prose is dropped."""
        tail: list[str] = []
        while rest and (not rest[-1].strip() or is_prose(rest[-1])):
            line = rest.pop()
            if line.strip():
                self._junk(start + 1 + len(rest), line)
            else:
                tail.insert(0, line)
        last = rest[-1] if rest else first
        if tail and not last.endswith("\n"):
            tail.insert(0, "\n")
        return rest, tail

    def _without_graph(self, head: list[str]) -> str:
        text = "".join(head)
        if not has_header(head):
            return text
        kept = text.rstrip()
        line = self.lineno + len(self.lines) - 1
        self.edits.append(Edit(line, 1, "graph", f"put in {_EMPTY}"))
        return f"{kept}\n{_EMPTY}{text[len(kept) :] or chr(10)}"

    def _junk(self, number: int, line: str) -> None:
        text = line.strip()
        shown = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
        column = len(line) - len(line.lstrip()) + 1
        self.edits.append(Edit(self.lineno + number, column, "junk", f"left out {shown}"))
