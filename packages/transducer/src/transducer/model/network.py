"""The attention-based neural transducer of Zhang et al. (EMNLP 2019), section 4, in one file.

Shapes: B sentences, S source tokens, T decoding steps, V labels that can be generated, R relation
types, N hypotheses (B in training and greedy search, B x beam otherwise). Step i consumes relation
y_i = (u_i, d_u, r_i, v_i, d_v) and predicts v_{i+1}; step 0 consumes the begin symbol, so that step
i and row i of the arborescence have the same number.

Outcomes of a step are numbered: ``0..V-1`` the labels of the vocabulary (EOS among them), then the
source tokens (by position, or for AMR by what they offer; M ways to copy a token make M * S
places), then the preceding rows (node copy).

Teacher forcing makes the decoder LSTM independent of attention: :meth:`TransducerModel.loss` is one
LSTM call per side and large matrix products. Decoding calls the same parts one step at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from transducer.config import ModelConfig
from transducer.data.batches import Batch
from transducer.data.trees import TreeRules
from transducer.data.vocabularies import PAD, ROOT, SPECIALS, Vocabularies
from transducer.encoders.contextual import ContextualEncoder
from transducer.model.frames import Frames
from transducer.model.links import (
    Links,
    Traversal,
    by_word,
    first_of,
    of_path,
    open_rows,
    traverse,
)
from transducer.model.losses import LIKELIHOOD, Losses, LossWeights, joint_loss, log_likelihood
from transducer.model.pointer import Pointer, Trail, trail
from transducer.model.scores import Forced, NodeScores, masked_log_softmax
from transducer.model.together import Readers, Reading, Together, apart


class Encoded(NamedTuple):
    """What the decoder needs of a sentence."""

    states: Tensor  # (B, S, 2H) s_{1:n}
    keys: Tensor  # (B, S, A) the states' part of the hidden layer of MLP^(enc)
    copy_keys: Tensor  # (B, S, A) the same for the copy attention, where there is one
    mask: Tensor | None  # (B, 1, S) whether there is a token; None where there is no padding
    hidden: Tensor  # (layers, B, D) h_0 of each decoder layer
    cell: Tensor  # (layers, B, D)
    links: Tensor  # (B, S, KINDS, S) scores of pairs of words, where they are asked for
    frames: Tensor  # (B, S, F) log-probabilities of the words' frames, where they are asked for

    def select(self, sentences: Tensor) -> Encoded:
        """Return what decoding still needs of some sentences once it has begun."""
        kept = ("states", "keys", "copy_keys", "mask", "links")
        parts = {name: getattr(self, name) for name in kept}
        return self._replace(
            **{name: part[sentences] for name, part in parts.items() if part is not None}
        )


class Past(NamedTuple):
    """The rows before each step, as what can be copied and as what has been."""

    keys: Tensor  # (B, T', A) their projected z
    mask: Tensor | None  # (B, T, T') which of them precede each step; None if all do
    trail: Trail
    tokens: Tensor  # (B, T') 1 + position of their words, or 0
    traversal: Traversal | None  # where links lead from the open ones


class TransducerModel(nn.Module):
    """Encoder, decoder and the three modules of the paper."""

    def __init__(self, config: ModelConfig, vocabularies: Vocabularies, trees: TreeRules) -> None:
        super().__init__()
        self.config = config
        self.text_order = trees.text_order
        self.fixed = False
        """Whether weights stay as they are, as 8-bit ones do."""
        self._readers: Readers | None = None
        c, v = config, vocabularies
        self.encoder_embedding = EncoderEmbedding(c, v)
        self.encoder: Any = nn.LSTM(  # or an 8-bit one, see transducer.int8
            self.encoder_embedding.size,
            c.encoder_size,
            c.encoder_layers,
            batch_first=True,
            bidirectional=True,
            dropout=c.dropout if c.encoder_layers > 1 else 0.0,
        )
        states = 2 * c.encoder_size
        # The paper's decoder is as wide as both directions together; another width is projected.
        self.bridge = (
            nn.Linear(states, c.decoder_size) if states != c.decoder_size else nn.Identity()
        )
        self.node_embedding = NodeEmbedding(c, v, states)
        self.index_embedding = nn.Embedding(MAX_INDEX, c.index_size)
        self.relation_embedding = nn.Embedding(len(v.relations), c.relation_size, padding_idx=PAD)
        node = self.node_embedding.size
        self.decoder: Any = nn.LSTM(  # or an 8-bit one, too
            node + c.index_size,
            c.decoder_size,
            c.decoder_layers,
            batch_first=True,
            dropout=c.dropout if c.decoder_layers > 1 else 0.0,
        )
        self.encoder_attention = MLPAttention(c.decoder_size, states, c.attention_size)
        edge = c.relation_size + node + c.index_size
        self.ffn_relation = nn.Linear(c.decoder_size + states + edge, c.decoder_size)
        self.copy_attention = (
            MLPAttention(c.decoder_size, states, c.attention_size) if c.copy_attention else None
        )
        self.pointer = Pointer(c.decoder_size, c.pointer_reach) if c.pointer_reach else None
        self.links = Links(states, c.decoder_size, c.link_size, c.dropout) if c.link_size else None
        self.frames = (
            Frames(states, c.frame_size, len(v.frames), c.dropout)
            if c.frame_size and len(v.frames) > len(SPECIALS)
            else None
        )
        self.ffn_vocab = nn.Linear(c.decoder_size, len(v.labels))
        self.ffn_switch = nn.Linear(c.decoder_size, 3)
        self.ffn_way = nn.Linear(c.decoder_size, c.n_copy_ways) if c.n_copy_ways > 1 else None
        self.node_attention = MLPAttention(c.decoder_size, c.decoder_size, c.attention_size)
        state = c.decoder_size + (2 * states if c.anchored else 0)
        self.mlp_start = _mlp(state, c.biaffine_size, c.dropout)
        self.mlp_end = _mlp(state, c.biaffine_size, c.dropout)
        self.biaffine = Biaffine(c.biaffine_size)
        self.mlp_rel_source = _mlp(state, c.bilinear_size, c.dropout)
        self.mlp_rel_target = _mlp(state, c.bilinear_size, c.dropout)
        self.bilinear = Bilinear(c.bilinear_size, len(v.relations))
        self.dropout = nn.Dropout(c.dropout)

    # Encoder -------------------------------------------------------------------------------------

    def encode(self, batch: Batch) -> Encoded:
        """Encode the sentences: embedding module and multi-layer BiLSTM (equation 1)."""
        embedded = self.dropout(self.encoder_embedding(batch))  # (B, S, E)
        padded = isinstance(self.encoder, nn.LSTM) and not embedded.is_cuda
        run = padded_bilstm if padded else packed_bilstm
        states, hidden, cell = run(self.encoder, embedded, batch.source_mask)
        states = self.dropout(states)  # (B, S, 2H)
        frames = states.new_zeros(len(states), 0)
        if self.frames is not None:
            frames, states = self.frames(states)
        keys = self.encoder_attention.keys(states)
        copy_keys = keys if self.copy_attention is None else self.copy_attention.keys(states)
        initial = (self._initial(hidden), self._initial(cell))
        links = states.new_zeros(len(states), 0)
        if self.links is not None:
            links = self.links(states, batch.source_mask)
        mask = batch.source_mask.unsqueeze(1)
        return Encoded(states, keys, copy_keys, mask, *initial, links, frames)

    def _initial(self, final: Tensor) -> Tensor:
        """Turn the final encoder states into h_0^l = [backward s_1; forward s_n] of each layer."""
        layers, sentences = self.config.decoder_layers, final.shape[1]
        by_layer = final.view(self.config.encoder_layers, 2, sentences, -1).flip(1)
        joined = by_layer.transpose(1, 2).reshape(self.config.encoder_layers, sentences, -1)
        # More decoder than encoder layers: the upper ones start from the top of the encoder.
        rows = [min(layer, self.config.encoder_layers - 1) for layer in range(layers)]
        return self.bridge(joined[rows]).contiguous()  # (layers, B, D)

    # Decoder, one or all steps at once -------------------------------------------------------

    def step(self, inputs: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Take one step of the decoder LSTM: (N, ·), (layers, N, D) twice -> h, hidden, cell.

        Two products a layer: an LSTM call would reorder all weights for the sake of one step.
        """
        if not isinstance(self.decoder, nn.LSTM):
            return self.decoder.step(inputs, hidden, cell)
        states = []
        h = inputs
        for weights, *before in zip(self.decoder.all_weights, hidden, cell, strict=True):
            h, c = torch.lstm_cell(h, before, *weights)
            states.append((h, c))
        h_all, c_all = zip(*states, strict=True)
        return h, torch.stack(h_all), torch.stack(c_all)

    def attend(self, h: Tensor, encoded: Encoded) -> tuple[Tensor, Tensor]:
        """Return log a^(enc) (equation 5) and the context vectors c.

        Steps of a sentence in training; its hypotheses in decoding, which share what is encoded.
        """
        query = self.encoder_attention.query(h)
        scores = self.encoder_attention(query, encoded.keys)  # (B, T, S)
        log_attention = masked_log_softmax(scores, encoded.mask)
        return log_attention, log_attention.exp() @ encoded.states  # (B, T, S), (B, T, 2H)

    def relation_state(self, h: Tensor, c: Tensor, r: Tensor, u: Tensor, d_u: Tensor) -> Tensor:
        """Return z = FFN^(relation)([h; c; r; u; d_u]), equation 2."""
        parts = [h, c, self.relation_embedding(r), u, self.embed_index(d_u)]
        return self.dropout(self.ffn_relation(torch.cat(parts, dim=-1)))  # (B, T, D)

    def of_z(self) -> list[nn.Module | None]:
        """Return the layers that read z, in the order of :class:`Reading`."""
        words, pointer, links = self.copy_attention, self.pointer, self.links
        return [
            self.ffn_vocab,
            self.ffn_switch,
            self.node_attention.query,
            self.node_attention.key,
            self.ffn_way,
            words and words.query,
            pointer and pointer.distances,
            pointer and pointer.status,
            links and links.of_words,
            links and links.of_copies,
        ]

    def read(self, z: Tensor) -> Reading:
        """Return what these layers say."""
        return Reading(*apart(self.of_z())(z))

    def readers(self) -> Readers:
        """Return how decoding reads z and the states of nodes."""
        if self._readers is not None:
            return self._readers
        join = Together if self.fixed else apart
        new, row = (self.mlp_start, self.mlp_rel_target), (self.mlp_end, self.mlp_rel_source)
        readers = Readers(join(self.of_z()), *(join(mlp[0] for mlp in mlps) for mlps in (new, row)))
        if self.fixed:
            self._readers = readers
        return readers

    def score_nodes(
        self, reading: Reading, log_attention: Tensor, encoded: Encoded, past: Past
    ) -> NodeScores:
        """Return the three distributions and the switch of equations 7 to 10."""
        logits = reading.labels.float()  # probabilities need all bits, whatever the rest has
        logits[..., : len(SPECIALS)].fill_(-torch.inf)
        vocabulary = logits.log_softmax(-1)  # equation 8
        repeated = self.node_attention(reading.nodes, past.keys)
        switch = reading.switch.float()
        if self.links is not None and past.traversal is not None:
            hints = self.links.score_copies(reading.link_copies, past.traversal, past.tokens)
            repeated = repeated + hints
            switch = switch + self.links.score_end(past.traversal)
        nodes = masked_log_softmax(repeated, past.mask)  # equation 9
        if past.mask is not None:
            # Nothing can be copied before the first node: equation 10 over two sources only.
            no_node = ~past.mask.any(-1, keepdim=True)
            dec = switch[..., 2:].masked_fill(no_node, -torch.inf)
            switch = torch.cat([switch[..., :2], dec], dim=-1)
        source = log_attention
        if self.copy_attention is not None:
            query = reading.words
            by_sentence = query.reshape(len(encoded.copy_keys), -1, query.shape[-1])  # see attend
            scores = self.copy_attention(by_sentence, encoded.copy_keys)
            if self.pointer is not None:
                near = self.pointer(reading.distances, reading.status, past.trail)
                scores = scores + near.view_as(scores)
            if self.links is not None and past.traversal is not None:
                hints = self.links.score_words(reading.link_words, past.traversal)
                scores = scores + hints.view_as(scores)
            source = masked_log_softmax(scores, encoded.mask).view_as(log_attention)
        if reading.ways is not None:
            way = reading.ways.float().log_softmax(-1)
            source = (way.unsqueeze(-1) + source.unsqueeze(-2)).flatten(-2)
        return NodeScores(switch.log_softmax(-1), vocabulary, source, nodes)

    def traverse(self, encoded: Encoded, path: Tensor, tokens: Tensor, used: Tensor) -> Traversal:
        """Follow the links of the words of open rows (:func:`transducer.model.links.traverse`)."""
        return traverse(encoded.links, path, tokens, used, ordered=self.text_order)

    def link_word(self, token: Tensor, copy: Tensor, copied: Tensor, free: Tensor) -> Tensor:
        """Return the word by which a next row takes part in links, 1 + its position or 0.

        That of a new unit is not known yet: where rows follow the text, it is the first free one.
        """
        token = torch.where(copy, copied, token)
        if not self.text_order:
            return token
        return torch.where((token == 0) & ~copy, free, token)

    def node_states(self, h: Tensor, copied: Tensor, context: Tensor) -> Tensor:
        """Return what the source and relation modules score from.

        That is the LSTM state after it has consumed the node; in the anchored variant also the
        encoder state of the copied word and the context from which the node was predicted.
        """
        return torch.cat([h, copied, context], dim=-1) if self.config.anchored else h

    def embed_index(self, index: Tensor) -> Tensor:
        """Embed node indices; very long sequences share the last one."""
        return self.index_embedding(index.clamp(max=MAX_INDEX - 1))

    # Training ------------------------------------------------------------------------------------

    def loss(self, batch: Batch, weights: LossWeights = LIKELIHOOD) -> Losses:
        """Return the joint loss of section 4.3 under teacher forcing."""
        return joint_loss(self.teacher_force(batch), batch, weights)

    def forward(self, batch: Batch, weights: LossWeights = LIKELIHOOD) -> Losses:
        """Return :meth:`loss`: what data-parallel training wraps."""
        return self.loss(batch, weights)

    def log_likelihood(self, batch: Batch) -> Tensor:
        """Return log P(Y | X) of each sentence's sequence: (B,)."""
        return log_likelihood(self.teacher_force(batch), batch)

    def teacher_force(self, batch: Batch) -> Forced:
        """Score all steps of the reference sequences at once."""
        encoded = self.encode(batch)
        v = self.node_embedding(batch)  # (B, T, node size), without the copied state
        copied = gather_states(encoded.states, batch.node_tokens)  # (B, T, 2H)
        v = self.node_embedding.join(v, copied)
        d_v = self.embed_index(batch.indices)
        h, _ = self.decoder(
            self.dropout(torch.cat([v, d_v], dim=-1)), (encoded.hidden, encoded.cell)
        )
        h = self.dropout(h)  # (B, T, D) equation 3
        log_attention, c = self.attend(h, encoded)
        heads = batch.heads.unsqueeze(-1)
        u = v.gather(1, heads.expand(-1, -1, v.shape[-1]))
        d_u = batch.indices.gather(1, batch.heads)
        z = self.relation_state(h, c, batch.relations, u, d_u)
        steps = torch.arange(h.shape[1], device=h.device)
        precedes = (steps[None, :] <= steps[:, None]) & (steps[None, :] > 0)  # rows 1..i at step i
        reading = self.read(z)
        seen = trail(batch.node_tokens, batch.words.shape[1])
        traversal = None
        if self.links is not None:
            path = open_rows(batch.heads, batch.indices == steps)
            known = of_path(batch.link_rows, path) <= steps[:, None]
            words = of_path(batch.link_tokens, path) * known
            linked = encoded._replace(links=by_word(encoded.links))
            traversal = self.traverse(linked, path, words, seen.used)
        past = Past(reading.node_keys, precedes[None], seen, batch.node_tokens, traversal)
        nodes = self.score_nodes(reading, log_attention, encoded, past)
        before = functional.pad(c, (0, 0, 1, 0))[:, :-1]  # the context that predicted each node
        states = self.node_states(h, copied, before)
        scores = self.biaffine(self.mlp_start(states), self.mlp_end(states))  # (B, T, T) eq. 11
        if self.links is not None and traversal is not None:
            again = functional.pad(batch.indices, (0, 1))[:, 1:] != steps + 1
            following = functional.pad(batch.node_tokens, (0, 1))[:, 1:]
            copied_word = functional.pad(batch.link_tokens, (0, 1))[:, 1:]
            word = self.link_word(
                following, again, copied_word, first_of(~seen.used & batch.source_mask[:, None])
            )
            hints = self.links.score_sources(traversal, word, h.shape[1])
            scores = scores + functional.pad(hints, (0, 0, 1, 0))[:, :-1]
        candidates = self.source_candidates(batch)
        sources = masked_log_softmax(scores, candidates)
        rel_source = self.mlp_rel_source(states)
        rel_source = rel_source.gather(1, heads.expand(-1, -1, rel_source.shape[-1]))
        relations = self.score_relations(rel_source, self.mlp_rel_target(states))
        links = encoded.links if self.links is not None else None
        frames = encoded.frames if self.frames is not None else None
        return Forced(nodes, log_attention, sources, candidates, relations, links, frames)

    def source_candidates(self, batch: Batch) -> Tensor:
        """Return over which rows P(u) of each row is a distribution (equation 11): (B, T, T)."""
        if self.config.source_candidates == "open-path":
            return batch.candidates
        steps = torch.arange(batch.heads.shape[1], device=batch.heads.device)
        preceding = (steps[None, :] < steps[:, None]) & (steps[None, :] > 0)
        return preceding & batch.target_mask.unsqueeze(2)

    def score_relations(self, source: Tensor, target: Tensor) -> Tensor:
        """Return log P(r), equation 14, from the two MLPs' outputs."""
        logits = self.bilinear(source, target).float()
        logits[..., : ROOT + 1].fill_(-torch.inf)  # padding, unknown ones, and the root's
        return logits.log_softmax(-1)


