"""Greedy and beam search: exact scores, exact search, valid trees whatever the weights."""

from __future__ import annotations

import heapq
import math
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count, product
from typing import Any

import pytest
import torch

from evaltools.validity import CHECKS, faults
from graphconv.arborescence import Arborescence, Row
from graphconv.conversion import to_arborescence
from graphconv.graph import Edge, Graph, Node, Token
from transducer.config import DecodeConfig
from transducer.data.batches import collate
from transducer.data.examples import Example, numericalize
from transducer.data.trees import candidate_heads
from transducer.data.vocabularies import EOS
from transducer.decoding.results import PARTS, Decision
from transducer.decoding.search import decode
from transducer.decoding.steps import Steps
from transducer.frameworks.tasks import Document, Sentence
from transducer.model.losses import node_log_probability

RANDOM_MODELS = 1000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 90
"""Random models per run, over all frameworks; the property session takes a thousand."""

INVALID: dict[str, set[str]] = {
    "amr": {"empty", "no root", "disconnected", "node without a label"},
    # Real ones have no top, no node or several parts.
    "dm": {"node without a word", "word in two nodes", "two equal edges", "word without an edge"},
    "ucca": {
        "empty", "no root", "disconnected", "token in no unit", "token in two units",
        "unit without content", "two primary parents", "cyclic",
    },
}  # fmt: skip


PAPER = {"anchored": False, "copy_attention": False, "pointer_reach": 0, "link_size": 0}
"""The switches beyond the paper, off."""


def decoded(small: Any, examples: list[Example], **options: Any) -> Any:
    items = [numericalize(replace(example, rows=()), small.vocabularies) for example in examples]
    batch = collate(items, small.vocabularies)
    named = ("on_row", "runners_up", "details")
    told = {name: options.pop(name) for name in named if name in options}
    return decode(small.model, batch, items, small.rules, DecodeConfig(**options), **told)


def assert_scores_are_those_of_the_rows(small: Any, examples: list[Example], found: Any) -> None:
    again = [
        replace(e, rows=hypotheses[0].rows) for e, hypotheses in zip(examples, found, strict=True)
    ]
    items = [numericalize(example, small.vocabularies) for example in again]
    with torch.no_grad():
        likelihood = small.model.log_likelihood(collate(items, small.vocabularies))
    for expected, hypotheses in zip(likelihood.tolist(), found, strict=True):
        assert hypotheses[0].score == pytest.approx(expected, rel=1e-4, abs=1e-3)


@pytest.mark.parametrize(("beam", "penalty"), [(1, 0.0), (4, 0.0), (4, 1.0)])
def test_decoding_scores_are_teacher_forced_scores(small: Any, beam: int, penalty: float) -> None:
    found = decoded(small, small.examples, beam=beam, length_penalty=penalty)
    assert_scores_are_those_of_the_rows(small, small.examples, found)


@pytest.mark.parametrize("task", ["amr", "dm", "ucca"])
def test_sources_can_be_all_preceding_rows(make_small: Callable[..., Any], task: str) -> None:
    """P(u) is a distribution over all of them; what decoding takes is still a pre-order."""
    small = make_small(task, source_candidates="preceding", **PAPER)
    with torch.no_grad():
        sources = small.model.teacher_force(small.batch()).sources.exp()
    for item, p in zip(small.items, sources, strict=True):
        for row in range(2, item.steps):
            assert (p[row, 1:row] > 0).all()
            assert float(p[row].sum()) == pytest.approx(1, abs=1e-4)
            assert float(p[row, 1:row].sum()) == pytest.approx(1, abs=1e-4)
    for beam in (1, 3):
        found = decoded(small, small.examples, beam=beam)
        assert_scores_are_those_of_the_rows(small, small.examples, found)
        for example, [hypothesis] in zip(small.examples, found, strict=True):
            Arborescence(example.id, task, example.tokens, hypothesis.rows).validate()


