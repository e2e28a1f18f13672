"""Scoring whole files against smatch, Smatch++ and the ucca toolkit: time and peak memory.

The predictions are perturbed copies of the gold files, made from a seed: at the given rate,

* AMR: a concept is replaced by another of the file, an edge gets another role or another source or
  is dropped, a constant is dropped or gets another role; variables are renamed at random, and what
  has become unconnected is joined to the top again;
* SDP: an edge gets another label of the file or is dropped;
* UCCA: an edge gets another category.

Every program runs as a process of its own; the time is its CPU time.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import penman

from benchmarks.measure import Row
from graphconv.testing import CORPORA

_CATEGORIES = "ACDEFGHLNPRSTQ"
_READ = "import sys, graphconv.io as io; [None for p in sys.argv[1:] for _ in io.read(p)]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rate", type=float, default=0.15, help="how much is perturbed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--oracle-python",
        default=sys.executable,
        help="the Python that has smatch, smatchpp and ucca; what it lacks is left out",
    )


def run(arguments: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in (CORPORA / "amr/bio-dev.amr", CORPORA / "amr/lpp-dev.amr"):
            files = _amr(path, folder, arguments)
            rows += _measure(*files, arguments)
            documents = [file.with_name(f"documents-{file.name}") for file in files]
            for source, target in zip(files, documents, strict=True):
                penman.dump(list(_documents(source)), target)
            rows += _measure(documents[0], documents[1], arguments)
        gold = CORPORA / "dm/wescience-dev.sdp"
        rows += _measure(gold, _sdp(gold, folder, arguments), arguments)
        gold = CORPORA / "ucca/wiki-dev"
        rows += _measure(gold, _ucca(gold, folder, arguments), arguments)
    return rows


def _measure(gold: Path, pred: Path, arguments: argparse.Namespace) -> list[Row]:
    """Time our command and the others on the same two files."""
    ours = [sys.executable, "-c", "from evaltools.cli import main; main()", "score"]
    count = _number_of_graphs(gold)
    seconds, peak = _time([*ours, str(gold), str(pred)])
    rows = [Row(gold.name, "evaltools", seconds, count, count / seconds, "", 0, peak)]
    for name, command in _others(gold, pred, arguments.oracle_python).items():
        seconds, peak = _time(command)
        ratio = seconds / rows[0].seconds
        rows.append(Row(gold.name, name, seconds, count, count / seconds, "evaltools", ratio, peak))
    return rows


def _others(gold: Path, pred: Path, python: str) -> dict[str, list[str]]:
    """Return the commands that ours is compared with, by name."""
    files = [str(pred), str(gold)]
    if gold.suffix == ".sdp":
        return {"read both files": [sys.executable, "-c", _READ, *files]}
    if gold.is_dir():
        evaluate = [python, "-m", "scripts.evaluate_standard", *files, "-f"]
        return {"ucca 1.3.11": evaluate} if _has(python, "ucca") else {}
    found = {}
    if _has(python, "smatch") and "documents" not in gold.name:
        found["smatch 1.0.4 -r 4"] = [python, "-m", "smatch", "-r", "4", "-f", *files]
    if _has(python, "smatchpp"):
        options = ["-solver", "ilp", "-graph_type", "amr", "-a", files[0], "-b", files[1]]
        found["smatchpp ilp"] = [python, "-m", "smatchpp", *options]
        ours = [sys.executable, "-c", "from evaltools.cli import main; main()", "score"]
        found["evaltools smatchpp-amr"] = [*ours, *files[::-1], "--profile", "smatchpp-amr"]
    return found


def _has(python: str, module: str) -> bool:
    if python == sys.executable:
        return importlib.util.find_spec(module) is not None
    command = [python, "-c", f"import {module}"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _time(command: list[str]) -> tuple[float, float]:
    """Run a command; return its CPU seconds and its peak memory in MB.

    A process starts as a copy of this one, so no peak is below this one's own memory.
    """
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    message = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[:4]} failed: {message.decode()[-300:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def _number_of_graphs(path: Path) -> int:
    if path.is_dir():
        return len(list(path.glob("*.xml")))
    separator = r"^#[^S]" if path.suffix == ".sdp" else r"^\("
    return len(re.findall(separator, path.read_text(encoding="utf-8"), re.MULTILINE))


# Perturbed copies


def _amr(source: Path, folder: Path, arguments: argparse.Namespace) -> tuple[Path, Path]:
    """Write a copy, without the header that Smatch++ takes for a graph, and a perturbed one."""
    logging.getLogger("penman").setLevel(logging.ERROR)
    graphs = penman.load(source)
    gold, pred = folder / source.name, folder / f"perturbed-{source.name}"
    penman.dump(graphs, gold)
    penman.dump(list(_perturbed(graphs, random.Random(arguments.seed), arguments.rate)), pred)
    return gold, pred


def _perturbed(
    graphs: list[penman.Graph], rng: random.Random, rate: float
) -> Iterator[penman.Graph]:
    triples = [triple for graph in graphs for triple in graph.triples]
    concepts = sorted({t for _, role, t in triples if role == ":instance" and t})
    roles = sorted({role for _, role, _ in triples} - {":instance"})
    for graph in graphs:
        variables = sorted(graph.variables())
        kept: list[tuple[str, str, str | None]] = []
        for triple in graph.triples:
            source, role, target = triple
            if rng.random() >= rate:
                kept.append(triple)
            elif role == ":instance":
                kept.append((source, role, rng.choice(concepts)))
            elif (chance := rng.random()) < 0.4:
                kept.append((source, rng.choice(roles), target))
            elif chance < 0.8 and target in variables:
                kept.append((rng.choice(variables), role, target))
        for variable in _unconnected(str(graph.top), variables, kept):
            kept.append((str(graph.top), rng.choice(roles), variable))
        yield _renamed(penman.Graph(kept, graph.top, metadata=graph.metadata), rng)


def _unconnected(
    top: str, variables: list[str], triples: list[tuple[str, str, str | None]]
) -> Iterator[str]:
    """Yield one variable of each part that is not joined to *top*."""
    neighbors: dict[str, list[str]] = {variable: [] for variable in variables}
    for source, role, target in triples:
        if role != ":instance" and target in neighbors:
            neighbors[source].append(target)
            neighbors[target].append(source)
    seen: set[str] = set()
    for variable in (top, *variables):
        if variable in seen:
            continue
        if variable != top:
            yield variable
        todo = [variable]
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                todo += neighbors[node]


def _renamed(graph: penman.Graph, rng: random.Random) -> penman.Graph:
    variables = sorted(graph.variables())
    names = dict(zip(variables, rng.sample(range(len(variables)), len(variables)), strict=True))
    triples = [
        (
            f"x{names[source]}",
            role,
            f"x{names[target]}" if role != ":instance" and target in names else target,
        )
        for source, role, target in graph.triples
    ]
    return penman.Graph(triples, f"x{names[str(graph.top)]}", metadata=graph.metadata)


def _documents(path: Path, size: int = 10) -> Iterator[penman.Graph]:
    """Merge so many graphs at a time to one."""
    graphs = penman.load(path)
    for start in range(0, 10 * size, size):
        part = graphs[start : start + size]
        triples: list[tuple[str, str, str | None]] = [("m", ":instance", "multi-sentence")]
        for number, graph in enumerate(part, start=1):
            names = {variable: f"s{number}{variable}" for variable in graph.variables()}
            triples.append(("m", f":snt{number}", names[str(graph.top)]))
            triples += [
                (names[s], role, t if role == ":instance" else names.get(str(t), t))
                for s, role, t in graph.triples
            ]
        yield penman.Graph(triples, "m", metadata={"id": part[0].metadata["id"]})


def _sdp(gold: Path, folder: Path, arguments: argparse.Namespace) -> Path:
    rng = random.Random(arguments.seed)
    lines = gold.read_text(encoding="utf-8").split("\n")
    rows = [line.split("\t") for line in lines]
    labels = sorted({cell for row in rows for cell in row[7:]} - {"_"})
    for row in rows:
        for place in range(7, len(row)):
            if row[place] != "_" and rng.random() < arguments.rate:
                row[place] = rng.choice([*labels, "_"])
    target = folder / gold.name
    target.write_text("\n".join("\t".join(row) for row in rows), encoding="utf-8")
    return target


def _ucca(gold: Path, folder: Path, arguments: argparse.Namespace) -> Path:
    rng = random.Random(arguments.seed)
    target = folder / gold.name
    target.mkdir()

    def changed(match: re.Match[str]) -> str:
        return match[1] + (rng.choice(_CATEGORIES) if rng.random() < arguments.rate else match[2])

    for path in sorted(gold.glob("*.xml")):
        text = path.read_text(encoding="utf-8")
        pattern = rf'(<edge [^>]*\btype=")([{_CATEGORIES}])(?=")'
        (target / path.name).write_text(re.sub(pattern, changed, text), encoding="utf-8")
    return target
