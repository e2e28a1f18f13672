"""tools/calibrate.py: temperatures that are known come back, and right is what the metrics say."""

from __future__ import annotations

import json
import math
import random
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphconv import Edge, Graph, Node, Token
from graphconv.scores import Scores

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import calibrate  # noqa: E402 - from tools

from transducer.config import from_dict  # noqa: E402
from transducer.earlier import upgraded  # noqa: E402
from transducer.frameworks.certainty import tempered  # noqa: E402
from transducer.storage.shipped import find_model  # noqa: E402

DM = Graph(
    "1",
    "dm",
    tuple(map(Token, "a dog barks".split())),
    (Node("1", None, (0,)), Node("2", None, (1,)), Node("3", None, (2,))),
    (Edge("1", "2", "BV"), Edge("3", "2", "ARG1")),
    ("3",),
)
AMR = Graph(
    "1",
    "amr",
    nodes=(Node("b", "bark-01"), Node("d", "dog")),
    edges=(Edge("b", "d", "ARG0"),),
    tops=("b",),
)
UCCA = Graph(
    "1",
    "ucca",
    tuple(map(Token, "dogs bark".split())),
    (Node("1.1"), Node("1.2"), Node("1.3", None, (0,)), Node("1.4", None, (1,))),
    (Edge("1.1", "1.2", "H"), Edge("1.2", "1.3", "A"), Edge("1.2", "1.4", "P")),
    ("1.1",),
)


def scored(graph: Graph) -> Graph:
    nodes = {node.id: -0.1 for node in graph.nodes}
    return replace(graph, scores=Scores(-1.0, nodes, {edge[:3]: -0.2 for edge in graph.edges}))


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.5])
def test_a_known_temperature_is_found(temperature: float) -> None:
    """A model whose log-odds are *temperature* times too large is wrong just so often."""
    draw = random.Random(1)
    said = []
    for _ in range(4000):
        true = math.log(draw.uniform(0.5, 0.999))
        right = draw.random() < math.exp(true)
        said.append(calibrate.Said(tempered(true, 1 / temperature), right))
    found = calibrate.fit(said)
    assert found == pytest.approx(temperature, rel=0.1)
    before, after = (calibrate.binned(said, t) for t in (1.0, found))
    assert sum(count for count, _, _ in after) == len(said)
    assert calibrate.calibration_error(after) < 2.5
    if temperature != 1.0:
        assert calibrate.calibration_error(before) > 2 * calibrate.calibration_error(after)


@pytest.mark.parametrize("gold", [DM, AMR, UCCA], ids=lambda graph: graph.framework)
def test_what_is_right(gold: Graph) -> None:
    found = calibrate.compare(gold, scored(gold))
    assert [len(found[part]) for part in calibrate.PARTS] == [len(gold.nodes), len(gold.edges)]
    assert all(said.right for part in calibrate.PARTS for said in found[part])
    renamed = [*gold.edges[:-1], gold.edges[-1]._replace(label="X")]
    found = calibrate.compare(gold, scored(replace(gold, edges=tuple(renamed))))
    assert [said.right for said in found["edges"]] == [True] * (len(renamed) - 1) + [False]


def test_a_node_that_is_not_in_gold_is_wrong() -> None:
    other = replace(DM, nodes=DM.nodes[1:], edges=DM.edges[1:])
    assert [said.right for said in calibrate.compare(other, scored(DM))["nodes"]] == [
        False,
        True,
        True,
    ]
    cat = replace(AMR, nodes=(AMR.nodes[0], Node("d", "cat")))
    assert [said.right for said in calibrate.compare(AMR, scored(cat))["nodes"]] == [True, False]


def test_write_and_plot(tmp_path: Path) -> None:
    pairs = [calibrate.compare(DM, scored(DM)) for _ in range(40)]
    found = {"task": "dm", "gold": ["x"], "graphs": len(pairs), **calibrate.study(pairs)}
    measured, picture = tmp_path / "dm.json", tmp_path / "dm.png"
    measured.write_text(json.dumps(found))
    before = {"format": 1, "config": {"task": "dm", "decode": {"beam": 5}}}
    (tmp_path / "config.json").write_text(json.dumps(before))
    for command in (["write", measured, tmp_path], ["plot", measured, "-o", picture]):
        done = CliRunner().invoke(calibrate.main, [*map(str, command)])
        assert done.exit_code == 0, done.output
    config = json.loads((tmp_path / "config.json").read_text())["config"]
    assert config["decode"] == {
        "beam": 5,
        "node_temperature": found["nodes"]["temperature"],
        "edge_temperature": found["edges"]["temperature"],
    }
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("task", ["amr", "dm", "ucca"])
def test_models_that_ship_are_calibrated(task: str) -> None:
    config = json.loads((find_model(task) / "config.json").read_text(encoding="utf-8"))["config"]
    decode = from_dict(upgraded(config)).decode
    hint = "a new model is measured anew: docs/results.md, Calibration"
    assert decode.node_temperature != 1, hint
    assert decode.edge_temperature != 1, hint
