"""Time, memory and tables for all benchmarks."""

from __future__ import annotations

import importlib.metadata
import multiprocessing
import os
import platform
import re
import resource
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from graphconv import cliutil

ROOT = Path(__file__).parents[2]


class Row(NamedTuple):
    """One line of a benchmark."""

    task: str
    measure: str
    seconds: float
    items: int
    per_second: float
    """Items per second."""
    floor: str
    """What it is compared with; empty for a floor itself."""
    ratio: float
    """Time as a multiple of the floor's; 0 where there is none."""
    peak_mb: float
    """Highest memory of a process that does only this; 0 where it was not measured."""


def best_times(
    tasks: Mapping[str, Callable[[], object]],
    repeat: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return the shortest time of each task, all run in turn so that they meet the same load.

    ``time.process_time`` as *clock* ignores other processes; it counts all threads of this one.
    """
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(repeat):
        for name, task in tasks.items():
            start = clock()
            task()
            best[name] = min(best[name], clock() - start)
    return best


def peak_memory(task: Callable[[], object]) -> float:
    """Return the highest memory, in MB, of a new process that runs *task*, which is picklable."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run_and_report, args=(task, sender))
    process.start()
    peak: float = receiver.recv()
    process.join()
    return peak


def _run_and_report(task: Callable[[], object], sender: Any) -> None:
    task()
    sender.send(peak() / 1024)


def peak() -> int:
    """Return the highest memory of this process in KB."""
    # On Linux what getrusage says starts with the peak of the process that started this one.
    status = Path("/proc/self/status")
    peak = re.search(r"VmHWM:\s*(\d+) kB", status.read_text()) if status.exists() else None
    return int(peak[1]) if peak else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def table(rows: list[Row]) -> str:
    """Return the rows as text."""
    head = ("task", "measure", "seconds", "items", "items/s", "ratio", "floor", "peak MB")
    lines = [
        (
            row.task,
            row.measure,
            f"{row.seconds:.3f}",
            row.items,
            f"{row.per_second:,.0f}",
            f"{row.ratio:.2f}" if row.ratio else "",
            row.floor,
            f"{row.peak_mb:.0f}" if row.peak_mb else "",
        )
        for row in rows
    ]
    return cliutil.table([head, *lines])


def machine() -> dict[str, Any]:
    """Return what a figure depends on: the machine, the versions, the commit."""
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    names = ("arbora-graphconv", "penman", "numpy", "scipy", "torch", "ucca", "smatch")
    versions = {}
    for name in names:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "commit": commit,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "versions": versions,
    }
