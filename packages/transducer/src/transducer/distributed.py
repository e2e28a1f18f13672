"""Several processes as one: what ``torchrun`` or ``accelerate launch`` started works together.

Everything goes through Accelerate; alone, a process is a group of one and nothing is exchanged.
Imports torch only where processes exchange something.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from graphconv.errors import GraphconvError
from transducer.errors import LostProcessError, TransducerError
from transducer.extras import require

_SIGNS = ("gloo", "nccl", "connection", "peer", "socket", "timed out")
"""Words in the messages of torch.distributed about processes that are gone."""


class Group(NamedTuple):
    """The processes that work together, and which of them this is."""

    rank: int = 0
    size: int = 1

    @property
    def main(self) -> bool:
        """Whether this process writes and prints."""
        return self.rank == 0

    def agree(self, value: Any) -> Any:
        """Return the first process's value in every process."""
        if self.size == 1:
            return value
        from accelerate.utils import broadcast_object_list  # noqa: PLC0415 - see the docstring

        return broadcast_object_list([value])[0]

    def gather(self, values: list[Any]) -> list[Any]:
        """Return the values of all processes, the first process's first, in every process."""
        if self.size == 1:
            return values
        from accelerate.utils import gather_object  # noqa: PLC0415 - see the docstring

        gathered: list[Any] = gather_object(values)
        return gathered


ALONE = Group()


def launched() -> Group:
    """Return this process's place by what the launcher says; the group need not be joined yet."""
    return Group(int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1")))


def join(device: str) -> Group:
    """Join the processes that were launched together."""
    group = launched()
    if group.size > 1:
        require("train", "work of several processes", "accelerate")
        from accelerate import PartialState  # noqa: PLC0415 - see the docstring

        PartialState(cpu=device == "cpu")
    return group


@contextmanager
def only_main_reports() -> Iterator[None]:
    """Let only the first process report errors, which all have alike; say who was lost.

    One process of several ends with it.
    """
    group = launched()
    try:
        with lost_processes(group):
            yield
        _leave(group, 0)
    except LostProcessError:
        raise
    except SystemExit as end:
        _leave(group, end.code)
        raise
    except (TransducerError, GraphconvError, OSError):
        if group.main:
            raise
        raise SystemExit(1) from None


def _leave(group: Group, code: object) -> None:
    """End one process of several, without the interpreter's winding down.

    Accelerate's objects keep the group's threads alive beyond the group, and such a thread that
    frees a tensor while the interpreter winds down aborts the process, though its work is done.
    """
    if group.size > 1:
        from torch import distributed  # noqa: PLC0415 - see the docstring

        if distributed.is_initialized():
            distributed.destroy_process_group()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else int(code is not None))


@contextmanager
def lost_processes(group: Group) -> Iterator[None]:
    """Say in one sentence that another process of the group is gone."""
    try:
        yield
    except RuntimeError as error:
        text = str(error).lower()
        if group.size == 1 or not any(sign in text for sign in _SIGNS):
            raise
        raise LostProcessError(
            f"process {group.rank} of {group.size} lost contact with the others, "
            "one of which must have ended"
        ) from error
