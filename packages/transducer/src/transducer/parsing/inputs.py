"""Where sentences come from: treebank files, tokenized lines, raw sentences, running text."""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import graphconv
from graphconv import io
from graphconv.errors import FormatError, GraphconvError
from graphconv.graph import Attributes, Graph, Token
from graphconv.io import files
from transducer.data.frames import without_frame
from transducer.errors import TransducerError
from transducer.frameworks.passages import mark_paragraph
from transducer.frameworks.tasks import LONGEST, Document, Task
from transducer.text.annotation import Annotator, load_annotator, model_annotator, sentences
from transducer.text.lines import Lines, guess_lines
from transducer.text.sentences import chunk, read_paragraphs
from transducer.text.tokens import clean, tokenize

KINDS = ("treebank", "tokens", "sentences", "text")
"""What an input file can be."""

_TREEBANK_SUFFIXES = (".sdp", ".amr", ".mrp", ".xml", ".jsonl", ".penman")
_GZIP = b"\x1f\x8b"
# Brackets and angles can begin an ordinary text, too.
_ESCAPED = re.compile("[\udc80-\udcff]")
"""Bytes that are not UTF-8, as Python's ``surrogateescape`` writes them."""
_SURELY = {"amr": re.compile(r"^# ::|^\(\S+ / ", re.M), "ucca": re.compile(r"<root\b")}
_LINES = {
    Lines.EITHER: ("text", ""),
    Lines.WRAPPED: (
        "text",
        "read as running text, whose sentences continue from line to line; "
        "--input sentences: each line is a sentence",
    ),
    Lines.SENTENCES: (
        "sentences",
        "read as one sentence a line; --input text: sentences continue from line to line",
    ),
}
"""How raw text is read, by what its lines look like, and what the user is told."""
_LONG_HEAD = 4000
"""Characters: a beginning that is as long may end anywhere."""
_TOGETHER = 256
"""Sentences that are annotated together."""


def guess_kind(
    path: str, encoding: str = "", on_note: Callable[[str], None] = lambda _: None
) -> str:
    """Return what a file is by its name and content: a treebank, sentences or running text.

    Where sentences, one a line, and lines that were wrapped differ, *on_note* is told the guess.
    """
    if path.removesuffix(".gz").endswith(_TREEBANK_SUFFIXES) or Path(path).is_dir():
        return "treebank"
    head = _head(path)
    text = head.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        name = io.detect(text)
    except GraphconvError:
        return _guess_lines(path, _decoded(head, encoding), on_note)
    is_treebank = name not in _SURELY or _SURELY[name].search(text)
    return "treebank" if is_treebank else _guess_lines(path, _decoded(head, encoding), on_note)


def annotator_of(named: str, trained: str, folder: str) -> Annotator | None:
    """Return the annotator that the user named, or else the one of the training."""
    if named:
        return load_annotator(named)
    return model_annotator(trained, f"{folder}/config.json: train.annotator")


def _decoded(head: bytes, encoding: str) -> str:
    try:
        return head.decode(encoding or "utf-8", "replace")
    except LookupError:  # whoever reads the file says so
        return ""


def _guess_lines(path: str, head: str, on_note: Callable[[str], None]) -> str:
    """Return whether the lines of raw text are sentences or to be joined, and say so."""
    if len(head) >= _LONG_HEAD:  # its last line is cut
        head = head.rpartition("\n")[0]
    kind, told = _LINES[guess_lines(head)]
    if told:
        on_note(f"{files.shown(path)}: {told}")
    return kind


def _head(path: str) -> bytes:
    """Return the first bytes of an input, unpacked; whoever reads it gets them, too."""
    head = files.peek(path)
    if not head.startswith(_GZIP):
        return head
    try:
        return zlib.decompressobj(wbits=31).decompress(head)
    except zlib.error:  # whoever reads the file says so
        return b""


def read_documents(
    task: Task,
    path: str,
    kind: str,
    annotator: Annotator | None,
    *,
    on_error: io.OnError | None = None,
    encoding: str = "",
) -> Iterator[Document]:
    """Yield the documents of a file; *on_error* is told of graphs that cannot be read.

    *encoding* is that of raw text.
    """
    if kind == "treebank":
        if encoding:
            raise TransducerError(f"--encoding is for raw text, and {path} is a treebank")
        graphs = once_each(graphconv.read(path, on_error=on_error))
        yield from gold_documents(task, graphs, annotator)
        return
    lines = text_lines(path, encoding)
    if kind == "text":
        yield from _text_documents(task, lines, annotator)
        return
    cut = tokenize if kind == "sentences" else split_blanks
    numbered = (
        (str(lineno), cut(line), task.metadata(line))
        for lineno, line in enumerate(lines, start=1)
        if clean(line)
    )
    yield from _annotated(task, numbered, annotator)


