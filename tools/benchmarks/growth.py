"""Time and memory of every conversion and score against the size of a graph, deep and wide.

A *deep* graph is a chain, each tenth node of which has a second edge five nodes ahead; a *wide* one
is a star, each tenth point of which has an edge from a second node, too. Predictions have another
label at each tenth edge. Every task runs in a process of its own, with limits of CPU time and
memory; memory is by how much the task makes that process grow (Linux only).
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import itertools
import math
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import measure
from benchmarks.measure import Row
from evaltools.metrics import METRICS
from graphconv import cliutil, io
from graphconv.arborescence import relations
from graphconv.check import check_graph
from graphconv.conversion import from_relations, to_arborescence, to_graph
from graphconv.errors import GraphconvError
from graphconv.graph import Edge, Graph, Node, Token

SHAPES = ("deep", "wide")
_OCCURRENCES = 4  # of each concept
_LONG_ENOUGH = 0.1  # seconds; some clocks tick 250 times a second
_LABELS = "ACDE"  # categories of UCCA, but any name will do elsewhere


class Kind(NamedTuple):
    """What the graphs of a framework look like, and where they are kept."""

    node: Callable[[int, str], Node]
    tokens: bool
    formats: tuple[str, ...]


KINDS = {
    "amr": Kind(lambda i, label: Node(f"v{i}", label), False, ("amr", "mrp")),
    "dm": Kind(lambda i, _: Node(str(i + 1), None, (i,)), True, ("sdp", "mrp")),
    "ucca": Kind(lambda i, _: Node(f"1.{i + 1}", None, (i,)), True, ("ucca", "mrp")),
    "eds": Kind(lambda i, label: Node(str(i), label, (i,)), True, ("mrp",)),
}


class Task(NamedTuple):
    """What is measured, and how its input is made."""

    name: str
    prepare: Callable[[], Any]
    run: Callable[[Any], object]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("frameworks", nargs="*", metavar="FRAMEWORK", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 5000, 50_000], metavar="N")
    parser.add_argument("--only", metavar="TEXT", help="tasks whose names contain this")
    parser.add_argument("--seconds", type=int, default=60, help="CPU time of a task, at most")
    parser.add_argument("--gib", type=int, default=3, help="memory of a process, at most")
    parser.add_argument(
        "--time-limit", type=int, default=10, help="seconds to search for an alignment"
    )


def run(arguments: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    for framework in arguments.frameworks or KINDS:
        for shape in SHAPES:
            graphs = {size: make(framework, shape, size) for size in arguments.sizes}
            names = [task.name for task in _tasks(graphs[arguments.sizes[0]], arguments)]
            for name in names:
                if arguments.only is None or arguments.only in name:
                    found = list(_series(graphs, name, arguments))
                    rows += [row._replace(task=f"{framework} {shape}") for row in found]
                    print(table(rows[-len(found) :]), file=sys.stderr, flush=True)
    return rows


def make(framework: str, shape: str, size: int) -> Graph:
    """Return a graph with so many nodes."""
    kind = KINDS[framework]
    concepts = max(size // _OCCURRENCES, 1)
    nodes = tuple(kind.node(i, f"concept-{i % concepts}") for i in range(size))
    if shape == "deep":
        tree = ((i, i + 1) for i in range(size - 1))
        others = ((i, i + 5) for i in range(0, size - 5, 10))
    else:
        tree = ((0, i) for i in range(1, size))
        others = ((1, i) for i in range(10, size, 10))
    edges = [(source, target, False) for source, target in tree]
    edges += [(source, target, framework == "ucca") for source, target in others]
    return Graph(
        "1",
        framework,
        (Token("word"),) * size if kind.tokens else (),
        nodes,
        tuple(
            Edge(nodes[source].id, nodes[target].id, _LABELS[target % len(_LABELS)], remote)
            for source, target, remote in edges
        ),
        (nodes[0].id,),
    )


def _tasks(graph: Graph, arguments: argparse.Namespace) -> Iterator[Task]:
    """Yield every conversion and score that the graph's framework has."""
    framework = graph.framework
    for name in KINDS[framework].formats:
        yield Task(f"write {name}", lambda: graph, partial(io.dumps, format=name))
        text_of = partial(io.dumps, graph, name)
        yield Task(f"read {name}", text_of, partial(io.loads, format=name, framework=framework))
    tree_of = partial(to_arborescence, graph)
    yield Task("to_arborescence", lambda: graph, to_arborescence)
    yield Task("to_graph", tree_of, to_graph)
    yield Task("relations", tree_of, relations)
    yield Task(
        "from_relations",
        lambda: relations(tree_of()),
        partial(from_relations, id=graph.id, framework=framework, tokens=graph.tokens),
    )
    yield Task("check", lambda: graph, check_graph)
    for name, metric in METRICS.items():
        if framework in metric.frameworks:
            limit = {"time_limit": arguments.time_limit}
            options = limit if "time_limit" in metric.option_names else {}
            score = partial(metric.pair_counts, graph, options=options)
            yield Task(f"score {name}", partial(_prediction, graph), score)


