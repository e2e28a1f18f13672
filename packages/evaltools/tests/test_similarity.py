"""WLK and SemBleu: worked examples, laws, and paths found by a naive search."""

import json
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from math import isclose, sqrt
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given

from evaltools import sembleu, wlk, wwlk
from evaltools.cli import main
from evaltools.diff import difference
from evaltools.errors import EvaluationError
from evaltools.similarity import SCALE
from graphconv.codecs import Block
from graphconv.codecs.amr import parse
from graphconv.graph import Edge, Graph, Node
from graphconv.testing import graphs

GOLD = """(w / want-01 :polarity -
   :ARG0 (p / person :name (n / name :op1 "Ann")) :ARG1 (g / go-02 :ARG0 p))"""


def amr(text: str) -> Graph:
    return parse(Block(text, "test.amr", 1))


@pytest.mark.property
@given(graphs("amr"), graphs("amr"))
def test_laws_of_wlk(one: Graph, two: Graph) -> None:
    assert wlk.pair_counts(one, one).millionths == SCALE
    assert wlk.pair_counts(one, two) == wlk.pair_counts(two, one)
    assert 0 <= wlk.pair_counts(one, two).percent <= 100
    shuffled = replace(one, edges=one.edges[::-1])
    assert wlk.pair_counts(shuffled, two) == wlk.pair_counts(one, two)


def test_wlk_by_hand() -> None:
    # Nodes, triples, and labels of two rounds: 3 + 2 + 3/4 + 3/9, of which a, b, a-x-b and the
    # first round of b are common.
    gold, pred = amr("(a / a :x (b / b) :y (c / c))"), amr("(a / a :x (b / b) :y (d / d))")
    norm = 3 + 2 + 3 / 4 + 3 / 9
    assert wlk.pair_counts(gold, pred).millionths == round((3 + 1 / 4) / norm * SCALE)
    # The second one of equal labels is a feature of its own.
    two = amr("(a / a :x (b / b) :y (c / b))")
    assert len([key for key in wlk.features(two) if key[0] == 0]) == 5


def test_inverted_edges() -> None:
    one, two = amr("(a / a :x (b / b))"), amr("(b / b :x-of (a / a))")
    assert wlk.pair_counts(one, two).percent == 100
    assert sembleu.paths(one)[1] == {("a", ":x", "b"): 1}
    assert sembleu.paths(two)[1] == {("a", ":x", "b"): 1}
    assert wlk.pair_counts(one, None).percent == 0
    assert sembleu.pair_counts(one, None).bleu == 0


def naive_paths(graph: Graph, order: int) -> Iterator[tuple[str, ...]]:
    """Yield every chain of edges, each once, that starts at a node which can be reached."""
    labels = {node.id: (node.label or "").strip('"').lower() for node in graph.nodes}
    inverted = {i for i, edge in enumerate(graph.edges) if ("inverted", True) in edge.attributes}
    edges = []
    for i, edge in enumerate(graph.edges):
        role = f"{edge.label}-of" if i in inverted else edge.label
        ends = (edge.target, edge.source) if i in inverted else (edge.source, edge.target)
        if role.endswith("-of"):
            ends, role = ends[::-1], role.replace("-of", "")
        edges.append((*ends, role))
    variables = [node.id for node in graph.nodes if not node.constant]
    names = variables + [node.id for node in graph.nodes if node.constant]
    reached = {name for name in names if all(edge[1] != name for edge in edges)} or set(names[:1])
    for _ in names:
        reached |= {edge[1] for edge in edges if edge[0] in reached}

    def follow(path: tuple[str, ...], end: str, used: frozenset[int]) -> Iterator[tuple[str, ...]]:
        if len(path) == 2 * order - 1:
            yield path
            return
        for number, (source, target, role) in enumerate(edges):
            if source == end and number not in used:
                yield from follow((*path, f":{role}", labels[target]), target, used | {number})

    for name in reached:
        yield from follow((labels[name],), name, frozenset())


@pytest.mark.property
@given(graphs("amr"))
def test_paths(graph: Graph) -> None:
    for order, found in enumerate(sembleu.paths(graph), start=1):
        assert found == Counter(naive_paths(graph, order))
    assert isclose(sembleu.pair_counts(graph, graph).bleu, 100)


