"""Train a model: setup -> fit -> evaluate.

Every random choice depends on the seed, the epoch and the saved random state alone, so that a
resumed run continues exactly as the uninterrupted one. One process or many (Accelerate) make the
same updates: an update is a fixed group of sentences, split among the processes, and its loss is
the sum over all of them divided by the number of their steps. What decides how a run goes on (the
losses, an interruption, the time spent) is added up over the processes, so that they always agree.
"""

from __future__ import annotations

import json
import math
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

import graphconv
from graphconv.graph import Graph
from graphconv.io.files import sha256
from transducer.config import TASKS, Config
from transducer.data.batches import Batch, batches
from transducer.data.examples import Item, build_vocabularies, numericalize
from transducer.data.hiding import hide_subwords, hide_tags, hide_words
from transducer.data.vocabularies import Vocabularies
from transducer.distributed import Group, launched, lost_processes
from transducer.encoders.contextual import mask_number
from transducer.encoders.features import FrozenFeatures, RememberedFeatures
from transducer.encoders.places import pinned
from transducer.encoders.vectors import load_vectors
from transducer.errors import TrainingError
from transducer.extras import require_training
from transducer.frameworks.tasks import Document, make_task, training_graphs
from transducer.model.inputs import make_batch, make_features
from transducer.model.losses import Losses, LossWeights
from transducer.model.network import TransducerModel
from transducer.parsing.evaluation import headline
from transducer.parsing.inputs import gold_documents
from transducer.parsing.parser import Transducer, pick_device
from transducer.storage import checkpoint, folders
from transducer.storage.compact import CONTEXTUAL, MIX
from transducer.storage.shipped import find_model
from transducer.storage.writing import write_text
from transducer.text.annotation import load_annotator
from transducer.training.needs import needs

Weights = dict[str, Tensor]

_SECONDS_BETWEEN_LINES = 30
"""About as often a log is told how far the frozen vectors are."""


class Progress(NamedTuple):
    """What the outside is told of a running training."""

    epoch: int
    epochs: int
    update: int
    updates: int
    tokens_per_second: float
    losses: dict[str, float]


class Epoch(NamedTuple):
    """One line of the log."""

    epoch: int
    updates: int
    minutes: float
    learning_rate: float
    loss: float
    node: float
    source: float
    relation: float
    coverage: float
    links: float
    tokens_per_second: float
    dev_score: float
    frames: float


