"""The fine-tuned layers of a contextual encoder in a file that several models share.

Models that were trained together (:mod:`transducer.training.joint`) hold the same layers. Exported
side by side they keep them once, in ``encoder.safetensors`` beside their folders; a model that
travels alone has the file in its own. Its weights say by a hash which file is meant, so that no
model is read with the layers of another.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from graphconv.io.files import sha256
from transducer.errors import ModelError
from transducer.storage.writing import written

ENCODER = "encoder.safetensors"


def write_encoder(path: Path, tensors: Mapping[str, Tensor], *, overwrite: bool) -> str:
    """Write the layers, unless they are there already; return the hash of the file.

    A file that holds other layers may belong to other models: only *overwrite* replaces it.
    """
    if path.exists():
        known = load_file(path)
        if all(name in known and torch.equal(known[name], t) for name, t in tensors.items()):
            return sha256(path)
        if not overwrite:
            raise ModelError(
                f"{path} holds another encoder: models that share one were trained together, and "
                "the one with the most layers is exported first (--overwrite replaces it)"
            )
    with written(path) as hidden:
        save_file(dict(tensors), hidden)
        hidden.chmod(0o644)  # safetensors lets nobody else read it
    return sha256(path)


def find_encoder(folder: Path, digest: str) -> Path:
    """Return the file that a model in *folder* means: in the folder, or beside it."""
    places = [place / ENCODER for place in (folder, folder.resolve().parent)]
    found = [path for path in places if path.is_file()]
    for path in found:
        if sha256(path) == digest:
            return path
    if found:
        raise ModelError(f"{found[0]} is not the encoder that the model in {folder} was made with")
    raise ModelError(f"{folder} has no {ENCODER}, and there is none beside it")
