"""Decoding that nobody waits for any more stops before its next row.

>>> def give_up():
...     raise TimeoutError("too late")
>>> with interrupted_by(give_up):
...     check_interruption()
Traceback (most recent call last):
TimeoutError: too late
>>> check_interruption()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_check: ContextVar[Callable[[], None]] = ContextVar("check", default=lambda: None)


@contextmanager
def interrupted_by(check: Callable[[], None]) -> Iterator[None]:
    """Call *check* before each row that this thread decodes; what it raises ends decoding."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def check_interruption() -> None:
    """End decoding, if somebody wants that."""
    _check.get()()
