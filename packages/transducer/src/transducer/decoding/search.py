"""Greedy search, and Algorithm 1's beam search over relations.

Both build all sentences of a batch at once. A hypothesis is a growing table of rows; everything
that is known about the rows is a tensor with one entry per hypothesis and row, so that the rules
of what may come next (:mod:`transducer.frameworks.structure`) are tensor operations as well. Rules
only take choices away: scores are the model's own log-probabilities, never renormalized, and the
score of a sequence is what :meth:`TransducerModel.log_likelihood` gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from graphconv.arborescence import Row
from graphconv.conversion.labels import TERMINAL_CHILD, edge_label
from graphconv.conversion.labels import relation as plain_relation
from transducer.data.examples import Batch, Item
from transducer.data.vocabularies import EOS
from transducer.decoding.constraints import Choice, Constraints, Consumed, Hypotheses, Rules
from transducer.frameworks.structure import (
    ELSEWHERE,
    IMPLICIT,
    RelationKind,
    RowKind,
    relation_kind,
    row_kind,
)
from transducer.model.frames import most_probable
from transducer.model.links import Traversal, climb, first_of, of_path
from transducer.model.network import TINY, Past, TransducerModel, outcome_probabilities
from transducer.model.pointer import Trail

NEVER = -torch.inf
_IMPOSSIBLE = -1.0  # instead of a probability
ROWS_PER_TOKEN = 3
EXTRA_ROWS = 20
"""A sentence of n tokens gets at most ROWS_PER_TOKEN * n + EXTRA_ROWS rows."""

_FIRST_ROOM = 16
_PAIRS_AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class Decoded:
    """One hypothesis for one sentence."""

    rows: tuple[Row, ...]
    score: float
    """log P(Y | X), the end symbol included."""
    row_scores: tuple[float, ...] = ()
    """log P(v) + log P(u) + log P(r) of each row."""
    alignments: tuple[tuple[float, ...], ...] = ()
    """The attention from which each row was predicted, over the tokens."""
    frames: tuple[str, ...] = ()
    """The frame of each token, where the model tells them."""


@torch.inference_mode()
def decode(
    model: TransducerModel,
    batch: Batch,
    items: Sequence[Item],
    rules: Rules,
    *,
    beam: int = 1,
    nbest: int = 1,
    unique_core_roles: bool = False,
    limit_copies: bool = False,
    length_penalty: float = 0.0,
    details: bool = False,
    on_row: Callable[[int, Row], None] | None = None,
) -> list[list[Decoded]]:
    """Decode a batch: for each sentence its *nbest* hypotheses, best first.

    *on_row* is told of each row as greedy search decides it; *details* adds scores and alignments.
    """
    search = _Search(
        model,
        rules,
        unique_core_roles=unique_core_roles,
        limit_copies=limit_copies,
        length_penalty=length_penalty,
    )
    start = search.start(batch, items, beam)
    if beam == 1:
        found = search.greedy(start, [item.offer_labels for item in items], on_row)
    else:
        found = search.beam(start, nbest)
    told = most_probable(start.encoded.frames, rules.frames) if rules.frames else None
    results = []
    for i, (item, paths) in enumerate(zip(items, found, strict=True)):
        finished = [_finish(rules, p, item.forms, item.offer_labels, details) for p in paths]
        if told is not None:
            finished = [replace(f, frames=_frames(f.rows, item.forms, told[i])) for f in finished]
        results.append(finished)
    return results


@dataclass(slots=True)
class Path:
    """A finished hypothesis as plain numbers."""

    score: float
    outcome: list[int]
    index: list[int]
    head: list[int]
    relation: list[int]
    width: int
    row_score: list[float]
    attention: Tensor  # (rows, S)


class _Search:
    """The steps that greedy and beam search share."""

    def __init__(
        self,
        model: TransducerModel,
        rules: Rules,
        *,
        unique_core_roles: bool = False,
        limit_copies: bool = False,
        length_penalty: float = 0.0,
    ) -> None:
        self.model = model
        self.length_penalty = length_penalty
        self.rules = rules
        self.constraints = Constraints(
            rules, unique_core_roles=unique_core_roles, limit_copies=limit_copies
        )
        self.labels = len(rules.labels)
        elsewhere = torch.zeros(len(RelationKind), dtype=torch.bool, device=rules.kinds.device)
        elsewhere[[int(kind) for kind in ELSEWHERE]] = True
        self.elsewhere = elsewhere

    # Start ---------------------------------------------------------------------------------------

    def start(self, batch: Batch, items: Sequence[Item], beam: int) -> Hypotheses:
        """Encode the sentences and consume the begin symbol."""
        model = self.model
        encoded = model.encode(batch)
        sentences, width = batch.words.shape
        ways = batch.offers.shape[1] // width
        room = _FIRST_ROOM
        device = batch.words.device
        vectors = model.node_embedding.embed(
            batch.offer_nodes, batch.offer_strings, batch.pos.repeat(1, ways), batch.strings
        )
        offer_vectors = model.node_embedding.join(vectors, encoded.states.repeat(1, ways, 1))
        leaf = torch.zeros(sentences, ways * width, dtype=torch.bool)
        for row, item in enumerate(items):
            own = [
                row_kind(self.rules.task, x, "", is_word=self.rules.task != "amr")
                for x in item.offer_labels
            ]
            flags = torch.tensor([kind == RowKind.LEAF for kind in own]).view(ways, -1)
            leaf.view(sentences, ways, width)[row, :, : flags.shape[1]] = flags
        offered = torch.zeros(
            sentences, self.labels + ways * width, dtype=torch.bool, device=device
        ).scatter_(1, batch.offers, batch.source_mask.repeat(1, ways))
        n = sentences
        zeros = torch.zeros(n, room, dtype=torch.long, device=device)
        flags = torch.zeros(n, room, dtype=torch.bool, device=device)
        states = encoded.states.shape[-1]
        c = model.config
        begin = model.node_embedding.embed(
            batch.nodes[:, :1], batch.node_strings[:, :1], batch.node_pos[:, :1], batch.strings
        )
        begin = model.node_embedding.join(begin, begin.new_zeros(n, 1, states))
        hypotheses = Hypotheses(
            encoded=encoded,
            offers=batch.offers,
            offered=offered[:, self.labels :],
            offer_vectors=offer_vectors,
            offer_leaf=leaf.to(device),
            limit=batch.source_mask.sum(1) * ROWS_PER_TOKEN + EXTRA_ROWS,
            left=self._supply(batch.offers.view(sentences, ways, width), leaf.to(device)),
            score=torch.zeros(n, device=device),
            hidden=encoded.hidden,
            cell=encoded.cell,
            context=torch.zeros(n, states, device=device),
            attention=torch.zeros(n, width, device=device),
            z=torch.zeros(n, c.decoder_size, device=device),
            used=~batch.source_mask,
            last=torch.zeros(n, dtype=torch.long, device=device),
            vectors=torch.zeros(n, room, begin.shape[-1], device=device),
            node_keys=torch.zeros(n, room, c.attention_size, device=device),
            ends=torch.zeros(n, room, c.biaffine_size, device=device),
            rel_sources=torch.zeros(n, room, c.bilinear_size, device=device),
            index=zeros,
            token=zeros.clone(),
            link_token=zeros.clone(),
            head=zeros.clone(),
            relation=zeros.clone(),
            outcome=zeros.clone(),
            kind=zeros.clone(),
            elsewhere=flags,
            primary=zeros.clone(),
            settled=flags.clone(),
            ancestors=torch.zeros(n, room, room, dtype=torch.bool, device=device),
            linked=torch.zeros(n, room, room, dtype=torch.bool, device=device),
            core=torch.zeros(n, room, self.rules.n_core, dtype=torch.bool, device=device),
            row_score=torch.zeros(n, room, device=device),
            row_attention=torch.zeros(n, room, width, device=device),
        )
        if beam > 1:
            _widen(hypotheses, beam)
            begin = begin.repeat_interleave(beam, 0)
        self._begin(hypotheses, begin.squeeze(1))
        return hypotheses

    def _supply(self, offers: Tensor, leaf: Tensor) -> Tensor:
        """Return how often each offer can be copied: (B, M * S), or (B, 0) for any number of times.

        Once for each word that offers it; a concept once more, as there are two of the cells in
        "red and white cells".
        """
        if not self.constraints.limit_copies:
            return offers.new_zeros(len(offers), 0)
        equal = offers.flatten(1)[:, :, None, None] == offers.unsqueeze(1)
        return equal.any(2).sum(-1) + ~leaf

    def _begin(self, hyp: Hypotheses, begin: Tensor) -> None:
        """Consume the begin symbol."""
        model = self.model
        inputs = torch.cat([begin, model.embed_index(hyp.index[:, 0])], dim=-1)
        h, hyp.hidden, hyp.cell = model.step(inputs, hyp.hidden, hyp.cell)
        nothing = torch.zeros_like(hyp.context)
        state = model.node_states(h, nothing, nothing)
        hyp.vectors[:, 0] = begin
        hyp.ends[:, 0] = model.mlp_end(state)
        hyp.rel_sources[:, 0] = model.mlp_rel_source(state)
        self._look(hyp, h)

    def _look(self, hyp: Hypotheses, h: Tensor) -> None:
        """Attend to the sentence and form z after the last row's relation is known."""
        model, i = self.model, hyp.length
        # The hypotheses of a sentence are to attention what steps are in training.
        log_attention, context = model.attend(h.view(-1, hyp.beam, h.shape[1]), hyp.encoded)
        context = context.view(len(h), 1, -1)
        rows = torch.arange(len(h), device=h.device)
        head = hyp.head[:, i]
        z = model.relation_state(
            h.unsqueeze(1),
            context,
            hyp.relation[:, i : i + 1],
            hyp.vectors[rows, head].unsqueeze(1),
            hyp.index[rows, head].unsqueeze(1),
        )
        if model.links is not None:
            self._follow_links(hyp)
        hyp.attention, hyp.context = log_attention.view(len(h), -1), context.squeeze(1)
        hyp.z = z.squeeze(1)
        hyp.node_keys[:, i] = model.node_attention.keys(hyp.z)

    def _follow_links(self, hyp: Hypotheses) -> None:
        """See where links lead from the rows that are open after the last one."""
        i = hyp.length
        expands = hyp.index[:, i] == i
        deepest = torch.where(
            expands, torch.full_like(expands, i, dtype=torch.long), hyp.head[:, i]
        )
        rows_open = climb(deepest.unsqueeze(1), hyp.head)
        encoded = hyp.encoded._replace(links=hyp.each(hyp.encoded.links))
        words = of_path(hyp.link_token, rows_open)
        hyp.traversal = self.model.traverse(encoded, rows_open, words, hyp.used.unsqueeze(1))

    # What may come next --------------------------------------------------------------------------

    def outcomes(self, hyp: Hypotheses, best: int) -> tuple[Tensor, Tensor]:
        """Return log P(v) and numbers of the *best* outcomes of each hypothesis: (N, best) twice.

        Impossible ones are at -inf.
        """
        n, labels = hyp.length, self.labels
        rows = slice(1, n + 1)
        scores = self.model.score_nodes(
            hyp.z.unsqueeze(1),
            hyp.attention.unsqueeze(1),
            hyp.encoded,
            Past(
                hyp.node_keys[:, rows],
                torch.ones(1, 1, n, dtype=torch.bool, device=hyp.z.device),
                Trail(hyp.last.unsqueeze(1), hyp.used.unsqueeze(1)),
                hyp.token[:, rows],
                hyp.traversal,
            ),
        )
        p = outcome_probabilities(scores, hyp.each(hyp.offers), hyp.index[:, rows]).squeeze(1)
        possible = self.constraints.outcomes(hyp)
        end = p[:, EOS].clone()
        p[:, :labels].masked_fill_(~possible.labels, _IMPOSSIBLE)
        p[:, labels:].masked_fill_(~torch.cat([possible.words, possible.copies], 1), _IMPOSSIBLE)
        p[possible.ended] = _IMPOSSIBLE
        p[:, EOS] = torch.where(possible.ended, end, p[:, EOS])
        top, outcome = p.max(1, keepdim=True) if best == 1 else p.topk(min(best, p.shape[1]))
        return top.clamp_min(TINY).log().masked_fill(top < 0, NEVER), outcome

    # Taking a step -------------------------------------------------------------------------------

    def consume(self, hyp: Hypotheses, parent: Tensor, outcome: Tensor, log_p: Tensor) -> Choice:
        """Let the LSTM consume next nodes."""
        model, places = self.model, hyp.offers.shape[1]
        width = hyp.used.shape[1]
        copies_from = self.labels + places
        is_copy = outcome >= copies_from
        copied_row = (outcome - copies_from + 1).clamp(min=0)
        is_label = outcome < self.labels
        # A label that a token offers too counts as copied from the first such token.
        sentence = parent // hyp.beam
        offered = hyp.offers[sentence] == outcome.unsqueeze(1)
        place = torch.where(
            is_label | is_copy,
            offered.int().argmax(1),
            (outcome - self.labels).clamp(0, places - 1),
        )
        from_token = offered.any(1) & ~is_copy
        vector = torch.where(
            from_token.unsqueeze(1),
            hyp.offer_vectors[sentence, place],
            self.rules.label_vectors[outcome.clamp(max=self.labels - 1)],
        )
        vector = torch.where(is_copy.unsqueeze(1), hyp.vectors[parent, copied_row], vector)
        index = torch.where(
            is_copy, hyp.index[parent, copied_row], torch.full_like(outcome, hyp.length + 1)
        )
        token = torch.where(from_token, place % width + 1, torch.zeros_like(place))
        inputs = torch.cat([vector, model.embed_index(index)], dim=-1)
        h, hidden, cell = model.step(inputs, hyp.hidden[:, parent], hyp.cell[:, parent])
        copied = vector[:, -hyp.context.shape[1] :]  # the anchored variant's vector ends with it
        state = model.node_states(h, copied, hyp.context[parent])
        word = torch.where(
            (outcome >= self.labels) & ~is_copy & (self.rules.task != "amr"),
            token,
            torch.zeros_like(token),
        )
        was_word = hyp.outcome[parent, copied_row] >= self.labels
        is_word = (word > 0) | (is_copy & was_word & (self.rules.task != "amr"))
        slot = torch.arange(len(parent), device=parent.device)
        consumed = Consumed(vector, h, state, model.mlp_rel_target(state), hidden, cell)
        token = torch.where(is_copy, hyp.token[parent, copied_row], token)
        return Choice(parent, outcome, log_p, index, is_copy, is_word, word, token, slot, consumed)

    def sources(self, hyp: Hypotheses, choice: Choice) -> Tensor:
        """Return log P(u) over rows 1..n, forbidden heads at -inf: (choices, max(n, 1))."""
        n, parent = hyp.length, choice.parent
        if n == 0:
            return choice.log_p.new_zeros(len(parent), 1)
        model = self.model
        start = model.mlp_start(choice.consumed.state[choice.slot]).unsqueeze(1)
        scores = model.biaffine(start, hyp.ends[parent, 1 : n + 1]).squeeze(1)
        if model.links is not None and hyp.traversal is not None:
            seen = Traversal(*(part[parent] for part in hyp.traversal))
            copied, free = hyp.link_token[parent, choice.node], first_of(~hyp.used)
            word = model.link_word(choice.token, choice.is_copy, copied, free[parent])
            hints = model.links.score_sources(seen, word.unsqueeze(1), n + 1)
            scores = scores + hints[:, 0, 1:]
        heads = self.constraints.heads(hyp, parent, choice.position > 0)
        if model.config.source_candidates == "open-path":
            scores = scores.masked_fill(~heads, -1e9)
        log_p = scores.log_softmax(-1).masked_fill(~heads, NEVER)
        if self.rules.task != "amr":
            log_p = log_p.masked_fill(self.constraints.barred(hyp, choice), NEVER)
        return log_p

    def relations(self, hyp: Hypotheses, choice: Choice, head: Tensor) -> Tensor:
        """Return log P(r), forbidden relations at -inf: (choices, R)."""
        model, n = self.model, hyp.length
        if n == 0:
            result = choice.log_p.new_full((len(head), len(self.rules.relations)), NEVER)
            result[:, 2] = 0.0
            return result
        source = hyp.rel_sources[choice.parent, head]
        log_p = model.score_relations(source, choice.consumed.rel_target[choice.slot])
        allowed = self.constraints.relations(hyp, choice, head)
        return log_p.masked_fill(~allowed, NEVER)

    def append(
        self,
        hyp: Hypotheses,
        choice: Choice,
        head: Tensor,
        relation: Tensor,
        log_p: Tensor,
    ) -> None:
        """Add one row to each chosen hypothesis; *log_p* is the row's score."""
        if hyp.beam > 1:
            hyp.select(choice.parent)
        hyp.length += 1
        i, rules = hyp.length, self.rules
        if i + 1 == hyp.index.shape[1]:  # rules ask about the next row, too
            hyp.grow()
        numbers = torch.arange(len(head), device=head.device)
        kind_of_relation = rules.kinds[relation].clamp(min=0)
        places = hyp.offers.shape[1]
        copied = (choice.outcome - self.labels - places + 1).clamp(min=0)
        outcome = torch.where(choice.is_copy, hyp.outcome[numbers, copied], choice.outcome)
        hyp.outcome[:, i], hyp.index[:, i] = outcome, choice.node
        if self.constraints.limit_copies:
            hyp.left = hyp.left - (hyp.each(hyp.offers) == choice.outcome.unsqueeze(1)).long()
        hyp.head[:, i], hyp.relation[:, i] = head, relation
        vector, h, state, _, hidden, cell = choice.consumed
        state = state[choice.slot]
        hyp.vectors[:, i] = vector[choice.slot]
        hyp.ends[:, i] = self.model.mlp_end(state)
        hyp.rel_sources[:, i] = self.model.mlp_rel_source(state)
        hyp.row_score[:, i] = log_p
        hyp.row_attention[:, i] = hyp.attention.exp()
        hyp.score = hyp.score + log_p
        hyp.hidden, hyp.cell = hidden[:, choice.slot], cell[:, choice.slot]
        inner = (kind_of_relation == RelationKind.PHRASE) | (
            kind_of_relation == RelationKind.TERMINAL
        )
        leaf = self._leaf(hyp, outcome)
        kind = torch.where(leaf, int(RowKind.LEAF), int(RowKind.NODE))
        if rules.task == "ucca":
            word_kind = torch.where(inner, int(RowKind.LEAF), int(RowKind.WORD))
            kind = torch.where(choice.is_word, word_kind, kind)
        hyp.kind[:, i] = kind
        elsewhere = self.elsewhere[kind_of_relation] & (rules.task == "ucca")
        hyp.elsewhere[:, i] = elsewhere
        hyp.settled[numbers, choice.node] |= ~elsewhere
        has_head = head > 0
        node = hyp.index[numbers, head]
        hyp.primary[numbers, node] = torch.where(has_head, head, hyp.primary[numbers, node])
        hyp.ancestors[:, i] = hyp.ancestors[numbers, head]
        hyp.ancestors[:, i, i] = True
        reverse = kind_of_relation == RelationKind.REVERSED
        source = torch.where(reverse, choice.node, node)
        target = torch.where(reverse, node, choice.node)
        hyp.link(source, target, has_head, paths=rules.task == "ucca")
        if rules.n_core:
            core = rules.core[relation]
            hyp.core[numbers, source, core.clamp(min=0)] |= core >= 0
        self._note_words(hyp, choice, numbers)
        self._look(hyp, h[choice.slot])

    def _note_words(self, hyp: Hypotheses, choice: Choice, numbers: Tensor) -> None:
        """Remember which words the last rows are."""
        i, token = hyp.length, choice.token
        hyp.token[:, i] = token
        copied = hyp.link_token[numbers, choice.node]
        hyp.link_token[:, i] = torch.where(choice.is_copy, copied, token)
        if self.rules.task == "ucca":  # a new word stands for the units above it that have none
            above = hyp.ancestors[:, i] & (hyp.link_token == 0) & (choice.position > 0)[:, None]
            hyp.link_token = torch.where(above, token[:, None], hyp.link_token)
        hyp.last = torch.where(token > 0, token, hyp.last)
        hyp.used[numbers, (token - 1).clamp(min=0)] |= token > 0

    def _leaf(self, hyp: Hypotheses, outcome: Tensor) -> Tensor:
        offered = (outcome - self.labels).clamp(min=0)
        sentence = torch.arange(len(outcome), device=outcome.device) // hyp.beam
        of_offer = hyp.offer_leaf[sentence, offered.clamp(max=hyp.offer_leaf.shape[1] - 1)]
        of_label = self.rules.label_leaf[outcome.clamp(max=self.labels - 1)]
        return torch.where(outcome < self.labels, of_label, of_offer)

    # Greedy search -------------------------------------------------------------------------------

    def greedy(
        self,
        hyp: Hypotheses,
        offers: Sequence[Sequence[str]],
        on_row: Callable[[int, Row], None] | None,
    ) -> list[list[Path]]:
        """Take the best node, then the best source, then the best relation, until the end."""
        found: list[list[Path]] = [[] for _ in range(len(hyp.score))]
        sentence = torch.arange(len(hyp.score), device=hyp.score.device)
        done = torch.zeros_like(sentence, dtype=torch.bool)
        while True:
            log_p, outcome = (best.squeeze(1) for best in self.outcomes(hyp, 1))
            for k in ((outcome == EOS) & ~done).nonzero().squeeze(1).tolist():
                found[int(sentence[k])].append(_path(hyp, k, float(hyp.score[k] + log_p[k])))
            done |= outcome == EOS
            n_done = int(done.sum())
            if n_done == len(done):
                return found
            if 4 * n_done > len(done):  # moving the rest costs less than going on with all
                keep = (~done).nonzero().squeeze(1)
                hyp.select(keep, keep)
                sentence, done, log_p, outcome = (x[keep] for x in (sentence, done, log_p, outcome))
            everyone = torch.arange(len(outcome), device=outcome.device)
            choice = self.consume(hyp, everyone, outcome, log_p)
            source, row = self.sources(hyp, choice).max(1)
            head = row + 1 if hyp.length else row
            relation_score, relation = self.relations(hyp, choice, head).max(1)
            self.append(hyp, choice, head, relation, log_p + source + relation_score)
            if on_row is not None:
                for k in (~done).nonzero().squeeze(1).tolist():
                    on_row(int(sentence[k]), self._last_row(hyp, k, offers[int(sentence[k])]))

    def _last_row(self, hyp: Hypotheses, k: int, offers: Sequence[str]) -> Row:
        i, width = hyp.length, hyp.used.shape[1]
        tokens = int(hyp.encoded.mask[k].sum())
        numbers = (int(column[k, i]) for column in (hyp.outcome, hyp.index, hyp.head, hyp.relation))
        return _row(self.rules, *numbers, width=width, tokens=tokens, offers=offers)

    # Beam search (Algorithm 1) ------------------------------------------------------------

    def beam(self, hyp: Hypotheses, nbest: int) -> list[list[Path]]:
        """Keep the best relation sequences of each sentence, as many as the beam is wide."""
        beam = hyp.beam
        found: list[list[Path]] = [[] for _ in range(len(hyp.score) // beam)]
        alive = list(range(len(found)))
        while alive:
            log_p, outcome = self.outcomes(hyp, beam)
            totals = hyp.score.unsqueeze(1) + log_p  # (N, beam)
            ends = (outcome == EOS) & (totals > NEVER)
            for k, place in ends.nonzero().tolist():
                paths = found[alive[k // beam]]
                paths.append(_path(hyp, k, float(totals[k, place])))
                paths.sort(key=lambda path: -self._rank(path.score, len(path.outcome)))
                del paths[nbest:]
            totals = totals.masked_fill(outcome == EOS, NEVER)
            going = self._going_on(hyp, totals, [found[s] for s in alive], nbest)
            if not all(going):
                keep_sentences = [k for k, goes in enumerate(going) if goes]
                alive = [alive[k] for k in keep_sentences]
                if not alive:
                    break
                rows = torch.tensor(keep_sentences, device=totals.device)
                keep = (
                    rows.unsqueeze(1) * beam + torch.arange(beam, device=totals.device)
                ).flatten()
                hyp.select(keep, rows)
                totals, outcome = totals[keep], outcome[keep]
            self._extend(hyp, totals, outcome)
        return found

    def _rank(self, score: float, rows: int) -> float:
        """Return by what finished hypotheses are compared: a long one has more to be unsure of."""
        return score / (rows + 1) ** self.length_penalty

    def _going_on(
        self, hyp: Hypotheses, totals: Tensor, found: Sequence[Sequence[Path]], nbest: int
    ) -> list[bool]:
        """Return which sentences can still find something better: log-probabilities only fall.

        With a length penalty that is a guess: further rows are as probable as those so far.
        """
        best = totals.view(len(found), -1).amax(1).tolist()
        return [
            score > NEVER
            and (
                len(paths) < nbest
                or self._rank(score, hyp.length)
                > self._rank(paths[-1].score, len(paths[-1].outcome))
            )
            for paths, score in zip(found, best, strict=True)
        ]

    def _extend(self, hyp: Hypotheses, totals: Tensor, outcome: Tensor) -> None:
        """Replace each sentence's hypotheses by its best relations, exactly.

        The best nodes of a sentence, with their best sources and relations, give a bound that the
        relations to keep must reach. Since log P(u) and log P(r) are <= 0, nodes and pairs of node
        and source that are below it already need not be looked at any further.
        """
        beam, per_sentence = hyp.beam, hyp.beam * totals.shape[1]
        n_best, (totals, outcome) = totals.shape[1], (totals.flatten(), outcome.flatten())
        sentences = len(totals) // per_sentence
        sentence = torch.arange(len(totals), device=totals.device) // per_sentence
        first, score = _best_of_each(sentence, totals, sentences, beam)
        first = first[score > NEVER]
        choice = self.consume(hyp, first // n_best, outcome[first], totals[first])
        pairs = choice.log_p.unsqueeze(1) + self.sources(hyp, choice)  # (choices, rows)
        owner = choice.parent // beam
        rows = pairs.shape[1]
        some, score = _best_of_each(owner.repeat_interleave(rows), pairs.flatten(), sentences, beam)
        some = some[score > NEVER]
        full, _ = self._best_relations(hyp, choice, some // rows, some % rows, pairs)
        known = owner[some // rows].repeat_interleave(full.shape[1])
        bound = _best_of_each(known, full.flatten(), sentences, beam)[1][:, -1]
        further = totals > bound[sentence]
        further[first] = False
        if bool(further.any()):
            rest = further.nonzero().squeeze(1)
            more = self.consume(hyp, rest // n_best, outcome[rest], totals[rest])
            also = more.log_p.unsqueeze(1) + self.sources(hyp, more)
            choice, pairs = choice.join(more), torch.cat([pairs, also])
            owner = choice.parent // beam
        worthy = (pairs >= bound[owner].unsqueeze(1)) & (pairs > NEVER)
        number, row = worthy.nonzero(as_tuple=True)
        full, relation = self._best_relations(hyp, choice, number, row, pairs)
        width = full.shape[1]
        owner = owner[number].repeat_interleave(width)
        kept, score = (x.flatten() for x in _best_of_each(owner, full.flatten(), sentences, beam))
        chosen = choice.pick(number[kept // width])
        head = row[kept // width] + (1 if hyp.length else 0)
        gained = torch.where(score > NEVER, score - hyp.score[chosen.parent], NEVER)
        self.append(hyp, chosen, head, relation.flatten()[kept], gained)

    def _best_relations(
        self, hyp: Hypotheses, choice: Choice, number: Tensor, row: Tensor, pairs: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return scores and relations, the beam's width of them, of each pair (number, row)."""
        found = []
        for n, r in zip(number.split(_PAIRS_AT_ONCE), row.split(_PAIRS_AT_ONCE), strict=True):
            head = r + (1 if hyp.length else 0)
            scores = self.relations(hyp, choice.pick(n), head) + pairs[n, r].unsqueeze(1)
            found.append(scores.topk(min(hyp.beam, scores.shape[1])))
        scores, relation = (torch.cat(parts) for parts in zip(*found, strict=True))
        return scores, relation


def _widen(hyp: Hypotheses, beam: int) -> None:
    """Make room for *beam* hypotheses of each sentence, of which the first one exists."""
    sentences = torch.arange(len(hyp.score), device=hyp.score.device)
    hyp.select(sentences.repeat_interleave(beam), sentences)
    hyp.beam = beam
    hyp.score[torch.arange(len(hyp.score), device=hyp.score.device) % beam > 0] = NEVER


def _best_of_each(
    sentence: Tensor, score: Tensor, sentences: int, best: int
) -> tuple[Tensor, Tensor]:
    """Return the numbers and scores of each sentence's *best* entries: (sentences, best) twice.

    Where there are fewer, its last one is repeated with no score.
    """
    order = sentence.argsort(stable=True)
    count = torch.bincount(sentence, minlength=sentences)
    start = count.cumsum(0) - count
    place = torch.arange(len(order), device=order.device) - start[sentence[order]]
    table = score.new_full((len(count), max(int(count.max()), best)), NEVER)
    table[sentence[order], place] = score[order]
    top, where = table.topk(best, dim=1)
    where = torch.minimum(where, (count - 1).clamp_min(0).unsqueeze(1))
    return order[(start.unsqueeze(1) + where).clamp_max(len(order) - 1)], top


def _path(hyp: Hypotheses, k: int, score: float) -> Path:
    rows = slice(1, hyp.length + 1)
    return Path(
        score,
        hyp.outcome[k, rows].tolist(),
        hyp.index[k, rows].tolist(),
        hyp.head[k, rows].tolist(),
        hyp.relation[k, rows].tolist(),
        hyp.used.shape[1],
        hyp.row_score[k, rows].tolist(),
        hyp.row_attention[k, rows].clone(),
    )


def _finish(
    rules: Rules, path: Path, forms: Sequence[str], offers: Sequence[str], details: bool
) -> Decoded:
    """Turn numbers into rows."""
    columns = zip(path.outcome, path.index, path.head, path.relation, strict=True)
    rows = [
        _row(rules, *numbers, width=path.width, tokens=len(forms), offers=offers)
        for numbers in columns
    ]
    if rules.task == "ucca":
        rows = _complete_units(rows, forms, rules)
    if not details:
        return Decoded(tuple(rows), path.score)
    alignments = path.attention[:, : len(forms)].tolist()
    return Decoded(tuple(rows), path.score, tuple(path.row_score), tuple(map(tuple, alignments)))


def _frames(
    rows: Sequence[Row], forms: Sequence[str], told: Sequence[tuple[str, str]]
) -> tuple[str, ...]:
    """Return the words' frames: that of a node is never none."""
    nodes = {position for row in rows for position in row.anchors}
    return tuple(frame[place in nodes] for place, frame in enumerate(told[: len(forms)]))


def _row(
    rules: Rules,
    outcome: int,
    index: int,
    head: int,
    relation: int,
    *,
    width: int,
    tokens: int,
    offers: Sequence[str],
) -> Row:
    """Turn the numbers of one row into a row."""
    way, token = divmod(outcome - len(rules.labels), width)
    if way < 0:
        return Row(rules.labels[outcome], index, head, rules.relations[relation])
    anchors = () if rules.task == "amr" else (token,)
    return Row(offers[way * tokens + token], index, head, rules.relations[relation], anchors)


def _complete_units(rows: list[Row], forms: Sequence[str], rules: Rules) -> list[Row]:
    """UCCA: give every word and every node a primary place, and every empty unit the implicit mark.

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
    kinds = rules.kinds.tolist()
    plain = [
        name
        for name, kind in zip(rules.relations, kinds, strict=True)
        if kind == RelationKind.PLAIN
    ]
    for position in range(len(forms)):
        if position not in words:
            relation = plain[0] if plain else TERMINAL_CHILD
            result.append(Row(forms[position], len(result) + 1, 1, relation, (position,)))
    return result
