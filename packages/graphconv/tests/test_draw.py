import re
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest

from graphconv import draw, io
from graphconv.check import sample_paths
from graphconv.conversion import to_arborescence
from graphconv.draw import canvas
from graphconv.draw.arcs import draw_arcs
from graphconv.draw.layered import draw_layers
from graphconv.draw.rows import draw_rows
from graphconv.draw.units import draw_units
from graphconv.errors import FormatError, GraphconvError
from graphconv.graph import Edge, Graph, Node, Token
from graphconv.views import words_of

GRAPHS = [graph for path in sample_paths() for graph in io.read(path)]
NONE = draw.Highlight()


def _texts(picture: str) -> list[str]:
    root = ET.fromstring(picture)
    tags = ("text", "tspan")
    return [e.text for e in root.iter() if e.tag.rpartition("}")[2] in tags and e.text]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: f"{graph.framework}-{graph.id}")
def test_everything_is_shown(graph: Graph) -> None:
    texts = _texts(draw.svg(graph, tree=to_arborescence(graph)))
    labels = [node.label for node in graph.nodes if node.label]
    forms = [token.form for token in graph.tokens] if graph.framework != "amr" else []
    for expected in (*labels, *forms, *(edge.label for edge in graph.edges)):
        assert expected in texts
    rows = to_arborescence(graph).rows
    assert {row.label for row in rows} <= {*texts}


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: f"{graph.framework}-{graph.id}")
def test_nothing_lies_outside_of_the_picture(graph: Graph) -> None:
    for drawing in (draw_rows(to_arborescence(graph)), _drawing(graph)):
        for x in re.findall(r'\b(?:x|cx)="(-?[\d.]+)"', "".join(drawing.elements)):
            assert -6 <= float(x) <= drawing.width + 1
        for y in re.findall(r'\b(?:y|cy)="(-?[\d.]+)"', "".join(drawing.elements)):
            assert -12 <= float(y) <= drawing.height + 6


def _drawing(graph: Graph) -> canvas.Drawing:
    layouts = {"dm": draw_arcs, "ucca": draw_units, "amr": draw_layers}
    return layouts[graph.framework](graph, NONE)


@pytest.mark.parametrize("framework", ["dm", "ucca"])
def test_words_do_not_overlap(framework: str) -> None:
    form = "Wort"
    tokens = tuple(Token(form) for _ in range(40))
    nodes = tuple(Node(f"1.{i + 2}", None, (i,)) for i in range(40))
    edges = tuple(Edge("1.2", node.id, "x") for node in nodes[1:])
    graph = Graph("1", framework, tokens, nodes, edges, ("1.2",))
    texts = [e for e in _drawing(graph).elements if f">{form}<" in e]
    places = sorted(float(re.findall(r'x="([\d.]+)"', text)[0]) for text in texts)
    assert len(places) == 40
    width = canvas.text_width(form)
    assert all(b - a >= width for a, b in pairwise(places))


