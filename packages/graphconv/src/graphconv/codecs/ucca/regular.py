r"""Reading UCCA XML that is as regular as programs write it, without a tree of all its elements.

A passage says the same few things many times: which attributes a terminal has, that an edge is an
``A``. So the text is cut where its nodes and edges start, and what stands between the cuts is
looked up. Whatever was not met before goes through the XML parser, and through the functions that
read the elements of any other file:

* an edge, and a unit without its edges, as they stand behind their id:
  ``type="A"><attributes /></edge>``;
* a terminal without the values of its attributes: its *shape*, which says where each value goes;
* a value with references, such as ``&quot;``;
* the rest of the file, with an empty node in place of each row of nodes.

Nothing is assumed about indentation, or about which attributes there are. A file for which this is
not certainly the same as to parse it whole is none of ours: :func:`read` returns None for it.

>>> text = '''<root annotationID="0" passageID="7"><attributes />
...   <layer layerID="0"><attributes />
...     <node ID="0.1" type="Word"><attributes paragraph="1" text="Go" /></node>
...   </layer>
...   <layer layerID="1"><attributes />
...     <node ID="1.1" type="FN"><attributes />
...       <edge toID="0.1" type="Terminal"><attributes /></edge></node>
...   </layer></root>'''
>>> passage = read(text, "7.xml")
>>> [terminal.form for terminal in passage.terminals], passage.unit_ids
(['Go'], ['1.1'])
>>> read('<root passageID="8"><attributes /><!-- no layers --></root>', "8.xml") is None
True
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from itertools import groupby, repeat
from typing import Any, NamedTuple

from graphconv.codecs.ucca.elements import (
    Outline,
    Passage,
    Styles,
    Terminal,
    Unit,
    WrittenEdge,
    check_nodes,
    read_edge,
    read_outline,
    read_style,
    read_terminal,
    read_unit,
)
from graphconv.codecs.ucca.xml_source import XmlSource, parse_xml
from graphconv.errors import FormatError
from graphconv.graph import Attributes

_NODE = '<node ID="'
_NODE_END = "</node>"
_EDGE = '<edge toID="'
_SPACE = " \t\r\n"
_KEPT = 1 << 12
_FEW = 32  # different edges of a passage that are looked up in any case
_UNUSUAL = frozenset({"children", "layer0/children", "layer1/children"})

# What a parser would refuse in a value, or change (white space).
_is_unsafe = re.compile("[\x00-\x1f\ud800-\udfff\ufffe\uffff]").search

# The constructor of a NamedTuple runs Python code; these do not.
_terminal: Callable[[Any], Terminal] = partial(tuple.__new__, Terminal)
_unit: Callable[[Any], Unit] = partial(tuple.__new__, Unit)


_Part = int | str | None
"""Which value of a terminal to take, or what is there instead of one."""


class _Shape(NamedTuple):
    """What the fields and the features of a terminal are."""

    fields: tuple[_Part, ...]
    features: tuple[tuple[str, _Part], ...]


class _IrregularError(Exception):
    """The file has to be parsed whole."""


def read(text: str, filename: str) -> Passage | None:
    """Return what the passage *text* says, or None if that takes a parser, as in all bad files."""
    # Comments and instructions could hold what looks like an element; a declaration cannot. (To
    # look for one character first is much faster than to look for two.)
    has_declaration = text.lstrip("\ufeff" + _SPACE).startswith("<?xml ")
    if ("!" in text and "<!" in text) or ("?" in text and text.count("<?") != has_declaration):
        return None
    try:
        skeleton, rows = _cut(text)
        is_ascii = "&" in text and "&#" in text and text.isascii()
        outline = read_outline(parse_xml(skeleton, filename), is_ascii=is_ascii)
        has_terminals, has_units = bool(outline.terminals), bool(outline.units)
        found = len(outline.terminals) + len(outline.units)
        if not has_terminals + has_units == found == len(rows) or not _is_usual(outline):
            return None
        terminals = _read_terminals(rows[0]) if has_terminals else []
        ids, heads, written_edges = _cut_units(rows[-1] if has_units else ())
        ends = {end for row in written_edges for _, _, end in row}
        if len(ends) > _FEW and 2 * len(ends) > sum(map(len, written_edges)):
            return None  # nothing repeats, so that parsing it whole is faster
        styles: Styles = frozenset().union(*map(_style, ends))
        edge_of = {end: _written_edge(end, styles) for end in ends}
        units = [
            _unit((*_head(head), [(target, edge_of[end]) for target, _, end in row]))
            for head, row in zip(heads, written_edges, strict=True)
        ]
    except (FormatError, _IrregularError):
        return None
    return Passage(outline, styles, terminals, ids, units)


def _cut(text: str) -> tuple[str, list[list[str]]]:
    """Return the text without nodes, and each row of nodes: what follows ``ID="`` in each."""
    *nodes, rest = text.split(_NODE_END)
    skeleton = []
    rows: list[list[str]] = []
    for node in nodes:
        before, found, inner = node.partition(_NODE)
        if not found:
            raise _IrregularError
        if before.strip(_SPACE) or not rows:
            skeleton += [before, "<node />"]
            rows.append([])
        rows[-1].append(inner)
    skeleton.append(rest)
    return "".join(skeleton), rows