MAX_INDEX = 500
"""Node indices from here on share an embedding."""


class EncoderEmbedding(nn.Module):
    """Concatenate the embeddings of a token; a feature of size 0 is left out."""

    def __init__(self, config: ModelConfig, vocabularies: Vocabularies) -> None:
        super().__init__()
        c, v = config, vocabularies
        sizes = {
            "words": (len(v.words), c.word_size),
            "pos": (len(v.pos), c.pos_size),
            "ner": (len(v.ner), c.ner_size),
            "dep": (len(v.dep), c.dep_size),
            "shape": (len(v.shape), c.shape_size),
            "punct": (2, c.punct_size),
            "anonymous": (2, c.anonymous_size),
        }
        self.tables = nn.ModuleDict(
            {
                name: nn.Embedding(items, size, padding_idx=PAD if items > 2 else None)
                for name, (items, size) in sizes.items()
                if size
            }
        )
        self.chars = CharCNN(c, len(v.chars)) if c.char_size else None
        self.contextual = ContextualEncoder(c) if c.contextual else None
        self.size = sum(size for _, size in sizes.values()) + c.char_size
        self.size += self.contextual.size if self.contextual is not None else 0

    def forward(self, batch: Batch) -> Tensor:
        """Embed the tokens."""
        parts = [table(getattr(batch, name)) for name, table in self.tables.items()]
        if self.chars is not None:
            parts.append(self.chars(batch.strings)[batch.tokens])
        if self.contextual is not None:
            parts.append(self.contextual(batch))
        return torch.cat(parts, dim=-1)  # (B, S, size)


