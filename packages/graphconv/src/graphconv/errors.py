r"""The errors that graphconv raises for bad data; anything else is a bug.

An error knows where it happened, so that a user can open the file at that line:

>>> str(FormatError("7 columns expected, 3 found", filename="a.sdp", lineno=4, text="1\tIt\tit"))
'a.sdp:4: 7 columns expected, 3 found: "1\\tIt\\tit"'
>>> str(ConversionError("two roots", graph_id="#20001001"))
'graph #20001001: two roots'
"""

from __future__ import annotations

import re

# Longer input is cut in messages: an error is one sentence, not a file.
_SHOWN = 60
# Controls but for tab and newline, marks that turn the direction of writing, lone surrogates.
_unprintable = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
).sub


def printable(text: str) -> str:
    r"""Write characters that a terminal would obey, not show, as escapes; all messages use it.

    >>> print(printable("a\x1b]0;title\x07b"))
    a\x1b]0;title\x07b
    """
    return _unprintable(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


class GraphconvError(Exception):
    """Root of all errors about data."""


class FormatError(GraphconvError, ValueError):
    """A file, or one graph in it, is not what its format allows."""

    def __init__(
        self,
        message: str,
        *,
        filename: str | None = None,
        lineno: int | None = None,
        text: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.filename = filename
        self.lineno = lineno
        self.text = text

    def __str__(self) -> str:
        place = ":".join(str(p) for p in (self.filename, self.lineno) if p is not None)
        message = printable(f"{place}: {self.message}" if place else self.message)
        if not self.text:
            return message
        shown = self.text if len(self.text) <= _SHOWN else self.text[: _SHOWN - 1] + "…"
        shown = shown.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
        return f'{message}: "{printable(shown)}"'

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword arguments would be lost by Exception's own pickling (worker processes).
        return (_format_error, (type(self), self.message, self.filename, self.lineno, self.text))


class FileError(FormatError):
    """A file as a whole, or the rest of one, cannot be read: how many graphs that are, none knows.

    It is an error even where bad graphs are skipped.
    """


class ConversionError(GraphconvError, ValueError):
    """A graph or an arborescence cannot be converted exactly."""

    def __init__(self, message: str, *, graph_id: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.graph_id = graph_id

    def __str__(self) -> str:
        place = f"graph {self.graph_id}: " if self.graph_id else ""
        return printable(f"{place}{self.message}")

    def __reduce__(self) -> tuple[object, ...]:
        return (_conversion_error, (self.message, self.graph_id))


def _format_error(
    kind: type[FormatError],
    message: str,
    filename: str | None,
    lineno: int | None,
    text: str | None,
) -> FormatError:
    return kind(message, filename=filename, lineno=lineno, text=text)


def _conversion_error(message: str, graph_id: str | None) -> ConversionError:
    return ConversionError(message, graph_id=graph_id)


def located(
    error: GraphconvError, filename: str, lineno: int | None = None, text: str | None = None
) -> GraphconvError:
    """Return an error that says where it happened; one that does already stays as it is.

    >>> str(located(ConversionError("two roots", graph_id="7"), "a.amr", 4))
    'a.amr:4: graph 7: two roots'
    """
    if isinstance(error, FormatError):
        if error.filename is not None:
            return error
        kind, message, text = type(error), error.message, error.text or text
    elif isinstance(error, ConversionError):
        kind, message = FormatError, str(error)
    else:
        return error
    found = kind(message, filename=filename, lineno=lineno, text=text)
    found.__cause__ = error
    return found
