"""Section 5, before and after the model: what is counted in training decides what comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphconv.arborescence import Row
from graphconv.graph import Edge, Graph, Node, Token
from transducer.frameworks.amr.polarity import learn_polarity
from transducer.frameworks.amr.wiki import learn_wiki
from transducer.frameworks.tasks import training_graphs


def entity(link: str) -> Graph:
    """Return a person called Bo, with a link."""
    nodes = (
        Node("p", "person"),
        Node("n", "name"),
        Node(":0", '"Bo"', constant=True),
        Node(":1", link, constant=True),
    )
    edges = (Edge("p", ":1", "wiki"), Edge("p", "n", "name"), Edge("n", ":0", "op1"))
    return Graph("x", "amr", (Token("Bo"),), nodes, edges, ("p",))


def test_the_most_frequent_link_comes_back() -> None:
    links = ['"Bo_the_Second"', '"Bo_the_First"', '"Bo_the_Second"']
    assert set(learn_wiki(map(entity, links)).table.values()) == {'"Bo_the_Second"'}


def negated() -> Graph:
    nodes = (Node("c", "come-01"), Node(":0", "-", constant=True))
    return Graph("x", "amr", (), nodes, (Edge("c", ":0", "polarity"),), ("c",))


@pytest.mark.parametrize(("times", "rules"), [(2, set()), (3, {"not 1"})])
def test_a_rule_that_was_seen_twice_may_be_chance(times: int, rules: set[str]) -> None:
    pairs = [((Token("not"), Token("come")), negated())] * times
    learned = learn_polarity(pairs, lambda token: token.form)
    assert {rule for rule in learned if rule.startswith("not")} == rules


def test_ucca_texts_are_learned_sentence_by_sentence(of_recipe: Callable[..., Any]) -> None:
    config = of_recipe("paper", "ucca", size=2).config
    tokens = tuple(map(Token, "He came . She saw it .".split()))
    units = tuple(Node(f"1.{i + 2}", None, (i,)) for i in range(7))
    edges = tuple(Edge("1.1", unit.id, "A") for unit in units)
    passage = Graph("p", "ucca", tokens, (Node("1.1"), *units), edges, ("1.1",))
    assert [len(graph.tokens) for graph in training_graphs(config, [passage])] == [3, 4]


def test_a_decoded_word_without_an_edge_is_dropped(of_recipe: Callable[..., Any]) -> None:
    task = of_recipe("paper", "dm", size=2).task
    document = task.document("d", tuple(map(Token, "He came early here".split())))
    rows = (
        Row("came", 1, 0, "root", (1,)),
        Row("He", 2, 1, "ARG1", (0,)),
        Row("early", 3, 1, "null", (2,)),
    )
    graph = task.graph(document, [rows])
    assert [node.anchors for node in graph.nodes] == [(0,), (1,)]
    assert [task.graph(document, [rows[:1]]).nodes[0].anchors] == [(1,)]  # a top stays
