"""Model cards: where a model comes from, what may be done with it, how well it parses.

A person says what only a person knows (:class:`About`, a TOML file); everything else is read from
the training run and measured on the exported model, so that a card cannot drift from its model.
``card.json`` is for programs, ``README.md`` says the same for people. Imports no torch.

>>> shortened(["/data/dm/train.sdp", "more/silver.sdp"])
{'/data/dm/train.sdp': 'train.sdp', 'more/silver.sdp': 'silver.sdp'}
>>> shortened(["/data/dm/train.sdp", "/data/dm/dev.sdp"])
{'/data/dm/train.sdp': 'train.sdp', '/data/dm/dev.sdp': 'dev.sdp'}
"""

from __future__ import annotations

import json
import os
import shlex
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evaltools.metrics import metric_of
from transducer.config import Config, load_recipe, recipes
from transducer.errors import ModelError
from transducer.schema import MEGABYTE, SchemaError, checked, read_json
from transducer.storage.writing import write_text

CARD = "card.json"
PAGE = "README.md"

_HEADLINES = {
    "smatch": "Smatch",
    "sdp": "labelled F1 with tops",
    "ucca": "labelled F1 of all edges",
    "mrp": "MRP F1",
}
"""Metric -> what :func:`transducer.parsing.evaluation.headline` is."""


def headline_name(framework: str) -> str:
    """Return what the score of a framework's graphs is called."""
    return _HEADLINES[metric_of(framework)]


@dataclass(frozen=True, slots=True)
class About:
    """What a person must say about a model."""

    title: str
    data: str
    """The training data, with version."""
    data_licence: str
    weights_licence: str
    notes: str = ""
    """Markdown: what the model is good for and what not."""
    experimental: str = ""
    """Why nobody should rely on the model yet, in one sentence, which ``parse`` repeats."""


@dataclass(frozen=True, slots=True)
class Score:
    """How well the exported model parses a treebank file."""

    gold: str
    graphs: int
    beam: int
    f1: float


@dataclass(frozen=True, slots=True)
class Training:
    """How the weights were made."""

    command: str
    files: dict[str, str]
    """Name -> SHA-256."""
    sentences: int
    seed: int
    epoch: int
    minutes: float
    dev_f1: float | None
    """Greedy, before weights were rounded; of all dev files together."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What the weights are."""

    own: int
    """Number of those that were trained from scratch."""
    tuned: int
    """Number of those that began as the encoder's."""
    bits: int
    tuned_bits: int
    encoder: str
    """The contextual encoder, with revision and SHA-256 unless we pin it; empty: none."""
    sha256: str
    size: int
    """Bytes of all files of the model."""


@dataclass(frozen=True, slots=True)
class Card:
    """A model card."""

    task: str
    date: str
    about: About
    training: Training
    weights: Weights
    scores: tuple[Score, ...]
    versions: dict[str, str]

    def to_json(self) -> str:
        """Return what :func:`read_card` reads."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False)


def read_about(path: Path) -> About:
    """Read what a person says; a missing or unknown field is an error."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: {error}") from error
    known = [f.name for f in fields(About)]
    needed = [f.name for f in fields(About) if f.default is MISSING]
    wrong = [name for name in values if name not in known]
    missing = [name for name in needed if not values.get(name)]
    if wrong or missing:
        problem = f"unknown field {wrong[0]!r}" if wrong else f"the field {missing[0]!r} is missing"
        raise ModelError(f"{path}: {problem}; the fields are {', '.join(known)}")
    return About(**{name: str(value).strip() for name, value in values.items()})


def read_card(folder: Path) -> Card:
    """Read the card of a model directory."""
    path = folder / CARD
    try:
        card: Card = checked(Card, read_json(path, MEGABYTE))
    except FileNotFoundError as error:
        raise ModelError(f"{folder} has no model card") from error
    except (OSError, SchemaError) as error:
        raise ModelError(f"{path} is damaged: {error}") from error
    return card


def write_card(folder: Path, card: Card) -> None:
    """Write a card, for programs and for people."""
    write_text(folder / CARD, card.to_json())
    write_text(folder / PAGE, page(card))


