"""A model directory: everything needed to parse, and, while training goes on, to resume.

``config.json``           the recipe, format version, library versions
``vocabularies.json``     strings and their numbers
``tables.json``           AMR: what pre- and post-processing learned
``model.safetensors``     the best weights so far
``score.json``            the dev score they reached, and on what data
``last/``                 weights, optimizer and random state after the last update

A model that ships (:mod:`transducer.export`) has no ``last/``; vocabularies and tables are gzipped
(``vocabularies.json.gz``), and the weights are those of :mod:`transducer.compact`.
"""

from __future__ import annotations

import gzip
import json
import platform
import zlib
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from transducer.amr import Tables
from transducer.compact import read_weights
from transducer.config import Config, from_dict
from transducer.errors import ModelError
from transducer.model import TransducerModel
from transducer.tasks import Task, make_linker
from transducer.vocab import Vocabularies

FORMAT = 1
"""Changes whenever older models can no longer be read."""

CONFIG = "config.json"
VOCABULARIES = "vocabularies.json"
TABLES = "tables.json"
WEIGHTS = "model.safetensors"
SCORE = "score.json"
LAST = "last"
_STATE = "state.pt"
_PACKAGES = ("torch", "transformers", "arbora-graphconv", "arbora-evaltools", "arbora-transducer")


@dataclass(frozen=True, slots=True)
class Saved:
    """A loaded model directory."""

    config: Config
    vocabularies: Vocabularies
    task: Task
    model: TransducerModel
    score: dict[str, Any]


def save_setup(folder: Path, task: Task, vocabularies: Vocabularies) -> None:
    """Write what does not change during training."""
    folder.mkdir(parents=True, exist_ok=True)
    versions = {name: version(name) for name in _PACKAGES}
    setup = {
        "format": FORMAT,
        "config": task.config.to_dict(),
        "versions": {**versions, "python": platform.python_version()},
    }
    write_text(folder / CONFIG, json.dumps(setup, indent=1))
    write_text(folder / VOCABULARIES, json.dumps(vocabularies.to_json(), ensure_ascii=False))
    if task.tables is not None:
        write_text(folder / TABLES, task.tables.to_json())


def save_weights(path: Path, weights: dict[str, Tensor]) -> None:
    """Write weights under a temporary name, then rename."""
    part = path.with_name(path.name + ".part")
    save_file({name: tensor.contiguous() for name, tensor in weights.items()}, part)
    part.replace(path)


def save_last(folder: Path, weights: dict[str, Tensor], state: dict[str, Any]) -> None:
    """Write what resuming needs; a crash in the middle leaves the previous one."""
    last = folder / LAST
    last.mkdir(parents=True, exist_ok=True)
    part = last / (_STATE + ".part")
    torch.save({"weights": weights, **state}, part)
    part.replace(last / _STATE)


def load_last(folder: Path) -> dict[str, Any]:
    """Read what :func:`save_last` wrote."""
    path = folder / LAST / _STATE
    if not path.is_file():
        raise ModelError(f"{folder} has no training state to resume from")
    try:
        loaded: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, UnpicklingError, EOFError, OSError, ValueError, LookupError) as error:
        raise ModelError(f"{path} is damaged: {first_line(error)}") from error
    return loaded


def training_of(folder: Path) -> Path:
    """Return the folder of the training that a model is from: RUN/last is from RUN."""
    return folder.parent if (folder / _STATE).is_file() else folder


def load_setup(folder: Path) -> tuple[Config, Vocabularies, Task]:
    """Read config, vocabularies and tables of a model directory."""
    folder = training_of(folder)
    try:
        setup = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        if setup["format"] != FORMAT:
            raise ModelError(
                f"{folder} has model format {setup['format']}, and this version reads {FORMAT}"
            )
        config = from_dict(setup["config"], name=str(folder / CONFIG))
        vocabularies = Vocabularies.from_json(json.loads(read_packed(folder / VOCABULARIES)))
        tables = None
        if config.task == "amr":
            tables = Tables.from_json(read_packed(folder / TABLES))
    except FileNotFoundError as error:
        raise ModelError(
            f"{folder} is not a model directory: {error.filename} is missing"
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{folder} is damaged: {error}") from error
    return config, vocabularies, Task(config, tables, make_linker(config))


def load(folder: str | Path, device: torch.device) -> Saved:
    """Load a model for parsing: the best one of a training, or from RUN/last what it came to."""
    folder = Path(folder)
    config, vocabularies, task = load_setup(folder)
    model = TransducerModel(config.model, vocabularies)
    ended = training_of(folder) != folder
    try:
        if ended:
            weights, score = _end(training_of(folder))
        else:
            weights = read_weights(folder / WEIGHTS, model.state_dict())
            score = read_score(folder)
        model.load_state_dict(weights)
    except FileNotFoundError as error:
        raise ModelError(f"{folder} has no weights yet") from error
    except (SafetensorError, RuntimeError, OSError) as error:
        path = folder / (_STATE if ended else WEIGHTS)
        raise ModelError(f"{path} does not fit the model: {first_line(error)}") from error
    return Saved(config, vocabularies, task, model.to(device).eval(), score)


def _end(folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the weights with which a training ended, or was stopped, and what is known of them."""
    last = load_last(folder)
    minutes = round(last["state"]["seconds"] / 60, 2)
    known = {"dev_f1": None, "epoch": last["state"]["epoch"], "minutes": minutes}
    return last["weights"] | last["average"], read_score(folder) | known


def read_score(folder: Path) -> dict[str, Any]:
    """Return the recorded score, or nothing."""
    path = folder / SCORE
    try:
        score: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} is damaged: {error}") from error
    return score


def read_packed(path: Path) -> str:
    """Read a text file that may be there gzipped, with ``.gz`` at the end of its name."""
    packed = path.with_name(path.name + ".gz")
    if path.is_file() or not packed.is_file():
        return path.read_text(encoding="utf-8")
    try:
        return gzip.decompress(packed.read_bytes()).decode("utf-8")
    except (EOFError, zlib.error) as error:
        raise ValueError(f"{packed}: {error}") from error


def first_line(error: Exception) -> str:
    """Return the first line of a message; torch goes on for pages."""
    return (str(error) or type(error).__name__).strip().splitlines()[0].rstrip(": ")


def write_text(path: Path, text: str) -> None:
    """Write a file under a temporary name, then rename."""
    part = path.with_name(path.name + ".part")
    part.write_text(text + "\n", encoding="utf-8")
    part.replace(path)
