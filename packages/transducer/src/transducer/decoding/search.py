"""Greedy search, and Algorithm 1's beam search over relations.

Both build all sentences of a batch at once. A hypothesis is a growing table of rows; everything
that is known about the rows is a tensor with one entry per hypothesis and row
(:mod:`transducer.decoding.hypotheses`), so that the rules of what may come next
(:mod:`transducer.decoding.constraints`) are tensor operations as well. The score of a sequence is
what :meth:`TransducerModel.log_likelihood` gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from graphconv.arborescence import Row
from transducer.config import DecodeConfig
from transducer.data.batches import Batch
from transducer.data.examples import Item
from transducer.decoding.beam import beam_search
from transducer.decoding.greedy import greedy_search
from transducer.decoding.hypotheses import Hypotheses
from transducer.decoding.results import Decision, Decoded, RowWriter, node_frames
from transducer.decoding.rules import Rules
from transducer.decoding.steps import Steps
from transducer.model.frames import most_probable
from transducer.model.network import TransducerModel


@torch.inference_mode()
def decode(
    model: TransducerModel,
    batch: Batch,
    items: Sequence[Item],
    rules: Rules,
    settings: DecodeConfig,
    *,
    details: bool = False,
    runners_up: int = 0,
    on_row: Callable[[int, Row, Decision], None] | None = None,
) -> list[list[Decoded]]:
    """Decode a batch: for each sentence its best hypotheses, best first.

    *on_row* is told of each row as greedy search decides it; *details* adds scores and alignments;
    *runners_up* of the next best choices are part of every decision.
    """
    steps = Steps(model, rules, settings, runners_up)
    hyp = steps.start(batch, items, settings.beam)
    frames = hyp.sentences.encoded.frames
    width = batch.words.shape[1]
    writers = [RowWriter(rules, width, len(item.forms), item.offer_labels) for item in items]

    def tell(sentence: int, hyp: Hypotheses, k: int) -> None:
        assert on_row is not None
        row = writers[sentence].last_row(hyp, k)
        on_row(sentence, row, writers[sentence].last_decision(hyp, k, row))

    if settings.beam == 1:
        found = greedy_search(steps, hyp, tell if on_row is not None else None)
    else:
        found = beam_search(steps, hyp, settings)
    told = most_probable(frames, rules.frames) if rules.frames else [()] * len(items)
    results: list[list[Decoded]] = []
    for item, writer, paths, own in zip(items, writers, found, told, strict=True):
        results.append([])
        for path in paths:
            chosen = writer.rows(path)
            rows = steps.constraints.complete(chosen, item.forms)
            alignments = path.attention[:, : len(item.forms)].tolist() if details else ()
            results[-1].append(
                Decoded(
                    rows=tuple(rows),
                    score=path.score,
                    row_scores=tuple(path.row_score) if details else (),
                    decisions=tuple(writer.decisions(path, chosen)),
                    alignments=tuple(map(tuple, alignments)),
                    frames=node_frames(rows, len(item.forms), own),
                )
            )
    return results
