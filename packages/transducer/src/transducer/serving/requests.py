"""What a request may say: JSON objects against small schemas, refused in one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar

from graphconv.io import FORMATS
from transducer.config import TASKS

T = TypeVar("T")

ALIGNMENTS = ("none", "isi", "jamr")
METRICS = ("auto", "smatch", "sdp", "ucca", "mrp")
MOST_BEAM = 64


class RequestError(Exception):
    """A request that cannot be answered, and the status that says so."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def one_of(*names: str) -> Callable[[Any], bool]:
    """Accept one of some strings."""
    return lambda value: isinstance(value, str) and value in names


def some_of(*names: str) -> Callable[[Any], bool]:
    """Accept a list of different strings, each one of some."""

    def accept(value: Any) -> bool:
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return is_list and len(set(value)) == len(value) and set(value) <= set(names)

    return accept


def whole(low: int, high: int) -> Callable[[Any], bool]:
    """Accept a whole number in a range; JSON has one kind of number, and 5.0 is whole."""

    def accept(value: Any) -> bool:
        is_whole = type(value) is int or (isinstance(value, float) and value.is_integer())
        return is_whole and low <= value <= high

    return accept


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool)


@dataclass(frozen=True)
class ParseRequest:
    """``/v1/parse`` and ``/v1/stream``."""

    text: str
    tasks: list[str] | None = None
    beam: int | None = None
    formats: tuple[str, ...] | list[str] = ()
    alignments: str = "none"
    scores: bool = False
    nbest: int = 1


@dataclass(frozen=True)
class ConvertRequest:
    """``/v1/convert``."""

    text: str
    to: str
    format: str | None = None
    framework: str | None = None


@dataclass(frozen=True)
class ScoreRequest:
    """``/v1/score``."""

    gold: str
    pred: str
    metric: str = "auto"


@dataclass(frozen=True)
class DrawRequest:
    """``/v1/draw``."""

    text: str
    format: str | None = None
    framework: str | None = None


def _list_of(names: Sequence[str]) -> tuple[Callable[[Any], bool], dict[str, Any]]:
    items = {"type": "string", "enum": list(names)}
    return some_of(*names), {"type": "array", "items": items, "uniqueItems": True}


# Field: what it accepts, and how a message and the OpenAPI document call it.
_FORMAT = (one_of(*FORMATS), {"type": "string", "enum": list(FORMATS)})
_TASK = (one_of(*TASKS, "eds"), {"type": "string", "enum": [*TASKS, "eds"]})
_TEXT = (_is_text, {"type": "string"})
SCHEMAS: Mapping[type, Mapping[str, tuple[Callable[[Any], bool], dict[str, Any]]]] = {
    ParseRequest: {
        "text": _TEXT,
        "tasks": (
            some_of(*TASKS),
            {
                "type": "array",
                "items": {"type": "string", "enum": list(TASKS)},
                "uniqueItems": True,
            },
        ),
        "beam": (whole(1, MOST_BEAM), {"type": "integer", "minimum": 1, "maximum": MOST_BEAM}),
        "formats": _list_of(FORMATS),
        "alignments": (one_of(*ALIGNMENTS), {"type": "string", "enum": list(ALIGNMENTS)}),
        "scores": (_is_switch, {"type": "boolean"}),
        "nbest": (whole(1, MOST_BEAM), {"type": "integer", "minimum": 1, "maximum": MOST_BEAM}),
    },
    ConvertRequest: {"text": _TEXT, "to": _FORMAT, "format": _FORMAT, "framework": _TASK},
    ScoreRequest: {
        "gold": _TEXT,
        "pred": _TEXT,
        "metric": (one_of(*METRICS), {"type": "string", "enum": list(METRICS)}),
    },
    DrawRequest: {"text": _TEXT, "format": _FORMAT, "framework": _TASK},
}


def read_request(kind: type[T], body: bytes) -> T:
    """Return the request that a body is.

    >>> read_request(ScoreRequest, b'{"gold": "(a / b)", "pred": 5}')
    Traceback (most recent call last):
    transducer.serving.requests.RequestError: pred: 5 is not a string
    """
    try:
        given = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise RequestError(f"the body is not JSON in UTF-8: {error}") from error
    if not isinstance(given, dict):
        raise RequestError("the body is not a JSON object")
    schema = SCHEMAS[kind]
    for name, value in given.items():
        if name not in schema:
            raise RequestError(f"there is no field {name[:50]!r}; there are {', '.join(schema)}")
        accepts, wanted = schema[name]
        if not accepts(value):
            raise RequestError(f"{name}: {json.dumps(value)[:60]} is not {_in_words(wanted)}")
        if isinstance(value, float):
            given[name] = int(value)
        if isinstance(value, str):
            _check_characters(name, value)
    for field in fields(kind):  # type: ignore[arg-type]
        if field.default is MISSING and field.name not in given:
            raise RequestError(f"the field {field.name} is missing")
    return kind(**given)


def _in_words(wanted: Mapping[str, Any]) -> str:
    """Say what a schema asks for.

    >>> _in_words({"type": "array", "items": {"type": "string", "enum": ["amr", "dm"]}})
    'a list of different ones of amr, dm'
    """
    if "enum" in wanted:
        return f"one of {', '.join(wanted['enum'])}"
    if "items" in wanted:
        return f"a list of different ones of {', '.join(wanted['items']['enum'])}"
    if "minimum" in wanted:
        return f"a whole number from {wanted['minimum']} to {wanted['maximum']}"
    return {"string": "a string", "boolean": "true or false"}[wanted["type"]]


def _check_characters(name: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise RequestError(f"{name}: a lone surrogate is no character") from error


def json_schema(kind: type) -> dict[str, Any]:
    """Return the schema of a request for the OpenAPI document."""
    required = [field.name for field in fields(kind) if field.default is MISSING]
    return {
        "type": "object",
        "required": required,
        "additionalProperties": False,
        "properties": {name: wanted for name, (_, wanted) in SCHEMAS[kind].items()},
    }
