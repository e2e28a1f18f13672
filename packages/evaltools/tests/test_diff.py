from evaltools.diff import difference
from graphconv.codecs import Block
from graphconv.codecs.amr import parse
from graphconv.draw import EXTRA, MATCH, MISSING, svg
from graphconv.graph import Edge, Graph, Node, Token


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

    found = difference(graph("P"), graph("S"), "ucca", {})
    assert found.matched == ["H [dogs bark]", "A [dogs]", "A* [dogs]"]
    assert (found.missing, found.extra) == (["P [bark]"], ["S [bark]"])
