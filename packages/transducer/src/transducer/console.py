"""What the command line tells of a training on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from graphconv.cliutil import note
from transducer.distributed import launched

if TYPE_CHECKING:
    from transducer.training.state import Epoch, Progress


def bar(task: str) -> Callable[[Progress], None]:
    """Return what shows how a training goes: a line that moves, if there is a terminal."""
    if sys.stderr.isatty() and launched().main:
        return _Bar(task)
    return _nothing


def _nothing(_: Progress) -> None:
    """Say nothing."""


class _Bar:
    """One line on the terminal that shows rates, losses and the time to the end of the epoch."""

    def __init__(self, task: str) -> None:
        from rich.console import Console  # noqa: PLC0415 - --help does not need it
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[text]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.name = task
        self.task = self.bar.add_task(task, total=None, text="")
        self.bar.start()

    def __call__(self, progress: Progress) -> None:
        loss = progress.losses.get("total", 0.0)
        self.bar.update(
            self.task,
            description=f"{self.name}, epoch {progress.epoch}/{progress.epochs}",
            total=progress.updates,
            completed=progress.update,
            text=f"loss {loss:.3f}, {progress.tokens_per_second:,.0f} tokens/s",
        )

    def __del__(self) -> None:
        self.bar.stop()


def print_epoch_of(task: str, epoch: Epoch) -> None:
    """Print a line of the log of one of several trainings."""
    print_epoch(epoch, f"{task}, ")


def print_epoch(epoch: Epoch, start: str = "") -> None:
    """Print a line of the log."""
    score = "" if epoch.dev_score != epoch.dev_score else f", dev F1 {epoch.dev_score:.2f}"
    note(
        f"{start}epoch {epoch.epoch}: loss {epoch.loss:.3f} "
        f"(node {epoch.node:.3f}, source {epoch.source:.3f}, relation {epoch.relation:.3f}), "
        f"{epoch.tokens_per_second:,.0f} tokens/s, "
        f"{epoch.minutes:.1f} min{score}"
    )
