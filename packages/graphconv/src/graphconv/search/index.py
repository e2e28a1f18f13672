"""An index on disk: which graphs can have a pattern at all, without reading the others.

The file is an SQLite database with the texts of the graphs and, for every name, role and word, the
numbers of the graphs that have it. A pattern is looked up by what it demands, the rarest first; the
graphs that have all of it are read and searched, so that the answer is the same as without it.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from graphconv import io
from graphconv.codecs import Block
from graphconv.errors import FormatError
from graphconv.graph import Graph
from graphconv.io.stream import Input
from graphconv.search.match import anchors_of, names_of, roles_of
from graphconv.search.pattern import Demand, Group, Pattern, PatternEdge

MAGIC = b"SQLite format 3\x00"
_VERSION = 1
_APPLICATION = 0x41524258  # says that the database is an index of ours
_FLUSH = 2_000_000  # numbers that are held in memory before they are written
_SCHEMA = f"""
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
CREATE TABLE source (number INTEGER PRIMARY KEY, path TEXT, format TEXT);
CREATE TABLE graph (number INTEGER PRIMARY KEY, source INTEGER, filename TEXT, lineno INTEGER,
    first INTEGER, context TEXT, framework TEXT, text BLOB);
CREATE TABLE posting (kind TEXT, term TEXT, part INTEGER, numbers BLOB,
    PRIMARY KEY (kind, term, part)) WITHOUT ROWID;
