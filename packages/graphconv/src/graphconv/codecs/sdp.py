r"""SDP files, 2015 (seven fixed columns) and 2014 (six), byte for byte.

A sentence is a line ``#id``, a line per token and an empty line. The columns are id, form, lemma,
pos, top, pred, frame (2015 only), and one argument column for each token with PRED ``+``, in order.

>>> text = "#1\n1\tIt\tit\tPRP\t-\t-\t_\tARG1\n2\trains\train\tVBZ\t+\t+\tv:e\t_\n\n"
>>> graph = parse(Block(text, "a.sdp", 1), "dm")
>>> [tuple(edge[:3]) for edge in graph.edges], graph.tops
([('2', '1', 'ARG1')], ('2',))
>>> format(graph) == text
True

``_`` as lemma, pos or frame is None here. ``extras`` holds only how a file is unusual:
``format`` (``sdp2014``), ``header`` (the lines above the first sentence), ``head`` (the lines above
the tokens), ``newline`` (of the token lines; all of them where they differ), ``unterminated`` (the
file ends in the last token line) and ``tail`` (what follows the tokens).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain, repeat
from typing import Any, NamedTuple, cast

from graphconv.codecs import Block
from graphconv.errors import FormatError
from graphconv.frameworks import written_as
from graphconv.graph import (
    PREDICATE,
    Attributes,
    Edge,
    Graph,
    Token,
    attribute,
    token_nodes,
)

KEEPS_BOM = True
"""Even a byte order mark at the start of a file comes back."""

_HEADER = "#SDP 2015\n"
_SIGNS = frozenset("+-")
_IS_HEADER = re.compile(r"\ufeff?#SDP ")
_NEWLINE = re.compile(r"\r?\n")
_IS_ID = re.compile(r"#\S*\s*\Z")

# The constructor of a NamedTuple runs Python code; these do not, and half a million tokens notice.
_token: Callable[[Any], Token] = partial(tuple.__new__, Token)
_edge: Callable[[Any], Edge] = partial(tuple.__new__, Edge)


_Arc = tuple[int, int, str]
"""The positions of source and target, and the label."""


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
    if _IS_HEADER.match(head):
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
        elif _IS_HEADER.match(line):
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


def format(graph: Graph) -> str:  # noqa: A001 - the name that every codec has
    """Turn a Graph into one sentence, without the header of the file."""
    return _format(graph, _version(graph))


def file_format() -> Callable[[Graph], str]:
    """Return a function like ``format`` that starts the file with the header of its first graph."""
    version: str | None = None

    def text_of(graph: Graph) -> str:
        nonlocal version
        own = _version(graph)
        if version is not None:
            return _format(graph, version or own)
        text = _format(graph, own)
        header = str(attribute(graph.extras, "header", _HEADER if own == "sdp2015" else ""))
        # A file without header may hold sentences of both versions.
        version = own if _IS_HEADER.match(header.lstrip()) else ""
        return header + text

    return text_of


def lost(graph: Graph) -> list[str]:
    """Return what a graph says that SDP has no place for.

    >>> lost(Graph("1", "dm", (Token("Go"),), metadata=(("source", "wsj"),)))
    ['metadata']
    """
    token_features = {name for token in graph.tokens for name, _ in token.features}
    node_attributes = {name for node in graph.nodes for name, _ in node.attributes}
    said = {
        "metadata": graph.metadata,
        "the text between tokens": attribute(graph.extras, "input"),
        "features of tokens": token_features - {"frame"},
        "properties of nodes": node_attributes - {"pred"},
        "attributes of edges": any(edge.attributes for edge in graph.edges),
    }
    return [what for what, there in said.items() if there]


def _outside(line: str) -> bool:
    return line.startswith(("#", "\ufeff#")) or not line.strip("\ufeff \t\r\n\f\v")


def _sentence(block: Block) -> _Sentence:
    text, header = block.text, ""
    if block.first and text.startswith(_HEADER):
        text, header = text.removeprefix(_HEADER), _HEADER
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
    ids = [i for i in comments if not _IS_HEADER.match(lines[i])]
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
    start = max((i + 1 for i in comments if i < id_line and _IS_HEADER.match(lines[i])), default=0)
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
    if block.first and sentence.header != (_HEADER if fixed == 7 else ""):
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


def _version(graph: Graph) -> str:
    return "sdp2014" if attribute(graph.extras, "format") == "sdp2014" else "sdp2015"


def _format(graph: Graph, version: str) -> str:
    if graph.framework not in written_as("sdp"):
        raise _unwritable(graph, f"a graph of {graph.framework} cannot be written as SDP")
    positions = _positions(graph)
    try:
        tops = [positions[top] for top in graph.tops]
        arcs = [
            (positions[source], positions[target], label)
            for source, target, label, _, _ in graph.edges
        ]
    except KeyError as error:
        raise _unwritable(graph, f"an edge or a top names the unknown node {error}") from error
    preds = _predicates(graph, arcs, tops)
    arguments = _arguments(graph, arcs, preds)
    count = len(graph.tokens)
    forms, lemmas, tags, _, features = zip(*graph.tokens, strict=True) if count else [()] * 5
    frames = [_frame(pairs) if pairs else None for pairs in features]
    columns: list[Iterable[str]] = [
        token_nodes(count).ids[:count],
        forms,
        _written(lemmas),
        _written(tags),
        _signs(count, tops),
        _signs(count, preds),
        *([] if version == "sdp2014" and frames.count(None) == count else [_written(frames)]),
        *([arguments] if preds else []),
    ]
    try:
        lines = [*map("\t".join, zip(*columns, strict=True))]
    except TypeError as error:
        raise _unwritable(graph, "a frame that is not text cannot be written as SDP") from error
    body = "\n".join(lines)
    tabs = count * (len(preds) + (5 if version == "sdp2014" else 6))
    if body.count("\t") != tabs or body.count("\n") >= max(count, 1) or "\n" in graph.id:
        raise _unwritable(
            graph, "a tab, a line break or an SDP 2014 frame cannot be written as SDP"
        )
    if not graph.extras and "\r" not in body:
        return f"#{graph.id}\n{body}\n\n" if lines else f"#{graph.id}\n\n"
    return _with_layout(graph, lines)


def _frame(features: Attributes) -> str | None:
    # Mostly the only one.
    if features and features[0][0] == "frame":
        return cast("str | None", features[0][1])
    return cast("str | None", attribute(features, "frame"))


def _written(column: Sequence[str | None]) -> Sequence[str]:
    if None not in column:
        return cast("Sequence[str]", column)
    return ["_" if cell is None else cell for cell in column]


def _signs(count: int, chosen: Iterable[int]) -> list[str]:
    column = ["-"] * count
    for position in chosen:
        column[position] = "+"
    return column


def _positions(graph: Graph) -> dict[str, int]:
    try:
        positions = {name: position for name, _, (position,), _, _, _ in graph.nodes}
    except ValueError:
        positions = {}
    taken = set(positions.values())
    if not len(taken) == len(positions) == len(graph.nodes):
        raise _unwritable(graph, "a node that is not one token of its own cannot be written as SDP")
    if taken and not 0 <= min(taken) <= max(taken) < len(graph.tokens):
        raise _unwritable(graph, "a node is anchored to a token that does not exist")
    return positions


def _predicates(graph: Graph, arcs: Iterable[_Arc], tops: Iterable[int]) -> list[int]:
    """Return the positions of the tokens with PRED +."""
    preds = {source for source, _, _ in arcs}
    targets = {target for _, target, _ in arcs}
    for _, _, (position,), _, _, attributes in graph.nodes:
        # Nothing but PRED + makes a node of a token that is no top and has no edge.
        is_alone = position not in targets and position not in tops
        if is_alone or (
            attributes and (attributes == PREDICATE or attribute(attributes, "pred") == "+")
        ):
            preds.add(position)
    return sorted(preds)


def _arguments(graph: Graph, arcs: Iterable[_Arc], preds: Iterable[int]) -> list[str]:
    """Return for each token its argument columns, joined."""
    columns = {position: column for column, position in enumerate(preds)}
    empty = ["_"] * len(columns)
    rows: dict[int, list[str]] = {}
    for source, target, label in arcs:
        row = rows.get(target)
        if row is None:
            row = rows[target] = empty.copy()
        column = columns[source]
        if row[column] != "_":
            ids = {node.anchors[0]: node.id for node in graph.nodes}
            raise _unwritable(
                graph, f"two edges from {ids[source]} to {ids[target]} cannot be written as SDP"
            )
        if label in ("", "_"):
            raise _unwritable(graph, f"the edge label {label!r} cannot be written as SDP")
        row[column] = label
    arguments = ["\t".join(empty)] * len(graph.tokens)
    for position, row in rows.items():
        arguments[position] = "\t".join(row)
    return arguments


def _with_layout(graph: Graph, lines: list[str]) -> str:
    extras = graph.extras
    newline = attribute(extras, "newline", "\n")
    ends = _NEWLINE.findall(newline)
    if any(line.endswith("\r") for line in lines) or len(ends) not in (1, len(lines)):
        raise _unwritable(graph, "a carriage return at the end of a line cannot be written as SDP")
    newline = newline if len(ends) == 1 else "\n"
    ends = ends * len(lines) if len(ends) == 1 else ends
    head = attribute(extras, "head", f"#{graph.id}{newline}")
    tail = attribute(extras, "tail", newline)
    if attribute(extras, "unterminated"):
        ends[-1] = tail = ""
    body = "".join([line + end for line, end in zip(lines, ends, strict=True)])
    return f"{head}{body}{tail}"


def _unwritable(graph: Graph, message: str) -> FormatError:
    return FormatError(f"graph {graph.id}: {message}")
