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
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from itertools import repeat
from typing import Any, NamedTuple

from graphconv.codecs import Block
from graphconv.errors import FormatError
from graphconv.graph import BILEXICAL, Attributes, Edge, Graph, Node, Token, attribute

KEEPS_BOM = True
"""Even a byte order mark at the start of a file comes back."""

_HEADER = "#SDP 2015\n"
_TAB = "\t"  # Python 3.11 has no backslash inside of an f-string
_PRED: Attributes = (("pred", "+"),)
_IS_HEADER = re.compile(r"\ufeff?#SDP ")
_NEWLINE = re.compile(r"\r?\n")
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
    for lineno, line in enumerate(lines, start=1):
        current.append(line)
        if line[0].isdecimal():
            complete = True
        elif not line.strip():
            if complete:
                if pending:
                    yield pending
                pending = Block("".join(current), filename, start, start == 1, context)
                current, complete, start = [], False, lineno + 1
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
    numbers, plain, predicates = _shared(len(lines))
    forms, lemmas, tags, top_cells, pred_cells, *rest = _columns(block, sentence, numbers)
    tops = [number for number, cell in zip(numbers, top_cells, strict=True) if cell == "+"]
    sources = [number for number, cell in zip(numbers, pred_cells, strict=True) if cell == "+"]
    columns = lines[0].count("\t") + 1 if lines else 7
    fixed = columns - len(sources)
    if fixed not in (6, 7) or (fixed == 6 and block.context):
        message = f"{len(sources)} tokens have PRED +, so {7 + len(sources)} columns are expected"
        raise _error(f"{message}, {columns} found", block, sentence, 0)
    frames = rest.pop(0) if fixed == 7 else repeat("_", len(lines))
    cells = map("\t".join, zip(*rest, strict=True))
    edges = _edges(block, sentence, cells, sources) if sources else []
    used = {*tops, *sources, *[edge[1] for edge in edges]}
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


def writer() -> Callable[[Graph], str]:
    """Return a function like ``format`` that starts the file with the header of its first graph."""
    version = ""

    def text_of(graph: Graph) -> str:
        nonlocal version
        if version:
            return _format(graph, version)
        own = _version(graph)
        text = _format(graph, own)
        version = own
        usual = _HEADER if own == "sdp2015" else ""
        return str(attribute(graph.extras, "header", usual)) + text

    return text_of


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
    start = max((i + 1 for i in comments if _IS_HEADER.match(lines[i])), default=0)
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
    width = lines[0].count("\t") + 1
    widths = [line.count("\t") + 1 for line in lines]
    if widths.count(width) != len(lines) or width < 6:
        preds = sum(line.split("\t")[5:6] == ["+"] for line in lines)
        width = max(7 + preds, 6 + preds, key=widths.count)
        wrong = next(i for i, other in enumerate(widths) if other != width)
        message = f"{width} columns separated by tabs expected, {widths[wrong]} found"
        raise _error(message, block, sentence, wrong)
    ids, *columns = zip(*[line.split("\t", 7) for line in lines], strict=True)
    if ids != numbers:
        wrong = next(i for i, number in enumerate(numbers) if ids[i] != number)
        message = f"token id {numbers[wrong]} expected, {ids[wrong]!r} found"
        raise _error(message, block, sentence, wrong)
    for name, column in (("TOP", columns[3]), ("PRED", columns[4])):
        if column.count("+") + column.count("-") != len(lines):
            wrong = next(i for i, cell in enumerate(column) if cell not in ("+", "-"))
            message = f"{name} is neither + nor - but {column[wrong]!r}"
            raise _error(message, block, sentence, wrong)
    return columns


def _edges(
    block: Block, sentence: _Sentence, cells: Iterable[str], sources: list[str]
) -> list[Edge]:
    edges: list[Edge] = []
    empty = "\t".join("_" * len(sources))  # most of the lines
    for i, line in enumerate(cells):
        if line != empty:
            labels = line.split("\t")
            number = str(i + 1)
            edges += [
                _edge((source, number, label, False, ()))
                for source, label in zip(sources, labels, strict=False)
                if label != "_"
            ]
            if "" in labels:
                raise _error("an argument column is empty", block, sentence, i)
    return edges


def _error(message: str, block: Block, sentence: _Sentence, row: int) -> FormatError:
    return FormatError(
        message,
        filename=block.filename,
        lineno=block.lineno + sentence.offset + row,
        text=sentence.lines[row],
    )


