"""The options of the commands that can work on a cluster, and what they say at the end."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from graphconv import cliutil
from graphconv.io.files import STDIO

if TYPE_CHECKING:
    from graphconv.cluster.running import Report
    from graphconv.cluster.work import Job

_ENGINES = ("local", "ray")
"""Those of ``engines.ENGINES``, repeated so that --help imports none; a test compares them."""
_SIZE = 8192


class Cluster(NamedTuple):
    """What the user says of the engine; without one, a command works as it does alone."""

    engine: str | None
    workers: int | None
    size: int
    """Graphs in a shard."""
    packed: bool


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a cluster to a command, which hands them to :func:`taken`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def taken(options: dict[str, Any]) -> Cluster:
    """Take the options of a cluster out of all options of a command."""
    names = ("engine", "workers", "shard", "pack")
    found = Cluster(*(options.pop(name) for name in names))
    if found.engine is None and (found.workers or found.packed or found.size != _SIZE):
        raise click.UsageError("--workers, --shard and --pack are for --engine")
    return found


_OPTIONS = (
    click.option(
        "--engine",
        type=click.Choice(_ENGINES),
        help="Write shards and a manifest to the folder OUT, and go on where an earlier run ended: "
        "alone (local), or with Ray Data on one machine or many.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(1),
        metavar="N",
        help="With --engine ray; default: one per GPU, else per CPU.",
    ),
    click.option(
        "--shard",
        type=click.IntRange(1),
        metavar="N",
        default=_SIZE,
        show_default=True,
        help="With --engine: graphs per shard.",
    ),
    click.option("--pack", is_flag=True, help="With --engine: shards are .gz."),
)


class Files(click.Path):
    """Files that exist, or a pattern such as ``'folder/*.txt.gz'`` that some of them have."""

    def __init__(self) -> None:
        super().__init__(exists=True, allow_dash=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the pattern as it is if it finds a file."""
        if value != STDIO and not os.path.lexists(value) and matches(value):
            return value
        return super().convert(value, param, ctx)


def matches(pattern: str) -> list[str]:
    """Return the files that a pattern finds, 2 before 10."""
    return sorted(glob.glob(pattern, recursive=True), key=_natural)  # noqa: PTH207 - names as given


def _natural(name: str) -> list[tuple[int, str]]:
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def expand(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the files that are meant by names and patterns."""
    return tuple(
        found
        for path in paths
        for found in ([path] if path == STDIO or os.path.lexists(path) else matches(path))
    )


def run(
    job: Job, inputs: Iterable[tuple[str, ...]], output: str, cluster: Cluster, *, gpu: bool = False
) -> Report:
    """Do a job; tell on stderr what is lost, and how it ended."""
    from graphconv.cluster import engines, running  # noqa: PLC0415 - --help does not need them

    given = list(inputs)
    if output == STDIO:
        raise click.UsageError("--engine writes shards: name their folder with -o")
    if any(path == STDIO or not Path(path).exists() for paths in given for path in paths):
        raise click.UsageError("--engine reads files, and standard input is none")
    report = running.run(
        job,
        given,
        output,
        engines.engine(str(cluster.engine), cluster.workers, gpu=gpu),
        tell=cliutil.note,
        watch=lambda found: cliutil.progress(found, "shards"),
    )
    there = len(report.shards) - report.made
    kept = f", {there:,} of them from an earlier run" if there else ""
    cliutil.note(f"{output}: {report.graphs:,} graphs in {len(report.shards):,} shards{kept}")
    return report


def finish(report: Report, output: str) -> None:
    """End with exit 1 if something is missing."""
    if report.skipped:
        cliutil.note(f"{report.skipped:,} invalid graphs were skipped")
    if not report.succeeded:
        raise cliutil.DataError(
            f"{output}/manifest.json: {len(report.failures):,} failures, {report.lost:,} graphs "
            "lost; the same command tries again what failed"
        )
