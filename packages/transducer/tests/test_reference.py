"""The model against the paper's equations, written once more (tests/lib/reference).

In the paper's configuration and in that of the models that ship, for three frameworks each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from reference.decoder import Outcome, Reference
from reference.grammar import Grammar
from reference.losses import forced_steps, losses, outcome_of
from reference.search import Found, beam_search, greedy

from transducer.config import DecodeConfig
from transducer.data.batches import collate
from transducer.data.examples import Example, numericalize
from transducer.data.vocabularies import EOS, UNK
from transducer.decoding.results import Decoded
from transducer.decoding.search import decode
from transducer.model.losses import LossWeights
from transducer.model.scores import mix_outcomes

KINDS = ("paper", "shipped")
TASKS = ("amr", "dm", "ucca")
LONGEST = 9


def about(expected: Any) -> Any:
    """Equal but for the rounding of single precision."""
    return pytest.approx(expected, rel=1e-4, abs=2e-5)


@pytest.fixture(
    scope="module", params=[(kind, task) for kind in KINDS for task in TASKS], ids="-".join
)
def case(request: pytest.FixtureRequest, of_recipe: Callable[..., Any]) -> Any:
    """A small random model with the switches of a recipe, weights large enough to matter."""
    small = of_recipe(*request.param)
    small.shake(7, scale=0.5)
    return small


def short(small: Any, most: int = 4) -> list[Example]:
    """Return some short sentences, one with a node that occurs twice among them if there is one."""
    few = sorted(
        (e for e in small.examples if len(e.tokens) <= LONGEST),
        key=lambda e: all(row.index == i for i, row in enumerate(e.rows, 1)),
    )
    return [unusual(small, few[0]), *few][:most]


def unusual(small: Any, example: Example) -> Example:
    """Return a sentence with what is rare in the sample.

    A child below the second row of a node, so that d_u is no row number, and a third row of it;
    in AMR a label that can be copied and generated.
    """
    names = [r for r in small.vocabularies.relations.items[3:] if r.isalnum()]
    shape = ((1, 0), (2, 1), (3, 1), (2, 3), (5, 4), (2, 1))  # index and head of each row
    own = [row for i, row in enumerate(example.rows, 1) if row.index == i]
    offers = example.offers
    if small.task.name == "ucca":  # a unit, and words below it
        own = [own[0], *(r for r in own[1:] if not r.anchors)][:2] + [r for r in own if r.anchors]
        shape = ((1, 0), (2, 1), (3, 2), (2, 1), (5, 4), (2, 1))
    elif small.task.name == "amr":
        label = next(x for x in small.vocabularies.labels.items[3:] if not x.startswith("="))
        own[0] = own[0]._replace(label=label)
        offers = ((label, *offers[0][1:]), *offers[1:])
    rows = [
        own[0 if index == 1 else min(index - 1, len(own) - 1)]._replace(
            index=index, head=head, relation=names[number % len(names)] if head else "root"
        )
        for number, (index, head) in enumerate(shape)
    ]
    return replace(example, offers=offers, rows=tuple(rows))


def reference(small: Any, example: Example) -> Reference:
    return Reference(small.model.state_dict(), small.config.model, small.vocabularies, example)


def collated(small: Any, examples: list[Example]) -> Any:
    return collate([numericalize(e, small.vocabularies) for e in examples], small.vocabularies)


def test_the_recipes_keep_their_switches(case: Any) -> None:
    """What is compared below is what the recipes say: the paper's have no switch of ours."""
    m = case.config.model
    ours = (m.anchored, m.copy_attention, m.pointer_reach, m.link_size, m.frame_size)
    if m.source_candidates == "preceding":
        assert not any(ours)
        assert m.n_copy_ways == 1
        assert case.config.train.force_copy
    else:
        assert m.anchored
        assert m.copy_attention
        assert bool(m.link_size) == (case.task.name != "ucca")
        assert bool(m.frame_size) == (case.task.name == "dm")


def test_encoder_states_and_the_decoders_first_state(case: Any) -> None:
    examples = short(case)
    with torch.no_grad():
        encoded = case.model.encode(collated(case, examples))
    for b, example in enumerate(examples):
        expected = reference(case, example).encoded
        for t, state in enumerate(expected.states):
            torch.testing.assert_close(encoded.states[b, t].double(), state, atol=1e-5, rtol=1e-4)
        for layer, (hidden, cell) in enumerate(expected.first):
            torch.testing.assert_close(encoded.hidden[layer, b].double(), hidden, atol=1e-5, rtol=0)
            torch.testing.assert_close(encoded.cell[layer, b].double(), cell, atol=1e-5, rtol=0)


