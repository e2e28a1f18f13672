"""The spaCy component ``arbora``: meaning graphs on spaCy's documents, spans and tokens.

    nlp = spacy.blank("en")
    nlp.add_pipe("arbora", config={"tasks": ["amr", "dm"]})
    doc = nlp("The boy wants to go.")
    doc._.amr, doc[:2]._.dm, doc[1]._.amr_nodes

A document has the graphs of a task, a span those of the sentences (UCCA: paragraphs) that it
touches, and a token the nodes that stand for it or a part of it. Our words need not be spaCy's:
they meet at their characters. What could not be parsed is in ``doc._.arbora.problems``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc as SpacyDoc
from spacy.tokens import Span, Token

from graphconv.graph import Graph, Node
from transducer.config import TASKS
from transducer.errors import TransducerError
from transducer.frameworks import task_of
from transducer.parsing.document import Doc
from transducer.parsing.pipeline import Pipeline, load

NAME = "arbora"
"""The name of the component, and of what a document keeps."""

_SETTINGS = "arbora.json"


@Language.factory(  # type: ignore[untyped-decorator]
    NAME,
    default_config={"tasks": ["amr"], "device": "auto", "batch_size": 64, "errors": "keep"},
    assigns=["doc._.arbora"],
)
def make(  # noqa: PLR0917 - as spaCy calls it
    nlp: Language,
    name: str,
    tasks: list[str],
    device: str,
    batch_size: int,
    errors: str,
) -> Component:
    """Make the component; *tasks* are tasks that ship, folders, or names on the hub."""
    del nlp, name
    return Component(tasks, device, batch_size, errors)


class Component:
    """Parses the texts of spaCy's documents; the models are loaded when the first one comes."""

    def __init__(self, tasks: Sequence[str], device: str, batch_size: int, errors: str) -> None:
        self.tasks = list(tasks)
        self.device = device
        self.batch_size = batch_size
        self.errors = errors
        _extend()

    @cached_property
    def pipeline(self) -> Pipeline:
        """The models."""
        return load(*self.tasks, device=self.device)

    def __call__(self, doc: SpacyDoc) -> SpacyDoc:
        """Parse one document."""
        [parsed] = self.pipe([doc])
        return parsed

    def pipe(
        self, stream: Iterable[SpacyDoc], *, batch_size: int | None = None
    ) -> Iterator[SpacyDoc]:
        """Parse documents, so many at a time."""
        waiting: list[SpacyDoc] = []

        def texts() -> Iterator[str]:
            for doc in stream:
                waiting.append(doc)
                yield doc.text

        size = min(batch_size or self.batch_size, self.batch_size)
        for found in self.pipeline.pipe(texts(), batch_size=size, errors=self.errors):
            doc = waiting.pop(0)
            doc.user_data[NAME] = json.dumps(found.to_json())
            yield doc

    def to_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> None:
        """Save the settings, and the models that do not ship with the package."""
        del exclude
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        names = []
        for name in self.tasks:
            if name not in TASKS:
                parser = self._parser_of(name)
                # The graphs name the model by its folder: it keeps its name.
                name = f"{parser.task.name}/{parser.about['name']}"  # noqa: PLW2901
                parser.save_pretrained(folder / name)
            names.append(name)
        settings = {"tasks": names, "device": self.device, "errors": self.errors}
        record = json.dumps({**settings, "batch_size": self.batch_size})
        (folder / _SETTINGS).write_text(record, encoding="utf-8")

    def from_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> Component:
        """Load what :meth:`to_disk` saved."""
        del exclude
        settings = json.loads((Path(path) / _SETTINGS).read_text(encoding="utf-8"))
        names = settings["tasks"]
        self.tasks = [name if name in TASKS else str(Path(path) / name) for name in names]
        self.device, self.errors = settings["device"], settings["errors"]
        self.batch_size = settings["batch_size"]
        self.__dict__.pop("pipeline", None)
        return self

    def _parser_of(self, name: str) -> Any:
        parsers = list(self.pipeline.parsers.values())
        return parsers[self.tasks.index(name)]


def _extend() -> None:
    """Teach spaCy's classes our attributes."""
    SpacyDoc.set_extension(NAME, getter=parsed, force=True)
    for task in TASKS:
        SpacyDoc.set_extension(task, getter=partial(_doc_graphs, task=task), force=True)
        Span.set_extension(task, getter=partial(_span_graphs, task=task), force=True)
        Token.set_extension(f"{task}_nodes", getter=partial(_token_nodes, task=task), force=True)


def parsed(doc: SpacyDoc) -> Doc:
    """Return what was parsed of a document."""
    if NAME not in doc.user_data:
        raise TransducerError('this document was not parsed: nlp.add_pipe("arbora")')
    return _loaded(doc.user_data[NAME])


@lru_cache(maxsize=16)
def _loaded(text: str) -> Doc:
    return Doc.from_json(text)


def _doc_graphs(doc: SpacyDoc, task: str) -> tuple[Graph, ...]:
    graphs: tuple[Graph, ...] = getattr(parsed(doc), task)
    return graphs


def _span_graphs(span: Span, task: str) -> tuple[Graph, ...]:
    found = parsed(span.doc)
    touched = [
        (number, sentence.paragraph)
        for number, sentence in enumerate(found.sentences)
        if sentence.start < span.end_char and span.start_char < sentence.end
    ]
    passages = task_of(task).passages  # a graph is of a sentence, or of a paragraph
    ids = {str((paragraph if passages else number) + 1) for number, paragraph in touched}
    return tuple(graph for graph in _doc_graphs(span.doc, task) if graph.id in ids)


def _token_nodes(token: Token, task: str) -> tuple[Node, ...]:
    found = parsed(token.doc)
    getattr(found, task)  # a task that was not parsed is told
    mentions = found.nodes_at(token.idx, token.idx + len(token))
    return tuple(mention.node for mention in mentions if mention.task == task)
