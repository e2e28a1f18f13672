"""The models that ship on the text of the dev sections, from tokens to graphs.

SuPar's biaffine parser has random weights of its default sizes, which cost what trained ones do; it
takes part where ``supar`` is installed. What is timed of it is the network and its decoding,
without the reading of files. Each system has its best batch size of those that are tried.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import torch

import graphconv
from benchmarks import measure, neural
from benchmarks.measure import Row
from benchmarks.models import DEV
from graphconv.testing import CORPORA
from transducer import Transducer, sample
from transducer.frameworks.tasks import Document
from transducer.parsing.inputs import gold_documents

_CHARACTERS = 12  # of a word, which SuPar's character LSTM reads


def run(arguments: argparse.Namespace) -> list[Row]:
    """Measure all models, and the others on sentences of the same lengths."""
    neural.set_threads(arguments.threads)
    rows: list[Row] = []
    for task in arguments.tasks or DEV:
        rows += _task(task, arguments)
    return rows


def _task(task: str, arguments: argparse.Namespace) -> list[Row]:
    parser = Transducer.shipped(task, "cpu")
    documents = _documents(parser, arguments.sentences)
    lengths = [len(s.tokens) for document in documents for s in document.sentences]
    words = sum(lengths)
    tasks: dict[str, Callable[[], object]] = {
        f"beam {beam}, {tokens}": functools.partial(
            _parse, parser, documents, beam, tokens, int8=arguments.int8
        )
        for beam in arguments.beams
        for tokens in arguments.batch_tokens
    }
    tasks |= {
        f"SuPar biaffine, {batch}": functools.partial(supar, lengths, batch)
        for supar in _supar()
        for batch in arguments.supar_batches
    }
    clock = neural.clock(arguments)
    times = measure.best_times(tasks, 1, clock)
    if arguments.bart_batches:
        bart = neural.Bart(arguments.bart_steps)
        times |= {
            f"BART-large, {batch}": words / bart.words_per_second(batch, clock)
            for batch in arguments.bart_batches
        }
    best: dict[str, float] = {}
    for task_and_batch, seconds in times.items():
        name = task_and_batch.rpartition(",")[0]
        best[name] = min(seconds, best.get(name, seconds))
    ours = best[f"beam {arguments.beams[0]}"]
    peaks = {
        f"beam {beam}": measure.peak_memory(
            functools.partial(_parse_alone, task, arguments.sentences, beam, int8=arguments.int8)
        )
        for beam in arguments.beams
    }
    first = f"beam {arguments.beams[0]}"
    return [
        Row(task, name, seconds, words, words / seconds, "" if name == first else first,
            0 if name == first else seconds / ours, peaks.get(name, 0))
        for name, seconds in best.items()
    ]  # fmt: skip


def _parse(
    parser: Transducer, documents: Sequence[Document], beam: int, tokens: int, *, int8: bool
) -> None:
    own = parser.task.config.decode
    settings = replace(own, beam=beam, nbest=1, batch_tokens=tokens * beam, int8=int8)
    for _ in parser.stream(documents, settings):
        pass


def _parse_alone(task: str, sentences: int, beam: int, *, int8: bool) -> None:
    """Parse in a process that does nothing else."""
    parser = Transducer.shipped(task, "cpu")
    _parse(parser, _documents(parser, sentences), beam, 4000, int8=int8)


def _documents(parser: Transducer, sentences: int) -> list[Document]:
    """Return the beginning of the dev section, or of the sample where there are no treebanks."""
    task = parser.task.name
    path = CORPORA / DEV[task]
    gold = path if path.exists() else sample.path(task, "test")
    graphs = islice(graphconv.read(gold, framework=task), sentences)
    return list(gold_documents(parser.task, graphs, None))


def _supar() -> list[Callable[[Sequence[int], int], None]]:
    """Return SuPar's parser, if it is installed."""
    if importlib.util.find_spec("supar") is None:
        return []
    from supar.models.sdp import BiaffineSemanticDependencyModel  # noqa: PLC0415

    torch.manual_seed(1)
    model: Any = BiaffineSemanticDependencyModel(
        n_words=20_000, n_labels=50, n_tags=50, n_chars=100, n_lemmas=15_000, n_pretrained=100
    )
    model.eval()

    @torch.inference_mode()
    def parse(lengths: Sequence[int], batch: int) -> None:
        ordered = sorted(lengths)
        for start in range(0, len(ordered), batch):
            group = torch.tensor(ordered[start : start + batch]) + 1  # with the root
            shape = (len(group), int(group.max()))
            there = torch.arange(shape[1]) < group[:, None]
            words, tags, lemmas = (
                torch.randint(2, top, shape) * there for top in (20_000, 50, 15_000)
            )
            chars = torch.randint(2, 100, (*shape, _CHARACTERS)) * there[..., None]
            model.decode(*model(words, [chars, lemmas, tags]))

    return [parse]
