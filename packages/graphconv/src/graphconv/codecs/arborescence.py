r"""Our own pipe format: one JSON record per arborescence and line, with its version.

>>> tree = Arborescence("1", "amr", (Token("Go"),), (Row("go-02", 1, 0, "root"),), {"ids": ["g"]})
>>> line = format(tree)
>>> print(line[:88], line[88:], sep="\n", end="")
{"arborescence": 1, "id": "1", "framework": "amr", "tokens": [["Go"]], "rows": [["go-02"
, 1, 0, "root"]], "side": {"ids": ["g"]}}
>>> parse(Block(line, "a.jsonl", 1)) == tree
True
"""

from __future__ import annotations

from typing import Any

from graphconv.arborescence import Arborescence, Row
from graphconv.codecs import Block
from graphconv.codecs._json import (
    Malformed,
    dump,
    expect,
    expect_list,
    field,
    keys,
    line_blocks,
    load,
    located,
    optional,
)
from graphconv.conversion.side import freeze, thaw
from graphconv.frameworks import FRAMEWORKS
from graphconv.graph import Attributes, Token

VERSION = 1
"""The version of the record that this module writes, and the only one it reads."""

_KEYS = frozenset({"arborescence", "id", "framework", "tokens", "rows", "side"})

blocks = line_blocks


def sniff(head: str) -> bool:
    """Say whether *head* starts like an arborescence file."""
    return "arborescence" in keys(head)


def parse(block: Block, framework: str | None = None) -> Arborescence:  # noqa: ARG001
    """Turn one record into an Arborescence."""
    with located(block):
        record = load(block.text)
        version = field(record, "arborescence", int)
        if version != VERSION:
            raise Malformed(f"version {version} of the record is not supported, only {VERSION}")
        unknown = sorted(record.keys() - _KEYS)
        if unknown:
            raise Malformed(f"unknown key {unknown[0]!r}")
        tree = Arborescence(
            field(record, "id", str),
            known_framework(field(record, "framework", str)),
            tuple(token_from_json(item) for item in field(record, "tokens", list)),
            tuple(_row(item) for item in field(record, "rows", list)),
            field(record, "side", dict),
        )
        check(tree)
        return tree


def format(tree: Arborescence) -> str:  # noqa: A001 - the name that every codec has
    """Turn an Arborescence into one line."""
    return dump(
        {
            "arborescence": VERSION,
            "id": tree.id,
            "framework": tree.framework,
            "tokens": [token_to_json(token) for token in tree.tokens],
            "rows": [_trim([*row]) for row in tree.rows],
            "side": dict(tree.side),
        }
    )


def known_framework(name: str) -> str:
    """Return *name* if it is a framework."""
    if name not in FRAMEWORKS:
        raise Malformed(f"unknown framework {name!r}")
    return name


def check(tree: Arborescence) -> None:
    """Raise unless the rows are an arborescence over the tokens, and agree with these."""
    tree.validate()
    is_anchored = FRAMEWORKS[tree.framework].is_anchored
    for number, row in enumerate(tree.rows, start=1):
        for anchor in row.anchors:
            if not 0 <= anchor < len(tree.tokens):
                raise Malformed(f"row {number} is anchored to token {anchor}, which does not exist")
            form = tree.tokens[anchor].form
            if form != row.label and is_anchored:
                raise Malformed(f"row {number} is called {row.label!r}, but its token is {form!r}")
        first = tree.rows[row.index - 1]
        if first.label != row.label:
            raise Malformed(
                f"row {number} is called {row.label!r}, but the first row of its node, "
                f"{row.index}, is {first.label!r}"
            )


def _trim(values: list[Any]) -> list[Any]:
    """Leave out what is absent at the end of a token or row."""
    while values and values[-1] in (None, (), []):
        values.pop()
    return values


def token_to_json(token: Token) -> list[Any]:
    """Return a token as a list: form, lemma, pos, span, features."""
    return _trim([*token[:4], attributes_to_json(token.features)])


def token_from_json(item: Any) -> Token:
    """Return the token that a list describes."""
    values = expect(item, list, "a token")
    if not 1 <= len(values) <= 5:
        raise Malformed("a token does not have 1 to 5 elements")
    form, lemma, pos, span, features = values + [None] * (5 - len(values))
    start, end = expect_list(span, int, "a span", 2) if span is not None else (0, 0)
    return Token(
        expect(form, str, "a form"),
        optional(lemma, str, "a lemma"),
        optional(pos, str, "a part of speech"),
        (start, end) if span is not None else None,
        attributes_from_json(features if features is not None else []),
    )


def attributes_to_json(attributes: Attributes) -> list[list[Any]]:
    """Return pairs as lists, with what is not a scalar wrapped so that it comes back as it was."""
    return [[name, freeze(value)] for name, value in attributes]


def attributes_from_json(item: Any) -> Attributes:
    """Return the pairs of a list of lists."""
    pairs = [expect(pair, list, "a feature") for pair in expect(item, list, "the list of features")]
    if any(len(pair) != 2 for pair in pairs):
        raise Malformed("a feature is not a pair")
    try:
        values = [thaw(value) for _, value in pairs]
    except (AttributeError, KeyError, RecursionError, TypeError) as error:
        raise Malformed("the value of a feature is not wrapped as it should be") from error
    names = [expect(name, str, "the name of a feature") for name, _ in pairs]
    return tuple(zip(names, values, strict=True))


def _row(item: Any) -> Row:
    values = expect(item, list, "a row")
    if len(values) not in (4, 5):
        raise Malformed("a row does not have 4 or 5 elements")
    label, index, head, relation = values[:4]
    anchors = values[4] if len(values) == 5 else []
    return Row(
        expect(label, str, "the label of a row"),
        expect(index, int, "the index of a row"),
        expect(head, int, "the head of a row"),
        expect(relation, str, "the relation of a row"),
        tuple(expect_list(anchors, int, "the anchors of a row")),
    )