ODD = {
    "loop": (("a", "a"),),
    "cycle": (("a", "b"), ("b", "c"), ("c", "a")),
    "parallel": (("a", "b"), ("a", "b")),
    "apart": (("b", "c"),),
    "nothing": (),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("framework", ["amr", "dm", "ucca"])
@pytest.mark.parametrize("tops", [(), ("a",), ("a", "b")])
def test_odd_graphs_are_drawn(name: str, framework: str, tops: tuple[str, ...]) -> None:
    nodes = tuple(Node(n, n, () if framework == "amr" else (i,)) for i, n in enumerate("abc"))
    edges = tuple(Edge(source, target, f"r{i}") for i, (source, target) in enumerate(ODD[name]))
    tokens = tuple(Token(form) for form in "xyz")
    texts = _texts(draw.svg(Graph("1", framework, tokens, nodes, edges, tops)))
    assert {edge.label for edge in edges} <= {*texts}


@pytest.mark.parametrize("framework", ["amr", "dm", "ucca"])
def test_empty_graphs_are_drawn(framework: str) -> None:
    ET.fromstring(draw.svg(Graph("1", framework)))


def test_markup_is_escaped() -> None:
    graph = Graph("<1>", "amr", (Token("a&b"),), (Node("a", '<b> & "c"'),), (), ("a",))
    assert '<b> & "c"' in _texts(draw.svg(graph, tree=to_arborescence(graph)))
    assert "&lt;1&gt;" in draw.html(graph)


def test_long_chains_do_not_recurse() -> None:
    n = 3000
    nodes = tuple(Node(f"n{i}", "x") for i in range(n))
    edges = tuple(Edge(f"n{i}", f"n{i + 1}", "r") for i in range(n - 1))
    graph = Graph("1", "amr", (), nodes, edges, ("n0",))
    assert len(_texts(draw.svg(graph, tree=to_arborescence(graph)))) > 4 * n


def test_copies_are_linked_to_the_primary_row() -> None:
    boy = next(graph for graph in GRAPHS if graph.framework == "amr")
    assert "".join(draw_rows(to_arborescence(boy)).elements).count('class="tip-remote"') == 1


def test_highlight() -> None:
    graph = next(graph for graph in GRAPHS if graph.framework == "dm")
    plain = draw.svg(graph)
    states = draw.Highlight(
        nodes={graph.nodes[0].id: draw.MISSING, graph.nodes[1].id: draw.MATCH},
        edges={0: draw.MISSING, 1: draw.EXTRA, 2: draw.MATCH},
    )
    marked = draw.svg(graph, highlight=states)
    for name, number in (("line missing", 1), ("line extra", 1), ("box missing", 1)):
        assert marked.count(f'class="{name}"') == number
        assert f'class="{name}"' not in plain


def test_one_file_without_references() -> None:
    for graph in GRAPHS:
        page = draw.html(graph, tree=to_arborescence(graph))
        assert "prefers-color-scheme:dark" in page
        assert not re.search(r"(?:href|src|url)\s*[=(]", page)


@pytest.mark.parametrize("suffix", ["svg", "html", "dot"])
def test_save(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"out.{suffix}"
    draw.save(GRAPHS[0], file)
    assert "want-01" in file.read_text(encoding="utf-8")


def test_save_refuses_unknown_pictures(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"out\.gif: a picture is one of svg, html, png, dot"):
        draw.save(GRAPHS[0], tmp_path / "out.gif")


def test_png_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(GraphconvError, match="pip install resvg-py"):
        draw.png("<svg/>")


def test_png(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    draw.save(GRAPHS[0], tmp_path / "out.png")
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: f"{graph.framework}-{graph.id}")
def test_a_picture_says_which_words_its_nodes_stand_for(graph: Graph) -> None:
    marked = re.findall(r'data-node="([^"]*)" data-words="([^"]*)"', draw.svg(graph))
    shown = {node: tuple(map(int, words.split())) for node, words in marked}
    assert shown == words_of(graph)
    assert len(marked) == len(graph.nodes)


HEBREW = tuple(map(Token, "הילד אכל תפוח .".split()))


@pytest.mark.parametrize(
    "graph",
    [
        Graph("1", "dm", HEBREW, tuple(Node(str(i + 1), None, (i,)) for i in range(4))),
        Graph(
            "1",
            "ucca",
            HEBREW,
            (Node("1.1"), *(Node(f"1.{i + 2}", None, (i,)) for i in range(4))),
            tuple(Edge("1.1", f"1.{i + 2}", "A") for i in range(4)),
            ("1.1",),
        ),
    ],
    ids=["dm", "ucca"],
)
def test_words_stand_in_the_direction_of_their_script(graph: Graph) -> None:
    elements = "".join(_drawing(graph).elements)
    column = {form: float(x) for x, form in re.findall(r'<text x="([\d.]+)".*?>(.+?)<', elements)}
    assert column["הילד"] > column["אכל"] > column["תפוח"] > column["."]
    assert column["0"] > column["1"] > column["3"]  # the numbers go with their words


def test_a_paragraph_begins_where_it_is_read_from() -> None:
    [line] = canvas.paragraph("הילד אכל .", 420).elements
    assert 'text-anchor="end"' in line
    [line] = canvas.paragraph("The boy ate .", 420).elements
    assert 'text-anchor="start"' in line
