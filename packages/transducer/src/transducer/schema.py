"""What comes from outside, checked against types before anything uses it. Imports no torch.

A schema is a type: a dataclass, a plain type, ``X | None``, ``dict[str, X]`` or ``tuple[X, ...]``;
``Annotated[X, limit]`` adds what the type cannot say. Recipes, ``--set`` and the JSON files of a
model directory all go through :func:`checked`, whose errors name the field:

>>> checked(dict[str, Annotated[int, Range(1, 9)]], {"a": {"b": 1}}, "sizes")
Traceback (most recent call last):
    ...
transducer.schema.SchemaError: sizes.a = {'b': 1} is not of type int
>>> checked(dict[str, Annotated[int, Range(1, 9)]], {"a": 10}, "sizes")
Traceback (most recent call last):
    ...
transducer.schema.SchemaError: sizes.a is 1 to 9, not 10
"""

from __future__ import annotations

import dataclasses
import difflib
import gzip
import json
import math
import re
import reprlib
import stat
import types
import typing
import zlib
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NoReturn, get_args, get_origin

MEGABYTE = 1_000_000

_LONGEST = 100_000
"""Characters of a string."""
_SHOWN = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = _SHOWN.maxlong = 60
_SHOWN.maxlevel = 2


class SchemaError(ValueError):
    """A value from outside is not what it has to be; the message names the field."""


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from *low* to *high*, or to just *below* it."""

    low: float
    high: float
    below: bool = False

    def __contains__(self, value: float) -> bool:
        return self.low <= value and (value < self.high if self.below else value <= self.high)

    def __str__(self) -> str:
        if self.below:
            return f"at least {self.low:,} and below {self.high:,}"
        return f"{self.low:,} to {self.high:,}"


class Choice(tuple[str, ...]):
    """Some words."""

    __slots__ = ()

    def __str__(self) -> str:
        return " or ".join(filter(None, (", ".join(self[:-1]), self[-1])))


class Known:
    """The keys of a table, which may grow."""

    def __init__(self, table: Mapping[str, object]) -> None:
        self.table = table

    def __contains__(self, value: str) -> bool:
        return value in self.table

    def __str__(self) -> str:
        return str(Choice(self.table))


class Printable:
    """Text that can be shown and written anywhere."""

    def __contains__(self, value: str) -> bool:
        return _CONTROL.search(value) is None

    def __str__(self) -> str:
        return "text without control characters"


_HALF = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")

Name = Annotated[str, Printable()]


def checked(kind: Any, value: Any, place: str = "") -> Any:
    """Return *value* as a *kind*, lists as tuples and mappings as dataclasses; or refuse it."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        result = checked(arguments[0], value, place)
        for limit in arguments[1:]:
            _require(limit, result, place)
        return result
    if origin in (types.UnionType, typing.Union):
        (inner,) = (argument for argument in arguments if argument is not types.NoneType)
        return None if value is None else checked(inner, value, place)
    if dataclasses.is_dataclass(kind):
        return _record(kind, value, place)
    if origin is dict:
        section = _of_type(Mapping, "a section", value, place)
        keys = _names(arguments[0], [*section])
        items = _names(arguments[1], [*section.values()])
        if keys is None:
            keys = [checked(arguments[0], key, f"{place}, a key") for key in section]
        if items is None:
            items = [checked(arguments[1], section[key], _inside(place, key)) for key in section]
        return dict(zip(keys, items, strict=True))
    if origin is tuple:
        items = _of_type((list, tuple), "a list", value, place)
        return tuple(checked(arguments[0], item, f"{place}[{i}]") for i, item in enumerate(items))
    return value if kind is Any else _PLAIN[kind](value, place)


def _names(kind: Any, values: list[Any]) -> list[Any] | None:
    """Return names that are checked together, as large tables want it; None if one is none."""
    if kind != Name or not set(map(type, values)) <= {str}:
        return None
    text = "".join(values)
    short = max(map(len, values), default=0) <= _LONGEST
    return values if short and text in Printable() and not _HALF.search(text) else None


def check_limits(record: Any) -> None:
    """Check the limits of a dataclass that was made in Python: for its ``__post_init__``."""
    for name, kind in _hints(record.__class__).items():
        for limit in get_args(kind)[1:] if get_origin(kind) is Annotated else ():
            _require(limit, getattr(record, name), name)