class NodeEmbedding(nn.Module):
    """The decoder's u and v: word vector, CharCNN, POS; anchored: the copied word's state too."""

    def __init__(self, config: ModelConfig, vocabularies: Vocabularies, states: int) -> None:
        super().__init__()
        c, v = config, vocabularies
        self.words = nn.Embedding(len(v.nodes), c.word_size, padding_idx=PAD)
        self.pos = nn.Embedding(len(v.pos), c.pos_size, padding_idx=PAD) if c.pos_size else None
        self.chars = CharCNN(c, len(v.chars)) if c.char_size else None
        self.anchored = c.anchored
        self.own_size = c.word_size + c.pos_size + c.char_size
        self.size = self.own_size + (states if c.anchored else 0)

    def forward(self, batch: Batch) -> Tensor:
        """Embed the nodes of the reference sequences."""
        return self.embed(batch.nodes, batch.node_strings, batch.node_pos, batch.strings)

    def embed(self, nodes: Tensor, strings: Tensor, pos: Tensor, table: Tensor) -> Tensor:
        """Embed any nodes: numbers of labels, of strings in *table*, and of POS tags."""
        parts = [self.words(nodes)]
        if self.pos is not None:
            parts.append(self.pos(pos))
        if self.chars is not None:
            parts.append(self.chars(table)[strings])
        return torch.cat(parts, dim=-1)

    def join(self, embedded: Tensor, copied: Tensor) -> Tensor:
        """Add the states of the copied words, in the anchored variant."""
        return torch.cat([embedded, copied], dim=-1) if self.anchored else embedded

    def copied(self, joined: Tensor) -> Tensor:
        """Return the states that :meth:`join` added; of size 0 where it adds none."""
        return joined[..., self.own_size :]


