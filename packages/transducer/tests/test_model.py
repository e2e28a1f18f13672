"""The model's distributions and losses."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from transducer.data.batches import collate
from transducer.data.examples import COPY, numericalize
from transducer.data.hiding import hide_subwords, hide_tags, hide_words
from transducer.data.vocabularies import EOS, PAD, UNK
from transducer.encoders.subwords import Subwords
from transducer.model.losses import LossWeights
from transducer.model.scores import NodeScores, mix_outcomes


def test_distributions_sum_to_one(small: Any) -> None:
    batch = small.batch()
    forced = small.model.teacher_force(batch)
    outcomes = mix_outcomes(forced.nodes, batch.offers, batch.indices).exp()
    # Rows are pooled at their first occurrence, one place before their number.
    torch.testing.assert_close(
        outcomes.sum(-1), torch.ones(batch.outcomes.shape), atol=1e-5, rtol=0
    )
    rows = batch.target_mask & (torch.arange(batch.heads.shape[1]) >= 1)
    sums = forced.sources.exp().sum(-1)[rows]
    torch.testing.assert_close(sums, torch.ones_like(sums), atol=1e-5, rtol=0)
    sums = forced.relations.exp().sum(-1)
    torch.testing.assert_close(sums, torch.ones_like(sums), atol=1e-5, rtol=0)


def test_impossible_slots_have_no_probability(small: Any) -> None:
    batch = small.batch()
    forced = small.model.teacher_force(batch)
    assert (forced.nodes.vocabulary[..., [PAD, UNK]] == -math.inf).all()
    assert (forced.nodes.switch[:, 0, 2] == -math.inf).all()  # nothing to copy at the first step
    padding = ~batch.source_mask.unsqueeze(1).expand_as(forced.attention)
    assert (forced.attention[padding] == -math.inf).all()
    assert (forced.sources[~batch.candidates] == -math.inf).all()
    steps = torch.arange(batch.nodes.shape[1])
    not_before = (steps[None, :] > steps[:, None]) | (steps[None, :] == 0)
    assert (forced.nodes.nodes[:, not_before] == -math.inf).all()


def test_padding_and_batching_change_nothing(small: Any) -> None:
    together = small.model.log_likelihood(small.batch())
    alone = [small.model.log_likelihood(small.batch([item])) for item in small.items]
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-3, rtol=1e-5)


def test_the_loss_is_the_likelihood_without_smoothing(small: Any) -> None:
    batch = small.batch()
    losses = small.model.loss(batch)
    likelihood = small.model.log_likelihood(batch).sum()
    torch.testing.assert_close(losses.total, -likelihood, atol=1e-2, rtol=1e-5)


def test_gradients_are_finite_and_reach_every_weight(small: Any) -> None:
    small.model.train()
    weights = LossWeights(smoothing=0.1, edge_smoothing=0.1, coverage=1.0, links=1.0)
    small.model.loss(small.batch(), weights).total.backward()
    for name, weight in small.model.named_parameters():
        assert weight.grad is not None, name
        assert torch.isfinite(weight.grad).all(), name
        if name.startswith("ffn_vocab") and len(small.vocabularies.labels) == EOS + 1:
            continue  # DM: the end symbol is the only choice
        if name == "links.of_wordless" and small.task.name != "amr":
            continue  # all rows that can have children have a word
        assert weight.grad.abs().sum() > 0, name


@torch.no_grad()
def test_coverage_by_hand(make_small: Callable[..., Any]) -> None:
    small = make_small("dm", size=1)
    batch = small.batch()
    attention = small.model.teacher_force(batch).attention.exp()[0]
    expected = 0.0
    for i in range(attention.shape[0]):
        for t in range(attention.shape[1]):
            covered = sum(float(attention[j, t]) for j in range(i))
            expected += min(float(attention[i, t]), covered)
    assert float(small.model.loss(batch).coverage) == pytest.approx(expected, rel=1e-5)


@torch.no_grad()
def test_smoothing_by_hand(make_small: Callable[..., Any]) -> None:
    small = make_small("dm", size=1)
    batch = small.batch()
    scores: NodeScores = small.model.teacher_force(batch).nodes
    plain = small.model.loss(batch).node
    smooth = small.model.loss(batch, LossWeights(smoothing=0.2)).node
    expected = 0.0
    for i in range(batch.nodes.shape[1]):
        slots = []
        for part, switch in zip(scores[1:], scores.switch[0, i].tolist(), strict=True):
            slots += [float(x) + switch for x in part[0, i] if float(x) + switch > -math.inf]
        expected += sum(slots) / len(slots)
    assert float(smooth) == pytest.approx(0.8 * float(plain) - 0.2 * expected, rel=1e-4)


@torch.no_grad()
def test_equal_lemmas_pool_their_probability(make_small: Callable[..., Any]) -> None:
    """A concept that two tokens offer is as probable as both copies and its generation together."""
    small = make_small("amr", size=6)
    example = small.examples[0]
    label = next(row.label for row in example.rows if row.index == 1)
    offers = tuple((label, *ways[1:]) if t < 2 else ways for t, ways in enumerate(example.offers))
    item = numericalize(replace(example, offers=offers), small.vocabularies)
    batch = collate([item], small.vocabularies)
    scores = small.model.teacher_force(batch).nodes
    outcome = int(batch.outcomes[0, 0])
    mixed = mix_outcomes(scores, batch.offers, batch.indices)[0, 0].exp()
    places = (batch.offers[0] == outcome).nonzero().squeeze(1)
    assert len(places) >= 2
    switch = scores.switch[0, 0].exp()
    expected = switch[1] * scores.source[0, 0, places].exp().sum()
    if outcome < len(small.vocabularies.labels):
        expected = expected + switch[0] * scores.vocabulary[0, 0, outcome].exp()
    torch.testing.assert_close(mixed[outcome], expected)


@torch.no_grad()
def test_forced_copy_ignores_generation(make_small: Callable[..., Any]) -> None:
    small = make_small("amr", size=12)
    labels = small.vocabularies.labels
    generated = (e for e in small.examples if any(row.label in labels for row in e.rows))
    example = next(generated)
    label = next(row.label for row in example.rows if row.label in labels)
    offers = ((label, *example.offers[0][1:]), *example.offers[1:])
    item = numericalize(replace(example, offers=offers), small.vocabularies)
    batch = collate([item], small.vocabularies)
    summed = small.model.loss(batch).node
    forced = small.model.loss(batch, LossWeights(force_copy=True)).node
    assert float(forced) > float(summed)


@torch.no_grad()
def test_node_copy_counts_every_row_of_the_node(make_small: Callable[..., Any]) -> None:
    small = make_small("amr", size=40)
    batch = small.batch()
    copies = (batch.outcomes == COPY).nonzero().tolist()
    assert copies
    scores = small.model.teacher_force(batch).nodes
    mixed = mix_outcomes(scores, batch.offers, batch.indices)
    for b, i in copies:
        index = int(batch.indices[b, i + 1])
        rows = [j for j in range(1, i + 1) if int(batch.indices[b, j]) == index]
        expected = float(scores.switch[b, i, 2].exp()) * sum(
            float(scores.nodes[b, i, j].exp()) for j in rows
        )
        place = scores.vocabulary.shape[-1] + batch.offers.shape[1] + index - 1
        assert float(mixed[b, i, place].exp()) == pytest.approx(expected, rel=1e-4)


SIZES = {"pointer_reach": 4, "link_size": 6}


@pytest.mark.parametrize("switch", ["anchored", "copy_attention", *SIZES])
def test_switches_change_the_network(make_small: Callable[..., Any], switch: str) -> None:
    others = dict.fromkeys(SIZES, 0)
    values = (SIZES[switch], 0) if switch in SIZES else (True, False)
    on, off = (make_small("dm", size=4, **{**others, switch: value}) for value in values)
    count = [sum(w.numel() for w in s.model.parameters()) for s in (on, off)]
    assert count[0] > count[1]
    assert torch.isfinite(off.model.loss(off.batch()).total)


def test_hidden_tags_are_unknown_on_both_sides(make_small: Callable[..., Any]) -> None:
    small = make_small("dm", size=4)
    batch = small.batch()
    hidden = hide_tags(batch, 1.0)
    for name in ("pos", "node_pos"):
        assert (getattr(batch, name) > UNK).any()
        assert (getattr(hidden, name) <= UNK).all()
    assert torch.equal(hidden.pos == PAD, batch.pos == PAD)
    assert torch.equal(hide_tags(batch, 0.0).pos, batch.pos)


def test_only_subwords_of_words_are_masked(make_small: Callable[..., Any]) -> None:
    ids = torch.tensor([[2, 7, 8, 9, 3], [2, 7, 3, 0, 0]])
    words = torch.tensor([[-1, 0, 0, 1, -1], [-1, 2, -1, -1, -1]])
    subwords = Subwords(ids, (ids > 0).long(), words)
    batch = make_small("dm", size=4).batch()._replace(subwords=subwords)
    masked, shown = (hide_subwords(batch, 5, rate).subwords for rate in (1.0, 0.0))
    assert masked is not None
    assert shown is not None
    assert masked.ids.tolist() == [[2, 5, 5, 5, 3], [2, 5, 3, 0, 0]]
    assert torch.equal(shown.ids, ids)


@pytest.mark.parametrize("task", ["amr", "dm", "ucca"])
def test_hidden_words_are_unknown_nodes_too(make_small: Callable[..., Any], task: str) -> None:
    small = make_small(task, size=4)
    batch = small.batch()
    counts = torch.ones(len(small.vocabularies.words))
    hidden = hide_words(batch, counts, 1e9)
    assert torch.equal(hidden.words, torch.where(batch.source_mask, UNK, PAD))
    from_words = batch.node_tokens > 0
    assert from_words.any()
    assert (hidden.nodes[from_words] == UNK).all()
    assert torch.equal(hidden.nodes[~from_words], batch.nodes[~from_words])
    shown = hide_words(batch, counts, 0.0)
    assert torch.equal(shown.words, batch.words)
    assert torch.equal(shown.nodes, batch.nodes)
