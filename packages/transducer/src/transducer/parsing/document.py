"""A parsed text: its words and sentences with their characters, and its graphs by framework.

All frameworks have the same words. A graph counts characters from the start of its sentence (UCCA:
of its passage, a paragraph), a document from the start of the text; :meth:`Doc.nodes_at` finds
what all frameworks say about a place, and :meth:`Doc.span` where a node is.

>>> from graphconv.graph import Graph, Node, Token
>>> words = Token("Dogs", span=(0, 4)), Token("bark", span=(5, 9))
>>> doc = Doc(
...     "Dogs bark",
...     words,
...     (Sentence(0, 9, 0, 2, "Dogs bark"),),
...     {
...         "amr": (Graph("1", "amr", words, (Node("b", "bark-01", (1,)),), (), ("b",)),),
...         "dm": (Graph("1", "dm", words, (Node("2", None, (1,)),), (), ("2",)),),
...     },
... )
>>> [(found.task, found.node.id, found.span) for found in doc.nodes_at(5, 9)]
[('amr', 'b', (5, 9)), ('dm', '2', (5, 9))]
>>> Doc.from_json(doc.to_json()) == doc
True
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

from graphconv.errors import GraphconvError
from graphconv.graph import Graph, Node, Token
from graphconv.views import words_of
from transducer.errors import TransducerError
from transducer.frameworks import task_of

VERSION = 1
"""The version of the record that :meth:`Doc.to_json` writes, and the only one that is read."""

_SHOWN = 60
"""Characters of a text that its document shows at a prompt."""

Span = tuple[int, int]


class Sentence(NamedTuple):
    """A sentence of a document."""

    start: int
    """Its first character in the text."""
    end: int
    """The character after its last."""
    first: int
    """The position of its first token."""
    last: int
    """The position after its last token."""
    text: str
    paragraph: int = 0
    """The number of its paragraph, from 0: that of its UCCA graph."""


class Problem(NamedTuple):
    """What could not be parsed, and why."""

    task: str
    sentence: int
    """The number of the sentence (UCCA: of the passage), from 0."""
    text: str
    reason: str

    def __str__(self) -> str:
        return f"{self.task}: sentence {self.sentence + 1} is not parsed: {self.reason}"


class Hypothesis(NamedTuple):
    """One of the best graphs of a sentence (UCCA: of a passage)."""

    graph: Graph
    score: float
    """The log-probability of its relations."""


class Mention(NamedTuple):
    """A node of some framework, and where it stands in the text."""

    task: str
    graph: Graph
    node: Node
    span: Span

    def __repr__(self) -> str:
        shown = "" if self.node.label is None else f" ({self.node.label})"
        return f"<{self.task} graph {self.graph.id}: node {self.node.id}{shown} at {self.span}>"


@dataclass(frozen=True)
class Doc:
    """A parsed text."""

    text: str
    tokens: tuple[Token, ...] = ()
    """All words; ``token.span`` are characters of :attr:`text`."""
    sentences: tuple[Sentence, ...] = ()
    graphs: Mapping[str, tuple[Graph, ...]] = field(default_factory=dict)
    """Task: its graphs, one a sentence (UCCA: one a paragraph)."""
    problems: tuple[Problem, ...] = ()
    id: str = ""
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Task: what is known about the model."""
    nbest: Mapping[str, tuple[tuple[Hypothesis, ...], ...]] = field(default_factory=dict)
    """Task: for each graph the best ones, best first, where more than one was asked for."""

    @property
    def amr(self) -> tuple[Graph, ...]:
        """The AMR graphs, one a sentence."""
        return self._graphs("amr")

    @property
    def dm(self) -> tuple[Graph, ...]:
        """The DM graphs, one a sentence."""
        return self._graphs("dm")

    @property
    def pas(self) -> tuple[Graph, ...]:
        """The PAS graphs, one a sentence."""
        return self._graphs("pas")

    @property
    def psd(self) -> tuple[Graph, ...]:
        """The PSD graphs, one a sentence."""
        return self._graphs("psd")

    @property
    def ucca(self) -> tuple[Graph, ...]:
        """The UCCA graphs, one a paragraph."""
        return self._graphs("ucca")

    def _graphs(self, task: str) -> tuple[Graph, ...]:
        if task in self.graphs:
            return self.graphs[task]
        tasks = ", ".join(self.graphs) or "none"
        raise AttributeError(
            f"the text was not parsed to {task}, only to {tasks}: transducer.load({task!r}, ...)"
        )

    def offset(self, graph: Graph) -> int:
        """Return the character of the text at which the sentence or passage of a graph starts."""
        return self._place(graph)[0]

    def _place(self, graph: Graph) -> tuple[int, int]:
        """Return the first character and the first token of a graph; its id is its number."""
        number = int(graph.id) - 1
        if task_of(graph.framework).passages:
            mine = [one for one in self.sentences if one.paragraph == number]
        else:
            mine = list(self.sentences[number : number + 1])
        if not mine:
            raise TransducerError(f"the {graph.framework} graph {graph.id} is not of this document")
        return mine[0].start, mine[0].first

    def span(self, graph: Graph, node_id: str) -> Span | None:
        """Return the characters of the text that a node of a graph stands for, if any."""
        positions = words_of(graph).get(node_id)
        if positions is None:
            raise TransducerError(f"the {graph.framework} graph has no node {node_id!r}")
        return self._span(positions, self._place(graph)[1])

    def _span(self, positions: tuple[int, ...], first: int) -> Span | None:
        spans = [span for place in positions if (span := self.tokens[first + place].span)]
        return (min(s for s, _ in spans), max(e for _, e in spans)) if spans else None

    def nodes_at(self, start: int, end: int) -> list[Mention]:
        """Return the nodes of all frameworks whose words all lie at the characters [start, end).

        A word counts if a part of it lies there.
        """
        inside = {
            place
            for place, token in enumerate(self.tokens)
            if token.span is not None and token.span[0] < end and start < token.span[1]
        }
        return [
            mention
            for mention, positions in self._mentions()
            if all(place in inside for place in positions)
        ]

    def _mentions(self) -> Iterator[tuple[Mention, list[int]]]:
        """Yield every node that has words, with their positions in the document."""
        for task, graphs in self.graphs.items():
            for graph in graphs:
                words = words_of(graph)
                for node in graph.nodes:
                    first = self._place(graph)[1]
                    span = self._span(words[node.id], first)
                    if span is not None:
                        places = [first + place for place in words[node.id]]
                        yield Mention(task, graph, node, span), places

    def to_json(self) -> dict[str, Any]:
        """Return everything in JSON's types; :meth:`from_json` undoes it."""
        record: dict[str, Any] = {
            "document": VERSION,
            "id": self.id,
            "text": self.text,
            "tokens": Graph("", "dm", self.tokens).to_dict()["tokens"],
            "sentences": [sentence._asdict() for sentence in self.sentences],
            "graphs": {task: [g.to_dict() for g in graphs] for task, graphs in self.graphs.items()},
            "problems": [problem._asdict() for problem in self.problems],
            "models": {task: dict(model) for task, model in self.models.items()},
        }
        if self.nbest:
            record["nbest"] = {
                task: [
                    [{"score": h.score, "graph": h.graph.to_dict()} for h in some] for some in found
                ]
                for task, found in self.nbest.items()
            }
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, Any] | str) -> Doc:
        """Return the document that :meth:`to_json` was called on, from the record or its text."""
        try:
            given = json.loads(record) if isinstance(record, str) else record
            version = given["document"]
            if version != VERSION:
                raise TransducerError(
                    f"version {version!r} of a document is not supported, only {VERSION}"
                )
            words = {"id": "", "framework": "dm", "tokens": given["tokens"]}
            return cls(
                given["text"],
                Graph.from_dict(words).tokens,
                tuple(Sentence(**sentence) for sentence in given["sentences"]),
                {
                    task: tuple(Graph.from_dict(graph) for graph in graphs)
                    for task, graphs in given["graphs"].items()
                },
                tuple(Problem(**problem) for problem in given["problems"]),
                given["id"],
                given["models"],
                {
                    task: tuple(tuple(map(_hypothesis, some)) for some in found)
                    for task, found in given.get("nbest", {}).items()
                },
            )
        except (GraphconvError, KeyError, TypeError, AttributeError, ValueError) as error:
            raise TransducerError(f"this is not a parsed document: {_reason(error)}") from error

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        start = f"{self.text[:_SHOWN]}…" if len(self.text) > _SHOWN else self.text
        counts = [f"{len(graphs)} {task}" for task, graphs in self.graphs.items()]
        counts += [f"{len(self.problems)} problems"] if self.problems else []
        return f"<Doc {start!r}: {', '.join(counts) or 'no graphs'}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: each sentence with its pictures."""
        from graphconv.draw import svg  # noqa: PLC0415 - slow to import, and few need it

        shown = [f"<p>{escape(self.text)}</p>"]
        for task, graphs in self.graphs.items():
            for graph in graphs:
                picture = svg(graph, title=f"{task} · {graph.id}")
                shown.append(f'<div style="overflow-x:auto">{picture}</div>')
        shown += [f"<p><em>{escape(str(problem))}</em></p>" for problem in self.problems]
        return "\n".join(shown)


def _hypothesis(record: Mapping[str, Any]) -> Hypothesis:
    return Hypothesis(Graph.from_dict(record["graph"]), float(record["score"]))


def _reason(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)
