"""A model directory: everything needed to parse, and, while training goes on, to resume.

``config.json``           the recipe, format version, library versions
``vocabularies.json``     strings and their numbers
``tables.json``           AMR: what pre- and post-processing learned
``model.safetensors``     the best weights so far
``score.json``            the dev score they reached, and on what data
``last/``                 weights, optimizer and random state after the last update

A model that ships (:mod:`transducer.storage.export`) has no ``last/``; vocabularies and tables are
gzipped (``vocabularies.json.gz``), and the weights are those of :mod:`transducer.storage.compact`.
"""

from __future__ import annotations

import json
import pickletools
import platform
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from pickle import UnpicklingError
from typing import Annotated, Any

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from transducer.config import Config
from transducer.data.vocabularies import Vocabularies
from transducer.earlier import upgraded
from transducer.encoders.references import check_reference
from transducer.errors import ModelError
from transducer.frameworks import task_of
from transducer.frameworks.tasks import Task
from transducer.model.network import TransducerModel
from transducer.outline import outlined
from transducer.schema import (
    MEGABYTE,
    Name,
    Range,
    SchemaError,
    checked,
    read_json,
    read_text,
    shown,
)
from transducer.storage.compact import (
    Stored,
    check_numbers,
    misfit,
    read_header,
    read_weights,
    wrong_number,
)
from transducer.storage.writing import first_line, write_text, written

FORMAT = 3
"""Changes whenever earlier versions cannot read what this one writes."""
_READABLE = (1, 2, FORMAT)
"""What :func:`transducer.earlier.upgraded` makes of the others is the last."""

CONFIG = "config.json"
VOCABULARIES = "vocabularies.json"
TABLES = "tables.json"
WEIGHTS = "model.safetensors"
SCORE = "score.json"
LAST = "last"
STATE = "state.pt"
_PACKAGES = ("torch", "transformers", "arbora-graphconv", "arbora-evaltools", "arbora-transducer")


MOST_WEIGHTS = 500_000_000
"""Weights of a model, its contextual encoder aside."""

_WIDENED = ("encoder.weight_ih_l0", "encoder.weight_ih_l0_reverse")
"""The weights whose shape depends on the contextual encoder."""

_DAMAGE = (
    *(RuntimeError, UnpicklingError, EOFError, OSError, ValueError, LookupError, TypeError),
    *(AttributeError, zipfile.BadZipFile),
)
_CLASSES = (
    "collections OrderedDict",
    "torch._utils _rebuild_tensor_v2",
    "torch._utils _rebuild_parameter",
    *(f"torch {kind}Storage" for kind in ("Float", "Double", "Half", "BFloat16", "Long", "Byte")),
)
"""All that a training state is made of, besides numbers, strings, lists and dicts."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What CONFIG holds."""

    format: int
    config: Config
    versions: dict[Name, Name] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Score:
    """What SCORE holds."""

    task: Name = ""
    dev_f1: float | None = None
    epoch: int = 0
    minutes: float = 0.0
    sha256: dict[Name, Name] = field(default_factory=dict)
    sentences: int = 0
    seed: int = 0


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
    """Write weights; those that are no numbers are refused."""
    _require_numbers(path, weights)
    with written(path) as hidden:
        save_file({name: tensor.contiguous() for name, tensor in weights.items()}, hidden)


def _require_numbers(path: Path, weights: Mapping[str, Tensor]) -> None:
    problem = wrong_number(weights)
    if problem:
        raise ModelError(f"{path} is not written: {problem}; lower train.learning_rate")


def save_last(folder: Path, weights: dict[str, Tensor], state: dict[str, Any]) -> None:
    """Write what resuming needs; a crash in the middle leaves the previous one."""
    last = folder / LAST
    _require_numbers(last / STATE, weights)
    _require_numbers(last / STATE, state["moving_average"])
    last.mkdir(parents=True, exist_ok=True)
    with written(last / STATE) as hidden:
        torch.save({"weights": weights, **state}, hidden)


