"""How sure the model is of nodes and edges: where the numbers come from, and where they go."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphconv
from graphconv import Edge, Graph, Node, Row, Token
from graphconv.arborescence import Arborescence
from graphconv.scores import Scores
from transducer import Doc, Pipeline, Transducer
from transducer.decoding.results import Decision
from transducer.frameworks.certainty import Temperatures, scores_of, tempered
from transducer.frameworks.passages import join_passages

TASKS = ("amr", "dm", "ucca")
TEXT = "The boy wants to go. He left."


@pytest.fixture(scope="module")
def parsers(make_small: Callable[..., Any]) -> dict[str, Transducer]:
    small = {task: make_small(task) for task in TASKS}
    return {t: Transducer(s.task, s.vocabularies, s.model, {}) for t, s in small.items()}


@pytest.mark.parametrize("beam", [1, 3])
def test_what_is_decided_has_a_score_that_is_kept(
    parsers: dict[str, Transducer], beam: int
) -> None:
    [doc] = Pipeline(parsers).pipe([TEXT], beam=beam)
    again = Doc.from_json(json.dumps(doc.to_json()))
    for task, graphs in doc.graphs.items():
        for graph, read in zip(graphs, again.graphs[task], strict=True):
            scores = graph.scores
            assert scores is not None
            assert scores.graph is not None
            # All rows and the end; random models are unsure of everything.
            assert scores.graph < sum(scores.nodes.values()) < 0
            assert set(scores.nodes) <= {node.id for node in graph.nodes}
            assert all(log_p <= 0 for log_p in (*scores.nodes.values(), *scores.edges.values()))
            if task != "amr":  # nothing is added by rules
                assert set(scores.nodes) == {node.id for node in graph.nodes}
                assert set(scores.edges) == {edge[:3] for edge in graph.edges}
            assert read.scores == scores
            [mrp] = graphconv.loads(graphconv.dumps(graph, format="mrp"))
            assert mrp.scores is not None
            assert sorted(mrp.scores.nodes.values()) == sorted(scores.nodes.values())


def test_temperatures_of_the_settings_change_scores_and_nothing_else(
    parsers: dict[str, Transducer],
) -> None:
    parser, sentence = parsers["dm"], "The boy wants to go".split()
    [plain] = parser.parse([sentence])
    [cool] = parser.parse([sentence], node_temperature=2.0)
    assert plain == cool
    assert plain.scores is not None
    assert cool.scores is not None
    assert plain.scores.edges == cool.scores.edges
    assert cool.scores.nodes == pytest.approx(
        {name: tempered(p, 2.0) for name, p in plain.scores.nodes.items()}, abs=1e-3
    )


SURE = Decision(-0.1, -0.02, -0.003)


@pytest.mark.parametrize(
    ("framework", "rows", "nodes", "edges"),
    [
        (  # a copy decides an edge alone
            "amr",
            (
                Row("want-01", 1, 0, "root"),
                Row("boy", 2, 1, "ARG0"),
                Row("go-01", 3, 1, "ARG1"),
                Row("boy", 2, 3, "ARG0-of"),
            ),
            {"w": -0.1, "b": -0.1, "g": -0.1},
            {("w", "b", "ARG0"): -0.023, ("w", "g", "ARG1"): -0.023, ("b", "g", "ARG0"): -0.123},
        ),
        (  # a virtual root is no node, and top no edge
            "dm",
            (Row("<virtual>", 1, 0, "root"), Row("b", 2, 1, "top", (1,))),
            {"2": -0.1},
            {},
        ),
        (  # the category of a unit is that of its edge; both words make the unit
            "ucca",
            (
                Row("ROOT", 1, 0, "root"),
                Row("H", 2, 1, "H"),
                Row("a", 3, 2, "A", (0,)),
                Row("b", 4, 3, "phrase", (1,)),
            ),
            {"1.1": -0.1, "1.2": -0.1, "1.3": -0.223},
            {("1.1", "1.2", "H"): -0.123, ("1.2", "1.3", "A"): -0.023},
        ),
    ],
)
def test_which_decision_counts_where(
    framework: str,
    rows: tuple[Row, ...],
    nodes: dict[str, float],
    edges: dict[tuple[str, str, str], float],
) -> None:
    tree = Arborescence("1", framework, (Token("a"), Token("b")), rows)
    found = scores_of(tree, [SURE] * len(rows), -2.0)
    assert found.nodes == pytest.approx(nodes)
    assert found.edges == pytest.approx(edges)
    assert found.graph == -2.0
    fewer = scores_of(tree, [SURE], -2.0, Temperatures(2.0, 2.0))
    assert len(fewer.nodes) <= 1, "rows that rules added have no score"


@given(p=st.floats(1e-9, 1 - 1e-9), temperature=st.floats(0.1, 10))
def test_a_temperature_divides_the_log_odds(p: float, temperature: float) -> None:
    q = math.exp(tempered(math.log(p), temperature))
    assert q == pytest.approx(1 / (1 + ((1 - p) / p) ** (1 / temperature)), abs=1e-6)
    assert tempered(math.log(p), 1.0) == math.log(p)


def test_a_passage_has_the_scores_of_its_sentences() -> None:
    part = Graph(
        "1",
        "ucca",
        (Token("Go"),),
        (Node("1.1"), Node("1.2", None, (0,))),
        (Edge("1.1", "1.2", "H"),),
        ("1.1",),
        scores=Scores(-1.0, {"1.1": -0.1, "1.2": -0.2}, {("1.1", "1.2", "H"): -0.3}),
    )
    joined = join_passages([part, replace(part, id="2")], id="p")
    assert joined.scores is not None
    assert joined.scores.graph == -2.0
    assert {node.id for node in joined.nodes} == set(joined.scores.nodes)
    assert {edge[:3] for edge in joined.edges} == set(joined.scores.edges)
    assert len(joined.scores.edges) == 2
