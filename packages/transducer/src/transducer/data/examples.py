"""From sentences and trees to numbers.

An :class:`Example` has strings: what the model sees of a sentence and its tree. An :class:`Item`
has their numbers; :mod:`transducer.data.batches` makes tensors of several. Row 0 of the target side
is the begin symbol, so that row numbers are those of the arborescence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from graphconv.arborescence import Row
from graphconv.graph import Token
from transducer.data.frames import token_frames
from transducer.data.trees import TreeRules, candidate_heads
from transducer.data.vocabularies import (
    BOS,
    EOS,
    FIRST,
    PAD,
    SPECIALS,
    UNK,
    Vocabularies,
    Vocabulary,
)
from transducer.text.annotation import token_features

COPY = -1
"""Target outcome of a step: copy a preceding node."""

IGNORE = -2
"""Target outcome of a step: none, the label is neither in the vocabulary nor offered by a token."""

FEATURES = ("pos", "ner", "dep", "shape")
"""What annotation can say about a token."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence and, in training, its tree."""

    id: str
    trees: TreeRules
    tokens: tuple[Token, ...]
    offers: tuple[tuple[str, ...], ...] = ()
    """The labels that copying each token can give, one per way of copying; where words are nodes, a
    token offers itself, by position."""
    anonymous: tuple[bool, ...] = ()
    rows: tuple[Row, ...] = ()


class Item(NamedTuple):
    """An example in numbers; S tokens, T = rows + 1 steps, M ways to copy a token."""

    forms: tuple[str, ...]
    words: Array  # (S,)
    pos: Array
    ner: Array
    dep: Array
    shape: Array
    punct: Array
    anonymous: Array
    frames: Array  # (S,) or PAD where nothing is known of them
    offer_labels: tuple[str, ...]  # M * S labels, way after way
    offers: Array  # (M * S,) the outcome that each of them is: a label, or V + its place
    offer_nodes: Array  # (M * S,) and its number among the nodes
    labels: tuple[str, ...]  # (T,)
    nodes: Array  # (T,)
    node_pos: Array
    node_tokens: Array  # 1 + position of the token that the node is or can be copied from, or 0
    link_tokens: Array  # the same, and for a UCCA unit that of the first word below it
    link_rows: Array  # the row from which on that is known
    indices: Array
    heads: Array
    relations: Array
    outcomes: Array  # (T,) what step i predicts
    candidates: Array  # (T, T) which rows can be the head of row i

    @property
    def steps(self) -> int:
        """The number of decoding steps."""
        return len(self.nodes)


def build_vocabularies(
    examples: Sequence[Example], *, words: int | None = None, nodes: int | None = None
) -> Vocabularies:
    """Build the vocabularies of a model from its training examples.

    *words* and *nodes* bound the input words and the node labels. A label that is always copied
    need not be generated, so it is left out of the labels.
    """
    counts: dict[str, Counter[str]] = {
        name: Counter()
        for name in ("words", "nodes", "labels", "relations", "chars", "frames", *FEATURES)
    }
    for example in examples:
        for token in example.tokens:
            counts["words"][token.form.lower()] += 1
            counts["chars"].update(token.form)
            for name in FEATURES:
                counts[name][token_features(token)[name] or SPECIALS[UNK]] += 1
        counts["frames"].update(token_frames(example.tokens))
        offered = {label for labels in example.offers for label in labels}
        for number, row in enumerate(example.rows, start=1):
            counts["nodes"][row.label] += 1
            counts["chars"].update(row.label)
            counts["relations"][row.relation] += 1
            if row.index == number and not row.anchors and row.label not in offered:
                counts["labels"][row.label] += 1
    build = Vocabulary.build
    return Vocabularies(
        words=build(counts["words"], size=words),
        nodes=build(counts["nodes"], size=nodes, specials=FIRST["nodes"]),
        labels=build(counts["labels"], size=nodes, specials=FIRST["labels"]),
        relations=build(counts["relations"], specials=FIRST["relations"]),
        chars=build(counts["chars"]),
        frames=build(counts["frames"]),
        **{name: build(counts[name]) for name in FEATURES},
    )


