"""Does a claim follow from a text? Statement by statement, with the words that say so.

>>> found = entails(
...     '(b / bite-01 :ARG0 (m / man) :ARG1 (d / dog))',
...     '(b / bite-01 :ARG0 (d / dog) :ARG1 (m / man) :location (p / park))',
... )
>>> found.verdict, [(f.kind, f.text) for f in found.contradicted]
('contradicted', [('role', 'bite-01 :ARG0 man'), ('role', 'bite-01 :ARG1 dog')])
>>> bool(entails('(b / bark-01)', '(b / bark-01 :ARG0 (d / dog))'))
True
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evaltools.entailment.judging import Judge, Verdict
from evaltools.entailment.matching import match
from evaltools.entailment.statements import Statements, statements
from evaltools.entailment.values import CONTRADICTED, LACKING, SUPPORTED
from evaltools.errors import EvaluationError
from evaltools.loading import load
from evaltools.sources import Scorable, source_of
from graphconv import alignment
from graphconv.graph import Graph, Token, attribute

if TYPE_CHECKING:
    from graphconv.draw import Highlight

__all__ = ["ENTAILED", "NEUTRAL", "Entailment", "Finding", "check", "entails", "prepare"]

ENTAILED, NEUTRAL = "entailed", "neutral"
VERDICTS = (ENTAILED, NEUTRAL, CONTRADICTED)

Span = tuple[int, int]

_WORD = re.compile(r"\w+(?:[.,:'’/-]\w+)*|[^\w\s]")


@dataclass(frozen=True)
class Finding:
    """One statement of the claim, and what became of it."""

    status: str
    """``supported``, ``contradicted`` or ``lacking``."""
    kind: str
    """What sort of statement it is, or of conflict: ``name``, ``polarity``, ``role`` and so on."""
    text: str
    reason: str
    claim_characters: tuple[Span, ...]
    """The characters [from, to) of the claim's sentence that say it, where that is known."""
    source_characters: tuple[Span, ...]
    """Those of the source's sentence that say so, or otherwise."""
    claim_nodes: tuple[str, ...]
    source_nodes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the finding in JSON's types."""
        return {
            "status": self.status,
            "kind": self.kind,
            "text": self.text,
            "reason": self.reason,
            "claim_characters": [list(span) for span in self.claim_characters],
            "source_characters": [list(span) for span in self.source_characters],
        }


@dataclass(frozen=True)
class Entailment:
    """Whether a source says what a claim does; true in ``if`` when it does."""

    verdict: str
    """``entailed``, ``neutral`` or ``contradicted``."""
    claim: Graph
    source: Graph | None
    """The graph of the source that says most of the claim; None if none says anything of it."""
    findings: tuple[Finding, ...]
    certified: bool
    """Whether no alignment of the two graphs agrees more."""

    @property
    def supported(self) -> tuple[Finding, ...]:
        """The statements that the source makes, too."""
        return tuple(f for f in self.findings if f.status == SUPPORTED)

    @property
    def contradicted(self) -> tuple[Finding, ...]:
        """The statements that cannot hold if the source does."""
        return tuple(f for f in self.findings if f.status == CONTRADICTED)

    @property
    def lacking(self) -> tuple[Finding, ...]:
        """The statements of which the source says nothing."""
        return tuple(f for f in self.findings if f.status == LACKING)

    def __bool__(self) -> bool:
        return self.verdict == ENTAILED

    def to_json(self) -> dict[str, Any]:
        """Return what the command prints with ``--json``."""
        return {
            "claim": self.claim.id,
            "source": None if self.source is None else self.source.id,
            "verdict": self.verdict,
            "claim_text": self.claim.text,
            "source_text": None if self.source is None else self.source.text,
            "findings": [finding.to_json() for finding in self.findings],
            "certified": self.certified,
        }

    def __str__(self) -> str:
        lines = [f"{self.claim.id or 'claim'}: {self.verdict}"]
        for mark, group in (("!", self.contradicted), ("?", self.lacking)):
            for found in group:
                words = _quoted(self.claim, found.claim_characters)
                reason = f": {found.reason}" if found.reason else ""
                lines.append(f"  {mark} {found.text}{words} ({found.kind}{reason})")
        return "\n".join([*lines, f"  = {len(self.supported)} of {len(self.findings)} supported"])

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the claim, what the source does not support marked."""
        from graphconv.draw import svg  # noqa: PLC0415 - slow to import, and few need it

        return svg(self.claim, highlight=self.highlight())

    def highlight(self) -> Highlight:
        """Return the marks of a picture of the claim: what is supported, lacking, contradicted."""
        from graphconv.draw import EXTRA, MATCH, MISSING, Highlight  # noqa: PLC0415 - see above

        marks = {SUPPORTED: MATCH, LACKING: EXTRA, CONTRADICTED: MISSING}
        nodes: dict[str, str] = {}
        for status in (SUPPORTED, LACKING, CONTRADICTED):
            for found in self.findings:
                if found.status == status:
                    nodes.update(dict.fromkeys(found.claim_nodes, marks[status]))
        edges = {
            number: marks[SUPPORTED]
            for number, edge in enumerate(self.claim.edges)
            if nodes.get(edge.source) == nodes.get(edge.target) == MATCH
        }
        return Highlight(nodes, edges)


@dataclass(frozen=True)
class Prepared:
    """A graph with its statements, read once."""

    graph: Graph
    statements: Statements
    spans: dict[str, Span]
    """The characters of the nodes that stand for words; AMR's by an alignment."""


