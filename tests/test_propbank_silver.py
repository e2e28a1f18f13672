"""Parses of PropBank's examples: those that agree with its annotation are kept."""

import gzip
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from graphconv import Graph, loads

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from join_open_amr import digest
from propbank_silver import Example, examples, judged, silver

ENTRIES = (
    {
        "id": "run-02",
        "text": "The boy did n't run the shop .",
        "rel": [4],
        "args": [["ARG0", 0, 1]],
    },
    {"id": "run-02", "text": "the boy did n't run the shop .", "rel": [4], "args": []},
    {"id": "go-01", "text": "Why did she go ?", "rel": [3], "args": [["ARGM-CAU", 0, 0]]},
    {"id": "go-01", "text": "Go .", "rel": [0], "args": []},
    {"id": "go-01", "text": "A heading without an end", "rel": [0], "args": []},
)


def test_examples_are_sentences_that_are_new(tmp_path: Path) -> None:
    file = tmp_path / "examples.jsonl.gz"
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, ENTRIES)).encode()))
    found = list(examples(file, [digest("Why did she go?")]))
    roles = frozenset({"ARG0"})
    assert found == [
        Example("The boy didn't run the shop.", "run-02", roles),
        Example("The boy didn't run the shop.", "run-02", frozenset()),
    ]
    assert len(list(examples(file, []))) == 3


@pytest.mark.parametrize(
    ("graph", "what"),
    [
        ("(r / run-02 :ARG0 (b / boy))", "kept"),
        ("(r / run-01 :ARG0 (b / boy))", "kept, sense changed"),
        ("(b / boy :ARG0-of (r / run-02))", "kept"),
        ("(r / run-02 :ARG0 (b / boy) :ARG1 (s / shop))", "other roles"),
        ("(b / boy)", "no predicate"),
        ("(a / and :op1 (r / run-02 :ARG0 (b / boy)) :op2 (r2 / run-02))", "several predicates"),
        ('(r / run-02 :ARG0 (b / boy :mod "x"))', "unsound"),
        ("(r / run-02 :ARG0 (b / boy) :polarity - :polarity (a / amr-unknown))", "unsound"),
    ],
)
def test_what_agrees_is_kept(graph: str, what: str) -> None:
    example = Example("The boy ran.", "run-02", frozenset({"ARG0"}))
    kept, found = judged(loads(graph)[0], example)
    assert found == what
    assert (kept is not None) == what.startswith("kept")
    if kept is not None:
        assert {node.label for node in kept.nodes} == {"run-02", "boy"}


def test_the_graphs_are_numbered_and_counted() -> None:
    class Parser:
        def parse(self, sentences: Sequence[str], **_: Any) -> list[Graph]:
            return [loads("(r / run-02)" if "ran" in s else "(b / boy)")[0] for s in sentences]

    found = [Example(text, "run-02", frozenset()) for text in ("He ran.", "A boy.", "She ran.")]
    counts: Counter[str] = Counter()
    graphs = list(silver(cast("Any", Parser()), found, counts, 1))
    assert [(graph.id, graph.text) for graph in graphs] == [
        ("silver.1", "He ran."),
        ("silver.3", "She ran."),
    ]
    assert counts == {"kept": 2, "no predicate": 1}
