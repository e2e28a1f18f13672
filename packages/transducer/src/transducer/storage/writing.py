"""Files of a model directory: each appears under its name when it is complete."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from graphconv.io import files
from transducer.errors import ModelError


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Give a name to write to, which becomes *path* if everything went well.

    Torch and safetensors have errors of their own for a full disk.
    """
    try:
        with files.replacing(path) as hidden:
            yield hidden
    except OSError as error:
        raise ModelError(f"{path} cannot be written: {error.strerror or error}") from error
    except (SafetensorError, RuntimeError) as error:
        raise ModelError(f"{path} cannot be written: {first_line(error)}") from error


def write_text(path: Path, text: str) -> None:
    """Write a text file."""
    with written(path) as hidden:
        hidden.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def first_line(error: Exception) -> str:
    """Return the first line of a message; torch goes on for pages."""
    return (str(error) or type(error).__name__).strip().splitlines()[0].rstrip(": ")
