"""Algorithm 1: beam search over relations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from transducer.config import DecodeConfig
from transducer.data.vocabularies import EOS
from transducer.decoding.hypotheses import NEVER, Choice, Hypotheses, RowScore
from transducer.decoding.interruption import check_interruption
from transducer.decoding.results import Path, take_path
from transducer.decoding.steps import Steps

_PAIRS_AT_ONCE = 4096


def beam_search(steps: Steps, hyp: Hypotheses, settings: DecodeConfig) -> list[list[Path]]:
    """Keep the best relation sequences of each sentence, as many as the beam is wide."""
    beam, penalty = settings.beam, settings.length_penalty
    found: list[list[Path]] = [[] for _ in range(len(hyp) // beam)]
    alive = list(range(len(found)))
    while alive:
        check_interruption()
        log_p, outcome = steps.outcomes(hyp, beam)
        totals = hyp.state.score.unsqueeze(1) + log_p  # (N, beam)
        ends = (outcome == EOS) & (totals > NEVER)
        for k, place in ends.nonzero().tolist():
            paths = found[alive[k // beam]]
            paths.append(take_path(hyp, k, float(totals[k, place])))
            paths.sort(key=lambda path: -_rank(path.score, len(path.outcome), penalty))
            del paths[settings.nbest :]
        totals = totals.masked_fill(outcome == EOS, NEVER)
        going = _going_on(hyp, totals, [found[s] for s in alive], settings)
        if not all(going):
            keep_sentences = [k for k, goes in enumerate(going) if goes]
            alive = [alive[k] for k in keep_sentences]
            if not alive:
                break
            rows = torch.tensor(keep_sentences, device=totals.device)
            keep = (rows.unsqueeze(1) * beam + torch.arange(beam, device=totals.device)).flatten()
            hyp.select(keep, rows)
            totals, outcome = totals[keep], outcome[keep]
        _extend(steps, hyp, totals, outcome)
    return found


def _rank(score: float, rows: int, penalty: float) -> float:
    """Return by what finished hypotheses are compared: a long one has more to be unsure of."""
    return score / (rows + 1) ** penalty


def _going_on(
    hyp: Hypotheses, totals: Tensor, found: Sequence[Sequence[Path]], settings: DecodeConfig
) -> list[bool]:
    """Return which sentences can still find something better: log-probabilities only fall.

    With a length penalty that is a guess: further rows are as probable as those so far.
    """
    best = totals.view(len(found), -1).amax(1).tolist()
    penalty = settings.length_penalty
    return [
        score > NEVER
        and (
            len(paths) < settings.nbest
            or _rank(score, hyp.length, penalty)
            > _rank(paths[-1].score, len(paths[-1].outcome), penalty)
        )
        for paths, score in zip(found, best, strict=True)
    ]


class _Candidates(NamedTuple):
    """Next nodes, and the scores of hypotheses that take one with some source."""

    choice: Choice
    pairs: Tensor  # (choices, rows) log P so far + log P(v) + log P(u)

    def join(self, other: _Candidates) -> _Candidates:
        return _Candidates(self.choice.join(other.choice), torch.cat([self.pairs, other.pairs]))


def _extend(steps: Steps, hyp: Hypotheses, totals: Tensor, outcome: Tensor) -> None:
    """Replace each sentence's hypotheses by its best relations, exactly.

    The best nodes of a sentence, with their best sources and relations, give a bound that the
    relations to keep must reach. Since log P(u) and log P(r) are <= 0, nodes and pairs of node and
    source that are below it already need not be looked at any further.
    """
    beam, nodes = hyp.beam, totals.shape[1]
    totals, outcome = totals.flatten(), outcome.flatten()
    sentences = len(totals) // (beam * nodes)
    sentence = torch.arange(len(totals), device=totals.device) // (beam * nodes)

    def look(numbers: Tensor) -> _Candidates:
        choice = steps.consume(hyp, numbers // nodes, outcome[numbers], totals[numbers])
        return _Candidates(choice, choice.log_p.unsqueeze(1) + steps.sources(hyp, choice))

    first, score = _best_of_each(sentence, totals, sentences, beam)
    first = first[score > NEVER]
    candidates = look(first)
    bound = _bound(steps, hyp, candidates, sentences)
    further = totals > bound[sentence]
    further[first] = False
    if bool(further.any()):
        candidates = candidates.join(look(further.nonzero().squeeze(1)))
    choice, pairs = candidates
    owner = choice.parent // beam
    worthy = (pairs >= bound[owner].unsqueeze(1)) & (pairs > NEVER)
    number, row = worthy.nonzero(as_tuple=True)
    full, relation = _best_relations(steps, hyp, candidates, number, row)
    width = full.shape[1]
    owner = owner[number].repeat_interleave(width)
    kept, score = (x.flatten() for x in _best_of_each(owner, full.flatten(), sentences, beam))
    number, row = number[kept // width], row[kept // width]
    chosen = choice.pick(number)
    head = row + (1 if hyp.length else 0)
    before = hyp.state.score[chosen.parent]
    gained = torch.where(score > NEVER, score - before, NEVER)
    scores = RowScore(gained, chosen.log_p - before, pairs[number, row] - chosen.log_p)
    steps.append(hyp, chosen, head, relation.flatten()[kept], scores)


def _bound(steps: Steps, hyp: Hypotheses, candidates: _Candidates, sentences: int) -> Tensor:
    """Return what the beam's last hypothesis of each sentence reaches at least: (sentences,)."""
    choice, pairs = candidates
    owner, rows = choice.parent // hyp.beam, pairs.shape[1]
    some, score = _best_of_each(owner.repeat_interleave(rows), pairs.flatten(), sentences, hyp.beam)
    some = some[score > NEVER]
    full, _ = _best_relations(steps, hyp, candidates, some // rows, some % rows)
    known = owner[some // rows].repeat_interleave(full.shape[1])
    return _best_of_each(known, full.flatten(), sentences, hyp.beam)[1][:, -1]


def _best_relations(
    steps: Steps, hyp: Hypotheses, candidates: _Candidates, number: Tensor, row: Tensor
) -> tuple[Tensor, Tensor]:
    """Return scores and relations, the beam's width of them, of each pair (number, row)."""
    choice, pairs = candidates
    found = []
    for n, r in zip(number.split(_PAIRS_AT_ONCE), row.split(_PAIRS_AT_ONCE), strict=True):
        head = r + (1 if hyp.length else 0)
        scores = steps.relations(hyp, choice.pick(n), head) + pairs[n, r].unsqueeze(1)
        found.append(scores.topk(min(hyp.beam, scores.shape[1])))
    scores, relation = (torch.cat(parts) for parts in zip(*found, strict=True))
    return scores, relation


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
