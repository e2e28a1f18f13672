"""DM graphs that tools/amrize.py makes look like AMR are near to the AMR of the same sentences."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import graphconv
from transducer import sample
from transducer.parsing.evaluation import headline

TOOL = Path(__file__).parents[1] / "tools" / "amrize.py"


def amrize(output: Path, *options: str) -> None:
    files = ("--like", sample.path("amr", "train"), sample.path("dm", "test"), "-o", output)
    subprocess.run([sys.executable, TOOL, *map(str, files), *options], check=True)


def test_amrized_graphs_are_near_to_amr(tmp_path: Path) -> None:
    amrize(tmp_path / "out.amr")
    pred = {graph.id: graph for graph in graphconv.read(tmp_path / "out.amr")}
    gold = list(graphconv.read(sample.path("amr", "test")))
    # The nearest sentence of the training part gives 49.
    assert headline(gold, [pred.get(graph.id) for graph in gold]).f1 > 70


def test_long_sentences_are_left_out(tmp_path: Path) -> None:
    amrize(tmp_path / "out.amr", "--longest", "8")
    lengths = [len(graph.tokens) for graph in graphconv.read(tmp_path / "out.amr")]
    assert 0 < max(lengths) <= 8
