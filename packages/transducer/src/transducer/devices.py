"""Which device computes."""

from __future__ import annotations

import os

import torch

from transducer.distributed import launched
from transducer.errors import TransducerError


def pick_device(name: str) -> torch.device:
    """Return the device called *name*; ``auto`` is the best there is, one per process."""
    if name.startswith("cuda:") and launched().size > 1:
        raise TransducerError(f"--device {name}: each of several processes has a GPU of its own")
    if name in ("auto", "cuda") and torch.cuda.is_available():
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    if name == "auto":
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise TransducerError(f"there is no device {name!r} here: {reason}") from error
    return device
