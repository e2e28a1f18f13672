"""Bytes in and out: gzip, standard input and output, encodings, files that appear when complete.

Whatever goes wrong with a file is a FileError that names it. Two limits keep a small gzip file from
taking all memory: a line has at most 16 MB (:data:`LONGEST_LINE`), and the text of one graph at
most 64 MB (:data:`LONGEST_GRAPH`).

>>> list(lines(chunks("no-such-file.sdp"), "no-such-file.sdp"))
Traceback (most recent call last):
graphconv.errors.FileError: no-such-file.sdp: No such file or directory
"""

from __future__ import annotations

import codecs
import errno
import gzip
import os
import re
import shutil
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader, FileIO, StringIO
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

from graphconv.errors import FileError, FormatError

if sys.platform != "win32":
    import fcntl

STDIO = "-"
"""The path that means standard input or standard output."""

LONGEST_LINE = 16 << 20
"""The most characters in a line."""

LONGEST_GRAPH = 64 << 20
"""The most bytes of a graph, and of what stands between two graphs."""

_CHUNK = 1 << 16
_HEAD = 1 << 12
_GZIP = b"\x1f\x8b"
_GZIP_FORMAT = 31  # for zlib: header and checksum included
_LONGEST_NAME = 200  # a file system takes 255 bytes, and temporary names are longer than their own
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_XML_ENCODING = re.compile(rb"""\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)["']""")


def chunks(path: str) -> Iterator[bytes]:
    """Read a file piece by piece, unpacked; the first piece is long enough to see what it is."""
    with os_errors(shown(path)):
        if path == STDIO:
            yield from _unpacked(_stdin())
            return
        # A Path would take twice as long, which counts where a folder has a thousand files.
        with _peeked.pop(path, None) or open(path, "rb") as raw:  # noqa: PTH123
            yield from _unpacked(raw)


_peeked: dict[str, BufferedReader] = {}
"""Pipes that are open since somebody looked at their beginning."""


def peek(path: str) -> bytes:
    """Return some bytes from the beginning of an input, as they are; :func:`chunks` reads them all.

    A pipe (``<(...)``, ``/dev/stdin``, a named one) can be opened and read only once.
    """
    with os_errors(shown(path)):
        if path == STDIO:
            return _peek_stdin(sys.stdin.buffer)
        raw = _peeked.pop(path, None) or BufferedReader(FileIO(path), _CHUNK)
        head = raw.peek(_CHUNK)
        if raw.seekable():
            raw.close()
        else:
            _peeked[path] = raw
        return head


def _unpacked(raw: BufferedReader) -> Iterator[bytes]:
    plain = iter(partial(raw.read1, _CHUNK), b"")
    pieces = _gunzipped(plain) if raw.peek(2)[:2] == _GZIP else plain
    start: list[bytes] = []
    try:
        for piece in pieces:
            start.append(piece)
            # Blank lines do not tell what it is.
            if not piece.isspace() and sum(map(len, start)) >= _HEAD:
                break
            if len(start) * _CHUNK > LONGEST_GRAPH:
                raise FileError("more than 64 MB of blank lines")
    finally:
        if start:  # what there is comes before what is wrong
            yield b"".join(start)
    yield from pieces


def _gunzipped(packed: Iterable[bytes]) -> Iterator[bytes]:
    """Unpack gzip piece by piece: of a file that is cut off, all that there is."""
    member: Any = zlib.decompressobj(_GZIP_FORMAT)
    for piece in packed:
        data = piece
        while data:
            if member is None:  # another member, or zeros that fill a block of a tape
                data = data.lstrip(b"\0")
                if not data:
                    break
                member = zlib.decompressobj(_GZIP_FORMAT)
            if text := member.decompress(data, _CHUNK):
                yield text
            data = member.unconsumed_tail
            if member.eof:
                data = member.unused_data
                member = None
    if member is not None:
        yield from filter(None, [member.flush()])
        raise EOFError("it ends too early")


def _peek_stdin(raw: Any) -> bytes:
    if hasattr(raw, "peek"):
        return cast("bytes", raw.peek(_CHUNK))
    start = raw.tell()  # a file in memory
    head = raw.read(_CHUNK)
    raw.seek(start)
    return cast("bytes", head)


def lines(pieces: Iterable[bytes], filename: str, *, keep_bom: bool = False) -> Iterator[str]:
    r"""Decode to lines that keep their ends; only ``\n`` ends a line."""
    return split(texts(pieces, filename, keep_bom=keep_bom))


def split(texts: Iterable[str]) -> Iterator[str]:
    """Cut texts of whole lines into lines."""
    return chain.from_iterable(map(partial(StringIO, newline="\n"), texts))


