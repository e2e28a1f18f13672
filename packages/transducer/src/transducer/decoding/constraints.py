"""What may come next in an arborescence, for all hypotheses at once.

Here is what holds for the trees of every framework: one root, a pre-order, one row of a node has
its children. What else a framework allows, a subclass in its module says. The rules only take
choices away, and where they would leave none, the end symbol remains.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from graphconv.arborescence import Row
from transducer.config import DecodeConfig
from transducer.data.trees import RelationKind, RowKind
from transducer.data.vocabularies import EOS, PAD, UNK
from transducer.decoding.hypotheses import Choice, Hypotheses
from transducer.decoding.rules import Rules


class Constraints:
    """The rules of graphs whose nodes have labels, such as AMR: an edge may lead anywhere."""

    def __init__(self, rules: Rules, settings: DecodeConfig) -> None:
        self.rules = rules
        self.unique_core_roles = settings.unique_core_roles and rules.n_core > 0
        self.limit_copies = settings.limit_copies and not rules.trees.words_are_nodes
        self.n_labels = len(rules.labels)
        self.labels = torch.ones_like(rules.label_leaf)
        self.labels[[PAD, UNK]] = False
        self.further_labels = (self.labels & ~rules.label_first).unsqueeze(0)
        self.predicted = rules.kinds >= 0
        self.kinds = rules.kinds.clamp(min=0)
        self.core = torch.where(rules.core < 0, rules.n_core, rules.core)
        self.is_core = rules.core >= 0
        self.reversed = rules.kinds == int(RelationKind.REVERSED)
        known = set(rules.kinds.tolist())
        self.has = {kind: int(kind) in known for kind in RelationKind}

    # Nodes ---------------------------------------------------------------------------------------

    def outcomes(self, hyp: Hypotheses) -> Tensor:
        """Return which outcomes are possible: (N, V + M * S + rows)."""
        label, word, copy = self.labels.unsqueeze(0), self.words(hyp), self.copies(hyp)
        if hyp.length == 0:
            label = label.clone()
            label[:, EOS] = False
            label, word = self.first(hyp, label, word)
        else:
            label, copy = self.further(hyp, self.further_labels, copy)
        possible = torch.cat([label.expand(len(hyp), -1), word, copy], 1)
        if self.limit_copies:
            offers, spent = hyp.each(hyp.sentences.offers), hyp.state.left <= 0
            possible.scatter_(1, offers, possible.gather(1, offers) & ~spent)
        ended = self.must_end(hyp)
        possible &= ~ended.unsqueeze(1)
        possible[:, EOS].logical_or_(~possible.any(1))
        return possible

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
        return hyp.fact(self.first_rows) & (hyp.rows.kind[:, 1 : hyp.length + 1] != RowKind.LEAF)

    def first_rows(self, hyp: Hypotheses) -> Tensor:
        """Return which rows are the first of their node: (N, rows)."""
        return hyp.rows.node[:, 1 : hyp.length + 1] == hyp.fact(numbers)

    # Sources -------------------------------------------------------------------------------------

    def heads(self, hyp: Hypotheses, parent: Tensor, new_word: Tensor | None) -> Tensor:
        """Return the rows that can be the head of a next row: (choices, rows 1..n)."""
        kind, is_open = hyp.rows.kind[:, 1 : hyp.length + 1], hyp.fact(self.open_rows)
        heads = hyp.of(is_open & (kind == RowKind.NODE), parent)
        if new_word is not None and self.has[RelationKind.PHRASE]:
            heads |= hyp.of(is_open & (kind == RowKind.WORD), parent) & new_word.unsqueeze(1)
        return heads

    def open_rows(self, hyp: Hypotheses) -> Tensor:
        """Return the rows on the path to the last one that are where their node's children are."""
        n = hyp.length
        rows = slice(1, n + 1)
        primary = hyp.rows.primary.gather(1, hyp.rows.node[:, rows])
        there = (primary == 0) | (primary == hyp.fact(numbers))
        there &= hyp.pairs.ancestors[:, n, rows]
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
        of_head = hyp.rows.core[choice.parent, node][:, self.core]
        of_child = hyp.rows.core[choice.parent, choice.node][:, self.core]
        return torch.where(self.reversed, of_child, of_head) & self.is_core

    # Noting a row --------------------------------------------------------------------------------

    def note(self, hyp: Hypotheses, choice: Choice, relation: Tensor, kind: Tensor) -> None:
        """Write down what the last row means for the next ones; *relation* is its kind.

        Called when the row's numbers are there; *kind* is what may hang below its node.
        """
        i, rows = hyp.length, hyp.rows
        rows.kind[:, i] = kind
        rows.link_token[:, i] = choice.token
        if self.unique_core_roles:
            source, _ = self.edge_ends(hyp, choice, relation)
            rows.core[hyp.everyone, source, self.core[rows.relation[:, i]]] = True

    def edge_ends(self, hyp: Hypotheses, choice: Choice, relation: Tensor) -> tuple[Tensor, Tensor]:
        """Return source and target of the edge of the last row: (N,) each."""
        above = hyp.rows.node[hyp.everyone, hyp.rows.head[:, hyp.length]]
        if not self.has[RelationKind.REVERSED]:
            return above, choice.node
        backwards = relation == RelationKind.REVERSED
        source = torch.where(backwards, choice.node, above)
        return source, torch.where(backwards, above, choice.node)

    # The end -------------------------------------------------------------------------------------

    def complete(self, rows: list[Row], forms: Sequence[str]) -> list[Row]:
        """Mend what a poor vocabulary left undone."""
        del forms
        return rows


def numbers(hyp: Hypotheses) -> Tensor:
    """Return the numbers of the rows: (rows,)."""
    return torch.arange(1, hyp.length + 1, device=hyp.everyone.device)
