"""Hypotheses as tensors, and the rules of :mod:`transducer.structure` as operations on them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from graphconv.conversion.labels import edge_label
from transducer.data import characters
from transducer.model import ROOT, Encoded, TransducerModel
from transducer.structure import FIRST_LABELS, RelationKind, RowKind, relation_kind, row_kind
from transducer.vocab import EOS, PAD, UNK, Vocabularies

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
    """The rows of N hypotheses so far, and the decoder's state after the last one.

    Row 0 is the begin symbol. Tensors of rows have room for all rows a sentence may get.
    """

    encoded: Encoded
    offers: Tensor  # (N, M * S)
    offer_vectors: Tensor  # (N, M * S, node size)
    offer_leaf: Tensor  # (N, M * S)
    limit: Tensor  # (N,) most rows
    score: Tensor  # (N,)
    hidden: Tensor  # (layers, N, D)
    cell: Tensor
    context: Tensor  # (N, 2H) c of the last step
    attention: Tensor  # (N, S) log a^(enc) of the last step
    z: Tensor  # (N, D)
    used: Tensor  # (N, S) words that are nodes already
    vectors: Tensor  # (N, T, node size)
    node_keys: Tensor  # (N, T, A)
    ends: Tensor  # (N, T, X)
    rel_sources: Tensor  # (N, T, Y)
    index: Tensor  # (N, T)
    head: Tensor  # (N, T)
    relation: Tensor  # (N, T)
    outcome: Tensor  # (N, T) what the row's node was when it first came
    kind: Tensor  # (N, T) RowKind
    elsewhere: Tensor  # (N, T) whether the row is remote: not its node's primary one
    primary: Tensor  # (N, T) per node: the row that has its children, or 0
    settled: Tensor  # (N, T) per node: whether it has a row that is not remote
    ancestors: Tensor  # (N, T, T) row j is on the path from the root to row i
    linked: Tensor  # (N, T, T) there is an edge from node i to node j
    core: Tensor  # (N, T, n_core) core roles of each node
    row_score: Tensor  # (N, T)
    row_attention: Tensor  # (N, T, S)
    length: int = 0  # rows so far, the same for all

    def select(self, keep: Tensor) -> None:
        """Replace the hypotheses by those numbered *keep*."""
        for name in _PER_HYPOTHESIS:
            setattr(self, name, getattr(self, name).index_select(0, keep))
        used = self.length + 1
        for name in _PER_ROW:
            tensor = getattr(self, name)
            moved = tensor.new_zeros(len(keep), *tensor.shape[1:])
            moved[:, :used] = tensor[:, :used].index_select(0, keep)
            setattr(self, name, moved)
        self.hidden = self.hidden.index_select(1, keep)
        self.cell = self.cell.index_select(1, keep)
        e = self.encoded
        moved = (e.states, e.keys, e.copy_keys, e.mask)
        states, keys, copy_keys, mask = (part.index_select(0, keep) for part in moved)
        self.encoded = Encoded(states, keys, copy_keys, mask, e.hidden, e.cell)

    def grow(self) -> None:
        """Make room for twice as many rows."""
        for name in _PER_ROW:
            tensor = getattr(self, name)
            n, room, *rest = tensor.shape
            rest = [2 * room, *rest[1:]] if name in _ROW_BY_ROW else rest
            larger = tensor.new_zeros(n, 2 * room, *rest)
            larger[:, :room, *(slice(size) for size in tensor.shape[2:])] = tensor
            setattr(self, name, larger)


_PER_HYPOTHESIS = (
    "offers", "offer_vectors", "offer_leaf", "limit", "score", "context", "attention", "z", "used",
)  # fmt: skip
_PER_ROW = (
    "vectors", "node_keys", "ends", "rel_sources", "index", "head", "relation", "outcome", "kind",
    "elsewhere", "primary", "settled", "ancestors", "linked", "core", "row_score", "row_attention",
)  # fmt: skip


_ROW_BY_ROW = ("ancestors", "linked")


class Choice(NamedTuple):
    """A next node for some hypotheses: n of them."""

    parent: Tensor  # (n,) the hypothesis it continues
    outcome: Tensor  # (n,) outcome number
    log_p: Tensor  # (n,) log P(v)
    vector: Tensor  # (n, node size)
    copied: Tensor  # (n, 2H) encoder state of the copied word
    h: Tensor  # (n, D) LSTM state after consuming it
    hidden: Tensor  # (layers, n, D)
    cell: Tensor
    state: Tensor  # (n, ·) what edges are scored from
    node: Tensor  # (n,) node index
    is_copy: Tensor  # (n,)
    is_word: Tensor  # (n,)
    position: Tensor  # (n,) 1 + position of the word, or 0


class Constraints:
    """What may come next, for all hypotheses at once.

    The rules only take choices away, and where they would leave none, the end symbol remains.
    """

    def __init__(self, rules: Rules, *, unique_core_roles: bool = False) -> None:
        self.rules = rules
        self.unique = unique_core_roles
        self.labels = len(rules.labels)
        self.bilexical = rules.task not in ("amr", "ucca")
        self.has = {kind: bool((rules.kinds == int(kind)).any()) for kind in RelationKind}

    def outcomes(self, hyp: Hypotheses) -> Tensor:
        """Return which outcomes the rules allow: (N, V + M * S + rows)."""
        rules, n = self.rules, hyp.length
        label = torch.ones(len(hyp.z), self.labels, dtype=torch.bool, device=hyp.z.device)
        label[:, [PAD, UNK]] = False
        word, copy = self._words(hyp), self._copies(hyp)
        if n == 0:
            label[:, EOS] = False
            if rules.task == "amr":  # a graph is not a constant
                label &= ~rules.label_leaf
                word = word & ~hyp.offer_leaf
            elif rules.task == "ucca":
                label &= rules.label_first
                word = torch.zeros_like(word)
        else:
            label &= ~rules.label_first
            if rules.task == "ucca":
                label, copy = self._ucca_possible(hyp, label, copy)
        end = torch.zeros_like(label)
        end[:, EOS] = True
        over = self._must_end(hyp).unsqueeze(1)
        label, word, copy = torch.where(over, end, label), word & ~over, copy & ~over
        possible = torch.cat([label, word, copy], dim=1)
        possible[:, EOS] |= ~possible.any(1)
        return possible

    def _must_end(self, hyp: Hypotheses) -> Tensor:
        """Return which hypotheses can get no further row."""
        must = hyp.length >= hyp.limit
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
        waiting = self._waiting(hyp)
        unused, n_waiting = (~hyp.used).sum(1), waiting.sum(1)
        # The last rows are kept for the words and nodes that must still come.
        tight = (hyp.limit - hyp.length <= unused + 2 * n_waiting + 2).unsqueeze(1)
        unit = ~tight & ((unused > 0).unsqueeze(1) | self.rules.label_leaf)
        unit = unit.expand(-1, self.labels).clone()
        unit[:, EOS] = (unused == 0) & (n_waiting == 0) & ~self._open(hyp)
        return label & unit, copy & (~tight | waiting[:, 1 : hyp.length + 1])

    def _words(self, hyp: Hypotheses) -> Tensor:
        """Return which offers can be copied: words once, AMR's lemmas always."""
        places = hyp.offers.shape[1]
        if self.rules.task == "amr":
            ways = places // hyp.used.shape[1]
            offered = torch.zeros(
                len(hyp.offers), self.labels + places, dtype=torch.bool, device=hyp.offers.device
            )
            offered.scatter_(1, hyp.offers, hyp.encoded.mask.repeat(1, ways))
            return offered[:, self.labels :]  # equal offers are one outcome, at the first place
        return ~hyp.used

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
            return (
                allowed if self.has[RelationKind.REMOTE] else allowed & ~hyp.settled[:, 1 : n + 1]
            )
        if not n:
            return first
        everyone = torch.arange(len(first), device=first.device)
        heads = self.heads(hyp, everyone, None).unsqueeze(2)
        reachable = (heads & ~self.full(hyp)[:, :, 1 : n + 1]).any(1)
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

    def full(self, hyp: Hypotheses) -> Tensor:
        """Bilexical: return which rows and nodes are linked as often as they can be: (N, rows, T).

        Two words have at most one edge each way; the virtual root has each top once.
        """
        nodes = hyp.index[:, 1 : hyp.length + 1, None].expand(-1, -1, hyp.linked.shape[-1])
        forward = hyp.linked.gather(1, nodes)
        full = forward & hyp.linked.transpose(1, 2).gather(1, nodes)
        virtual = (hyp.outcome[:, 1] < self.labels).unsqueeze(1)
        full[:, 0] = torch.where(
            virtual, forward[:, 0] | (not self.has[RelationKind.TOP]), full[:, 0]
        )
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
            by_kind[:, RelationKind.REMOTE] = ~phrase
            by_kind[:, RelationKind.SECONDARY] = (
                settled
                & ~hyp.ancestors[parent, head, :].gather(1, choice.node.unsqueeze(1)).squeeze(1)
                & ~phrase
            )
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
