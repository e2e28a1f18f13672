"""Distributions over what can come next, and how they are mixed into P(v) (equation 7)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

TINY = 1e-30
"""Keeps the logarithm of an impossible outcome finite, so that gradients stay finite too."""


class NodeScores(NamedTuple):
    """The three parts of P(v), equation 7, as log-probabilities before mixing."""

    switch: Tensor  # (..., 3) log [p_gen, p_enc, p_dec]
    vocabulary: Tensor  # (..., V) log p^(vocab)
    source: Tensor  # (..., M * S) log a^(enc), over all ways of copying a token
    nodes: Tensor  # (..., T) log a^(dec)


class Forced(NamedTuple):
    """Log-probabilities of all steps of the reference sequences."""

    nodes: NodeScores
    attention: Tensor  # (B, T, S) log a^(enc)
    sources: Tensor  # (B, T, T) log P(u) of row i over the rows that can be its source
    candidates: Tensor  # (B, T, T) which rows those are
    relations: Tensor  # (B, T, R) log P(r) given the reference source
    links: Tensor | None  # (B, S, KINDS, S) scores of pairs of words, if the model has them
    frames: Tensor | None  # (B, S, F) log-probabilities of the words' frames, if it has them


@torch.no_grad()
def outcome_probabilities(scores: NodeScores, offers: Tensor, indices: Tensor) -> Tensor:
    """Return P(v) over all outcomes, equation 7: (B, T, V + M * S + T').

    *offers* (B, M * S) is the outcome that each token offers: equal offers pool their probability.
    *indices* (B, T') are the node indices of the preceding rows: all rows of a node count as its
    first one. The vocabulary is large: everything that is done to all of it counts.
    """
    generate, copy, repeat = scores.switch.split(1, dim=-1)
    *steps, labels = scores.vocabulary.shape
    places = offers.shape[1]
    tail = (0, places + indices.shape[1])
    outcomes = functional.pad(scores.vocabulary + generate, tail, value=-torch.inf).exp_()
    first = indices.clamp(min=1) + (labels + places - 1)  # row i is at place i - 1 of the copies
    copied = torch.cat([offers, first], dim=1).unsqueeze(1).expand(*steps, -1)
    copies = torch.cat([scores.source + copy, scores.nodes + repeat], dim=-1)
    return outcomes.scatter_add_(-1, copied, copies.exp_())


def mix_outcomes(scores: NodeScores, offers: Tensor, indices: Tensor) -> Tensor:
    """Return log P(v) over all outcomes: :func:`outcome_probabilities`, kept finite."""
    return outcome_probabilities(scores, offers, indices).clamp_min(TINY).log()


def masked_log_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Return a masked log-softmax; a row without any possible slot is -inf throughout.

    Without a mask every slot is possible. The fill is finite, because the gradient of a softmax
    over nothing but -inf is not a number.
    """
    if mask is None:
        return scores.float().log_softmax(-1)
    result = scores.float().masked_fill(~mask, -1e9).log_softmax(-1)
    return torch.where(mask, result, -torch.inf)
