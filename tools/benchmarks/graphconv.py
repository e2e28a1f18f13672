"""Reading, converting and writing each framework, against the least that any reader must do."""

from __future__ import annotations

import argparse
import gc
import importlib.util
import os
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import penman

from benchmarks import measure
from benchmarks.measure import Row
from graphconv import io
from graphconv.check import SAMPLE
from graphconv.conversion import to_arborescence, to_graph
from graphconv.testing import CORPORA

# To create a file on a full disk takes the system longer than we take for what is in it.
_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


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
    ucca_floors = {"etree": _parse_xml}
    if importlib.util.find_spec("ucca"):
        ucca_floors["ucca toolkit"] = _read_with_toolkit
    return [
        Task(
            "sdp",
            CORPORA / "dm" / "wescience-dev.sdp",
            SAMPLE / "sample.sdp",
            {"split at tabs": _split_at_tabs},
        ),
        Task(
            "amr",
            CORPORA / "amr" / "lpp-train.amr",
            SAMPLE / "sample.amr",
            {"penman.decode": _penman_decode},
        ),
        Task("ucca", CORPORA / "ucca" / "wiki-dev", SAMPLE / "ucca", ucca_floors),
    ]


def round_trip(path: Path, folder: Path) -> None:
    """Read, convert there and back, and write to a new file or folder."""
    graphs = (to_graph(to_arborescence(graph)) for graph in io.read(path))
    io.write(graphs, Path(tempfile.mkdtemp(dir=folder)) / "out")


def _drain(items: Iterable[object]) -> None:
    # Nobody keeps them, as in a stream, and as in the floors.
    deque(items, maxlen=0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repeat", type=int, default=5, help="take the best of so many runs")
    parser.add_argument("--only", nargs="+", help="these of sdp, amr, ucca")


def run(arguments: argparse.Namespace) -> list[Row]:
    tasks = [task for task in _tasks() if not arguments.only or task.name in arguments.only]
    return [row for task in tasks for row in _measure(task, arguments.repeat)]


def _measure(task: Task, repeat: int) -> list[Row]:
    path = task.path if task.path.exists() else task.sample
    graphs = list(io.read(path))
    trees = [to_arborescence(graph) for graph in graphs]
    gc.freeze()  # what is kept here must not slow down what is measured
    with tempfile.TemporaryDirectory(dir=_MEMORY) as folder:
        ours: dict[str, Callable[[], object]] = {
            "read": lambda: _drain(io.read(path)),
            "to arborescence": lambda: _drain(map(to_arborescence, graphs)),
            "to graph": lambda: _drain(map(to_graph, trees)),
            "conversion": lambda: _drain(to_graph(to_arborescence(graph)) for graph in graphs),
            "round trip": partial(round_trip, path, Path(folder)),
        }
        floors = {name: partial(floor, path) for name, floor in task.floors.items()}
        once = measure.best_times({**floors, **ours}, 1, time.process_time)
        # A short task would meet less of a busy machine than a long one.
        passes = {name: max(1, round(once["round trip"] / once[name])) for name in floors}
        repeated = {name: partial(_repeat, floors[name], passes[name]) for name in floors}
        times = measure.best_times({**repeated, **ours}, repeat, time.process_time)
        times |= {name: times[name] / passes[name] for name in floors}
        peaks = {
            "read": measure.peak_memory(partial(_read_all, path)),
            "round trip": measure.peak_memory(partial(round_trip, path, Path(folder))),
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


def _repeat(task: Callable[[], object], passes: int) -> None:
    for _ in range(passes):
        task()


def _read_all(path: Path) -> None:
    _drain(io.read(path))
