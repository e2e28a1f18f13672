"""Ray Data as an engine: readers cut inputs, and a pool of workers makes shards from the pieces.

Every worker is an actor, so that it loads its model once. Ray starts an actor anew that was killed
and gives its piece to one again; :func:`~graphconv.cluster.shards.once_more` says how often. Pieces
travel through Ray's object store, shards do not.
"""

from __future__ import annotations

import logging
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from graphconv.cluster.shards import Failure, Maker, Shard, Task, read
from graphconv.cluster.work import Job
from graphconv.errors import GraphconvError

T = TypeVar("T")
R = TypeVar("R")

_WORKERS_PER_READER = 8
_TOGETHER = 1000
"""Small things that are asked for at once."""


def connect() -> None:
    """Join the cluster that the environment names or that runs here, or else start one here."""
    try:
        import ray  # noqa: PLC0415 - an extra
        import ray.data  # noqa: PLC0415
    except ImportError as error:
        message = "--engine ray needs Ray Data: pip install 'arbora-graphconv[ray]'"
        raise GraphconvError(message) from error
    if not ray.is_initialized():
        try:
            ray.init(logging_level=logging.ERROR, log_to_driver=False, include_dashboard=False)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise GraphconvError(
                f"there is no Ray cluster: {str(error).splitlines()[0]}"
            ) from error


class Ray:
    """The workers of a cluster; one per GPU, or else one per CPU, if their number is not given."""

    def __init__(self, workers: int | None, *, gpu: bool) -> None:
        import ray  # noqa: PLC0415 - an extra

        there = ray.cluster_resources()
        self._gpu = gpu and there.get("GPU", 0) >= 1
        self._workers = workers or max(1, int(there.get("GPU" if self._gpu else "CPU", 1)))

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield the function of each item, in order, in the folder of the driver."""
        import ray  # noqa: PLC0415 - an extra

        remote = ray.remote(_in_folder)
        here, stream = str(Path.cwd()), iter(items)
        while group := list(islice(stream, _TOGETHER)):
            yield from ray.get([remote.remote(here, function, item) for item in group])

    def work(self, job: Job, tasks: list[Task], folder: Path) -> Iterator[Shard | Failure]:
        """Make shards, in the order in which they are done."""
        if not tasks:
            return
        from ray import data  # noqa: PLC0415 - an extra
        from ray.exceptions import RayError  # noqa: PLC0415

        _configure()
        here = str(Path.cwd())
        given = data.from_items(
            [{"task": pickle.dumps(t)} for t in tasks], override_num_blocks=len(tasks)
        )
        # Readers wait for the disk: they get no CPU of their own, which the workers have all.
        pieces = given.flat_map(
            partial(_read, job, here, str(folder)),
            compute=data.TaskPoolStrategy(size=1 + self._workers // _WORKERS_PER_READER),
            num_cpus=0,
        )
        made = pieces.map(
            _Worker,
            fn_constructor_args=(job, here, str(folder)),
            # A worker that is killed takes no other piece with it than the one it works on.
            compute=data.ActorPoolStrategy(size=self._workers, max_tasks_in_flight_per_actor=1),
            num_cpus=1,
            num_gpus=1 if self._gpu else 0,
        )
        try:
            for row in made.iter_rows():
                yield pickle.loads(row["made"])
        except RayError as error:
            reason = str(error).strip().splitlines()[-1]
            message = f"the cluster failed ({reason}); the same command goes on"
            raise GraphconvError(message) from error


def _configure() -> None:
    """Let a piece be a block of its own, and what fails again and again not end the others."""
    from ray.data import DataContext  # noqa: PLC0415 - an extra

    context = DataContext.get_current()
    context.target_max_block_size = 1
    context.max_errored_blocks = -1
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)


def _in_folder(folder: str, function: Callable[[T], R], item: T) -> R:
    os.chdir(folder)  # so that paths mean what they mean to the user
    return function(item)


def _read(job: Job, here: str, folder: str, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    os.chdir(here)
    task: Task = pickle.loads(row["task"])
    for piece in read(job, task, Path(folder)):
        yield {"input": task.input, "piece": pickle.dumps(piece)}


class _Worker:
    """One process of the pool."""

    def __init__(self, job: Job, here: str, folder: str) -> None:
        os.chdir(here)
        self._make = Maker(job, Path(folder))

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        piece = pickle.loads(row["piece"])
        return {"made": pickle.dumps(self._make(row["input"], piece))}
