"""Modules without weights: what a model looks like, before its weights are there.

>>> import torch
>>> with outlined():
...     layer = torch.nn.Embedding(10**9, 100)
>>> layer.weight.device.type, tuple(layer.weight.shape)
('meta', (1000000000, 100))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_outlined: ContextVar[bool] = ContextVar("outlined", default=False)


class _NoValues(TorchFunctionMode):
    """Leaves out ``torch.nn.init``.

    Random numbers for tensors without memory would do nothing, but torch imports its compiler for
    them, which takes longer than to load a model and parse a sentence.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        _: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = kwargs or {}
        if getattr(func, "__module__", "") == "torch.nn.init":
            return given["tensor"] if "tensor" in given else args[0]
        return func(*args, **given)


@contextmanager
def outlined() -> Iterator[None]:
    """Let modules that are made here have no memory for their weights."""
    before = _outlined.set(True)
    try:
        with torch.device("meta"), _NoValues():
            yield
    finally:
        _outlined.reset(before)


def is_outlined() -> bool:
    """Return whether modules that are made now have no memory.

    torch 2.6 does not know: its default device stays that of a context which has ended.
    """
    return _outlined.get()
