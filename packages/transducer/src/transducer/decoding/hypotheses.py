"""Hypotheses as tensors: what is known per sentence, per hypothesis, per row, per pair of rows.

B sentences have N = B x beam hypotheses; those of a sentence follow each other. Row 0 is the begin
symbol. Tensors of rows have room for T of them, more than there are; what is not used yet is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from transducer.model.links import Traversal
from transducer.model.network import Encoded

NEVER = -torch.inf
"""The log-probability of what cannot be."""


class Sentences(NamedTuple):
    """What all hypotheses of a sentence share."""

    encoded: Encoded
    offers: Tensor  # (B, M * S) the outcome that each place is
    offered: Tensor  # (B, M * S) whether a place is an outcome, the first of equal offers
    offer_vectors: Tensor  # (B, M * S, node size)
    offer_leaf: Tensor  # (B, M * S) whether a node copied from there has no children
    kinds: Tensor  # (B, V + M * S) RowKind of what is a label or copied from there: leaf or node
    limit: Tensor  # (B,) most rows

    def select(self, numbers: Tensor) -> Sentences:
        """Return some of the sentences."""
        encoded, *others = self
        chosen = (part.index_select(0, numbers) for part in others)
        return Sentences(encoded.select(numbers), *chosen)


class Memory(NamedTuple):
    """The decoder LSTM after the last row."""

    hidden: Tensor  # (layers, N, D)
    cell: Tensor


class State(NamedTuple):
    """Where each hypothesis stands after its last row."""

    score: Tensor  # (N,) log-probability so far
    context: Tensor  # (N, 2H) c
    attention: Tensor  # (N, S) log a^(enc)
    z: Tensor  # (N, D)
    used: Tensor  # (N, S) words that are nodes already
    last: Tensor  # (N,) 1 + position of the last of them, or 0
    left: Tensor  # (N, M * S) how often each offer can still be copied, where that is limited


class Rows(NamedTuple):
    """The rows so far."""

    vectors: Tensor  # (N, T, node size)
    node_keys: Tensor  # (N, T, A)
    ends: Tensor  # (N, T, X)
    rel_sources: Tensor  # (N, T, Y)
    node: Tensor  # (N, T) node index
    token: Tensor  # (N, T) 1 + position of the word that the node is or can be copied from, or 0
    link_token: Tensor  # (N, T) the same, and for a unit that of the first word below it
    head: Tensor  # (N, T)
    relation: Tensor  # (N, T)
    outcome: Tensor  # (N, T) what the row's node was when it first came
    kind: Tensor  # (N, T) RowKind
    elsewhere: Tensor  # (N, T) whether the row is remote: not its node's primary one
    score: Tensor  # (N, T) log P(v) + log P(u) + log P(r)
    node_score: Tensor  # (N, T) log P(v)
    source_score: Tensor  # (N, T) log P(u)
    others: Tensor  # (N, T, 3, W) the runners-up: outcomes, heads, relations; W may be 0
    other_scores: Tensor  # (N, T, 3, W)
    attention: Tensor  # (N, T, S)
    primary: Tensor  # (N, T) per node: the row that has its children, or 0
    settled: Tensor  # (N, T) per node of UCCA: whether it has a row that is not remote
    core: Tensor  # (N, T, n_core + 1) per node: its core roles, and whether it has others
    path: Tensor  # (N, T, DEPTH) the row and those above it, if links are followed


class Pairs(NamedTuple):
    """What holds between rows, or between nodes at their first row."""

    ancestors: Tensor  # (N, T, T) row j is on the path from the root to row i
    edges: Tensor  # (N, T, T) of words: an edge from node i to node j; of units: a path


@dataclass(slots=True)
class Hypotheses:
    """All hypotheses of a batch; every one of them has *length* rows."""

    sentences: Sentences
    state: State
    memory: Memory
    rows: Rows
    pairs: Pairs
    traversal: Traversal | None = None  # (N, 1, ...) where links lead from the open rows
    beam: int = 1
    length: int = 0
    facts: dict[str, Tensor] = field(default_factory=dict)  # see fact
    everyone: Tensor = field(init=False)  # (N,) the numbers of the hypotheses
    positions: Tensor = field(init=False)  # (S,) 1 + position of the words

    def __post_init__(self) -> None:
        self._count()

    def __len__(self) -> int:
        return len(self.state.score)

    def _count(self) -> None:
        device = self.state.score.device
        self.everyone = torch.arange(len(self), device=device)
        self.positions = torch.arange(1, self.state.used.shape[1] + 1, device=device)

    def each(self, per_sentence: Tensor) -> Tensor:
        """Repeat what belongs to sentences for each of their hypotheses."""
        return per_sentence if self.beam == 1 else per_sentence.repeat_interleave(self.beam, 0)

    def of(self, per_hypothesis: Tensor, parent: Tensor) -> Tensor:
        """Return what belongs to some hypotheses; all of them, in greedy search, need no copy."""
        return per_hypothesis if parent is self.everyone else per_hypothesis[parent]

    def fact(self, find: Callable[[Hypotheses], Tensor]) -> Tensor:
        """Return what rules find in the hypotheses as they stand, once for each row."""
        name = find.__name__
        if name not in self.facts:
            self.facts[name] = find(self)
        return self.facts[name]

    def widen(self, beam: int) -> None:
        """Make room for *beam* hypotheses of each sentence, of which the first one exists."""
        sentences = self.everyone
        self.select(sentences.repeat_interleave(beam), sentences)
        self.beam = beam
        self.state.score[self.everyone % beam > 0] = -torch.inf

    def select(self, keep: Tensor, sentences: Tensor | None = None) -> None:
        """Replace the hypotheses by those numbered *keep*.

        They belong to the same sentences as before, or else to those numbered *sentences*.
        """
        self.state = State(*(part.index_select(0, keep) for part in self.state))
        self.memory = Memory(*(part.index_select(1, keep) for part in self.memory))
        if self.traversal is not None:
            self.traversal = Traversal(*(part.index_select(0, keep) for part in self.traversal))
        self.facts.clear()
        used = self.length + 1
        if sentences is None:
            for tensor in (*self.rows, *self.pairs):
                tensor[:, :used] = tensor[:, :used].index_select(0, keep)
            return
        self.rows = Rows(*(_kept(tensor, keep, used) for tensor in self.rows))
        self.pairs = Pairs(*(_kept(tensor, keep, used) for tensor in self.pairs))
        self.sentences = self.sentences.select(sentences)
        self._count()

    def grow(self) -> None:
        """Make room for twice as many rows."""
        self.rows = Rows(*(_doubled(tensor, 1) for tensor in self.rows))
        self.pairs = Pairs(*(_doubled(tensor, 2) for tensor in self.pairs))

    def add_paths(self, source: Tensor, target: Tensor) -> None:
        """Note all paths that edges between nodes make; a node has one to itself."""
        edges, everyone = self.pairs.edges, self.everyone
        edges[everyone, target, target] = True
        to_source = edges[everyone, :, source].unsqueeze(2)
        edges |= to_source & edges[everyone, target].unsqueeze(1)


def _kept(tensor: Tensor, keep: Tensor, used: int) -> Tensor:
    result = tensor.new_zeros(len(keep), *tensor.shape[1:])
    result[:, :used] = tensor[:, :used].index_select(0, keep)
    return result


def _doubled(tensor: Tensor, dimensions: int) -> Tensor:
    """Return a tensor with twice the room in the dimensions that come after the first."""
    n, *sizes = tensor.shape
    larger = [2 * size if i < dimensions else size for i, size in enumerate(sizes)]
    result = tensor.new_zeros(n, *larger)
    result[:, *(slice(size) for size in sizes)] = tensor
    return result


class RowScore(NamedTuple):
    """How probable a next row is: n of them."""

    total: Tensor  # (n,) log P(v) + log P(u) + log P(r)
    node: Tensor  # (n,) log P(v)
    source: Tensor  # (n,) log P(u)


class Consumed(NamedTuple):
    """What consuming a node gives: large, so it is picked only for the choices that are kept."""

    vector: Tensor  # (n, node size)
    h: Tensor  # (n, D) LSTM state after consuming it
    state: Tensor  # (n, ·) what edges are scored from
    start: Tensor  # (n, X)
    rel_target: Tensor  # (n, Y)
    hidden: Tensor  # (layers, n, D)
    cell: Tensor


class Choice(NamedTuple):
    """A next node for some hypotheses: n of them."""

    parent: Tensor  # (n,) the hypothesis it continues
    outcome: Tensor  # (n,) outcome number
    log_p: Tensor  # (n,) log P(v)
    node: Tensor  # (n,) node index
    first: Tensor  # (n,) the outcome that its node was when it first came
    is_copy: Tensor  # (n,)
    is_word: Tensor  # (n,)
    position: Tensor  # (n,) 1 + position of the word, or 0
    token: Tensor  # (n,) the same where a label is a token's, and for copied nodes too
    slot: Tensor | None  # (n,) its place in consumed; None if that is its own
    consumed: Consumed

    def pick(self, numbers: Tensor) -> Choice:
        """Return some of the choices, in the order of *numbers*."""
        *facts, slot, consumed = self
        slot = numbers if slot is None else slot.index_select(0, numbers)
        return Choice._make((*(fact.index_select(0, numbers) for fact in facts), slot, consumed))

    def taken(self, part: Tensor) -> Tensor:
        """Return what belongs to these choices of a part of what was consumed."""
        return part if self.slot is None else part.index_select(-2, self.slot)

    def join(self, other: Choice) -> Choice:
        """Return the choices of both."""
        *facts, slot, consumed = self
        *more, other_slot, also = other
        joined = Consumed(*(torch.cat(parts, -2) for parts in zip(consumed, also, strict=True)))
        assert slot is other_slot is None  # of what was just consumed
        both = (torch.cat(parts) for parts in zip(facts, more, strict=True))
        return Choice._make((*both, None, joined))
