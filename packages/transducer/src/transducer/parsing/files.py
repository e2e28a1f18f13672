"""Parse whole files: a stream in, a stream out, in order, resumable.

An unfinished output is ``OUT.part`` (a folder for UCCA), with ``OUT.part.json`` beside it that
says how far it came; at the end it gets its name.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, count, islice
from pathlib import Path
from typing import IO, Any, Protocol

from graphconv import conversion, io
from graphconv.arborescence import ROOT_LABEL, Row
from graphconv.cliutil import note, progress
from graphconv.cliutil import output as text_output
from graphconv.errors import GraphconvError
from graphconv.graph import Graph
from transducer.config import DecodeConfig
from transducer.data.examples import number
from transducer.errors import TransducerError
from transducer.frameworks.tasks import Document
from transducer.parsing.inputs import read_documents
from transducer.parsing.parser import Parse, Transducer
from transducer.storage.checkpoint import write_text
from transducer.text.annotation import Annotator

STDOUT = "-"

_HOLDS = {"amr": ("amr",), "sdp": ("dm", "pas", "psd"), "ucca": ("ucca",)}
"""The frameworks that a format can hold, where these are not all."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user wants of a file that is parsed."""

    kind: str
    to: str
    settings: DecodeConfig
    annotator: Annotator | None = None
    scores: bool = False
    alignments: str | None = None
    incremental: bool = False
    resume: bool = False


def parse_file(parser: Transducer, path: str, output: str, wishes: Wishes) -> int:
    """Parse a file as the command line asks; the first process of a group alone writes.

    Return how many of its sentences are missing in the output; each of them was told.
    """
    if path == STDOUT and parser.group.size > 1:
        raise TransducerError("several processes cannot share standard input: name a file")
    _check_output(parser.task.name, output, wishes.to)
    problems = 0

    def tell(problem: str) -> None:
        nonlocal problems
        problems += 1
        if parser.group.main:
            note(problem)

    documents = read_documents(
        parser.task, path, wishes.kind, wishes.annotator, lambda error: tell(str(error))
    )
    if wishes.incremental:
        if parser.group.main:
            with text_output(output) as file:
                for document in documents:
                    tell_relations(parser, document, file)
        return problems
    as_json = wishes.scores or wishes.settings.nbest > 1
    details = as_json or wishes.alignments is not None

    def parse(skip: int) -> Iterator[Parse]:
        rest = islice(documents, parser.group.agree(skip), None)
        stream = parser.stream(rest, wishes.settings, details=details)
        for parsed in progress(stream, "sentences") if parser.group.main else stream:
            if parsed.graph is None:
                tell(f"{path}: sentence {parsed.document.id} is not parsed: {parsed.problem}")
            yield parsed

    if not parser.group.main:
        for _ in parse(0):
            pass
        return problems
    with ExitStack() as stack:
        run: Callable[[int], Iterator[Parse]] = parse
        if wishes.alignments is not None:
            run = _aligning(parse, stack.enter_context(text_output(wishes.alignments)))
        if as_json:
            file = stack.enter_context(text_output(output))
            for parsed in run(0):
                file.write(json.dumps(_details(parsed), ensure_ascii=False) + "\n")
        else:
            write_parses(run, output, wishes.to, resume=wishes.resume)
    return problems


def _check_output(task: str, output: str, to: str) -> None:
    """Refuse what cannot be written before anything is parsed."""
    if task not in _HOLDS.get(to, (task,)):
        raise TransducerError(f"the format {to} cannot hold {task} graphs")
    if output != STDOUT and to != "ucca" and Path(output).is_dir():
        raise TransducerError(f"{output} is a folder, where a file is to be written")
    if output != STDOUT and to == "ucca" and Path(output).is_file():
        raise TransducerError(f"{output} is a file, where a folder is to be written")


