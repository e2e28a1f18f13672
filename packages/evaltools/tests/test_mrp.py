"""MRP F1 against exhaustive search over the JSON of both graphs, and its laws."""

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from evaltools.cli import main
from evaltools.counts import Counts
from evaltools.diff import difference
from evaltools.errors import EvaluationError
from evaltools.mrp import ZERO, Scores, items, pair_counts, score
from evaltools.mrp.macro import macro_score
from evaltools.pairing import Evaluation
from graphconv.codecs import Block
from graphconv.codecs.mrp import format, parse  # noqa: A004 - a codec's names
from graphconv.errors import ConversionError
from graphconv.frameworks import FRAMEWORKS
from graphconv.graph import Edge, Graph, Node, Token
from graphconv.testing import CORPORA, graphs

LABELS = st.sampled_from(["x", "X", "y"])
RECORD: dict[str, Any] = {
    "id": "1",
    "flavor": 1,
    "framework": "eds",
    "version": 1.1,
    "time": "2020-01-01",
    "input": "Ah (dogs) bark.",
}


def graph(**parts: Any) -> Graph:
    return parse(Block(json.dumps(RECORD | parts), "test.mrp", 1))


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    n = draw(st.integers(0, 4))
    nodes: list[dict[str, Any]] = []
    for i in range(n):
        node: dict[str, Any] = {"id": i}
        if draw(st.booleans()):
            node["label"] = draw(LABELS)
        if draw(st.booleans()):
            node |= {"properties": ["Pos"], "values": [draw(LABELS)]}
        if draw(st.booleans()):
            ends = draw(st.sampled_from([(0, 2), (0, 3), (3, 9), (4, 8), (10, 15)]))
            node["anchors"] = [{"from": ends[0], "to": ends[1]}]
        nodes.append(node)
    edges = []
    ends_of_edges = st.tuples(st.integers(0, max(n - 1, 0)), st.integers(0, max(n - 1, 0)))
    for source, target in draw(st.sets(ends_of_edges, max_size=5)) if n else ():
        edge: dict[str, Any] = {"source": source, "target": target, "label": draw(LABELS)}
        if draw(st.booleans()):
            edge |= {"attributes": ["effective"], "values": [draw(st.booleans())]}
        edges.append(edge)
    tops = draw(st.lists(st.integers(0, n - 1), max_size=1)) if n else []
    return RECORD | {"nodes": nodes, "edges": edges, "tops": tops}


def tuples(record: dict[str, Any], names: dict[int, object]) -> Iterator[object]:
    """Yield what counts, written down once more and naively."""
    text = record["input"]
    for top in record["tops"]:
        yield "top", names[top]
    for node in record["nodes"]:
        name = names[node["id"]]
        if "label" in node:
            yield "label", name, node["label"].lower()
        for prop, value in zip(node.get("properties", ()), node.get("values", ()), strict=True):
            yield "property", name, prop.lower(), value.lower()
        for anchor in node.get("anchors", ()):
            inside = range(anchor["from"], anchor["to"])
            yield "anchor", name, tuple(i for i in inside if text[i].isalpha())
    for edge in record["edges"]:
        ends = names[edge["source"]], names[edge["target"]], edge["label"].lower()
        yield "edge", *ends
        if "attributes" in edge:
            yield "attribute", *ends, str(edge["values"][0]).lower()


def exhaustive(gold: dict[str, Any], pred: dict[str, Any]) -> int:
    n_gold, n_pred = len(gold["nodes"]), len(pred["nodes"])
    wanted = set(tuples(gold, {i: i for i in range(n_gold)}))
    places = [*range(n_gold), *(f"free {i}" for i in range(n_pred))]
    return max(
        len(wanted & set(tuples(pred, dict(enumerate(chosen)))))
        for chosen in permutations(places, n_pred)
    )


