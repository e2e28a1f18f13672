"""How a training goes over time: the learning rate of each update, and when it ends."""

from __future__ import annotations

import math

from transducer.config import TrainConfig
from transducer.training.state import State


def rate_factor(settings: TrainConfig, state: State, updates: int) -> float:
    """Return what learning rates are multiplied by now; an epoch has so many *updates*.

    >>> rate_factor(TrainConfig(warmup=4), State(total=1), updates=10)
    0.5
    >>> rate_factor(TrainConfig(schedule="cosine", epochs=2), State(total=10), updates=10)
    0.5
    """
    factor = min(1.0, (state.total + 1) / settings.warmup) if settings.warmup else 1.0
    if settings.schedule == "cosine":
        every = updates * settings.epochs
        done = state.total / min(every, settings.updates or every)
        if settings.minutes:
            done = max(done, state.seconds / (60 * settings.minutes))
        factor *= 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))
    return factor


def is_spent(settings: TrainConfig, state: State) -> bool:
    """Return whether the updates or the minutes are over, at whatever place of an epoch."""
    return bool(
        (settings.updates and state.total >= settings.updates)
        or (settings.minutes and state.seconds >= 60 * settings.minutes)
    )


def is_last(settings: TrainConfig, state: State) -> bool:
    """Return whether no epoch can follow."""
    return state.epoch >= settings.epochs or is_spent(settings, state)


def is_finished(settings: TrainConfig, state: State) -> bool:
    """Return whether training ends, because it must or because dev scores rise no more."""
    waited = state.epoch - max(state.best_epoch, settings.evaluate_from - 1)
    return is_last(settings, state) or waited >= settings.patience


def is_evaluated(settings: TrainConfig, state: State) -> bool:
    """Return whether the dev section is parsed after the epoch that has just ended.

    >>> settings = TrainConfig(epochs=9, evaluate_from=3, evaluate_every=2)
    >>> [epoch for epoch in range(1, 10) if is_evaluated(settings, State(epoch))]
    [4, 6, 8, 9]
    """
    due = state.epoch >= settings.evaluate_from and state.epoch % settings.evaluate_every == 0
    return due or is_last(settings, state)