def _is_usual(outline: Outline) -> bool:
    """Say whether there is nothing but attributes, extra and nodes, in this order."""
    return _UNUSUAL.isdisjoint([name for name, _ in outline.extras])


def _read_terminals(nodes: Sequence[str]) -> list[Terminal]:
    """Read a row of terminals, column by column where all have the same shape, as is usual."""
    quotes = nodes[0].count('"')
    if not quotes % 2:
        raise _IrregularError
    between = nodes[0].split('"')[1::2]
    parts = '"'.join(nodes).split('"')
    alike = {node.count('"') for node in nodes} == {quotes} and parts[1::2] == between * len(nodes)
    if not alike:
        runs = groupby(nodes, lambda node: (node.count('"'), node.split('"')[1::2]))
        return [terminal for _, run in runs for terminal in _read_terminals([*run])]
    values = parts[::2]
    joined = "".join(values)
    if "&" in joined:
        values = [_unescape(value) if "&" in value else value for value in values]
    _check_values(joined)
    fields, features = _shape(tuple(between))
    columns = [values[place :: len(between)] for place in range(len(between))]
    column = partial(_column, columns, len(nodes))
    pairs = [zip(repeat(name, len(nodes)), column(part), strict=True) for name, part in features]
    nothing: Sequence[Attributes] = [()] * len(nodes)
    rows = zip(
        *map(column, fields),
        zip(*pairs, strict=True) if pairs else nothing,
        nothing,
        nothing,
        strict=True,
    )
    return [*map(_terminal, rows)]


def _cut_units(
    nodes: Iterable[str],
) -> tuple[list[str], list[str], list[list[tuple[str, str, str]]]]:
    """Return for each unit its id, the rest of its head, and its edges, cut behind the target."""
    ids, heads, written_edges = [], [], []
    for node in nodes:
        head, *edges = node.split(_EDGE)
        unit_id, _, head = head.partition('"')
        ids.append(unit_id)
        heads.append(head)
        written_edges.append([edge.partition('"') for edge in edges])
    joined = "".join(ids)
    if "&" in joined:
        raise _IrregularError
    _check_values(joined)
    return ids, heads, written_edges


def _check_values(text: str) -> None:
    """Refuse values that are not what stands in the file, references aside."""
    if "<" in text or (not text.isprintable() and _is_unsafe(text)):
        raise _IrregularError


@lru_cache(_KEPT)
def _shape(between: tuple[str, ...]) -> _Shape:
    """Return the shape of terminals that have the texts *between* their values."""
    if "'" in "".join(between):
        raise _IrregularError  # a value in other quotes, which could look like one of these:
    values = [f"value {number}" for number in range(len(between))]
    pieces = [piece for pair in zip(values, between, strict=True) for piece in pair]
    terminal = _parse_terminal('"'.join(pieces))
    places: dict[Any, int] = {value: place for place, value in enumerate(values)}
    fields = tuple([places.get(value, value) for value in terminal[:7]])
    features = tuple([(name, places.get(value, value)) for name, value in terminal.features])
    used = [part for part in (*fields, *[part for _, part in features]) if isinstance(part, int)]
    # Each value has one place: an attribute has vanished if it declared a namespace.
    if terminal.others or terminal.unusual or sorted(used) != [*places.values()]:
        raise _IrregularError
    return _Shape(fields, features)


def _column(columns: Sequence[Sequence[str]], number: int, part: _Part) -> Iterable[str | None]:
    return columns[part] if isinstance(part, int) else repeat(part, number)


@lru_cache(_KEPT)
def _unescape(value: str) -> str:
    """Return what a parser makes of a value with references."""
    return parse_xml(f'<a value="{value}" />', "").root.attrib["value"]


def _parse_terminal(node: str) -> Terminal:
    source = parse_xml(f"{_NODE}{node}{_NODE_END}", "")
    check_nodes(source, [source.root])
    return read_terminal(source, source.root)


@lru_cache(_KEPT)
def _head(text: str) -> tuple[str, bool, Attributes, Attributes]:
    """Return the fields of a unit but its edges, from the text between its id and them."""
    source = parse_xml(f'{_NODE}"{text}{_NODE_END}', "")
    check_nodes(source, [source.root])
    unit = read_unit(source, source.root, frozenset())
    if unit.edges or unit.unusual:
        raise _IrregularError
    return unit[:4]


@lru_cache(_KEPT)
def _written_edge(text: str, styles: Styles) -> WrittenEdge:
    """Read an edge from its text behind the target."""
    source = _edge(text)
    return read_edge(source, source.root, styles)


@lru_cache(_KEPT)
def _style(text: str) -> Styles:
    return read_style(_edge(text).root)


def _edge(text: str) -> XmlSource:
    return parse_xml(f'{_EDGE}"{text}', "")
