"""From what the user said to a loaded parser, its settings and its annotator."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import click

from graphconv import cliutil

if TYPE_CHECKING:
    from transducer.config import DecodeConfig
    from transducer.parsing.parser import Transducer
    from transducer.text.annotation import Annotator


def load_parser(model: str | None, task: str | None, device: str, spotlight: str) -> Transducer:
    """Load the model that the user named, or the one that ships for a task."""
    if model is None and task is None:
        raise click.UsageError("--model DIR or --task T is missing")
    from transducer.parsing.parser import Transducer

    if model is not None:
        return Transducer.load(model, device, spotlight=spotlight)
    warn_of(str(task))
    return Transducer.shipped(str(task), device, spotlight=spotlight)


def warn_of(task: str) -> None:
    """Say so if the model that ships for a task is not to be relied on yet."""
    from transducer.storage.cards import read_card
    from transducer.storage.shipped import find_model

    why = read_card(find_model(task)).about.experimental
    if why:
        cliutil.note(f"the {task.upper()} model is experimental. {why}")


def decode_settings(parser: Transducer, options: dict[str, Any]) -> DecodeConfig:
    """Return the settings of the model, changed by the options that were given."""
    own = parser.task.config.decode
    said = {field.name: options.get(field.name) for field in fields(own)}
    return replace(own, **{name: value for name, value in said.items() if value is not None})


def annotator_of(
    parser: Transducer, model: str | None, options: dict[str, Any]
) -> Annotator | None:
    """Return the annotator that the user named, or else the one of the training."""
    from transducer.parsing import inputs

    folder = model or f"the {parser.task.name} model"
    trained = parser.task.config.train.annotator
    return inputs.annotator_of(options["annotator"] or "", trained, folder)
