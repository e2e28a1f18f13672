"""What the package adds to the paper's model, each behind a switch (docs/paper.md).

Frames, the copy attention with its pointer, links between words, and ways of copying a token.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from reference.encoder import Encoding
from reference.functions import PAD, UNK, Weights, elu, ffn, softmax

KINDS, DEPTH, NEVER = 2, 12, -30.0


def tell_frames(w: Weights, encoded: Encoding) -> Encoding:
    """Tell each word's frame, and add what the frames mean to the states."""
    states, frames = [], []
    for state in encoded.states:
        scores = ffn(w, "frames.scores", elu(ffn(w, "frames.hidden", state))).tolist()
        scores[PAD] = scores[UNK] = -math.inf
        told = softmax(scores)
        frames.append(told)
        states.append(state + w["frames.meaning.weight"] @ torch.tensor(told, dtype=state.dtype))
    return Encoding(states, encoded.first, frames)


def point(
    w: Weights, z: Tensor, *, reach: int, last: int, used: set[int], tokens: int
) -> list[float]:
    """Score words by their distance from the last one, and by whether they are nodes already.

    *last* and *used* number words from 1; 0 is none.
    """
    near, status = ffn(w, "pointer.distances", z), ffn(w, "pointer.status", z)
    free = [t for t in range(1, tokens + 1) if t not in used]
    scores = []
    for t in range(1, tokens + 1):
        distance = max(-reach, min(reach, t - last))
        state = 1 if t in used else 2 if t == free[0] else 0
        scores.append(float(near[distance + reach] + status[state]))
    return scores


def link_scores(w: Weights, states: Sequence[Tensor]) -> list[list[list[float]]]:
    """Return how each word (first) is linked to each other (last), by kind."""
    size = w["links.weight"].shape[1]
    heads = [elu(ffn(w, "links.heads", state)) for state in states]
    words = [elu(ffn(w, "links.words", state)) for state in states]
    result = []
    for head in heads:
        by_kind = []
        for kind in range(KINDS):
            part = slice(kind * size, (kind + 1) * size)
            middle, bias = w["links.weight"][kind], float(w["links.bias"][kind, 0])
            by_kind.append([float(head[part] @ middle @ word[part]) + bias for word in words])
        result.append(by_kind)
    return result


class OpenRow(NamedTuple):
    """A row that may have further children, and what links say of the words below it."""

    row: int
    token: int
    scores: list[list[float]]  # by kind and word
    following: list[list[float]]  # log P(the next row is this word below this row)


def traverse(
    links: Sequence[Sequence[Sequence[float]]],
    path: Sequence[tuple[int, int]],
    used: set[int],
    *,
    ordered: bool,
) -> tuple[list[OpenRow], list[float]]:
    """Follow the links from the open rows, (number, word) each, the deepest first; and log P(end).

    If links were independent, the next row would be the first free word that is linked to the
    deepest open row, or else to the one above it, and so on. There are always DEPTH open rows:
    those that are missing have no links.
    """
    n = len(links)
    open_rows: list[OpenRow] = []
    passed = [0.0] * KINDS  # -log P(no free word is linked to the deeper rows)
    for row, token in [*path, *[(0, 0)] * DEPTH][:DEPTH]:
        scores, following = [], []
        for kind in range(KINDS):
            own = list(links[token - 1][kind]) if token else [NEVER] * n
            next_row, before = [], 0.0
            for t in range(n):
                if t + 1 in used:
                    next_row.append(NEVER)
                    continue
                log_p = -_softplus(-own[t]) - passed[kind] - (before if ordered else 0.0)
                next_row.append(max(log_p, NEVER))
                before += _softplus(own[t])
            scores.append(own)
            following.append(next_row)
            passed[kind] += before
        open_rows.append(OpenRow(row, token, scores, following))
    return open_rows, [-min(total, -NEVER) for total in passed]


def of_words(w: Weights, z: Tensor, open_rows: Sequence[OpenRow]) -> list[float]:
    """Score every word as the next node."""
    factors = ffn(w, "links.of_words", z).tolist()
    result = []
    for t in range(len(open_rows[0].scores[0])):
        features = [
            math.log(sum(math.exp(row.following[kind][t]) for row in open_rows))
            for kind in range(KINDS)
        ]
        features += [open_rows[0].scores[kind][t] / 8 for kind in range(KINDS)]
        result.append(sum(f * x for f, x in zip(factors, features, strict=True)))
    return result


def of_copy(w: Weights, z: Tensor, open_rows: Sequence[OpenRow], token: int) -> float:
    """Score an earlier row as the next node, by its word."""
    if not token:
        return 0.0
    factors = ffn(w, "links.of_copies", z).tolist()
    features = [row.scores[kind][token - 1] / 8 for row in open_rows[:2] for kind in range(KINDS)]
    return float(sum(f * x for f, x in zip(factors, features, strict=True)))


def of_source(w: Weights, open_rows: Sequence[OpenRow], token: int, row: int) -> float:
    """Score a row as the source of the next one, whose word is *token* (0: none)."""
    for candidate in open_rows:
        if candidate.row != row or not token:
            continue
        if not candidate.token:
            return float(w["links.of_wordless"])
        features = [candidate.scores[kind][token - 1] / 8 for kind in range(KINDS)]
        features += [candidate.following[kind][token - 1] for kind in range(KINDS)]
        pairs = zip(w["links.of_sources"].tolist(), features, strict=True)
        return float(sum(f * x for f, x in pairs))
    return 0.0


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))
