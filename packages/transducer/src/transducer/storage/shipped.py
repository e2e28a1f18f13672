"""The models that ship with the package, one folder per task in ``transducer/models``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from transducer.config import TASKS
from transducer.errors import ModelError
from transducer.storage.cards import Card, headline_name, model_size, read_card

FOLDER = Path(__file__).parent.parent / "models"


def shipped_tasks() -> tuple[str, ...]:
    """Return the tasks for which a model ships."""
    return tuple(task for task in TASKS if (FOLDER / task / "config.json").is_file())


def find_model(task: str) -> Path:
    """Return the folder of the model that ships for a task."""
    if task not in shipped_tasks():
        known = ", ".join(shipped_tasks()) or "none"
        raise ModelError(
            f"no model for {task} ships with this version (there is: {known}): "
            "train one and give --model"
        )
    return FOLDER / task


def shipped_cards() -> list[Card]:
    """Return the cards of the models that ship."""
    return [read_card(FOLDER / task) for task in shipped_tasks()]


def overview(cards: list[Card]) -> list[tuple[object, ...]]:
    """Return the table of shipped models, one row per dev section; the cards have the rest."""
    columns = ("task", "dev section", "F1", "metric", "MB", "date", "licence of weights")
    return [columns, *(row for card in cards for row in _rows(card))]


def _rows(card: Card) -> Iterator[tuple[object, ...]]:
    """Yield the score of each file, by the last of the beam sizes, and what is said but once."""
    last = card.scores[-1].beam if card.scores else 1
    megabytes = f"{model_size(FOLDER / card.task) / 1e6:.1f}"
    licence = card.about.weights_licence
    once: tuple[str, ...] = (headline_name(card.task), megabytes, card.date, licence)
    task = card.task
    for score in card.scores:
        if score.beam == last:
            yield task, Path(score.gold).name.partition(".")[0], f"{score.f1:.1f}", *once
            task, once = "", ("",) * len(once)
