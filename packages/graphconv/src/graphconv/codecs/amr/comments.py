"""The comments of PENMAN files: ``::`` fields, how they stand in lines, tokens.

>>> read_comments(["# ::id 1 ::snt It barks"], [])
(('id', '1'), ('snt', 'It barks'))
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import partial
from typing import Any

from graphconv.errors import FormatError
from graphconv.graph import Attributes, Graph, Token, attribute

_split_fields = re.compile(r"::(?:(?<=\s::)|(?<=^\#::))([^\W\d]\S*)(?:\s|$)").split
_escape = partial(re.compile(r"(?<!\S)(?=\\*::[^\W\d])").sub, r"\\")
_unescape = partial(re.compile(r"(?<!\S)\\(?=\\*::[^\W\d])").sub, "")


def count_comments(lines: list[str]) -> int:
    """Return how many of *lines*, from the first, are comments or blank."""
    for number, line in enumerate(lines):
        text = line.lstrip()
        if text and text[0] != "#":
            return number
    return len(lines)


def read_comments(lines: list[str], extras: list[tuple[str, Any]]) -> Attributes:
    """Return the metadata in *lines*; how they stand there goes to *extras* where it says more."""
    metadata: list[tuple[str, str]] = []
    layout: list[str] = []
    for line in lines:
        fields = _read_fields(line)
        metadata += fields
        text = line.rstrip()
        layout.append(str(len(fields)) if fields and _write_fields(fields) == text else text)
    if layout.count("1") < len(layout):
        extras.append(("comments", "\n".join(layout)))
    return tuple(metadata)


def _read_fields(line: str) -> list[tuple[str, str]]:
    """Split a comment into its ``::`` fields.

    >>> _read_fields("# ::id 1.2 ::preferred ::snt C::D , etc .")
    [('id', '1.2'), ('preferred', ''), ('snt', 'C::D , etc .')]
    >>> _read_fields(_write_fields([("snt", "std ::vector")]))
    [('snt', 'std ::vector')]
    """
    if "::" not in line:
        return []
    parts = _split_fields(line.strip())
    values = [(parts[i], parts[i + 1].rstrip()) for i in range(1, len(parts), 2)]
    if "\\::" not in line:
        return values
    return [(key, _unescape(value)) for key, value in values]


def _write_fields(fields: Iterable[tuple[str, Any]]) -> str:
    texts = [f"::{key} {_escape(value)}" if value else f"::{key}" for key, value in fields]
    return "# " + " ".join(texts)


def write_comments(graph: Graph) -> str:
    """Return the comment lines of *graph*, each with its newline."""
    fields = _described(graph)
    lines = []
    done = 0
    layout = attribute(graph.extras, "comments")
    for entry in layout.split("\n") if layout is not None else ():
        if entry.isdigit():
            lines.append(_write_line(graph, fields[done : done + int(entry)]))
            done += int(entry)
            continue
        # A line that stands as it was, unless its fields have changed since.
        kept = _read_fields(entry)
        if fields[done : done + len(kept)] == kept:
            lines.append(entry)
            done += len(kept)
    lines += [_write_line(graph, [field]) for field in fields[done:]]
    return "".join([line + "\n" for line in lines if line is not None])


def _write_line(graph: Graph, fields: list[tuple[str, str]]) -> str | None:
    if not fields:
        return None
    line = _write_fields(fields)
    if "\n" in line or _read_fields(line) != fields:
        raise FormatError(f"graph {graph.id} has metadata that PENMAN cannot hold", text=line)
    return line


def _described(graph: Graph) -> list[tuple[str, str]]:
    """Return the fields to write: the metadata, and id and tokens if these do not say them."""
    fields = [
        (key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for key, value in graph.metadata
    ]
    if not attribute(graph.extras, "anonymous"):
        given = [number for number, (key, _) in enumerate(fields) if key == "id"][:1]
        for number in given:
            fields[number] = ("id", graph.id)
        if not given:
            fields.insert(0, ("id", graph.id))
    tokens = tokens_of(tuple(fields))
    if [token.form for token in tokens] != [token.form for token in graph.tokens]:
        fields = [field for field in fields if field[0] not in ("tok", "tokens")]
        fields.append(_token_field([token.form for token in graph.tokens]))
    if tokens != graph.tokens:
        columns = {key: _column(key, graph.tokens) for key in _COLUMNS}
        fields = [field for field in fields if not columns.get(field[0])]
        fields += [(key, column) for key, column in columns.items() if column]
    return fields


_COLUMNS = ("lemmas", "pos", "ner", "dep")
"""Fields with one value per token, ``_`` where there is none."""


def _token_field(forms: list[str]) -> tuple[str, str]:
    text = " ".join(forms)
    return ("tok", text) if text.split() == forms else ("tokens", json.dumps(forms))


def tokens_of(metadata: Attributes) -> tuple[Token, ...]:
    """Return the tokens that fields say: as words, with columns, or else the sentence's words."""
    text = attribute(metadata, "tok")
    if text is None:
        text = attribute(metadata, "snt", "")
    tokens = [Token(form) for form in _listed(metadata) or text.split()]
    for key in _COLUMNS:
        values = str(attribute(metadata, key, "")).split()
        if len(values) == len(tokens):
            tokens = [_with_value(*pair, key) for pair in zip(tokens, values, strict=True)]
    return tuple(tokens)


def _listed(metadata: Attributes) -> list[str]:
    """Return the tokens that are given as a list in JSON, if they are."""
    text = attribute(metadata, "tokens")
    if text is None:
        return []
    try:
        forms = json.loads(text)
    except ValueError:  # a field that others call by this name
        return []
    are_forms = isinstance(forms, list) and all(isinstance(form, str) for form in forms)
    return forms if are_forms else []


def _with_value(token: Token, value: str, key: str) -> Token:
    if value == "_":
        return token
    if key == "lemmas":
        return token._replace(lemma=value)
    if key == "pos":
        return token._replace(pos=value)
    return token._replace(features=(*token.features, (key, value)))


def _column(key: str, tokens: tuple[Token, ...]) -> str:
    """Return the values of a field for all tokens; empty if no token has one."""
    if key == "lemmas":
        values = [token.lemma for token in tokens]
    elif key == "pos":
        values = [token.pos for token in tokens]
    else:
        values = [attribute(token.features, key) for token in tokens]
    if not any(values):
        return ""
    return " ".join("_".join(str(value or "_").split()) or "_" for value in values)