class CharCNN(nn.Module):
    """One convolution over the characters of a string, and the maximum over positions."""

    def __init__(self, config: ModelConfig, characters: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, config.char_embedding, padding_idx=PAD)
        kernel = config.char_kernel
        self.convolution = nn.Conv1d(
            config.char_embedding, config.char_size, kernel, padding=kernel - 1
        )

    def forward(self, strings: Tensor) -> Tensor:
        """Read strings: (U, C) -> (U, channels)."""
        weight, bias = self.convolution.weight, self.convolution.bias
        assert bias is not None
        kernel = weight.shape[2]
        # An alphabet is small: each character meets each place of the kernel once, and no product
        # is left for the strings.
        tables = torch.einsum("ce,oek->kco", self.embedding.weight, weight)
        padded = functional.pad(strings, (kernel - 1, kernel - 1), value=PAD)
        length = strings.shape[1] + kernel - 1
        places = (padded[:, place : place + length] for place in range(kernel))
        convolved: Tensor = sum(  # type: ignore[assignment]
            functional.embedding(characters, table, padding_idx=PAD)
            for characters, table in zip(places, tables, strict=True)
        )  # (U, C + kernel - 1, channels)
        # Only windows that touch the string count, so that its padding changes nothing.
        windows = (strings != PAD).sum(1, keepdim=True) + kernel - 1
        outside = torch.arange(length, device=strings.device) >= windows
        longest = convolved.masked_fill(outside.unsqueeze(2), -torch.inf).amax(dim=1)
        return functional.elu(longest + bias)


