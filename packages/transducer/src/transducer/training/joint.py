"""Train models of several frameworks together, so that they have one contextual encoder.

Each training is what it is alone: a model directory, data, a recipe, an optimizer. Two things are
shared: the fine-tuned layers of the contextual encoder, which are the same tensors in all models,
and the clock: the trainings take turns, an update each. A model whose encoder has fewer layers
reads the first ones. The encoders that the models start from (``train.start_from``) become their
mean, in which one can count more than another.

A plan says what is trained, a table for each task:

    updates = 1000                 # of each
    [dm]
    recipe = "large"
    train = ["train.sdp"]
    dev = ["dev.sdp"]
    weight = 2
    set = {"train.start_from" = "runs/dm"}
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from graphconv.io.files import chunks, lock, os_errors, shown
from transducer.cache import cache_folder
from transducer.config import TASKS, Config, load_recipe, override
from transducer.distributed import lost_processes
from transducer.encoders.low_rank import DOWN, UP
from transducer.errors import ConfigError, TrainingError
from transducer.extras import require_training
from transducer.model.network import TransducerModel
from transducer.schema import Name, Range, SchemaError, checked
from transducer.storage import folders
from transducer.storage.compact import PRETRAINED
from transducer.training.average import mean_weights
from transducer.training.curves import draw_curves
from transducer.training.runs import Run, load_run, new_run, write_record
from transducer.training.setup import set_up
from transducer.training.signals import interruptible
from transducer.training.state import Epoch
from transducer.training.trainer import Trainer

if TYPE_CHECKING:
    from torch import Tensor, nn

BETWEEN_CHECKPOINTS = 100
"""Turns after which all models are saved, at the same moment."""
_NEVER = 1_000_000
"""Trainings that take turns end by updates, and are evaluated when all have ended."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a plan says of one framework."""

    recipe: Name
    train: tuple[Name, ...]
    dev: tuple[Name, ...] = ()
    set: dict[Name, Any] = field(default_factory=dict)
    seed: int = 1
    weight: Annotated[int, Range(1, 100)] = 1
    """How much the encoder that it starts from counts in the mean."""


class Plan(NamedTuple):
    """The trainings of a plan, and the weight of each one's encoder."""

    runs: list[Run]
    weights: list[int]


def read_plan(source: str, folder: Path, device: str) -> Plan:
    """Read the trainings of a plan, a file or ``-``; each gets a folder of its own in *folder*."""
    path = shown(source)
    try:
        tables = tomllib.loads(b"".join(chunks(source)).decode("utf-8"))
        updates = checked(Annotated[int, Range(1, 10**9)], tables.pop("updates", 0), "updates")
        parts = {name: checked(Part, table, name) for name, table in tables.items()}
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, SchemaError) as error:
        raise ConfigError(f"{path}: {error}") from error
    unknown = next((name for name in parts if name not in TASKS), None)
    if unknown or len(parts) < 2:
        problem = f"there is no task {unknown!r}" if unknown else "it needs two tasks or more"
        raise ConfigError(f"{path}: {problem}")
    ordered = sorted(parts.items())
    runs = [
        new_run(
            _config(task, part, updates),
            part.train,
            part.dev,
            folder / task,
            seed=part.seed,
            device=device,
        )
        for task, part in ordered
    ]
    return Plan(runs, [part.weight for _, part in ordered])


def _config(task: str, part: Part, updates: int) -> Config:
    settings = [f"{key}={_toml(value)}" for key, value in part.set.items()]
    settings += [f"train.{key}={_NEVER}" for key in ("epochs", "evaluate_from")]
    return override(
        load_recipe(part.recipe, task=task),
        [*settings, f"train.updates={updates}", "train.minutes=0"],
    )


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def load_runs(folder: Path) -> list[Run]:
    """Return the trainings in *folder* that take turns, to resume them."""
    found = sorted(place for place in folder.iterdir() if (place / folders.RUN).is_file())
    if len(found) < 2:
        raise TrainingError(f"{folder} has no trainings that were begun together")
    return [load_run(place) for place in found]


