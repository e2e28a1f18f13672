"""The models that ship with the package, one folder per task in ``transducer/models``."""

from __future__ import annotations

from pathlib import Path

from transducer.errors import ModelError

FOLDER = Path(__file__).parent / "models"


def find_model(task: str) -> Path:
    """Return the folder of the model that ships for a task."""
    folder = FOLDER / task
    if not (folder / "config.json").is_file():
        raise ModelError(f"no model for {task} ships with this version: train one and give --model")
    return folder