def _prediction(graph: Graph) -> Graph:
    edges = (
        edge._replace(label="F") if place % 10 == 0 else edge
        for place, edge in enumerate(graph.edges)
    )
    return replace(graph, edges=tuple(edges))


def _series(graphs: dict[int, Graph], name: str, arguments: argparse.Namespace) -> Iterator[Row]:
    """Measure one task at every size, up to the first at which it fails."""
    before: Row | None = None
    for size, graph in graphs.items():
        [task] = [task for task in _tasks(graph, arguments) if task.name == name]
        seconds, peak, note = _measured(task, arguments)
        if not seconds:
            yield Row("", name, 0, size, 0, note, 0, 0)
            return
        ratio = _exponent(before.items, before.seconds, size, seconds) if before else 0
        before = Row("", name, seconds, size, size / seconds, note, ratio, peak)
        yield before


def _exponent(size: int, value: float, larger: int, grown: float) -> float:
    """Return the power of the size with which a value grows."""
    return math.log(grown / value) / math.log(larger / size)


def _measured(task: Task, arguments: argparse.Namespace) -> tuple[float, float, str]:
    """Return CPU seconds, MB and a remark; no seconds if the task failed."""
    context = multiprocessing.get_context("fork")  # the graph need not be made again
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(task, sender, arguments))
    process.start()
    sender.close()
    found = (0.0, 0.0, "not within the limits")
    with contextlib.suppress(EOFError):  # it ended without a word
        found = receiver.recv()
    process.join()
    return found


def _report(task: Task, sender: Any, arguments: argparse.Namespace) -> None:
    """Send CPU seconds, the MB by which memory grew, and a remark."""
    memory = arguments.gib << 30
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    try:
        value = task.prepare()
        _limit_seconds(arguments.seconds)
        gc.collect()
        before = _forget_peak()
        seconds, result = _timed(partial(task.run, value))
        note = "" if getattr(result, "certified", True) else "not certified"
        sender.send((seconds, (measure.peak() - before) / 1024, note))
    except GraphconvError as error:
        sender.send((0.0, 0.0, str(error)))
    except MemoryError:
        sys.exit(1)  # nothing is left to tell it with


def _timed(task: Callable[[], object]) -> tuple[float, object]:
    """Return the mean time of a run, of as many as the clock needs, and what the last one made."""
    start, count, spent = time.process_time(), 0, 0.0
    while spent < _LONG_ENOUGH:
        result = task()
        count += 1
        spent = time.process_time() - start
    return spent / count, result


def _forget_peak() -> int:
    """Let the highest memory of this process be what it has now; return that, in KB."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return measure.peak()


def _limit_seconds(seconds: int) -> None:
    """End this process after so many more seconds of CPU time."""
    limit = math.ceil(time.process_time()) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def table(rows: list[Row]) -> str:
    """Return one line for each series: its figures, and the exponents between the last two."""
    lines: list[tuple[object, ...]] = [
        ("graph", "task", "nodes", "CPU s", "exponent", "MB", "exponent", "")
    ]
    for (task, name), group in itertools.groupby(rows, key=lambda row: row[:2]):
        series = list(group)
        good = [row for row in series if row.seconds]
        lines.append(
            (
                task,
                name,
                " ".join(f"{row.items}" for row in series),
                " ".join(f"{row.seconds:.2g}" for row in good),
                f"{good[-1].ratio:.2f}" if good and good[-1].ratio else "",
                " ".join(f"{row.peak_mb:.1f}" for row in good),
                _growth_of_memory(good),
                series[-1].floor,
            )
        )
    return cliutil.table(lines)


def _growth_of_memory(series: list[Row]) -> str:
    """Return the exponent between the last two sizes, if both took a megabyte."""
    last = [(row.items, row.peak_mb) for row in series[-2:]]
    if len(last) < 2 or min(peak for _, peak in last) < 1:
        return ""
    return f"{_exponent(*last[0], *last[1]):.2f}"
