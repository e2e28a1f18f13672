"""Graphs to SDP text, in the layout they were read in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import cast

from graphconv.codecs.sdp.layout import HEADER, IS_HEADER, NEWLINE
from graphconv.errors import FormatError
from graphconv.frameworks import written_as
from graphconv.graph import PREDICATE, Attributes, Graph, attribute, token_nodes

_Arc = tuple[int, int, str]
"""The positions of source and target, and the label."""


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
        header = str(attribute(graph.extras, "header", HEADER if own == "sdp2015" else ""))
        # A file without header may hold sentences of both versions.
        version = own if IS_HEADER.match(header.lstrip()) else ""
        return header + text

    return text_of


def lost(graph: Graph) -> list[str]:
    """Return what a graph says that SDP has no place for.

    >>> from graphconv.graph import Token
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


def _version(graph: Graph) -> str:
    return "sdp2014" if attribute(graph.extras, "format") == "sdp2014" else "sdp2015"


def _format(graph: Graph, version: str) -> str:
    if graph.framework not in written_as("sdp"):
        raise _unwritable(
            graph,
            f"a graph of {graph.framework} cannot be written as SDP; mrp holds all frameworks",
        )
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
    ends = NEWLINE.findall(newline)
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
