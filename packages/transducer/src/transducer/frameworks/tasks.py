"""What a framework does around the model: graph -> example before, rows -> graph after.

A :class:`Task` belongs to a model: it knows the config and what was learned from the training data.
The class itself does what most frameworks need; their modules override the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from graphconv.arborescence import Arborescence, Row, relations
from graphconv.conversion import from_relations, to_arborescence, to_graph
from graphconv.graph import Attributes, Graph, Token
from graphconv.scores import Scores
from transducer.config import Config
from transducer.data.examples import Example
from transducer.data.frames import with_frames
from transducer.data.trees import TreeRules
from transducer.decoding.constraints import Constraints
from transducer.frameworks import task_of
from transducer.text.annotation import Annotator

ScoreTree = Callable[[Arborescence], Scores]
"""Returns how sure the model was of the graph of a tree."""

LONGEST = 1000
"""Tokens that are still parsed as one sentence."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One input sentence, ready for the model, and what is needed to finish its graph."""

    id: str
    example: Example
    tokens: tuple[Token, ...]
    record: Any = None
    """What the framework remembers of it."""


@dataclass(frozen=True, slots=True)
class Document:
    """What becomes one graph: a sentence, or the sentences of a passage."""

    id: str
    sentences: tuple[Sentence, ...]
    metadata: Attributes = ()
    """What the finished graph says about itself."""


