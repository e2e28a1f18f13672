"""What training minimizes: the joint loss of section 4.3, and the losses beyond the paper.

All losses are sums over the decoding steps of a batch; training divides them by their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from transducer.config import TrainConfig
from transducer.data.batches import Batch
from transducer.data.examples import COPY, IGNORE
from transducer.data.vocabularies import EOS, PAD, ROOT, UNK
from transducer.model.scores import TINY, Forced, NodeScores

_LOG_TINY = -69.0  # about log(TINY)


@dataclass(frozen=True, slots=True)
class LossWeights:
    """What each loss weighs, and how its targets are smoothed; as it is, the likelihood alone."""

    smoothing: float = 0.0
    """Label smoothing of nodes."""
    edge_smoothing: float = 0.0
    """Label smoothing of sources and relation types."""
    coverage: float = 0.0
    links: float = 0.0
    link_smoothing: float = 0.0
    frames: float = 0.0
    force_copy: bool = False
    """Copy where copying gives the label, instead of summing over copying and generating."""

    @classmethod
    def of(cls, settings: TrainConfig) -> LossWeights:
        """Return those that a recipe asks for."""
        return cls(
            smoothing=settings.smoothing,
            edge_smoothing=settings.edge_smoothing,
            coverage=settings.coverage,
            links=settings.link_loss,
            link_smoothing=settings.link_smoothing,
            frames=settings.frame_loss,
            force_copy=settings.force_copy,
        )


LIKELIHOOD = LossWeights()


class Losses(NamedTuple):
    """Sums over all decoding steps."""

    total: Tensor
    node: Tensor
    source: Tensor
    relation: Tensor
    coverage: Tensor
    links: Tensor
    frames: Tensor


def joint_loss(forced: Forced, batch: Batch, weights: LossWeights = LIKELIHOOD) -> Losses:
    """Return the joint loss of the reference sequences (equation 17), and what it is the sum of."""
    w = weights
    node = _smoothed_node_loss(forced.nodes, batch, w.smoothing, w.force_copy)  # (B, T)
    rows = _edge_rows(batch)  # (B, T) rows whose source and relation are decided
    source = _smoothed_choice(forced.sources, batch.heads, forced.candidates, w.edge_smoothing)
    possible = _possible_relations(forced.relations)
    relation = _smoothed_choice(forced.relations, batch.relations, possible, w.edge_smoothing)
    none = node.new_zeros(())
    losses = (
        (node * batch.target_mask).sum(),
        (source * rows).sum(),
        (relation * rows).sum(),
        (_coverage(forced.attention) * batch.target_mask).sum(),
        none if forced.links is None else _links(forced.links, batch, rows, w.link_smoothing),
        none if forced.frames is None else frame_loss(forced.frames, batch.frames),
    )
    factors = (1.0, 1.0, 1.0, w.coverage, w.links, w.frames)
    total = torch.stack([f * loss for f, loss in zip(factors, losses, strict=True)]).sum()
    return Losses(total, *losses)


def log_likelihood(forced: Forced, batch: Batch) -> Tensor:
    """Return log P(Y | X) of each sentence's reference sequence: (B,)."""
    node = node_log_probability(forced.nodes, batch, force_copy=False)
    source = forced.sources.gather(-1, batch.heads.unsqueeze(-1)).squeeze(-1)
    relation = forced.relations.gather(-1, batch.relations.unsqueeze(-1)).squeeze(-1)
    edges = torch.where(_edge_rows(batch), source + relation, 0.0)
    return (torch.where(batch.target_mask, node, 0.0) + edges).sum(1)


def _coverage(log_attention: Tensor) -> Tensor:
    """Return how much of its attention each step gives to words that had it before: (B, T)."""
    attention = log_attention.exp()
    covered = attention.cumsum(1) - attention  # cov_i, the attention before step i
    return torch.minimum(attention, covered).sum(-1)


def _links(links: Tensor, batch: Batch, rows: Tensor, smoothing: float) -> Tensor:
    # A unit and its first word are one for links, so that there is none between them.
    apart = batch.link_tokens != batch.link_tokens.gather(1, batch.heads)
    return link_loss(
        links,
        batch.source_mask,
        batch.link_tokens,
        batch.heads,
        rows & apart,
        smoothing=smoothing,
    )