@pytest.mark.property
@given(records(), records())
def test_the_best_alignment_is_found(gold: dict[str, Any], pred: dict[str, Any]) -> None:
    found = pair_counts(graph(**gold), graph(**pred))
    assert found.certified
    assert found.main.match == exhaustive(gold, pred)
    assert found.main.gold == len(set(tuples(gold, {i: i for i in range(4)})))


@pytest.mark.property
@pytest.mark.parametrize("framework", FRAMEWORKS)
@given(data=st.data())
def test_laws(framework: str, data: st.DataObject) -> None:
    gold = data.draw(graphs(framework))
    assert pair_counts(gold, gold).main.f1 == 100
    assert pair_counts(gold, gold).main.gold == len(items(gold))
    assert pair_counts(gold, None).main == Counts(len(items(gold)), 0, 0)
    renamed = parse(Block(format(gold), "test.mrp", 1))
    assert pair_counts(gold, renamed).main.f1 == 100, "the format of the file changed the score"


@pytest.mark.property
@given(records(), records())
def test_diff_shows_what_is_counted(gold: dict[str, Any], pred: dict[str, Any]) -> None:
    one, two = graph(**gold), graph(**pred)
    counts = pair_counts(one, two).main
    found = difference(one, two, "mrp", {})
    assert len(found.matched) == counts.match
    assert len(found.missing) == counts.gold - counts.match
    assert len(found.extra) == counts.pred - counts.match


def test_kinds() -> None:
    nodes = [
        {"id": 0, "label": "Bark", "anchors": [{"from": 10, "to": 15}]},
        {"id": 1, "label": "dog", "properties": ["num"], "values": ["PL"]},
    ]
    edges = [{"source": 0, "target": 1, "label": "ARG1"}]
    gold = graph(nodes=nodes, edges=edges, tops=[0])
    other = json.loads(json.dumps(nodes).replace("PL", "sg").replace("15", "14"))
    pred = graph(nodes=other, edges=[edges[0] | {"label": "arg2"}], tops=[1])
    found = pair_counts(gold, pred)
    ones = Counts(1, 1, 0), Counts(2, 2, 2), Counts(1, 1, 0), Counts(1, 1, 1), Counts(1, 1, 0)
    assert found == Scores(*ones, Counts(), bound=3)
    assert list(found.to_json()) == [
        *("tops", "labels", "properties", "anchors", "edges", "attributes", "all")
    ]
    assert score([gold, gold], [pred, None]).main == Counts(12, 6, 3)
    assert score([], []) == ZERO


def test_inverse_edges_of_amr_and_defaults() -> None:
    nodes = [{"id": 0, "label": "a"}, {"id": 1, "label": "b"}]
    forms = [
        {"source": 0, "target": 1, "label": "ARG0-of", "normal": "ARG0"},
        {"source": 0, "target": 1, "label": "ARG0-of"},
        {"source": 1, "target": 0, "label": "arg0"},
        {"source": 1, "target": 0, "label": "ARG0", "attributes": ["remote"], "values": [False]},
    ]
    found = [graph(framework="amr", nodes=nodes, edges=[edge]) for edge in forms]
    assert {pair_counts(found[0], other).main for other in found} == {Counts(3, 3, 3)}


def test_sdp_files_have_no_text_and_the_same_anchors() -> None:
    tokens = tuple(Token(form, form) for form in ("Ah", "(", "dogs", ")", "bark", "."))
    nodes = (Node("3", anchors=(2,)), Node("5", anchors=(4,)))
    from_sdp = Graph("1", "dm", tokens, nodes, (Edge("5", "3", "ARG1"),), ("5",))
    from_mrp = graph(
        framework="dm",
        nodes=[
            {"id": 2, "label": "dogs", "anchors": [{"from": 4, "to": 8}]},
            {"id": 4, "label": "bark", "anchors": [{"from": 10, "to": 14}]},
        ],
        edges=[{"source": 4, "target": 2, "label": "ARG1"}],
        tops=[4],
    )
    assert pair_counts(from_sdp, from_mrp).main == Counts(6, 6, 6)
    with pytest.raises(ConversionError, match="the text is"):
        pair_counts(from_sdp, replace(from_sdp, tokens=(Token("Cats"), *tokens[1:])))


