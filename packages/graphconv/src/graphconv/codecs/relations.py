r"""The bare relation sequence with its tokens, as JSON lines or TSV: what a model predicts.

>>> from graphconv.arborescence import Row
>>> tree = Arborescence("1", "dm", (Token("Go", "go", "VB"),), (Row("Go", 1, 0, "root", (0,)),))
>>> line = format(tree)
>>> print(line[:62], line[62:], sep="\n", end="")
{"id": "1", "framework": "dm", "tokens": [["Go", "go", "VB"]],
 "relations": [["<root>", 0, "root", "Go", 1, 0]]}
>>> print(format_tsv(tree).expandtabs(10), end="")
#id       1
#framework          dm
#token    Go        go        VB
<root>    0         root      Go        1         0
<BLANKLINE>
>>> parse(Block(format(tree), "a.jsonl", 1)) == parse(Block(format_tsv(tree), "a.tsv", 1)) == tree
True

In TSV ``_`` is an absent value; ``\t``, ``\n``, ``\r``, ``\\``, ``\_`` (a value that is only ``_``)
and ``\#`` (at the start of a line) are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from graphconv.arborescence import Arborescence, Relation, relations, rows_from_relations
from graphconv.codecs import Block
from graphconv.codecs._json import (
    Malformed,
    dump,
    expect,
    field,
    keys,
    line_blocks,
    load,
    located,
    optional,
)
from graphconv.codecs.arborescence import check, known_framework
from graphconv.graph import Token

_KEYS = frozenset({"id", "framework", "tokens", "relations"})
_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}
_PLAIN = {escape[1]: char for char, escape in _ESCAPES.items()} | {"_": "_", "#": "#"}
_COLUMNS = {"#id": 1, "#framework": 1, "#token": 3}


def sniff(head: str) -> bool:
    """Say whether *head* starts like a relations file, JSON lines or TSV."""
    found = keys(head)
    if found:
        return found >= _KEYS or (found >= {"tokens", "framework"} and not found - _KEYS)
    return head.lstrip("\ufeff \r\n").startswith("#id\t")


def blocks(lines: Iterable[str], filename: str) -> Iterator[Block]:
    """Cut JSON lines at line ends, TSV at empty lines."""
    lines = iter(lines)
    skipped = 0
    for line in lines:
        if line.strip():
            break
        skipped += 1
    else:
        return
    cut = line_blocks if line.lstrip().startswith("{") else _paragraphs
    for block in cut(chain([line], lines), filename):
        yield block._replace(lineno=block.lineno + skipped)


def parse(block: Block, framework: str | None = None) -> Arborescence:  # noqa: ARG001
    """Turn one record into an Arborescence with an empty side record."""
    with located(block):
        is_json = block.text.lstrip().startswith("{")
        record = load(block.text) if is_json else _load_tsv(block.text)
        unknown = sorted(record.keys() - _KEYS)
        if unknown:
            raise Malformed(f"unknown key {unknown[0]!r}")
        sequence = tuple(_relation(item) for item in field(record, "relations", list))
        tree = Arborescence(
            field(record, "id", str),
            known_framework(field(record, "framework", str)),
            tuple(_token(item) for item in field(record, "tokens", list)),
            rows_from_relations(sequence),
        )
        check(tree)
        for number, (given, built) in enumerate(zip(sequence, relations(tree), strict=True), 1):
            if given != built:
                raise Malformed(f"the source of relation {number} is {built[:2]}, not {given[:2]}")
        return tree


def format(tree: Arborescence) -> str:  # noqa: A001 - the name that every codec has
    """Turn an Arborescence into one JSON line."""
    return dump(_record(tree))


def format_tsv(tree: Arborescence) -> str:
    """Turn an Arborescence into TSV, an empty line at the end."""
    record = _record(tree)
    rows = [["#id", tree.id], ["#framework", tree.framework]]
    lines = ["\t".join([row[0], *map(_escape, row[1:])]) for row in rows]
    lines += ["\t".join(["#token", *map(_escape, token)]) for token in record["tokens"]]
    for relation in record["relations"]:
        line = "\t".join(map(_escape, relation))
        lines.append(f"\\{line}" if line.startswith("#") else line)
    return "\n".join(lines) + "\n\n"


def _record(tree: Arborescence) -> dict[str, Any]:
    return {
        "id": tree.id,
        "framework": tree.framework,
        "tokens": [token[:3] for token in tree.tokens],
        "relations": relations(tree),
    }


def _paragraphs(lines: Iterable[str], filename: str) -> Iterator[Block]:
    current: list[str] = []
    start = 1
    for lineno, line in enumerate(lines, start=1):
        if line.strip("\r\n"):
            current.append(line)
            continue
        if current:
            yield Block("".join(current), filename, start)
        current, start = [], lineno + 1
    if current:
        yield Block("".join(current), filename, start)


def _load_tsv(text: str) -> dict[str, Any]:
    record: dict[str, Any] = {"tokens": [], "relations": []}
    for row, line in enumerate(text.rstrip("\n").split("\n")):
        try:
            _load_line(record, line.removesuffix("\r").split("\t"))
        except Malformed as error:
            raise Malformed(error.message, row) from error
    return record


def _load_line(record: dict[str, Any], cells: list[str]) -> None:
    key = cells[0]
    if not key.startswith("#"):
        if len(cells) != 6:
            raise Malformed(f"6 columns expected in a relation, {len(cells)} found")
        u, d_u, r, v, d_v, position = [_unescape(cell) for cell in cells]
        record["relations"].append([u, _number(d_u), r, v, _number(d_v), _number(position)])
        return
    values = [_unescape(cell) for cell in cells[1:]]
    if len(values) != _COLUMNS.get(key):
        raise Malformed("not a comment line of this format")
    if key == "#token":
        record["tokens"].append(values)
    elif record.setdefault(key[1:], values[0]) != values[0]:
        raise Malformed(f"two values of {key}")


def _escape(value: str | int | None) -> str:
    if value is None:
        return "_"
    if value == "_":
        return "\\_"
    return re.sub(r"[\t\n\r\\]", lambda match: _ESCAPES[match[0]], str(value))


def _unescape(cell: str) -> str | None:
    if cell == "_":
        return None
    if "\\" not in cell:
        return cell
    try:
        return re.sub(r"\\(.?)", lambda match: _PLAIN[match[1]], cell, flags=re.DOTALL)
    except KeyError as error:
        raise Malformed(f"unknown escape in {cell!r}") from error


def _number(value: str | None) -> int | None:
    if value is None:
        return None
    if not re.fullmatch(r"[0-9]{1,9}", value):
        raise Malformed(f"{value!r} is not a number")
    return int(value)


def _token(item: Any) -> Token:
    values = expect(item, list, "a token")
    if len(values) != 3:
        raise Malformed("a token does not have 3 elements")
    form, lemma, pos = values
    return Token(
        expect(form, str, "a form"),
        optional(lemma, str, "a lemma"),
        optional(pos, str, "a part of speech"),
    )


def _relation(item: Any) -> Relation:
    values = expect(item, list, "a relation")
    if len(values) != 6:
        raise Malformed("a relation does not have 6 elements")
    u, d_u, r, v, d_v, position = values
    return Relation(
        expect(u, str, "the source label"),
        expect(d_u, int, "the source index"),
        expect(r, str, "the relation"),
        expect(v, str, "the label"),
        expect(d_v, int, "the index"),
        optional(position, int, "the position"),
    )
