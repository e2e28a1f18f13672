"""Hypotheses as tensors, and the rules of :mod:`..frameworks.structure` as operations on them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from graphconv.conversion.labels import edge_label
from transducer.data.examples import characters
from transducer.data.vocabularies import EOS, PAD, UNK, Vocabularies
from transducer.frameworks.structure import (
    FIRST_LABELS,
    RelationKind,
    RowKind,
    relation_kind,
    row_kind,
)
from transducer.model.links import Traversal
from transducer.model.network import ROOT, Encoded, TransducerModel

_CORE_ROLE = re.compile(r"ARG\d+")


class Rules(NamedTuple):
    """The vocabularies as tables for the rules."""

    task: str
    label_leaf: Tensor  # (V,) labels whose rows have no children
    label_first: Tensor  # (V,) labels that only the first row can have
    label_vectors: Tensor  # (V, node size) their embeddings
    kinds: Tensor  # (R,) RelationKind of each relation; -1 for what is never predicted
    core: Tensor  # (R,) number of the core role of each relation, or -1
    n_core: int
    labels: tuple[str, ...]
    relations: tuple[str, ...]
    frames: tuple[str, ...]  # none if the model does not tell them


def make_rules(model: TransducerModel, vocabularies: Vocabularies, task: str) -> Rules:
    """Prepare the tables that every batch needs."""
    device = next(model.parameters()).device
    labels, relations = vocabularies.labels.items, vocabularies.relations.items
    kinds = [-1 if i <= ROOT else int(relation_kind(name)) for i, name in enumerate(relations)]
    roles = [edge_label(name)[0] for name in relations]
    core = sorted({role for role in roles if _CORE_ROLE.fullmatch(role)})
    leaf = [row_kind(task, label, "", is_word=False) == RowKind.LEAF for label in labels]
    return Rules(
        task=task,
        label_leaf=torch.tensor(leaf, device=device),
        label_first=torch.tensor([label in FIRST_LABELS for label in labels], device=device),
        label_vectors=_label_vectors(model, vocabularies, device),
        kinds=torch.tensor(kinds, device=device),
        core=torch.tensor([core.index(r) if r in core else -1 for r in roles], device=device),
        n_core=len(core),
        labels=labels,
        relations=relations,
        frames=() if model.frames is None else vocabularies.frames.items,
    )


def _label_vectors(model: TransducerModel, v: Vocabularies, device: torch.device) -> Tensor:
    embedding = model.node_embedding
    nodes = torch.tensor([v.nodes[label] for label in v.labels.items], device=device)
    pos = torch.full_like(nodes, UNK)
    table = characters(v.labels.items, v.chars).to(device)
    vectors = embedding.embed(nodes, torch.arange(len(nodes), device=device), pos, table)
    copied = vectors.new_zeros(len(nodes), 2 * model.config.encoder_size)
    return embedding.join(vectors, copied)


@dataclass(slots=True)
class Hypotheses:
    """The rows of N = B x beam hypotheses so far, and the decoder's state after the last one.

    Hypotheses of a sentence follow each other. Row 0 is the begin symbol. Tensors of rows have room
    for more rows than there are; what is not used yet is 0.
    """

    encoded: Encoded  # like offers and limit: per sentence, however many hypotheses it has
    offers: Tensor  # (B, M * S)
    offered: Tensor  # (B, M * S) AMR: whether a place is an outcome, the first of equal offers
    offer_vectors: Tensor  # (B, M * S, node size)
    offer_leaf: Tensor  # (B, M * S)
    limit: Tensor  # (B,) most rows
    left: Tensor  # (N, M * S) how often each offer can still be copied, where that is limited
    score: Tensor  # (N,)
    hidden: Tensor  # (layers, N, D)
    cell: Tensor
    context: Tensor  # (N, 2H) c of the last step
    attention: Tensor  # (N, S) log a^(enc) of the last step
    z: Tensor  # (N, D)
    used: Tensor  # (N, S) words that are nodes already
    last: Tensor  # (N,) 1 + position of the last of them, or 0
    vectors: Tensor  # (N, T, node size)
    node_keys: Tensor  # (N, T, A)
    ends: Tensor  # (N, T, X)
    rel_sources: Tensor  # (N, T, Y)
    index: Tensor  # (N, T)
    token: Tensor  # (N, T) 1 + position of the word that the node is or can be copied from, or 0
    link_token: Tensor  # (N, T) the same, and for a UCCA unit that of the first word below it
    head: Tensor  # (N, T)
    relation: Tensor  # (N, T)
    outcome: Tensor  # (N, T) what the row's node was when it first came
    kind: Tensor  # (N, T) RowKind
    elsewhere: Tensor  # (N, T) whether the row is remote: not its node's primary one
    primary: Tensor  # (N, T) per node: the row that has its children, or 0
    settled: Tensor  # (N, T) per node: whether it has a row that is not remote
    ancestors: Tensor  # (N, T, T) row j is on the path from the root to row i
    linked: Tensor  # (N, T, T) there is an edge from node i to node j, in UCCA a path
    core: Tensor  # (N, T, n_core) core roles of each node
    row_score: Tensor  # (N, T)
    row_attention: Tensor  # (N, T, S)
    traversal: Traversal | None = None  # (N, 1, ...) where links lead from the open rows
    beam: int = 1
    length: int = 0  # rows so far, the same for all

    def each(self, per_sentence: Tensor) -> Tensor:
        """Repeat what belongs to sentences for each of their hypotheses."""
        return per_sentence if self.beam == 1 else per_sentence.repeat_interleave(self.beam, 0)

    def select(self, keep: Tensor, sentences: Tensor | None = None) -> None:
        """Replace the hypotheses by those numbered *keep*.

        They belong to the same sentences as before, or else to those numbered *sentences*.
        """
        for name in _PER_HYPOTHESIS:
            setattr(self, name, getattr(self, name).index_select(0, keep))
        self.hidden = self.hidden.index_select(1, keep)
        self.cell = self.cell.index_select(1, keep)
        if self.traversal is not None:
            self.traversal = Traversal(*(part.index_select(0, keep) for part in self.traversal))
        used = self.length + 1
        for name in _PER_ROW:
            tensor = getattr(self, name)
            rows = tensor[:, :used].index_select(0, keep)
            if sentences is None:
                tensor[:, :used] = rows
            else:
                setattr(self, name, tensor.new_zeros(len(keep), *tensor.shape[1:]))
                getattr(self, name)[:, :used] = rows
        if sentences is not None:
            for name in _PER_SENTENCE:
                setattr(self, name, getattr(self, name).index_select(0, sentences))
            moved = {name: getattr(self.encoded, name)[sentences] for name in _OF_SENTENCE}
            self.encoded = self.encoded._replace(**moved)

    def link(self, source: Tensor, target: Tensor, is_edge: Tensor, *, paths: bool) -> None:
        """Note edges between nodes, or all *paths* that they make; a node has one to itself."""
        everyone = torch.arange(len(target), device=target.device)
        if not paths:
            self.linked[everyone, source, target] |= is_edge
            return
        self.linked[everyone, target, target] = True
        to_source = self.linked[everyone, :, source].unsqueeze(2)
        self.linked |= to_source & self.linked[everyone, target].unsqueeze(1)

    def grow(self) -> None:
        """Make room for twice as many rows."""
        for name in _PER_ROW:
            tensor = getattr(self, name)
            n, room, *rest = tensor.shape
            rest = [2 * room, *rest[1:]] if name in _ROW_BY_ROW else rest
            larger = tensor.new_zeros(n, 2 * room, *rest)
            larger[:, :room, *(slice(size) for size in tensor.shape[2:])] = tensor
            setattr(self, name, larger)


_OF_SENTENCE = ("states", "keys", "copy_keys", "mask", "links")
_PER_SENTENCE = ("offers", "offered", "offer_vectors", "offer_leaf", "limit")
_PER_HYPOTHESIS = ("score", "context", "attention", "z", "used", "last", "left")
_PER_ROW = (
    "vectors", "node_keys", "ends", "rel_sources", "index", "token", "link_token", "head",
    "relation", "outcome", "kind", "elsewhere", "primary", "settled", "ancestors", "linked", "core",
    "row_score", "row_attention",
)  # fmt: skip
_ROW_BY_ROW = ("ancestors", "linked")


class Consumed(NamedTuple):
    """What consuming a node gives: large, so it is picked only for the choices that are kept."""

    vector: Tensor  # (n, node size)
    h: Tensor  # (n, D) LSTM state after consuming it
    state: Tensor  # (n, ·) what edges are scored from
    rel_target: Tensor  # (n, Y)
    hidden: Tensor  # (layers, n, D)
    cell: Tensor


class Choice(NamedTuple):
    """A next node for some hypotheses: n of them."""

    parent: Tensor  # (n,) the hypothesis it continues
    outcome: Tensor  # (n,) outcome number
    log_p: Tensor  # (n,) log P(v)
    node: Tensor  # (n,) node index
    is_copy: Tensor  # (n,)
    is_word: Tensor  # (n,)
    position: Tensor  # (n,) 1 + position of the word, or 0
    token: Tensor  # (n,) the same for AMR and for copied nodes too
    slot: Tensor  # (n,) its place in consumed
    consumed: Consumed

    def pick(self, numbers: Tensor) -> Choice:
        """Return some of the choices, in the order of *numbers*."""
        *facts, consumed = self
        return Choice._make((*(fact.index_select(0, numbers) for fact in facts), consumed))

    def join(self, other: Choice) -> Choice:
        """Return the choices of both."""
        *facts, slot, consumed = self
        *more, other_slot, also = other
        joined = Consumed(*(torch.cat(parts, -2) for parts in zip(consumed, also, strict=True)))
        slots = torch.cat([slot, other_slot + len(consumed.h)])
        both = (torch.cat(parts) for parts in zip(facts, more, strict=True))
        return Choice._make((*both, slots, joined))


class Possible(NamedTuple):
    """Which outcomes the rules allow."""

    labels: Tensor  # (N or 1, V)
    words: Tensor  # (N, M * S)
    copies: Tensor  # (N, rows)
    ended: Tensor  # (N,) only the end is possible


class Constraints:
    """What may come next, for all hypotheses at once.

    The rules only take choices away, and where they would leave none, the end symbol remains.
    """

    def __init__(
        self, rules: Rules, *, unique_core_roles: bool = False, limit_copies: bool = False
    ) -> None:
        self.rules = rules
        self.unique = unique_core_roles
        self.limit_copies = limit_copies and rules.task == "amr"
        self.labels = len(rules.labels)
        self.bilexical = rules.task not in ("amr", "ucca")
        self.has = {kind: bool((rules.kinds == int(kind)).any()) for kind in RelationKind}

    def outcomes(self, hyp: Hypotheses) -> Possible:
        """Return which outcomes the rules allow."""
        rules, n = self.rules, hyp.length
        label = torch.ones(1, self.labels, dtype=torch.bool, device=hyp.z.device)
        label[:, [PAD, UNK]] = False
        word, copy = self._words(hyp), self._copies(hyp)
        if n == 0:
            label[:, EOS] = False
            if rules.task == "amr":  # a graph is not a constant
                label &= ~rules.label_leaf
                word = word & ~hyp.each(hyp.offer_leaf)
            elif rules.task == "ucca":  # without labels of units the root has the one of all
                label &= rules.label_first if rules.label_first.any() else ~rules.label_leaf
                word = torch.zeros_like(word)
        else:
            label &= ~rules.label_first
            if rules.task == "ucca":
                label, copy = self._ucca_possible(hyp, label, copy)
        if self.limit_copies:
            spent = self._spent(hyp)
            label, word = label & ~spent[:, : self.labels], word & ~spent[:, self.labels :]
        nothing = ~(label.any(1) | word.any(1) | copy.any(1))
        return Possible(label, word, copy, self._must_end(hyp) | nothing)

    def _must_end(self, hyp: Hypotheses) -> Tensor:
        """Return which hypotheses can get no further row."""
        must = hyp.length >= hyp.each(hyp.limit)
        if hyp.length and not bool((self.rules.kinds >= 0).any()):
            return torch.ones_like(must)
        if (
            hyp.length
            and self.bilexical
            and not (self.has[RelationKind.NULL] or self.has[RelationKind.TOP])
        ):
            must = must | (hyp.outcome[:, 1] < self.labels)  # nothing can hang below a virtual root
        return must

    def _ucca_possible(self, hyp: Hypotheses, label: Tensor, copy: Tensor) -> tuple[Tensor, Tensor]:
        """UCCA: all words come before the end, a unit gets a word, a remote node its own place."""
        waiting, is_open, tight = self._waiting(hyp), self._open(hyp), self._tight(hyp)
        none_unused, none_waiting = hyp.used.all(1), ~waiting.any(1)
        unit = ~tight.unsqueeze(1) & (~none_unused.unsqueeze(1) | self.rules.label_leaf)
        # A unit that no word is left for still needs a child.
        unit |= (tight & is_open & none_unused).unsqueeze(1) & self.rules.label_leaf
        unit[:, EOS] = none_unused & none_waiting & ~is_open
        return label & unit, copy & (~tight.unsqueeze(1) | waiting[:, 1 : hyp.length + 1])

    def _tight(self, hyp: Hypotheses) -> Tensor:
        """UCCA: return where the last rows are kept for the words and nodes that must still come.

        A node takes two: its own place, and a child. No row there makes another one necessary.
        """
        left = hyp.each(hyp.limit) - hyp.length
        return left <= (~hyp.used).sum(1) + 2 * self._waiting(hyp).sum(1) + 2

    def _words(self, hyp: Hypotheses) -> Tensor:
        """Return which offers can be copied: words once, AMR's lemmas always."""
        return hyp.each(hyp.offered) if self.rules.task == "amr" else ~hyp.used

    def _spent(self, hyp: Hypotheses) -> Tensor:
        """Return which outcomes are offers that cannot be copied any more: (N, V + M * S)."""
        spent = torch.zeros(
            len(hyp.left), self.labels + hyp.left.shape[1], dtype=torch.bool, device=hyp.z.device
        )
        return spent.scatter_(1, hyp.each(hyp.offers), hyp.left <= 0)

    def _copies(self, hyp: Hypotheses) -> Tensor:
        """Return which rows can be copied: the first row of each node that can have a second."""
        n = hyp.length
        rows = torch.arange(1, n + 1, device=hyp.index.device)
        first = hyp.index[:, 1 : n + 1] == rows
        kind = hyp.kind[:, 1 : n + 1]
        if self.rules.task == "amr":
            return first & (kind != RowKind.LEAF)
        outcome = hyp.outcome[:, 1 : n + 1]
        is_word = outcome >= self.labels
        if self.rules.task == "ucca":
            allowed = first & ~(is_word & (kind == RowKind.LEAF))
            allowed &= ~self._above_all_heads(hyp)
            return (
                allowed if self.has[RelationKind.REMOTE] else allowed & ~hyp.settled[:, 1 : n + 1]
            )
        if not n:
            return first
        everyone = torch.arange(len(first), device=first.device)
        heads = torch.zeros_like(hyp.index)
        heads.scatter_add_(1, hyp.index[:, 1 : n + 1], self.heads(hyp, everyone, None).long())
        there = hyp.linked[:, 1 : n + 1, 1 : n + 1]
        full = self._full(hyp, everyone, there, there.transpose(1, 2))
        reachable = ((heads[:, 1 : n + 1, None] > 0) & ~full).any(1)
        return first & is_word & reachable  # the virtual root is no node

    def _open(self, hyp: Hypotheses) -> Tensor:
        """UCCA: return whether the last row is a unit that still needs its first child."""
        i = hyp.length
        return (hyp.kind[:, i] == RowKind.NODE) & ~hyp.elsewhere[:, i]

    def _waiting(self, hyp: Hypotheses) -> Tensor:
        """UCCA: return the nodes that have only remote rows so far: (N, T), at their first row."""
        rows = torch.arange(hyp.index.shape[1], device=hyp.index.device)
        exists = (rows >= 1) & (rows <= hyp.length) & (hyp.index == rows)
        return exists & ~hyp.settled

    def _above_all_heads(self, hyp: Hypotheses) -> Tensor:
        """UCCA: return the nodes that no row can be the head of, as they are above all: (N, rows).

        The root is a head and below no other node, unless the last row is the only head there is.
        """
        n, everyone = hyp.length, torch.arange(len(hyp.index), device=hyp.index.device)
        head = torch.where(self._open(hyp), hyp.index[:, n], hyp.index[:, min(n, 1)])
        return hyp.linked[everyone, 1 : n + 1, head]

    def heads(self, hyp: Hypotheses, parent: Tensor, new_word: Tensor | None) -> Tensor:
        """Return the rows that can be the head of a next row: (choices, rows 1..n)."""
        n = hyp.length
        rows = slice(1, n + 1)
        numbers = torch.arange(1, n + 1, device=hyp.index.device)
        primary = hyp.primary.gather(1, hyp.index[:, rows])
        kind = hyp.kind[:, rows]
        free = hyp.ancestors[:, n, rows] & ((primary == 0) | (primary == numbers))
        free &= ~hyp.elsewhere[:, rows]
        heads = (free & (kind == RowKind.NODE))[parent]
        if new_word is not None and self.has[RelationKind.PHRASE]:
            heads |= (free & (kind == RowKind.WORD))[parent] & new_word.unsqueeze(1)
        if self.rules.task == "ucca":
            heads = torch.where(self._open(hyp)[parent].unsqueeze(1), numbers == n, heads)
        return heads

    def barred(self, hyp: Hypotheses, choice: Choice) -> Tensor:
        """Return which heads a copied node cannot have: (choices, rows).

        Bilexical: those with which it has all edges already. UCCA: those that it is above, since
        units have no cycles.
        """
        parent, node = choice.parent.unsqueeze(1), choice.node.unsqueeze(1)
        heads = hyp.index[choice.parent, 1 : hyp.length + 1]
        there, back = hyp.linked[parent, heads, node], hyp.linked[parent, node, heads]
        barred = back if self.rules.task == "ucca" else self._full(hyp, choice.parent, there, back)
        return barred & choice.is_copy.unsqueeze(1)

    def _full(self, hyp: Hypotheses, parent: Tensor, there: Tensor, back: Tensor) -> Tensor:
        """Two words have at most one edge each way; the virtual root has each top once."""
        full = there & back
        first = there[:, 0] | (not self.has[RelationKind.TOP])
        virtual = (hyp.outcome[parent, 1] < self.labels).view(-1, *[1] * (first.ndim - 1))
        full[:, 0] = torch.where(virtual, first, full[:, 0])
        return full

    def relations(self, hyp: Hypotheses, choice: Choice, head: Tensor) -> Tensor:
        """Return which relations the rules allow between head and choice: (choices, R)."""
        parent, kinds = choice.parent, self.rules.kinds
        by_kind = torch.zeros(len(head), len(RelationKind), dtype=torch.bool, device=head.device)
        node = hyp.index[parent, head]
        at_first = head == 1
        virtual = (hyp.outcome[parent, 1] < self.labels) & (self.bilexical)
        if self.rules.task == "ucca":
            settled = hyp.settled[parent, choice.node] & choice.is_copy
            phrase = hyp.kind[parent, head] == RowKind.WORD
            fresh_word = choice.position > 0
            by_kind[:, RelationKind.PLAIN] = ~settled & ~phrase
            by_kind[:, RelationKind.REMOTE] = ~phrase & ~self._tight(hyp)[parent]
            by_kind[:, RelationKind.SECONDARY] = settled & ~phrase
            by_kind[:, RelationKind.PHRASE] = phrase
            by_kind[:, RelationKind.TERMINAL] = fresh_word & ~phrase
            by_kind[:, RelationKind.NULL] = at_first & ~choice.is_copy & ~choice.is_word
        else:
            forward = hyp.linked[parent, node, choice.node] & self.bilexical
            backward = hyp.linked[parent, choice.node, node] & self.bilexical
            real = ~(virtual & at_first)
            by_kind[:, RelationKind.PLAIN] = real & ~forward
            by_kind[:, RelationKind.REVERSED] = real & ~backward
            by_kind[:, RelationKind.NULL] = at_first & ~choice.is_copy
            by_kind[:, RelationKind.TOP] = virtual & at_first
        allowed = by_kind[:, kinds.clamp(min=0)] & (kinds >= 0)
        if self.unique and self.rules.n_core:
            allowed &= ~self._repeated_roles(hyp, choice, node)
        # Where the vocabulary has no fitting relation, any will do: it is mended at the end.
        return torch.where(allowed.any(1, keepdim=True), allowed, kinds >= 0)

    def _repeated_roles(self, hyp: Hypotheses, choice: Choice, node: Tensor) -> Tensor:
        """Return the relations that would give a node a core role it has already."""
        core, kinds = self.rules.core, self.rules.kinds
        of_head = hyp.core[choice.parent, node][:, core.clamp(min=0)]
        of_child = hyp.core[choice.parent, choice.node][:, core.clamp(min=0)]
        reverse = kinds == int(RelationKind.REVERSED)
        return torch.where(reverse, of_child, of_head) & (core >= 0)
