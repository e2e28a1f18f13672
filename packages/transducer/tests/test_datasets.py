"""The function for `datasets` in docs/guides/python.md, as it stands there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphconv import Graph
from transducer import Pipeline, Transducer

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "python.md"
TEXTS = ["Dogs bark. He left.", "", "The boy wants to go."]


@pytest.fixture(scope="module")
def add_graphs(make_small: Callable[..., Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    small = make_small("dm")
    nlp = Pipeline({"dm": Transducer(small.task, small.vocabularies, small.model, {})})
    section = GUIDE.read_text(encoding="utf-8").partition("## datasets")[2]
    [code] = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    names: dict[str, Any] = {"nlp": nlp}
    exec(code, names)
    found: Callable[[dict[str, Any]], dict[str, Any]] = names["add_graphs"]
    return found


def check(rows: dict[str, Any]) -> None:
    assert [len(graphs) for graphs in rows["dm"]] == [2, 0, 1]
    graph = Graph.from_dict(json.loads(rows["dm"][0][0]))
    assert graph.text == "Dogs bark."
    assert graph.scores is not None
    assert [len(problems) for problems in rows["problems"]][::2] == [0, 0]


def test_a_batch_gets_its_graphs(
    add_graphs: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    check(add_graphs({"text": TEXTS}))


def test_a_dataset_is_mapped(add_graphs: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_dict({"text": TEXTS})
    check(dataset.map(add_graphs, batched=True, batch_size=2).to_dict())