def load_last(folder: Path) -> dict[str, Any]:
    """Read what :func:`save_last` wrote."""
    path = folder / LAST / STATE
    if not path.is_file():
        raise ModelError(f"{folder} has no training state to resume from")
    try:
        _check_archive(path)
        loaded: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        if "average" in loaded:  # up to format 2
            loaded["moving_average"] = loaded.pop("average")
        _check_tensors(loaded)
    except _DAMAGE as error:
        raise ModelError(f"{path} is damaged: {first_line(error)}") from error
    for name in ("weights", "moving_average"):
        check_numbers(path, loaded[name])
    return loaded


def _check_archive(path: Path) -> None:
    """Refuse what :func:`torch.save` does not write, before anything is made of it."""
    with zipfile.ZipFile(path) as archive:
        size = path.stat().st_size
        for entry in archive.infolist():
            if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > size:
                raise SchemaError(f"{shown(entry.filename)} is packed")
        pickled = [name for name in archive.namelist() if name.endswith("data.pkl")]
        for name in pickled:
            for operation, argument, _ in pickletools.genops(archive.read(name)):
                named = "GLOBAL" in operation.name or operation.name == "INST"
                if named and argument not in _CLASSES:
                    raise SchemaError(f"it names {shown(argument)}, which no training state has")


def _check_tensors(loaded: Any) -> None:
    for name in ("weights", "moving_average"):
        for key, weight in checked(dict[str, Any], loaded[name], name).items():
            if not isinstance(weight, Tensor):
                raise SchemaError(f"{name}.{key} is no tensor")
    checked(dict[str, Any], loaded["optimizer"], "optimizer")
    checked(tuple[dict[str, Any], ...], loaded["random"], "random")
    state = checked(dict[str, Any], loaded["state"], "state")
    for name in ("epoch", "update", "total", "best_epoch"):
        checked(Annotated[int, Range(0, 10**12)], state[name], f"state.{name}")
    checked(Annotated[float, Range(0, 10**12)], state["seconds"], "state.seconds")


def training_of(folder: Path) -> Path:
    """Return the folder of the training that a model is from: RUN/last is from RUN."""
    return folder.parent if (folder / STATE).is_file() else folder


def weights_path(folder: Path) -> Path:
    """Return the file that holds the weights of a model directory, or of RUN/last."""
    return folder / (WEIGHTS if training_of(folder) == folder else STATE)


def load_setup(folder: Path) -> tuple[Config, Vocabularies, Task]:
    """Read config, vocabularies and tables of a model directory: data, and nothing but data.

    What the config says of where its training found files and services is for the record: a model
    never decides what is read, asked or run. So the task has no wikifier; who wants one adds it.
    """
    folder = training_of(folder)
    with _reading(folder, CONFIG) as path:
        setup: Setup = checked(Setup, _of_this_format(read_json(path, MEGABYTE)))
    check_reference(setup.config.model.contextual, f"{path}, model.contextual")
    with _reading(folder, VOCABULARIES) as path:
        vocabularies = Vocabularies.from_json(read_json(path, 16 * MEGABYTE))
    task, tables = task_of(setup.config.task), None
    if task.tables_type is not None:
        with _reading(folder, TABLES) as path:
            tables = task.tables_type.from_json(read_text(path, 32 * MEGABYTE))
    return setup.config, vocabularies, task(setup.config, tables)


def _of_this_format(setup: Any) -> Any:
    found = setup.get("format", FORMAT) if isinstance(setup, dict) else FORMAT
    if found not in _READABLE:
        raise SchemaError(f"it has model format {shown(found)}, and this version reads {FORMAT}")
    if found == FORMAT or not isinstance(setup, dict) or "config" not in setup:
        return setup
    return {**setup, "config": upgraded(setup["config"])}