def model_size(folder: Path) -> int:
    """Return the bytes of all files of a model directory, its card aside."""
    files = (path for path in folder.rglob("*") if path.name not in (CARD, PAGE))
    return sum(path.stat().st_size for path in files if path.is_file())


def day(path: Path) -> str:
    """Return the day on which a file was written."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()


def shortened(paths: Iterable[str]) -> dict[str, str]:
    """Map paths to names that are still distinct: relative to the folder they have in common.

    Absolute paths have one folder in common, the others another.
    """
    known = list(paths)
    names: dict[str, str] = {}
    for absolute in (True, False):
        some = [path for path in known if Path(path).is_absolute() == absolute]
        if some:
            folder = os.path.commonpath([str(Path(path).parent) for path in some])
            names |= {path: Path(path).relative_to(folder).as_posix() for path in some}
    distinct = len(set(names.values())) == len(names)
    return {path: names[path] if distinct else path for path in known}


def training_command(config: Config, run: Mapping[str, Any], folder: str) -> str:
    """Return a command that repeats a training: the nearest recipe, and what differs from it.

    Where settings were changed on the way, there is one more command for each change.
    """
    wanted = dict(_flat(config.to_dict()))
    differences = {
        name: {
            key: wanted[key]
            for key, value in _flat(load_recipe(name, task=config.task).to_dict())
            if wanted[key] != value
        }
        for name in recipes()
    }
    recipe = min(differences, key=lambda name: (len(differences[name]), name))
    names = shortened([*run["train"], *run["dev"]])
    words = ["transducer", "train", "--task", config.task, "--recipe", recipe]
    words += [word for path in run["train"] for word in ("--train", names[path])]
    words += [word for path in run["dev"] for word in ("--dev", names[path])]
    words += _set(
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in differences[recipe].items()
    )
    words += ["--seed", str(run["seed"]), "-o", folder]
    later = (
        ["transducer", "train", "--resume", folder, *_set(settings)]
        for settings in run.get("resumed", ())
    )
    return "\n".join(map(shlex.join, [words, *later]))


def _set(settings: Iterable[str]) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


def page(card: Card) -> str:
    """Return the card as Markdown."""
    about, training, weights = card.about, card.training, card.weights
    encoder = f", on top of {weights.encoder}" if weights.encoder else ""
    tuned = (
        f" and {weights.tuned:,} tuned ones ({weights.tuned_bits} bits)" if weights.tuned else ""
    )
    facts = {
        "task": card.task,
        "training data": about.data,
        "licence of the data": about.data_licence,
        "licence of the weights": about.weights_licence,
        "date": card.date,
        "size": f"{weights.size / 1e6:.1f} MB",
        "weights": f"{weights.own:,} ({weights.bits} bits){tuned}{encoder}",
        "trained": f"{training.sentences:,} sentences, {training.epoch} epochs, "
        f"{training.minutes:.0f} minutes",
        "versions": ", ".join(f"{name} {number}" for name, number in card.versions.items()),
    }
    before = "" if training.dev_f1 is None else f"{training.dev_f1:.2f} before rounding the weights"
    parts = [
        f"# {about.title}",
        about.experimental and f"**Experimental.** {about.experimental}",
        _table([("", ""), *facts.items()]),
        about.notes,
        "## Scores",
        f"{headline_name(card.task)}, of the model as it is here.",
        _table(
            [("file", "graphs", "beam", "F1")]
            + [(s.gold, f"{s.graphs:,}", str(s.beam), f"{s.f1:.2f}") for s in card.scores]
        ),
        before and f"In training, greedy search on the dev files: {before}.",
        "## How it was made",
        textwrap.indent(training.command, "    "),
        _table([("file", "SHA-256"), *training.files.items()]),
        "Weights: `model.safetensors`, SHA-256 " + weights.sha256,
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def _flat(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the settings of a config as ``section.key`` and value."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from ((f"{key}.{inner}", item) for inner, item in value.items())
        else:
            yield key, value
