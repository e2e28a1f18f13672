"""The frames of words: learned, seen by the decoder, and in the finished graph."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from graphconv.graph import Token
from transducer.config import DecodeConfig
from transducer.data.examples import numericalize
from transducer.data.frames import NO_FRAME, token_frames, with_frames, without_frame
from transducer.data.vocabularies import PAD, SPECIALS, Vocabularies
from transducer.decoding.search import decode
from transducer.model.frames import most_probable
from transducer.model.losses import LossWeights

FRAMED = {"frame_size": 6}


def test_tokens_carry_frames() -> None:
    tokens = (Token("of"), Token("techniques", features=(("ner", "O"),)))
    framed = with_frames(tokens, (NO_FRAME, "n"))
    assert token_frames(framed) == [NO_FRAME, "n"]
    assert tuple(map(without_frame, framed)) == tokens
    assert token_frames(tokens) == []  # nothing is known, which is not the same as none


def test_frames_have_probabilities_and_are_learned(make_small: Any) -> None:
    small = make_small("dm", **FRAMED)
    batch = small.batch()
    known = batch.frames[batch.source_mask]
    assert (known >= len(SPECIALS)).all()
    frames = small.model.encode(batch).frames
    torch.testing.assert_close(frames.exp().sum(-1), torch.ones(frames.shape[:2]))
    losses = small.model.loss(batch, LossWeights(frames=1.0))
    expected = -frames[batch.source_mask].gather(1, known.unsqueeze(1)).sum()
    torch.testing.assert_close(losses.frames, expected)
    small.model.loss(batch, LossWeights(frames=1.0)).total.backward()
    assert all(w.grad is not None and torch.isfinite(w.grad).all() for w in _of(small))


def test_words_whose_frames_are_not_known_cost_nothing(make_small: Any) -> None:
    small = make_small("dm", **FRAMED)
    batch = small.batch()
    silver = batch._replace(frames=torch.full_like(batch.frames, PAD))
    losses = small.model.loss(silver, LossWeights(frames=1.0))
    assert losses.frames == 0
    losses.total.backward()
    assert all(w.grad is not None and torch.isfinite(w.grad).all() for w in _of(small))


def test_a_model_starts_as_if_there_were_none_and_then_looks_at_them(make_small: Any) -> None:
    small = make_small("dm", **FRAMED)
    before = small.model.log_likelihood(small.batch())
    with torch.no_grad():
        small.model.frames.scores.weight.mul_(20)
    torch.testing.assert_close(small.model.log_likelihood(small.batch()), before)
    with torch.no_grad():
        small.model.frames.meaning.weight.normal_()
    assert not torch.allclose(small.model.log_likelihood(small.batch()), before)


def test_a_node_always_has_a_frame() -> None:
    names = (*SPECIALS, NO_FRAME, "n", "v")
    scores = torch.tensor([[[-9.0, -9, -0.1, -3, -2], [-9, -9, -2, -0.1, -4]]])
    assert most_probable(scores, names) == [[(NO_FRAME, "v"), ("n", "n")]]


@pytest.mark.parametrize("beam", [1, 3])
def test_finished_graphs_have_frames(make_small: Any, beam: int) -> None:
    small = make_small("dm", **FRAMED)
    bare = [tuple(map(without_frame, e.tokens)) for e in small.examples]
    documents = [small.task.document(str(i), tokens) for i, tokens in enumerate(bare)]
    items = [numericalize(d.sentences[0].example, small.vocabularies) for d in documents]
    decoded = decode(small.model, small.batch(items), items, small.rules, DecodeConfig(beam=beam))
    for document, tokens, (best, *_) in zip(documents, bare, decoded, strict=True):
        graph = small.task.graph(document, [best.rows], [best.frames])
        assert tuple(map(without_frame, graph.tokens)) == tokens
        frames = token_frames(graph.tokens)
        assert all(frames[node.anchors[0]] != NO_FRAME for node in graph.nodes)


def test_data_without_frames_make_a_model_without(make_small: Any) -> None:
    small = make_small("ucca", **FRAMED)
    assert small.model.frames is None
    assert small.rules.frames == ()


def test_vocabularies_of_earlier_models_have_no_frames(make_small: Any) -> None:
    vocabularies = make_small("dm").vocabularies
    data = vocabularies.to_json()
    assert Vocabularies.from_json(data) == vocabularies
    del data["frames"]
    assert Vocabularies.from_json(data).frames.items == SPECIALS


def _of(small: Any) -> list[torch.nn.Parameter]:
    return list(small.model.frames.parameters())