def node_log_probability(scores: NodeScores, batch: Batch, *, force_copy: bool) -> Tensor:
    """Return log P(v_{i+1}) of the reference: (B, T)."""
    labels = scores.vocabulary.shape[-1]
    outcomes = batch.outcomes
    switch = scores.switch.exp()
    offered = batch.offers.unsqueeze(1) == outcomes.unsqueeze(-1)  # (B, T, M * S); padding offers 0
    source = torch.where(offered, scores.source.exp(), 0.0).sum(-1)
    in_vocabulary = (outcomes >= EOS) & (outcomes < labels)
    if force_copy:
        in_vocabulary = in_vocabulary & ~offered.any(-1)
    generated = scores.vocabulary.gather(-1, outcomes.clamp(0, labels - 1).unsqueeze(-1)).squeeze(
        -1
    )
    generated = torch.where(in_vocabulary, generated.exp(), 0.0)
    following = functional.pad(batch.indices, (0, 1))[:, 1:]  # index of row i + 1
    same = (batch.indices.unsqueeze(1) == following.unsqueeze(-1)) & (outcomes == COPY).unsqueeze(
        -1
    )
    copied = torch.where(same, scores.nodes.exp(), 0.0).sum(-1)
    mixed = switch[..., 0] * generated + switch[..., 1] * source + switch[..., 2] * copied
    return mixed.clamp_min(TINY).log()


def _smoothed_node_loss(
    scores: NodeScores, batch: Batch, smoothing: float, force_copy: bool
) -> Tensor:
    """Return -log P(v) mixed with the mean over all possible slots of the hybrid space: (B, T)."""
    loss = -node_log_probability(scores, batch, force_copy=force_copy)
    if smoothing:
        parts = (scores.vocabulary, scores.source, scores.nodes)
        total = torch.zeros_like(loss)
        slots = torch.zeros_like(loss)
        for part, switch in zip(parts, scores.switch.unbind(-1), strict=True):
            possible = torch.isfinite(part) & torch.isfinite(switch).unsqueeze(-1)
            mixed = torch.where(possible, part + switch.unsqueeze(-1), 0.0)
            total = total + mixed.clamp_min(_LOG_TINY).sum(-1)
            slots = slots + possible.sum(-1)
        loss = (1 - smoothing) * loss - smoothing * total / slots.clamp_min(1)
    return torch.where(batch.outcomes == IGNORE, 0.0, loss)


def _smoothed_choice(scores: Tensor, target: Tensor, possible: Tensor, smoothing: float) -> Tensor:
    """Return the smoothed negative log-likelihood of *target* over the possible choices: (B, T)."""
    loss = -scores.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    if smoothing:
        mean = torch.where(possible, scores, 0.0).sum(-1) / possible.sum(-1).clamp_min(1)
        loss = (1 - smoothing) * loss - smoothing * mean
    return torch.where(torch.isfinite(loss), loss, 0.0)


def _possible_relations(scores: Tensor) -> Tensor:
    possible = torch.ones(scores.shape[-1], dtype=torch.bool, device=scores.device)
    possible[[PAD, UNK, ROOT]] = False
    return possible


def _edge_rows(batch: Batch) -> Tensor:
    """Return which rows' source and relation are decisions: all but row 0 (begin) and row 1 (root).

    A step that has an outcome exists for rows 0..m, so that row i exists if step i does.
    """
    steps = torch.arange(batch.target_mask.shape[1], device=batch.target_mask.device)
    return batch.target_mask & (steps >= 2)


def link_loss(
    links: Tensor,
    mask: Tensor,
    tokens: Tensor,
    heads: Tensor,
    rows: Tensor,
    *,
    smoothing: float = 0.0,
) -> Tensor:
    """Return the loss of the pair scores, given the words and heads of *rows* (B, T).

    Smoothing takes each pair to be like any other one now and then: linked as often as pairs are.
    """
    sentences, width = mask.shape
    of_heads = tokens.gather(1, heads)
    place = of_heads * (width + 1) + tokens
    place = torch.where((of_heads > 0) & (tokens > 0) & rows, place, 0)
    table = links.new_zeros(sentences, (width + 1) ** 2).scatter_(1, place, 1.0)
    down = table.view(sentences, width + 1, width + 1)[:, 1:, 1:]
    target = torch.stack([down, torch.maximum(down, down.transpose(1, 2))], dim=2)
    pairs = (mask[:, :, None, None] & mask[:, None, None, :]).to(links.dtype)
    if smoothing:
        usual = target.sum((0, 1, 3)) / pairs.sum().clamp_min(1)  # (KINDS,)
        target = (1 - smoothing) * target + smoothing * usual.unsqueeze(1)
    return functional.binary_cross_entropy_with_logits(links, target, weight=pairs, reduction="sum")


def frame_loss(frames: Tensor, target: Tensor) -> Tensor:
    """Return the loss of the words whose frames are known."""
    known = target > UNK
    loss = -frames.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return torch.where(known, loss, 0.0).sum()