def test_sembleu_by_hand() -> None:
    gold, pred = amr("(a / a :x (b / b :y (c / c)))"), amr("(a / a :x (b / b :z (c / c)))")
    found = sembleu.pair_counts(gold, pred)
    assert (found.matches, found.paths) == ((3, 1, 0), (3, 2, 1))
    assert isclose(found.bleu, 100 * 0.5**0.33 * 0.5**0.34)
    # Shorter than gold (3 of 5), and without paths of three nodes: equal weights.
    short = sembleu.pair_counts(gold, amr("(a / a :x (b / b))"))
    assert isclose(short.bleu, 100 * 2.718281828459045 ** (1 - 5 / 3))
    corpus = sembleu.score([gold, gold], [pred, gold])
    assert (corpus.matches, corpus.paths) == ((6, 3, 1), (6, 4, 2))
    assert isclose(corpus.bleu, 100 * 0.75**0.33 * 0.5**0.34)
    assert corpus.main.f1 != corpus.bleu
    assert sqrt(sembleu.score([], []).bleu) == 10


@pytest.mark.parametrize("metric", ["wlk", "wwlk", "sembleu"])
def test_the_command(metric: str, tmp_path: Path) -> None:
    gold, pred, per_graph = (tmp_path / name for name in ("gold.amr", "pred.amr", "each.jsonl"))
    gold.write_text(f"{GOLD}\n\n(b / bark-01 :ARG0 (d / dog))\n")
    pred.write_text(f"{GOLD.replace('go-02', 'run-02')}\n\n(b / bark-01 :ARG0 (d / dog))\n")
    files = [str(gold), str(pred)]
    options = ["--metric", metric, "--format", "json"]
    result = CliRunner().invoke(
        main, ["score", *files, *options, "--bootstrap", "50", "--per-graph", str(per_graph)]
    )
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert 50 < report[metric] < 100
    assert report["signature"]["metric"] == metric
    each = [json.loads(line)[metric] for line in per_graph.read_text().splitlines()]
    assert each[0] < 100
    assert isclose(each[1], 100)
    result = CliRunner().invoke(main, ["compare", *files, str(gold), *options, "--samples", "50"])
    assert json.loads(result.stdout)["difference"] > 0
    with pytest.raises(EvaluationError, match="use smatch"):
        difference(amr(GOLD), amr(GOLD), metric, {})
    result = CliRunner().invoke(main, ["diff", *files, "--metric", metric])
    assert result.exit_code == 1
    assert "use smatch" in result.stderr


@pytest.mark.property
@given(graphs("amr"), graphs("amr"))
def test_laws_of_wwlk(one: Graph, two: Graph) -> None:
    assert wwlk.pair_counts(one, one).millionths == SCALE
    assert abs(wwlk.pair_counts(one, two).millionths - wwlk.pair_counts(two, one).millionths) <= 1
    assert 0 <= wwlk.pair_counts(one, two).percent <= 100


def test_wwlk_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("boy 3 0\ngirl 0 1\nbig 1 2\n")
    vectors = str(path)

    def distance(one: str, two: str) -> float:
        return 2 - wwlk.pair_counts(amr(one), amr(two), vectors=vectors).percent / 50

    # Nodes alone: the vectors of three rounds are the same, and orthogonal to those of the other.
    assert isclose(distance("(b / boy)", "(g / girl-01)"), sqrt(2), abs_tol=1e-5)
    # The greater of the parts: (3, 2).
    cosine = 3 / sqrt(13)
    assert isclose(distance("(b / boy)", "(g / big-boy)"), sqrt(2 - 2 * cosine), abs_tol=1e-5)
    # Both nodes grow by the weight of the role in each round, which lies between 0.25 and 0.35.
    ends = []
    for weight in (0.25, 0.35):
        grown = [(1 + weight) ** turn for turn in range(3)]
        cosine = sum(grown) / sqrt(3 * sum(x * x for x in grown))
        ends.append(sqrt(2 - 2 * cosine))
    assert ends[0] < distance("(b / boy)", "(b / boy :x (c / boy))") < ends[1]
    # One half of the mass goes to each node of the other graph, whose vectors have turned.
    found = distance("(b / boy)", "(b / boy :x (g / girl))")
    assert 0 < found < sqrt(2)
    assert distance("(b / boy :x-of (g / girl))", "(g / girl :x (b / boy))") == 0


def test_wlk_does_not_repeat_a_long_label_at_each_neighbor() -> None:
    points = tuple(Node(f"v{i}", f"concept-{i}") for i in range(1500))
    edges = tuple(Edge("v0", point.id, "ARG0") for point in points[1:])
    star = Graph("1", "amr", nodes=points, edges=edges, tops=("v0",))
    tracemalloc.start()
    same = wlk.score([star], [star]).percent
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert same == pytest.approx(100)
    assert peak < 10e6  # 104e6 if they did