def text_lines(path: str, encoding: str = "") -> Iterator[str]:
    """Yield the lines of raw text; bytes that are not text in that encoding are an error."""
    name = files.shown(path)
    pieces = _as_utf8(path, encoding) if encoding else files.chunks(path)
    for lineno, line in enumerate(files.lines(pieces, name), start=1):
        if not line.isascii() and (wrong := _ESCAPED.search(line)):
            byte, before = ord(wrong[0]) - 0xDC00, len(line[: wrong.start()].encode())
            raise FormatError(
                f"byte {before + 1} is 0x{byte:02x}, which is not UTF-8; say --encoding NAME",
                filename=name,
                lineno=lineno,
                text=_ESCAPED.sub("\ufffd", line),
            )
        yield line


def _as_utf8(path: str, encoding: str) -> Iterator[bytes]:
    """Read a file in another encoding."""
    try:
        b" ".decode(encoding, "replace")  # refuses what is no encoding of text
    except LookupError as error:
        raise TransducerError(f"there is no encoding {encoding!r}") from error
    decoder = codecs.getincrementaldecoder(encoding)()
    lineno = 1
    for piece in chain(files.chunks(path), [b""]):
        try:
            text = decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            raise FormatError(
                f"not text in {encoding}: {error.reason}",
                filename=files.shown(path),
                lineno=lineno + error.object[: error.start].count(b"\n"),
            ) from error
        lineno += text.count("\n")
        yield text.encode("utf-8", "surrogatepass")


def once_each(graphs: Iterable[Graph]) -> Iterator[Graph]:
    """Yield one graph per sentence, where a file has graphs of several frameworks for it.

    Which framework it is does not matter here: nothing but the sentence is used.
    """
    frameworks: dict[str, str] = {}
    for graph in graphs:
        if not graph.id or frameworks.setdefault(graph.id, graph.framework) == graph.framework:
            yield graph


def gold_documents(
    task: Task, graphs: Iterable[Graph], annotator: Annotator | None
) -> Iterator[Document]:
    """Yield the sentences of treebank graphs; nothing else of the graphs is used."""
    tokenized = (task.tokenized(g) for g in graphs)
    numbered = ((g.id, [without_frame(t) for t in g.tokens], g.metadata) for g in tokenized)
    yield from _annotated(task, numbered, annotator)


def split_blanks(line: str) -> tuple[Token, ...]:
    """Split a tokenized line at blanks."""
    return tuple(Token(form) for form in clean(line).split())


def _annotated(
    task: Task,
    numbered: Iterable[tuple[str, Sequence[Token], Attributes]],
    annotator: Annotator | None,
) -> Iterator[Document]:
    stream = iter(numbered)
    while group := list(islice(stream, _TOGETHER)):
        tokens = [tuple(t) for _, t, _ in group]
        if annotator is not None:
            tokens = annotator.annotate(tokens)
        for (name, _, metadata), own in zip(group, tokens, strict=True):
            yield task.document(name, own, metadata)


def _text_documents(
    task: Task, lines: Iterable[str], annotator: Annotator | None
) -> Iterator[Document]:
    """Yield one document per sentence, or for UCCA per paragraph."""
    number = 0
    for place, paragraph in enumerate(read_paragraphs(lines), start=1):
        found = [
            (start, part)
            for start, tokens in sentences(paragraph.text, annotator)
            for part in chunk(tokens, LONGEST)
        ]
        if task.passages:
            joined = tuple(t for _, tokens in found for t in mark_paragraph(tokens, 1))
            if joined:
                yield task.document(str(place), joined)
            continue
        for start, tokens in found:
            number += 1
            text = _covered(paragraph.text[start:], tokens)
            yield task.document(str(number), tokens, task.metadata(text))


def _covered(text: str, tokens: Sequence[Token]) -> str:
    """Return the part of a text that the tokens cover, or else the tokens."""
    first, last = tokens[0].span, tokens[-1].span
    if first is None or last is None:
        return " ".join(token.form for token in tokens)
    return text[first[0] : last[1]]
