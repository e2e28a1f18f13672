"""UCCA: passages of sentences, whose words are covered by units exactly once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from graphconv.arborescence import Row
from graphconv.conversion.labels import IMPLICIT, TERMINAL_CHILD, edge_label
from graphconv.conversion.labels import relation as plain_relation
from graphconv.graph import Graph, Token
from transducer.config import DecodeConfig
from transducer.data.trees import ELSEWHERE, RelationKind, RowKind, TreeRules, relation_kind
from transducer.data.vocabularies import EOS
from transducer.decoding.constraints import Constraints, numbers
from transducer.decoding.hypotheses import Choice, Hypotheses
from transducer.decoding.rules import Rules
from transducer.frameworks.passages import join_passages, split_passage, split_tokens
from transducer.frameworks.tasks import LONGEST, Task
from transducer.text.sentences import chunk

_INNER = (RelationKind.PHRASE, RelationKind.TERMINAL)
"""Relations of words that no further word hangs below."""


class UccaConstraints(Constraints):
    """All words come before the end, a unit gets a word, a remote node its own place; no cycles."""

    def __init__(self, rules: Rules, settings: DecodeConfig) -> None:
        super().__init__(rules, settings)
        device, inner = rules.kinds.device, _INNER
        kinds = [RowKind.LEAF if kind in inner else RowKind.WORD for kind in RelationKind]
        self.word_kinds = torch.tensor(kinds, dtype=torch.uint8, device=device)
        elsewhere = [kind in ELSEWHERE for kind in RelationKind]
        self.elsewhere = torch.tensor(elsewhere, device=device)

    def first(self, hyp: Hypotheses, label: Tensor, word: Tensor) -> tuple[Tensor, Tensor]:
        """Return which labels and words the first row can have: that of the root."""
        del hyp
        rules = self.rules  # without labels of units the root has the one of all
        root = rules.label_first if rules.label_first.any() else ~rules.label_leaf
        return label & root, torch.zeros_like(word)

    def further(self, hyp: Hypotheses, label: Tensor, copy: Tensor) -> tuple[Tensor, Tensor]:
        """Return which labels and copies a further row can have."""
        waiting, is_open, tight = map(hyp.fact, (self._waiting, self._open, self._tight))
        none_unused, none_waiting = hyp.state.used.all(1), ~waiting.any(1)
        unit = ~tight.unsqueeze(1) & (~none_unused.unsqueeze(1) | self.rules.label_leaf)
        # A unit that no word is left for still needs a child.
        unit |= (tight & is_open & none_unused).unsqueeze(1) & self.rules.label_leaf
        unit[:, EOS] = none_unused & none_waiting & ~is_open
        return label & unit, copy & (~tight.unsqueeze(1) | waiting)

    def copies(self, hyp: Hypotheses) -> Tensor:
        """Return which rows can be copied: units and their words that are not above all heads."""
        rows = slice(1, hyp.length + 1)
        is_word = hyp.rows.outcome[:, rows] >= self.n_labels
        inner = is_word & (hyp.rows.kind[:, rows] == RowKind.LEAF)
        allowed = hyp.fact(self.first_rows) & ~(inner | self._above_all_heads(hyp))
        if self.has[RelationKind.REMOTE]:
            return allowed
        return allowed & ~hyp.rows.settled[:, rows]

    def heads(self, hyp: Hypotheses, parent: Tensor, new_word: Tensor | None) -> Tensor:
        """Return the rows that can be the head of a next row: an empty unit is the only one."""
        heads = super().heads(hyp, parent, new_word)
        is_open = hyp.of(hyp.fact(self._open), parent).unsqueeze(1)
        return torch.where(is_open, hyp.fact(numbers) == hyp.length, heads)

    def barred(self, hyp: Hypotheses, choice: Choice) -> Tensor:
        """Return which heads a copied node cannot have: those that it is above."""
        heads = hyp.of(hyp.rows.node[:, 1 : hyp.length + 1], choice.parent)
        above = hyp.pairs.edges[choice.parent.unsqueeze(1), choice.node.unsqueeze(1), heads]
        return above & choice.is_copy.unsqueeze(1)

    def relation_kinds(
        self, hyp: Hypotheses, choice: Choice, head: Tensor, by_kind: Tensor
    ) -> None:
        """Mark the possible kinds of relations."""
        parent = choice.parent
        settled = hyp.rows.settled[parent, choice.node] & choice.is_copy
        phrase = hyp.rows.kind[parent, head] == RowKind.WORD
        unit = ~phrase
        by_kind[:, RelationKind.PLAIN] = unit & ~settled
        by_kind[:, RelationKind.REMOTE] = unit & ~hyp.of(hyp.fact(self._tight), parent)
        by_kind[:, RelationKind.SECONDARY] = unit & settled
        by_kind[:, RelationKind.PHRASE] = phrase
        by_kind[:, RelationKind.TERMINAL] = unit & (choice.position > 0)
        by_kind[:, RelationKind.NULL] = (head == 1) & ~(choice.is_copy | choice.is_word)

    def note(self, hyp: Hypotheses, choice: Choice, relation: Tensor, kind: Tensor) -> None:
        """Write down what the last row means for the next ones."""
        i, rows = hyp.length, hyp.rows
        super().note(
            hyp, choice, relation, torch.where(choice.is_word, self.word_kinds[relation], kind)
        )
        elsewhere = self.elsewhere[relation]
        rows.elsewhere[:, i] = elsewhere
        rows.settled[hyp.everyone, choice.node] |= ~elsewhere
        hyp.add_paths(*self.edge_ends(hyp, choice, relation))
        if hyp.traversal is None:
            return
        rows.link_token[:, i] = torch.where(
            choice.is_copy, rows.link_token[hyp.everyone, choice.node], choice.token
        )
        # A new word stands for the units above it that have none.
        above = hyp.pairs.ancestors[:, i] & (rows.link_token == 0) & (choice.position > 0)[:, None]
        rows.link_token.copy_(torch.where(above, choice.token[:, None], rows.link_token))

    def complete(self, rows: list[Row], forms: Sequence[str]) -> list[Row]:
        """Give every word and node a primary place, and every empty unit the implicit mark.

        The rules above leave nothing to do here, unless the vocabulary is too poor to follow them.
        """
        parents = {row.head for row in rows}
        placed = {row.index for row in rows if relation_kind(row.relation) not in ELSEWHERE}
        result = []
        for number, row in enumerate(rows, start=1):
            label, relation = row.label, row.relation
            if row.index == number and number not in placed:
                relation = plain_relation(edge_label(relation)[0])
            has_children = any(rows[parent - 1].index == row.index for parent in parents if parent)
            if not row.anchors and not has_children and number > 1 and not label.endswith(IMPLICIT):
                label += IMPLICIT
            result.append(row._replace(label=label, relation=relation))
        words = {row.anchors[0] for row in rows if row.anchors}
        names = zip(self.rules.relations, self.rules.kinds.tolist(), strict=True)
        plain = [name for name, kind in names if kind == RelationKind.PLAIN]
        for position in range(len(forms)):
            if position not in words:
                relation = plain[0] if plain else TERMINAL_CHILD
                result.append(Row(forms[position], len(result) + 1, 1, relation, (position,)))
        return result

    def _open(self, hyp: Hypotheses) -> Tensor:
        """Return whether the last row is a unit that still needs its first child."""
        i = hyp.length
        return (hyp.rows.kind[:, i] == RowKind.NODE) & ~hyp.rows.elsewhere[:, i]

    def _waiting(self, hyp: Hypotheses) -> Tensor:
        """Return the nodes that have only remote rows so far: (N, rows), at their first row."""
        return hyp.fact(self.first_rows) & ~hyp.rows.settled[:, 1 : hyp.length + 1]

    def _tight(self, hyp: Hypotheses) -> Tensor:
        """Return where the last rows are kept for the words and nodes that must still come.

        A node takes two: its own place, and a child. No row there makes another one necessary.
        """
        left = hyp.each(hyp.sentences.limit) - hyp.length
        return left <= (~hyp.state.used).sum(1) + 2 * hyp.fact(self._waiting).sum(1) + 2

    def _above_all_heads(self, hyp: Hypotheses) -> Tensor:
        """Return the nodes that no row can be the head of, as they are above all: (N, rows).

        The root is a head and below no other node, unless the last row is the only head there is.
        """
        n, index = hyp.length, hyp.rows.node
        head = torch.where(hyp.fact(self._open), index[:, n], index[:, min(n, 1)])
        return hyp.pairs.edges[hyp.everyone, 1 : n + 1, head]


def row_kind(label: str, relation: str, is_word: bool) -> RowKind:
    """Return what may hang below a row: only further words below a word, nothing where implicit."""
    if is_word:
        return RowKind.LEAF if relation_kind(relation) in _INNER else RowKind.WORD
    return RowKind.LEAF if label.endswith(IMPLICIT) else RowKind.NODE


class UccaTask(Task):
    """Passages are cut into sentences for the model, and joined again."""

    __slots__ = ()
    trees = TreeRules(row_kind, words_are_nodes=True, units=True)
    constraints = UccaConstraints
    metric = "ucca"
    passages = True

    @classmethod
    def sentence_graphs(cls, graph: Graph) -> Iterable[Graph]:
        """Return the graphs of the sentences of a passage."""
        return split_passage(graph)

    def parts(self, tokens: Sequence[Token]) -> Iterable[tuple[Token, ...]]:
        """Cut the tokens of a passage into those of its sentences."""
        return (p for part in split_tokens(tokens) for p in chunk(part, LONGEST))

    def joined(self, document_id: str, parts: Sequence[Graph]) -> Graph:
        """Join the graphs of sentences into a passage."""
        return join_passages(parts, id=document_id)


TASK = UccaTask
