"""Map a function over a stream with several processes, in order and in bounded memory.

>>> list(ordered_map(str.upper, ["a", "b"], jobs=1))
['A', 'B']
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from graphconv.errors import GraphconvError

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
R = TypeVar("R")

_BATCH = 64
_BATCHES_AHEAD = 4
_SECONDS_BETWEEN_LOOKS = 0.5


def ordered_map(function: Callable[[T], R], items: Iterable[T], jobs: int = 1) -> Iterator[R]:
    """Yield ``function(item)`` for each item; with *jobs* > 1 in that many processes.

    At most a few batches per process are read ahead, so memory does not grow with the stream.
    *function*, the items and the results must be picklable then.
    """
    if jobs <= 1:
        yield from map(function, items)
        return
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - slow to import
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415

    source = iter(items)
    pending: deque[Future[list[R]]] = deque()
    pool = ProcessPoolExecutor(jobs, initializer=_begin_work, initargs=(os.getpid(),))
    done = False
    try:
        while batch := list(islice(source, _BATCH)):
            pending.append(pool.submit(_apply, function, batch))
            if len(pending) > jobs * _BATCHES_AHEAD:
                yield from pending.popleft().result()
        while pending:
            yield from pending.popleft().result()
        done = True
    except BrokenProcessPool as error:
        message = "a worker process ended before its work was done (not enough memory?)"
        raise GraphconvError(message) from error
    finally:
        # A generator that nobody reads on may be closed in any thread, even in one of the pool's.
        pool.shutdown(wait=done, cancel_futures=True)


def _apply(function: Callable[[T], R], batch: list[T]) -> list[R]:
    return [function(item) for item in batch]


def _begin_work(parent: int) -> None:
    """Leave interrupts to the parent, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if os.getppid() == parent:  # not so where another process forks the workers
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)