@pytest.mark.parametrize("beam", [1, 3])
def test_at_the_row_limit_the_score_is_that_of_the_rows(
    make_small: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, beam: int
) -> None:
    """Nothing is begun there that would have to be rewritten, such as a word's remote row."""
    monkeypatch.setattr("transducer.decoding.steps.ROWS_PER_TOKEN", 1)
    monkeypatch.setattr("transducer.decoding.steps.EXTRA_ROWS", 4)
    small = make_small("ucca", size=10, **PAPER)
    at_limit = 0
    for seed in range(16):
        small.shake(seed, scale=0.6)
        found = decoded(small, small.examples, beam=beam)
        assert_scores_are_those_of_the_rows(small, small.examples, found)
        lengths = zip((len(e.tokens) + 4 for e in small.examples), found, strict=True)
        at_limit += sum(len(h[0].rows) >= limit - 2 for limit, h in lengths)
    assert at_limit


@pytest.mark.parametrize("beam", [1, 5])
def test_no_unit_is_below_itself(make_small: Callable[..., Any], beam: int) -> None:
    small = make_small("ucca", size=10, **PAPER)
    copies = 0
    for seed in range(20):
        small.shake(seed, scale=0.6)
        with torch.no_grad():
            small.model.ffn_switch.bias[2] += 3  # copy nodes
        for example, [found] in zip(
            small.examples, decoded(small, small.examples, beam=beam), strict=True
        ):
            copies += sum(row.index != i for i, row in enumerate(found.rows, start=1))
            assert "cyclic" not in faults(_graph(small, example, found.rows))
    assert copies > 100


@pytest.mark.parametrize("beam", [1, 3])
def test_batching_changes_no_parse(small: Any, beam: int) -> None:
    together = decoded(small, small.examples, beam=beam)
    alone = [decoded(small, [example], beam=beam)[0] for example in small.examples]
    for left, right in zip(together, alone, strict=True):
        assert left[0].rows == right[0].rows
        assert left[0].score == pytest.approx(right[0].score, rel=1e-3, abs=1e-3)


def test_hypotheses_are_distinct_and_ordered(small: Any) -> None:
    for hypotheses in decoded(small, small.examples[:4], beam=5, nbest=5):
        scores = [h.score for h in hypotheses]
        assert scores == sorted(scores, reverse=True)
        assert len({h.rows for h in hypotheses}) == len(hypotheses)


def test_a_wide_beam_finds_the_optimum(make_small: Callable[..., Any]) -> None:
    """Against uniform-cost search, which is exact because log-probabilities only fall."""
    for seed in range(4):
        small = make_small("dm", size=3, seed=seed)
        with torch.no_grad():
            small.model.ffn_vocab.bias[EOS] += 3.5
            small.model.ffn_switch.bias[0] += 1.0
        example = replace(small.examples[0], tokens=small.examples[0].tokens[:2], rows=())
        best_rows, best = _optimum(small, example)
        [[found]] = decoded(small, [example], beam=300)
        assert found.score == pytest.approx(best, rel=1e-4, abs=1e-4)
        assert found.rows == best_rows


def _optimum(small: Any, example: Example) -> tuple[tuple[Row, ...], float]:
    """Return the most probable tree by expanding partial trees, best first."""
    order = count()
    queue: list[tuple[float, int, tuple[Row, ...], bool]] = [(0.0, next(order), (), False)]
    while True:
        cost, _, rows, done = heapq.heappop(queue)
        if done:
            return rows, -cost
        if rows:
            heapq.heappush(queue, (-_score(small, example, rows), next(order), rows, True))
        for row in _next_rows(small, example, rows):
            longer = (*rows, row)
            heapq.heappush(
                queue, (-_score(small, example, longer, ended=False), next(order), longer, False)
            )


def _score(small: Any, example: Example, rows: tuple[Row, ...], *, ended: bool = True) -> float:
    item = numericalize(replace(example, rows=rows), small.vocabularies)
    if not ended:
        item = item._replace(outcomes=item.outcomes.copy())
    batch = collate([item], small.vocabularies)
    with torch.no_grad():
        whole = float(small.model.log_likelihood(batch))
        if ended:
            return whole
        nodes = node_log_probability(
            small.model.teacher_force(batch).nodes, batch, force_copy=False
        )
        return whole - float(nodes[0, len(rows)])