class MLPAttention(nn.Module):
    """score(h, s) = w' elu(W [h; s] + b): an MLP with a hidden layer (equations 5 and 6)."""

    def __init__(self, query: int, key: int, hidden: int) -> None:
        super().__init__()
        self.query = nn.Linear(query, hidden)
        self.key = nn.Linear(key, hidden, bias=False)
        self.weight = nn.Linear(hidden, 1, bias=False)

    def keys(self, states: Tensor) -> Tensor:
        """Project the states once; each step adds its query."""
        return self.key(states)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Score every pair of what is projected: (B, T, A), (B, S, A) -> (B, T, S)."""
        hidden = functional.elu(query.unsqueeze(2) + keys.unsqueeze(1), inplace=True)
        return self.weight(hidden).squeeze(-1)


class Biaffine(nn.Module):
    """x1' U x2 + W [x1; x2] + b."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.u = nn.Parameter(torch.empty(size, size))
        self.start = nn.Linear(size, 1)
        self.end = nn.Linear(size, 1, bias=False)
        nn.init.xavier_uniform_(self.u)

    def forward(self, start: Tensor, end: Tensor) -> Tensor:
        """Score every pair: (B, T, X), (B, T', X) -> (B, T, T')."""
        return (
            start @ self.u @ end.transpose(1, 2) + self.start(start) + self.end(end).transpose(1, 2)
        )


