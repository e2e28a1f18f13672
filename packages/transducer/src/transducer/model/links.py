"""Which words are linked: scores of word pairs, and what they say about the next row.

The paper's decoder finds its way through the graph by memory alone. Here a biaffine classifier over
the encoder states says of every pair of words how probable it is that the graph links them, before
anything is decoded. The decoder follows these links: rows come in pre-order and siblings in the
order of the text, so the next row is the first free word that is linked to the deepest open row;
where there is none, to the row above it, and so on. If links were independent of each other, that
would be an exact probability of every next word, of the next row's source and of the end. The
decoder gets its logarithm as a feature and decides itself how far to believe it.

There are two kinds of links, both learned from the rows: those that lead from a row's head to the
row, which say what the tree looks like, and those in either direction, which do not depend on where
the tree begins.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

KINDS = 2
"""From head to row, and either way."""

DEPTH = 12
"""Open rows that are looked at, from the deepest one upwards."""

_NO_LINK = -30.0  # a score that means never, but keeps everything finite
_RARE = -3.0  # where scores begin: few pairs are linked
_LOGITS = 8.0  # scores are logits: divided, a sure one is about as large as the other features
_FEATURES = 2 * KINDS  # of a word or a row: its link, and what the traversal says


class Traversal(NamedTuple):
    """What links say about the row that follows each step; K open rows, the deepest first."""

    rows: Tensor  # (B, T, K) their numbers, 0 where there are fewer
    tokens: Tensor  # (B, T, K) 1 + position of their words, or 0
    scores: Tensor  # (B, T, K, KINDS, S) how they are linked to each word
    following: Tensor  # (B, T, K, KINDS, S) log P(the next row is this word below this row)
    end: Tensor  # (B, T, KINDS) log P(no free word is linked to any of them)


class Links(nn.Module):
    """Score pairs of words, and turn the scores into features of the decoder's choices."""

    def __init__(self, states: int, query: int, size: int, dropout: float) -> None:
        super().__init__()
        self.heads = nn.Linear(states, KINDS * (size + 1))
        self.words = nn.Linear(states, KINDS * (size + 1))
        self.dropout = nn.Dropout(dropout)
        self.weight = nn.Parameter(torch.empty(KINDS, size + 1, size + 1))
        nn.init.normal_(self.weight, std=1 / size)
        self.bias = nn.Parameter(torch.full((KINDS, 1), _RARE))
        self.of_words = nn.Linear(query, _FEATURES)
        self.of_copies = nn.Linear(query, 2 * KINDS)
        self.of_sources = nn.Parameter(torch.full((_FEATURES,), 0.5))
        self.of_wordless = nn.Parameter(torch.tensor(_RARE))
        self.of_end = nn.Linear(KINDS, 3)
        nn.init.constant_(self.of_words.bias, 0.5)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Score all pairs: (B, S, H) -> (B, S, KINDS, S)."""
        head, word = (
            self.dropout(functional.elu(layer(states)).unflatten(-1, (KINDS, -1)))
            for layer in (self.heads, self.words)
        )
        projected = torch.einsum("bskx,kxy->bsky", head, self.weight)
        scores = torch.einsum("bsky,btky->bskt", projected, word) + self.bias
        pairs = mask[:, :, None, None] & mask[:, None, None, :]
        return scores.float().masked_fill(~pairs, _NO_LINK)

    # Features ------------------------------------------------------------------------------------

    def score_words(self, belief: Tensor, traversal: Traversal) -> Tensor:
        """Score every word as the next node: (B, T, S); *belief* is what of_words reads in z."""
        of_last = traversal.scores[:, :, 0]
        following = traversal.following.logsumexp(2)
        features = torch.cat([following, of_last / _LOGITS], dim=2)  # (B, T, F, S)
        return (belief.unsqueeze(-1) * features).sum(2)

    def score_copies(self, belief: Tensor, traversal: Traversal, tokens: Tensor) -> Tensor:
        """Score every earlier row as the next node, by its word: (B, T, T'); see of_copies."""
        near = traversal.scores[:, :, :2].flatten(2, 3)  # of the last row and of its head
        features = _at(near, tokens) / _LOGITS  # (B, T, 2 * KINDS, T')
        return (belief.unsqueeze(-1) * features).sum(2)

    def score_end(self, traversal: Traversal) -> Tensor:
        """Score the three sources of a node, of which one is the end: (B, T, 3)."""
        return self.of_end(traversal.end)

    def score_sources(self, traversal: Traversal, token: Tensor, width: int) -> Tensor:
        """Score rows 0..width-1 as the source of the next row: (B, T, width).

        *token* (B, T) is 1 + position of that row's word, or 0 for a node that is no word.
        """
        known = torch.cat([traversal.scores / _LOGITS, traversal.following], dim=3)
        features = _at(known, token.unsqueeze(-1)).squeeze(-1)  # (B, T, K, F)
        scores = (features * self.of_sources).sum(-1)  # (B, T, K)
        # A row that is no word has no links, which says nothing against it.
        scores = torch.where(traversal.tokens > 0, scores, self.of_wordless)
        scores = scores * ((traversal.rows > 0) & (token > 0).unsqueeze(-1))
        result = scores.new_zeros(*scores.shape[:2], width)
        return result.scatter_add(2, traversal.rows, scores)


def by_word(links: Tensor) -> Tensor:
    """Return how each word is linked to all, none of them first: (B, 1 + S, KINDS * S)."""
    return functional.pad(links.flatten(2), (0, 0, 1, 0), value=_NO_LINK)


def traverse(
    links: Tensor, path: Tensor, tokens: Tensor, used: Tensor, *, ordered: bool
) -> Traversal:
    """Follow the links from the open rows.

    *links* are pair scores as :func:`by_word` has them, *path* (B, T, K) the numbers of the open
    rows at each step, *tokens* (B, T, K) 1 + position of their words or 0, *used* (B, T, S) words
    that are nodes already. Where siblings are not *ordered* by the text, each free word may come
    next.
    """
    tokens = tokens * (path > 0)
    # Hypotheses of a sentence share its links.
    chosen = tokens.view(len(links), -1, 1).expand(-1, -1, links.shape[-1])
    scores = links.gather(1, chosen).view(*path.shape, KINDS, -1)
    free = ~used[:, :, None, None]
    unlinked = functional.softplus(scores) * free  # -log P(no link), of free words
    total = unlinked.sum(-1)  # (B, T, K, KINDS)
    before = unlinked.cumsum(-1) - unlinked  # free words that come earlier in the text
    deeper = total.cumsum(2) - total  # all words, of the rows below
    following = functional.logsigmoid(scores) - deeper.unsqueeze(-1)
    if ordered:
        following = following - before
    following = following.masked_fill(~free, _NO_LINK).clamp_min(_NO_LINK)
    return Traversal(path, tokens, scores, following, -total.sum(2).clamp_max(-_NO_LINK))


def open_rows(heads: Tensor, expands: Tensor) -> Tensor:
    """Return the path from every row to the root, the row itself first: (B, T) -> (B, T, DEPTH).

    A row that cannot have children, such as a copy of an earlier node, is left out.

    >>> open_rows(torch.tensor([[0, 0, 1, 2, 1]]), torch.ones(1, 5, dtype=torch.bool))[0, 3:, :4]
    tensor([[3, 2, 1, 0],
            [4, 1, 0, 0]])
    """
    rows = torch.arange(heads.shape[1], device=heads.device).expand_as(heads)
    return climb(torch.where(expands, rows, heads), heads)


def below(head: Tensor, row: int) -> Tensor:
    """Return the path of a row, given its head's: (..., DEPTH)."""
    return functional.pad(head[..., :-1], (1, 0), value=row)


def climb(start: Tensor, heads: Tensor) -> Tensor:
    """Return the paths from some rows to the root: (B, T), (B, T') -> (B, T, DEPTH)."""
    path = [start]
    for _ in range(DEPTH - 1):
        path.append(heads.gather(1, path[-1]))
    return torch.stack(path, dim=-1)


def of_path(values: Tensor, path: Tensor) -> Tensor:
    """Return what belongs to the rows of paths: (B, T'), (B, T, K) -> (B, T, K)."""
    return values.gather(1, path.flatten(1)).view_as(path)


def first_of(free: Tensor) -> Tensor:
    """Return 1 + position of the first word that is free, or 0: (..., S) -> (...).

    >>> first_of(torch.tensor([[False, True], [False, False]])).tolist()
    [2, 0]
    """
    found, place = free.max(-1)
    return (place + 1) * found


def _at(scores: Tensor, tokens: Tensor) -> Tensor:
    """Return the scores of words: (B, T, ..., S), (B, [T,] R) -> (B, T, ..., R); 0 is no word."""
    shape = (*scores.shape[:-1], tokens.shape[-1])
    middle = (1,) * (scores.ndim - tokens.ndim)
    index = tokens.view(*tokens.shape[:-1], *middle, tokens.shape[-1]).expand(shape)
    return scores.gather(-1, (index - 1).clamp_min(0)) * (index > 0)
