"""What the three command lines share: errors as one sentence, progress, and safe output.

A command line is a :func:`group`; its commands raise the package's own errors and never print
tracebacks. Exit codes: 0 done, 1 bad data (or interrupted), 2 wrong usage.

>>> @group("arbora-graphconv", "demo")
... def main() -> None:
...     '''An example.'''
>>> main.name
'main'
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, TypeVar

import click

from graphconv.errors import GraphconvError

T = TypeVar("T")

_SECONDS_BETWEEN_UPDATES = 0.2


class DataError(click.ClickException):
    """Bad data: one sentence on stderr, exit 1."""

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split("\n")))


class Group(click.Group):
    """A group of commands that turns errors about data into one sentence and exit 1."""

    errors: tuple[type[Exception], ...] = (GraphconvError,)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line; text is UTF-8 with plain newlines whatever the locale says."""
        for stream in (sys.stdin, sys.stdout):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8", newline="\n")
        return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run one command and map its errors."""
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # so that a closed pipe is noticed here, not at shutdown
        except self.errors as error:
            raise DataError(str(error)) from error
        except BrokenPipeError:
            raise  # click ends quietly
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            raise DataError(f"{place}{error.strerror or error}") from error
        except KeyboardInterrupt:
            ctx.exit(1)


def group(
    distribution: str, program: str, errors: tuple[type[Exception], ...] = ()
) -> Callable[[Callable[..., Any]], Group]:
    """Make a function the group of a command line, with ``-h`` and ``--version``.

    *errors* are the package's own errors about data, beside graphconv's.
    """

    def decorate(function: Callable[..., Any]) -> Group:
        version = click.version_option(package_name=distribution, prog_name=program)
        made = click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})(
            version(function)
        )
        made.errors = (GraphconvError, *errors)
        return made

    return decorate


def existing(*, folders: bool = True) -> click.Path:
    """Return the type of an input path: a file that exists (or a folder), or ``-`` for stdin."""
    return click.Path(exists=True, dir_okay=folders, allow_dash=True)


def progress(items: Iterable[T], unit: str, total: int | None = None) -> Iterator[T]:
    """Pass *items* on and count them on stderr, when that is a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    start = shown = time.monotonic()
    count = 0
    try:
        for count, item in enumerate(items, start=1):
            yield item
            now = time.monotonic()
            if now - shown >= _SECONDS_BETWEEN_UPDATES:
                shown = now
                of_total = f" of {total:,}" if total else ""
                rate = count / (now - start)
                click.echo(f"\r\033[K{count:,}{of_total} {unit}, {rate:,.0f}/s", nl=False, err=True)
    finally:
        click.echo("\r\033[K", nl=False, err=True)


def note(message: str) -> None:
    """Tell the user something beside the result, on stderr."""
    click.echo(message, err=True)


@contextlib.contextmanager
def output(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """Open *path* for text (``-`` is stdout); a file appears only if everything went well."""
    from graphconv.io import files  # noqa: PLC0415 - --help does not need it

    with files.output(os.fspath(path)) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
        yield text
        text.flush()
        text.detach()  # the file is closed where it was opened


def table(rows: Iterable[Iterable[object]]) -> str:
    """Format rows in columns: the first column to the left, numbers to the right.

    >>> print(table([("file", "graphs"), ("a.sdp", 12), ("b.sdp", 1234)]))
    file   graphs
    a.sdp      12
    b.sdp   1,234
    """
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
