"""How sure a parser was: kept by MRP, arborescences and dictionaries, seen by nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import networkx
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import graphconv
from graphconv import FormatError, Graph
from graphconv.cli import main
from graphconv.conversion import row_parts, to_arborescence, to_graph
from graphconv.draw import svg
from graphconv.frameworks import FRAMEWORKS
from graphconv.graph import Edge, Node, Token
from graphconv.scores import Scores, joined
from graphconv.testing import arborescences, graphs

frameworks = pytest.mark.parametrize("framework", FRAMEWORKS)
log_probabilities = st.floats(-50, 0).map(lambda value: round(value, 4))

BOY = Graph(
    "1",
    "amr",
    tuple(map(Token, "the boy is not 5".split())),
    (
        Node("b", "boy"),
        Node(":0", "-", constant=True),
        Node("t", "thing"),
        Node(":1", "5", constant=True),
    ),
    (Edge("b", ":0", "polarity"), Edge("b", "t", "mod"), Edge("t", ":1", "quant")),
    ("b",),
    scores=Scores(
        -1.5,
        {"b": -0.1, ":0": -0.3, "t": -0.2, ":1": -0.6},
        {("b", ":0", "polarity"): -0.4, ("b", "t", "mod"): -0.05},
    ),
)


@st.composite
def scored(draw: st.DrawFn, framework: str) -> Graph:
    """Return a graph some of whose parts have scores."""
    graph = draw(graphs(framework))
    nodes = [node.id for node in graph.nodes if draw(st.booleans())]
    edges = [edge[:3] for edge in graph.edges if draw(st.booleans())]
    scores = Scores(
        draw(st.none() | log_probabilities),
        {name: draw(log_probabilities) for name in nodes},
        {name: draw(log_probabilities) for name in edges},
    )
    return replace(graph, scores=None if scores == Scores(None, {}, {}) else scores)


@frameworks
@given(data=st.data())
def test_scores_come_back_from_arborescences_and_dictionaries(
    framework: str, data: st.DataObject
) -> None:
    graph = data.draw(scored(framework))
    tree = to_arborescence(graph)
    stored = replace(tree, side=json.loads(json.dumps(tree.side)))
    for again in (to_graph(stored), Graph.from_dict(json.loads(json.dumps(graph.to_dict())))):
        assert again == graph
        assert again.scores == graph.scores


@frameworks
@given(data=st.data())
def test_scores_come_back_from_mrp(framework: str, data: st.DataObject) -> None:
    """Once more from what was read: a file changes the ids of constants, and then nothing."""
    graph = data.draw(scored(framework))
    try:
        [read] = graphconv.loads(graphconv.dumps(graph, format="mrp"), format="mrp")
    except graphconv.GraphconvError:
        return  # what MRP refuses, it refuses with and without scores
    assert (read.scores is None) == (graph.scores is None)
    [again] = graphconv.loads(graphconv.dumps(read, format="mrp"), format="mrp")
    assert again == read
    assert again.scores == read.scores
    if graph.scores is not None and read.scores is not None:
        assert read.scores.graph == graph.scores.graph
        assert sorted(read.scores.nodes.values()) == sorted(graph.scores.nodes.values())


def test_mrp_has_scores_in_a_key_of_our_own() -> None:
    record = json.loads(graphconv.dumps(BOY, format="mrp"))
    assert record["graphconv"]["score"] == -1.5
    boy, thing = record["nodes"]
    assert boy["graphconv"] == {"score": -0.1, "constant_scores": [[-0.3, -0.4]]}
    assert thing["graphconv"]["constant_scores"] == [[-0.6, None]]
    assert record["edges"][0]["graphconv"] == {"score": -0.05}
    [read] = graphconv.loads(json.dumps(record), format="mrp")
    assert read.scores is not None
    assert read.scores.edges == {("0", ":0", "polarity"): -0.4, ("0", "1", "mod"): -0.05}
    assert "mrp" not in dict(read.extras), "scores are not taken for something unknown"


def test_native_notations_and_equality_do_not_see_scores() -> None:
    bare = replace(BOY, scores=None)
    assert bare == BOY
    assert str(bare) == str(BOY)
    assert hash(bare) == hash(BOY)


def test_networkx_has_scores() -> None:
    flat = BOY.to_networkx(flat=True)
    assert flat.graph["score"] == -1.5
    assert flat.nodes["t"]["score"] == -0.2
    assert flat.edges["b", "t", 0]["score"] == -0.05
    assert "score" not in flat.edges["t", ":1", 0]
    assert "".join(networkx.generate_graphml(flat)).count("-0.05") == 1
    assert BOY.to_networkx().graph["scores"] is BOY.scores


def test_scores_of_parts() -> None:
    scores = BOY.scores
    assert scores is not None
    assert scores.of("b") == -0.1
    assert scores.of(BOY.edges[0]) == -0.4
    assert scores.of(BOY.edges[2]) is None
    assert scores.probability(BOY.edges[2]) is None
    left = replace(BOY, nodes=BOY.nodes[2:], edges=BOY.edges[2:])
    assert scores.only(left) == Scores(-1.5, {"t": -0.2, ":1": -0.6}, {})
    other = scores.renamed({"b": "x", ":0": "y", "t": "t", ":1": ":1"})
    assert other.edges == {("x", "y", "polarity"): -0.4, ("x", "t", "mod"): -0.05}


@pytest.mark.parametrize("value", ["x", True, [1]])
def test_a_score_is_a_number(value: object) -> None:
    record = BOY.to_dict()
    record["nodes"][0]["score"] = value
    with pytest.raises(FormatError, match="a score is not a number"):
        Graph.from_dict(record)
    mrp = json.loads(graphconv.dumps(BOY, format="mrp"))
    mrp["nodes"][0]["graphconv"] = {"constant_scores": [value]}
    with pytest.raises(FormatError, match="a score is not a number"):
        graphconv.loads(json.dumps(mrp), format="mrp")
    tree = to_arborescence(BOY)
    with pytest.raises(graphconv.ConversionError):
        to_graph(replace(tree, side={**tree.side, "scores": {"graph": value}}))


@frameworks
@given(data=st.data())
def test_rows_are_the_parts_of_their_graph(framework: str, data: st.DataObject) -> None:
    """Every node and edge of the graph of bare rows is that of some row, and of none else."""
    tree = replace(data.draw(arborescences(framework)), side={})
    graph, parts = to_graph(tree), row_parts(tree)
    assert len(parts) == len(tree.rows)
    assert {node for node, _ in parts} - {None} == {node.id for node in graph.nodes}
    assert sorted(edge for _, edge in parts if edge) == sorted(edge[:3] for edge in graph.edges)


@pytest.mark.parametrize("kind", ["svg", "html", "dot"])
def test_draw_shades_what_is_not_sure(tmp_path: Path, kind: str) -> None:
    treebank, picture = tmp_path / "boy.mrp", tmp_path / f"boy.{kind}"
    treebank.write_text(graphconv.dumps(BOY, format="mrp"), encoding="utf-8")
    command = ["draw", str(treebank), "-o", str(picture)]
    assert CliRunner().invoke(main, command).exit_code == 0
    plain = picture.read_text(encoding="utf-8")
    assert CliRunner().invoke(main, [*command, "--scores"]).exit_code == 0
    shaded = picture.read_text(encoding="utf-8")
    if kind == "dot":  # "5" has the probability 0.55, its edge has none
        assert shaded.count("xlabel") == len(BOY.scores.nodes) + len(BOY.scores.edges)  # type: ignore[union-attr]
        assert 'xlabel="0.55"' in shaded
    else:
        assert 'class="constant doubt-2"' in shaded
        assert "below 25%" in shaded
        assert 'class="constant doubt-2"' not in plain


def test_draw_scores_says_where_scores_come_from() -> None:
    done = CliRunner().invoke(main, ["draw", "-", "-o", "-", "--scores"], input="(b / boy)\n")
    assert done.exit_code == 1
    assert "it has no scores" in done.output
    assert "transducer parse --to mrp" in done.output


@pytest.mark.parametrize("framework", ["amr", "dm", "ucca"])
@given(data=st.data())
def test_every_drawing_takes_shades(framework: str, data: st.DataObject) -> None:
    graph = data.draw(scored(framework))
    if graph.scores is not None:
        assert svg(graph, scores=True).startswith("<svg")


def test_scores_of_parts_are_joined() -> None:
    a, b = Scores(-1.0, {"x": -0.1}, {}), Scores(None, {"y": -0.2}, {("y", "y", "l"): -0.3})
    assert joined([a, None, b]) == Scores(-1.0, {"x": -0.1, "y": -0.2}, {("y", "y", "l"): -0.3})
    assert joined([b]) == b
    assert joined([None]) is None
    assert Scores.from_json(Scores(None, {}, {}).to_json()) == Scores(None, {}, {})
