r"""What the characters of a broken graph may be read as: at each place one or several pieces.

The first piece at a place is what the notation says it is. The others cost an edit each: a string
whose quote is missing, a word that a slash or colon has cut, a comment inside of a graph.

>>> [(piece.kind, piece.text) for piece in pieces_at('"New York)', 0)]
[('X', '"'), ('T', '"New York"')]
"""

from __future__ import annotations

import re
from typing import NamedTuple

from graphconv.codecs.amr.writer import NO_SYMBOL, STRING


class Piece(NamedTuple):
    """Characters [start, end) read as one token of PENMAN."""

    kind: str
    """A bracket or slash itself, or R(ole), S(ymbol), T (string), A(lignment), C(omment), G (a word
    that is to be mended), X (anything else)."""
    start: int
    end: int
    text: str
    """What it becomes: itself, or mended."""
    edit: str = ""
    """The kind of edit that this reading is, or nothing."""


_BASE = re.compile(
    rf"(?P<C>\#[^\n]*)|(?P<T>{STRING})|(?P<B>[()/])|(?P<R>:[^{NO_SYMBOL}]*)"
    rf"|(?P<S>[^{NO_SYMBOL}]+)|(?P<A>~(?:[a-z]\.?)?[0-9]+(?:,[0-9]+)*)|(?P<X>\S)"
)
_blank = re.compile(r"[ \t\r\n\v\f]*")
# A string whose closing quote is missing ends before a role, a bracket or the end of the line.
_UNCLOSED = re.compile(r'"(?=\S)[^"\\\n()]*?(?=\s+:[^\W\d]|\s*(?:[()"\n]|$))')
_UNOPENED = re.compile(r'[^\s"\\():\#][^"\\\n():]*"')
_ESCAPED = re.compile(r'\\"([^"\\\n]*)\\"')
_CURLY = re.compile('[“„”«]([^"\\\\“”„«»\n()]*)[“”»]')
_RUN = re.compile(r'[^\s"()]+')
_HASH = re.compile(rf"\#[^{NO_SYMBOL}]*")
_ALIGNED = re.compile(r"~(?:[a-z]\.?)?[0-9]+(?:,[0-9]+)*\Z")
_CUT = re.compile(r"[/:~\#]+")


def skip_blanks(text: str, start: int) -> int:
    """Return where the next piece starts."""
    match = _blank.match(text, start)
    return match.end() if match else start


def pieces_at(text: str, start: int) -> list[Piece]:
    """Return what the characters from *start* on can be; *start* is not at a blank."""
    match = _BASE.match(text, start)
    assert match is not None, "every character is some piece"
    kind = match.lastgroup or "X"
    base = Piece(match[0] if kind == "B" else kind, start, match.end(), match[0])
    first = text[start]
    found = [base]
    if first == '"':
        _add(found, _UNCLOSED.match(text, start), "T", '{}"', "quote")
    elif first == "#":
        word = _HASH.match(text, start)
        if word:
            found.append(Piece("T", start, word.end(), quoted(word[0]), "symbol"))
    elif kind == "R":
        _add_run(found, text, "R", "role")
    elif kind == "S":
        _add(found, _UNOPENED.match(text, start), "T", '"{}', "quote")
        _add_run(found, text, "G", "symbol")
        for pattern in (_ESCAPED, _CURLY):
            match = pattern.match(text, start)
            if match:
                found.append(Piece("T", start, match.end(), f'"{match[1]}"', "quote"))
    return found


def quoted(word: str) -> str:
    """Return a word as a string of PENMAN."""
    plain = word.replace("\\", "\\\\")
    return f'"{plain}"'


def as_concept(word: str) -> str:
    """Return a word that is cut by slashes or colons as one symbol.

    >>> as_concept("and/or")
    'and-or'
    """
    return _CUT.sub("-", word).strip("-") or "thing"


def _add(found: list[Piece], match: re.Match[str] | None, kind: str, form: str, edit: str) -> None:
    if match:
        text = form.format(match[0])
        found.append(Piece(kind, match.start(), match.end(), text, edit))


def _add_run(found: list[Piece], text: str, kind: str, edit: str) -> None:
    """Add everything up to the next blank, bracket or quote, if that is more than the piece."""
    base = found[0]
    match = _RUN.match(text, base.start)
    if not match or match.end() == base.end:
        return
    value = _ALIGNED.sub("", match[0])
    if len(value) <= base.end - base.start:
        return
    end = base.start + len(value)
    if kind == "R":
        value = f":{_CUT.sub('-', value).strip('-')}"
        if value == ":":
            return
    found.append(Piece(kind, base.start, end, value, edit))