class Bilinear(nn.Module):
    """x1' U_r x2 + b_r for every relation type r."""

    def __init__(self, size: int, relations: int) -> None:
        super().__init__()
        self.u = nn.Parameter(torch.empty(size, relations * size))
        self.bias = nn.Parameter(torch.zeros(relations))
        nn.init.normal_(self.u, std=1 / size)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Score every relation type: (..., X) twice -> (..., R)."""
        projected = (target @ self.u).unflatten(-1, (self.bias.shape[0], -1))  # (..., R, X)
        return (projected @ source.unsqueeze(-1)).squeeze(-1) + self.bias


def packed_bilstm(lstm: nn.Module, inputs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Run a BiLSTM over padded sentences: states (B, S, 2H) and final (2 * layers, B, H) twice."""
    lengths = mask.sum(1)
    # What is packed has a token; a sentence without one gets the states that it had before.
    packed = nn.utils.rnn.pack_padded_sequence(
        inputs, lengths.clamp_min(1).cpu(), batch_first=True, enforce_sorted=False
    )
    output, (hidden, cell) = lstm(packed)
    width = inputs.shape[1]
    states, _ = nn.utils.rnn.pad_packed_sequence(output, batch_first=True, total_length=width)
    is_there = (lengths > 0).unsqueeze(1)
    return states * mask.unsqueeze(-1), hidden * is_there, cell * is_there