_cache: tuple[tuple[str, ...], tuple[Node, ...], tuple[Node, ...]] = ((), (), ())


def _shared(count: int) -> tuple[tuple[str, ...], tuple[Node, ...], tuple[Node, ...]]:
    """Return the first token ids, and for each its node without and with PRED +.

    A node is no more than that, so that all graphs share the same objects.
    """
    global _cache  # noqa: PLW0603 - grows to the longest sentence
    if count > len(_cache[0]):
        size = max(2 * count, 256)
        numbers = tuple(map(str, range(1, size + 1)))
        _cache = (
            numbers,
            tuple(Node(n, None, (i,)) for i, n in enumerate(numbers)),
            tuple(Node(n, None, (i,), attributes=_PRED) for i, n in enumerate(numbers)),
        )
    numbers, plain, predicates = _cache
    return numbers[:count], plain, predicates


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
    if graph.framework not in BILEXICAL:
        raise _unwritable(graph, f"a graph of {graph.framework} cannot be written as SDP")
    positions = _positions(graph)
    try:
        tops = {positions[top] for top in graph.tops}
        preds = _predicates(graph, positions, tops)
        cells = _cells(graph, positions, preds)
    except KeyError as error:
        raise _unwritable(graph, f"an edge or a top names the unknown node {error}") from error
    empty = "\t_" * len(preds)
    no_frame = "" if version == "sdp2014" else "\t_"
    lines = []
    numbers = _shared(len(graph.tokens))[0]
    for i, (form, lemma, pos, _, features) in enumerate(graph.tokens):
        # Mostly the only one.
        is_first = features and features[0][0] == "frame"
        frame = features[0][1] if is_first else attribute(features, "frame")
        lines.append(
            f"{numbers[i]}\t{form}"
            f"\t{'_' if lemma is None else lemma}\t{'_' if pos is None else pos}"
            f"\t{'+' if i in tops else '-'}\t{'+' if i in preds else '-'}"
            f"{no_frame if frame is None else f'{_TAB}{frame}'}"
            f"{''.join(cells[i]) if i in cells else empty}"
        )
    body = "\n".join(lines)
    tabs = len(lines) * (len(preds) + 5 + len(no_frame) // 2)
    if body.count("\t") != tabs or body.count("\n") >= max(len(lines), 1) or "\n" in graph.id:
        raise _unwritable(
            graph, "a tab, a line break or an SDP 2014 frame cannot be written as SDP"
        )
    if not graph.extras and "\r" not in body:
        return f"#{graph.id}\n{body}\n\n" if lines else f"#{graph.id}\n\n"
    return _with_layout(graph, lines)


def _positions(graph: Graph) -> dict[str, int]:
    positions = {node[0]: node[2][0] for node in graph.nodes if len(node[2]) == 1}
    taken = set(positions.values())
    if not len(taken) == len(positions) == len(graph.nodes):
        raise _unwritable(graph, "a node that is not one token of its own cannot be written as SDP")
    if taken and not 0 <= min(taken) <= max(taken) < len(graph.tokens):
        raise _unwritable(graph, "a node is anchored to a token that does not exist")
    return positions


def _predicates(graph: Graph, positions: dict[str, int], tops: set[int]) -> dict[int, int]:
    """Return the number of the argument column of each token with PRED +."""
    preds = {positions[edge[0]] for edge in graph.edges}
    arguments = {positions[edge[1]] for edge in graph.edges}
    for node in graph.nodes:
        position = positions[node[0]]
        # Nothing but PRED + makes a node of a token that is no top and has no edge.
        if (
            node[5] == _PRED
            or not (position in arguments or position in tops)
            or (node[5] and attribute(node[5], "pred") == "+")
        ):
            preds.add(position)
    return {position: column for column, position in enumerate(sorted(preds))}


def _cells(graph: Graph, positions: dict[str, int], preds: dict[int, int]) -> dict[int, list[str]]:
    cells: dict[int, list[str]] = {}
    empty = ["\t_"] * len(preds)
    for source, target, label, _, _ in graph.edges:
        position = positions[target]
        row = cells.get(position)
        if row is None:
            row = cells[position] = empty.copy()
        column = preds[positions[source]]
        if row[column] != "\t_":
            raise _unwritable(
                graph, f"two edges from {source} to {target} cannot be written as SDP"
            )
        if label in ("", "_"):
            raise _unwritable(graph, f"the edge label {label!r} cannot be written as SDP")
        row[column] = f"\t{label}"
    return cells


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
