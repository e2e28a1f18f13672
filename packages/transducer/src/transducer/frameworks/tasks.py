"""What each framework needs around the model: graph -> example before, rows -> graph after.

A :class:`Task` belongs to a model: it knows the config and, for AMR, the tables that were learned
from the training data. DM needs nothing but the conversion; UCCA passages are cut into sentences;
AMR has the paper's section 5 (:mod:`transducer.frameworks.amr`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from graphconv.arborescence import Arborescence, Row, relations
from graphconv.conversion import from_relations, to_arborescence, to_graph
from graphconv.graph import Attributes, Graph, Token
from transducer.config import Config
from transducer.data.examples import Example
from transducer.frameworks import amr
from transducer.frameworks.amr.anchoring import anchored, places
from transducer.frameworks.amr.anonymize import placeholder
from transducer.frameworks.passages import join_passages, split_passage, split_tokens
from transducer.model.frames import with_frames
from transducer.storage.cache import cache_folder
from transducer.text.annotation import Annotator
from transducer.text.tokens import chunk

LONGEST = 1000
"""Tokens that are still parsed as one sentence."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One input sentence, ready for the model, and what is needed to finish its graph."""

    id: str
    example: Example
    tokens: tuple[Token, ...]
    record: amr.Record | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """What becomes one graph: a sentence, or the sentences of a UCCA passage."""

    id: str
    sentences: tuple[Sentence, ...]
    metadata: Attributes = ()
    """What the finished graph says about itself."""


@dataclass(frozen=True, slots=True)
class Task:
    """Pre- and post-processing of one model."""

    config: Config
    tables: amr.Tables | None = None
    linker: amr.Spotlight | None = None

    @property
    def name(self) -> str:
        """The framework."""
        return self.config.task

    @property
    def options(self) -> amr.Options:
        """The AMR steps that are on."""
        c = self.config.amr
        return amr.Options(anonymize=c.anonymize, senses=c.senses, wiki=c.wiki, polarity=c.polarity)

    def examples(self, graphs: Iterable[Graph]) -> Iterator[Example]:
        """Yield the training examples of gold graphs, prepared by :func:`training_graphs`."""
        if self.tables is not None:
            graphs = amr.preprocess_graphs(graphs, self.tables, self.options)
        unit_labels = self.config.model.unit_labels
        for graph in graphs:
            tree = to_arborescence(graph, foundational=True, unit_labels=unit_labels)
            yield self._example(graph.id, graph.tokens, tree.rows)

    def document(
        self, document_id: str, tokens: Sequence[Token], metadata: Attributes = ()
    ) -> Document:
        """Prepare annotated tokens for parsing; no gold needed."""
        parts: Iterable[tuple[Token, ...]] = (tuple(tokens),)
        if self.name == "ucca":
            parts = (p for part in split_tokens(tokens) for p in chunk(part, LONGEST))
        return Document(document_id, tuple(self._sentence(document_id, p) for p in parts), metadata)

    def _sentence(self, sentence_id: str, tokens: tuple[Token, ...]) -> Sentence:
        if self.tables is None:
            return Sentence(sentence_id, self._example(sentence_id, tokens), tokens)
        prepared, record = amr.prepare_tokens(tokens, self.tables, self.options)
        return Sentence(sentence_id, self._example(sentence_id, prepared), record.tokens, record)

    def graph(
        self,
        document: Document,
        trees: Sequence[Sequence[Row]],
        frames: Sequence[Sequence[str]] = (),
        attentions: Sequence[Sequence[Sequence[float]]] = (),
    ) -> Graph:
        """Return the finished graph for the rows that the model decided for each sentence.

        *frames* are those of its words, for each sentence; *attentions* are over its words, for
        each row of each sentence: they say which words the nodes of AMR stand for.
        """
        nothing: Sequence[tuple[()]] = [()] * len(trees)
        parts = [
            self._graph(*sentence)
            for sentence in zip(
                document.sentences, trees, frames or nothing, attentions or nothing, strict=True
            )
        ]
        if len(parts) == 1:
            graph = parts[0]
        elif self.name == "ucca":
            graph = join_passages(parts, id=document.id)
        else:
            graph = Graph(document.id, self.name)
        return replace(graph, metadata=document.metadata) if document.metadata else graph

    def _graph(
        self,
        sentence: Sentence,
        rows: Sequence[Row],
        frames: Sequence[str],
        attention: Sequence[Sequence[float]],
    ) -> Graph:
        tokens = with_frames(sentence.tokens, frames) if frames else sentence.tokens
        tree = Arborescence(sentence.id, self.name, tokens, tuple(rows))
        fresh = from_relations(relations(tree), id=sentence.id, framework=self.name, tokens=tokens)
        graph = to_graph(fresh)
        if self.name not in ("amr", "ucca"):
            graph = _without_singletons(graph)
        if self.tables is not None and sentence.record is not None:
            if attention:
                forms = [token.form for token in sentence.example.tokens]
                found = places(rows, forms, sentence.example.offers, attention)
                graph = anchored(graph, found)
            graph = amr.postprocess(graph, sentence.record, self.tables, self.options, self.linker)
        return graph

    def _example(
        self, sentence_id: str, tokens: tuple[Token, ...], rows: tuple[Row, ...] = ()
    ) -> Example:
        if self.tables is None:
            return Example(sentence_id, self.name, tokens, rows=rows)
        return Example(
            sentence_id,
            self.name,
            tokens,
            offers=self._offers(tokens),
            anonymous=tuple(placeholder(token) is not None for token in tokens),
            rows=rows,
        )

    def _offers(self, tokens: Sequence[Token]) -> tuple[tuple[str, ...], ...]:
        """Return the labels that copying each AMR token can give."""
        assert self.tables is not None
        ways = [
            amr.copy_concepts(tokens, self.tables),
            ["=" + amr.copy_constant(token) for token in tokens],
            ["=" + constant for constant in amr.copy_joined(tokens)],
            amr.copy_others(tokens, self.tables),
        ]
        return tuple(zip(*ways[: self.config.model.copy_ways], strict=True))


def _without_singletons(graph: Graph) -> Graph:
    """Leave out words that are no top and have no edge: a predicate has arguments."""
    linked = {end for edge in graph.edges for end in (edge.source, edge.target)} | set(graph.tops)
    return replace(graph, nodes=tuple(node for node in graph.nodes if node.id in linked))


def training_graphs(
    config: Config, graphs: Iterable[Graph], annotator: Annotator | None = None
) -> list[Graph]:
    """Return the graphs to learn from: single sentences with tokens, annotated where possible."""
    prepared: list[Graph] = []
    for graph in graphs:
        if not graph.tokens:
            continue
        if config.task == "ucca":
            prepared += split_passage(graph)
        else:
            prepared.append(amr.tokenize_graph(graph) if config.task == "amr" else graph)
    if annotator is None:
        return prepared
    annotated = annotator.annotate([graph.tokens for graph in prepared])
    return [replace(g, tokens=tokens) for g, tokens in zip(prepared, annotated, strict=True)]


def make_task(config: Config, graphs: Sequence[Graph]) -> Task:
    """Make the task of a new model, learning its tables from the training graphs."""
    tables = None
    if config.task == "amr":
        frames = config.amr.frames
        tables = amr.Tables.learn(graphs, amr.read_rolesets(frames) if frames else ())
    return Task(config, tables, make_linker(config.amr.spotlight))


def make_linker(address: str) -> amr.Spotlight | None:
    """Return a client of the entity linker at an address that the user gave, if there is one."""
    return amr.Spotlight(address, cache=cache_folder("spotlight")) if address else None
