"""Parse whole files: a stream in, a stream out, in order, resumable."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from typing import Any, NamedTuple

from graphconv import conversion, io
from graphconv.cliutil import output as text_output
from graphconv.codecs.amr.alignments import with_alignments
from graphconv.errors import GraphconvError
from graphconv.graph import Graph
from graphconv.io import files
from graphconv.io.writing import text_of
from transducer.errors import TransducerError
from transducer.frameworks.tasks import Document
from transducer.parsing.details import alignments, hypotheses, stream_relations
from transducer.parsing.inputs import read_documents
from transducer.parsing.parser import Parse, Transducer
from transducer.parsing.request import PASSAGES, Request, check, is_kept
from transducer.parsing.resumable import Journal, is_device, journal_of, resumable, write_stream

EVERY = 64
"""Documents between two notes of progress."""

Tell = Callable[[str], None]
Watch = Callable[[Iterator[Parse]], Iterator[Parse]]


class Text(NamedTuple):
    """The text of one document's graph; None if it is lost."""

    id: str
    text: bytes | None


class _Problems:
    """Tells and counts what is lost."""

    def __init__(self, tell: Tell) -> None:
        self.tell = tell
        self.number = 0

    def __call__(self, problem: object) -> None:
        self.number += 1
        self.tell(str(problem))


def parse_file(
    parser: Transducer,
    path: str,
    output: str,
    request: Request,
    *,
    tell: Tell = lambda _: None,
    watch: Watch = iter,
) -> int:
    """Parse a file as the command line asks; the first process of a group alone writes.

    Return how many of its sentences are missing in the output; *tell* is told of each of them.
    *watch* sees the parses go by.
    """
    if path == files.STDIO and parser.group.size > 1:
        raise TransducerError("several processes cannot share standard input: name a file")
    check(request, path, output)
    problems = _Problems(tell if parser.group.main else lambda _: None)
    documents = read_documents(
        parser.task,
        path,
        request.kind,
        request.annotator,
        on_error=problems,
        encoding=request.encoding,
    )
    if request.incremental:
        if parser.group.main:
            _write_relations(parser, documents, output)
        return problems.number
    details = request.as_json or request.attention is not None

    def parse(skip: int) -> Iterator[Parse]:
        rest = islice(documents, parser.group.agree(skip), None)
        stream = parser.stream(rest, request.settings, details=details)
        for parsed in watch(stream) if parser.group.main else stream:
            if parsed.graph is None:
                problems(unparsed(path, parsed))
            yield parsed

    if not parser.group.main:
        for _ in parse(0):
            pass
    elif request.as_json:
        _write_json(parse(0), output, request)
    elif is_device(output):
        _write_stream(parse(0), output, request, problems)
    else:
        journal = None
        if is_kept(path) and request.attention is None:
            journal = journal_of(path, parser.identity(), request.options())
        _write_file(parse, output, request, journal, problems)
    return problems.number


def unparsed(path: str, parsed: Parse) -> str:
    """Return the sentence about one that has no graph."""
    return f"{files.shown(path)}: sentence {parsed.document.id} is not parsed: {parsed.problem}"


def _write_file(
    parse: Callable[[int], Iterator[Parse]],
    output: str,
    request: Request,
    journal: Journal | None,
    problems: _Problems,
) -> None:
    with resumable(
        output,
        journal,
        lines=request.to in PASSAGES,
        resume=request.resume,
        overwrite=request.overwrite,
    ) as part:
        if part.resumed and part.journal is not None:
            problems.number += part.journal.lost
        write_one = writer(request, output, first=part.is_empty)
        texts = texts_of(_aligned(parse(part.done), request), write_one, problems)
        try:
            while group := list(islice(texts, EVERY)):
                for name, text in group:
                    if text is not None:
                        part.add(name, text)
                part.save(len(group), sum(text is None for _, text in group))
        except (KeyboardInterrupt, SystemExit, OSError):
            if part.done:
                problems.tell(f"stopped; {part.done:,} sentences of {output} are kept for --resume")
            raise


def _write_relations(parser: Transducer, documents: Iterable[Document], output: str) -> None:
    with text_output(output) as file:
        for document in documents:
            stream_relations(parser, document, file)


def _write_json(parses: Iterable[Parse], output: str, request: Request) -> None:
    with text_output(output) as file:
        for parsed in _aligned(parses, request):
            file.write(json.dumps(hypotheses(parsed), ensure_ascii=False) + "\n")


def _write_stream(
    parses: Iterable[Parse], output: str, request: Request, problems: _Problems
) -> None:
    found = texts_of(_aligned(parses, request), writer(request, output), problems)
    texts = (text for _, text in found if text is not None)
    with files.output(output) as file:
        write_stream(file, texts, passages=request.to in PASSAGES)


def texts_of(
    parses: Iterable[Parse], write_one: Callable[[Graph], str], on_problem: Tell
) -> Iterator[Text]:
    """Write each graph; one that cannot be written is a problem."""
    for parsed in parses:
        text = None
        if parsed.graph is not None:
            try:
                text = write_one(parsed.graph).encode()
            except (GraphconvError, UnicodeEncodeError) as error:
                on_problem(f"sentence {parsed.document.id} is not written: {error}")
        yield Text(parsed.document.id, text)


def _aligned(parses: Iterable[Parse], request: Request) -> Iterator[Parse]:
    """Also write the alignments of what is parsed, if they are asked for."""
    with ExitStack() as stack:
        file = None
        if request.attention is not None:
            file = stack.enter_context(text_output(request.attention))
        for parsed in parses:
            if file is not None:
                file.write(json.dumps(alignments(parsed), ensure_ascii=False) + "\n")
            yield parsed


def writer(request: Request, output: str, *, first: bool = True) -> Callable[[Graph], str]:
    """Return the function that writes graphs as the user wants them."""
    write = formatter(request.to, output, first=first)
    if request.alignments == "none":
        return write
    return lambda graph: write(with_alignments(graph, request.alignments))


def formatter(format_name: str, path: str = "", *, first: bool = True) -> Callable[[Graph], str]:
    """Return the function that writes graphs; the *first* graph of a file may bring a header."""
    codec: Any = io.codec(format_name)
    tsv = path.removesuffix(".gz").endswith(".tsv")
    write = text_of(format_name, ".tsv" if tsv else "") if first or tsv else codec.format
    if format_name in io.TREE_FORMATS:
        return lambda graph: write(conversion.to_arborescence(graph))
    return write
