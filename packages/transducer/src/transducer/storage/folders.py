"""Whose folder it is: no model is written over another one, or over files of others, in silence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphconv.io import files
from transducer.errors import ModelError
from transducer.storage.cards import CARD, PAGE
from transducer.storage.checkpoint import (
    CONFIG,
    LAST,
    SCORE,
    STATE,
    TABLES,
    VOCABULARIES,
    WEIGHTS,
)
from transducer.storage.shared_encoder import ENCODER

RUN = "run.json"
"""What a training needs to go on: config, files, seed."""
LOG = "log.csv"
CURVES = "curves.png"

_OURS = (
    *(CONFIG, VOCABULARIES, TABLES, WEIGHTS, SCORE, RUN, LOG, CURVES, CARD, PAGE),
    *(f"{name}.gz" for name in (VOCABULARIES, TABLES)),
    f"{LAST}/{STATE}",
    ENCODER,
)
"""Whatever is written into a model directory."""


def refuse_taken(folder: Path, *, overwrite: bool) -> None:
    """Refuse a folder that is not empty, unless the user says that it may be written over."""
    if folder.exists() and not folder.is_dir():
        raise ModelError(f"{folder} is a file, where a folder is to be written")
    found = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if overwrite or not found:
        return
    if WEIGHTS in found:
        raise ModelError(f"{folder} holds a model: --overwrite replaces it")
    if RUN in found:
        raise ModelError(
            f"{folder} holds a training that has not ended: --resume continues it, "
            "--overwrite replaces it"
        )
    raise ModelError(
        f"{folder} is not empty, it holds {found[0]}: name another folder, or --overwrite"
    )


def clear(folder: Path) -> None:
    """Remove a model, and nothing else that may be in its folder."""
    for name in _OURS:
        (folder / name).unlink(missing_ok=True)
    for place in (folder / LAST, folder):
        if place.is_dir() and not any(place.iterdir()):
            place.rmdir()


@contextmanager
def new_model(folder: Path, *, overwrite: bool) -> Iterator[Path]:
    """Give a folder to write a model to, which becomes *folder* if everything went well."""
    with files.os_errors(str(folder)):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with files.lock(str(folder)):
            refuse_taken(folder, overwrite=overwrite)
            hidden = files.temporary(folder)
            hidden.mkdir()
            try:
                yield hidden
                clear(folder)
                folder.mkdir(exist_ok=True)
                for path in hidden.iterdir():
                    path.replace(folder / path.name)
            finally:
                clear(hidden)