def train_together(
    runs: Sequence[Run],
    weights: Sequence[int] = (),
    *,
    resume: bool = False,
    overwrite: bool = False,
    on_epoch: Callable[[str, Epoch], None] = lambda *_: None,
    on_note: Callable[[str], None] = lambda _: None,
) -> dict[str, float]:
    """Train all models to their end, and return their dev scores by task.

    *weights* say how much the encoder of each counts in the mean that they start from.
    """
    require_training()
    with ExitStack() as stack:
        for run in runs:
            with os_errors(str(run.folder)):
                run.folder.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(lock(str(run.folder)))
            if not resume:
                folders.refuse_taken(run.folder, overwrite=overwrite)
        setups = [
            set_up(
                run.current,
                run.train,
                run.dev,
                run.folder,
                seed=run.seed,
                device=run.device,
                resume=resume,
                cache=cache_folder("vectors"),
                on_note=on_note,
            )
            for run in runs
        ]
        share_encoder([setup.model for setup in setups], weights)
        trainers = [
            Trainer(
                setup,
                run.folder,
                seed=run.seed,
                on_epoch=functools.partial(on_epoch, run.config.task),
            )
            for setup, run in zip(setups, runs, strict=True)
        ]
        for trainer, run in zip(trainers, runs, strict=True):
            if trainer.main:
                write_record(run, trainer.data.hashes)
        share_average(trainers)
        try:
            _take_turns(trainers)
        except KeyboardInterrupt:
            place = runs[0].folder.parent
            raise TrainingError(
                f"stopped; transducer joint --resume {place} continues from here"
            ) from None
        scores = {trainer.config.task: trainer.state.best for trainer in trainers}
        for run, trainer in zip(runs, trainers, strict=True):
            if trainer.main:
                draw_curves(run.folder / folders.LOG, run.folder / folders.CURVES)
                spent = f"{trainer.state.seconds / 60:.1f} minutes of training"
                on_note(f"{run.folder}: dev F1 {trainer.state.best:.2f}, {spent}")
        return scores


def _take_turns(trainers: Sequence[Trainer]) -> None:
    """Update one model after the other; save all together, and evaluate them at the end."""
    group = trainers[0].group
    with lost_processes(group), interruptible(patient=group.size > 1) as received:
        turns = zip(*(one.steps(received, alone=False) for one in trainers), strict=True)
        for turn, interrupted in enumerate(turns, start=1):
            if any(interrupted) or turn % BETWEEN_CHECKPOINTS == 0:
                for trainer in trainers:
                    trainer.save_last()
            if any(interrupted):
                raise KeyboardInterrupt
        for trainer in trainers:
            trainer.end_epoch()


def share_encoder(models: Sequence[TransducerModel], weights: Sequence[int] = ()) -> None:
    """Make the models' encoders one: their mean, of whose layers each model reads the first."""
    encoders = [_tuned(model) for model in models]
    own = [
        {name: weight for name, weight in encoder.named_parameters() if weight.requires_grad}
        for encoder in encoders
    ]
    shared = max(own, key=len)
    if any(not tensors.keys() <= shared.keys() for tensors in own):
        raise TrainingError("trainings that take turns fine-tune the same contextual encoder")
    _load_means(shared, own, weights or [1] * len(own))
    for encoder, tensors in zip(encoders, own, strict=True):
        for name in tensors:
            holder, _, attribute = name.rpartition(".")
            setattr(encoder.get_submodule(holder), attribute, shared[name])


def _load_means(
    shared: Mapping[str, nn.Parameter], own: Sequence[Mapping[str, Tensor]], weights: Sequence[int]
) -> None:
    """Put into the shared weights the mean of the models that have learned them."""
    owners: dict[tuple[int, ...], list[str]] = {}
    for name in shared:
        having = tuple(i for i, tensors in enumerate(own) if _is_learned(name, tensors))
        owners.setdefault(having, []).append(name)
    for having, names in owners.items():
        for name in names:
            if any(own[i][name].shape != shared[name].shape for i in having):
                raise TrainingError(f"the models to be trained together differ in {name}")
        counted = [i for i in having for _ in range(weights[i])]
        if counted:
            means = mean_weights([{name: own[i][name].detach() for name in names} for i in counted])
            for name, mean in means.items():
                shared[name].data.copy_(mean)


def _is_learned(name: str, tensors: Mapping[str, Tensor]) -> bool:
    """Say whether a model has a weight, and not as a difference that is still zero."""
    if name not in tensors:
        return False
    up = name.removesuffix(DOWN) + UP if name.endswith(DOWN) else name
    return not up.endswith(UP) or bool(tensors[up].any())


def _tuned(model: TransducerModel) -> nn.Module:
    contextual = model.encoder_embedding.contextual
    if contextual is None or contextual.model is None:
        raise TrainingError("trainings that take turns fine-tune a contextual encoder")
    encoder: nn.Module = contextual.model
    return encoder


def share_average(trainers: Sequence[Trainer]) -> None:
    """Make the moving averages of the shared encoder one, too."""
    averages = [trainer.moving_average.weights for trainer in trainers]
    deepest = max(averages, key=lambda weights: sum(map(_is_shared, weights)))
    for weights in averages:
        weights |= {name: deepest[name] for name in weights if _is_shared(name)}


def _is_shared(name: str) -> bool:
    return name.startswith(PRETRAINED)
