"""Output that appears when it is complete, and that a second run can go on with.

While a parse runs, what it wrote so far is ``.OUT.unfinished``, beside a journal,
``.OUT.unfinished.json``: hashes of the input, the model and the options, how many documents are
done, and length and hash of what was written for them. Whoever resumes must match all of it; what
was written after the last entry is cut off. The journal names no files.

UCCA is a folder of passages, or a file of them; until the end it is one line of JSON per passage.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import IO, Annotated, Any

from graphconv.codecs import ucca
from graphconv.io import files, passage_name
from transducer.errors import TransducerError
from transducer.schema import Range, SchemaError, checked, read_json

_BLOCK = 1 << 20
_LARGEST = 10_000
"""Bytes of a journal."""
_NOTHING = hashlib.sha256().hexdigest()
_SUFFIX = ".xml"


class _Hash:
    """A SHA-256 in hexadecimal digits."""

    def __contains__(self, value: str) -> bool:
        return len(value) == 64 and set(value) <= set("0123456789abcdef")

    def __str__(self) -> str:
        return "a SHA-256"


_Sha256 = Annotated[str, _Hash()]
_Number = Annotated[int, Range(0, 10**15)]


@dataclass(frozen=True, slots=True)
class Journal:
    """How far a parse is, and of what."""

    input: _Sha256
    model: _Sha256
    options: _Sha256
    documents: _Number = 0
    lost: _Number = 0
    """Those of them that have no graph."""
    bytes: _Number = 0
    sha256: _Sha256 = _NOTHING


def journal_of(path: str, model: Mapping[str, Any], options: Mapping[str, Any]) -> Journal:
    """Return the journal of a parse that has not begun."""
    return Journal(files.sha256(path), _hash(model), _hash(options))


def _hash(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


class Part:
    """The unfinished output; without a journal nobody can resume it."""

    def __init__(self, target: Path, journal: Journal | None, *, lines: bool) -> None:
        self.target = target
        self.journal = journal
        self.resumed = False
        hidden = files.beside(target, "unfinished")
        self._path = hidden if journal is not None else files.temporary(target)
        self._journal_path = hidden.with_name(hidden.name + ".json")
        self._lines = lines
        self._packed = target.name.endswith(".gz") and not lines
        self._waiting: list[bytes] = []
        self._digest = hashlib.sha256()
        self._file: IO[bytes] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was written yet."""
        return self._file is None or self._file.tell() == 0

    def begin(self, *, resume: bool) -> None:
        """Open it: what a run like this one left, if *resume*, else a new one."""
        if self.journal is None:
            self._file = files.create(self._path, self.target)
            return
        known = self._known()
        if resume and known is not None:
            self._go_on(self.journal, known)
            return
        if known is None and self._path.exists():
            raise TransducerError(f"{self._path} is in the way, and no parse has left it")
        self._journal_path.unlink(missing_ok=True)
        self._path.unlink(missing_ok=True)
        self._note(self.journal)
        self._file = files.create(self._path, self.target)

    def _known(self) -> Journal | None:
        """Return the journal that is there."""
        try:
            journal: Journal = checked(Journal, read_json(self._journal_path, _LARGEST))
        except FileNotFoundError:
            return None
        except SchemaError as error:
            raise TransducerError(
                f"{self._journal_path} is not the journal of a parse ({error}): remove it, and "
                "parse without --resume"
            ) from error
        return journal

    def _go_on(self, own: Journal, known: Journal) -> None:
        for what in ("input", "model", "options"):
            if getattr(known, what) != getattr(own, what):
                verb = "are" if what == "options" else "is"
                raise TransducerError(
                    f"{self.target} cannot be resumed: the {what} {verb} not the same; "
                    "parse without --resume"
                )
        if not self._path.is_file() or self._path.stat().st_size < known.bytes:
            raise TransducerError(
                f"{self.target} cannot be resumed: {self._path} is gone or cut; "
                "parse without --resume"
            )
        file = self._path.open("r+b")
        self._file = file
        for start in range(0, known.bytes, _BLOCK):
            self._digest.update(file.read(min(_BLOCK, known.bytes - start)))
        if self._digest.hexdigest() != known.sha256:
            raise TransducerError(
                f"{self.target} cannot be resumed: {self._path} has been changed; "
                "parse without --resume"
            )
        file.truncate(known.bytes)
        file.seek(known.bytes)
        self.journal, self.resumed = known, True

    def add(self, name: str, text: bytes) -> None:
        """Add a graph; it is written with the next :meth:`save`."""
        line = json.dumps([name, text.decode()]).encode() + b"\n" if self._lines else text
        self._waiting.append(line)

    def save(self, documents: int, lost: int) -> None:
        """Write what waits, and note that *documents* more are done, *lost* of them in vain."""
        assert self._file is not None
        data = b"".join(self._waiting)
        self._waiting.clear()
        # gzip: each piece is packed on its own, so that the next run can go on after it.
        data = gzip.compress(data, mtime=0) if self._packed and data else data
        self._file.write(data)
        self._file.flush()
        self._digest.update(data)
        if self.journal is not None:
            done = self.journal
            self.journal = replace(
                done,
                documents=done.documents + documents,
                lost=done.lost + lost,
                bytes=self._file.tell(),
                sha256=self._digest.hexdigest(),
            )
            self._note(self.journal)

    def _note(self, journal: Journal) -> None:
        with files.replacing(self._journal_path) as hidden:
            hidden.write_text(json.dumps(asdict(journal)) + "\n", encoding="utf-8")

    def finish(self, *, overwrite: bool) -> None:
        """Give the output its name."""
        assert self._file is not None
        self._file.close()
        if not self._lines:
            self._path.replace(self.target)
        elif self.target.name.removesuffix(".gz").endswith(_SUFFIX):
            with files.replacing(self.target) as hidden:
                _write_passages(self._path, hidden, self.target)
        else:
            _write_folder(self._path, self.target, overwrite=overwrite)
        self.discard()

    def close(self) -> None:
        """Leave it for another run."""
        if self._file is not None:
            self._file.close()

    def discard(self) -> None:
        """Remove it."""
        self.close()
        if self._file is not None or self.journal is None:
            self._path.unlink(missing_ok=True)
            if self.journal is not None:
                self._journal_path.unlink(missing_ok=True)

    @property
    def done(self) -> int:
        """How many documents another run could leave out."""
        return self.journal.documents if self.journal is not None else 0


