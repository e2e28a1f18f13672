"""Models on the hub of Hugging Face: fetched, saved with a card in its format, pushed.

Only the files of a model are fetched (:data:`FILES`), and nothing of them is run.

>>> front_matter("dm", None).splitlines()[:4]
['---', 'library_name: "arbora"', 'language: "en"', 'tags: ["semantic-parsing", "dm"]']
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from transducer.config import TASKS
from transducer.errors import ModelError
from transducer.storage.cards import CARD, PAGE, Card, headline_name, page, read_card
from transducer.storage.checkpoint import WEIGHTS
from transducer.storage.compact import encoder_digest
from transducer.storage.shared_encoder import ENCODER, find_encoder
from transducer.storage.shipped import find_model

FILES = (
    *("config.json", "model.safetensors", ENCODER, "score.json", CARD, PAGE),
    *("vocabularies.json", "vocabularies.json.gz", "tables.json", "tables.json.gz"),
)
"""The files that a model can have."""

_ID = re.compile(r"[\w.-]+/[\w.-]+")
_LICENCES = {"cc by-sa": "cc-by-sa", "cc by": "cc-by", "mit": "mit", "apache": "apache"}
_FRONT = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)


def find_pretrained(
    name: str | Path,
    *,
    revision: str | None = None,
    cache_dir: str | Path | None = None,
    local_files_only: bool = False,
) -> Path:
    """Return the folder of a model: a task that ships, a folder, or the name of one on the hub."""
    if str(name) in TASKS:
        return find_model(str(name))
    if Path(name).is_dir():
        return Path(name)
    if not _ID.fullmatch(str(name)):
        raise ModelError(f"{name} is no folder, no task, and no name on the hub (OWNER/NAME)")
    with _told(f"{name} cannot be fetched from the hub"):
        from huggingface_hub import snapshot_download  # noqa: PLC0415 - slow, and seldom needed

        folder = snapshot_download(
            str(name),
            revision=revision,
            cache_dir=cache_dir,
            local_files_only=local_files_only,
            allow_patterns=list(FILES),
        )
    if not (Path(folder) / "config.json").is_file():
        raise ModelError(f"{name} on the hub is no model of this package: it has no config.json")
    return Path(folder)


def save_pretrained(source: Path, folder: Path, task: str) -> None:
    """Copy a model, with its card as README in the hub's format."""
    folder.mkdir(parents=True, exist_ok=True)
    if folder.resolve() == source.resolve():
        raise ModelError(f"{folder} is where the model came from: name another folder")
    for name in FILES:
        if (source / name).is_file() and name != PAGE:
            shutil.copyfile(source / name, folder / name)
    digest = encoder_digest(source / WEIGHTS)
    if digest:  # a model that travels alone takes the encoder with it
        shutil.copyfile(find_encoder(source, digest), folder / ENCODER)
    (folder / PAGE).write_text(readme(source, task), encoding="utf-8")


def push(source: Path, task: str, repo_id: str, **options: Any) -> str:
    """Push a model to the hub, and return the address of the commit."""
    import tempfile  # noqa: PLC0415 - seldom needed

    with tempfile.TemporaryDirectory() as scratch, _told(f"{repo_id} cannot be pushed"):
        from huggingface_hub import HfApi  # noqa: PLC0415 - slow, and seldom needed

        folder = Path(scratch) / "model"
        save_pretrained(source, folder, task)
        api = HfApi(token=options.pop("token", None))
        api.create_repo(repo_id, exist_ok=True, private=options.pop("private", None))
        message = options.pop("commit_message", f"An Arbora model for {task.upper()}")
        return str(
            api.upload_folder(
                repo_id=repo_id, folder_path=folder, commit_message=message, **options
            )
        )


def readme(source: Path, task: str) -> str:
    """Return the card of a model as the hub wants it: what programs read, then what people read."""
    card = read_card(source) if (source / CARD).is_file() else None
    if card is not None:
        text = page(card)
    elif (source / PAGE).is_file():
        text = _FRONT.sub("", (source / PAGE).read_text(encoding="utf-8"))
    else:
        text = f"# An Arbora model for {task.upper()}\n"
    return f"{front_matter(task, card)}\n{text}"


def front_matter(task: str, card: Card | None) -> str:
    """Return the metadata of a card; JSON's values are YAML, too."""
    values: dict[str, Any] = {
        "library_name": "arbora",
        "language": "en",
        "tags": ["semantic-parsing", task],
    }
    if card is not None:
        values["license"] = _licence(card.about.weights_licence)
        values["model-index"] = [{"name": card.about.title, "results": list(_results(card))}]
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "\n".join(["---", *lines, "---", ""])


def _licence(text: str) -> str:
    """Return a licence as the hub calls it; ``other`` if it has no name for it.

    >>> _licence("CC BY-SA 3.0"), _licence("MIT"), _licence("ask us")
    ('cc-by-sa-3.0', 'mit', 'other')
    """
    number = re.search(r"\d\.\d", text)
    for start, name in _LICENCES.items():
        if text.lower().startswith(start):
            return f"{name}-{number[0]}" if number else name
    return "other"


def _results(card: Card) -> Iterator[dict[str, Any]]:
    for score in card.scores:
        yield {
            "task": {"type": "semantic-parsing", "name": card.task},
            "dataset": {"type": score.gold, "name": score.gold},
            "metrics": [
                {
                    "type": "f1",
                    "name": f"{headline_name(card.task)}, beam {score.beam}",
                    "value": score.f1,
                }
            ],
        }


@contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except ModelError:
        raise
    # The client lets through the errors of the HTTP library below it, which is not always the same.
    except Exception as error:
        reason = (str(error) or type(error).__name__).strip().splitlines()[0]
        raise ModelError(f"{what}: {reason}") from error