def texts(pieces: Iterable[bytes], filename: str, *, keep_bom: bool = False) -> Iterator[str]:
    """Decode to texts of whole lines.

    Bytes that are not valid UTF-8 become lone surrogates, so that the graphs before and after them
    can still be read; :func:`graphconv.io.parse_block` reports them.
    """
    decoder: codecs.IncrementalDecoder | None = None
    rest: list[str] = []
    length = 0
    lineno = 1
    for piece in pieces:
        if decoder is None:
            encoding = "utf-8" if keep_bom else encoding_of(piece, filename)
            decoder = codecs.getincrementaldecoder(encoding)("surrogateescape")
        try:
            complete, newline, unfinished = decoder.decode(piece).rpartition("\n")
        except UnicodeError as error:
            raise FileError(
                f"not valid text ({error})", filename=filename, lineno=lineno
            ) from error
        if newline:
            yield "".join([*rest, complete, "\n"])
            lineno += complete.count("\n") + 1
            rest, length = [], 0
        rest.append(unfinished)
        length += len(unfinished)
        if length > LONGEST_LINE:
            raise FileError(
                f"a line of more than {LONGEST_LINE >> 20} MB",
                filename=filename,
                lineno=lineno,
                text=rest[0],
            )
    if decoder is not None:
        rest.append(decoder.decode(b"", final=True))
    if last := "".join(rest):
        yield last


def whole(pieces: Iterable[bytes], filename: str, *, keep_bom: bool = False) -> Iterator[str]:
    """Decode to one text, like :func:`texts`, for files that are small and all of a piece."""
    data = bytearray()
    for piece in pieces:
        data += piece
        if len(data) > LONGEST_GRAPH:
            message = f"a file of one graph with more than {LONGEST_GRAPH >> 20} MB"
            raise FileError(message, filename=filename)
    encoding = "utf-8" if keep_bom else encoding_of(bytes(data[:_HEAD]), filename)
    try:
        text = data.decode(encoding, "surrogateescape")
    except UnicodeError as error:
        raise FileError(f"not valid text ({error})", filename=filename, lineno=1) from error
    del data
    if text:
        yield text


def encoding_of(start: bytes, filename: str) -> str:
    """Return the encoding of a file: UTF-8, unless an XML file says otherwise."""
    if start.startswith(_UTF16):
        if start[:_HEAD].decode("utf-16", "replace").lstrip().startswith("<"):
            return "utf-16"
        raise FileError("the file is in UTF-16, not in UTF-8", filename=filename, lineno=1)
    declared = _XML_ENCODING.match(start.removeprefix(codecs.BOM_UTF8))
    name = declared[1].decode("ascii") if declared else "utf-8"
    try:
        codecs.getincrementaldecoder(name)
        b" ".decode(name, "replace")  # refuses what is no encoding of text
    except (LookupError, UnicodeError) as error:
        message = f"unknown encoding {name!r}"
        raise FileError(message, filename=filename, lineno=1) from error
    return "utf-8-sig" if codecs.lookup(name).name == "utf-8" else name


@contextmanager
def output(path: str) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears under its name only if everything went well.

    A file that it replaces keeps its permissions.
    """
    if path == STDIO:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(os.path.realpath(path))
    with os_errors(path):
        if target.is_dir():
            raise FormatError("a folder, where a file is to be written", filename=path)
        if target.exists() and not target.is_file():  # such as /dev/null
            with target.open("wb", buffering=_CHUNK) as device, _packing(device, path) as file:
                yield file
            return
        with (
            lock(path),
            replacing(target) as hidden,
            create(hidden, target) as raw,
            _packing(raw, path) as file,
        ):
            yield file


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give a name to write to, which becomes *target* if everything went well, and is gone if not.

    For those who hold the lock, or write where nobody else does; all others take :func:`output`.
    """
    hidden = temporary(target)
    try:
        yield hidden
        hidden.replace(target)
    finally:
        hidden.unlink(missing_ok=True)


def create(hidden: Path, target: Path) -> IO[bytes]:
    """Open a new file that shall replace *target*, with the permissions of that."""
    file = hidden.open("xb", buffering=_CHUNK)
    if target.exists():
        hidden.chmod(stat.S_IMODE(target.stat().st_mode))
    return file


@contextmanager
def _packing(raw: IO[bytes], path: str) -> Iterator[IO[bytes]]:
    if not path.endswith(".gz"):
        yield raw
        return
    with gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
        yield cast("IO[bytes]", packed)


@contextmanager
def output_folder(path: str) -> Iterator[Path]:
    """Open a new folder whose files appear in *path* only if everything went well.

    If *path* exists, its other files stay; but those with a suffix of the new files would look like
    part of the result, so they are refused.
    """
    target = Path(os.path.realpath(path))
    with os_errors(path):
        if target.exists() and not target.is_dir():
            raise FormatError("a file, where a folder is to be written", filename=path)
        with lock(path), replacing_folder(target) as hidden:
            yield hidden


