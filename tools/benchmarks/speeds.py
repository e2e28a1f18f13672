"""Where the words per second of a shipped model come from: batch, length of sentences, threads.

Parsing is greedy, with 8-bit weights, from tokens to graphs; times are CPU times of one thread but
where threads vary. The training step is that of recipe ``large``, started from the shipped model;
its floor is what its matrix products (counted by torch, padding included) would take at the speed
of one 1536 x 1536 bf16 product.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import torch

import graphconv
from benchmarks import measure
from benchmarks.measure import Row
from benchmarks.models import DEV
from benchmarks.neural import count_flops
from graphconv.graph import Graph
from graphconv.testing import CORPORA
from transducer import Transducer, sample
from transducer.config import load_recipe, override
from transducer.data.batches import batches
from transducer.frameworks.tasks import Document
from transducer.parsing.inputs import gold_documents
from transducer.storage.shipped import find_model
from transducer.training.trainer import Trainer, make_trainer

_LENGTHS = ((1, 5), (6, 10), (11, 15), (16, 20), (21, 30), (31, 60))
_BATCH_TOKENS = 1000
_PRODUCT = 1536


def run(arguments: argparse.Namespace) -> list[Row]:
    """Measure what was asked for."""
    rows: list[Row] = []
    for name in arguments.parts or MEASURES:
        torch.set_num_threads(1)
        rows += (found := MEASURES[name](arguments))
        print(measure.table(found), file=sys.stderr, flush=True)
    return rows


def _graphs(task: str, sentences: int) -> list[Graph]:
    """Return the beginning of the dev section, or of the sample where there are no treebanks."""
    path = CORPORA / DEV[task]
    gold = path if path.exists() else sample.path(task, "test")
    return list(islice(graphconv.read(gold, framework=task), sentences))


def _load(arguments: argparse.Namespace, sentences: int) -> tuple[Transducer, list[Document]]:
    parser = Transducer.shipped(arguments.task, "cpu")
    documents = gold_documents(parser.task, _graphs(arguments.task, sentences), None)
    return parser, list(documents)


def _words(documents: Sequence[Document]) -> int:
    return sum(len(s.tokens) for document in documents for s in document.sentences)


def _parse(parser: Transducer, documents: Sequence[Document], tokens: int) -> None:
    own = parser.task.config.decode
    settings = replace(own, beam=1, nbest=1, batch_tokens=tokens, int8=True)
    for _ in parser.stream(documents, settings):
        pass


def _rows(name: str, times: dict[str, float], words: dict[str, int]) -> list[Row]:
    """Compare each time per word with the least of them."""
    best = min(times, key=lambda key: times[key] / words[key])
    least = times[best] / words[best]
    return [
        Row(name, key, seconds, words[key], words[key] / seconds, best,
            seconds / words[key] / least, 0)
        for key, seconds in times.items()
    ]  # fmt: skip


def _batch(arguments: argparse.Namespace) -> list[Row]:
    parser, documents = _load(arguments, arguments.sentences)
    tasks: dict[str, Callable[[], object]] = {
        f"{tokens} tokens a batch": partial(_parse, parser, documents, tokens)
        for tokens in arguments.batch_tokens
    }
    _parse(parser, documents[:10], _BATCH_TOKENS)  # rounds the weights
    times = measure.best_times(tasks, arguments.repeat, time.process_time)
    return _rows("batch", times, dict.fromkeys(tasks, _words(documents)))


def _length(arguments: argparse.Namespace) -> list[Row]:
    """Parse sentences of similar lengths, as many as make the same number of words."""
    parser, documents = _load(arguments, 10**6)
    tasks: dict[str, Callable[[], object]] = {}
    words: dict[str, int] = {}
    for shortest, longest in _LENGTHS:
        some = [d for d in documents if shortest <= _words([d]) <= longest]
        some = some[: max(arguments.sentences * 20 // (shortest + longest), 1)]
        if some:
            name = f"{shortest} to {longest} words, {len(some)} sentences"
            words[name] = _words(some)
            tasks[name] = partial(_parse, parser, some, _BATCH_TOKENS)
    _parse(parser, documents[:10], _BATCH_TOKENS)
    times = measure.best_times(tasks, arguments.repeat, time.process_time)
    return _rows("length", times, words)


def _threads(arguments: argparse.Namespace) -> list[Row]:
    """Take the time by the clock, and the CPU time of all threads together."""
    parser, documents = _load(arguments, arguments.sentences)
    _parse(parser, documents[:10], _BATCH_TOKENS)
    rows: list[Row] = []
    for name, clock in (("clock", time.perf_counter), ("CPU", time.process_time)):
        tasks = {
            f"{threads} threads, {name}": partial(_with_threads, threads, parser, documents)
            for threads in arguments.threads
        }
        times = measure.best_times(tasks, arguments.repeat, clock)
        rows += _rows("threads", times, dict.fromkeys(tasks, _words(documents)))
    return rows


def _with_threads(threads: int, parser: Transducer, documents: Sequence[Document]) -> None:
    torch.set_num_threads(threads)
    _parse(parser, documents, _BATCH_TOKENS)


def _training(arguments: argparse.Namespace) -> list[Row]:
    start = f"train.start_from={find_model(arguments.task)}"
    config = override(load_recipe("large", task=arguments.task), [start])
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "train.mrp"
        graphconv.write(_graphs(arguments.task, arguments.sentences), file)
        trainer = make_trainer(config, [str(file)], [], Path(name) / "model", device="cpu")
        return _steps(trainer, arguments)


def _steps(trainer: Trainer, arguments: argparse.Namespace) -> list[Row]:
    """Time some updates, each between two products of bf16 matrices."""
    settings, items = trainer.config.train, trainer.data.items
    plan = list(batches(items, settings.batch_size, tokens=settings.batch_tokens, seed=1))
    trainer.model.train()
    trainer._update(plan[0])
    left, right = (torch.randn(_PRODUCT, _PRODUCT).bfloat16() for _ in "ab")
    ratios, floors, times, words = [], [], [], []
    for group in (plan * arguments.updates)[1 : arguments.updates + 1]:
        product = min(measure.best_times({"": lambda: left @ right}, 8, time.process_time).values())
        step = partial(trainer._update, group)
        seconds = measure.best_times({"": step}, arguments.repeat, time.process_time)[""]
        floor = count_flops(step) * product / (2 * _PRODUCT**3)
        ratios.append(seconds / floor)
        floors.append(floor)
        times.append(seconds)
        words.append(sum(len(items[i].forms) for i in group))
    seconds, floor, count = sum(times), sum(floors), sum(words)
    name = f"{len(times)} steps of recipe large"
    return [
        Row("training", "their products, bf16", floor, count, count / floor, "", 0, 0),
        Row("training", name, seconds, count, count / seconds, "their products, bf16",
            statistics.median(ratios), 0),
    ]  # fmt: skip


MEASURES: dict[str, Callable[[argparse.Namespace], list[Row]]] = {
    "batch": _batch,
    "length": _length,
    "threads": _threads,
    "training": _training,
}
