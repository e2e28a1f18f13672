"""Greedy search: the best node, then the best source, then the best relation."""

from __future__ import annotations

from collections.abc import Callable

import torch

from transducer.data.vocabularies import EOS
from transducer.decoding.hypotheses import Hypotheses, RowScore
from transducer.decoding.interruption import check_interruption
from transducer.decoding.results import Path, take_path
from transducer.decoding.steps import Steps

_MOST_DONE = 4
"""The finished sentences of a batch are taken out once they are more than one in so many."""


def greedy_search(
    steps: Steps, hyp: Hypotheses, on_row: Callable[[int, Hypotheses, int], None] | None = None
) -> list[list[Path]]:
    """Return the only hypothesis of each sentence.

    *on_row* is told of each row: the sentence, the hypotheses, and which of them has it.
    """
    found: list[list[Path]] = [[] for _ in range(len(hyp))]
    sentences = list(range(len(hyp)))  # of the hypotheses
    while True:
        check_interruption()
        log_p, outcome = (best.squeeze(1) for best in steps.outcomes(hyp, 1))
        for k, number in enumerate(outcome.tolist()):
            if number == EOS and not found[sentences[k]]:
                total = float(hyp.state.score[k] + log_p[k])
                found[sentences[k]].append(take_path(hyp, k, total))
        going = [k for k, sentence in enumerate(sentences) if not found[sentence]]
        if not going:
            return found
        # Moving the rest costs less than going on with all.
        if _MOST_DONE * (len(sentences) - len(going)) > len(sentences):
            keep = torch.tensor(going, device=outcome.device)
            hyp.select(keep, keep)
            log_p, outcome = log_p[keep], outcome[keep]
            sentences = [sentences[k] for k in going]
            going = list(range(len(going)))
        choice = steps.consume(hyp, hyp.everyone, outcome, log_p)
        source, row = steps.sources(hyp, choice).max(1)
        head = row + 1 if hyp.length else row
        relation_score, relation = steps.relations(hyp, choice, head).max(1)
        score = RowScore(log_p + source + relation_score, log_p, source)
        steps.append(hyp, choice, head, relation, score)
        if on_row is not None:
            for k in going:
                on_row(sentences[k], hyp, k)
