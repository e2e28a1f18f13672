"""S2match against exhaustive search, with and without word vectors."""

import json
from itertools import permutations
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from evaltools import s2match, smatch
from evaltools.amr_triples import INSTANCE, smatch_triples
from evaltools.cli import main
from evaltools.counts import Counts
from evaltools.errors import EvaluationError
from graphconv.codecs import Block
from graphconv.codecs.amr import parse
from graphconv.graph import Edge, Graph, Node

VECTORS = "hit 1 0\nhits 1 0\npunch 0.8 0.6\ncat 0 1\nbig 0.6 0.8\ndog 0 1\n"
CONCEPTS = st.sampled_from(["hit-01", "hit-02", "hit", "cat"])


def amr(text: str) -> Graph:
    return parse(Block(text, "test.amr", 1))


@st.composite
def small(draw: st.DrawFn) -> Graph:
    n = draw(st.integers(1, 4))
    nodes = tuple(Node(f"n{i}", draw(CONCEPTS)) for i in range(n))
    ids = st.sampled_from([node.id for node in nodes])
    ends = st.tuples(ids, ids, st.sampled_from(["ARG0", "ARG1"]))
    edges = [Edge(*end) for end in draw(st.lists(ends, max_size=5))]
    return Graph("1", "amr", nodes=nodes, edges=tuple(edges), tops=("n0",))


def exhaustive(gold: Graph, pred: Graph) -> int:
    """Try every alignment; a pair of concepts is worth what a table says."""
    left, right = smatch_triples(gold).items, smatch_triples(pred).items
    concept = {source: target for source, role, target in right if role == INSTANCE}
    best = 0
    n_pred = len(pred.nodes)
    for chosen in permutations([*range(n_pred), *[-1] * len(gold.nodes)], len(gold.nodes)):
        value = 0
        for source, role, target in left:
            image = chosen[int(source)]
            if role == INSTANCE and image >= 0:
                same = {concept[image].split("-")[0], target.split("-")[0]}  # type: ignore[union-attr]
                value += 1000 if concept[image] == target else 500 * (len(same) == 1)
            elif role != INSTANCE:
                end = chosen[target] if isinstance(target, int) else target
                value += 1000 * ((image, role, end) in right)
        best = max(best, value)
    return best


@pytest.mark.property
@given(small(), small())
def test_the_best_alignment_is_found(gold: Graph, pred: Graph) -> None:
    found = s2match.pair_counts(gold, pred)
    assert found.certified
    assert found.main.match == exhaustive(gold, pred)
    assert found.main.match >= 1000 * smatch.pair_counts(gold, pred).smatch.match
    assert s2match.pair_counts(gold, gold).main.f1 == 100


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    path = tmp_path / "vectors.txt"
    path.write_text(VECTORS)
    return str(path)


@pytest.mark.parametrize(
    ("one", "two", "worth"),
    [
        ("cat", "dog", 1.0),
        ("cat", "big", 0.8),
        ("hit-01", "punch-02", 0.4),
        ("hit-01", "punch", 0.4),
        ("hit", "punch", 0.8),
        ("hit", "cat", 0.0),
        ("hit", "unknown", 0.0),
        ("big-cat", "cat", 3 / (0.6**2 + 1.8**2) ** 0.5 * 0.6),
        ("big-cat-01", "cat", 0.0),
    ],
)
def test_vectors(one: str, two: str, worth: float, vectors: str) -> None:
    assert s2match.similarity(one, two, vectors) == pytest.approx(worth)
    assert s2match.similarity(two, one, vectors) == pytest.approx(worth)


def test_the_command(vectors: str, tmp_path: Path) -> None:
    gold, pred = tmp_path / "gold.amr", tmp_path / "pred.amr"
    gold.write_text("(h / hit-01 :ARG0 (c / cat))\n")
    pred.write_text("(h / punch-02 :ARG0 (c / dog))\n")
    arguments = ["score", str(gold), str(pred), "--metric", "s2match", "--format", "json"]
    report = json.loads(CliRunner().invoke(main, arguments).stdout)
    assert (report["s2match"]["gold"], report["s2match"]["match"]) == (4, 2)
    report = json.loads(CliRunner().invoke(main, [*arguments, "--vectors", vectors]).stdout)
    assert report["s2match"]["match"] == pytest.approx(3.4)
    assert len(report["signature"]["options"]["vectors"]) == 12
    assert report["signature"]["certified"]


@pytest.mark.parametrize("line", ["cat a b", "cat", "dog 1 2\ncat 1"])
def test_bad_vectors(line: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(line)
    with pytest.raises(EvaluationError, match=r"bad\.txt: the vector of 'cat'"):
        s2match.pair_counts(amr("(d / dog)"), amr("(c / cat)"), vectors=str(path))


def test_a_file_without_vectors(tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.write_text("")
    with pytest.raises(EvaluationError, match="has no word vectors"):
        s2match.pair_counts(amr("(d / dog)"), amr("(c / cat)"), vectors=str(path))


@pytest.mark.parametrize(
    ("metric", "option"),
    [
        ("wlk", "--fine-grained"),
        ("mrp", "--restarts 2"),
        ("smatch", "--no-normalize"),
        ("sembleu", "--profile smatchpp-amr"),
    ],
)
def test_options_of_other_metrics_are_refused(metric: str, option: str, tmp_path: Path) -> None:
    path = tmp_path / "one.amr"
    path.write_text("(d / dog)\n")
    arguments = ["score", str(path), str(path), "--metric", metric, *option.split()]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 1
    assert f"{option.split(maxsplit=1)[0]} is no option of {metric}: leave it out" in done.stderr


def test_no_prediction() -> None:
    assert s2match.pair_counts(amr("(c / cat)"), None).main == Counts(2000, 0, 0)
