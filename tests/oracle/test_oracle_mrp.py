"""MRP F1 against mtool, of which perin-parser brings a copy."""

import copy
import json
import random
from itertools import islice
from typing import Any

import pytest

from evaltools import mrp
from graphconv.codecs import Block
from graphconv.codecs import mrp as codec
from graphconv.testing import CORPORA

mtool = pytest.importorskip("perin_parser.thirdparty.mtool.graph")
mces = pytest.importorskip("perin_parser.thirdparty.mtool.score.mces")

FILE = CORPORA / "mrp/lpps.mrp"
KINDS = ("tops", "labels", "properties", "anchors", "edges", "attributes")
RATE = 0.2
EASY = 12
"""mtool's search is exponential: larger graphs of EDS and UCCA would take minutes."""

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.corpora,
    pytest.mark.skipif(not FILE.exists(), reason="no corpora"),
]

Record = dict[str, Any]


def records(framework: str, largest: int) -> list[Record]:
    lines = map(json.loads, FILE.read_text(encoding="utf-8").splitlines())
    mine = (record for record in lines if record["framework"] == framework)
    return list(islice((record for record in mine if len(record["nodes"]) <= largest), 60))


def damaged(record: Record, rng: random.Random) -> Record:
    """Return a copy with other labels and fewer edges; the nodes of bilexical graphs stay in order,
    without which mtool does not align them."""
    result = copy.deepcopy(record)
    nodes, edges = result["nodes"], result.get("edges", [])
    if record["flavor"] != 0:
        rng.shuffle(nodes)
    for items in (nodes, edges):
        for item in items:
            if "label" in item and rng.random() < RATE:
                item["label"] = rng.choice(items).get("label", "x")
                item.pop("normal", None)
    result["edges"] = [edge for edge in edges if rng.random() > RATE / 2]
    return result


def theirs(gold: Record, pred: Record) -> dict[str, tuple[int, int, int]]:
    sides = []
    for record in (gold, pred):
        graph = mtool.Graph.decode(copy.deepcopy(record))
        graph.normalize({"anchors", "case", "edges", "attributes"})
        sides.append([graph])
    found = mces.evaluate(*sides, cores=1, quiet=True)
    return {kind: (found[kind]["g"], found[kind]["s"], found[kind]["c"]) for kind in KINDS}


def ours(gold: Record, pred: Record) -> dict[str, tuple[int, int, int]]:
    graphs = [codec.parse(Block(json.dumps(record), "pair", 1)) for record in (gold, pred)]
    counts = mrp.pair_counts(*graphs)
    assert counts.certified
    parts = {kind: getattr(counts, kind) for kind in KINDS}
    return {kind: (part.gold, part.pred, part.match) for kind, part in parts.items()}


@pytest.mark.parametrize(
    ("framework", "largest"), [("dm", 99), ("psd", 99), ("amr", 99), ("eds", EASY), ("ucca", EASY)]
)
def test_equal_to_mtool(framework: str, largest: int) -> None:
    rng = random.Random(35)
    chosen = records(framework, largest)
    assert len(chosen) > 20
    for gold in chosen:
        pred = damaged(gold, rng)
        ref, found = theirs(gold, pred), ours(gold, pred)
        for kind in KINDS:
            assert ref[kind][:2] == found[kind][:2], (gold["id"], kind)
        total = [sum(part[2] for part in parts.values()) for parts in (ref, found)]
        if framework == "ucca":  # There mtool leaves out alignments that turn the hierarchy round.
            assert total[0] <= total[1], gold["id"]
        else:
            assert total[0] == total[1], gold["id"]


def test_equal_graphs_match_in_full() -> None:
    for framework in ("dm", "psd", "amr", "eds", "ucca"):
        for gold in records(framework, EASY):
            assert theirs(gold, gold) == ours(gold, gold), gold["id"]