@contextmanager
def resumable(
    path: str, journal: Journal | None, *, lines: bool, resume: bool, overwrite: bool
) -> Iterator[Part]:
    """Open an output; nobody else writes it meanwhile.

    What a parse left that was stopped, or whose disk was full, stays for ``--resume``; after any
    other error it is removed.
    """
    target = Path(os.path.realpath(path))
    part = Part(target, journal, lines=lines)
    with ExitStack() as stack:
        stack.enter_context(files.os_errors(path))
        stack.enter_context(files.lock(path))
        try:
            part.begin(resume=resume)
        except BaseException:
            part.close()
            raise
        try:
            yield part
            part.finish(overwrite=overwrite)
        except (KeyboardInterrupt, SystemExit, OSError):
            part.close()
            if not part.done:
                part.discard()
            raise
        except BaseException:
            part.discard()
            raise


def write_stream(file: IO[bytes], texts: Iterable[bytes], *, passages: bool) -> None:
    """Write graphs to standard output as they come; UCCA so that they can be read again."""
    pieces = _joined(texts) if passages else texts
    for piece in pieces:
        file.write(piece)
        file.flush()


def _joined(passages: Iterable[bytes]) -> Iterator[bytes]:
    return (text.encode() for text in ucca.join(passage.decode() for passage in passages))


def _passages(path: Path) -> Iterator[tuple[str, bytes]]:
    with path.open("rb") as file:
        for line in file:
            name, text = json.loads(line)
            yield name, text.encode()


def _write_passages(source: Path, hidden: Path, target: Path) -> None:
    with files.create(hidden, target) as raw, ExitStack() as stack:
        file: Any = raw
        if target.name.endswith(".gz"):
            file = stack.enter_context(gzip.GzipFile("", "wb", 6, raw, mtime=0))
        for piece in _joined(text for _, text in _passages(source)):
            file.write(piece)


def _write_folder(source: Path, target: Path, *, overwrite: bool) -> None:
    """Write one file per passage; passages of an earlier run go, if the user says so."""
    names: set[str] = set()
    with files.replacing_folder(target, overwrite=overwrite) as folder:
        for graph_id, text in _passages(source):
            # A file may give the same id to several passages.
            own = passage_name(graph_id)
            different = chain([own], (f"{own}-{number}" for number in count(2)))
            name = next(name for name in different if name not in names)
            names.add(name)
            (folder / (name + _SUFFIX)).write_bytes(text)


def is_device(path: str) -> bool:
    """Say whether an output is something to write to at once, such as a pipe or /dev/null."""
    if path == files.STDIO:
        return True
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
