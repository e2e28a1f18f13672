"""The rounded weights of a model, made once and then mapped into memory.

A model that ships holds small differences to a pre-trained encoder. To add them up and to round the
sums takes longer than to parse a sentence, and three times the memory of the result. So the result
is kept in the cache, one folder for each model directory:

``rounded.safetensors``   the weights that differ from the pre-trained ones
``made.json``             of what they were made, and their hash

Processes that parse with the same model share the memory of the file. What was made of other files
or by another version is made anew, and so is what is damaged. Where nothing can be kept, because
the disk is full or not ours, everything goes on without.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from filelock import FileLock
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from transducer.cache import cache_folder
from transducer.config import Config
from transducer.data.vocabularies import Vocabularies
from transducer.encoders.bert import is_bert, read_bert
from transducer.encoders.low_rank import merge_differences
from transducer.encoders.places import find, hashed, read_json
from transducer.encoders.references import digest_of
from transducer.errors import ModelError
from transducer.frameworks.tasks import Task
from transducer.int8 import has_bf16, has_int8, to_int8
from transducer.model.network import TransducerModel
from transducer.outline import outlined
from transducer.storage import checkpoint
from transducer.storage.compact import PRETRAINED
from transducer.storage.writing import write_text, written

FORMAT = 2
"""Changes whenever the same files give other rounded weights, or are stored in another way."""

_WEIGHTS = "rounded.safetensors"
_MADE = "made.json"
_LARGE = 1 << 20
"""Pre-trained tensors with so many weights that did not change stay in their own file."""
_CPU = torch.device("cpu")


@dataclass(frozen=True, slots=True)
class Source:
    """What rounded weights are made of."""

    folder: Path
    task: Task
    vocabularies: Vocabularies
    sha256: str
    """Of the weights in the folder."""

    @property
    def place(self) -> Path:
        """Where they are kept: one place for a folder, so that a new model replaces the old."""
        path = str(self.folder.resolve()).encode(errors="surrogateescape")
        return cache_folder("rounded") / hashlib.sha256(path).hexdigest()[:24]

    @property
    def key(self) -> str:
        """A hash of all that decides how they look."""
        encoder = digest_of(find(self.task.config.model.contextual).files)
        known = [FORMAT, self.sha256, asdict(self.task.config.model), encoder, has_bf16()]
        return hashlib.sha256(json.dumps(known).encode()).hexdigest()


def is_kept(folder: Path, config: Config, device: torch.device) -> bool:
    """Return whether rounded weights of a model are worth to be kept, and parsing takes them."""
    model = config.model
    return (
        config.decode.int8
        and has_int8(device)
        and (folder / checkpoint.WEIGHTS).is_file()
        and bool(model.contextual)
        and model.contextual_tuned
        and is_bert(find(model.contextual).folder)
    )


def load_rounded(source: Source) -> TransducerModel:
    """Return the rounded model: as it was kept, else made, and kept for the next time."""
    kept = _read(source)
    if kept is not None:
        return kept
    try:
        source.place.mkdir(parents=True, exist_ok=True)
        with FileLock(source.place / "lock"):
            # Another process may have made it meanwhile.
            return _read(source) or _made(source)
    except OSError:  # no place, no lock
        return _rounded(source)


def _rounded(source: Source) -> TransducerModel:
    model = checkpoint.load(source.folder, _CPU).model
    merge_differences(model)
    return to_int8(model)


def _made(source: Source) -> TransducerModel:
    model = _rounded(source)
    weights = model.state_dict()
    for name, fresh in _pretrained(source, weights).items():
        if weights[name].dtype == fresh.dtype and torch.equal(weights[name], fresh):
            del weights[name]
    try:
        with written(source.place / _WEIGHTS) as hidden:
            save_file({name: weight.contiguous() for name, weight in weights.items()}, hidden)
        made = {"key": source.key, "sha256": hashed(source.place, [_WEIGHTS])[_WEIGHTS].sha256}
        write_text(source.place / _MADE, json.dumps(made))
    except (ModelError, OSError):  # the disk is full
        return model
    return _read(source) or model


def _pretrained(source: Source, wanted: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the large weights of the pre-trained encoder among those that are wanted."""
    large = {
        name.removeprefix(PRETRAINED)
        for name, weight in wanted.items()
        if name.startswith(PRETRAINED) and weight.numel() >= _LARGE
    }
    found = read_bert(find(source.task.config.model.contextual).folder, large)
    return {f"{PRETRAINED}{name}": weight for name, weight in found.items()}


def _read(source: Source) -> TransducerModel | None:
    """Return what is kept, unless it is of something else, or damaged."""
    made = read_json(source.place / _MADE)
    if made.get("key") != source.key:
        return None
    plain = replace(source.task.config.model, contextual_rank=0)  # differences are merged
    with outlined():
        model = to_int8(TransducerModel(plain, source.vocabularies, source.task.trees).eval())
    wanted = model.state_dict()
    try:
        if hashed(source.place, [_WEIGHTS])[_WEIGHTS].sha256 != made.get("sha256"):
            return None
        own = load_file(source.place / _WEIGHTS)
        others = _pretrained(source, {n: w for n, w in wanted.items() if n not in own})
        model.load_state_dict({**own, **others}, assign=True)
    except (OSError, SafetensorError, RuntimeError):
        return None
    return model.requires_grad_(False)
