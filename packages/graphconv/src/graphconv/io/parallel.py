"""Map a function over a stream with several processes, in order and in bounded memory.

>>> list(ordered_map(str.upper, ["a", "b"], jobs=1))
['A', 'B']
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
R = TypeVar("R")

_BATCH = 64
_BATCHES_AHEAD = 4


def ordered_map(function: Callable[[T], R], items: Iterable[T], jobs: int = 1) -> Iterator[R]:
    """Yield ``function(item)`` for each item; with *jobs* > 1 in that many processes.

    At most a few batches per process are read ahead, so memory does not grow with the stream.
    *function*, the items and the results must be picklable then.
    """
    if jobs <= 1:
        yield from map(function, items)
        return
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - slow to import

    source = iter(items)
    pending: deque[Future[list[R]]] = deque()
    pool = ProcessPoolExecutor(jobs, initializer=_leave_interrupts_to_the_parent)
    try:
        while batch := list(islice(source, _BATCH)):
            pending.append(pool.submit(_apply, function, batch))
            if len(pending) > jobs * _BATCHES_AHEAD:
                yield from pending.popleft().result()
        while pending:
            yield from pending.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _apply(function: Callable[[T], R], batch: list[T]) -> list[R]:
    return [function(item) for item in batch]


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
