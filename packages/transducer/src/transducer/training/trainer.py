"""Train a model: set up -> fit -> evaluate.

Every random choice depends on the seed, the epoch and the saved random state alone, so that a
resumed run continues exactly as the uninterrupted one. One process or many (Accelerate) make the
same updates: an update is a fixed group of sentences, split among the processes, and its loss is
the sum over all of them divided by the number of their steps. What decides how a run goes on (the
losses, an interruption, the time spent) is added up over the processes, so that they always agree.
"""

from __future__ import annotations

import functools
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transducer.config import Config
from transducer.data.batches import Batch, batches
from transducer.data.examples import Item
from transducer.data.hiding import hide_subwords, hide_tags, hide_words
from transducer.distributed import lost_processes
from transducer.encoders.contextual import mask_number
from transducer.errors import TrainingError
from transducer.model.inputs import make_batch
from transducer.model.losses import Losses, LossWeights
from transducer.model.network import TransducerModel
from transducer.parsing.evaluation import headline
from transducer.parsing.parser import Transducer
from transducer.storage import checkpoint, folders
from transducer.storage.writing import write_text
from transducer.training.moving_average import MovingAverage
from transducer.training.schedule import is_evaluated, is_finished, is_last, is_spent, rate_factor
from transducer.training.setup import Setup, set_up
from transducer.training.signals import interruptible
from transducer.training.state import (
    Epoch,
    Progress,
    State,
    random_state,
    set_random_state,
    write_log,
)


def make_trainer(
    config: Config,
    train: Sequence[str],
    dev: Sequence[str],
    folder: Path,
    *,
    seed: int = 1,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_epoch: Callable[[Epoch], None] = lambda _: None,
    **options: Any,
) -> Trainer:
    """Set a training up in a model directory; for *options* see :func:`.setup.set_up`."""
    setup = set_up(config, train, dev, folder, seed=seed, **options)
    return Trainer(setup, folder, seed=seed, on_progress=on_progress, on_epoch=on_epoch)


