"""The SDP scores: fixtures counted by hand, laws, and bad input."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltools.counts import Counts
from evaltools.sdp import ZERO, Scores, pair_counts, score
from graphconv.errors import ConversionError
from graphconv.graph import Edge, Graph, Node, Token

Arc = tuple[int, int, str]


def graph(
    arcs: list[Arc],
    tops: tuple[int, ...] = (),
    *,
    pos: str = "N V V N N",
    senses: str = "_ a b _ _",
    framework: str = "dm",
    shift: int = 0,
) -> Graph:
    """Build a graph over five words; *shift* changes the node ids but not the positions."""
    tokens = tuple(
        Token(f"w{i}", pos=p, features=(("frame", s),))
        for i, (p, s) in enumerate(zip(pos.split(), senses.split(), strict=True))
    )
    sources = {source for source, _, _ in arcs}
    used = sources | {target for _, target, _ in arcs} | set(tops)
    return Graph(
        "7",
        framework,
        tokens,
        tuple(
            Node(str(i + shift), None, (i,), attributes=(("pred", "+"),) if i in sources else ())
            for i in sorted(used)
        ),
        tuple(Edge(str(s + shift), str(t + shift), label) for s, t, label in arcs),
        tuple(str(top + shift) for top in tops),
    )


GOLD = graph([(1, 0, "ARG1"), (1, 3, "ARG2"), (2, 3, "ARG1"), (0, 3, "BV")], (1,))


def test_counts_by_hand() -> None:
    pred = graph([(1, 0, "ARG1"), (1, 3, "ARG3"), (2, 3, "ARG1"), (2, 4, "loc")], (1, 2))
    result = pair_counts(GOLD, pred)
    assert result.labelled == Counts(5, 6, 3)
    assert result.unlabelled == Counts(5, 6, 4)
    assert result.edges == Counts(4, 4, 2)
    assert result.pairs == Counts(4, 4, 3)
    assert result.complete_predications == Counts(2, 2, 0)


def test_predications_and_frames() -> None:
    wrong_sense = graph([(1, 0, "ARG1"), (1, 3, "ARG2"), (2, 3, "ARG1")], senses="_ a x _ _")
    result = pair_counts(GOLD, wrong_sense)
    assert result.complete_predications == Counts(2, 2, 2)
    assert result.semantic_frames == Counts(2, 2, 1)


def test_only_verbs_are_scorable() -> None:
    result = pair_counts(GOLD, graph([(1, 0, "ARG1"), (1, 3, "ARG2")], pos="N N V N N"))
    assert result.complete_predications == Counts(2, 0, 0)


def test_gold_part_of_speech_where_the_prediction_has_none() -> None:
    bare = Graph(
        GOLD.id,
        GOLD.framework,
        tuple(Token(token.form) for token in GOLD.tokens),
        tuple(node._replace(attributes=()) for node in GOLD.nodes),
        GOLD.edges,
        GOLD.tops,
    )
    assert pair_counts(GOLD, bare).complete_predications == Counts(2, 2, 2)


def test_a_predicate_without_arguments_counts() -> None:
    lone = Graph("1", "dm", (Token("rains", pos="VBZ"),), (Node("1", None, (0,)),), (), ("1",))
    marked = Graph(
        lone.id,
        lone.framework,
        lone.tokens,
        (lone.nodes[0]._replace(attributes=(("pred", "+"),)),),
        (),
        lone.tops,
    )
    assert pair_counts(lone, lone).complete_predications == Counts()
    assert pair_counts(marked, lone).complete_predications == Counts(1, 0, 0)


def test_core_arguments_of_psd() -> None:
    gold = graph([(1, 0, "ACT-arg"), (1, 3, "TWHEN")], framework="psd")
    pred = graph([(1, 0, "ACT-arg"), (1, 4, "LOC")], framework="psd")
    result = pair_counts(gold, pred)
    assert result.complete_predications == Counts(1, 1, 1)
    assert result.listed_predications == Counts(1, 1, 1)
    other = graph([(1, 0, "PAT-arg"), (1, 3, "TWHEN")], framework="psd")
    assert pair_counts(gold, other).complete_predications == Counts(1, 1, 0)


def test_both_readings_of_pas() -> None:
    gold = graph([(1, 0, "verb_ARG1"), (1, 3, "aux_ARG1")], framework="pas")
    pred = graph([(1, 0, "verb_ARG1")], framework="pas")
    result = pair_counts(gold, pred)
    assert result.complete_predications == Counts(1, 1, 0)
    assert result.listed_predications == Counts(1, 1, 1)
    report = result.to_json()
    assert report["complete_predications"]["f1"] == 0.0
    assert report["listed_arguments"]["complete_predications"]["f1"] == 100.0


def test_keys_of_the_report() -> None:
    report = (pair_counts(GOLD, GOLD) + pair_counts(GOLD, None)).to_json()
    assert report["labelled"] == {
        "p": 100.0,
        "r": 50.0,
        "f1": pytest.approx(200 / 3),
        "gold": 10,
        "pred": 5,
        "match": 5,
    }
    assert report["labelled_match"] == report["unlabelled_match"] == 50.0
    assert set(report["without_tops"]) == {
        "labelled",
        "unlabelled",
        "labelled_match",
        "unlabelled_match",
    }


@pytest.mark.parametrize("pred", [None, graph([]), Graph("7", "dm")])
def test_an_empty_prediction_is_zero_and_never_nan(pred: Graph | None) -> None:
    result = pair_counts(GOLD, pred)
    assert result.labelled == Counts(5, 0, 0)
    assert result.labelled.f1 == 0.0
    assert not result.exact


def test_two_empty_graphs_agree() -> None:
    report = pair_counts(graph([]), graph([])).to_json()
    assert report["labelled"]["f1"] == report["labelled_match"] == 100.0
    assert ZERO.to_json()["labelled_match"] == 100.0


def test_node_ids_do_not_matter() -> None:
    moved = graph([(1, 0, "ARG1"), (1, 3, "ARG2"), (2, 3, "ARG1"), (0, 3, "BV")], (1,), shift=40)
    assert pair_counts(GOLD, moved).exact


def test_exact_without_tops_only() -> None:
    result = pair_counts(
        GOLD, graph([(1, 0, "ARG1"), (1, 3, "ARG2"), (2, 3, "ARG1"), (0, 3, "BV")])
    )
    assert (result.exact, result.exact_edges) == (False, True)
    relabelled = graph([(1, 0, "x"), (1, 3, "ARG2"), (2, 3, "ARG1"), (0, 3, "BV")], (1,))
    result = pair_counts(GOLD, relabelled)
    assert (result.exact, result.exact_unlabelled) == (False, True)


def change_token(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    return (*tokens[:2], tokens[2]._replace(form="other"), *tokens[3:])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_token, "graph 7: token 3 is 'w2' in gold but 'other' in the prediction"),
        (lambda tokens: tokens[:-1], "graph 7: there are 5 tokens in gold but 4 in the prediction"),
    ],
)
def test_different_tokens_are_refused(
    change: Callable[[tuple[Token, ...]], tuple[Token, ...]], message: str
) -> None:
    pred = Graph("7", "dm", change(GOLD.tokens), GOLD.nodes, GOLD.edges, GOLD.tops)
    with pytest.raises(ConversionError) as error:
        pair_counts(GOLD, pred)
    assert str(error.value) == message


def test_a_node_without_position_is_refused() -> None:
    pred = Graph("7", "dm", GOLD.tokens, (Node("1"),))
    with pytest.raises(ConversionError, match="node '1' has no position"):
        pair_counts(GOLD, pred)


ARCS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from(["ARG1", "ARG2", "x-arg"])),
    max_size=8,
    unique=True,
)
TOPS = st.sets(st.integers(0, 4), max_size=2).map(tuple)
GRAPHS = st.builds(graph, ARCS, TOPS, framework=st.just("psd"))


def swapped(result: Scores) -> Scores:
    """Exchange the roles of gold and prediction."""
    counts: dict[str, Any] = {
        field.name: Counts(value.pred, value.gold, value.match)
        for field in fields(result)
        if isinstance(value := getattr(result, field.name), Counts)
    }
    return replace(result, **counts)


@pytest.mark.property
@given(st.lists(st.tuples(GRAPHS, GRAPHS), max_size=4))
def test_laws(pairs: list[tuple[Graph, Graph]]) -> None:
    golds, preds = [gold for gold, _ in pairs], [pred for _, pred in pairs]
    total = score(golds, preds)
    assert score(preds, golds) == swapped(total)
    assert sum((pair_counts(*pair) for pair in pairs), start=ZERO) == total
    itself = score(golds, golds)
    assert itself.labelled.f1 == itself.semantic_frames.f1 == 100.0
    assert itself.exact == len(golds)
    assert total.exact <= total.exact_unlabelled
    assert total.edges.match <= min(total.edges.gold, total.edges.pred)