def _aligning(
    parse: Callable[[int], Iterator[Parse]], file: IO[str]
) -> Callable[[int], Iterator[Parse]]:
    """Also write the alignments of what is parsed."""

    def parse_and_align(skip: int) -> Iterator[Parse]:
        for parsed in parse(skip):
            file.write(json.dumps(_alignments(parsed), ensure_ascii=False) + "\n")
            yield parsed

    return parse_and_align


def tell_relations(parser: Transducer, document: Document, file: IO[str]) -> None:
    """Write the relations of a document as greedy search decides them, one a line."""
    greedy = replace(parser.task.config.decode, beam=1, nbest=1)
    for sentence in document.sentences:
        item = number(sentence.example, parser.vocabularies)
        if not item.forms:
            continue
        rows = [Row(ROOT_LABEL, 0, 0, "")]

        def tell(_: int, row: Row, rows: list[Row] = rows) -> None:
            source = rows[row.head]
            rows.append(row)
            relation = (
                source.label,
                source.index,
                row.relation,
                row.label,
                row.index,
                *row.anchors,
            )
            file.write("\t".join(map(str, (document.id, *relation))) + "\n")
            file.flush()

        parser.decode([item], greedy, on_row=tell)
        file.write("\n")


def _details(parsed: Parse) -> dict[str, Any]:
    return {
        "id": parsed.document.id,
        "sentences": [
            [
                {
                    "score": hypothesis.score,
                    "rows": [
                        {**row._asdict(), "score": score}
                        for row, score in zip(hypothesis.rows, hypothesis.row_scores, strict=False)
                    ],
                }
                for hypothesis in hypotheses
            ]
            for hypotheses in parsed.hypotheses
        ],
    }


def _alignments(parsed: Parse) -> dict[str, Any]:
    sentences = zip(parsed.document.sentences, parsed.hypotheses, strict=False)
    return {
        "id": parsed.document.id,
        "sentences": [
            {
                "tokens": [token.form for token in sentence.tokens],
                "rows": [
                    {
                        "label": row.label,
                        "index": row.index,
                        "attention": [round(x, 4) for x in weights],
                    }
                    for row, weights in zip(found[0].rows, found[0].alignments, strict=False)
                ],
            }
            for sentence, found in sentences
        ],
    }


_EVERY = 64
"""Documents between two notes of progress in ``OUT.part.json``."""


class Sink(Protocol):
    """Where the texts of graphs go."""

    def write(self, name: str, text: str) -> None:
        """Add the text of one graph."""

    def position(self) -> int:
        """Write what waits, and return how many bytes are written."""


@dataclass(slots=True)
class _File:
    file: IO[bytes]
    packed: bool = False
    """gzip: what comes between two notes of progress is packed on its own."""
    waiting: list[bytes] = field(default_factory=list)

    def write(self, name: str, text: str) -> None:
        del name
        self.waiting.append(text.encode())

    def position(self) -> int:
        data = b"".join(self.waiting)
        self.waiting.clear()
        self.file.write(gzip.compress(data, mtime=0) if self.packed and data else data)
        self.file.flush()
        return self.file.tell() if self.file.seekable() else 0


@dataclass(slots=True)
class _Folder:
    folder: Path
    taken: set[str] = field(default_factory=set)
    waiting: dict[str, str] = field(default_factory=dict)

    def write(self, name: str, text: str) -> None:
        safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in name) or "_"
        # A file may give the same id to several passages.
        names = chain([safe], (f"{safe}-{number}" for number in count(2)))
        own = next(name for name in names if name not in self.taken)
        self.taken.add(own)
        self.waiting[own] = text

    def position(self) -> int:
        for name, text in self.waiting.items():
            (self.folder / f"{name}.xml").write_text(text, encoding="utf-8")
        self.waiting.clear()
        return 0