def unknown(key: str, known: Iterable[str]) -> str:
    """Say that a key is unknown, and which one may have been meant."""
    close = difflib.get_close_matches(key, list(known), n=1)
    return "unknown key" + (f", did you mean {close[0]!r}?" if close else "")


def shown(value: object) -> str:
    """Return a value from outside as an error message shows it: short, and safe for terminals."""
    return _SHOWN.repr(value)


# Types -------------------------------------------------------------------------------------------


@cache
def _hints(kind: Hashable) -> dict[str, Any]:
    """Return the types of a dataclass's fields, with their limits; reading them takes a while."""
    return typing.get_type_hints(kind, include_extras=True)


def _record(kind: Any, value: Any, place: str) -> Any:
    hints = _hints(kind)
    values = _of_type(Mapping, "a section", value, place)
    for key in values:
        if key not in hints:
            raise SchemaError(f"{_inside(place, key)}: {unknown(str(key), hints)}")
    for field in dataclasses.fields(kind):
        has_default = (field.default, field.default_factory) != (dataclasses.MISSING,) * 2
        if field.name not in values and not has_default:
            raise SchemaError(f"{_inside(place, field.name)} is missing")
    inner = {key: checked(hints[key], item, _inside(place, key)) for key, item in values.items()}
    try:
        return kind(**inner)
    except ValueError as error:
        raise SchemaError(f"{place + ': ' if place else ''}{error}") from error


def _inside(place: str, key: object) -> str:
    name = key if isinstance(key, str) and key.isidentifier() else shown(key)
    return f"{place}.{name}" if place else str(name)


def _require(limit: Any, value: Any, place: str) -> None:
    if value not in limit:
        raise SchemaError(f"{place} is {limit}, not {shown(value)}")


def _of_type(kind: Any, name: str, value: Any, place: str) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise SchemaError(f"{place + ' = ' if place else ''}{shown(value)} is not {name}")
    return value


def _integer(value: Any, place: str) -> int:
    number: int = _of_type(int, "of type int", value, place)
    if abs(number) >= 2**63:
        raise SchemaError(f"{place} is a number of at most 63 bits, not {shown(value)}")
    return number


def _float(value: Any, place: str) -> float:
    if isinstance(value, int) and not isinstance(value, bool):
        return float(_integer(value, place))
    number: float = _of_type(float, "of type float", value, place)
    if not math.isfinite(number):
        raise SchemaError(f"{place} is a finite number, not {number}")
    return number


def _text(value: Any, place: str) -> str:
    text: str = _of_type(str, "of type str", value, place)
    if len(text) > _LONGEST:
        raise SchemaError(f"{place} has {len(text):,} characters, and {_LONGEST:,} is the most")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SchemaError(f"{place} = {shown(text)} holds half of a character") from error
    return text


_PLAIN: dict[Any, Callable[[Any, str], Any]] = {
    int: _integer,
    float: _float,
    str: _text,
    bool: lambda value, place: _of_type(bool, "of type bool", value, place),
}


# JSON --------------------------------------------------------------------------------------------


def read_json(path: Path, most: int) -> Any:
    """Read a JSON file of at most *most* bytes, see :func:`read_text` and :func:`parse_json`."""
    return parse_json(read_text(path, most))


def read_text(path: Path, most: int) -> str:
    """Read a plain file of at most *most* bytes; one that ends in ``.gz`` is unpacked.

    A pipe or a device is refused, and so is more than *most*, before it is in memory.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise SchemaError("it is not a plain file")
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            data = file.read(most + 1)
    except (EOFError, zlib.error) as error:
        raise SchemaError(f"not a gzip file: {error}") from error
    if len(data) > most:
        raise SchemaError(f"it holds more than {most:,} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SchemaError(f"not UTF-8: byte {error.start}") from error


def parse_json(text: str) -> Any:
    """Parse JSON as the standard has it: each key once, no NaN, no Infinity, not too deep."""
    try:
        return json.loads(
            text, object_pairs_hook=_unique, parse_constant=_constant, parse_float=_finite
        )
    except RecursionError as error:
        raise SchemaError("it is nested too deeply") from error
    except SchemaError:
        raise
    except ValueError as error:  # of json, or of int for a number of thousands of digits
        raise SchemaError(f"not JSON: {error}") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        raise SchemaError(f"the key {shown(max(keys, key=keys.count))} is there twice")
    return result


def _constant(name: str) -> NoReturn:
    raise SchemaError(f"{name} is no number that JSON has")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise SchemaError(f"{shown(digits)} is too large a number")
    return number
