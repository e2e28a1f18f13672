"""Single sentences and the encoder in bulk, with the models that ship: processor time, one thread.

The floor of a sentence is its encoder alone. That of the encoder in bulk is what the products of
its linear layers, padding left out, would take at the speed of one large bf16 product.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice

import torch
from torch.nn import functional

import graphconv
from benchmarks.measure import Row
from benchmarks.models import DEV
from graphconv.graph import Token
from graphconv.testing import CORPORA
from transducer import Transducer, sample
from transducer.data.batches import Batch
from transducer.data.examples import numericalize
from transducer.encoders.bert import Bert
from transducer.int8 import to_int8
from transducer.parsing.inputs import gold_documents

_TEXT = (
    "The committee said on Monday that it would not approve the new plan before its members had "
    "seen the report of the auditors who came to the city last week to check all the books ."
).split()
_IN_BULK = 200
_AT_ONCE = 20


def run(arguments: argparse.Namespace) -> list[Row]:
    """Measure all models."""
    torch.set_num_threads(1)
    return [row for task in arguments.tasks or DEV for row in _task(task, arguments)]


def _task(task: str, arguments: argparse.Namespace) -> list[Row]:
    parser = Transducer.shipped(task, "cpu")
    encoder = to_int8(parser.model).encoder_embedding
    rows = []
    for count in arguments.words:
        words = [*_TEXT[: count - 1], "."]
        [batch] = _batches(parser, [words])
        encode, parse = f"encoder, {count} words", f"greedy, {count} words"
        tasks = {encode: partial(encoder, batch), parse: partial(parser.parse, [words], beam=1)}
        times = _medians(tasks, arguments.repeat)
        ratio = times[parse] / times[encode]
        rows += [
            Row(task, encode, times[encode], count, count / times[encode], "", 0, 0),
            Row(task, parse, times[parse], count, count / times[parse], encode, ratio, 0),
        ]
    return [*rows, *_in_bulk(parser, encoder, arguments.repeat)]


def _in_bulk(parser: Transducer, encoder: torch.nn.Module, repeat: int) -> list[Row]:
    task = parser.task.name
    path = CORPORA / DEV[task]
    gold = path if path.exists() else sample.path(task, "test")
    graphs = islice(graphconv.read(gold, framework=task), _IN_BULK)
    documents = gold_documents(parser.task, graphs, None)
    texts = [[t.form for t in s.tokens] for document in documents for s in document.sentences]
    batches = _batches(parser, sorted(texts, key=len))
    products = sum(_products(encoder, batch) for batch in batches)
    x, w = torch.randn(1000, 768).bfloat16(), torch.randn(3072, 768).bfloat16()
    name, floor = "encoder, in bulk", "its products, bf16"
    times = _medians(
        {
            floor: lambda: functional.linear(x, w),
            name: lambda: [encoder(batch) for batch in batches],
        },
        max(repeat // 5, 1),
    )
    least = times[floor] * products / (x.numel() * len(w))
    words = sum(map(len, texts))
    return [
        Row(task, floor, least, words, words / least, "", 0, 0),
        Row(task, name, times[name], words, words / times[name], floor, times[name] / least, 0),
    ]


def _products(encoder: torch.nn.Module, batch: Batch) -> int:
    """Return the multiplications in the linear layers of the pre-trained encoder."""
    assert batch.subwords is not None
    [bert] = [part for part in encoder.modules() if isinstance(part, Bert)]
    layers = bert.encoder["layer"].modules()
    weights = (getattr(layer, "weight", None) for layer in layers)
    sizes = (w.numel() for w in weights if isinstance(w, torch.Tensor) and w.ndim > 1)
    return int(batch.subwords.mask.sum()) * sum(sizes)


def _batches(parser: Transducer, texts: Sequence[Sequence[str]]) -> list[Batch]:
    items = [
        numericalize(sentence.example, parser.vocabularies)
        for text in texts
        for sentence in parser.task.document("1", [Token(word) for word in text]).sentences
    ]
    return [parser.batch(items[i : i + _AT_ONCE]) for i in range(0, len(items), _AT_ONCE)]


@torch.inference_mode()
def _medians(tasks: Mapping[str, Callable[[], object]], repeat: int) -> dict[str, float]:
    """Return the median time of each task, all run in turn so that they meet the same load."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repeat + 1):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            times[name].append(time.process_time() - start)
    return {name: statistics.median(taken[1:]) for name, taken in times.items()}  # but the first
