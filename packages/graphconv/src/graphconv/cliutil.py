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
import errno
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import IO, Any, NoReturn, TypeVar

import click

from graphconv.errors import GraphconvError, printable

T = TypeVar("T")

_SECONDS_BETWEEN_UPDATES = 0.2


class DataError(click.ClickException):
    """Bad data: one sentence on stderr, exit 1."""

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(printable(" ".join(message.split("\n"))))


class Group(click.Group):
    """A group of commands that turns errors about data into one sentence and exit 1."""

    errors: tuple[type[Exception], ...] = (GraphconvError,)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line; text is UTF-8 with plain newlines whatever the locale says."""
        _replace_closed_streams()
        for stream, errors in ((sys.stdin, "strict"), (sys.stdout, "backslashreplace")):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8", newline="\n", errors=errors)
        with _ending_well():
            return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run one command and map its errors."""
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # so that a closed pipe is noticed here, not at shutdown
        except self.errors as error:
            _forget_output()
            raise DataError(str(error)) from error
        except click.ClickException as error:
            error.args = (printable(error.message),)  # it may name a file
            object.__setattr__(error, "message", error.args[0])
            raise
        except BrokenPipeError:
            raise  # click ends quietly
        except OSError as error:
            _forget_output()
            place = f"{error.filename}: " if error.filename else ""
            raise DataError(f"{place}{error.strerror or error}") from error
        except KeyboardInterrupt:
            ctx.exit(1)


class _Closed(io.RawIOBase):
    """A standard stream that was closed before the program began: using it is an error."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, _: Any) -> NoReturn:
        raise OSError(errno.EBADF, f"{self._name} is closed")

    def write(self, _: Any) -> NoReturn:
        raise OSError(errno.EBADF, f"{self._name} is closed")


def _replace_closed_streams() -> None:
    """Give closed standard streams a place: reading or writing them then says what is wrong."""
    if sys.stdin is not None and sys.stdout is not None and sys.stderr is not None:
        return
    for _ in range(3):  # a file that is opened later must not get the number of such a stream
        number = os.open(os.devnull, os.O_RDWR)
        if number > 2:
            os.close(number)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(_Closed("standard input")))
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(_Closed("standard output")))
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def _forget_output() -> None:
    """Drop what standard output holds and cannot write, so that the end does not try it again."""
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


@contextlib.contextmanager
def _ending_well() -> Iterator[None]:
    """Turn the signals that ask a program to end into an exit that leaves nothing behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = ("SIGTERM", "SIGHUP")
    asked = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {each: signal.getsignal(each) for each in asked}
    ours = [each for each, handler in before.items() if handler is signal.SIG_DFL]
    for each in ours:
        signal.signal(each, _end)
    try:
        yield
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
        for each in ours:
            signal.signal(each, signal.SIG_DFL)


def _end(number: int, _: Any) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # once is enough; cleaning up must not be interrupted
    sys.unraisablehook = _unraisable
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, partial(_end_after_all, number))
        signal.setitimer(signal.ITIMER_REAL, _LOST, _LOST)
    sys.exit(128 + number)


def _end_after_all(number: int, *_: Any) -> None:
    """Exit once more: finalizers and callbacks swallow what is raised in them, an exit too."""
    if sys.exception() is None:  # else it is under way
        sys.exit(128 + number)


def _unraisable(lost: Any) -> None:
    """Tell of what a finalizer swallowed, but not of an exit, which will be raised again."""
    if not issubclass(lost.exc_type, SystemExit):
        sys.__unraisablehook__(lost)


_LOST = 0.2
"""Seconds after which an exit that is not under way was lost."""


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


@contextlib.contextmanager
def data_errors(*errors: type[Exception]) -> Iterator[None]:
    """Turn graphconv's errors and *errors* into one sentence; for programs of a single command."""
    kinds: tuple[type[Exception], ...] = (GraphconvError, *errors)
    try:
        yield
    except kinds as error:
        raise DataError(str(error)) from error


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
    click.echo(printable(message), err=True)


def say(message: str) -> None:
    """Print a result for people on standard output; names in it may come from a file."""
    click.echo(printable(message))


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
    return f"{value:,}" if isinstance(value, int) else printable(str(value))