def numericalize(example: Example, vocabularies: Vocabularies) -> Item:
    """Turn an example into numbers."""
    v = vocabularies
    features = [token_features(token) for token in example.tokens]
    columns = {
        name: array(getattr(v, name)[f[name] or SPECIALS[UNK]] for f in features)
        for name in FEATURES
    }
    forms = tuple(token.form for token in example.tokens)
    offer_labels, offers = _offers(example, v)
    return Item(
        forms=forms,
        words=array(v.words[form.lower()] for form in forms),
        pos=columns["pos"],
        ner=columns["ner"],
        dep=columns["dep"],
        shape=columns["shape"],
        punct=array(int(f["punct"] == "yes") for f in features),
        anonymous=array(example.anonymous or [0] * len(forms)),
        frames=array([v.frames[f] for f in token_frames(example.tokens)] or [PAD] * len(forms)),
        offer_labels=offer_labels,
        offers=array(offers),
        offer_nodes=array(v.nodes[label] for label in offer_labels),
        **_number_rows(example, v, columns["pos"], offers),
    )


def _offers(example: Example, v: Vocabularies) -> tuple[tuple[str, ...], list[int]]:
    """Return what copying gives: labels, and their numbers as outcomes."""
    if example.trees.words_are_nodes:
        size = len(v.labels)
        return tuple(t.form for t in example.tokens), [size + i for i in range(len(example.tokens))]
    labels = tuple(label for way in zip(*example.offers, strict=True) for label in way)
    first: dict[str, int] = {}
    outcomes = []
    for place, label in enumerate(labels):
        known = v.labels[label] if label in v.labels else len(v.labels) + place
        outcomes.append(first.setdefault(label, known))  # equal offers are one outcome
    return labels, outcomes


def _number_rows(
    example: Example, v: Vocabularies, pos: Array, offers: Sequence[int]
) -> dict[str, Any]:
    """Number the target side."""
    n_tokens, labels_size = len(example.tokens), len(v.labels)
    labels, nodes, node_pos, node_tokens = [""], [BOS], [UNK], [0]
    indices, heads, relations, outcomes = [0], [0], [PAD], []
    offered = {outcome: place for place, outcome in reversed(list(enumerate(offers)))}
    numbers = {label: outcome for outcome, label in enumerate(v.labels.items)}
    if not example.trees.words_are_nodes:
        numbers |= dict(zip(*_offers(example, v), strict=True))
    for row_number, row in enumerate(example.rows, start=1):
        if row.index != row_number:
            outcome, token = COPY, node_tokens[row.index]
        elif row.anchors:
            outcome, token = labels_size + row.anchors[0], row.anchors[0] + 1
        else:
            outcome = numbers.get(row.label, IGNORE)
            token = offered[outcome] % n_tokens + 1 if outcome in offered else 0
        outcomes.append(outcome)
        labels.append(row.label)
        nodes.append(v.nodes[row.label])
        node_tokens.append(token)
        node_pos.append(int(pos[token - 1]) if token else UNK)
        indices.append(row.index)
        heads.append(row.head)
        relations.append(v.relations[row.relation])
    outcomes.append(EOS)
    link_tokens, link_rows = _link_words(example, node_tokens)
    return {
        "labels": tuple(labels),
        "nodes": array(nodes),
        "node_pos": array(node_pos),
        "node_tokens": array(node_tokens),
        "link_tokens": array(link_tokens),
        "link_rows": array(link_rows),
        "indices": array(indices),
        "heads": array(heads),
        "relations": array(relations),
        "outcomes": array(outcomes),
        "candidates": _candidates(example),
    }


def _link_words(example: Example, node_tokens: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return by which word each row takes part in links, and from which row on.

    A unit is no word: the first one below it stands for it.
    """
    tokens, since = list(node_tokens), list(range(len(node_tokens)))
    if not example.trees.units:
        return tokens, since
    for number, row in enumerate(example.rows, start=1):
        if row.index != number:
            tokens[number], since[number] = tokens[row.index], max(number, since[row.index])
        above = row.head if row.anchors and row.index == number else 0
        while above and not tokens[above]:
            tokens[above], since[above] = tokens[number], number
            above = example.rows[above - 1].head
    return tokens, since


def _candidates(example: Example) -> Array:
    steps = len(example.rows) + 1
    candidates = np.zeros((steps, steps), dtype=bool)
    for row_number, heads in enumerate(candidate_heads(example.trees, example.rows), start=1):
        candidates[row_number, heads] = True
        candidates[row_number, example.rows[row_number - 1].head] = True
    return candidates


def array(values: Iterable[int]) -> Array:
    """Return whole numbers as an array."""
    return np.fromiter(values, dtype=np.int64)
