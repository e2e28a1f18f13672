"""Scoring with several processes prints what one process prints."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

import pytest
from click.testing import CliRunner

import graphconv
from evaltools.cli import main

SAMPLE = Path(graphconv.__file__).parent / "sample"
ENOUGH = 150
"""Graphs for more batches than there are processes."""


@pytest.mark.parametrize("name", ["sample.amr", "sample.sdp", "ucca"])
def test_output_does_not_depend_on_jobs(name: str, tmp_path: Path) -> None:
    graphs = islice(cycle(list(graphconv.read(SAMPLE / name))), ENOUGH)
    gold = [replace(graph, id=str(number)) for number, graph in enumerate(graphs, start=1)]
    pred = [graph for number, graph in enumerate(gold) if number % 3]
    files = tmp_path / "gold.mrp", tmp_path / "pred.mrp"
    for some, path in zip((gold, pred), files, strict=True):
        graphconv.write(some, path)
    outputs = []
    for jobs in ("1", "2"):
        options = ("--format", "json", "--jobs", jobs, "--per-graph", str(tmp_path / jobs))
        result = CliRunner().invoke(main, ["score", *map(str, files), *options])
        assert result.exit_code == 0, result.stderr
        outputs.append((result.stdout, result.stderr, (tmp_path / jobs).read_bytes()))
    assert outputs[0] == outputs[1]
    assert len(json.loads(outputs[0][0])["missing"]) == ENOUGH // 3
    assert outputs[0][2].count(b"\n") == ENOUGH