def padded_bilstm(lstm: nn.LSTM, inputs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Do what :func:`packed_bilstm` does, several times faster on a CPU.

    A CPU has no fast LSTM for packed sequences. Here one more input, 1 at padding, shuts the input
    gate and opens the forget gate: cells keep their content, which is 0 before a sentence's end in
    the backward direction, so that padding changes nothing.
    """
    size = lstm.hidden_size
    padding = (~mask).unsqueeze(-1).to(inputs.dtype)
    gates = inputs.new_tensor([-_SHUT, _SHUT, 0.0, 0.0]).repeat_interleave(size).unsqueeze(1)
    zeros = inputs.new_zeros(2, len(inputs), size)
    last = (mask.sum(1) - 1).clamp_min(0)
    everyone = torch.arange(len(inputs), device=inputs.device)
    hidden, cells = [], []
    for layer in range(lstm.num_layers):
        weights = []
        for w_ih, *others in lstm.all_weights[2 * layer : 2 * layer + 2]:
            weights += [torch.cat([w_ih, gates], dim=1), *others]
        padded = torch.cat([inputs, padding], dim=-1)
        states, _, cell = torch.lstm(
            padded, (zeros, zeros), weights, True, 1, 0.0, lstm.training, True, True
        )
        states = states * mask.unsqueeze(-1)
        hidden += [states[everyone, last, :size], states[:, 0, size:]]
        cells.append(cell)
        inputs = functional.dropout(states, lstm.dropout, lstm.training)
    return states, torch.stack(hidden), torch.cat(cells)


def gather_states(states: Tensor, tokens: Tensor) -> Tensor:
    """Return the states of copied tokens; number 0 (no token) gives zeros: (B, T, 2H)."""
    padded = functional.pad(states, (0, 0, 1, 0))
    return padded.gather(1, tokens.unsqueeze(-1).expand(-1, -1, states.shape[-1]))


def _mlp(inputs: int, outputs: int, dropout: float) -> nn.Sequential:
    """MLP(x) = elu(W x + b)."""
    return nn.Sequential(nn.Linear(inputs, outputs), nn.ELU(), nn.Dropout(dropout))


_SHUT = 1e4  # so large that the sigmoid of it and of minus it are 1 and 0