def formatter(format_name: str, *, first: bool = True) -> Callable[[Graph], str]:
    """Return the function that writes graphs; the *first* graph of a file may bring a header."""
    codec: Any = io.codec(format_name)
    write = codec.file_format() if first and hasattr(codec, "file_format") else codec.format
    if format_name in io.TREE_FORMATS:
        return lambda graph: write(conversion.to_arborescence(graph))
    return write


def write_parses(
    parse: Callable[[int], Iterable[Parse]],
    path: str,
    format_name: str,
    *,
    resume: bool = False,
) -> int:
    """Write all parses to *path*; *parse* gets the number of documents to skip."""
    with _sink(path, format_name, resume=resume) as (sink, done, save):
        written = done
        text_of = formatter(format_name, first=not sink.position())
        stream = iter(parse(done))
        try:
            while group := list(islice(stream, _EVERY)):
                for parsed in group:
                    if parsed.graph is not None:
                        _write(sink, parsed.document.id, text_of, parsed.graph)
                written += len(group)
                save(written)
        except KeyboardInterrupt:
            if path != STDOUT:
                note(f"stopped; {path}.part has {written:,} sentences, and --resume goes on")
            raise
    return written


def _write(sink: Sink, name: str, text_of: Callable[[Graph], str], graph: Graph) -> None:
    try:
        sink.write(name, text_of(graph))
    except GraphconvError as error:
        note(f"sentence {name} is not written: {error}")


@contextmanager
def _sink(
    path: str, format_name: str, *, resume: bool
) -> Iterator[tuple[Sink, int, Callable[[int], object]]]:
    if path == STDOUT:
        sink: Sink = _File(sys.stdout.buffer)
        yield sink, 0, lambda _: sink.position()
        return
    part, journal = Path(path + ".part"), Path(path + ".part.json")
    done, size, unfinished = _progress(journal) if resume else (0, 0, [])
    if format_name == "ucca":
        with _folder(part, journal, done, unfinished) as (folder, save):
            yield folder, done, save
        _rename(part, Path(path))
    else:
        with part.open("r+b" if done and part.exists() else "wb") as file:
            file.truncate(size)
            file.seek(size)
            sink = _File(file, packed=path.endswith(".gz"))
            yield (
                sink,
                done,
                lambda n: write_text(
                    journal, json.dumps({"documents": n, "bytes": sink.position()})
                ),
            )
        part.replace(path)
    journal.unlink(missing_ok=True)


@contextmanager
def _folder(
    part: Path, journal: Path, done: int, unfinished: Sequence[str]
) -> Iterator[tuple[_Folder, Callable[[int], object]]]:
    """Write files into a folder; what a dying process may have written is noted before."""
    if not done and part.is_dir():
        shutil.rmtree(part)
    part.mkdir(parents=True, exist_ok=True)
    for name in unfinished:
        (part / f"{name}.xml").unlink(missing_ok=True)
    sink = _Folder(part, {file.stem for file in part.iterdir()})
    saved = done

    def save(documents: int) -> None:
        nonlocal saved
        note_of = {"documents": saved, "bytes": 0, "unfinished": list(sink.waiting)}
        write_text(journal, json.dumps(note_of))
        sink.position()
        saved = documents
        write_text(journal, json.dumps({"documents": saved, "bytes": 0}))

    yield sink, save


def _progress(journal: Path) -> tuple[int, int, list[str]]:
    """Return how many documents are done, their bytes, and the files that may be unfinished."""
    try:
        known = json.loads(journal.read_text(encoding="utf-8"))
        return int(known["documents"]), int(known["bytes"]), list(known.get("unfinished", ()))
    except FileNotFoundError:
        return 0, 0, []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TransducerError(f"{journal} is damaged: {error}; parse without --resume") from error


def _rename(part: Path, target: Path) -> None:
    """Give a folder its name; files of an existing folder are replaced one by one."""
    if not target.exists():
        part.rename(target)
        return
    for file in part.iterdir():
        file.replace(target / file.name)
    part.rmdir()
