"""Who does the work: this process, or the workers of a Ray cluster.

An engine maps a function over small things in order, and turns tasks into shards in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol, TypeVar

from graphconv.cluster.shards import Failure, Maker, Shard, Task, read
from graphconv.cluster.work import Job

T = TypeVar("T")
R = TypeVar("R")


class Engine(Protocol):
    """What runs a job."""

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield the function of each item, in order."""
        ...

    def work(self, job: Job, tasks: list[Task], folder: Path) -> Iterator[Shard | Failure]:
        """Make the shards of the tasks in *folder*; whoever closes the iterator ends the work."""
        ...


class Local:
    """This process alone."""

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield the function of each item."""
        return map(function, items)

    def work(self, job: Job, tasks: list[Task], folder: Path) -> Iterator[Shard | Failure]:
        """Make one shard after the other."""
        make = Maker(job, folder)
        for task in tasks:
            for piece in read(job, task, folder):
                yield make(task.input, piece)


def _local(workers: int | None, *, gpu: bool) -> Engine:  # noqa: ARG001 - as all engines
    return Local()


def _ray(workers: int | None, *, gpu: bool) -> Engine:
    from graphconv.cluster.on_ray import Ray, connect  # noqa: PLC0415 - an extra

    connect()
    return Ray(workers, gpu=gpu)


ENGINES = {"local": _local, "ray": _ray}
"""The engines by name."""


def engine(name: str, workers: int | None = None, *, gpu: bool = False) -> Engine:
    """Return an engine; on a GPU if *gpu* and the cluster has any, one for each worker."""
    return ENGINES[name](workers, gpu=gpu)