def prepare(graph: Graph) -> Prepared:
    """Read the statements of a graph; an AMR without alignments gets them."""
    located = graph
    if graph.framework == "amr" and graph.tokens:
        if not any(attribute(node.attributes, "alignment") for node in graph.nodes):
            located = replace(graph, tokens=_words(graph.text))  # nothing counts the old ones
        words = alignment.align(located).words
        nodes = [node._replace(anchors=words.get(node.id, ())) for node in graph.nodes]
        located = replace(located, nodes=tuple(nodes))
    spans = {node.id: located.span(node.id) for node in located.nodes}
    known = {node: span for node, span in spans.items() if span is not None}
    return Prepared(graph, statements(graph), known)


def _words(text: str) -> tuple[Token, ...]:
    """Cut a sentence into words and punctuation: a file without tokens is cut at blanks only."""
    return tuple(Token(found[0], span=found.span()) for found in _WORD.finditer(text))


def entails(claim: Scorable, source: Scorable, *, time_limit: float | None = None) -> Entailment:
    """Say whether *source*, one graph or the graphs of a text, says what the graph *claim* does.

    Args:
        claim: One graph, as a path, a string or a Graph.
        source: The same, or several graphs; the one that supports most decides.
        time_limit: Seconds per alignment; without it every alignment is proved to be the best.

    Raises:
        EvaluationError: There is no graph or more than one claim, or the frameworks differ.
    """
    claims, sources = _graphs(claim, "claim"), _graphs(source, "source")
    if len(claims) != 1:
        raise EvaluationError(f"claim holds {len(claims)} graphs: check one at a time")
    return check(prepare(claims[0]), [prepare(graph) for graph in sources], time_limit=time_limit)


def check(
    claim: Prepared, sources: Sequence[Prepared], *, time_limit: float | None = None
) -> Entailment:
    """Compare a claim with every graph of a text.

    It is entailed if one of them entails it. Otherwise the graph that agrees most with it decides.
    """
    best: tuple[tuple[bool, float, int], Entailment] | None = None
    for source in sources:
        if source.graph.framework != claim.graph.framework:
            message = f"the claim is {claim.graph.framework}, the source {source.graph.framework}"
            raise EvaluationError(
                f"{message}: only graphs of one framework can be compared (--framework)"
            )
        if len(sources) > 1 and not _share_a_concept(claim, source):
            continue
        found, agreement = _compare(claim, source, time_limit)
        rank = (found.verdict == ENTAILED, agreement, -len(found.lacking))
        if best is None or rank > best[0]:
            best = rank, found
        if found.verdict == ENTAILED:
            break
    return best[1] if best is not None else _nothing(claim)


def _compare(claim: Prepared, source: Prepared, limit: float | None) -> tuple[Entailment, float]:
    found = match(claim.statements, source.statements, limit)
    verdicts = list(Judge(claim.statements, source.statements, found.pairs).verdicts())
    statuses = {verdict.status for verdict in verdicts}
    verdict = NEUTRAL if LACKING in statuses else ENTAILED
    if CONTRADICTED in statuses:
        verdict = CONTRADICTED
    findings = tuple(_finding(one, claim, source) for one in verdicts)
    return Entailment(verdict, claim.graph, source.graph, findings, found.certified), found.value


def _nothing(claim: Prepared) -> Entailment:
    empty = Statements(replace(claim.graph, nodes=(), edges=(), tops=()), {})
    verdicts = list(Judge(claim.statements, empty, {}).verdicts())
    findings = tuple(_finding(one, claim, None) for one in verdicts)
    return Entailment(
        NEUTRAL if findings else ENTAILED, claim.graph, None, findings, certified=True
    )


def _share_a_concept(claim: Prepared, source: Prepared) -> bool:
    sides = claim.statements, source.statements
    words = [{*side.concepts.values(), *side.names.values()} for side in sides]
    return bool(words[0] & words[1])


def _finding(verdict: Verdict, claim: Prepared, source: Prepared | None) -> Finding:
    return Finding(
        verdict.status,
        verdict.kind,
        verdict.text,
        verdict.reason,
        _characters(claim, verdict.nodes),
        _characters(source, verdict.source_nodes) if source else (),
        verdict.nodes,
        verdict.source_nodes,
    )


def _characters(side: Prepared, nodes: Iterable[str]) -> tuple[Span, ...]:
    """Return the characters of nodes and of their values, those that touch made one."""
    every = [part for node in nodes for part in (node, *side.statements.parts.get(node, ()))]
    spans = sorted({side.spans[node] for node in every if node in side.spans})
    merged: list[Span] = []
    for start, end in spans:
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return tuple(merged)


def _quoted(graph: Graph, spans: tuple[Span, ...]) -> str:
    text = graph.text
    return f' "{" ... ".join(text[start:end] for start, end in spans)}"' if spans else ""


def _graphs(given: Scorable, side: str) -> list[Graph]:
    source = source_of(given, side)
    return [load(source.format, block, None) for block in source.blocks]