@dataclass(slots=True)
class State:
    """Where a training stands."""

    epoch: int = 0
    update: int = 0
    """Updates done in this epoch."""
    total: int = 0
    """Updates done in all."""
    seconds: float = 0.0
    best: float = -1.0
    best_epoch: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    """Sums of the losses in this epoch."""
    log: list[list[float]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Data:
    """Everything a training reads."""

    items: list[Item]
    dev: list[Document]
    gold: list[Graph]
    hashes: dict[str, str]


class Trainer:
    """A training run in a model directory."""

    def __init__(
        self,
        config: Config,
        train: Sequence[str],
        dev: Sequence[str],
        folder: Path,
        *,
        seed: int = 1,
        device: str = "auto",
        resume: bool = False,
        cache: Path | None = None,
        on_progress: Callable[[Progress], None] = lambda _: None,
        on_epoch: Callable[[Epoch], None] = lambda _: None,
        on_note: Callable[[str], None] = lambda _: None,
    ) -> None:
        require_training()
        torch.manual_seed(seed)
        chosen = pick_device(device)
        self.seed = seed
        self.folder = folder
        self.on_progress, self.on_epoch, self.on_note = on_progress, on_epoch, on_note
        self.accelerator = _accelerator(config, chosen)
        self.group = Group(self.accelerator.process_index, self.accelerator.num_processes)
        self.main = self.group.main
        saved = checkpoint.load_last(folder) if resume else None
        if saved is not None:
            self.config, self.vocabularies, self.task = checkpoint.load_setup(folder)
            self.config = replace(self.config, train=config.train)
            graphs = self._graphs(train)
        else:
            self.config = pinned(config)
            graphs = self._graphs(train)
            self.task = make_task(self.config, graphs)
            self.vocabularies = self._build_vocabularies(graphs)
        self.data = self._data(graphs, train, dev)
        self._tell_what_there_is()
        self.model = TransducerModel(self.config.model, self.vocabularies)
        if saved is None and self.config.model.word_vectors:
            vectors = Path(self.config.model.word_vectors)
            told = load_vectors(self.model, self.vocabularies, vectors)
            if self.main:
                self.on_note(told)
        if saved is None and self.config.train.contextual_from:
            self._continue_contextual(self.config.train.contextual_from)
        if saved is None and self.config.train.start_from:
            self._continue_model(self.config.train.start_from)
        if self.main and saved is None:
            folders.clear(folder)
            checkpoint.save_setup(folder, self.task, self.vocabularies)
        self.features = self._make_features(cache)
        self._warm_features()
        self.optimizer = torch.optim.Adam(
            self._groups(), lr=self.config.train.learning_rate, fused=True
        )
        self.state = State()
        self.average: dict[str, Tensor] = {}
        if saved is not None:
            self._restore(saved)
        self.wrapped, self.optimizer = self.accelerator.prepare(self.model, self.optimizer)
        self._scale = saved.get("scaler") if saved is not None else None
        self.restore_scaler()
        if self.config.train.average:
            kept = self.average or self._learned()
            device = self.accelerator.device
            self.average = {k: v.detach().clone().to(device) for k, v in kept.items()}
        self._seed(saved)

    # Setup ---------------------------------------------------------------------------------------

    def _graphs(self, files: Sequence[str]) -> list[Graph]:
        framework = self.config.task
        annotator = load_annotator(self.config.train.annotator)
        graphs = (g for file in files for g in graphconv.read(file, framework=framework))
        prepared = training_graphs(self.config, graphs, annotator)
        if not prepared:
            raise TrainingError(f"there is no sentence to train on in {', '.join(files)}")
        for graph in prepared:
            if graph.framework != framework:
                raise TrainingError(
                    f"graph {graph.id} is {graph.framework}, and the task is {framework}"
                )
        return prepared

    def _build_vocabularies(self, graphs: Sequence[Graph]) -> Vocabularies:
        m, start = self.config.model, self.config.train.start_from
        examples = list(self.task.examples(graphs))
        own = build_vocabularies(examples, words=m.word_vocabulary, nodes=m.node_vocabulary)
        return checkpoint.load_setup(Path(start))[1] | own if start else own

    def _data(self, graphs: Sequence[Graph], train: Sequence[str], dev: Sequence[str]) -> Data:
        items = [numericalize(example, self.vocabularies) for example in self.task.examples(graphs)]
        gold = [g for file in dev for g in graphconv.read(file, framework=self.config.task)]
        annotator = load_annotator(self.config.train.annotator)
        documents = list(gold_documents(self.task, gold, annotator))
        return Data(items, documents, gold, file_hashes((*train, *dev)))

    def _make_features(self, cache: Path | None) -> FrozenFeatures | RememberedFeatures | None:
        contextual = self.model.encoder_embedding.contextual
        fixed = self.config.model.contextual_tuned and self.config.train.contextual_rate == 0
        if contextual is not None and fixed:
            return RememberedFeatures(contextual, self.config.model.contextual)
        return make_features(self.config, cache, self.accelerator.device)

    def _warm_features(self) -> None:
        """Compute all frozen vectors once, before the first epoch."""
        if not isinstance(self.features, FrozenFeatures):
            return
        sentences = (s for document in self.data.dev for s in document.sentences)
        forms = [item.forms for item in self.data.items]
        forms += [tuple(t.form for t in s.example.tokens) for s in sentences]
        started = told = time.perf_counter()

        def tell(done: int, total: int) -> None:
            """Tell now and then how far it is."""
            nonlocal told
            now = time.perf_counter()
            if now - told >= _SECONDS_BETWEEN_LINES or (done == total and told > started):
                told, rate = now, done / (now - started)
                self.on_note(
                    f"frozen vectors: {done:,} of {total:,} sentences, {rate:,.0f} sentences/s, "
                    f"{(total - done) / rate / 60:.1f} min left"
                )

        self.features.warm(forms, self.group, tell if self.main else lambda *_: None)

    def _tell_what_there_is(self) -> None:
        """Tell what was read, and what of the recipe's other needs is there."""
        if not self.main:
            return
        tokens = sum(len(item.forms) for item in self.data.items)
        self.on_note(
            f"{self.config.task}: {len(self.data.items):,} sentences ({tokens:,} tokens) to learn "
            f"from, {len(self.data.gold):,} dev graphs"
        )
        annotator = load_annotator(self.config.train.annotator)
        for line in needs(self.config, self.vocabularies, annotator):
            self.on_note(line)

    def _continue_contextual(self, folder: str) -> None:
        """Start from the contextual encoder that another model has tuned."""
        path = find_model(folder) if folder in TASKS else folder
        saved = checkpoint.load(path, torch.device("cpu"))
        other = saved.model.encoder_embedding.contextual
        own = self.model.encoder_embedding.contextual
        if own is None or own.model is None or other is None or other.model is None:
            raise TrainingError(
                f"train.contextual_from: this model and {folder} must both tune their encoder"
            )
        if _encoder(saved.config) != _encoder(self.config):
            raise TrainingError(
                f"train.contextual_from: the model in {folder} tunes another encoder"
            )
        rest, encoder = _split(self.model.state_dict())
        self.model.load_state_dict(rest | _layers(_split(saved.model.state_dict())[1], encoder))

    def _continue_model(self, folder: str) -> None:
        """Start from all weights of another model, whose vocabularies this one's begin with.

        If it has another contextual encoder, all but that one's are taken. What only this one has,
        such as words, or more layers of the same encoder, is as it was made.
        """
        other = checkpoint.load(folder, torch.device("cpu"))
        rest, encoder = _split(other.model.state_dict())
        own_rest, own_encoder = _split(self.model.state_dict())
        if _encoder(other.config) == _encoder(self.config):
            own_encoder = _layers(encoder, own_encoder)
        try:
            grown = {name: _grown(name, weight, own_rest) for name, weight in rest.items()}
            self.model.load_state_dict(own_rest | grown | own_encoder)
        except RuntimeError as error:
            raise TrainingError(
                f"train.start_from: the model in {folder} has other sizes or switches"
            ) from error

    def _groups(self) -> list[dict[str, Any]]:
        contextual = self.model.encoder_embedding.contextual
        tuned = (
            []
            if contextual is None or contextual.model is None
            else contextual.model.named_parameters()
        )
        # The pooler learns nothing, but runs of earlier versions have it among their weights.
        whole = not self.config.model.contextual_rank
        slow = [w for name, w in tuned if w.requires_grad or (whole and name.startswith("pooler."))]
        chosen = {id(weight) for weight in slow}
        fast = [w for w in self.model.parameters() if w.requires_grad and id(w) not in chosen]
        settings = self.config.train
        groups: list[dict[str, Any]] = [{"params": fast, "base": settings.learning_rate}]
        if slow:
            groups.append({"params": slow, "base": settings.contextual_rate})
        return groups

    def _restore(self, saved: dict[str, Any]) -> None:
        self.model.load_state_dict(saved["weights"])
        bases = [group["base"] for group in self.optimizer.param_groups]
        self.optimizer.load_state_dict(saved["optimizer"])
        for group, base in zip(self.optimizer.param_groups, bases, strict=True):
            group["base"] = base  # --set may have changed it
        self.average = saved["average"]
        self.state = State(**saved["state"])
        for line in self.state.log:  # earlier versions wrote fewer numbers
            line.extend([math.nan] * (len(Epoch._fields) - len(line)))

    def restore_scaler(self) -> None:
        """Let fp16 go on with the scale of gradients that it had."""
        if self._scale and self.accelerator.scaler is not None:
            self.accelerator.scaler.load_state_dict(self._scale)

    def _seed(self, saved: dict[str, Any] | None) -> None:
        """Set the random state: every process has its own, saved and restored with the rest."""
        states = saved["random"] if saved is not None else []
        if len(states) == self.group.size:
            set_random_state(states[self.group.rank])
        else:
            torch.manual_seed(self.seed + self.group.rank)

    # Fit -----------------------------------------------------------------------------------------

    def fit(self) -> State:
        """Train until epochs, updates, minutes or the patience end, or until Ctrl-C."""
        patient = self.group.size > 1
        with lost_processes(self.group), _interruptible(patient=patient) as received:
            while not self._finished():
                if not self._epoch(received):
                    self._save_last()
                    raise KeyboardInterrupt
                self._end_epoch()
        return self.state

    def _finished(self) -> bool:
        state, settings = self.state, self.config.train
        waited = state.epoch - max(state.best_epoch, settings.evaluate_from - 1)
        return state.epoch >= settings.epochs or self._at_end() or waited >= settings.patience

    def _epoch(self, received: list[int]) -> bool:
        """Train one epoch, from where it stands; return False if a signal interrupted it."""
        settings, state = self.config.train, self.state
        processes = self.accelerator.num_processes
        parts = settings.accumulate * processes
        plan = list(
            batches(
                self.data.items,
                settings.batch_size * parts,
                tokens=settings.batch_tokens * parts,
                seed=self.seed * 100_003 + state.epoch,
            )
        )
        self.wrapped.train()
        started, tokens = time.perf_counter(), 0
        for group in plan[state.update :]:
            before = time.perf_counter()
            self._set_rate(len(plan))
            losses = self._update(group)
            state.update += 1
            state.total += 1
            spent, interrupted = self._added([time.perf_counter() - before, len(received)])
            state.seconds += spent / processes
            tokens += sum(len(self.data.items[i].forms) for i in group)
            for name, value in losses.items():
                state.sums[name] = state.sums.get(name, 0.0) + value
            rate = tokens / (time.perf_counter() - started)
            state.sums["rate"] = rate
            means = {k: v / state.update for k, v in state.sums.items() if k != "rate"}
            self.on_progress(
                Progress(state.epoch + 1, settings.epochs, state.update, len(plan), rate, means)
            )
            if interrupted:
                return False
            if self._at_end():
                break
        return True

    def _added(self, values: Sequence[float]) -> list[float]:
        """Return the sums of some values over the processes."""
        if self.group.size == 1:
            return list(values)
        own = torch.tensor(values, dtype=torch.float64, device=self.accelerator.device)
        added: list[float] = self.accelerator.reduce(own, "sum").tolist()
        return added

    def _update(self, group: Sequence[int]) -> dict[str, float]:
        """Make one update from the sentences of *group*, shared among the processes."""
        settings, accelerator = self.config.train, self.accelerator
        parts = settings.accumulate * accelerator.num_processes
        mine = [
            group[i::parts]
            for i in range(accelerator.process_index, parts, accelerator.num_processes)
        ]
        steps = sum(self.data.items[i].steps for i in group)
        totals: dict[str, float] = {}
        for place, part in enumerate(mine):
            with self._synchronized(last=place == len(mine) - 1):
                losses = self._loss(part)
                # Accelerate averages gradients over processes; the sum over them is wanted.
                accelerator.backward(losses.total * (accelerator.num_processes / steps))
            for name, value in losses._asdict().items():
                totals[name] = totals.get(name, 0.0) + float(value.detach()) / steps
        totals = dict(zip(totals, self._added(list(totals.values())), strict=True))
        if not math.isfinite(totals["total"]):
            raise TrainingError(
                f"the loss is {totals['total']} in epoch {self.state.epoch + 1}, "
                f"update {self.state.update + 1}: lower train.learning_rate"
            )
        accelerator.clip_grad_norm_(self.model.parameters(), settings.max_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self._update_average()
        return totals

    def _loss(self, part: Sequence[int]) -> Losses:
        settings = self.config.train
        if not part:  # fewer sentences than processes: take part in the exchange all the same
            dummy = self._batch([self.data.items[0]])
            return Losses(*(value * 0 for value in self.wrapped(dummy)))
        batch = self._batch([self.data.items[i] for i in part])
        # Accelerate sees to the precision on a GPU, once for all trainings of a process.
        on_cpu = self.accelerator.device.type == "cpu"
        with torch.autocast("cpu", enabled=on_cpu and settings.precision == "bf16"):
            losses: Losses = self.wrapped(batch, LossWeights.of(settings))
        return losses

    def _batch(self, items: Sequence[Item]) -> Batch:
        batch = make_batch(items, self.vocabularies, self.config, self.features)
        if self.config.train.word_dropout:
            batch = hide_words(batch, self._word_counts(), self.config.train.word_dropout)
        if self.config.train.feature_dropout:
            batch = hide_tags(batch, self.config.train.feature_dropout)
        if self.config.train.subword_dropout and batch.subwords is not None:
            mask = mask_number(self.config.model.contextual)
            batch = hide_subwords(batch, mask, self.config.train.subword_dropout)
        return batch.to(self.accelerator.device)

    def _word_counts(self) -> Tensor:
        if not hasattr(self, "_counts"):
            counts = Counter(int(w) for item in self.data.items for w in item.words)
            self._counts = torch.tensor(
                [float(counts.get(w, 0)) for w in range(len(self.vocabularies.words))]
            )
        return self._counts

    @contextmanager
    def _synchronized(self, *, last: bool) -> Iterator[None]:
        """Exchange gradients only after the last part of an update."""
        if last:
            yield
        else:
            with self.accelerator.no_sync(self.wrapped):
                yield

    def _set_rate(self, updates: int) -> None:
        settings, state = self.config.train, self.state
        factor = min(1.0, (state.total + 1) / settings.warmup) if settings.warmup else 1.0
        if settings.schedule == "cosine":
            every = updates * settings.epochs
            done = state.total / min(every, settings.updates or every)
            if settings.minutes:
                done = max(done, state.seconds / (60 * settings.minutes))
            factor *= 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))
        for group in self.optimizer.param_groups:
            group["lr"] = group["base"] * factor

    def _at_end(self) -> bool:
        """Return whether the updates or the minutes are over, at whatever place of an epoch."""
        settings, state = self.config.train, self.state
        return bool(
            (settings.updates and state.total >= settings.updates)
            or (settings.minutes and state.seconds >= 60 * settings.minutes)
        )

    # Averages, evaluation, files ------------------------------------------------------------

    def _trained(self) -> dict[str, Tensor]:
        return dict(self.model.state_dict())

    def _learned(self) -> dict[str, Tensor]:
        named = self.model.named_parameters()
        return {name: weight.detach() for name, weight in named if weight.requires_grad}

    def _update_average(self) -> None:
        if not self.config.train.average:
            return
        # The first updates would weigh too much: the decay grows with them.
        decay = min(self.config.train.average, (1 + self.state.total) / (10 + self.state.total))
        learned = self._learned()
        kept = [self.average[name] for name in learned]
        torch._foreach_lerp_(kept, list(learned.values()), 1 - decay)

    @contextmanager
    def _averaged(self) -> Iterator[None]:
        """Put the averaged weights into the model for a while."""
        if not self.average:
            yield
            return
        own = {k: v.clone() for k, v in self._learned().items()}
        self.model.load_state_dict(self.average, strict=False)
        try:
            yield
        finally:
            self.model.load_state_dict(own, strict=False)

    def _end_epoch(self) -> None:
        state, settings = self.state, self.config.train
        state.epoch += 1
        score = math.nan
        last = state.epoch >= settings.epochs or self._at_end()
        due = state.epoch >= settings.evaluate_from and state.epoch % settings.evaluate_every == 0
        if self.data.dev and (due or last):
            with self._averaged():
                score = self._evaluate()
        better = score > state.best if self.data.dev else True
        if better and not (self.data.dev and math.isnan(score)):
            state.best, state.best_epoch = (score, state.epoch)
            if self.main:
                with self._averaged():
                    weights = self._trained()
                    checkpoint.save_weights(self.folder / checkpoint.WEIGHTS, weights)
                self._save_score(score)
        line = self._log_line(score)
        state.log.append(list(line))
        state.update, state.sums = 0, {}
        self._save_last()
        if self.main:
            write_log(self.folder / folders.LOG, [Epoch._make(values) for values in state.log])
            self.on_epoch(line)

    def _log_line(self, score: float) -> Epoch:
        state = self.state
        means = {k: v / max(state.update, 1) for k, v in state.sums.items() if k != "rate"}
        names = ("total", "node", "source", "relation", "coverage", "links", "frames")
        rate = self.optimizer.param_groups[0]["lr"]
        spent = (state.epoch, state.total, state.seconds / 60, rate)
        *losses, frames = (means.get(name, math.nan) for name in names)
        return Epoch._make((*spent, *losses, state.sums.get("rate", 0.0), score, frames))

    def _evaluate(self) -> float:
        """Parse the dev section, each process its share, and score it."""
        self.wrapped.eval()
        parser = Transducer(self.task, self.vocabularies, self.model, {}, group=self.group)
        parser.features = self.features
        settings = replace(self.config.decode, beam=1, nbest=1, int8=False)  # weights change
        before = random_state()
        parsed = [parse.graph for parse in parser.stream(self.data.dev, settings)]
        set_random_state(before)
        return headline(self.data.gold, parsed).f1

    def _save_last(self) -> None:
        random = self.group.gather([random_state()])
        if not self.main:
            return
        state = {name: getattr(self.state, name) for name in State.__slots__}
        checkpoint.save_last(
            self.folder,
            {k: v.cpu() for k, v in self._trained().items()},
            {
                "optimizer": self.optimizer.state_dict(),
                "average": self.average,
                "state": state,
                "random": random,
                "scaler": self.accelerator.scaler and self.accelerator.scaler.state_dict(),
            },
        )

    def _save_score(self, score: float) -> None:
        record = {
            "task": self.config.task,
            "dev_f1": None if math.isnan(score) else score,
            "epoch": self.state.epoch,
            "minutes": round(self.state.seconds / 60, 2),
            "sha256": self.data.hashes,
            "sentences": len(self.data.items),
            "seed": self.seed,
        }
        write_text(self.folder / checkpoint.SCORE, json.dumps(record, indent=1))


