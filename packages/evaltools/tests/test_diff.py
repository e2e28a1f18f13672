from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltools.diff import difference
from evaltools.metrics import METRICS
from graphconv.codecs import Block
from graphconv.codecs.amr import parse
from graphconv.draw import EXTRA, MATCH, MISSING, svg
from graphconv.graph import Edge, Graph, Node, Token
from graphconv.testing import graphs


def amr(text: str) -> Graph:
    return parse(Block(text, "test.amr", 1))


def test_amr() -> None:
    gold = amr("(w / want-01 :polarity - :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))")
    pred = amr("(x / want-01 :ARG0 (y / girl) :ARG1 (z / go-02))")
    found = difference(gold, pred, "smatch", {})
    assert sorted(found.matched) == [
        "go-02",
        "top want-01",
        "want-01",
        "want-01 :ARG0 boy",
        "want-01 :ARG1 go-02",
    ]
    assert sorted(found.missing) == ["boy", "go-02 :ARG0 boy", "want-01 :polarity -"]
    assert found.extra == ["girl"]
    assert found.gold.nodes == {"w": MATCH, "b": MISSING, "g": MATCH}
    assert found.gold.edges == {0: MISSING, 1: MATCH, 2: MATCH, 3: MISSING}
    assert found.pred.nodes == {"x": MATCH, "y": EXTRA, "z": MATCH}
    assert "- boy" in found.text()
    assert "+ girl" in found.text()
    assert svg(gold, highlight=found.gold).startswith("<svg")


def test_amr_with_an_empty_prediction() -> None:
    found = difference(amr("(a / x :ARG0 (b / y))"), Graph("1", "amr"), "smatch", {})
    assert (found.matched, found.extra, len(found.missing)) == ([], [], 4)


def test_sdp() -> None:
    tokens = Token("dogs"), Token("bark"), Token("loudly")
    nodes = tuple(Node(str(i), anchors=(i,)) for i in range(3))
    gold = Graph("1", "dm", tokens, nodes, (Edge("1", "0", "ARG1"), Edge("2", "1", "ARG1")), ("1",))
    pred = Graph("1", "dm", tokens, nodes, (Edge("1", "0", "ARG2"), Edge("2", "1", "ARG1")), ("2",))
    found = difference(gold, pred, "sdp", {})
    assert found.matched == ["loudly --ARG1--> bark"]
    assert found.missing == ["top bark", "bark --ARG1--> dogs"]
    assert found.extra == ["top loudly", "bark --ARG2--> dogs"]
    assert found.gold.edges == {0: MISSING, 1: MATCH}


def test_ucca() -> None:
    tokens = Token("dogs"), Token("bark")
    nodes = Node("1.1"), Node("1.2"), Node("1.3", anchors=(0,)), Node("1.4", anchors=(1,))

    def graph(category: str) -> Graph:
        edges = (
            Edge("1.1", "1.2", "H"),
            Edge("1.2", "1.3", "A"),
            Edge("1.2", "1.4", category),
            Edge("1.1", "1.3", "A", remote=True),
        )
        return Graph("1", "ucca", tokens, nodes, edges, ("1.1",))

    found = difference(graph("P"), graph("S"), "ucca", {"normalize": False})
    assert found.matched == ["H [dogs bark]", "A [dogs]", "A* [dogs]"]
    assert (found.missing, found.extra) == (["P [bark]"], ["S [bark]"])


@pytest.mark.property
@pytest.mark.parametrize(
    ("metric", "framework", "options"),
    [
        ("smatch", "amr", {}),
        ("smatch", "amr", {"profile": "smatchpp-amr"}),
        ("sdp", "dm", {}),
        ("ucca", "ucca", {}),
        ("ucca", "ucca", {"normalize": False}),
        ("mrp", "amr", {}),
        ("mrp", "ucca", {}),
    ],
)
@given(data=st.data())
def test_diff_shows_what_score_counts(
    metric: str, framework: str, options: Mapping[str, Any], data: st.DataObject
) -> None:
    gold = data.draw(graphs(framework))
    other = data.draw(graphs(framework))
    # Another graph over the same words.
    nodes = tuple(n for n in other.nodes if all(a < len(gold.tokens) for a in n.anchors))
    kept = {node.id for node in nodes}
    edges = tuple(edge for edge in other.edges if {edge.source, edge.target} <= kept)
    tops = tuple(top for top in other.tops if top in kept)
    other = replace(other, nodes=nodes, edges=edges, tops=tops)
    pred = replace(other, tokens=gold.tokens, extras=gold.extras)
    counts = METRICS[metric].pair_counts(gold, pred, dict(options)).main
    found = difference(gold, pred, metric, dict(options))
    assert len(found.matched) == counts.match
    assert len(found.missing) == counts.gold - counts.match
    assert len(found.extra) == counts.pred - counts.match


def test_ucca_is_compared_after_normalization() -> None:
    """A center alone in its unit is the unit itself, so nothing is wrong here."""
    tokens = Token("dogs"), Token("bark")

    def passage(*, chain: bool) -> Graph:
        units = [("1.1", ()), ("1.2", ()), ("1.3", () if chain else (0,)), ("1.4", (1,))]
        edges = [Edge("1.1", "1.2", "H"), Edge("1.2", "1.3", "A"), Edge("1.2", "1.4", "P")]
        if chain:
            units.append(("1.5", (0,)))
            edges.append(Edge("1.3", "1.5", "C"))
        nodes = tuple(Node(name, anchors=anchors) for name, anchors in units)
        return Graph("1", "ucca", tokens, nodes, tuple(edges), ("1.1",))

    gold, pred = passage(chain=False), passage(chain=True)
    found = difference(gold, pred, "ucca", {})
    assert (found.missing, found.extra) == ([], [])
    assert set(found.pred.edges.values()) == {MATCH}
    assert difference(gold, pred, "ucca", {"normalize": False}).matched == found.matched
