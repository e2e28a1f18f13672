"""Where a training stands, what is told of it, and its log."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from transducer.storage.writing import write_text


class Progress(NamedTuple):
    """What the outside is told of a running training."""

    epoch: int
    epochs: int
    update: int
    updates: int
    tokens_per_second: float
    losses: dict[str, float]


class Epoch(NamedTuple):
    """One line of the log."""

    epoch: int
    updates: int
    minutes: float
    learning_rate: float
    loss: float
    node: float
    source: float
    relation: float
    coverage: float
    links: float
    tokens_per_second: float
    dev_score: float
    frames: float


@dataclass(slots=True)
class State:
    """Where a training stands."""

    epoch: int = 0
    update: int = 0
    """Updates done in this epoch."""
    total: int = 0
    """Updates done in all."""
    seconds: float = 0.0
    best: float = -1.0
    best_epoch: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    """Sums of the losses in this epoch, and under ``rate`` its tokens per second."""
    log: list[list[float]] = field(default_factory=list)

    def means(self) -> dict[str, float]:
        """Return the losses of this epoch, as means over its updates."""
        return {k: v / max(self.update, 1) for k, v in self.sums.items() if k != "rate"}

    def line(self, rate: float, score: float) -> Epoch:
        """Return the log's line of an epoch that ends with this learning rate and dev score."""
        means = self.means()
        names = ("total", "node", "source", "relation", "coverage", "links", "frames")
        spent = (self.epoch, self.total, self.seconds / 60, rate)
        *losses, frames = (means.get(name, math.nan) for name in names)
        return Epoch._make((*spent, *losses, self.sums.get("rate", 0.0), score, frames))


def write_log(path: Path, epochs: Sequence[Epoch]) -> None:
    """Write the log as CSV."""
    lines = [",".join(Epoch._fields)]
    lines += [",".join(f"{value:.6g}" for value in line) for line in epochs]
    write_text(path, "\n".join(lines))


def random_state() -> dict[str, Tensor]:
    """Return the state of the random numbers on the CPU and, where there is one, on the GPU."""
    gpu = {"cuda": torch.cuda.get_rng_state()} if torch.cuda.is_available() else {}
    return {"cpu": torch.get_rng_state(), **gpu}


def set_random_state(state: dict[str, Tensor]) -> None:
    """Go back to a state of the random numbers."""
    torch.set_rng_state(state["cpu"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])
