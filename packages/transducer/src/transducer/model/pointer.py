"""Where source copy is in the sentence: which words are nodes already, and which was the last.

The paper's source copy sees only the words' states. But graphs follow the text: the words of a UCCA
unit follow each other, the arguments of a DM predicate are near it, and a word becomes a node once.
The transducer knows what it has copied, so that it need not learn to remember it.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn


class Trail(NamedTuple):
    """What was copied before each step."""

    last: Tensor  # (B, T) 1 + position of the last word that is a node, or 0
    used: Tensor  # (B, T, S) words that are nodes


def trail(node_tokens: Tensor, width: int) -> Trail:
    """Return the trail of reference sequences, from 1 + position of each row's word, or 0: (B, T).

    >>> last, used = trail(torch.tensor([[0, 2, 0, 1]]), 2)
    >>> last.tolist(), used.int().tolist()
    ([[0, 2, 2, 1]], [[[0, 0], [0, 1], [0, 1], [1, 1]]])
    """
    rows = torch.arange(node_tokens.shape[1], device=node_tokens.device).expand_as(node_tokens)
    latest = torch.where(node_tokens > 0, rows, 0).cummax(1).values
    words = torch.arange(1, width + 1, device=node_tokens.device)
    used = (node_tokens.unsqueeze(-1) == words).cummax(1).values
    return Trail(node_tokens.gather(1, latest), used)


class Pointer(nn.Module):
    """Score words by their distance from the last one, and by whether they are nodes already."""

    def __init__(self, query: int, reach: int) -> None:
        super().__init__()
        self.reach = reach
        self.distances = nn.Linear(query, 2 * reach + 1)
        self.status = nn.Linear(query, 3)  # free, used, or the first that is free

    def forward(self, distances: Tensor, status: Tensor, trail: Trail) -> Tensor:
        """Score every word, given what both layers read in z: (B, T, S)."""
        width = trail.used.shape[-1]
        positions = torch.arange(1 + self.reach, width + 1 + self.reach, device=status.device)
        distance = (positions - trail.last.unsqueeze(-1)).clamp(0, 2 * self.reach)
        first = (~trail.used).cumsum(-1) == 1
        kind = torch.where(trail.used, 1, first.long() * 2)
        return distances.gather(-1, distance) + status.gather(-1, kind)
