"""Text in, document out: several models over one set of words.

>>> import transducer
>>> nlp = transducer.load("amr", "dm", "ucca")                                # doctest: +SKIP
>>> doc = nlp("The boy wants to go. He left.")                                # doctest: +SKIP
>>> print(doc.amr[0])                                                         # doctest: +SKIP
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from graphconv.arborescence import Row
from graphconv.cliutil import output as text_output
from graphconv.graph import Graph, Token
from graphconv.io import files
from transducer.config import TASKS
from transducer.decoding.results import Decision
from transducer.encoders.contextual import ContextualEncoder
from transducer.encoders.features import Features
from transducer.encoders.sharing import shared_features
from transducer.errors import ConfigError, TransducerError
from transducer.frameworks.tasks import LONGEST, Task
from transducer.frameworks.tasks import Document as Unit
from transducer.parsing.document import Doc, Hypothesis, Problem, Sentence, Span
from transducer.parsing.hypotheses import best_graphs
from transducer.parsing.inputs import text_lines
from transducer.parsing.parser import Parse, Transducer, check_errors
from transducer.storage.shipped import shipped_tasks
from transducer.text.annotation import Annotator, load_annotator, sentences
from transducer.text.sentences import chunk, read_paragraphs, split_paragraphs
from transducer.text.tokens import clean

OnRow = Callable[[str, int, Row, Decision], None]
"""Called with a task, the number of a sentence, a row, and how sure the model is of it."""


@dataclass(frozen=True)
class _Cut:
    """A text that is cut into words, or why it is not."""

    doc: Doc
    paragraphs: tuple[tuple[int, int], ...] = ()
    """The first token of each paragraph, and the one after its last."""
    trouble: str = ""


class Pipeline:
    """Models of several frameworks that parse a text together."""

    def __init__(
        self, parsers: Mapping[str, Transducer], annotator: Annotator | None = None
    ) -> None:
        self.parsers = dict(parsers)
        self._annotator = annotator

    def __repr__(self) -> str:
        return f"<Pipeline: {', '.join(self.parsers)}>"

    @property
    def tasks(self) -> tuple[str, ...]:
        """The frameworks that a text is parsed to."""
        return tuple(self.parsers)

    def __call__(self, text: str, *, errors: str = "raise", **options: Any) -> Doc:
        """Parse one text; the arguments are those of :meth:`pipe`."""
        [doc] = self.pipe([text], errors=errors, **options)
        return doc

    def pipe(
        self, texts: Iterable[str], batch_size: int = 64, errors: str = "raise", **options: Any
    ) -> Iterator[Doc]:
        """Parse texts lazily, in order, so many at a time.

        Args:
            texts: Raw texts; blank lines separate paragraphs.
            batch_size: How many texts are parsed together.
            errors: What a sentence that cannot be parsed does: ``raise``; ``skip`` leaves its
                graph out; ``keep`` puts an empty graph in its place. Where it does not raise,
                ``doc.problems`` has the sentence and the reason.
            options: Settings of the search for all models: ``beam``, ``batch_tokens`` and so on.

        Raises:
            TransducerError: A sentence cannot be parsed, and *errors* is ``raise``.
        """
        check_errors(errors)
        if isinstance(texts, str):
            raise TypeError("pipe takes a list of texts; call the pipeline itself for one text")
        if batch_size < 1:
            raise ConfigError(f"batch_size is {batch_size}, and 1 is the least")
        for parser in self.parsers.values():
            parser.settings(options)  # an unknown option is told before anything is parsed
        return self._piped(iter(texts), batch_size, errors, options)

    def _piped(
        self, texts: Iterator[str], batch_size: int, errors: str, options: dict[str, Any]
    ) -> Iterator[Doc]:
        while batch := list(islice(texts, batch_size)):
            cuts = [self._cut(text, number, errors) for number, text in enumerate(batch)]
            found: list[dict[str, list[Parse]]] = [{} for _ in cuts]
            vectors = self._vectors(options)
            for task, parser in self.parsers.items():
                units = [self._units(parser, cut) for cut in cuts]
                stream = parser.stream(
                    (unit for some in units for unit in some),
                    parser.settings(options),
                    vectors=vectors.get(task),
                )
                for some, own in zip(units, found, strict=True):
                    own[task] = list(islice(stream, len(some)))
            for cut, parses in zip(cuts, found, strict=True):
                nbest = {
                    task: best
                    for task, parser in self.parsers.items()
                    if (best := parser.settings(options).nbest) > 1
                }
                yield self._finished(cut, parses, errors, nbest)

    def watch(self, text: str, on_row: OnRow, *, runners_up: int = 0, errors: str = "raise") -> Doc:
        """Parse one text greedily, and call *on_row* with each row as soon as it is decided.

        The rows of each sentence come in order, with its number from 0; framework after framework.
        With each comes a Decision: its log-probabilities, and *runners_up* of the next best nodes,
        sources and relations.
        """
        check_errors(errors)
        cut = self._cut(text, 0, errors)
        found: dict[str, list[Parse]] = {}
        search = {"beam": 1, "nbest": 1}
        vectors = self._vectors(search)
        for task, parser in self.parsers.items():
            greedy = parser.settings(search)
            sentence = count()
            found[task] = []
            for unit in self._units(parser, cut):
                numbers = [next(sentence) for _ in unit.sentences]

                def tell(
                    place: int,
                    row: Row,
                    decision: Decision,
                    task: str = task,
                    numbers: Sequence[int] = numbers,
                ) -> None:
                    on_row(task, numbers[place], row, decision)

                found[task].append(
                    parser.parse_watched(
                        unit, greedy, tell, runners_up=runners_up, vectors=vectors.get(task)
                    )
                )
        return self._finished(cut, found, errors)

    def _vectors(self, options: dict[str, Any]) -> dict[str, Features]:
        """Return where models that share an encoder have their vectors from, computed once."""
        found: dict[str, Features] = {}
        by_name: dict[str, dict[str, ContextualEncoder]] = {}
        for task, parser in self.parsers.items():
            encoder = parser.encoder(parser.settings(options))
            if encoder is not None:
                by_name.setdefault(parser.task.config.model.contextual, {})[task] = encoder
        for name, encoders in by_name.items():
            found |= shared_features(encoders, name)
        return found

    def words(self, text: str) -> tuple[Token, ...]:
        """Return the words of a text with their characters, as parsing will see them."""
        return self._cut(text, 0, "raise").doc.tokens

    def parts(
        self, text: str, tasks: Sequence[str] | None = None
    ) -> tuple[tuple[Token, ...], dict[str, list[Span]]]:
        """Return the words of a text, and which of them each task decodes at once."""
        cut = self._cut(text, 0, "raise")
        found: dict[str, list[Span]] = {}
        for name in tasks or self.tasks:
            task = self.parsers[name].task
            found[name] = []
            for first, last in self._spans(task, cut):
                start = first
                for part in task.parts(cut.doc.tokens[first:last]):
                    found[name].append((start, start + len(part)))
                    start += len(part)
        return cut.doc.tokens, found

    def _cut(self, text: Any, number: int, errors: str) -> _Cut:
        """Cut a text into paragraphs, sentences and words, once for all models."""
        if not isinstance(text, str):
            trouble = f"a text is a string, not {type(text).__name__}"
            if errors == "raise":
                raise TypeError(f"text {number + 1} of the batch: {trouble}")
            return _Cut(Doc(""), trouble=trouble)
        words: list[Token] = []
        found: list[Sentence] = []
        paragraphs: list[tuple[int, int]] = []
        for offset, paragraph in split_paragraphs(text):
            before = len(words)
            for start, tokens in sentences(paragraph, self._annotator):
                for part in chunk(tokens, LONGEST):
                    placed = [_with_offset(token, offset + start) for token in part]
                    sentence = _sentence(text, placed, len(words), len(paragraphs))
                    found.append(sentence)
                    words += placed
            if len(words) > before:
                paragraphs.append((before, len(words)))
        models = {task: parser.about for task, parser in self.parsers.items()}
        return _Cut(Doc(text, tuple(words), tuple(found), models=models), tuple(paragraphs))

    def _units(self, parser: Transducer, cut: _Cut) -> list[Unit]:
        """Return what becomes one graph each; its words count from its own first character."""
        doc = cut.doc
        spans = self._spans(parser.task, cut)
        words = [_from_zero(doc.tokens[first:last]) for first, last in spans]
        if self._annotator is None and parser.annotator is not None and words:
            words = parser.annotator.annotate(words)
        texts = [_text(doc.text, doc.tokens[first:last]) for first, last in spans]
        return [
            parser.task.document(str(number), tokens, parser.said(text))
            for number, (tokens, text) in enumerate(zip(words, texts, strict=True), start=1)
        ]

    @staticmethod
    def _spans(task: Task, cut: _Cut) -> list[Span]:
        """Return the first token of what becomes a graph, and the one after its last."""
        if task.passages:
            return list(cut.paragraphs)
        return [(sentence.first, sentence.last) for sentence in cut.doc.sentences]

    def _finished(
        self,
        cut: _Cut,
        parses: dict[str, list[Parse]],
        errors: str,
        nbest: Mapping[str, int] = MappingProxyType({}),
    ) -> Doc:
        graphs: dict[str, tuple[Graph, ...]] = {}
        several: dict[str, tuple[tuple[Hypothesis, ...], ...]] = {}
        problems = [Problem(task, 0, "", cut.trouble) for task in self.tasks if cut.trouble]
        for task, parsed in parses.items():
            kept: list[Graph] = []
            for number, parse in enumerate(parsed):
                words = self._words(task, cut, number)
                if parse.graph is not None:
                    kept.append(with_words(parse.graph, words))
                    continue
                problem = Problem(task, number, _text(cut.doc.text, words), parse.problem)
                if errors == "raise":
                    raise TransducerError(f"{problem}: {problem.text!r}")
                problems.append(problem)
                if errors == "keep":
                    kept.append(Graph(str(number + 1), task, _from_zero(words)))
            graphs[task] = tuple(kept)
            if task in nbest:
                several[task] = tuple(
                    self._best(task, parse, nbest[task], self._words(task, cut, number))
                    for number, parse in enumerate(parsed)
                    if parse.graph is not None or errors == "keep"
                )
        return replace(cut.doc, graphs=graphs, problems=tuple(problems), nbest=several)

    def _best(
        self, task: str, parse: Parse, n: int, words: Sequence[Token]
    ) -> tuple[Hypothesis, ...]:
        """Return the best graphs of a document over the words of the text."""
        found = best_graphs(self.parsers[task], parse, n)
        return tuple(one._replace(graph=with_words(one.graph, words)) for one in found)

    def _words(self, task: str, cut: _Cut, number: int) -> tuple[Token, ...]:
        first, last = self._spans(self.parsers[task].task, cut)[number]
        return cut.doc.tokens[first:last]


def load(*tasks_or_folders: str | Path, device: str = "auto", annotator: str = "") -> Pipeline:
    """Load models, each by the task of one that ships, by its folder, or by its name on the hub.

    Args:
        tasks_or_folders: For example ``"amr", "dm", "runs/ucca"``.
        device: Where to compute: ``auto``, ``cpu``, ``cuda``, ``mps``.
        annotator: A spaCy pipeline, ``auto`` or ``none`` for all models; default: as in training.

    Raises:
        TransducerError: There is no such model, or two are of the same framework.
    """
    if not tasks_or_folders:
        known = ", ".join(shipped_tasks()) or "none"
        raise ConfigError(f"say what to load: the folder of a model, or a task (there is: {known})")
    parsers: dict[str, Transducer] = {}
    for name in tasks_or_folders:
        parser = load_one(name, device)
        if parser.task.name in parsers:
            raise ConfigError(f"there are two models for {parser.task.name}: name one of them")
        parsers[parser.task.name] = parser
    return Pipeline(parsers, load_annotator(annotator) if annotator else None)


def load_one(name: str | Path, device: str = "auto") -> Transducer:
    """Load one model, by task, folder or name on the hub."""
    if not isinstance(name, str | Path):
        raise TypeError(
            f"load takes the names one by one, each a string, not {type(name).__name__}"
        )
    if str(name).startswith((".", "~", "/")) and not Path(name).exists():
        raise ConfigError(f"there is no folder {name}")
    if str(name) not in TASKS and not Path(name).exists() and str(name).count("/") != 1:
        known = ", ".join(shipped_tasks()) or "none"
        raise ConfigError(f"{name} is neither a folder nor a task whose model ships ({known})")
    return Transducer.from_pretrained(name, device=device)


@dataclass(frozen=True, slots=True)
class Source:
    """A file of raw text."""

    path: str
    kind: str
    encoding: str = ""


def write_documents(
    nlp: Pipeline,
    source: Source,
    output: str,
    options: dict[str, Any],
    *,
    tell: Callable[[str], None] = lambda _: None,
    watch: Callable[[Iterator[Doc]], Iterator[Doc]] = iter,
) -> int:
    """Parse the paragraphs or lines of a file, and write a document a line as JSON.

    Return how many graphs are missing; *tell* is told of each of them, and the document says why.
    *watch* sees the documents go by.
    """
    path, kind = source.path, source.kind
    if kind not in ("text", "sentences"):
        message = f"{path} is read as {kind}, and documents are made of text"
        raise TransducerError(f"{message}: choose --input text or --input sentences")
    lines = text_lines(path, source.encoding)
    texts = (p.text for p in read_paragraphs(lines)) if kind == "text" else lines
    missing = 0
    with text_output(output) as file:
        docs = nlp.pipe((text for text in texts if clean(text)), errors="keep", **options)
        for number, doc in enumerate(watch(docs), start=1):
            for problem in doc.problems:
                tell(f"{files.shown(path)}: document {number}: {problem}")
            missing += len(doc.problems)
            record = {**doc.to_json(), "id": str(number)}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return missing


def with_words(graph: Graph, words: Sequence[Token]) -> Graph:
    """Return the graph over these words, which hold its own in order and perhaps more.

    A model may pass over words (AMR: markup); then the anchors of its graph are moved.
    """
    plain = _from_zero(words)
    own = [token.form for token in graph.tokens]
    if own == [token.form for token in plain]:
        tokens = tuple(
            mine._replace(span=token.span) for mine, token in zip(graph.tokens, plain, strict=True)
        )
        return replace(graph, tokens=tokens)
    places: list[int] = []
    for place, token in enumerate(plain):
        if len(places) < len(own) and token.form == own[len(places)]:
            places.append(place)
    if len(places) < len(own):
        raise TransducerError(f"graph {graph.id} has words that its sentence does not have")
    nodes = (
        node._replace(anchors=tuple(places[anchor] for anchor in node.anchors))
        for node in graph.nodes
    )
    return replace(graph, tokens=plain, nodes=tuple(nodes))


def _with_offset(token: Token, offset: int) -> Token:
    if token.span is None:
        raise TransducerError(f"the annotator does not say where {token.form!r} stands in the text")
    return token._replace(span=(token.span[0] + offset, token.span[1] + offset))


def _from_zero(words: Sequence[Token]) -> tuple[Token, ...]:
    """Return words whose characters count from the start of the first one."""
    start = words[0].span[0] if words and words[0].span else 0
    return tuple(w._replace(span=w.span and (w.span[0] - start, w.span[1] - start)) for w in words)


def _sentence(text: str, words: Sequence[Token], first: int, paragraph: int) -> Sentence:
    start, end = _ends(words)
    return Sentence(start, end, first, first + len(words), text[start:end], paragraph)


def _text(text: str, words: Sequence[Token]) -> str:
    start, end = _ends(words) if words else (0, 0)
    return text[start:end]


def _ends(words: Sequence[Token]) -> tuple[int, int]:
    start, end = words[0].span, words[-1].span
    assert start is not None and end is not None, "see _with_offset"  # noqa: PT018
    return start[0], end[1]
