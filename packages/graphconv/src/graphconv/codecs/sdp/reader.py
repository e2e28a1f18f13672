"""SDP text to graphs: the lines of a sentence, its columns, its edges."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from itertools import chain, repeat
from typing import Any, NamedTuple

from graphconv.codecs import Block
from graphconv.codecs.sdp.layout import HEADER, IS_HEADER
from graphconv.errors import FormatError
from graphconv.graph import Attributes, Edge, Graph, Token, token_nodes

_SIGNS = frozenset("+-")
_IS_ID = re.compile(r"#\S*\s*\Z")

# The constructor of a NamedTuple runs Python code; these do not, and half a million tokens notice.
_token: Callable[[Any], Token] = partial(tuple.__new__, Token)
_edge: Callable[[Any], Edge] = partial(tuple.__new__, Edge)


class _Sentence(NamedTuple):
    """The token lines of a block, and how the rest of it differs from a normal one."""

    id: str
    lines: list[str]
    offset: int
    header: str
    extras: Attributes


def sniff(head: str) -> bool:
    """Say whether *head* starts like an SDP file."""
    lines = head.split("\n")
    if IS_HEADER.match(head):
        return True
    for line in lines[:-1] or lines:
        if not _outside(line):
            cells = line.split("\t")
            return len(cells) >= 6 and cells[0].isdecimal() and set(cells[4:6]) <= {"+", "-"}
    return False


def blocks(lines: Iterable[str], filename: str) -> Iterator[Block]:
    """Cut a file into sentences; lines that belong to none go to the next, or to the last."""
    pending: Block | None = None
    current: list[str] = []
    start, context, complete = 1, "", False
    for line in lines:
        current.append(line)
        if line[0] in "123456789":  # most lines
            complete = True
        elif not line.strip():
            if complete:
                if pending:
                    yield pending
                pending = Block("".join(current), filename, start, start == 1, context)
                current, complete, start = [], False, start + len(current)
        elif IS_HEADER.match(line):
            context = "sdp2015" if "2015" in line else context
        elif line[0] != "#" or _IS_ID.match(line):
            complete = True
    if pending:
        yield pending if complete else pending._replace(text=pending.text + "".join(current))
    if complete:
        yield Block("".join(current), filename, start, start == 1, context)


def parse(block: Block, framework: str | None = None) -> Graph:
    """Turn one sentence into a Graph."""
    sentence = _sentence(block)
    lines = sentence.lines
    ids, plain, predicates = token_nodes(len(lines))
    numbers = ids[: len(lines)]
    forms, lemmas, tags, top_cells, pred_cells, *rest = _columns(block, sentence, numbers)
    tops = [number for number, cell in zip(numbers, top_cells, strict=True) if cell == "+"]
    sources = [number for number, cell in zip(numbers, pred_cells, strict=True) if cell == "+"]
    columns = lines[0].count("\t") + 1 if lines else 7
    fixed = columns - len(sources)
    if fixed not in (6, 7) or (fixed == 6 and block.context):
        _check_widths(block, sentence)
        message = f"{len(sources)} tokens have PRED +, so {7 + len(sources)} columns are expected"
        raise _error(f"{message}, {columns} found", block, sentence, 0)
    frames = rest.pop(0) if fixed == 7 else repeat("_", len(lines))
    cells = map("\t".join, zip(*rest, strict=True)) if len(rest) > 1 else chain(*rest)
    edges = _edges(block, sentence, zip(numbers, cells, strict=False), sources) if sources else []
    used = {*tops, *sources, *[edge.target for edge in edges]}
    features = map(_features, frames)
    tokens = zip(forms, _optional(lemmas), _optional(tags), repeat(None), features, strict=False)
    nodes = [
        predicates[i] if cell == "+" else plain[i]
        for i, cell in enumerate(pred_cells)
        if numbers[i] in used
    ]
    return Graph(
        sentence.id,
        framework or "dm",
        tuple(map(_token, tokens)),
        tuple(nodes),
        tuple(edges),
        tuple(tops),
        (),
        _extras(block, sentence, fixed) if block.first or sentence.extras or fixed == 6 else (),
    )


def _outside(line: str) -> bool:
    return line.startswith(("#", "\ufeff#")) or not line.strip("\ufeff \t\r\n\f\v")


def _sentence(block: Block) -> _Sentence:
    text, header = block.text, ""
    if block.first and text.startswith(HEADER):
        text, header = text.removeprefix(HEADER), HEADER
    lines = text.split("\n")
    # Nearly every sentence is like this; all the others take the long way.
    if (
        lines[0].startswith("#")
        and lines[-2:] == ["", ""]
        and "\r" not in text
        and (lines[1][:1].isdecimal() or not lines[1])
        and not lines[0].startswith("#SDP ")
    ):
        return _Sentence(lines[0][1:], lines[1:-2], 2 if header else 1, header, ())
    return _odd_sentence(block)


def _odd_sentence(block: Block) -> _Sentence:
    lines = block.text.split("\n")
    lines = [line + "\n" for line in lines[:-1]] + lines[-1:]
    inside = [i for i, line in enumerate(lines) if not _outside(line)]
    comments = [i for i in range(inside[0] if inside else len(lines)) if lines[i].strip()]
    ids = [i for i in comments if not IS_HEADER.match(lines[i])]
    if not ids:
        raise FormatError(
            "a sentence without the line #id above its tokens",
            filename=block.filename,
            lineno=block.lineno + (inside[0] if inside else 0),
            text=lines[inside[0] if inside else 0].rstrip("\r\n"),
        )
    id_line = ([i for i in ids if _IS_ID.match(lines[i])] or ids)[-1]
    first, last = (inside[0], inside[-1] + 1) if inside else (id_line + 1, id_line + 1)
    # A header below the id is a comment; of a sentence without tokens it is in the tail.
    start = max((i + 1 for i in comments if i < id_line and IS_HEADER.match(lines[i])), default=0)
    start = start if block.first else 0
    tokens = [line.removesuffix("\n").removesuffix("\r") for line in lines[first:last]]
    ends = [line[len(token) :] for line, token in zip(lines[first:last], tokens, strict=True)]
    extras: list[tuple[str, Any]] = []
    sentence_id = lines[id_line].strip("\ufeff").rstrip("\r\n")[1:]
    unterminated = bool(ends) and not ends[-1]
    if unterminated:
        ends[-1] = ends[0] or "\n"
    newline = ends[0] if ends and len(set(ends)) == 1 else "\n"
    head, tail = "".join(lines[start:first]), "".join(lines[last:])
    if head != f"#{sentence_id}{newline}":
        extras.append(("head", head))
    if set(ends) - {"\n"}:
        extras.append(("newline", newline if len(set(ends)) == 1 else "".join(ends)))
    if unterminated:
        extras.append(("unterminated", True))
    elif tail != newline:
        extras.append(("tail", tail))
    return _Sentence(sentence_id, tokens, first, "".join(lines[:start]), tuple(extras))


def _extras(block: Block, sentence: _Sentence, fixed: int) -> Attributes:
    extras = sentence.extras
    if fixed == 6:
        extras = (("format", "sdp2014"), *extras)
    if block.first and sentence.header != (HEADER if fixed == 7 else ""):
        extras = (*extras, ("header", sentence.header))
    return extras


def _columns(block: Block, sentence: _Sentence, numbers: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the columns form to pred, the next if there is one, and all that follows as one."""
    lines = sentence.lines
    if not lines:
        return [()] * 6
    try:
        ids, *columns = zip(*[line.split("\t", 7) for line in lines], strict=True)
    except ValueError:
        _check_widths(block, sentence)
        raise
    if len(columns) < 5:
        _check_widths(block, sentence)
    if ids != numbers:
        wrong = next(i for i, number in enumerate(numbers) if ids[i] != number)
        message = f"token id {numbers[wrong]} expected, {ids[wrong]!r} found"
        raise _error(message, block, sentence, wrong)
    for name, column in (("TOP", columns[3]), ("PRED", columns[4])):
        if not _SIGNS.issuperset(column):
            wrong = next(i for i, cell in enumerate(column) if cell not in _SIGNS)
            message = f"{name} is neither + nor - but {column[wrong]!r}"
            raise _error(message, block, sentence, wrong)
    return columns