def test_the_time_limit_gives_a_bound() -> None:
    rng = random.Random(0)

    def tree() -> Graph:
        names = [f"1.{i}" for i in range(1, 41)]
        edges = tuple(Edge(rng.choice(names[:i]), names[i], "A") for i in range(1, 40))
        return Graph("1", "ucca", nodes=tuple(map(Node, names)), edges=edges, tops=("1.1",))

    gold, pred = tree(), tree()
    found = pair_counts(gold, pred, time_limit=1e-9)
    assert not found.certified
    assert found.main.match < found.bound == found.to_json()["all"]["bound"]


def test_several_frameworks_must_be_chosen_from(tmp_path: Path) -> None:
    path = tmp_path / "mixed.mrp"
    path.write_text(
        "".join(json.dumps(RECORD | {"framework": name}) + "\n" for name in ("eds", "amr"))
    )
    with pytest.raises(EvaluationError, match="choose one with framework= "):
        list(Evaluation(str(path), str(path), metric="mrp"))
    chosen = Evaluation(str(path), str(path), metric="mrp", framework="amr")
    assert [result.statistics.main.f1 for result in chosen] == [100]


def test_macro(tmp_path: Path) -> None:
    node = {"id": 0, "label": "x"}
    records = [
        RECORD | {"framework": name, "nodes": [node, {"id": 1, "label": "y"}], "tops": [0]}
        for name in ("eds", "ptg", "drg")
    ]
    gold, pred = tmp_path / "gold.mrp", tmp_path / "pred.mrp"
    gold.write_text("".join(json.dumps(record) + "\n" for record in records))
    records[0]["nodes"] = [node]
    pred.write_text("".join(json.dumps(record) + "\n" for record in records[:2]))
    found = macro_score(str(gold), str(pred))
    assert {name: scores.main for name, scores in found.frameworks.items()} == {
        "eds": Counts(3, 2, 2),
        "ptg": Counts(3, 3, 3),
        "drg": Counts(3, 0, 0),
    }
    assert found.f1 == (80 + 100 + 0) / 3
    for form in ("table", "json"):
        arguments = ["score", str(gold), str(pred), "--macro", "--format", form]
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, result.output
        assert ("60.00" if form == "table" else '"macro": 60.0') in result.stdout


LPPS = CORPORA / "mrp/lpps.mrp"


@pytest.mark.corpora
@pytest.mark.skipif(not LPPS.exists(), reason="needs the MRP sample")
@pytest.mark.parametrize("framework", ["amr", "dm", "eds", "psd", "ucca"])
def test_the_sample_of_the_shared_task(framework: str, tmp_path: Path) -> None:
    rng = random.Random(framework)
    damaged = []
    for record in map(json.loads, LPPS.read_text(encoding="utf-8").splitlines()):
        rng.shuffle(record["nodes"])
        record["edges"] = [edge for edge in record.get("edges", ()) if rng.random() < 0.9]
        damaged.append(json.dumps(record))
    path = tmp_path / "damaged.mrp"
    path.write_text("\n".join(damaged), encoding="utf-8")
    itself = Evaluation(str(LPPS), str(LPPS), metric="mrp", framework=framework)
    total: Any = sum((result.statistics for result in itself), ZERO)
    assert total.certified
    assert total.main.f1 == 100
    found = Evaluation(str(LPPS), str(path), metric="mrp", framework=framework)
    total = sum((result.statistics for result in found), ZERO)
    assert total.certified
    # Nothing was added, so the best alignment matches all that is left.
    assert total.main.match == total.main.pred < total.main.gold