class Trainer:
    """A training run in a model directory."""

    def __init__(
        self,
        setup: Setup,
        folder: Path,
        *,
        seed: int = 1,
        on_progress: Callable[[Progress], None] = lambda _: None,
        on_epoch: Callable[[Epoch], None] = lambda _: None,
    ) -> None:
        self.config, self.task, self.vocabularies = setup.config, setup.task, setup.vocabularies
        self.data, self.model, self.features = setup.data, setup.model, setup.features
        self.accelerator, self.group, self.main = setup.accelerator, setup.group, setup.group.main
        self.folder, self.seed = folder, seed
        self.on_progress, self.on_epoch = on_progress, on_epoch
        self.state = State()
        self.optimizer = torch.optim.Adam(
            _parameter_groups(self.model, self.config),
            lr=self.config.train.learning_rate,
            fused=True,
        )
        saved = setup.saved or {}
        if saved:
            self._restore(saved)
        self.wrapped, self.optimizer = self.accelerator.prepare(self.model, self.optimizer)
        self._scale = saved.get("scaler")
        self.restore_scaler()
        self.moving_average = MovingAverage(
            self.model,
            self.config.train.moving_average,
            self.accelerator.device,
            saved.get("moving_average"),
        )
        # Every process has a random state of its own, saved and restored with the rest.
        states = saved.get("random", [])
        if len(states) == self.group.size:
            set_random_state(states[self.group.rank])
        else:
            torch.manual_seed(seed + self.group.rank)

    def _restore(self, saved: dict[str, Any]) -> None:
        self.model.load_state_dict(saved["weights"])
        bases = [group["base"] for group in self.optimizer.param_groups]
        self.optimizer.load_state_dict(saved["optimizer"])
        for group, base in zip(self.optimizer.param_groups, bases, strict=True):
            group["base"] = base  # --set may have changed it
        self.state = State(**saved["state"])
        for line in self.state.log:  # earlier versions wrote fewer numbers
            line.extend([math.nan] * (len(Epoch._fields) - len(line)))

    def restore_scaler(self) -> None:
        """Let fp16 go on with the scale of gradients that it had."""
        if self._scale and self.accelerator.scaler is not None:
            self.accelerator.scaler.load_state_dict(self._scale)

    # Fit -----------------------------------------------------------------------------------------

    def fit(self) -> State:
        """Train until epochs, updates, minutes or the patience end, or until Ctrl-C."""
        patient = self.group.size > 1
        with lost_processes(self.group), interruptible(patient=patient) as received:
            for interrupted in self.steps(received):
                if interrupted:
                    self.save_last()
                    raise KeyboardInterrupt
        return self.state

    def steps(self, received: list[int], *, alone: bool = True) -> Iterator[bool]:
        """Train to the end; after each update, yield whether a signal has been *received*.

        Without *alone* the caller keeps what resuming needs, and ends all that it trains together.
        """
        while not is_finished(self.config.train, self.state):
            yield from self._epoch(received)
            if alone or not is_last(self.config.train, self.state):
                self.end_epoch(save=alone)

    def _epoch(self, received: list[int]) -> Iterator[bool]:
        """Train one epoch, from where it stands."""
        settings, state = self.config.train, self.state
        parts = settings.accumulate * self.group.size
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
            factor = rate_factor(settings, state, len(plan))
            for parameters in self.optimizer.param_groups:
                parameters["lr"] = parameters["base"] * factor
            losses = self._update(group)
            state.update += 1
            state.total += 1
            spent, interrupted = self._added([time.perf_counter() - before, len(received)])
            state.seconds += spent / self.group.size
            tokens += sum(len(self.data.items[i].forms) for i in group)
            for name, value in losses.items():
                state.sums[name] = state.sums.get(name, 0.0) + value
            rate = state.sums["rate"] = tokens / (time.perf_counter() - started)
            self.on_progress(
                Progress(
                    state.epoch + 1, settings.epochs, state.update, len(plan), rate, state.means()
                )
            )
            yield bool(interrupted)
            if is_spent(settings, state):
                break

    def _update(self, group: Sequence[int]) -> dict[str, float]:
        """Make one update from the sentences of *group*, shared among the processes."""
        accelerator, processes = self.accelerator, self.group.size
        parts = self.config.train.accumulate * processes
        mine = [group[i::parts] for i in range(self.group.rank, parts, processes)]
        steps = sum(self.data.items[i].steps for i in group)
        totals: dict[str, float] = {}
        for place, part in enumerate(mine):
            with self._synchronized(last=place == len(mine) - 1):
                losses = self._loss(part)
                # Accelerate averages gradients over processes; the sum over them is wanted.
                accelerator.backward(losses.total * (processes / steps))
            for name, value in losses._asdict().items():
                totals[name] = totals.get(name, 0.0) + float(value.detach()) / steps
        totals = dict(zip(totals, self._added(list(totals.values())), strict=True))
        if not math.isfinite(totals["total"]):
            raise TrainingError(
                f"the loss is {totals['total']} in epoch {self.state.epoch + 1}, "
                f"update {self.state.update + 1}: lower train.learning_rate"
            )
        accelerator.clip_grad_norm_(self.model.parameters(), self.config.train.max_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.moving_average.update(self.state.total)
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
        """Collate sentences, and hide what the recipe hides."""
        settings = self.config.train
        batch = make_batch(items, self.vocabularies, self.config, self.features)
        if settings.word_dropout:
            batch = hide_words(batch, self._word_counts, settings.word_dropout)
        if settings.feature_dropout:
            batch = hide_tags(batch, settings.feature_dropout)
        if settings.subword_dropout and batch.subwords is not None:
            mask = mask_number(self.config.model.contextual)
            batch = hide_subwords(batch, mask, settings.subword_dropout)
        return batch.to(self.accelerator.device)

    @functools.cached_property
    def _word_counts(self) -> Tensor:
        """How often each word of the vocabulary occurs."""
        counts = Counter(int(w) for item in self.data.items for w in item.words)
        return torch.tensor([float(counts.get(w, 0)) for w in range(len(self.vocabularies.words))])

    @contextmanager
    def _synchronized(self, *, last: bool) -> Iterator[None]:
        """Exchange gradients only after the last part of an update."""
        if last:
            yield
        else:
            with self.accelerator.no_sync(self.wrapped):
                yield

    def _added(self, values: Sequence[float]) -> list[float]:
        """Return the sums of some values over the processes."""
        if self.group.size == 1:
            return list(values)
        own = torch.tensor(values, dtype=torch.float64, device=self.accelerator.device)
        added: list[float] = self.accelerator.reduce(own, "sum").tolist()
        return added

    # Evaluation and files ------------------------------------------------------------------------

    def end_epoch(self, *, save: bool = True) -> None:
        """Evaluate, save what is best and, if asked, what is last, and write the log."""
        state = self.state
        state.epoch += 1
        score = math.nan
        if self.data.dev and is_evaluated(self.config.train, state):
            with self.moving_average.in_place():
                score = self._evaluate()
        better = score > state.best if self.data.dev else True
        if better and not (self.data.dev and math.isnan(score)):
            state.best, state.best_epoch = (score, state.epoch)
            if self.main:
                with self.moving_average.in_place():
                    weights = dict(self.model.state_dict())
                    checkpoint.save_weights(self.folder / checkpoint.WEIGHTS, weights)
                self._save_score(score)
        line = state.line(self.optimizer.param_groups[0]["lr"], score)
        state.log.append(list(line))
        state.update, state.sums = 0, {}
        if save:
            self.save_last()
        if self.main:
            write_log(self.folder / folders.LOG, [Epoch._make(values) for values in state.log])
            self.on_epoch(line)

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

    def save_last(self) -> None:
        """Write what resuming needs."""
        random = self.group.gather([random_state()])
        if not self.main:
            return
        state = {name: getattr(self.state, name) for name in State.__slots__}
        checkpoint.save_last(
            self.folder,
            {k: v.cpu() for k, v in self.model.state_dict().items()},
            {
                "optimizer": self.optimizer.state_dict(),
                "moving_average": self.moving_average.weights,
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


def _parameter_groups(model: TransducerModel, config: Config) -> list[dict[str, Any]]:
    """Return the weights to learn by their learning rate: a tuned encoder has one of its own."""
    contextual = model.encoder_embedding.contextual
    tuned = (
        []
        if contextual is None or contextual.model is None
        else contextual.model.named_parameters()
    )
    # The pooler learns nothing, but runs of earlier versions have it among their weights.
    whole = not config.model.contextual_rank
    slow = [w for name, w in tuned if w.requires_grad or (whole and name.startswith("pooler."))]
    chosen = {id(weight) for weight in slow}
    fast = [w for w in model.parameters() if w.requires_grad and id(w) not in chosen]
    groups: list[dict[str, Any]] = [{"params": fast, "base": config.train.learning_rate}]
    if slow:
        groups.append({"params": slow, "base": config.train.contextual_rate})
    return groups