def _check_widths(block: Block, sentence: _Sentence) -> None:
    """Refuse lines with different numbers of columns, or with too few."""
    widths = [line.count("\t") + 1 for line in sentence.lines]
    if widths.count(widths[0]) != len(widths) or widths[0] < 6:
        preds = sum(line.split("\t")[5:6] == ["+"] for line in sentence.lines)
        width = max(7 + preds, 6 + preds, key=widths.count)
        wrong = next(i for i, other in enumerate(widths) if other != width)
        message = f"{width} columns separated by tabs expected, {widths[wrong]} found"
        raise _error(message, block, sentence, wrong)


def _edges(
    block: Block, sentence: _Sentence, cells: Iterable[tuple[str, str]], sources: list[str]
) -> list[Edge]:
    """Return the edges from the id and the joined argument columns of each line."""
    empty = "\t".join("_" * len(sources))  # most of the lines
    rows = [(number, line.split("\t")) for number, line in cells if line != empty]
    for number, labels in rows:
        if len(labels) != len(sources):
            _check_widths(block, sentence)
        if "" in labels:
            raise _error("an argument column is empty", block, sentence, int(number) - 1)
    return [
        _edge((sources[column], number, label, False, ()))
        for number, labels in rows
        for column, label in enumerate(labels)
        if label != "_"
    ]


def _error(message: str, block: Block, sentence: _Sentence, row: int) -> FormatError:
    return FormatError(
        message,
        filename=block.filename,
        lineno=block.lineno + sentence.offset + row,
        text=sentence.lines[row],
    )


@lru_cache(maxsize=1 << 16)
def _features(frame: str) -> Attributes:
    return () if frame == "_" else (("frame", frame),)


def _optional(column: tuple[str, ...]) -> Iterable[str | None]:
    if "_" not in column:
        return column
    return [None if cell == "_" else cell for cell in column]
