"""What a training starts from: its data, its vocabularies and its model, new or as it was saved."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

import graphconv
from graphconv.graph import Graph
from graphconv.io.files import sha256
from transducer.config import Config
from transducer.data.examples import Item, build_vocabularies, numericalize
from transducer.data.vocabularies import Vocabularies
from transducer.devices import pick_device
from transducer.distributed import Group
from transducer.encoders.features import Features, FrozenFeatures, RememberedFeatures
from transducer.encoders.places import pinned
from transducer.errors import TrainingError
from transducer.extras import require_training
from transducer.frameworks.tasks import Document, Task, make_task, training_graphs
from transducer.model.inputs import make_features
from transducer.model.network import TransducerModel
from transducer.parsing.inputs import gold_documents
from transducer.storage import checkpoint, folders
from transducer.text.annotation import load_annotator
from transducer.training.devices import make_accelerator
from transducer.training.needs import needs
from transducer.training.transfer import initialize

_SECONDS_BETWEEN_LINES = 30
"""About as often a log is told how far the frozen vectors are."""


@dataclass(frozen=True, slots=True)
class Data:
    """Everything a training reads."""

    items: list[Item]
    dev: list[Document]
    gold: list[Graph]
    hashes: dict[str, str]


@dataclass(frozen=True, slots=True)
class Setup:
    """A training before its first update."""

    config: Config
    task: Task
    vocabularies: Vocabularies
    data: Data
    model: TransducerModel
    features: Features | None
    accelerator: Any
    group: Group
    saved: dict[str, Any] | None
    """The last checkpoint, if the training is resumed."""


def set_up(
    config: Config,
    train: Sequence[str],
    dev: Sequence[str],
    folder: Path,
    *,
    seed: int = 1,
    device: str = "auto",
    resume: bool = False,
    cache: Path | None = None,
    on_note: Callable[[str], None] = lambda _: None,
) -> Setup:
    """Read the data, and make the model or load it from the last checkpoint in *folder*."""
    require_training()
    torch.manual_seed(seed)
    accelerator = make_accelerator(config, pick_device(device))
    group = Group(accelerator.process_index, accelerator.num_processes)
    note = on_note if group.main else _say_nothing
    saved = checkpoint.load_last(folder) if resume else None
    if saved is not None:
        known, vocabularies, task = checkpoint.load_setup(folder)
        config = replace(known, train=config.train)
        graphs = _read_graphs(config, train)
    else:
        config = pinned(config)
        graphs = _read_graphs(config, train)
        task = make_task(config, graphs)
        vocabularies = _learn_vocabularies(config, task, graphs)
    items = [numericalize(example, vocabularies) for example in task.examples(graphs)]
    data = Data(items, *_read_dev(config, task, dev), _file_hashes((*train, *dev)))
    for line in _what_there_is(config, vocabularies, data):
        note(line)
    model = TransducerModel(config.model, vocabularies, task.trees)
    if saved is None:
        initialize(model, config, vocabularies, note)
        if group.main:
            folders.clear(folder)
            checkpoint.save_setup(folder, task, vocabularies)
    features = _make_features(config, model, cache, accelerator.device)
    if isinstance(features, FrozenFeatures):
        _compute_all(features, data, group, note)
    return Setup(config, task, vocabularies, data, model, features, accelerator, group, saved)


def _say_nothing(_: str) -> None:
    """Only the main process tells what happens."""


def _read_graphs(config: Config, files: Sequence[str]) -> list[Graph]:
    annotator = load_annotator(config.train.annotator)
    graphs = (g for file in files for g in graphconv.read(file, framework=config.task))
    prepared = training_graphs(config, graphs, annotator)
    if not prepared:
        raise TrainingError(f"there is no sentence to train on in {', '.join(files)}")
    for graph in prepared:
        if graph.framework != config.task:
            raise TrainingError(
                f"graph {graph.id} is {graph.framework}, and the task is {config.task}"
            )
    return prepared


def _learn_vocabularies(config: Config, task: Task, graphs: Sequence[Graph]) -> Vocabularies:
    """Return the vocabularies of the training graphs, after those of the model to start from."""
    m, start = config.model, config.train.start_from
    examples = list(task.examples(graphs))
    own = build_vocabularies(examples, words=m.word_vocabulary, nodes=m.node_vocabulary)
    return checkpoint.load_setup(Path(start))[1] | own if start else own


def _read_dev(
    config: Config, task: Task, files: Sequence[str]
) -> tuple[list[Document], list[Graph]]:
    """Return the dev section as text to parse, and its graphs."""
    gold = [g for file in files for g in graphconv.read(file, framework=config.task)]
    annotator = load_annotator(config.train.annotator)
    return list(gold_documents(task, gold, annotator)), gold


def _file_hashes(paths: Sequence[str]) -> dict[str, str]:
    """Return the SHA-256 of files and folders; a pipe, which can be read but once, has none."""
    return {path: sha256(path) for path in paths if Path(path).is_file() or Path(path).is_dir()}


def _what_there_is(config: Config, vocabularies: Vocabularies, data: Data) -> Iterator[str]:
    """Yield lines that tell what was read, and what of the recipe's other needs is there."""
    tokens = sum(len(item.forms) for item in data.items)
    yield (
        f"{config.task}: {len(data.items):,} sentences ({tokens:,} tokens) to learn "
        f"from, {len(data.gold):,} dev graphs"
    )
    yield from needs(config, vocabularies, load_annotator(config.train.annotator))


def _make_features(
    config: Config, model: TransducerModel, cache: Path | None, device: torch.device
) -> Features | None:
    contextual = model.encoder_embedding.contextual
    fixed = config.model.contextual_tuned and config.train.contextual_rate == 0
    if contextual is not None and fixed:
        contextual.requires_grad_(False)
        return RememberedFeatures([contextual], config.model.contextual, torch.float16).of(0)
    return make_features(config, cache, device)


def _compute_all(
    features: FrozenFeatures, data: Data, group: Group, on_note: Callable[[str], None]
) -> None:
    """Compute all frozen vectors once, before the first epoch."""
    sentences = (s for document in data.dev for s in document.sentences)
    forms = [item.forms for item in data.items]
    forms += [tuple(t.form for t in s.example.tokens) for s in sentences]
    started = told = time.perf_counter()

    def tell(done: int, total: int) -> None:
        """Tell now and then how far it is."""
        nonlocal told
        now = time.perf_counter()
        if now - told >= _SECONDS_BETWEEN_LINES or (done == total and told > started):
            told, rate = now, done / (now - started)
            on_note(
                f"frozen vectors: {done:,} of {total:,} sentences, {rate:,.0f} sentences/s, "
                f"{(total - done) / rate / 60:.1f} min left"
            )

    features.warm(forms, group, tell)
