"""Where sentences come from: treebank files, tokenized lines, raw sentences, running text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import graphconv
from graphconv import files
from graphconv.graph import Attributes, Graph, Token
from transducer import amr
from transducer.annotation import Annotator, sentences
from transducer.passages import mark_paragraph
from transducer.tasks import Document, Task
from transducer.text import read_paragraphs, tokenize

KINDS = ("treebank", "tokens", "sentences", "text")
"""What an input file can be."""

_TREEBANK_SUFFIXES = (".sdp", ".amr", ".mrp", ".xml", ".jsonl", ".penman")
_TOGETHER = 256
"""Sentences that are annotated together."""

LONGEST = 1000
"""Tokens of a sentence that is still parsed as one."""


def guess_kind(path: str) -> str:
    """Return what a file is by its name: a treebank, or running text."""
    name = path.removesuffix(".gz")
    return "treebank" if name.endswith(_TREEBANK_SUFFIXES) else "text"


def read_documents(
    task: Task, path: str, kind: str, annotator: Annotator | None
) -> Iterator[Document]:
    """Yield the documents of a file."""
    if kind == "treebank":
        graphs = graphconv.read(path, framework=task.name)
        yield from gold_documents(task, graphs, annotator)
        return
    lines = files.lines(files.chunks(path), files.shown(path))
    if kind == "text":
        yield from _text_documents(task, lines, annotator)
        return
    cut = tokenize if kind == "sentences" else split_blanks
    numbered = (
        (str(lineno), cut(line.strip()), (("snt", line.strip()),) if task.name == "amr" else ())
        for lineno, line in enumerate(lines, start=1)
        if line.strip()
    )
    yield from _annotated(task, numbered, annotator)


def gold_documents(
    task: Task, graphs: Iterable[Graph], annotator: Annotator | None
) -> Iterator[Document]:
    """Yield the sentences of treebank graphs; nothing else of the graphs is used."""
    tokenized = (amr.tokenize_graph(g) if task.name == "amr" else g for g in graphs)
    yield from _annotated(task, ((g.id, g.tokens, g.metadata) for g in tokenized), annotator)


def split_blanks(line: str) -> tuple[Token, ...]:
    """Split a tokenized line at blanks."""
    return tuple(Token(form) for form in line.split())


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
        found = [tokens for _, tokens in sentences(paragraph.text, annotator)]
        if task.name == "ucca":
            joined = tuple(t for tokens in found for t in mark_paragraph(tokens, 1))
            if joined:
                yield task.document(str(place), joined)
            continue
        for tokens in found:
            number += 1
            text = " ".join(token.form for token in tokens)
            metadata = (("snt", text),) if task.name == "amr" else ()
            yield task.document(str(number), tokens, metadata)
