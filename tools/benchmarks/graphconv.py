"""Reading, converting and writing each framework, against the least that any reader must do."""

from __future__ import annotations

import argparse
import gc
import importlib.util
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import penman

from benchmarks import measure
from benchmarks.measure import Row
from graphconv import io
from graphconv.check import SAMPLE
from graphconv.conversion import to_arborescence, to_graph


class Task(NamedTuple):
    """A framework: where its files are, and what they are compared with."""

    name: str
    path: Path
    sample: Path
    floors: Mapping[str, Callable[[Path], object]]


def _split_at_tabs(path: Path) -> None:
    with path.open(encoding="utf-8") as file:
        for line in file:
            line.split("\t")


def _penman_decode(path: Path) -> None:
    for _ in penman.iterdecode(path.read_text(encoding="utf-8")):
        pass


def _parse_xml(path: Path) -> None:
    for file in sorted(path.glob("*.xml")):
        ET.parse(file)


def _read_with_toolkit(path: Path) -> None:
    from ucca import convert  # noqa: PLC0415 - there only if the toolkit is installed

    for file in sorted(path.glob("*.xml")):
        convert.from_standard(ET.parse(file).getroot())


def _tasks() -> list[Task]:
    corpora = measure.corpora()
    ucca_floors = {"etree": _parse_xml}
    if importlib.util.find_spec("ucca"):
        ucca_floors["ucca toolkit"] = _read_with_toolkit
    return [
        Task(
            "sdp",
            corpora / "dm" / "wescience-dev.sdp",
            SAMPLE / "sample.sdp",
            {"split at tabs": _split_at_tabs},
        ),
        Task(
            "amr",
            corpora / "amr" / "lpp-train.amr",
            SAMPLE / "sample.amr",
            {"penman.decode": _penman_decode},
        ),
        Task("ucca", corpora / "ucca" / "wiki-dev", SAMPLE / "ucca", ucca_floors),
    ]


def round_trip(path: Path, target: Path) -> None:
    """Read, convert there and back, and write."""
    graphs = (to_graph(to_arborescence(graph)) for graph in io.read(path))
    io.write(graphs, target)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repeat", type=int, default=3, help="take the best of so many runs")


def run(arguments: argparse.Namespace) -> list[Row]:
    return [row for task in _tasks() for row in _measure(task, arguments.repeat)]


def _measure(task: Task, repeat: int) -> list[Row]:
    path = task.path if task.path.exists() else task.sample
    graphs = list(io.read(path))
    trees = [to_arborescence(graph) for graph in graphs]
    gc.freeze()  # what is kept here must not slow down what is measured
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out"
        ours: dict[str, Callable[[], object]] = {
            "read": lambda: [None for _ in io.read(path)],
            "to arborescence": lambda: [to_arborescence(graph) for graph in graphs],
            "to graph": lambda: [to_graph(tree) for tree in trees],
            "conversion": lambda: [to_graph(to_arborescence(graph)) for graph in graphs],
            "round trip": partial(round_trip, path, target),
        }
        floors = {name: partial(floor, path) for name, floor in task.floors.items()}
        times = measure.best_times({**floors, **ours}, repeat, time.process_time)
        peaks = {
            "read": measure.peak_memory(partial(_read_all, path)),
            "round trip": measure.peak_memory(partial(round_trip, path, target)),
        }
    number = len(graphs)
    rows = [
        Row(task.name, name, times[name], number, number / times[name], "", 0, 0) for name in floors
    ]
    for name in ours:
        for floor in floors:
            rate, ratio = number / times[name], times[name] / times[floor]
            peak = peaks.get(name, 0)
            rows.append(Row(task.name, name, times[name], number, rate, floor, ratio, peak))
    return rows


def _read_all(path: Path) -> None:
    for _ in io.read(path):
        pass