def test_attention_nodes_sources_and_relations(case: Any) -> None:
    """Every distribution at every step of the reference sequences."""
    examples = short(case)
    batch = collated(case, examples)
    with torch.no_grad():
        forced = case.model.teacher_force(batch)
        mixed = mix_outcomes(forced.nodes, batch.offers, batch.indices).exp()
    for b, example in enumerate(examples):
        model = reference(case, example)
        steps = forced_steps(model)
        numbers = _outcome_numbers(case, model, batch, b)
        for i, step in enumerate(steps):
            attention = forced.attention[b, i, : model.n].exp().tolist()
            assert attention == about(step.attention)
            expected = model.next_nodes(step)
            assert sum(expected.values()) == about(1)
            found = {v: float(mixed[b, i, numbers(v)]) for v in expected}
            assert found == about(expected)
            if not 0 < i < len(example.rows):
                continue
            row = example.rows[i]
            node = model.consume(step, outcome_of(row, i + 1))
            sources = model.next_sources(step, node)
            found_sources = forced.sources[b, i + 1].exp()
            assert {u: float(found_sources[u]) for u in sources} == about(sources)
            assert float(found_sources.sum()) == about(1)
            relations = model.next_relations(step, node, row.head)
            names = case.vocabularies.relations
            found_types = forced.relations[b, i + 1].exp()
            assert {r: float(found_types[names[r]]) for r in relations} == about(relations)


def _outcome_numbers(small: Any, model: Reference, batch: Any, b: int) -> Callable[[Outcome], int]:
    """Return the function from an outcome to its place among the model's."""
    labels, width = small.vocabularies.labels, batch.words.shape[1]
    places = {
        label: int(batch.offers[b, way * width + t]) for way, t, label in reversed(model.offers())
    }

    def number_of(v: Outcome) -> int:
        if v.kind == "end":
            return EOS
        if v.kind == "word":
            return len(labels) + int(v.value)
        if v.kind == "node":
            return len(labels) + int(batch.offers.shape[1]) + int(v.value) - 1
        return int(labels[v.value]) if v.value in labels else places[str(v.value)]

    return number_of


SETTINGS = [
    {},
    {"smoothing": 0.1, "force_copy": True},
    {"smoothing": 0.2, "edge_smoothing": 0.1, "link_smoothing": 0.1},
]
WEIGHTS: dict[str, Any] = {"coverage": 0.7, "links": 1.3, "frames": 0.5}


@pytest.mark.parametrize("settings", SETTINGS, ids=["plain", "paper", "smooth"])
def test_every_term_of_the_loss(case: Any, settings: dict[str, Any]) -> None:
    examples = short(case, 3)
    with torch.no_grad():
        found = case.model.loss(collated(case, examples), LossWeights(**settings, **WEIGHTS))
    expected = losses([reference(case, example) for example in examples], **settings)
    for name, value in expected._asdict().items():
        assert float(getattr(found, name)) == about(value), name
    weights = {**dict.fromkeys(expected._fields, 1.0), **WEIGHTS}
    total = sum(weights[name] * value for name, value in expected._asdict().items())
    assert float(found.total) == about(total)
    assert expected.coverage > 0
    assert (expected.links > 0) == bool(case.config.model.link_size)
    assert (expected.frames > 0) == bool(case.config.model.frame_size)


def test_a_copied_node_has_its_antecedents_tag(case: Any) -> None:
    """POS tags of nodes: the copied token's, the antecedent's, or unknown."""
    for item, example in zip(case.items, case.examples, strict=True):
        for i, row in enumerate(example.rows, start=1):
            if row.index != i:
                assert item.node_pos[i] == item.node_pos[row.index]
            elif row.anchors:
                assert item.node_pos[i] == item.pos[row.anchors[0]]
            elif case.task.name == "ucca":
                assert item.node_pos[i] == UNK


def _decoded(small: Any, example: Example, **options: Any) -> Decoded:
    item = numericalize(example, small.vocabularies)
    batch = collate([item], small.vocabularies)
    [[found]] = decode(small.model, batch, [item], small.rules, DecodeConfig(**options))
    return found