"""


def is_index(path: str) -> bool:
    """Say whether a file is an index."""
    if path == "-" or not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def build(items: Iterable[Input], output: str | os.PathLike[str]) -> int:
    """Write an index of graphs, and return how many there are; the file appears when complete."""
    target = Path(output)
    try:
        with tempfile.TemporaryDirectory(
            dir=target.parent, prefix=f".{target.name[:80]}-"
        ) as folder:
            unfinished = Path(folder) / "index"
            with closing(sqlite3.connect(unfinished)) as database:
                database.executescript(
                    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _SCHEMA
                )
                count = _fill(database, items)
                database.commit()
            unfinished.replace(target)
    except (sqlite3.Error, OSError) as error:
        raise FormatError(f"the index cannot be written ({error})", filename=str(target)) from error
    return count


def _fill(database: sqlite3.Connection, items: Iterable[Input]) -> int:
    sources: dict[tuple[str, str], int] = {}
    postings: dict[tuple[str, str], array[int]] = defaultdict(lambda: array("I"))
    held = part = number = 0
    for number, item in enumerate(items, 1):
        source = sources.setdefault((item.path, item.format), len(sources))
        block = item.block
        packed = zlib.compress(block.text.encode(), 1)
        row = (number, source, block.filename, block.lineno, block.first, block.context)
        database.execute(
            "INSERT INTO graph VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, item.graph.framework, packed),
        )
        for term in set(_terms(item.graph)):
            postings[term].append(number)
            held += 1
        if held >= _FLUSH:
            _flush(database, postings, part)
            held, part = 0, part + 1
    _flush(database, postings, part)
    rows = [(i, path, format_) for (path, format_), i in sources.items()]
    database.executemany("INSERT INTO source VALUES (?, ?, ?)", rows)
    return number


def _flush(
    database: sqlite3.Connection, postings: dict[tuple[str, str], array[int]], part: int
) -> None:
    rows = (
        (*term, part, zlib.compress(numbers.tobytes(), 1)) for term, numbers in postings.items()
    )
    database.executemany("INSERT INTO posting VALUES (?, ?, ?, ?)", rows)
    postings.clear()


def _terms(graph: Graph) -> Iterator[tuple[str, str]]:
    """Yield what a pattern may ask for: names, roles, words, and roles with both names."""
    names = names_of(graph)
    called = {node.id: own for node, own in zip(graph.nodes, names, strict=True)}
    for own in names:
        for name in own:
            yield "name", name
    for edge in graph.edges:
        for role in roles_of(edge, graph):
            yield "role", role
            for source in called[edge.source]:
                for target in called[edge.target]:
                    yield "triple", _triple(source, role, target)
    for node in graph.nodes:
        for anchor in anchors_of(node):
            if anchor < len(graph.tokens):
                yield "word", graph.tokens[anchor].form.lower()


def _triple(source: str, role: str, target: str) -> str:
    return "\t".join((source, role, target))


def candidates(path: str, pattern: Pattern, framework: str | None = None) -> Iterator[Input]:
    """Yield the graphs of an index that may have *pattern*, in order."""
    try:
        with closing(sqlite3.connect(f"file:{Path(path).resolve()}?mode=ro", uri=True)) as database:
            _check(database, path)
            sources = {n: place for n, *place in database.execute("SELECT * FROM source")}
            for row in _rows(database, _numbers(database, pattern)):
                _, source, filename, lineno, first, context, own, text = row
                if framework in (None, own):
                    block = Block(_text(text), filename, lineno, bool(first), context)
                    name, format_ = sources[source]
                    # The text of an SDP file does not say its framework.
                    given = own if format_ == "sdp" else None
                    yield Input(io.parse_block(format_, block, given), name, format_, block)
    except (sqlite3.Error, zlib.error, KeyError, TypeError, UnicodeDecodeError) as error:
        raise FormatError(f"the index is damaged ({error})", filename=path) from error


def _text(packed: bytes) -> str:
    return zlib.decompress(packed).decode()


def _check(database: sqlite3.Connection, path: str) -> None:
    ours = database.execute("PRAGMA application_id").fetchone()[0] == _APPLICATION
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if not ours or version != _VERSION:
        raise FormatError("this is not an index of this version of graphconv", filename=path)


def _rows(database: sqlite3.Connection, numbers: set[int] | None) -> Iterator[tuple[Any, ...]]:
    if numbers is None:
        yield from database.execute("SELECT * FROM graph ORDER BY number")
        return
    for number in sorted(numbers):
        yield from database.execute("SELECT * FROM graph WHERE number = ?", (number,))


def _numbers(database: sqlite3.Connection, pattern: Pattern) -> set[int] | None:
    """Return the graphs that have everything the pattern demands; None: that is nothing."""
    result: set[int] | None = None
    lists = [_lists(database, kind, terms) for kind, terms in _demands(database, pattern)]
    for blobs in sorted(lists, key=lambda found: sum(map(len, found))):
        numbers: set[int] = set()
        for blob in blobs:
            numbers.update(array("I", zlib.decompress(blob)))
        result = numbers if result is None else result & numbers
        if not result:
            break
    return result


def _lists(database: sqlite3.Connection, kind: str, terms: Iterable[str]) -> list[bytes]:
    return [
        row[0]
        for term in terms
        for row in database.execute(
            "SELECT numbers FROM posting WHERE kind = ? AND term = ?", (kind, term)
        )
    ]


def _demands(
    database: sqlite3.Connection, pattern: Pattern
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (kind, terms): a graph has one of the terms, or not the pattern."""
    body = pattern.body
    for number in body.nodes:
        node = pattern.nodes[number]
        if node.label is not None:
            yield from _demanded(database, "name", node.label)
        for field, test in node.words:
            if field == "form" and (exact := test.exact):
                yield "word", tuple(text.lower() for text in exact)
    for edge in body.edges:
        if edge.inverse is None and (roles := edge.role.exact):
            yield "role", roles
            yield from _triples(pattern, edge, roles, body)


def _demanded(
    database: sqlite3.Connection, kind: str, test: Demand
) -> Iterator[tuple[str, tuple[str, ...]]]:
    if test.negated:
        return
    if exact := test.exact:
        yield kind, exact
        return
    # Where all globs begin with some letters, the names between two bounds are compared.
    if all(glob[:1] not in "*?[" for glob in test.globs):
        rows = database.execute("SELECT DISTINCT term FROM posting WHERE kind = ?", (kind,))
        yield kind, tuple(term for (term,) in rows if test.passes(term))


def _triples(
    pattern: Pattern, edge: PatternEdge, roles: tuple[str, ...], body: Group
) -> Iterator[tuple[str, tuple[str, ...]]]:
    ends = [pattern.nodes[number].label for number in (edge.source, edge.target)]
    if edge.path or any(end is None or end.exact is None for end in ends):
        return
    if edge.source in body.nodes and edge.target in body.nodes:
        source, target = ((end.exact or ()) if end else () for end in ends)
        yield "triple", tuple(_triple(s, r, t) for s in source for r in roles for t in target)
