"""One step of decoding, for all hypotheses of a batch at once.

Greedy and beam search take the same steps: which nodes may come next (:meth:`Steps.outcomes`), what
the decoder knows after consuming one (:meth:`Steps.consume`), from which row an edge leads to it
(:meth:`Steps.sources`) and which (:meth:`Steps.relations`); then the row is there
(:meth:`Steps.append`). Scores are the model's own log-probabilities, never renormalized.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from transducer.config import DecodeConfig
from transducer.data.batches import Batch
from transducer.data.examples import Item
from transducer.data.trees import RowKind
from transducer.data.vocabularies import ROOT
from transducer.decoding.hypotheses import (
    NEVER,
    Choice,
    Consumed,
    Hypotheses,
    Memory,
    Pairs,
    Rows,
    RowScore,
    Sentences,
    State,
)
from transducer.decoding.rules import Rules
from transducer.decoding.runners_up import next_best
from transducer.model.links import DEPTH, Traversal, below, by_word, first_of, of_path
from transducer.model.network import Encoded, Past, TransducerModel
from transducer.model.pointer import Trail
from transducer.model.scores import TINY, outcome_probabilities
from transducer.model.together import Reading

ROWS_PER_TOKEN = 3
EXTRA_ROWS = 20
"""A sentence of n tokens gets at most ROWS_PER_TOKEN * n + EXTRA_ROWS rows."""

_IMPOSSIBLE = -1.0  # instead of a probability
_FIRST_ROOM = 16


class Steps:
    """The steps of decoding with one model."""

    def __init__(
        self,
        model: TransducerModel,
        rules: Rules,
        settings: DecodeConfig,
        runners_up: int = 0,
    ) -> None:
        self.model = model
        self.rules = rules
        self.runners_up = runners_up
        """How many of the next best choices are remembered of each node, source and relation."""
        self.constraints = rules.constraints(rules, settings)
        self.n_labels = len(rules.labels)
        self.read = model.readers()

    # What may come next --------------------------------------------------------------------------

    def outcomes(self, hyp: Hypotheses, best: int) -> tuple[Tensor, Tensor]:
        """Return log P(v) and numbers of the *best* outcomes of each hypothesis: (N, best) twice.

        Impossible ones are at -inf.
        """
        n, state, of_rows = hyp.length, hyp.state, hyp.rows
        rows = slice(1, n + 1)
        reading = Reading(*self.read.z(state.z.unsqueeze(1)))
        of_rows.node_keys[:, n] = reading.node_keys.squeeze(1)
        past = Past(
            of_rows.node_keys[:, rows],
            None if n else torch.ones(1, 1, 0, dtype=torch.bool, device=state.z.device),
            Trail(state.last.unsqueeze(1), state.used.unsqueeze(1)),
            of_rows.token[:, rows],
            hyp.traversal,
        )
        encoded = hyp.sentences.encoded
        scores = self.model.score_nodes(reading, state.attention.unsqueeze(1), encoded, past)
        offers = hyp.each(hyp.sentences.offers)
        p = outcome_probabilities(scores, offers, of_rows.node[:, rows]).squeeze(1)
        p.masked_fill_(~self.constraints.outcomes(hyp), _IMPOSSIBLE)
        top, outcome = p.max(1, keepdim=True) if best == 1 else p.topk(min(best, p.shape[1]))
        return top.clamp_min(TINY).log().masked_fill(top < 0, NEVER), outcome

    def consume(self, hyp: Hypotheses, parent: Tensor, outcome: Tensor, log_p: Tensor) -> Choice:
        """Let the LSTM consume next nodes."""
        model, sentences, rows = self.model, hyp.sentences, hyp.rows
        copies_from = self.n_labels + sentences.offers.shape[1]
        is_copy = outcome >= copies_from
        copied_row = (outcome - (copies_from - 1)).clamp(min=0)
        sentence = parent if hyp.beam == 1 else parent // hyp.beam
        # A label that a token offers too counts as copied from the first such token.
        offered = hyp.of(sentences.offers, sentence) == outcome.unsqueeze(1)
        from_token, place = offered.max(1)
        token = (place % hyp.state.used.shape[1] + 1) * from_token
        label = self.rules.label_vectors[outcome.clamp(max=self.n_labels - 1)]
        vector = torch.where(
            from_token.unsqueeze(1), sentences.offer_vectors[sentence, place], label
        )
        vector = torch.where(is_copy.unsqueeze(1), rows.vectors[parent, copied_row], vector)
        index = torch.where(is_copy, rows.node[parent, copied_row], hyp.length + 1)
        inputs = torch.cat([vector, model.embed_index(index)], dim=-1)
        memory = hyp.memory
        if parent is not hyp.everyone:
            memory = Memory(*(part[:, parent] for part in memory))
        h, hidden, cell = model.step(inputs, *memory)
        copied = model.node_embedding.copied(vector)
        state = model.node_states(h, copied, hyp.of(hyp.state.context, parent))
        first = torch.where(is_copy, rows.outcome[parent, copied_row], outcome)
        if self.rules.trees.words_are_nodes:
            position, is_word = token, first >= self.n_labels
        else:
            position, is_word = torch.zeros_like(token), torch.zeros_like(is_copy)
        start, rel_target = _hidden(self.read.new(state))
        consumed = Consumed(vector, h, state, start, rel_target, hidden, cell)
        token = torch.where(is_copy, rows.token[parent, copied_row], token)
        return Choice(
            parent, outcome, log_p, index, first, is_copy, is_word, position, token, None, consumed
        )

    def sources(self, hyp: Hypotheses, choice: Choice) -> Tensor:
        """Return log P(u) over rows 1..n, forbidden heads at -inf: (choices, max(n, 1))."""
        model, n, parent = self.model, hyp.length, choice.parent
        if n == 0:
            return choice.log_p.new_zeros(len(parent), 1)
        start = choice.taken(choice.consumed.start).unsqueeze(1)
        scores = model.biaffine(start, hyp.of(hyp.rows.ends[:, 1 : n + 1], parent)).squeeze(1)
        if model.links is not None and hyp.traversal is not None:
            seen = Traversal(*(hyp.of(part, parent) for part in hyp.traversal))
            copied, free = hyp.rows.link_token[parent, choice.node], first_of(~hyp.state.used)
            word = model.link_word(choice.token, choice.is_copy, copied, hyp.of(free, parent))
            hints = model.links.score_sources(seen, word.unsqueeze(1), n + 1)
            scores = scores + hints[:, 0, 1:]
        closed = ~self.constraints.heads(hyp, parent, choice.position > 0)
        if model.config.source_candidates == "open-path":
            scores = scores.masked_fill(closed, -1e9)
        closed |= self.constraints.barred(hyp, choice)
        return scores.log_softmax(-1).masked_fill(closed, NEVER)

    def relations(self, hyp: Hypotheses, choice: Choice, head: Tensor) -> Tensor:
        """Return log P(r), forbidden relations at -inf: (choices, R)."""
        if hyp.length == 0:
            result = choice.log_p.new_full((len(head), len(self.rules.relations)), NEVER)
            result[:, ROOT] = 0.0
            return result
        source = hyp.rows.rel_sources[choice.parent, head]
        log_p = self.model.score_relations(source, choice.taken(choice.consumed.rel_target))
        return log_p.masked_fill_(~self.constraints.relations(hyp, choice, head), NEVER)

    # Taking a step -------------------------------------------------------------------------------

    def append(
        self, hyp: Hypotheses, choice: Choice, head: Tensor, relation: Tensor, score: RowScore
    ) -> None:
        """Add one row to each chosen hypothesis."""
        others = next_best(self, hyp, choice, head, relation) if self.runners_up else None
        if hyp.beam > 1:
            hyp.select(choice.parent)
        hyp.length += 1
        hyp.facts.clear()
        i = hyp.length
        if i + 1 == hyp.rows.node.shape[1]:  # rules ask about the next row, too
            hyp.grow()
        rows, everyone, consumed = hyp.rows, hyp.everyone, choice.consumed
        rows.outcome[:, i], rows.node[:, i] = choice.first, choice.node
        rows.head[:, i], rows.relation[:, i] = head, relation
        rows.token[:, i] = choice.token
        rows.score[:, i], rows.attention[:, i] = score.total, hyp.state.attention.exp()
        rows.node_score[:, i], rows.source_score[:, i] = score.node, score.source
        if others is not None:
            rows.others[:, i], rows.other_scores[:, i] = others
        rows.vectors[:, i] = choice.taken(consumed.vector)
        rows.ends[:, i], rows.rel_sources[:, i] = _hidden(
            self.read.row(choice.taken(consumed.state))
        )
        if i > 1:
            rows.primary[everyone, rows.node[everyone, head]] = head
        hyp.pairs.ancestors[:, i] = hyp.pairs.ancestors[everyone, head]
        hyp.pairs.ancestors[:, i, i].fill_(True)
        sentence = everyone if hyp.beam == 1 else everyone // hyp.beam
        kind = hyp.sentences.kinds[sentence, choice.first]
        self.constraints.note(hyp, choice, self.constraints.kinds[relation], kind)
        hyp.memory = Memory(choice.taken(consumed.hidden), choice.taken(consumed.cell))
        self._count(hyp, choice, score.total)
        self._look(hyp, choice.taken(consumed.h))

    def _count(self, hyp: Hypotheses, choice: Choice, log_p: Tensor) -> None:
        """Add to the score, and note which words are used."""
        state, token = hyp.state, choice.token
        left, used = state.left, state.used
        if self.constraints.limit_copies:
            taken = hyp.each(hyp.sentences.offers) == choice.outcome.unsqueeze(1)
            left = left - taken.long()
        used |= hyp.positions == token.unsqueeze(1)
        last = torch.where(token > 0, token, state.last)
        hyp.state = state._replace(score=state.score + log_p, left=left, last=last)

    def _look(self, hyp: Hypotheses, h: Tensor) -> None:
        """Attend to the sentence and form z after the last row's relation is known."""
        model, rows, i = self.model, hyp.rows, hyp.length
        # The hypotheses of a sentence are to attention what steps are in training.
        by_sentence = h.view(-1, hyp.beam, h.shape[1])
        log_attention, context = model.attend(by_sentence, hyp.sentences.encoded)
        context = context.view(len(h), -1)
        everyone, head = hyp.everyone, rows.head[:, i]
        u, d_u = rows.vectors[everyone, head], rows.node[everyone, head]
        z = model.relation_state(h, context, rows.relation[:, i], u, d_u)
        if model.links is not None:
            self._follow_links(hyp)
        hyp.state = hyp.state._replace(
            attention=log_attention.view(len(h), -1), context=context, z=z
        )

    def _follow_links(self, hyp: Hypotheses) -> None:
        """See where links lead from the rows that are open after the last one."""
        i, rows = hyp.length, hyp.rows
        above = rows.path[hyp.everyone, rows.head[:, i]]
        rows.path[:, i] = path = below(above, i)
        expands = (rows.node[:, i] == i).unsqueeze(1)
        open_rows = torch.where(expands, path, above).unsqueeze(1)
        words = of_path(rows.link_token, open_rows)
        used = hyp.state.used.unsqueeze(1)
        hyp.traversal = self.model.traverse(hyp.sentences.encoded, open_rows, words, used)

    # Start ---------------------------------------------------------------------------------------

    def start(self, batch: Batch, items: Sequence[Item], beam: int) -> Hypotheses:
        """Encode the sentences and consume the begin symbol."""
        embedding, encoded = self.model.node_embedding, self.model.encode(batch)
        if bool(batch.source_mask.all()):
            encoded = encoded._replace(mask=None)
        if self.model.links is not None:
            encoded = encoded._replace(links=by_word(encoded.links))
        sentences = self._sentences(batch, items, encoded)
        embedded = embedding.embed(
            batch.nodes[:, :1], batch.node_strings[:, :1], batch.node_pos[:, :1], batch.strings
        )
        nothing = embedded.new_zeros(*embedded.shape[:2], encoded.states.shape[-1])
        begin = embedding.join(embedded, nothing).squeeze(1)
        memory = Memory(encoded.hidden, encoded.cell)
        state = self._state(batch, sentences)
        hyp = Hypotheses(sentences, state, memory, *self._no_rows(batch, begin.shape[-1]))
        if beam > 1:
            hyp.widen(beam)
            begin = begin.repeat_interleave(beam, 0)
        self._begin(hyp, begin)
        return hyp

    def _begin(self, hyp: Hypotheses, begin: Tensor) -> None:
        """Consume the begin symbol."""
        model, rows = self.model, hyp.rows
        inputs = torch.cat([begin, model.embed_index(rows.node[:, 0])], dim=-1)
        h, *memory = model.step(inputs, *hyp.memory)
        hyp.memory = Memory(*memory)
        nothing = torch.zeros_like(hyp.state.context)
        state = model.node_states(h, nothing, nothing)
        rows.vectors[:, 0] = begin
        rows.ends[:, 0], rows.rel_sources[:, 0] = _hidden(self.read.row(state))
        self._look(hyp, h)

    def _sentences(self, batch: Batch, items: Sequence[Item], encoded: Encoded) -> Sentences:
        """Return what does not change while a sentence is decoded."""
        embedding, (n, width) = self.model.node_embedding, batch.words.shape
        ways = batch.offers.shape[1] // width
        vectors = embedding.embed(
            batch.offer_nodes, batch.offer_strings, batch.pos.repeat(1, ways), batch.strings
        )
        trees = self.rules.trees
        # Filled on the host, and brought to the device once.
        leaf = torch.zeros(n, ways, width, dtype=torch.bool, device="cpu")
        for row, item in enumerate(items):
            kinds = [trees.row_kind(x, "", trees.words_are_nodes) for x in item.offer_labels]
            flags = torch.tensor([kind == RowKind.LEAF for kind in kinds], device="cpu")
            leaf[row, :, : len(flags) // ways] = flags.view(ways, -1)
        is_outcome = torch.zeros(
            n, self.n_labels + ways * width, dtype=torch.bool, device=batch.words.device
        ).scatter_(1, batch.offers, batch.source_mask.repeat(1, ways))
        offer_leaf = leaf.flatten(1).to(batch.words.device)
        is_leaf = torch.cat([self.rules.label_leaf.expand(n, -1), offer_leaf], dim=1)
        return Sentences(
            encoded=encoded,
            offers=batch.offers,
            offered=is_outcome[:, self.n_labels :],
            offer_vectors=embedding.join(vectors, encoded.states.repeat(1, ways, 1)),
            offer_leaf=offer_leaf,
            kinds=is_leaf.to(torch.uint8) * int(RowKind.LEAF),
            limit=batch.source_mask.sum(1) * ROWS_PER_TOKEN + EXTRA_ROWS,
        )

    def _state(self, batch: Batch, sentences: Sentences) -> State:
        n, width = batch.words.shape
        device, states = batch.words.device, sentences.encoded.states.shape[-1]
        return State(
            score=torch.zeros(n, device=device),
            context=torch.zeros(n, states, device=device),
            attention=torch.zeros(n, width, device=device),
            z=torch.zeros(n, self.model.config.decoder_size, device=device),
            used=~batch.source_mask,
            last=torch.zeros(n, dtype=torch.long, device=device),
            left=self._supply(batch.offers.view(n, -1, width), sentences.offer_leaf),
        )

    def _supply(self, offers: Tensor, leaf: Tensor) -> Tensor:
        """Return how often each offer can be copied: (B, M * S), or (B, 0) for any number of times.

        Once for each word that offers it; a concept once more, as there are two of the cells in
        "red and white cells".
        """
        if not self.constraints.limit_copies:
            return offers.new_zeros(len(offers), 0)
        equal = offers.flatten(1)[:, :, None, None] == offers.unsqueeze(1)
        return equal.any(2).sum(-1) + ~leaf

    def _no_rows(self, batch: Batch, node_size: int) -> tuple[Rows, Pairs]:
        (n, width), room, c = batch.words.shape, _FIRST_ROOM, self.model.config
        device = batch.words.device

        def numbers(*sizes: int) -> Tensor:
            return torch.zeros(n, room, *sizes, dtype=torch.long, device=device)

        def flags(*sizes: int) -> Tensor:
            return torch.zeros(n, room, *sizes, dtype=torch.bool, device=device)

        def reals(*sizes: int) -> Tensor:
            return torch.zeros(n, room, *sizes, device=device)

        rows = Rows(
            vectors=reals(node_size),
            node_keys=reals(c.attention_size),
            ends=reals(c.biaffine_size),
            rel_sources=reals(c.bilinear_size),
            node=numbers(),
            token=numbers(),
            link_token=numbers(),
            head=numbers(),
            relation=numbers(),
            outcome=numbers(),
            kind=numbers(),
            elsewhere=flags(),
            score=reals(),
            node_score=reals(),
            source_score=reals(),
            others=numbers(3, self.runners_up),
            other_scores=reals(3, self.runners_up),
            attention=reals(width),
            primary=numbers(),
            settled=flags(),
            core=flags(self.rules.n_core + 1 if self.constraints.unique_core_roles else 0),
            path=numbers(DEPTH if self.model.links is not None else 0),
        )
        return rows, Pairs(ancestors=flags(room), edges=flags(room))


def _hidden(parts: Sequence[Tensor]) -> Iterator[Tensor]:
    """Yield the hidden layers of MLPs, given what their linear layers say."""
    return (functional.elu(part) for part in parts)