def _next_rows(small: Any, example: Example, rows: tuple[Row, ...]) -> list[Row]:
    """Return every row that may follow: the rules of DM, written once more."""
    new = len(rows) + 1
    used = {row.anchors[0] for row in rows if row.anchors}
    nodes: list[tuple[str, int, tuple[int, ...]]] = [
        (t.form, new, (i,)) for i, t in enumerate(example.tokens) if i not in used
    ]
    if not rows:
        nodes.append(("<virtual>", 1, ()))
        allowed = [label for label in nodes if label[0] in small.vocabularies.labels or label[2]]
        return [Row(label, index, 0, "root", anchors) for label, index, anchors in allowed]
    nodes += [
        (r.label, r.index, r.anchors) for n, r in enumerate(rows, 1) if r.index == n and r.anchors
    ]
    names = list(small.vocabularies.relations.items[3:])
    result = []
    for label, index, anchors in nodes:
        for head in candidate_heads(example.trees, (*rows, Row(label, index, 1, "null", anchors)))[
            -1
        ]:
            for name in names:
                if _fits(rows, head, (index, new), name):
                    result.append(Row(label, index, head, name, anchors))
    return result


def _fits(rows: tuple[Row, ...], head: int, child: tuple[int, int], name: str) -> bool:
    node, (index, new) = rows[head - 1].index, child
    virtual = not rows[0].anchors
    links = set()
    for row in rows[1:]:
        ends = (rows[row.head - 1].index, row.index)
        links.add(ends[::-1] if row.relation.endswith("-of") else ends)
    if name == "null":
        return head == 1 and index == new
    if name == "top":
        return virtual and head == 1 and (node, index) not in links
    if virtual and head == 1:
        return False
    ends = (index, node) if name.endswith("-of") else (node, index)
    return ends not in links


def test_random_models_give_valid_graphs(make_small: Callable[..., Any]) -> None:
    per_task = RANDOM_MODELS // 3 + 1
    for name, switches in product(("amr", "dm", "ucca"), ({}, PAPER)):
        small = make_small(name, size=8, **switches)
        for seed in range(bool(switches), per_task, 2):
            small.shake(seed, scale=(0.3, 1.0, 3.0)[seed % 3])
            example = small.examples[seed % len(small.examples)]
            [hypotheses] = decoded(
                small,
                [example],
                beam=1 + seed // 2 % 2 * 2,
                unique_core_roles=seed % 5 == 0,
                limit_copies=seed % 7 < 3,
                length_penalty=0.5 * (seed % 3),
            )
            rows = hypotheses[0].rows
            Arborescence(example.id, name, example.tokens, rows).validate()
            graph = _graph(small, example, rows)
            graph.validate()
            to_arborescence(graph)  # which refuses what no graph of the framework can be
            found = set(faults(graph)) | (bilexical_faults(graph) if name == "dm" else set())
            assert not INVALID[name] & found, (name, seed, found)


def test_the_faults_that_must_not_be_are_known() -> None:
    for name, invalid in INVALID.items():
        known = {fault for fault, (tasks, _) in CHECKS.items() if name in tasks}
        assert invalid
        assert invalid <= known | (set(BILEXICAL_FAULTS) if name == "dm" else set())


def test_bilexical_faults_are_found() -> None:
    tokens = (Token("a"), Token("b"))
    one, two = Node("0", anchors=(0,)), Node("1", anchors=(1,))
    edge = Edge("0", "1", "ARG1")
    good = Graph("1", "dm", tokens, (one, two), (edge,), ("0",))
    assert not bilexical_faults(good)
    assert bilexical_faults(replace(good, nodes=(one, two._replace(anchors=())))) == {
        "node without a word"
    }
    assert bilexical_faults(replace(good, nodes=(one, two._replace(anchors=(0,))))) == {
        "word in two nodes"
    }
    assert bilexical_faults(replace(good, edges=(edge, edge._replace(label="ARG2")))) == {
        "two equal edges"
    }
    assert bilexical_faults(replace(good, edges=())) == {"word without an edge"}