@dataclass(frozen=True, slots=True)
class Task:
    """Pre- and post-processing of one model."""

    config: Config
    tables: Any = None
    """What was learned from the training data, if the framework learns anything."""
    wikifier: Any = None
    """A service that knows the Wikipedia pages of names, if the user gave one."""

    trees: ClassVar[TreeRules]
    """What the trees of the framework look like."""
    constraints: ClassVar[type[Constraints]] = Constraints
    """What may come next in them."""
    metric: ClassVar[str]
    """The name of evaltools' metric."""
    metric_options: ClassVar[tuple[str, ...]] = ()
    """Options that refine the metric."""
    tables_type: ClassVar[Any] = None
    """The type of *tables*: it has ``to_json`` and ``from_json``."""
    passages: ClassVar[bool] = False
    """Whether the graph of a document holds many sentences."""

    @property
    def name(self) -> str:
        """The framework."""
        return self.config.task

    # Before training -----------------------------------------------------------------------------

    @classmethod
    def learn(cls, config: Config, graphs: Sequence[Graph]) -> Task:
        """Make the task of a new model, learning its tables from the training graphs."""
        del graphs
        return cls(config)

    @classmethod
    def sentence_graphs(cls, graph: Graph) -> Iterable[Graph]:
        """Return the graphs of single sentences that a treebank's graph holds."""
        return (cls.tokenized(graph),)

    @classmethod
    def tokenized(cls, graph: Graph) -> Graph:
        """Return a treebank's graph with the tokens that the model sees."""
        return graph

    @classmethod
    def needs(cls, config: Config) -> Iterator[str]:
        """Yield what a recipe asks for beyond the treebank, a line each."""
        del config
        yield from ()

    def examples(self, graphs: Iterable[Graph]) -> Iterator[Example]:
        """Yield the training examples of gold graphs, prepared by :func:`training_graphs`."""
        for graph in graphs:
            learned = self.simplified(graph)
            tree = to_arborescence(
                learned, foundational=True, unit_labels=self.config.model.unit_labels
            )
            yield self.example(learned.id, learned.tokens, tree.rows)

    def simplified(self, graph: Graph) -> Graph:
        """Return the graph that the model learns: :meth:`finished` completes it again."""
        return graph

    def example(
        self, sentence_id: str, tokens: tuple[Token, ...], rows: tuple[Row, ...] = ()
    ) -> Example:
        """Return what the model sees of a sentence, and of its tree."""
        return Example(sentence_id, self.trees, tokens, rows=rows)

    # Before decoding -----------------------------------------------------------------------------

    def document(
        self, document_id: str, tokens: Sequence[Token], metadata: Attributes = ()
    ) -> Document:
        """Prepare annotated tokens for parsing; no gold needed."""
        sentences = tuple(self.sentence(document_id, part) for part in self.parts(tokens))
        return Document(document_id, sentences, metadata)

    def parts(self, tokens: Sequence[Token]) -> Iterable[tuple[Token, ...]]:
        """Cut the tokens of a document into those of its sentences."""
        return (tuple(tokens),)

    def sentence(self, sentence_id: str, tokens: tuple[Token, ...]) -> Sentence:
        """Prepare one sentence."""
        return Sentence(sentence_id, self.example(sentence_id, tokens), tokens)

    def metadata(self, text: str) -> Attributes:
        """Return what a graph says about the text of its sentence."""
        del text
        return ()

    # After decoding ------------------------------------------------------------------------------

    def graph(
        self,
        document: Document,
        trees: Sequence[Sequence[Row]],
        frames: Sequence[Sequence[str]] = (),
        attentions: Sequence[Sequence[Sequence[float]]] = (),
        *,
        scores: Sequence[ScoreTree | None] = (),
    ) -> Graph:
        """Return the finished graph for the rows that the model decided for each sentence.

        *frames* are those of its words, for each sentence; *attentions* are over its words, for
        each row of each sentence: they say which words the nodes of AMR stand for; *scores* say how
        sure the model was of the graph of each sentence's rows.
        """
        nothing: Sequence[tuple[()]] = [()] * len(trees)
        sentences = zip(
            document.sentences,
            trees,
            frames or nothing,
            attentions or nothing,
            scores or [None] * len(trees),
            strict=True,
        )
        parts = [self._sentence_graph(*sentence) for sentence in sentences]
        graph = parts[0] if len(parts) == 1 else self.joined(document.id, parts)
        return replace(graph, metadata=document.metadata) if document.metadata else graph

    def _sentence_graph(
        self,
        sentence: Sentence,
        rows: Sequence[Row],
        frames: Sequence[str],
        attention: Sequence[Sequence[float]],
        scores: ScoreTree | None,
    ) -> Graph:
        tokens = with_frames(sentence.tokens, frames) if frames else sentence.tokens
        tree = Arborescence(sentence.id, self.name, tokens, tuple(rows))
        fresh = from_relations(relations(tree), id=sentence.id, framework=self.name, tokens=tokens)
        graph = to_graph(fresh)
        if attention:
            graph = self.aligned(graph, sentence, rows, attention)
        graph = self.finished(graph, sentence)
        # The steps above keep the ids of what the model decided, and add and leave out the rest.
        return graph if scores is None else replace(graph, scores=scores(fresh).only(graph))

    def aligned(
        self,
        graph: Graph,
        sentence: Sentence,
        rows: Sequence[Row],
        attention: Sequence[Sequence[float]],
    ) -> Graph:
        """Return the graph with the words that its nodes stand for, if its rows do not say them."""
        del sentence, rows, attention
        return graph

    def finished(self, graph: Graph, sentence: Sentence) -> Graph:
        """Return the complete graph of a sentence for what the model emitted."""
        del sentence
        return graph

    def joined(self, document_id: str, parts: Sequence[Graph]) -> Graph:
        """Join the graphs of a document's sentences; only passages have more than one."""
        del parts
        return Graph(document_id, self.name)


def make_task(config: Config, graphs: Sequence[Graph]) -> Task:
    """Make the task of a new model, learning its tables from the training graphs."""
    return task_of(config.task).learn(config, graphs)


def training_graphs(
    config: Config, graphs: Iterable[Graph], annotator: Annotator | None = None
) -> list[Graph]:
    """Return the graphs to learn from: single sentences with tokens, annotated where possible."""
    task = task_of(config.task)
    prepared = [part for graph in graphs if graph.tokens for part in task.sentence_graphs(graph)]
    if annotator is None:
        return prepared
    annotated = annotator.annotate([graph.tokens for graph in prepared])
    return [replace(g, tokens=tokens) for g, tokens in zip(prepared, annotated, strict=True)]
