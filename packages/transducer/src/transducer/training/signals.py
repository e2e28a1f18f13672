"""Ctrl-C and SIGTERM end a training between two updates, not in the middle of one."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptible(*, patient: bool) -> Iterator[list[int]]:
    """Collect Ctrl-C and SIGTERM instead of dying in the middle of an update.

    A second signal ends the process at once, unless it is *patient*: launchers repeat signals.
    """
    received: list[int] = []

    def receive(number: int, _: object) -> None:
        if received and not patient:
            raise KeyboardInterrupt
        received.append(number)

    previous = {
        number: signal.signal(number, receive) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield received
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
