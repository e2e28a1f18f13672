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
from math import isinf
from typing import Any, TypeVar

from graphconv.codecs import Block
from graphconv.errors import ConversionError, FormatError

T = TypeVar("T")

# What a record of ours or of MRP may need, many times over; code that walks a value is recursive.
_DEEPEST = 100
_may_be_surrogate = re.compile(r"\\u[dD][89a-fA-F]").search

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
    r"""Read one record: a JSON object.

    Refused are keys that stand twice, numbers that are none or are too large for one, half
    characters (``\\ud800``), and more than 100 levels.

    >>> load('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    graphconv.codecs._json.Malformed: the key 'a' stands twice in an object
    """
    return expect(load_value(text), dict, "the line")


def load_value(text: str) -> Any:
    """Read JSON from outside, of any type, with what :func:`load` refuses."""
    try:
        value = _decode(text)
        if _may_be_surrogate(text):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise Malformed("a lone surrogate, which is no character") from error
    except ValueError as error:
        reason = getattr(error, "msg", None) or str(error)
        raise Malformed(f"not valid JSON ({reason})") from error
    except RecursionError as error:
        raise Malformed("JSON nested too deeply") from error
    if _depth(value) > _DEEPEST:
        raise Malformed(f"JSON nested too deeply, more than {_DEEPEST} levels")
    return value


def _depth(value: Any) -> int:
    depth = 0
    level = [value] if isinstance(value, dict | list) else []
    while level:
        depth += 1
        level = [
            inner
            for item in level
            for inner in (item.values() if type(item) is dict else item)
            if type(inner) is dict or type(inner) is list
        ]
    return depth


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


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise Malformed(f"the key {twice!r} stands twice in an object")
    return found


def _float(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"the number {text} is too large")
    return number


_decode = json.JSONDecoder(
    parse_constant=_no_constant, parse_float=_float, object_pairs_hook=_object
).decode