def bilexical_faults(graph: Graph) -> set[str]:
    """Return what no DM graph that is parsed may have."""
    return {name for name, fails in BILEXICAL_FAULTS.items() if fails(graph)}


def _has_lonely_node(graph: Graph) -> bool:
    ends = {end for edge in graph.edges for end in (edge.source, edge.target)}
    return any(node.id not in ends and node.id not in graph.tops for node in graph.nodes)


BILEXICAL_FAULTS: dict[str, Callable[[Graph], bool]] = {
    "node without a word": lambda graph: any(len(node.anchors) != 1 for node in graph.nodes),
    "word in two nodes": lambda graph: any(
        n > 1 for n in Counter(a for node in graph.nodes for a in node.anchors).values()
    ),
    "two equal edges": lambda graph: any(
        n > 1 for n in Counter((edge.source, edge.target) for edge in graph.edges).values()
    ),
    "word without an edge": _has_lonely_node,
}


def _graph(small: Any, example: Example, rows: tuple[Row, ...]) -> Any:
    document = small.task.document(example.id, example.tokens)
    sentence = Sentence(example.id, example, example.tokens, document.sentences[0].record)
    return small.task.graph(Document(example.id, (sentence,)), [rows])


def test_the_length_penalty_makes_up_for_length(make_small: Callable[..., Any]) -> None:
    small = make_small("amr", size=8)
    longer = 0
    for seed in range(4):
        small.shake(seed, scale=2.0)
        plain, penalized = (
            [h[0] for h in decoded(small, small.examples, beam=3, length_penalty=penalty)]
            for penalty in (0.0, 1.0)
        )
        for short, long in zip(plain, penalized, strict=True):
            assert len(short.rows) <= len(long.rows)
            assert short.score >= long.score
            assert short.score / (len(short.rows) + 1) <= long.score / (len(long.rows) + 1)
            longer += len(long.rows) > len(short.rows)
    assert longer


@pytest.mark.parametrize("beam", [1, 3])
def test_words_are_copied_about_as_often_as_they_occur(
    make_small: Callable[..., Any], beam: int
) -> None:
    small = make_small("amr", size=6)
    with torch.no_grad():
        small.model.ffn_switch.bias[1] += 20  # always copy a token
    example = small.examples[0]
    offers = tuple((f"unseen{t // 2}", '="name"') for t in range(len(example.tokens)))

    def labels(**options: Any) -> Counter[str]:
        [[found]] = decoded(small, [replace(example, offers=offers)], beam=beam, **options)
        new = [row.label for i, row in enumerate(found.rows, start=1) if row.index == i]
        return Counter(label for label in new if label in most)

    most = Counter(offer for offered in offers for offer in offered)
    most.update(offer for offer in set(most) if not offer.startswith("="))
    assert not labels(limit_copies=True) - most
    assert labels() - most


def test_unseen_words_are_copied(make_small: Callable[..., Any]) -> None:
    small = make_small("amr", size=6)
    with torch.no_grad():
        small.model.ffn_switch.bias[1] += 20  # always copy a token
        small.model.ffn_way.bias[0] += 20  # as a concept
    example = small.examples[0]
    offers = tuple((f"unseen{t}", "=1") for t in range(len(example.tokens)))
    [[found]] = decoded(small, [replace(example, offers=offers)])
    assert found.rows[0].label.startswith("unseen")


def test_unique_core_roles(make_small: Callable[..., Any]) -> None:
    small = make_small("amr", size=12)
    repeated = 0
    for seed in range(60):
        small.shake(seed, scale=1.0)
        for unique in (False, True):
            for hypotheses in decoded(small, small.examples[:4], unique_core_roles=unique):
                again = _repeats(hypotheses[0].rows)
                assert not (unique and again)
                repeated += again
    assert repeated > 0  # the option has something to forbid


