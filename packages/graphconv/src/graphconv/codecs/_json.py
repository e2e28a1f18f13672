"""What the codecs of JSON lines share: one record per line, checked piece by piece.

>>> with located(Block('{"id": 7}', "a.jsonl", 3)):
...     expect(7, str, "the id")
Traceback (most recent call last):
graphconv.errors.FormatError: a.jsonl:3: the id is not a string: "{"id": 7}"
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from graphconv.codecs import Block
from graphconv.errors import ConversionError, FormatError

T = TypeVar("T")

_NAMES = {str: "a string", int: "a whole number", list: "a list", dict: "an object"}


class Malformed(Exception):  # noqa: N818 - becomes a FormatError as soon as the place is known
    """A value is not what the format says; *row* is its line in the block, where that is known."""

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.row = row


@contextmanager
def located(block: Block) -> Iterator[None]:
    """Turn what goes wrong inside into a FormatError that names the line of *block*."""
    try:
        yield
    except (Malformed, ConversionError) as error:
        row = error.row if isinstance(error, Malformed) else None
        text = block.text.strip() if row is None else block.text.split("\n")[row]
        raise FormatError(
            error.message, filename=block.filename, lineno=block.lineno + (row or 0), text=text
        ) from error


def line_blocks(lines: Iterable[str], filename: str) -> Iterator[Block]:
    """Make a block of every line that is not empty."""
    first = True
    for lineno, line in enumerate(lines, start=1):
        if line.strip():
            yield Block(line, filename, lineno, first)
            first = False


def load(text: str) -> dict[str, Any]:
    """Read one record: a JSON object."""
    try:
        record = json.loads(text, parse_constant=_no_constant)
    except ValueError as error:
        reason = getattr(error, "msg", None) or str(error)
        raise Malformed(f"not valid JSON ({reason})") from error
    except RecursionError as error:
        raise Malformed("JSON nested too deeply") from error
    return expect(record, dict, "the line")


def dump(record: dict[str, Any]) -> str:
    """Write one record as a line."""
    try:
        return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
    except (ValueError, TypeError, RecursionError) as error:
        raise FormatError(
            f"graph {record.get('id')}: cannot be written as JSON ({error})"
        ) from error


def expect(value: Any, kind: type[T], what: str) -> T:
    """Return *value* if it is of that type."""
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    raise Malformed(f"{what} is not {_NAMES[kind]}")


def expect_list(value: Any, kind: type[T], what: str, length: int | None = None) -> list[T]:
    """Return *value* if it is a list of that type (and length)."""
    items = expect(value, list, what)
    if length is not None and len(items) != length:
        raise Malformed(f"{what} does not have {length} elements")
    return [expect(item, kind, f"an element of {what}") for item in items]


def optional(value: Any, kind: type[T], what: str) -> T | None:
    """Return *value* if it is null or of that type."""
    return None if value is None else expect(value, kind, what)


def field(record: dict[str, Any], name: str, kind: type[T]) -> T:
    """Return the value of a key that must be there."""
    if name not in record:
        raise Malformed(f"{name!r} is missing")
    return expect(record[name], kind, f"{name!r}")


def keys(head: str) -> frozenset[str]:
    """Return the keys of the first record in the first characters of a file, all if it is cut."""
    if not head.lstrip("\ufeff \t\r\n").startswith("{"):
        return frozenset()
    first = head.lstrip("\ufeff \t\r\n").split("\n", 1)[0]
    try:
        return frozenset(json.loads(first))
    except (ValueError, RecursionError):
        return frozenset(re.findall(r'"(\w+)"\s*:', first))


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