def _both(
    small: Any, example: Example, *, beam: int, penalty: float = 0.0, **options: bool
) -> tuple[Decoded, Found]:
    bare = replace(example, rows=())
    found = _decoded(small, bare, beam=beam, length_penalty=penalty, **options)
    v = small.vocabularies
    grammar = Grammar(
        small.task.name, v.labels.items, v.relations.items, len(bare.tokens), bare.offers, **options
    )
    model = reference(small, bare)
    expected = greedy(model, grammar) if beam == 1 else beam_search(model, grammar, beam, penalty)
    return found, expected


def _agree(found: Decoded, expected: Found) -> None:
    assert found.score == about(expected.score)
    # An empty unit that the vocabulary cannot fill gets the mark of an implicit one at the end.
    assert [r._replace(label=r.label.rstrip("!")) for r in found.rows] == [
        r._replace(label=r.label.rstrip("!")) for r in expected.rows
    ]


@pytest.mark.parametrize("seed", range(3))
def test_greedy_search(case: Any, seed: int) -> None:
    case.shake(20 + seed, scale=0.6)
    _eager_to_end(case)
    for example in short(case, 3):
        _agree(*_both(case, example, beam=1))


@pytest.mark.parametrize("seed", range(3))
def test_beam_search_is_algorithm_1(case: Any, seed: int) -> None:
    case.shake(40 + seed, scale=0.6)
    _eager_to_end(case)
    for example in short(case, 2):
        _agree(*_both(case, example, beam=3))


def test_the_shipped_options_of_decoding(of_recipe: Callable[..., Any]) -> None:
    for task in TASKS:
        small = of_recipe("shipped", task)
        decoding = small.config.decode
        small.shake(3, scale=0.6)
        _eager_to_end(small)
        found, expected = _both(
            small,
            short(small)[0],
            beam=decoding.beam,
            penalty=decoding.length_penalty,
            unique_core_roles=decoding.unique_core_roles,
            limit_copies=decoding.limit_copies,
        )
        _agree(found, expected)


def _biased(small: Any, **biases: dict[int, float]) -> None:
    with torch.no_grad():
        for name, values in biases.items():
            for place, value in values.items():
                getattr(small.model, name).bias[place] += value


def test_a_graph_is_no_constant_however_probable(of_recipe: Callable[..., Any]) -> None:
    small = of_recipe("paper", "amr")
    labels = small.vocabularies.labels.items
    constants = [i for i, label in enumerate(labels) if label.startswith("=")]
    assert constants
    _biased(small, ffn_switch={0: 9.0}, ffn_vocab=dict.fromkeys(constants, 9.0) | {EOS: 5.0})
    for example in short(small, 2):
        found, expected = _both(small, example, beam=1)
        _agree(found, expected)
        assert not found.rows[0].label.startswith("=")
        assert any(row.label.startswith("=") for row in found.rows)


def test_a_concept_is_copied_once_more_than_it_is_offered(of_recipe: Callable[..., Any]) -> None:
    small = of_recipe("shipped", "amr")
    _biased(small, ffn_switch={1: 9.0}, ffn_way={0: 9.0})
    example = short(small)[0]
    offers = tuple((f"thing{t}", "=1", "=2") for t in range(len(example.tokens)))
    found, expected = _both(small, replace(example, offers=offers), beam=1, limit_copies=True)
    _agree(found, expected)
    new = Counter(row.label for i, row in enumerate(found.rows, 1) if row.index == i)
    assert {new[offer[0]] for offer in offers} == {2}


EAGER = {"amr": (2.5, 0.5, 0.5), "dm": (0.0, -13.0, 1.0), "ucca": (2.5, 0.5, 0.5)}
"""How much a random model is pushed to the end, to generating and to copying nodes."""


def _eager_to_end(small: Any) -> None:
    """Let a random model end sooner than at the row limit, and copy nodes."""
    end, generate, copy = EAGER[small.task.name]
    with torch.no_grad():
        small.model.ffn_vocab.bias[EOS] += end
        small.model.ffn_switch.bias[0] += generate
        small.model.ffn_switch.bias[2] += copy


def test_the_searches_reach_what_they_are_to_show(case: Any) -> None:
    """Copies of nodes, and heads other than the row before, occur in what is compared above."""
    copies = rows = far = 0
    for seed in range(3):
        case.shake(40 + seed, scale=0.6)
        _eager_to_end(case)
        for example in short(case, 2):
            found = _decoded(case, replace(example, rows=()), beam=3)
            rows += len(found.rows)
            copies += sum(r.index != i for i, r in enumerate(found.rows, 1))
            far += sum(r.head < i - 1 for i, r in enumerate(found.rows, 1))
    assert rows > 15
    assert copies
    assert far
