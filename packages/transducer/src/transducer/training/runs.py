"""Training runs as the command line makes them: files, a record to resume from, curves."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from graphconv.io.files import lock, os_errors, sha256
from transducer import sample
from transducer.cache import cache_folder
from transducer.config import Config, from_dict, override
from transducer.distributed import launched
from transducer.errors import ConfigError, LostProcessError, ModelError, TrainingError
from transducer.extras import require_training
from transducer.storage import checkpoint, folders
from transducer.storage.record import AVERAGED, read_record
from transducer.storage.writing import write_text
from transducer.text.annotation import require_harmless
from transducer.training.curves import draw_curves
from transducer.training.state import Epoch, Progress
from transducer.training.trainer import make_trainer


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
    sha256: dict[str, str] = field(default_factory=dict)
    """The hashes of its files, once it has begun."""

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
    return Run(config, tuple(train_files), tuple(dev_files), folder, **options)


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
            raise ModelError(f"{folder / folders.RUN} is damaged: {name} is missing")
    changed = [tuple(before) for before in values.pop("resumed", [])]
    values |= {
        "config": from_dict(values["config"]),
        "folder": folder,
        "resumed": (*changed, *([tuple(settings)] if settings else [])),
        **{name: tuple(values[name]) for name in ("train", "dev")},
    }
    known = {entry.name for entry in fields(Run)}
    run = Run(**{name: value for name, value in values.items() if name in known})
    if not any(setting.startswith("train.annotator=") for setting in settings):
        place = f"{folder / folders.RUN}: train.annotator"
        require_harmless(run.current.train.annotator, place, "--set train.annotator=NAME")
    _require_same_data(run)
    return run


def _require_same_data(run: Run) -> None:
    """Refuse to go on with other data than a training began with."""
    for path, known in run.sha256.items():
        if sha256(path) != known:
            raise TrainingError(
                f"{path} has changed since the training in {run.folder} began: "
                "resume it with the same data, or start a new one"
            )


def train(
    run: Run,
    *,
    resume: bool = False,
    overwrite: bool = False,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_epoch: Callable[[Epoch], None] = lambda _: None,
    on_note: Callable[[str], None] = lambda _: None,
) -> float:
    """Train, and return the best dev score.

    A folder that is not empty is refused, unless *overwrite*; so is one in which another process
    trains. What a training leaves that fails before its first checkpoint is removed.
    """
    if not launched().main:
        return _fit(run, resume=resume, on_progress=on_progress, on_epoch=on_epoch, on_note=on_note)
    with os_errors(str(run.folder)):
        run.folder.parent.mkdir(parents=True, exist_ok=True)
    with lock(str(run.folder)):
        if not resume:
            folders.refuse_taken(run.folder, overwrite=overwrite)
        before = _written_at(run.folder / checkpoint.CONFIG)
        try:
            return _fit(
                run, resume=resume, on_progress=on_progress, on_epoch=on_epoch, on_note=on_note
            )
        except BaseException:
            earlier = before and _written_at(run.folder / checkpoint.CONFIG) == before
            if not earlier and not (run.folder / checkpoint.LAST / checkpoint.STATE).exists():
                folders.clear(run.folder)
            raise


def _written_at(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


def _fit(run: Run, *, resume: bool, on_note: Callable[[str], None], **told: Any) -> float:
    trainer = make_trainer(
        run.current,
        run.train,
        run.dev,
        run.folder,
        seed=run.seed,
        device=run.device,
        resume=resume,
        cache=cache_folder("vectors"),
        on_note=on_note,
        **told,
    )
    if trainer.main:
        write_record(run, trainer.data.hashes)
    try:
        state = trainer.fit()
    except KeyboardInterrupt:
        raise TrainingError(
            f"stopped; transducer train --resume {run.folder} continues from here"
        ) from None
    except LostProcessError as error:
        raise LostProcessError(
            f"{error}; transducer train --resume {run.folder} continues from the last checkpoint"
        ) from error
    if trainer.main:
        draw_curves(run.folder / folders.LOG, run.folder / folders.CURVES)
        reached = (
            f"dev F1 {state.best:.2f} in epoch {state.best_epoch}" if run.dev else "no dev section"
        )
        on_note(f"{run.folder}: {reached}, {state.seconds / 60:.1f} minutes of training")
    return state.best


def write_record(run: Run, hashes: Mapping[str, str]) -> None:
    """Write what resuming needs beside the state; files are named so that they are found again."""
    record = asdict(run)
    record |= {name: [_absolute(file) for file in record[name]] for name in ("train", "dev")}
    record["folder"] = str(run.folder)
    record["sha256"] = {_absolute(file): value for file, value in hashes.items()}
    write_text(run.folder / folders.RUN, json.dumps(record, indent=1))


def _absolute(file: str) -> str:
    return str(Path(file).resolve())
