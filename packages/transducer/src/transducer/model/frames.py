"""What each word is: SDP 2015's frames, such as ``n_of`` and ``v_to``, and none for words without.

A frame is what the grammar's lexicon says of a word: its part of speech, its sense, what it
governs. It decides much of the graph (whether *of* is a node, whether a noun is modified by an
adjective or by another noun), and it can be told from the encoder states alone. So a classifier
tells it, and the decoder sees the states together with what the classifier believes.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from transducer.data.frames import NO_FRAME
from transducer.data.vocabularies import PAD, UNK


class Frames(nn.Module):
    """Tell the words' frames from their states, and the states what they are."""

    def __init__(self, states: int, size: int, frames: int, dropout: float) -> None:
        super().__init__()
        self.hidden = nn.Linear(states, size)
        self.dropout = nn.Dropout(dropout)
        self.scores = nn.Linear(size, frames)
        self.meaning = nn.Linear(frames, states, bias=False)
        nn.init.zeros_(self.meaning.weight)  # a model that did without them starts as it was

    def forward(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return log P(frame), and the states with what that means: (B, S, F), (B, S, H)."""
        logits = self.scores(self.dropout(functional.elu(self.hidden(states)))).float()
        logits[..., [PAD, UNK]] = -torch.inf
        frames = logits.log_softmax(-1)
        return frames, states + self.meaning(frames.exp())


def most_probable(frames: Tensor, names: Sequence[str]) -> list[list[tuple[str, str]]]:
    """Return the most probable frame of each word, and the most probable one that is not none."""
    none = torch.tensor([name == NO_FRAME for name in names], device=frames.device)
    real = frames.masked_fill(none, -torch.inf)
    best = torch.stack([frames.argmax(-1), real.argmax(-1)], dim=-1).tolist()
    return [[(names[first], names[second]) for first, second in words] for words in best]
