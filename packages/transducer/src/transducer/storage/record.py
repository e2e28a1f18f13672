"""The record of a training in its model directory: with what it can be repeated and resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transducer.config import Config
from transducer.earlier import upgraded
from transducer.errors import ModelError
from transducer.schema import MEGABYTE, Name, SchemaError, checked, read_json
from transducer.storage.folders import RUN

AVERAGED = "averaged"
"""Under this name the mean of some models keeps what RUN says of each."""

_KINDS: dict[str, Any] = {
    "config": Config,
    "train": tuple[Name, ...],
    "dev": tuple[Name, ...],
    "folder": Name,
    "seed": int,
    "device": Name,
    "resumed": tuple[tuple[Name, ...], ...],
    "sha256": dict[Name, Name],
    AVERAGED: tuple[dict[str, Any], ...],
}
"""What the entries of RUN are."""


def read_record(folder: Path) -> dict[str, Any]:
    """Read the description of a training."""
    path = folder / RUN
    try:
        record: dict[str, Any] = checked(dict[str, Any], read_json(path, 16 * MEGABYTE))
        record = _upgraded(record)
        if AVERAGED in record:
            runs = checked(_KINDS[AVERAGED], record[AVERAGED], AVERAGED)
            record[AVERAGED] = [_upgraded(run) for run in runs]
        for key in record.keys() & _KINDS.keys():
            checked(_KINDS[key], record[key], key)
    except OSError as error:
        raise ModelError(f"{folder} is not a training run: {error}") from error
    except SchemaError as error:
        raise ModelError(f"{path} is damaged: {error}") from error
    return record


def _upgraded(run: dict[str, Any]) -> dict[str, Any]:
    return {**run, "config": upgraded(run["config"])} if "config" in run else run