def write_log(path: Path, epochs: Sequence[Epoch]) -> None:
    """Write the log as CSV."""
    lines = [",".join(Epoch._fields)]
    lines += [",".join(f"{value:.6g}" for value in line) for line in epochs]
    write_text(path, "\n".join(lines))


def file_hashes(paths: Sequence[str]) -> dict[str, str]:
    """Return the SHA-256 of files and folders; a pipe, which can be read but once, has none."""
    return {path: sha256(path) for path in paths if Path(path).is_file() or Path(path).is_dir()}


def _encoder(config: Config) -> tuple[str, int, int]:
    """Return which contextual encoder a model has, and how it is tuned, however deep it is."""
    m = config.model
    return m.contextual, m.contextual_rank, m.contextual_size


def _split(weights: Weights) -> tuple[Weights, Weights]:
    """Return all weights but those of the contextual encoder, and those."""
    encoder = {name: w for name, w in weights.items() if name.startswith(CONTEXTUAL)}
    return {name: w for name, w in weights.items() if name not in encoder}, encoder


def _layers(known: Weights, own: Weights) -> Weights:
    """Return the weights of a known encoder for one that may be deeper, or less deep."""
    result = own | {name: weight for name, weight in known.items() if name in own}
    if MIX in known and MIX in own:
        both = min(len(known[MIX]), len(own[MIX]))
        result[MIX] = torch.cat([known[MIX][:both], own[MIX][both:]])
    return result


