"""What a training computes on, and with which numbers."""

from __future__ import annotations

import os
from typing import Any

import torch

from transducer.config import Config
from transducer.distributed import launched
from transducer.errors import TrainingError


def make_accelerator(config: Config, device: torch.device) -> Any:
    """Return an Accelerator that computes on *device*; processes of a group have one each."""
    # Imported here: parsing does without it, and is installed without it.
    from accelerate import Accelerator  # noqa: PLC0415
    from accelerate.utils import DistributedDataParallelKwargs  # noqa: PLC0415

    # Features that are remembered (train.contextual_rate = 0) leave the encoder without gradients.
    unused = config.model.contextual_tuned and config.train.contextual_rate == 0
    variable = "ACCELERATE_TORCH_DEVICE"  # the only way to tell Accelerate which GPU
    before = os.environ.get(variable)
    if device.type == "cuda" and launched().size == 1:
        os.environ[variable] = str(device)
    try:
        accelerator = Accelerator(
            cpu=device.type == "cpu",
            mixed_precision=mixed_precision(config.train.precision, device),
            kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=unused)],
        )
    finally:
        if before is None:
            os.environ.pop(variable, None)
        else:
            os.environ[variable] = before
    if device.type == "cuda" and accelerator.device != device:
        raise TrainingError(f"this process computes on {accelerator.device} already, not {device}")
    return accelerator


def mixed_precision(wanted: str, device: torch.device) -> str:
    """Return Accelerate's name of the numbers to compute with."""
    if device.type != "cuda":
        return "no"
    if wanted == "auto":
        # Since Ampere (8.0) bf16 is fast, since Volta (7.0) fp16 is; what is emulated is slow.
        capability = torch.cuda.get_device_capability(device)
        return "bf16" if capability >= (8, 0) else "fp16" if capability >= (7, 0) else "no"
    return "no" if wanted == "fp32" else wanted