@contextmanager
def replacing_folder(target: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Do what :func:`output_folder` does, for those who hold the lock.

    With *overwrite*, files of an earlier result are removed, not refused.
    """
    hidden = temporary(target)
    hidden.mkdir()
    try:
        yield hidden
        if target.exists():
            _move_all(hidden, target, overwrite=overwrite)
        else:
            hidden.rename(target)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _move_all(source: Path, target: Path, *, overwrite: bool) -> None:
    """Move the files of one folder to another: all of them, or none."""
    path = str(target)
    names = {file.name for file in source.iterdir()}
    suffixes = {Path(name).suffix for name in names}
    others = sorted(
        file.name
        for file in target.iterdir()
        if file.name not in names and file.suffix in suffixes and not file.name.startswith(".")
    )
    if others and not overwrite:
        raise FormatError(
            f"the folder has {len(others)} other {Path(others[0]).suffix} files, such as "
            f"{others[0]}: name another folder, or remove them",
            filename=path,
        )
    for name in names:
        if (target / name).is_dir():
            raise FormatError(f"{name} is a folder, where a file is to be written", filename=path)
    before = source / ".before"  # no name of a new file, which begin with no dot
    before.mkdir()
    moved: list[str] = []
    try:
        for name in others:
            (target / name).replace(before / name)
        for name in names:
            if (target / name).exists():
                (target / name).replace(before / name)
            moved.append(name)
            (source / name).replace(target / name)
    except BaseException:
        for name in moved:
            if (target / name).exists() and not (source / name).exists():
                (target / name).unlink()
        for file in before.iterdir():
            file.replace(target / file.name)
        raise


@contextmanager
def lock(path: str) -> Iterator[None]:
    """Own an output as long as it is written; a second process is refused.

    The lock is the system's own, on a hidden file beside the output, so that it ends with the
    process, however that ends. Where a file system has no locks, there is none.
    """
    target = Path(os.path.realpath(path))
    hidden = beside(target, "lock")
    with os_errors(path):
        handle = _lock_file(hidden, path)
    try:
        yield
    finally:
        hidden.unlink(missing_ok=True)
        os.close(handle)


def _lock_file(hidden: Path, path: str) -> int:
    while True:
        handle = os.open(hidden, os.O_RDONLY | os.O_CREAT, 0o666)
        try:
            if sys.platform != "win32":
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever had it before may have removed the file after it was opened here.
            if os.path.samestat(os.fstat(handle), hidden.stat()):
                return handle
        except BlockingIOError as error:
            os.close(handle)
            raise FormatError("another process is writing it", filename=path) from error
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
                return handle
            os.close(handle)
            raise
        os.close(handle)


def temporary(target: Path) -> Path:
    """Return a name beside *target* that nothing else has, hidden from listings."""
    return beside(target, f"{os.urandom(6).hex()}.part")


def beside(target: Path, ending: str) -> Path:
    """Return the name of a hidden file that belongs to *target*.

    >>> beside(Path("out/x.sdp"), "lock").as_posix()
    'out/.x.sdp.lock'
    """
    return target.with_name(f".{_shortened(target.name)}.{ending}")


def _shortened(name: str) -> str:
    """Return a name, or the beginning of one that is too long to be made longer."""
    data = os.fsencode(name)
    if len(data) <= _LONGEST_NAME:
        return name
    import hashlib  # noqa: PLC0415 - few names are that long

    return f"{name[: _LONGEST_NAME // 5]}.{hashlib.sha256(data).hexdigest()[:16]}"


def sha256(path: str | os.PathLike[str]) -> str:
    """Return the hash of a file, or of the names and contents of all files in a folder.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "empty"
    >>> _ = place.write_bytes(b"")
    >>> sha256(place)[:12], sha256(place.parent)[:12]
    ('e3b0c44298fc', '93366a140c4f')
    """
    import hashlib  # noqa: PLC0415 - most commands do without

    place = Path(path)
    with os_errors(str(path)):
        if not place.is_dir():
            with place.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        digest = hashlib.sha256()
        inside = sorted((p.relative_to(place).as_posix(), p) for p in place.rglob("*"))
        for name, file_path in inside:
            if file_path.is_file():
                digest.update(os.fsencode(name) + b"\0" + bytes.fromhex(sha256(file_path)))
        return digest.hexdigest()


@contextmanager
def os_errors(filename: str) -> Iterator[None]:
    """Turn what the operating system or gzip says about a file into a FormatError."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(f"damaged gzip file ({error})", filename=filename) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FileError(error.strerror or str(error), filename=filename) from error
    except FileError as error:
        if error.filename is not None:
            raise
        raise FileError(error.message, filename=filename) from error
    except ValueError as error:
        if isinstance(error, FormatError) or "null byte" not in str(error):
            raise
        raise FileError("not a file name", filename=filename) from error


def shown(path: str) -> str:
    """Return the name of a file to read, for messages."""
    return "<stdin>" if path == STDIO else path


def _stdin() -> BufferedReader:
    raw = sys.stdin.buffer
    return raw if isinstance(raw, BufferedReader) else BufferedReader(cast("Any", raw))
