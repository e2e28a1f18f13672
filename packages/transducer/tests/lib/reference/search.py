"""Section 4.4: greedy search, and Algorithm 1, beam search over relations."""

from __future__ import annotations

import math
from typing import NamedTuple

from graphconv.arborescence import Row
from reference.decoder import Consumed, Outcome, Reference, Step
from reference.grammar import END, Grammar


class Found(NamedTuple):
    """A finished sequence of relations, and log P(Y | X)."""

    rows: tuple[Row, ...]
    score: float


def log(p: float) -> float:
    """The logarithm, of something impossible too."""
    return math.log(max(p, 1e-30))


def possible_nodes(model: Reference, grammar: Grammar, step: Step) -> list[tuple[float, Outcome]]:
    """Return log P(v) of the nodes that may come next, the best first."""
    allowed = grammar.outcomes(step.rows)
    scored = [(log(p), v) for v, p in model.next_nodes(step).items() if tuple(v) in allowed]
    return sorted(scored, key=lambda pair: -pair[0])


def greedy(model: Reference, grammar: Grammar) -> Found:
    """The best node, then its best source, then the best relation, until the end."""
    step, score = model.begin(), 0.0
    while True:
        log_v, v = possible_nodes(model, grammar, step)[0]
        score += log_v
        if tuple(v) == END:
            return Found(step.rows, score)
        node = model.consume(step, v)
        head, relation = 0, "root"
        if step.rows:
            sources = model.next_sources(step, node)
            head = max(grammar.heads(step.rows, v), key=lambda u: sources[u])
            relations = model.next_relations(step, node, head)
            relation = max(grammar.relations(step.rows, v, head), key=lambda r: relations[r])
            score += log(sources[head]) + log(relations[relation])
        step = model.advance(step, node, head, relation)


def beam_search(
    model: Reference, grammar: Grammar, size: int, length_penalty: float = 0.0
) -> Found:
    """Algorithm 1. The end adds its log-probability.

    It stops when nothing can become better any more, as log-probabilities only fall; with a length
    penalty, when the best live one is worse per relation than the best finished one.
    """

    def rank(score: float, rows: int) -> float:
        return float(score / (rows + 1) ** length_penalty)

    beam = [(0.0, model.begin())]
    finished: list[Found] = []
    while beam:
        new_beam, alive = [], -math.inf
        for score, step in beam:
            for log_v, v in possible_nodes(model, grammar, step)[:size]:
                if tuple(v) == END:
                    finished.append(Found(step.rows, score + log_v))
                    continue
                alive = max(alive, score + log_v)
                new_beam += _relations(model, grammar, step, v, score + log_v)
        best = max((rank(f.score, len(f.rows)) for f in finished), default=-math.inf)
        if rank(alive, len(beam[0][1].rows)) <= best:
            break
        new_beam.sort(key=lambda entry: -entry[0])
        beam = []
        for score, step, node, head, relation in new_beam[:size]:
            beam.append((score, model.advance(step, node, head, relation)))
    return max(finished, key=lambda found: rank(found.score, len(found.rows)))


def _relations(
    model: Reference, grammar: Grammar, step: Step, v: Outcome, score: float
) -> list[tuple[float, Step, Consumed, int, str]]:
    """Return every relation of v: all sources, all types."""
    node = model.consume(step, v)
    if not step.rows:
        return [(score, step, node, 0, "root")]
    sources = model.next_sources(step, node)
    result = []
    for u in sorted(grammar.heads(step.rows, v)):
        relations = model.next_relations(step, node, u)
        for r in sorted(grammar.relations(step.rows, v, u)):
            total = score + log(sources[u]) + log(relations[r])
            result.append((total, step, node, u, r))
    return result