@contextmanager
def _reading(folder: Path, name: str) -> Iterator[Path]:
    """Give the path of a file, packed or not, and say what is wrong with it."""
    path = packed(folder / name)
    try:
        yield path
    except FileNotFoundError as error:
        raise ModelError(f"{folder} is not a model directory: {path} is missing") from error
    except (OSError, SchemaError) as error:
        raise ModelError(f"{path} is damaged: {error}") from error


def load(folder: str | Path, device: torch.device) -> Saved:
    """Load a model for parsing: the best one of a training, or from RUN/last what it came to.

    That the weights fit the sizes in the config is known before anything of these sizes is made.
    """
    folder = Path(folder)
    config, vocabularies, task = load_setup(folder)
    ended = training_of(folder) != folder
    path = folder / (STATE if ended else WEIGHTS)
    try:
        if ended:
            weights, score = _end(training_of(folder))
            header = {name: _stored(weight) for name, weight in weights.items()}
            _check_outline(path, vocabularies, task, header)
            model = TransducerModel(config.model, vocabularies, task.trees)
        else:
            _check_outline(path, vocabularies, task, read_header(path))
            model = TransducerModel(config.model, vocabularies, task.trees)
            weights = read_weights(path, model.state_dict())
            score = read_score(folder)
        model.load_state_dict(weights)
    except FileNotFoundError as error:
        raise ModelError(f"{folder} has no weights yet") from error
    except (SafetensorError, RuntimeError, OSError) as error:
        raise ModelError(f"{path} does not fit the model: {first_line(error)}") from error
    return Saved(config, vocabularies, task, model.to(device).eval(), score)


def _stored(weight: Tensor) -> Stored:
    names = {
        torch.float32: "F32",
        torch.float64: "F64",
        torch.float16: "F16",
        torch.bfloat16: "BF16",
    }
    return Stored(names.get(weight.dtype, str(weight.dtype)), tuple(weight.shape))


def _check_outline(
    path: Path, vocabularies: Vocabularies, task: Task, stored: Mapping[str, Stored]
) -> None:
    """Compare what is stored with the model's sizes, of which nothing is allocated.

    The contextual encoder is left out: it comes from elsewhere, and is compared once it is there.
    """
    settings = replace(task.config.model, contextual="")
    with outlined():
        outline = TransducerModel(settings, vocabularies, task.trees).state_dict()
    number = sum(weight.numel() for weight in outline.values())
    if number > MOST_WEIGHTS:
        raise ModelError(
            f"{path.with_name(CONFIG)} is damaged: model has sizes for {number:,} weights, "
            f"and {MOST_WEIGHTS:,} is the most"
        )
    if task.config.model.contextual:
        outline = {name: weight for name, weight in outline.items() if name not in _WIDENED}
        stored = {n: s for n, s in stored.items() if n.removesuffix(":scale") in outline}
    problem = misfit(stored, outline)
    if problem:
        raise ModelError(f"{path} does not fit the model: {problem}")


def _end(folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the weights with which a training ended, or was stopped, and what is known of them."""
    last = load_last(folder)
    minutes = round(last["state"]["seconds"] / 60, 2)
    known = {"dev_f1": None, "epoch": last["state"]["epoch"], "minutes": minutes}
    return last["weights"] | last["moving_average"], read_score(folder) | known


def read_score(folder: Path) -> dict[str, Any]:
    """Return the recorded score, or nothing."""
    if not (folder / SCORE).exists():
        return {}
    with _reading(folder, SCORE) as path:
        values: dict[str, Any] = read_json(path, MEGABYTE)
        checked(Score, values)
    return values


def packed(path: Path) -> Path:
    """Return the path of a file that may be there gzipped, with ``.gz`` at the end of its name."""
    gzipped = path.with_name(path.name + ".gz")
    return gzipped if gzipped.exists() and not path.exists() else path


def read_packed(path: Path) -> str:
    """Read a text file of a model directory that may be gzipped."""
    with _reading(path.parent, path.name) as found:
        return read_text(found, 32 * MEGABYTE)
