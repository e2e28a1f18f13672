"""From the numbers of a hypothesis to the rows of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphconv.arborescence import Row
from transducer.decoding.hypotheses import Hypotheses
from transducer.decoding.rules import Rules

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Decoded:
    """One hypothesis for one sentence."""

    rows: tuple[Row, ...]
    score: float
    """log P(Y | X), the end symbol included."""
    row_scores: tuple[float, ...] = ()
    """log P(v) + log P(u) + log P(r) of each row."""
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
    )


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


def node_frames(
    rows: Sequence[Row], tokens: int, told: Sequence[tuple[str, str]]
) -> tuple[str, ...]:
    """Return the words' frames: of those *told*, a node has the best that is not none."""
    nodes = {position for row in rows for position in row.anchors}
    return tuple(frame[place in nodes] for place, frame in enumerate(told[:tokens]))
