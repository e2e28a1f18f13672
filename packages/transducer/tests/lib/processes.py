"""Two processes that work as one on this machine, in a second: a server forks them ready-made."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PRELOADED = [
    "transducer.cli", "transducer.training.runs", "transducer.encoders.bert", "tokenizers",
    "accelerate", "accelerate.utils", "rich.progress", "matplotlib.pyplot",
]  # fmt: skip
"""What takes long to import; the server does it once."""


def transducer_in_two(
    arguments: Sequence[object], *, dies_in_epoch: int | None = None
) -> tuple[list[int | None], str]:
    """Run a command in two processes; return their exit codes, and what they said.

    The second one is killed when it begins the first update of an epoch, if one is given.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    words = [str(argument) for argument in arguments]
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder) / str(rank) for rank in range(2)]
        place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port()), "WORLD_SIZE": "2"}
        place |= {"LOCAL_WORLD_SIZE": "2", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
        environment = {**os.environ, **place}
        workers = [
            context.Process(target=_work, args=(rank, environment, words, log, dies_in_epoch))
            for rank, log in enumerate(logs)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(timeout=300)
            worker.kill()  # nothing, if it has ended
            worker.join()
        return [worker.exitcode for worker in workers], "".join(log.read_text() for log in logs)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _work(
    rank: int,
    environment: dict[str, str],
    arguments: list[str],
    log: Path,
    dies_in_epoch: int | None,
) -> None:
    """Be one of the two, as torchrun would start it."""
    os.environ.update({**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)})
    with log.open("w", encoding="utf-8") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    import torch

    from transducer.cli import main
    from transducer.training.trainer import Trainer

    torch.set_num_threads(1)
    update = Trainer._update

    def dying_update(self: Trainer, group: Any) -> dict[str, float]:
        if rank == 1 and self.state.epoch == dies_in_epoch:
            os.kill(os.getpid(), signal.SIGKILL)
        return update(self, group)

    Trainer._update = dying_update  # type: ignore[method-assign]
    main(arguments, prog_name="transducer")
