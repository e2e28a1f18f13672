"""Training runs as the command line makes them: files, progress on the terminal, curves."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from graphconv.cliutil import note
from transducer import sample
from transducer.config import Config, from_dict, override
from transducer.errors import ConfigError, LostProcessError, ModelError, TrainingError
from transducer.extras import require_training
from transducer.schema import MEGABYTE, Name, SchemaError, checked, read_json
from transducer.storage import checkpoint
from transducer.storage.cache import cache_folder
from transducer.text.annotation import require_harmless
from transducer.training.curves import draw_curves
from transducer.training.distributed import launched
from transducer.training.trainer import Epoch, Progress, Trainer

RUN = "run.json"
"""What a training needs to go on: config, files, seed."""

AVERAGED = "averaged"
"""Under this name a mean of models (:mod:`.average`) keeps what RUN says of each."""


_KINDS: dict[str, Any] = {
    "config": Config,
    "train": tuple[Name, ...],
    "dev": tuple[Name, ...],
    "folder": Name,
    "seed": int,
    "device": Name,
    "resumed": tuple[tuple[Name, ...], ...],
    AVERAGED: tuple[dict[str, Any], ...],
}
"""What the entries of RUN are."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a training needs beside its state."""

    config: Config
    """As the training began."""
    train: tuple[str, ...]
    dev: tuple[str, ...]
    folder: Path
    seed: int = 1
    device: str = "auto"
    resumed: tuple[tuple[str, ...], ...] = ()
    """The settings that were changed each time that it was resumed."""

    @property
    def current(self) -> Config:
        """The config with all that was changed since."""
        return override(self.config, [setting for settings in self.resumed for setting in settings])


def new_run(
    config: Config,
    train_files: Sequence[str],
    dev_files: Sequence[str],
    folder: Path,
    **options: Any,
) -> Run:
    """Describe a new training; without files it is on the sample corpus."""
    require_training()
    if not train_files:
        if config.task not in sample.FRAMEWORKS:
            raise ConfigError(f"the sample corpus has no {config.task}; add --train")
        train_files = [str(sample.path(config.task, "train"))]
        dev_files = dev_files or [str(sample.path(config.task, "dev"))]
    tell_replaced(folder)
    return Run(config, tuple(train_files), tuple(dev_files), folder, **options)


def tell_replaced(folder: Path) -> None:
    """Tell the user of a model that will be replaced."""
    replaced = (folder / checkpoint.WEIGHTS).exists() or (folder / RUN).exists()
    if replaced and launched().main:
        note(f"{folder} holds an earlier model, which is replaced")


def read_record(folder: Path) -> dict[str, Any]:
    """Read the description of a training."""
    path = folder / RUN
    try:
        record: dict[str, Any] = checked(dict[str, Any], read_json(path, 16 * MEGABYTE))
        for key in record.keys() & _KINDS.keys():
            checked(_KINDS[key], record[key], key)
    except OSError as error:
        raise ModelError(f"{folder} is not a training run: {error}") from error
    except SchemaError as error:
        raise ModelError(f"{path} is damaged: {error}") from error
    return record


def load_run(folder: Path, settings: Sequence[str] = ()) -> Run:
    """Read the description of an unfinished training."""
    values = read_record(folder)
    if AVERAGED in values:
        raise ModelError(f"{folder} is the mean of some models: there is nothing to resume")
    for setting in settings:
        if not setting.startswith("train."):
            raise ConfigError(f"--set {setting}: only train.* can change when a run is resumed")
    for name in ("config", "train", "dev"):
        if name not in values:
            raise ModelError(f"{folder / RUN} is damaged: {name} is missing")
    changed = [tuple(before) for before in values.pop("resumed", [])]
    values |= {
        "config": from_dict(values["config"]),
        "folder": folder,
        "resumed": (*changed, *([tuple(settings)] if settings else [])),
        **{name: tuple(values[name]) for name in ("train", "dev")},
    }
    known = {field.name for field in fields(Run)}
    run = Run(**{name: value for name, value in values.items() if name in known})
    if not any(setting.startswith("train.annotator=") for setting in settings):
        place = f"{folder / RUN}: train.annotator"
        require_harmless(run.current.train.annotator, place, "--set train.annotator=NAME")
    return run


def train(run: Run, *, resume: bool = False, brief: bool = False) -> float:
    """Train, telling the user how it goes; return the best dev score.

    If *brief*, there is nothing but the line on the terminal that moves.
    """
    terminal = sys.stderr.isatty() and launched().main
    trainer = Trainer(
        run.current,
        run.train,
        run.dev,
        run.folder,
        seed=run.seed,
        device=run.device,
        resume=resume,
        cache=cache_folder("vectors"),
        on_progress=_Bar(run.config.task) if terminal else _quiet,
        on_epoch=_quiet if brief else _tell_epoch,
        on_note=_quiet if brief else note,
    )
    if trainer.main:
        record = asdict(run)
        record |= {
            name: [str(Path(f).resolve()) for f in record[name]] for name in ("train", "dev")
        }
        record["folder"] = str(run.folder)
        checkpoint.write_text(run.folder / RUN, json.dumps(record, indent=1))
    try:
        state = trainer.fit()
    except KeyboardInterrupt:
        raise TrainingError(
            f"stopped; transducer train --resume {run.folder} goes on from here"
        ) from None
    except LostProcessError as error:
        raise LostProcessError(
            f"{error}; transducer train --resume {run.folder} goes on from the last checkpoint"
        ) from error
    if trainer.main:
        draw_curves(run.folder / "log.csv", run.folder / "curves.png")
        reached = (
            f"dev F1 {state.best:.2f} in epoch {state.best_epoch}" if run.dev else "no dev section"
        )
        if not brief:
            note(f"{run.folder}: {reached}, {state.seconds / 60:.1f} minutes of training")
    return state.best


class _Bar:
    """One line on the terminal that shows rates, losses and the time to the end of the epoch."""

    def __init__(self, task: str) -> None:
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[text]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.name = task
        self.task = self.bar.add_task(task, total=None, text="")
        self.bar.start()

    def __call__(self, progress: Progress) -> None:
        loss = progress.losses.get("total", 0.0)
        self.bar.update(
            self.task,
            description=f"{self.name}, epoch {progress.epoch}/{progress.epochs}",
            total=progress.updates,
            completed=progress.update,
            text=f"loss {loss:.3f}, {progress.tokens_per_second:,.0f} tokens/s",
        )

    def __del__(self) -> None:
        self.bar.stop()


def _quiet(_: Progress | Epoch | str) -> None:
    """Say nothing."""


def _tell_epoch(epoch: Epoch) -> None:
    score = "" if epoch.dev_score != epoch.dev_score else f", dev F1 {epoch.dev_score:.2f}"
    note(
        f"epoch {epoch.epoch}: loss {epoch.loss:.3f} "
        f"(node {epoch.node:.3f}, source {epoch.source:.3f}, relation {epoch.relation:.3f}), "
        f"{epoch.tokens_per_second:,.0f} tokens/s, "
        f"{epoch.minutes:.1f} min{score}"
    )
