"""Section 4.2: the decoder, one step of one hypothesis at a time.

Step i has consumed the relations y_1 .. y_i; it gives P(v_{i+1}), and, once the LSTM has consumed a
node v_{i+1}, P(u_{i+1}) and P(r_{i+1}).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from graphconv.arborescence import Row
from reference import extensions as beyond
from reference.encoder import Encoding, encode
from reference.functions import (
    PAD,
    UNK,
    Weights,
    attention_score,
    biaffine,
    bilinear,
    char_cnn,
    ffn,
    lstm_cell,
    mlp,
    softmax,
)
from reference.grammar import open_heads
from transducer.config import ModelConfig
from transducer.data.examples import Example
from transducer.data.vocabularies import Vocabularies
from transducer.frameworks import task_of
from transducer.registry import FRAMEWORKS
from transducer.text.annotation import token_features

END = ("end", "")
ROOT = "root"


class Outcome(NamedTuple):
    """A next node: ("label", label), ("word", position), ("node", index), or the end."""

    kind: str
    value: str | int


class Slots(NamedTuple):
    """The three parts of P(v), equation 7, each with the probability of its source."""

    labels: list[float]
    words: list[float]  # way after way of copying a token
    rows: list[float]


class Consumed(NamedTuple):
    """A node that the LSTM has consumed."""

    outcome: Outcome
    label: str
    number: int  # its node index
    position: int | None
    token: int  # 1 + position of the word that it is or can be copied from, or 0
    vector: Tensor
    lstm: list[tuple[Tensor, Tensor]]
    state: Tensor  # what edges are scored from


@dataclass(frozen=True)
class Step:
    """A hypothesis after some relations; of each something, that of the begin symbol first."""

    rows: tuple[Row, ...]
    tokens: tuple[int, ...]
    vectors: tuple[Tensor, ...]
    states: tuple[Tensor, ...]
    z: tuple[Tensor, ...]
    lstm: list[tuple[Tensor, Tensor]]
    context: Tensor
    attention: list[float]


class Reference:
    """The model for one sentence."""

    def __init__(
        self,
        weights: Weights,
        config: ModelConfig,
        vocabularies: Vocabularies,
        example: Example,
        contextual: Sequence[Tensor] | None = None,
    ) -> None:
        self.w = {name: weight.double() for name, weight in weights.items()}
        self.c, self.v, self.example = config, vocabularies, example
        self.n = len(example.tokens)
        self.text_order = _framework(example) != "amr"
        self.encoded: Encoding = encode(self.w, config, vocabularies, example, contextual)
        if "frames.hidden.weight" in self.w:
            self.encoded = beyond.tell_frames(self.w, self.encoded)
        states = self.encoded.states
        self.links = beyond.link_scores(self.w, states) if config.link_size else []
        self.nothing = torch.zeros(2 * config.encoder_size, dtype=torch.float64)

    # Decoder embedding module --------------------------------------------------------------------

    def node_vector(self, label: str, number: int, token: int) -> Tensor:
        """u or v: word vector, POS and CharCNN; anchored: the copied word's state, too."""
        w, c, v = self.w, self.c, self.v
        pos = UNK
        if token:
            known = token_features(self.example.tokens[token - 1])
            pos = v.pos[known["pos"] or "<unk>"]
        parts = [w["node_embedding.words.weight"][number]]
        if c.pos_size:
            parts.append(w["node_embedding.pos.weight"][pos])
        if c.char_size:
            parts.append(char_cnn(w, "node_embedding.chars", [v.chars[x] for x in label]))
        if c.anchored:
            parts.append(self.encoded.states[token - 1] if token else self.nothing)
        return torch.cat(parts)

    def index_vector(self, index: int) -> Tensor:
        """Embed a node index; very large ones share the last embedding."""
        table = self.w["index_embedding.weight"]
        return table[min(index, len(table) - 1)]

    def edge_state(self, h: Tensor, token: int, context: Tensor) -> Tensor:
        """Return h, which the source and relation modules reuse; anchored: and what it is about."""
        if not self.c.anchored:
            return h
        return torch.cat([h, self.encoded.states[token - 1] if token else self.nothing, context])

    # Steps ---------------------------------------------------------------------------------------

    def begin(self) -> Step:
        """Consume the begin symbol."""
        begin = self.v.nodes["<begin>"]
        vector = self.node_vector("", begin, 0)
        lstm = self._lstm(self.encoded.first, vector, 0)
        state = self.edge_state(lstm[-1][0], 0, self.nothing)
        before = Step((), (), (), (), (), [], self.nothing, [])
        return self._look(before, lstm, (0, vector, state), head=0, relation=PAD)

    def consume(self, step: Step, outcome: Outcome) -> Consumed:
        """Let the LSTM consume v_{i+1} (equation 3), whose index d_v is its antecedent's or new."""
        number, position = len(step.rows) + 1, None
        if outcome.kind == "node":
            first = int(outcome.value)
            row = step.rows[first - 1]
            label, index, token = row.label, first, step.tokens[first]
            position = row.anchors[0] if row.anchors else None
        elif outcome.kind == "word":
            position, index = int(outcome.value), number
            label, token = self.example.tokens[position].form, position + 1
        else:
            label, index = str(outcome.value), number
            token = next((t + 1 for _, t, offer in self.offers() if offer == label), 0)
        vector = self.node_vector(label, self.v.nodes[label], token)
        lstm = self._lstm(step.lstm, vector, index)
        state = self.edge_state(lstm[-1][0], token, step.context)
        return Consumed(outcome, label, index, position, token, vector, lstm, state)

    def advance(self, step: Step, node: Consumed, head: int, relation: str) -> Step:
        """Complete the relation y_{i+1}, and form z."""
        anchors = () if node.position is None else (node.position,)
        row = Row(node.label, node.number, head, relation, anchors)
        longer = replace(step, rows=(*step.rows, row))
        own = (node.token, node.vector, node.state)
        return self._look(longer, node.lstm, own, head, self.v.relations[relation])

    def _lstm(
        self, before: Sequence[tuple[Tensor, Tensor]], vector: Tensor, index: int
    ) -> list[tuple[Tensor, Tensor]]:
        x = torch.cat([vector, self.index_vector(index)])  # h^0 = [v; d_v]
        after = []
        for layer, state in enumerate(before):
            after.append(lstm_cell(self.w, "decoder", f"l{layer}", x, state))
            x = after[-1][0]
        return after

    def _look(
        self,
        step: Step,
        lstm: list[tuple[Tensor, Tensor]],
        own: tuple[int, Tensor, Tensor],
        head: int,
        relation: int,
    ) -> Step:
        """Attend to the sentence (equations 5 and 6), and combine all in z (equation 2)."""
        h = lstm[-1][0]
        token, vector, state = own
        attention = softmax(
            [attention_score(self.w, "encoder_attention", h, s) for s in self.encoded.states]
        )
        context = self.nothing
        for a, s in zip(attention, self.encoded.states, strict=True):
            context = context + a * s
        vectors = (*step.vectors, vector)
        d_u = step.rows[head - 1].index if head else 0
        edge = [self.w["relation_embedding.weight"][relation], vectors[head]]
        z = ffn(self.w, "ffn_relation", torch.cat([h, context, *edge, self.index_vector(d_u)]))
        return Step(
            rows=step.rows,
            tokens=(*step.tokens, token),
            vectors=vectors,
            states=(*step.states, state),
            z=(*step.z, z),
            lstm=lstm,
            context=context,
            attention=attention,
        )

    # Target node module --------------------------------------------------------------------------

    def offers(self) -> list[tuple[int, int, str]]:
        """Return (way, token, label) of everything that AMR's tokens offer, way after way."""
        ways = len(self.example.offers[0]) if self.example.offers else 0
        return [(m, t, self.example.offers[t][m]) for m in range(ways) for t in range(self.n)]

    def slots(self, step: Step) -> Slots:
        """Equations 7 to 10: three distributions, each times the probability of its source."""
        w, z, rows = self.w, step.z[-1], len(step.rows)
        scores = ffn(w, "ffn_vocab", z).tolist()
        scores[PAD] = scores[UNK] = -math.inf
        vocabulary = softmax(scores)
        to_rows = [attention_score(w, "node_attention", z, step.z[j]) for j in range(1, rows + 1)]
        sources = ffn(w, "ffn_switch", z).tolist()
        open_rows, ends = self._follow_links(step)
        if self.links:
            for j in range(rows):
                to_rows[j] += beyond.of_copy(w, z, open_rows, step.tokens[j + 1])
            hint = ffn(w, "links.of_end", torch.tensor(ends, dtype=z.dtype)).tolist()
            sources = [score + x for score, x in zip(sources, hint, strict=True)]
        if not rows:
            sources[2] = -math.inf  # nothing to copy
        gen, enc, dec = softmax(sources)
        words = self._source_attention(step, open_rows)
        if self.c.n_copy_ways > 1:
            words = [p * a for p in softmax(ffn(w, "ffn_way", z).tolist()) for a in words]
        return Slots(
            [gen * p for p in vocabulary],
            [enc * p for p in words],
            [dec * p for p in softmax(to_rows)],
        )

    def _source_attention(self, step: Step, open_rows: list[beyond.OpenRow]) -> list[float]:
        """a^(enc): the paper copies with the attention of the context."""
        if not self.c.copy_attention:
            return step.attention
        z = step.z[-1]
        scores = [attention_score(self.w, "copy_attention", z, s) for s in self.encoded.states]
        last, used = self._trail(step)
        hints = []
        if self.c.pointer_reach:
            reach = self.c.pointer_reach
            hints.append(beyond.point(self.w, z, reach=reach, last=last, used=used, tokens=self.n))
        if self.links:
            hints.append(beyond.of_words(self.w, z, open_rows))
        for hint in hints:
            scores = [score + x for score, x in zip(scores, hint, strict=True)]
        return softmax(scores)

    def _trail(self, step: Step) -> tuple[int, set[int]]:
        """Return the last word that became a node, and all of them, from 1."""
        words = [token for token in step.tokens if token]
        return (words[-1] if words else 0), set(words)

    def _follow_links(self, step: Step) -> tuple[list[beyond.OpenRow], list[float]]:
        if not self.links:
            return [], []
        assert _framework(self.example) != "ucca", (
            "no shipped recipe has links between UCCA's words"
        )
        number = len(step.rows)
        if number and step.rows[number - 1].index != number:
            number = step.rows[number - 1].head  # a copy has no children
        path = []
        while number:
            path.append((number, step.tokens[number]))
            number = step.rows[number - 1].head
        _, used = self._trail(step)
        return beyond.traverse(self.links, path, used, ordered=self.text_order)

    def next_nodes(self, step: Step) -> dict[Outcome, float]:
        """P(v_{i+1}): ways to the same outcome add up, and so do the rows of one node."""
        slots = self.slots(step)
        result: dict[Outcome, float] = {}

        def add(outcome: Outcome, p: float) -> None:
            result[outcome] = result.get(outcome, 0.0) + p

        for number, (label, p) in enumerate(zip(self.v.labels.items, slots.labels, strict=True)):
            if number not in (PAD, UNK):
                add(Outcome(*END) if label == "<end>" else Outcome("label", label), p)
        offered = self.offers()
        for place, p in enumerate(slots.words):
            add(Outcome("label", offered[place][2]) if offered else Outcome("word", place), p)
        for row, p in zip(step.rows, slots.rows, strict=True):
            add(Outcome("node", row.index), p)
        return result

    # Source node module and relation type module -------------------------------------------------

    def next_sources(self, step: Step, node: Consumed) -> dict[int, float]:
        """P(u_{i+1}), equation 11: over all preceding nodes, or over those that are open."""
        rows = range(1, len(step.rows) + 1)
        new_word = node.outcome.kind == "word"
        if self.c.source_candidates == "open-path":
            rows_open = open_heads(_framework(self.example), step.rows, new_word=new_word)
            candidates = [j for j in rows if j in rows_open]
        else:
            candidates = list(rows)
        start = mlp(self.w, "mlp_start", node.state)
        scores = [
            biaffine(self.w, "biaffine", start, mlp(self.w, "mlp_end", step.states[j]))
            for j in candidates
        ]
        if self.links:
            open_rows, _ = self._follow_links(step)
            token = node.token
            if not token and node.outcome.kind != "node" and self.text_order:
                _, used = self._trail(step)
                token = next((t for t in range(1, self.n + 1) if t not in used), 0)
            hints = [beyond.of_source(self.w, open_rows, token, j) for j in candidates]
            scores = [score + hint for score, hint in zip(scores, hints, strict=True)]
        return dict(zip(candidates, softmax(scores), strict=True))

    def next_relations(self, step: Step, node: Consumed, head: int) -> dict[str, float]:
        """P(r_{i+1}), equation 14, given the source; the root's relation is never predicted."""
        source = mlp(self.w, "mlp_rel_source", step.states[head])
        target = mlp(self.w, "mlp_rel_target", node.state)
        scores = bilinear(self.w, "bilinear", source, target).tolist()
        names = self.v.relations.items
        known = [i for i in range(len(names)) if i not in (PAD, UNK) and names[i] != ROOT]
        return dict(
            zip((names[i] for i in known), softmax([scores[i] for i in known]), strict=True)
        )


def _framework(example: Example) -> str:
    """Return the framework whose trees an example has; DM stands for PAS and PSD."""
    return next(name for name in FRAMEWORKS if task_of(name).trees is example.trees)
