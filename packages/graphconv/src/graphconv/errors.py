r"""The errors that graphconv raises for bad data; anything else is a bug.

An error knows where it happened, so that a user can open the file at that line:

>>> str(FormatError("7 columns expected, 3 found", filename="a.sdp", lineno=4, text="1\tIt\tit"))
'a.sdp:4: 7 columns expected, 3 found: "1\\tIt\\tit"'
>>> str(ConversionError("two roots", graph_id="#20001001"))
'graph #20001001: two roots'
"""

from __future__ import annotations

# Longer input is cut in messages: an error is one sentence, not a file.
_SHOWN = 60


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
        message = f"{place}: {self.message}" if place else self.message
        if not self.text:
            return message
        shown = self.text if len(self.text) <= _SHOWN else self.text[: _SHOWN - 1] + "…"
        shown = shown.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
        return f'{message}: "{shown}"'

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword arguments would be lost by Exception's own pickling (worker processes).
        return (_format_error, (self.message, self.filename, self.lineno, self.text))


class ConversionError(GraphconvError, ValueError):
    """A graph or an arborescence cannot be converted exactly."""

    def __init__(self, message: str, *, graph_id: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.graph_id = graph_id

    def __str__(self) -> str:
        return f"graph {self.graph_id}: {self.message}" if self.graph_id else self.message

    def __reduce__(self) -> tuple[object, ...]:
        return (_conversion_error, (self.message, self.graph_id))


def _format_error(
    message: str, filename: str | None, lineno: int | None, text: str | None
) -> FormatError:
    return FormatError(message, filename=filename, lineno=lineno, text=text)


def _conversion_error(message: str, graph_id: str | None) -> ConversionError:
    return ConversionError(message, graph_id=graph_id)
