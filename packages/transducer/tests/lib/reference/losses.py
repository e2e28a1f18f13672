"""Section 4.3: the losses, each a sum over all steps of some sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from graphconv.arborescence import Row
from reference.decoder import Outcome, Reference, Step
from reference.extensions import KINDS
from reference.functions import PAD, UNK
from reference.search import log
from transducer.data.frames import token_frames

SMALLEST = -69.0  # the logarithm of an impossible slot


class Losses(NamedTuple):
    """The terms of the loss, without their weights."""

    node: float
    source: float
    relation: float
    coverage: float
    links: float
    frames: float


def forced_steps(model: Reference) -> list[Step]:
    """Consume the reference rows; step i is after row i."""
    steps = [model.begin()]
    for number, row in enumerate(model.example.rows, start=1):
        node = model.consume(steps[-1], outcome_of(row, number))
        steps.append(model.advance(steps[-1], node, row.head, row.relation))
    return steps


def outcome_of(row: Row, number: int) -> Outcome:
    """Return what the decoder should predict for a row."""
    if row.index != number:
        return Outcome("node", row.index)
    return Outcome("word", row.anchors[0]) if row.anchors else Outcome("label", row.label)


def losses(
    models: Sequence[Reference],
    *,
    smoothing: float = 0.0,
    edge_smoothing: float = 0.0,
    link_smoothing: float = 0.0,
    force_copy: bool = False,
) -> Losses:
    """Return every term of the loss."""
    node = source = relation = coverage = frames = 0.0
    for model in models:
        steps, rows = forced_steps(model), model.example.rows
        covered = [0.0] * model.n
        for i, step in enumerate(steps):
            v = outcome_of(rows[i], i + 1) if i < len(rows) else Outcome("end", "")
            node += _node_loss(model, step, v, smoothing, force_copy)
            coverage += sum(min(a, c) for a, c in zip(step.attention, covered, strict=True))
            covered = [a + c for a, c in zip(step.attention, covered, strict=True)]
            if 0 < i < len(rows):
                consumed = model.consume(step, v)
                p_u = model.next_sources(step, consumed)
                source += _choice(p_u.get(rows[i].head, 0.0), list(p_u.values()), edge_smoothing)
                p_r = model.next_relations(step, consumed, rows[i].head)
                right = p_r[rows[i].relation]
                relation += _choice(right, list(p_r.values()), edge_smoothing)
        frames += _frame_loss(model)
    return Losses(node, source, relation, coverage, _link_loss(models, link_smoothing), frames)


def _node_loss(
    model: Reference, step: Step, v: Outcome, smoothing: float, force_copy: bool
) -> float:
    """-log P(v), smoothed over all slots that are possible."""
    slots = model.slots(step)
    labels, p = model.v.labels, 0.0
    if v.kind == "node":
        p = sum(x for row, x in zip(step.rows, slots.rows, strict=True) if row.index == v.value)
    elif v.kind == "word":
        p = slots.words[int(v.value)]
    else:
        label = "<end>" if v.kind == "end" else str(v.value)
        offers = [offer for _, _, offer in model.offers()]
        copied = sum(x for x, offer in zip(slots.words, offers, strict=False) if offer == label)
        generated = slots.labels[labels[label]] if label in labels else 0.0
        if label not in labels and label not in offers:
            return 0.0  # neither: nothing to learn
        p = copied if force_copy and label in offers else copied + generated
    every = [x for i, x in enumerate(slots.labels) if i not in (PAD, UNK)]
    every += [*slots.words, *slots.rows]
    logs = [max(log(x), SMALLEST) for x in every]
    return -(1 - smoothing) * log(p) - smoothing * sum(logs) / len(logs)


def _choice(p: float, every: Sequence[float], smoothing: float) -> float:
    mean = sum(log(x) for x in every) / len(every)
    return -(1 - smoothing) * log(p) - smoothing * mean


def _frame_loss(model: Reference) -> float:
    known = token_frames(model.example.tokens)
    if not model.encoded.frames or not known:
        return 0.0
    numbers = [model.v.frames[frame] for frame in known]
    told = zip(model.encoded.frames, numbers, strict=True)
    return -sum(log(p[number]) for p, number in told if number > UNK)


def _link_loss(models: Sequence[Reference], smoothing: float) -> float:
    """Binary cross-entropy of all pairs of words: head to row, and either way."""
    pairs = []  # (kind, score, whether they are linked)
    for model in models:
        if not model.links:
            return 0.0
        tokens = forced_steps(model)[-1].tokens
        down = set()
        for number, row in enumerate(model.example.rows, start=1):
            ends = (tokens[row.head], tokens[number])
            if number > 1 and all(ends) and ends[0] != ends[1]:
                down.add((ends[0] - 1, ends[1] - 1))
        either = down | {(t, s) for s, t in down}
        for s in range(model.n):
            for t in range(model.n):
                for kind, linked in enumerate((down, either)):
                    pairs.append((kind, model.links[s][kind][t], (s, t) in linked))
    total = 0.0
    for kind in range(KINDS):
        own = [(score, is_linked) for k, score, is_linked in pairs if k == kind]
        usual = sum(is_linked for _, is_linked in own) / len(own)
        for score, is_linked in own:
            target = (1 - smoothing) * is_linked + smoothing * usual
            p = 1 / (1 + math.exp(-score))
            total -= target * math.log(p) + (1 - target) * math.log(1 - p)
    return total
