"""From the numbers of a hypothesis to the rows of a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isinf
from typing import TYPE_CHECKING, NamedTuple

from graphconv.arborescence import Row
from transducer.decoding.hypotheses import Hypotheses
from transducer.decoding.rules import Rules

if TYPE_CHECKING:
    from torch import Tensor


PARTS = ("node", "source", "relation")
"""What is chosen for a row, in this order."""


class RunnerUp(NamedTuple):
    """What could have been chosen instead."""

    part: str
    """Of :data:`PARTS` the one that would be another."""
    row: Row
    """The row as it would be; its label is the end symbol's, if the model thought of stopping."""
    log_p: float


class Decision(NamedTuple):
    """How sure the model was of a row: the log-probability of each of its choices."""

    node: float
    """log P(v): which label, word, or earlier node."""
    source: float
    """log P(u): which head, given the node."""
    relation: float
    """log P(r): which relation, given both."""
    runners_up: tuple[RunnerUp, ...] = ()
    """The next best choices, best first for each part; only if they were asked for."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """One hypothesis for one sentence."""

    rows: tuple[Row, ...]
    score: float
    """log P(Y | X), the end symbol included."""
    row_scores: tuple[float, ...] = ()
    """log P(v) + log P(u) + log P(r) of each row."""
    decisions: tuple[Decision, ...] = ()
    """The parts of these scores; a row that rules added has none, and such rows come last."""
    alignments: tuple[tuple[float, ...], ...] = ()
    """The attention from which each row was predicted, over the tokens."""
    frames: tuple[str, ...] = ()
    """The frame of each token, where the model tells them."""


@dataclass(slots=True)
class Path:
    """A finished hypothesis as plain numbers."""

    score: float
    outcome: list[int]
    index: list[int]
    head: list[int]
    relation: list[int]
    width: int
    row_score: list[float]
    attention: Tensor  # (rows, S)
    parts: list[tuple[float, float, float]]
    """For each row log P(v), log P(u), log P(r)."""
    others: Tensor  # (rows, 3, W)
    other_scores: Tensor  # (rows, 3, W)


def take_path(hyp: Hypotheses, k: int, score: float) -> Path:
    """Return hypothesis *k* as it stands; its rows may change afterwards."""
    rows = slice(1, hyp.length + 1)
    return Path(
        score=score,
        outcome=hyp.rows.outcome[k, rows].tolist(),
        index=hyp.rows.node[k, rows].tolist(),
        head=hyp.rows.head[k, rows].tolist(),
        relation=hyp.rows.relation[k, rows].tolist(),
        width=hyp.state.used.shape[1],
        row_score=hyp.rows.score[k, rows].tolist(),
        attention=hyp.rows.attention[k, rows].clone(),
        parts=_parts(hyp, k, rows),
        others=hyp.rows.others[k, rows].clone(),
        other_scores=hyp.rows.other_scores[k, rows].clone(),
    )


def _parts(hyp: Hypotheses, k: int, rows: slice) -> list[tuple[float, float, float]]:
    node, source = hyp.rows.node_score[k, rows], hyp.rows.source_score[k, rows]
    relation = hyp.rows.score[k, rows] - node - source
    columns = (part.clamp_max(0).tolist() for part in (node, source, relation))
    return list(zip(*columns, strict=True))


class RowWriter:
    """Turns the numbers of a sentence's rows into rows."""

    def __init__(self, rules: Rules, width: int, tokens: int, offers: Sequence[str]) -> None:
        self.rules = rules
        self.width = width
        self.tokens = tokens
        self.offers = offers

    def row(self, outcome: int, index: int, head: int, relation: int) -> Row:
        """Return one row."""
        rules = self.rules
        way, token = divmod(outcome - len(rules.labels), self.width)
        if way < 0:
            return Row(rules.labels[outcome], index, head, rules.relations[relation])
        label = self.offers[way * self.tokens + token]
        anchors = (token,) if rules.trees.words_are_nodes else ()
        return Row(label, index, head, rules.relations[relation], anchors)

    def rows(self, path: Path) -> list[Row]:
        """Return all rows of a path."""
        columns = zip(path.outcome, path.index, path.head, path.relation, strict=True)
        return [self.row(*numbers) for numbers in columns]

    def last_row(self, hyp: Hypotheses, k: int) -> Row:
        """Return the last row of hypothesis *k*."""
        columns = (hyp.rows.outcome, hyp.rows.node, hyp.rows.head, hyp.rows.relation)
        return self.row(*(int(column[k, hyp.length]) for column in columns))

    def decisions(self, path: Path, rows: Sequence[Row]) -> Iterator[Decision]:
        """Yield the decisions of the rows of a path."""
        others, scores = path.others.tolist(), path.other_scores.tolist()
        for parts, numbers, log_p, row in zip(path.parts, others, scores, rows, strict=True):
            found = self._runners_up(row, numbers, log_p, lambda number: rows[number - 1])
            yield Decision(*parts, tuple(found))

    def last_decision(self, hyp: Hypotheses, k: int, row: Row) -> Decision:
        """Return the decision of *row*, the last one of hypothesis *k*."""
        i, columns = hyp.length, (hyp.rows.outcome, hyp.rows.node, hyp.rows.head, hyp.rows.relation)
        numbers, scores = hyp.rows.others[k, i].tolist(), hyp.rows.other_scores[k, i].tolist()

        def earlier(number: int) -> Row:
            return self.row(*(int(column[k, number]) for column in columns))

        [parts] = _parts(hyp, k, slice(i, i + 1))
        return Decision(*parts, tuple(self._runners_up(row, numbers, scores, earlier)))

    def _runners_up(
        self,
        row: Row,
        numbers: Sequence[Sequence[int]],
        scores: Sequence[Sequence[float]],
        earlier: Callable[[int], Row],
    ) -> Iterator[RunnerUp]:
        copies_from = len(self.rules.labels) + self.width * (len(self.offers) // self.tokens)
        for part, options, log_ps in zip(PARTS, numbers, scores, strict=True):
            for number, log_p in zip(options, log_ps, strict=True):
                if isinf(log_p):
                    continue
                if part == "source":
                    other = row._replace(head=number)
                elif part == "relation":
                    other = row._replace(relation=self.rules.relations[number])
                elif number >= copies_from:
                    node = earlier(number - copies_from + 1)
                    other = row._replace(label=node.label, index=node.index, anchors=node.anchors)
                else:
                    node = self.row(number, row.index, row.head, 0)
                    other = node._replace(relation=row.relation)
                yield RunnerUp(part, other, log_p)


def node_frames(
    rows: Sequence[Row], tokens: int, told: Sequence[tuple[str, str]]
) -> tuple[str, ...]:
    """Return the words' frames: of those *told*, a node has the best that is not none."""
    nodes = {position for row in rows for position in row.anchors}
    return tuple(frame[place in nodes] for place, frame in enumerate(told[:tokens]))