_ITEMS = {
    "encoder_embedding.tables": 0,
    "encoder_embedding.chars.embedding": 0,
    "node_embedding.words": 0,
    "node_embedding.pos": 0,
    "node_embedding.chars.embedding": 0,
    "relation_embedding": 0,
    "ffn_vocab": 0,
    "ffn_way": 0,
    "bilinear.u": 1,
    "bilinear.bias": 0,
    "frames.scores": 0,
    "frames.meaning": 1,
}
"""The weights of the items of vocabularies and of ways of copying, by the beginning of their names:
rows or columns. New ones come after the known."""


def _grown(name: str, known: Tensor, own: Weights) -> Tensor:
    """Return known weights and, for items that come after the known ones, those of a new model."""
    axis = next((axis for start, axis in _ITEMS.items() if name.startswith(start)), None)
    if axis is None or name not in own:
        return known
    new = own[name].narrow(axis, known.shape[axis], own[name].shape[axis] - known.shape[axis])
    return torch.cat([known, new], dim=axis)


def _accelerator(config: Config, device: torch.device) -> Any:
    """Return an Accelerator that computes on *device*; processes of a group have one each."""
    # Imported here: parsing does without it, and is installed without it.
    from accelerate import Accelerator  # noqa: PLC0415
    from accelerate.utils import DistributedDataParallelKwargs  # noqa: PLC0415

    # Features that are remembered (train.contextual_rate = 0) leave the encoder without gradients.
    unused = config.model.contextual_tuned and config.train.contextual_rate == 0
    variable = "ACCELERATE_TORCH_DEVICE"  # the only way to tell Accelerate which GPU
    before = os.environ.get(variable)
    if device.type == "cuda" and launched().size == 1:
        os.environ[variable] = str(device)
    try:
        accelerator = Accelerator(
            cpu=device.type == "cpu",
            mixed_precision=_precision(config.train.precision, device),
            kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=unused)],
        )
    finally:
        if before is None:
            os.environ.pop(variable, None)
        else:
            os.environ[variable] = before
    if device.type == "cuda" and accelerator.device != device:
        raise TrainingError(f"this process computes on {accelerator.device} already, not {device}")
    return accelerator


