"""Bytes in and out: gzip, standard input and output, encodings, files that appear when complete.

Whatever goes wrong with a file is a FormatError that names it.

>>> list(lines(chunks("no-such-file.sdp"), "no-such-file.sdp"))
Traceback (most recent call last):
graphconv.errors.FormatError: no-such-file.sdp: No such file or directory
"""

from __future__ import annotations

import codecs
import gzip
import os
import re
import shutil
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader, StringIO
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

from graphconv.errors import FormatError

STDIO = "-"
"""The path that means standard input or standard output."""

_CHUNK = 1 << 16
_HEAD = 1 << 12
_GZIP = b"\x1f\x8b"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_XML_ENCODING = re.compile(rb"""\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)["']""")


def chunks(path: str) -> Iterator[bytes]:
    """Read a file piece by piece, unpacked; the first piece is long enough to see what it is."""
    with os_errors(shown(path)):
        if path == STDIO:
            yield from _unpacked(_stdin())
            return
        # A Path would take twice as long, which counts where a folder has a thousand files.
        with open(path, "rb") as raw:  # noqa: PTH123
            yield from _unpacked(raw)


def _unpacked(raw: BufferedReader) -> Iterator[bytes]:
    stream = gzip.GzipFile(fileobj=raw) if raw.peek(2)[:2] == _GZIP else raw
    start = b""
    while len(start) < _HEAD and (piece := stream.read1(_CHUNK)):
        start += piece
    while start:
        yield start
        start = stream.read1(_CHUNK)


def lines(pieces: Iterable[bytes], filename: str, *, keep_bom: bool = False) -> Iterator[str]:
    r"""Decode to lines that keep their ends; only ``\n`` ends a line."""
    split = partial(StringIO, newline="\n")
    return chain.from_iterable(map(split, texts(pieces, filename, keep_bom=keep_bom)))


def texts(pieces: Iterable[bytes], filename: str, *, keep_bom: bool = False) -> Iterator[str]:
    """Decode to texts of whole lines.

    Bytes that are not valid UTF-8 become lone surrogates, so that the graphs before and after them
    can still be read; :func:`graphconv.io.parse_block` reports them.
    """
    decoder: codecs.IncrementalDecoder | None = None
    rest: list[str] = []
    lineno = 1
    for piece in pieces:
        if decoder is None:
            encoding = "utf-8" if keep_bom else encoding_of(piece, filename)
            decoder = codecs.getincrementaldecoder(encoding)("surrogateescape")
        try:
            complete, newline, unfinished = decoder.decode(piece).rpartition("\n")
        except UnicodeError as error:
            raise FormatError(
                f"not valid text ({error})", filename=filename, lineno=lineno
            ) from error
        if newline:
            yield "".join([*rest, complete, "\n"])
            lineno += complete.count("\n") + 1
            rest = []
        rest.append(unfinished)
    if decoder is not None:
        rest.append(decoder.decode(b"", final=True))
    if last := "".join(rest):
        yield last


def whole(pieces: Iterable[bytes], filename: str, *, keep_bom: bool = False) -> Iterator[str]:
    """Decode to one text, like :func:`texts`, for files that are small and all of a piece."""
    data = b"".join(pieces)
    encoding = "utf-8" if keep_bom else encoding_of(data, filename)
    try:
        text = data.decode(encoding, "surrogateescape")
    except UnicodeError as error:
        raise FormatError(f"not valid text ({error})", filename=filename, lineno=1) from error
    del data
    if text:
        yield text


def encoding_of(start: bytes, filename: str) -> str:
    """Return the encoding of a file: UTF-8, unless an XML file says otherwise."""
    if start.startswith(_UTF16):
        if start[:_HEAD].decode("utf-16", "replace").lstrip().startswith("<"):
            return "utf-16"
        raise FormatError("the file is in UTF-16, not in UTF-8", filename=filename, lineno=1)
    declared = _XML_ENCODING.match(start.removeprefix(codecs.BOM_UTF8))
    name = declared[1].decode("ascii") if declared else "utf-8"
    try:
        codecs.getincrementaldecoder(name)
        b" ".decode(name, "replace")  # refuses what is no encoding of text
    except (LookupError, UnicodeError) as error:
        message = f"unknown encoding {name!r}"
        raise FormatError(message, filename=filename, lineno=1) from error
    return "utf-8-sig" if codecs.lookup(name).name == "utf-8" else name


@contextmanager
def output(path: str) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears under its name only if everything went well."""
    if path == STDIO:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(os.path.realpath(path))
    with os_errors(path):
        if target.is_dir():
            raise FormatError("a folder, where a file is to be written", filename=path)
        special = target.exists() and not target.is_file()  # such as /dev/null
        hidden = target if special else _hidden(target)
        try:
            with hidden.open("wb" if special else "xb", buffering=_CHUNK) as raw:
                if path.endswith(".gz"):
                    with gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
                        yield cast("IO[bytes]", packed)
                else:
                    yield raw
            if not special:
                hidden.replace(target)
        finally:
            if not special:
                hidden.unlink(missing_ok=True)


@contextmanager
def output_folder(path: str) -> Iterator[Path]:
    """Open a new folder whose files appear in *path* only if everything went well."""
    target = Path(os.path.realpath(path))
    with os_errors(path):
        if target.exists() and not target.is_dir():
            raise FormatError("a file, where a folder is to be written", filename=path)
        hidden = _hidden(target)
        hidden.mkdir()
        try:
            yield hidden
            if target.exists():
                for file in hidden.iterdir():
                    file.replace(target / file.name)
            else:
                hidden.rename(target)
        finally:
            shutil.rmtree(hidden, ignore_errors=True)


@contextmanager
def os_errors(filename: str) -> Iterator[None]:
    """Turn what the operating system or gzip says about a file into a FormatError."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FormatError(f"damaged gzip file ({error})", filename=filename) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FormatError(error.strerror or str(error), filename=filename) from error
    except ValueError as error:
        if isinstance(error, FormatError) or "null byte" not in str(error):
            raise
        raise FormatError("not a file name", filename=filename) from error


def shown(path: str) -> str:
    """Return the name of a file to read, for messages."""
    return "<stdin>" if path == STDIO else path


def _stdin() -> BufferedReader:
    raw = sys.stdin.buffer
    return raw if isinstance(raw, BufferedReader) else BufferedReader(cast("Any", raw))


def _hidden(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}.part")