def _repeats(rows: tuple[Row, ...]) -> bool:
    roles = []
    for row in rows[1:]:
        role, owner = row.relation, rows[row.head - 1].index
        if role.endswith("-of"):
            role, owner = role.removesuffix("-of"), row.index
        if role.startswith("ARG") and role[3:].isdigit():
            roles.append((owner, role))
    return len(roles) != len(set(roles))


def test_rows_are_told_as_they_come(small: Any) -> None:
    told: list[Row] = []
    sure: list[Decision] = []

    def on_row(_: int, row: Row, decision: Decision) -> None:
        told.append(row)
        sure.append(decision)

    [[found]] = decoded(small, small.examples[:1], on_row=on_row, runners_up=2)
    assert sure == [*found.decisions]
    assert all(decision.runners_up for decision in sure[1:])
    assert len(told) == len(found.rows) > 1
    # Only an empty unit's mark may come at the end.
    assert [row._replace(label=row.label.rstrip("!")) for row in told] == [
        row._replace(label=row.label.rstrip("!")) for row in found.rows
    ]


@pytest.mark.parametrize("beam", [1, 3])
def test_decisions_say_how_sure_the_model_is_and_cost_nothing_else(small: Any, beam: int) -> None:
    """Runners-up change no result; a row's score is that of its choices; nothing has P > 1."""
    plain = decoded(small, small.examples, beam=beam, nbest=beam, details=True)
    told = decoded(small, small.examples, beam=beam, nbest=beam, details=True, runners_up=3)
    parts: Counter[str] = Counter()
    for without, hypotheses in zip(plain, told, strict=True):
        assert [(h.rows, h.score) for h in without] == [(h.rows, h.score) for h in hypotheses]
        for before, found in zip(without, hypotheses, strict=True):
            assert [d[:3] for d in before.decisions] == [d[:3] for d in found.decisions]
            assert not any(d.runners_up for d in before.decisions)
            scored = zip(found.rows, found.decisions, found.row_scores, strict=False)
            for number, (row, decision, score) in enumerate(scored, start=1):
                assert sum(decision[:3]) == pytest.approx(score, abs=1e-4)
                parts.update(_check_runners_up(number, row, decision, greedy=beam == 1))
    assert {"node"} | ({"relation"} if beam == 1 else set()) <= set(parts)


def _check_runners_up(number: int, row: Row, decision: Decision, *, greedy: bool) -> Iterator[str]:
    own = dict(zip(PARTS, decision[:3], strict=True))
    mass = {part: math.exp(log_p) for part, log_p in own.items()}
    changed = {"node": {"label", "index", "anchors"}, "source": {"head"}, "relation": {"relation"}}
    seen = []
    for part, other, log_p in decision.runners_up:
        yield part
        mass[part] += math.exp(log_p)
        assert not greedy or log_p <= own[part] + 1e-5
        assert part == "node" or other != row
        same = set(Row._fields) - changed[part]
        assert all(getattr(other, name) == getattr(row, name) for name in same)
        assert 1 <= other.index <= number
        assert 0 <= other.head < number
        seen.append((part, log_p))
    assert all(total <= 1 + 1e-4 for total in mass.values())
    assert seen == sorted(seen, key=lambda one: (PARTS.index(one[0]), -one[1]))


def test_a_runner_up_is_as_probable_as_it_is_said(make_small: Callable[..., Any]) -> None:
    """Where a node that is no copy could be another, teacher forcing agrees on both."""
    small = make_small("dm", **PAPER)
    [[found]] = decoded(small, small.examples[:1], details=True, runners_up=3)
    first = found.decisions[0]
    others = [one for one in first.runners_up if one.part == "node"]
    [item] = [numericalize(replace(small.examples[0], rows=()), small.vocabularies)]
    batch = collate([item], small.vocabularies)
    steps = Steps(small.model, small.rules, DecodeConfig())
    with torch.inference_mode():
        log_p, _ = steps.outcomes(steps.start(batch, [item], 1), 4)
    assert [first.node, *(one.log_p for one in others)] == pytest.approx(log_p[0].tolist())