def _precision(wanted: str, device: torch.device) -> str:
    """Return Accelerate's name of the numbers to compute with."""
    if device.type != "cuda":
        return "no"
    if wanted == "auto":
        # Since Ampere (8.0) bf16 is fast, since Volta (7.0) fp16 is; what is emulated is slow.
        capability = torch.cuda.get_device_capability(device)
        return "bf16" if capability >= (8, 0) else "fp16" if capability >= (7, 0) else "no"
    return "no" if wanted == "fp32" else wanted


def random_state() -> dict[str, Tensor]:
    """Return the state of the random numbers on the CPU and, where there is one, on the GPU."""
    gpu = {"cuda": torch.cuda.get_rng_state()} if torch.cuda.is_available() else {}
    return {"cpu": torch.get_rng_state(), **gpu}


def set_random_state(state: dict[str, Tensor]) -> None:
    """Go back to a state of the random numbers."""
    torch.set_rng_state(state["cpu"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])


@contextmanager
def _interruptible(*, patient: bool) -> Iterator[list[int]]:
    """Collect Ctrl-C and SIGTERM instead of dying in the middle of an update.

    A second signal ends the process at once, unless it is *patient*: launchers repeat signals.
    """
    received: list[int] = []

    def receive(number: int, _: object) -> None:
        if received and not patient:
            raise KeyboardInterrupt
        received.append(number)

    previous = {
        number: signal.signal(number, receive) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield received
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
