"""SDP scores against a second count, made straight from the columns of the files."""

import random
from pathlib import Path

import pytest

from evaltools.sdp import pair_counts, score
from graphconv import io
from graphconv.testing import CORPORA

pytestmark = [pytest.mark.oracle, pytest.mark.corpora]

ROOT = Path(__file__).parents[2]
FILE = CORPORA / "dm/wescience-dev.sdp"

Rows = list[list[str]]


def sentences(text: str) -> list[Rows]:
    """Cut a file into the cells of its token lines."""
    parts = text.removeprefix("#SDP 2015\n").strip("\n").split("\n\n")
    return [[line.split("\t") for line in part.split("\n")[1:]] for part in parts]


def perturb(text: str, seed: int) -> str:
    """Change cells at random: labels, tops, senses and parts of speech."""
    rng = random.Random(seed)
    result = []
    for line in text.split("\n"):
        cells = line.split("\t")
        if len(cells) >= 7:
            for column in range(7, len(cells)):
                if rng.random() < (0.1 if cells[column] != "_" else 0.003):
                    cells[column] = rng.choice(["_", "ARG1", "ARG2", "BV"])
            for column, values in ((3, "VBZ NN"), (4, "+ -"), (6, "v n _")):
                if rng.random() < 0.05:
                    cells[column] = rng.choice(values.split())
        result.append("\t".join(cells))
    return "\n".join(result)


def items(rows: Rows) -> dict[str, set[object]]:
    """Collect the items of every score from the columns."""
    predicates = [i for i, row in enumerate(rows) if row[5] == "+"]
    edges = [
        (predicate, i, label)
        for i, row in enumerate(rows)
        for predicate, label in zip(predicates, row[7:], strict=True)
        if label != "_"
    ]
    tops = [("top", i) for i, row in enumerate(rows) if row[4] == "+"]
    frames = [
        (p, rows[p][6], frozenset(edge for edge in edges if edge[0] == p))
        for p in predicates
        if rows[p][3].startswith("V")
    ]
    return {
        "labelled": {*edges, *tops},
        "unlabelled": {*[edge[:2] for edge in edges], *tops},
        "edges": set(edges),
        "pairs": {edge[:2] for edge in edges},
        "complete_predications": {(p, arguments) for p, _, arguments in frames},
        "semantic_frames": set(frames),
    }


@pytest.mark.skipif(not FILE.exists(), reason="the corpora are absent")
@pytest.mark.parametrize("seed", range(3))
def test_equal_to_a_count_of_the_columns(seed: int, tmp_path: Path) -> None:
    text = FILE.read_text(encoding="utf-8")
    noise = perturb(text, seed)
    other = tmp_path / "noise.sdp"
    other.write_text(noise, encoding="utf-8")
    pairs = list(zip(sentences(text), sentences(noise), strict=True))
    expected = [(items(gold), items(pred)) for gold, pred in pairs]
    graphs = list(io.read(FILE)), list(io.read(other))
    total = score(*graphs)
    for name in expected[0][0]:
        counts = [
            (len(gold[name]), len(pred[name]), len(gold[name] & pred[name]))
            for gold, pred in expected
        ]
        sums = [sum(column) for column in zip(*counts, strict=True)]
        part = getattr(total, name)
        assert [part.gold, part.pred, part.match] == sums
        assert 0 < part.match < part.gold
    for attribute, name in (
        ("exact", "labelled"),
        ("exact_unlabelled", "unlabelled"),
        ("exact_edges", "edges"),
        ("exact_pairs", "pairs"),
    ):
        same = sum(gold[name] == pred[name] for gold, pred in expected)
        assert getattr(total, attribute) == same > 0
    assert pair_counts(graphs[0][0], None).labelled.match == 0
