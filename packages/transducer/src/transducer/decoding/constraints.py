"""What may come next in an arborescence, for all hypotheses at once.

Here is what holds for the trees of every framework: one root, a pre-order, one row of a node has
its children. What else a framework allows, a subclass in its module says. The rules only take
choices away, and where they would leave none, the end symbol remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from graphconv.arborescence import Row
from transducer.config import DecodeConfig
from transducer.data.trees import RelationKind, RowKind
from transducer.data.vocabularies import EOS, PAD, UNK
from transducer.decoding.hypotheses import Choice, Hypotheses
from transducer.decoding.rules import Rules


class Possible(NamedTuple):
    """Which outcomes the rules allow."""

    labels: Tensor  # (N or 1, V)
    words: Tensor  # (N, M * S)
    copies: Tensor  # (N, rows)
    ended: Tensor  # (N,) only the end is possible


class Constraints:
    """The rules of graphs whose nodes have labels, such as AMR: an edge may lead anywhere."""

    def __init__(self, rules: Rules, settings: DecodeConfig) -> None:
        self.rules = rules
        self.unique_core_roles = settings.unique_core_roles and rules.n_core > 0
        self.limit_copies = settings.limit_copies and not rules.trees.words_are_nodes
        self.n_labels = len(rules.labels)
        self.labels = torch.ones_like(rules.label_leaf)
        self.labels[[PAD, UNK]] = False
        self.predicted = rules.kinds >= 0
        self.kinds = rules.kinds.clamp(min=0)
        known = set(rules.kinds.tolist())
        self.has = {kind: int(kind) in known for kind in RelationKind}

    # Nodes ---------------------------------------------------------------------------------------

    def outcomes(self, hyp: Hypotheses) -> Possible:
        """Return which outcomes are possible."""
        label, word, copy = self.labels.unsqueeze(0), self.words(hyp), self.copies(hyp)
        if hyp.length == 0:
            label = label.clone()
            label[:, EOS] = False
            label, word = self.first(hyp, label, word)
        else:
            label, copy = self.further(hyp, label & ~self.rules.label_first, copy)
        if self.limit_copies:
            spent = self._spent(hyp)
            label, word = label & ~spent[:, : self.n_labels], word & ~spent[:, self.n_labels :]
        nothing = ~(label.any(1) | word.any(1) | copy.any(1))
        return Possible(label, word, copy, self.must_end(hyp) | nothing)

    def first(self, hyp: Hypotheses, label: Tensor, word: Tensor) -> tuple[Tensor, Tensor]:
        """Return which labels and offers the first row can have."""
        # The root of a graph is not a constant.
        leaf = hyp.each(hyp.sentences.offer_leaf)
        return label & ~self.rules.label_leaf, word & ~leaf

    def further(self, hyp: Hypotheses, label: Tensor, copy: Tensor) -> tuple[Tensor, Tensor]:
        """Return which labels and copies a further row can have."""
        del hyp
        return label, copy

    def must_end(self, hyp: Hypotheses) -> Tensor:
        """Return which hypotheses can get no further row."""
        must = hyp.length >= hyp.each(hyp.sentences.limit)
        if hyp.length and not any(self.has.values()):
            return torch.ones_like(must)
        return must

    def words(self, hyp: Hypotheses) -> Tensor:
        """Return which offers can be copied: words that are nodes once, labels always."""
        if self.rules.trees.words_are_nodes:
            return ~hyp.state.used
        return hyp.each(hyp.sentences.offered)

    def copies(self, hyp: Hypotheses) -> Tensor:
        """Return which rows can be copied: the first row of each node that can have a second."""
        return self.first_rows(hyp) & (hyp.rows.kind[:, 1 : hyp.length + 1] != RowKind.LEAF)

    def first_rows(self, hyp: Hypotheses) -> Tensor:
        """Return which rows are the first of their node: (N, rows)."""
        numbers = torch.arange(1, hyp.length + 1, device=hyp.rows.node.device)
        return hyp.rows.node[:, 1 : hyp.length + 1] == numbers

    def _spent(self, hyp: Hypotheses) -> Tensor:
        """Return which outcomes are offers that cannot be copied any more: (N, V + M * S)."""
        left = hyp.state.left
        spent = torch.zeros(
            len(left), self.n_labels + left.shape[1], dtype=torch.bool, device=left.device
        )
        return spent.scatter_(1, hyp.each(hyp.sentences.offers), left <= 0)

    # Sources -------------------------------------------------------------------------------------

    def heads(self, hyp: Hypotheses, parent: Tensor, new_word: Tensor | None) -> Tensor:
        """Return the rows that can be the head of a next row: (choices, rows 1..n)."""
        if hyp.open is None:
            hyp.open = self.open_rows(hyp)
        kind = hyp.rows.kind[:, 1 : hyp.length + 1]
        heads = (hyp.open & (kind == RowKind.NODE))[parent]
        if new_word is not None and self.has[RelationKind.PHRASE]:
            heads |= (hyp.open & (kind == RowKind.WORD))[parent] & new_word.unsqueeze(1)
        return heads

    def open_rows(self, hyp: Hypotheses) -> Tensor:
        """Return the rows on the path to the last one that are where their node's children are."""
        n = hyp.length
        rows = slice(1, n + 1)
        numbers = torch.arange(1, n + 1, device=hyp.rows.node.device)
        primary = hyp.rows.primary.gather(1, hyp.rows.node[:, rows])
        there = hyp.pairs.ancestors[:, n, rows] & ((primary == 0) | (primary == numbers))
        return there & ~hyp.rows.elsewhere[:, rows]

    def barred(self, hyp: Hypotheses, choice: Choice) -> Tensor:
        """Return which heads a copied node cannot have: (choices or 1, rows or 1)."""
        del hyp
        return torch.zeros(1, 1, dtype=torch.bool, device=choice.log_p.device)

    # Relations -----------------------------------------------------------------------------------

    def relations(self, hyp: Hypotheses, choice: Choice, head: Tensor) -> Tensor:
        """Return which relations are possible between head and choice: (choices, R)."""
        by_kind = torch.zeros(len(head), len(RelationKind), dtype=torch.bool, device=head.device)
        self.relation_kinds(hyp, choice, head, by_kind)
        allowed = by_kind[:, self.kinds] & self.predicted
        if self.unique_core_roles:
            allowed &= ~self._repeated_roles(hyp, choice, hyp.rows.node[choice.parent, head])
        # Where the vocabulary has no fitting relation, any will do: it is mended at the end.
        return torch.where(allowed.any(1, keepdim=True), allowed, self.predicted)

    def relation_kinds(
        self, hyp: Hypotheses, choice: Choice, head: Tensor, by_kind: Tensor
    ) -> None:
        """Mark the possible kinds of relations in *by_kind*: (choices, kinds)."""
        del hyp
        by_kind[:, [RelationKind.PLAIN, RelationKind.REVERSED]] = True
        by_kind[:, RelationKind.NULL] = (head == 1) & ~choice.is_copy

    def _repeated_roles(self, hyp: Hypotheses, choice: Choice, node: Tensor) -> Tensor:
        """Return the relations that would give a node a core role it has already."""
        core, kinds = self.rules.core, self.rules.kinds
        of_head = hyp.rows.core[choice.parent, node][:, core.clamp(min=0)]
        of_child = hyp.rows.core[choice.parent, choice.node][:, core.clamp(min=0)]
        reverse = kinds == int(RelationKind.REVERSED)
        return torch.where(reverse, of_child, of_head) & (core >= 0)

    # Noting a row --------------------------------------------------------------------------------

    def note(self, hyp: Hypotheses, choice: Choice, relation: Tensor, leaf: Tensor) -> None:
        """Write down what the last row means for the next ones; *relation* is its kind.

        Called when the row's numbers are there, and its node is known to be a *leaf* or not.
        """
        i, rows, everyone = hyp.length, hyp.rows, hyp.everyone
        rows.kind[:, i] = torch.where(leaf, int(RowKind.LEAF), int(RowKind.NODE))
        rows.settled[everyone, choice.node] = True
        self.note_edge(hyp, choice, relation)
        rows.link_token[:, i] = torch.where(
            choice.is_copy, rows.link_token[everyone, choice.node], choice.token
        )

    def note_edge(self, hyp: Hypotheses, choice: Choice, relation: Tensor) -> None:
        """Write down the edge that the last row stands for."""
        source, target, is_edge = edge_ends(hyp, choice, relation)
        hyp.add_edge(source, target, is_edge)

    # The end -------------------------------------------------------------------------------------

    def complete(self, rows: list[Row], forms: Sequence[str]) -> list[Row]:
        """Mend what a poor vocabulary left undone."""
        del forms
        return rows


def edge_ends(hyp: Hypotheses, choice: Choice, relation: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return source and target of the edge of the last row, and whether it has one: (N,) each."""
    head = hyp.rows.head[:, hyp.length]
    above = hyp.rows.node[hyp.everyone, head]
    reverse = relation == RelationKind.REVERSED
    source = torch.where(reverse, choice.node, above)
    target = torch.where(reverse, above, choice.node)
    return source, target, head > 0
