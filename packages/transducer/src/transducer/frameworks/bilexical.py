"""DM, PAS and PSD: nodes are words, edges lead from word to word."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from graphconv.graph import Graph
from transducer.data.trees import RelationKind, RowKind, TreeRules
from transducer.decoding.constraints import Constraints
from transducer.decoding.hypotheses import Choice, Hypotheses
from transducer.frameworks.tasks import Sentence, Task


class BilexicalConstraints(Constraints):
    """Two words have at most one edge each way; the first row is a word or the virtual root."""

    def first(self, hyp: Hypotheses, label: Tensor, word: Tensor) -> tuple[Tensor, Tensor]:
        """Return which labels and words the first row can have: all."""
        del hyp
        return label, word

    def must_end(self, hyp: Hypotheses) -> Tensor:
        """Return which hypotheses can get no further row."""
        must = super().must_end(hyp)
        if hyp.length and not (self.has[RelationKind.NULL] or self.has[RelationKind.TOP]):
            must = must | hyp.fact(self._is_virtual)  # nothing can hang below a virtual root
        return must

    def copies(self, hyp: Hypotheses) -> Tensor:
        """Return which rows can be copied: words that some head has no edge with yet."""
        n, first = hyp.length, hyp.fact(self.first_rows)
        if not n:
            return first
        rows = slice(1, n + 1)
        is_word = hyp.rows.outcome[:, rows] >= self.n_labels  # the virtual root is no node
        nodes = hyp.rows.node[:, rows] * self.heads(hyp, hyp.everyone, None)  # or 0
        heads = torch.zeros_like(hyp.pairs.edges[:, 0]).scatter_(1, nodes, True)
        there = hyp.pairs.edges[:, rows, rows]
        full = self._full(hyp, hyp.everyone, there, there.transpose(1, 2))
        reachable = (heads[:, rows, None] & ~full).any(1)
        return first & is_word & reachable

    def barred(self, hyp: Hypotheses, choice: Choice) -> Tensor:
        """Return which heads a copied node cannot have: those with which it has all edges."""
        parent, node = choice.parent.unsqueeze(1), choice.node.unsqueeze(1)
        heads = hyp.of(hyp.rows.node[:, 1 : hyp.length + 1], choice.parent)
        there = hyp.pairs.edges[parent, heads, node]
        back = hyp.pairs.edges[parent, node, heads]
        return self._full(hyp, choice.parent, there, back) & choice.is_copy.unsqueeze(1)

    def relation_kinds(
        self, hyp: Hypotheses, choice: Choice, head: Tensor, by_kind: Tensor
    ) -> None:
        """Mark the possible kinds: edges that are not there yet; tops below a virtual root."""
        parent, edges = choice.parent, hyp.pairs.edges
        node = hyp.rows.node[parent, head]
        at_first = head == 1
        below_virtual = hyp.of(hyp.fact(self._is_virtual), parent) & at_first
        by_kind[:, RelationKind.PLAIN] = ~(below_virtual | edges[parent, node, choice.node])
        by_kind[:, RelationKind.REVERSED] = ~(below_virtual | edges[parent, choice.node, node])
        by_kind[:, RelationKind.NULL] = at_first & ~choice.is_copy
        by_kind[:, RelationKind.TOP] = below_virtual

    def note(self, hyp: Hypotheses, choice: Choice, relation: Tensor, kind: Tensor) -> None:
        """Write down what the last row means for the next ones: its edge."""
        super().note(hyp, choice, relation, kind)
        if hyp.length > 1:
            source, target = self.edge_ends(hyp, choice, relation)
            hyp.pairs.edges[hyp.everyone, source, target] = True

    def _is_virtual(self, hyp: Hypotheses) -> Tensor:
        """Return whether the first row is the virtual root: (N,)."""
        return hyp.rows.outcome[:, 1] < self.n_labels

    def _full(self, hyp: Hypotheses, parent: Tensor, there: Tensor, back: Tensor) -> Tensor:
        """Two words have at most one edge each way; the virtual root has each top once."""
        full = there & back
        virtual = hyp.of(hyp.fact(self._is_virtual), parent).view(-1, *[1] * (full.ndim - 2))
        below = virtual & there[:, 0] if self.has[RelationKind.TOP] else virtual
        full[:, 0].logical_or_(below)
        return full


def row_kind(label: str, relation: str, is_word: bool) -> RowKind:
    """Return what may hang below a row: anything."""
    del label, relation, is_word
    return RowKind.NODE


class BilexicalTask(Task):
    """Sentences as they are; predicates have arguments."""

    __slots__ = ()
    trees = TreeRules(row_kind, words_are_nodes=True)
    constraints = BilexicalConstraints
    metric = "sdp"

    def finished(self, graph: Graph, sentence: Sentence) -> Graph:
        """Leave out words that are no top and have no edge."""
        del sentence
        joined = {end for edge in graph.edges for end in (edge.source, edge.target)}
        kept = joined | set(graph.tops)
        return replace(graph, nodes=tuple(node for node in graph.nodes if node.id in kept))


TASK = BilexicalTask
