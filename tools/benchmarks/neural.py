"""Training and parsing at the paper's sizes, against sgemm and a sequence-to-sequence model.

Nothing is downloaded: weights, words and trees are random. Two things make random weights behave
like trained ones. The end symbol is improbable and the limit of rows is what real treebanks have
per word, so that outputs are as long as real ones; output logits are scaled up, so that a beam has
as little to choose from as it has with a trained model. Neither changes what a step computes.

The floor of a time is what its floating-point operations take at the speed of a large matrix
product, measured in the same run with as many threads. With one thread, times are CPU times, so
that other processes on the machine matter little.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import BartConfig, BartForConditionalGeneration

from benchmarks import measure
from benchmarks.measure import Row
from graphconv.arborescence import Row as TreeRow
from graphconv.graph import Token
from transducer.config import Config, DecodeConfig, load_recipe
from transducer.data.batches import collate
from transducer.data.examples import Example, numericalize
from transducer.data.vocabularies import EOS, Vocabularies, Vocabulary
from transducer.decoding import steps
from transducer.decoding.rules import make_rules
from transducer.decoding.search import decode
from transducer.encoders.places import locate
from transducer.frameworks import amr, task_of
from transducer.int8 import shorten, to_int8
from transducer.model import network as model
from transducer.model.inputs import make_batch, make_features
from transducer.model.losses import LossWeights
from transducer.storage import checkpoint

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
BERT_LARGE = 1024
ROWS_PER_WORD = {"ucca": 1.54, "amr": 0.97}
"""Means of wiki-dev, and of lpp-dev with bio-dev."""
RELATIONS = {"ucca": 25, "amr": 100}
LABELS = {"ucca": 20, "amr": 12200}
MEAN_LENGTH, SHORTEST = 20, 4
SUBWORDS_PER_WORD = 4
"""Output of a sequence-to-sequence model that writes a graph as text."""
LENGTHS = (10, 25, 50, 100, 200, 400)
_FLOORS = 8  # a floor is short, so it is measured more often


def set_threads(threads: int) -> None:
    """Let torch use so many threads."""
    torch.set_num_threads(threads)


def clock(arguments: argparse.Namespace) -> Callable[[], float]:
    return time.process_time if arguments.threads == 1 else time.perf_counter


def _sgemm(size: int = 1536) -> tuple[Callable[[], object], float]:
    """Return a matrix product and its floating-point operations."""
    left, right = torch.randn(size, size), torch.randn(size, size)
    return lambda: left @ right, 2.0 * size**3


def _timed(
    tasks: dict[str, Callable[[], object]], arguments: argparse.Namespace
) -> tuple[dict[str, float], float]:
    """Return the best time of each task, and the FLOP/s of sgemm at its best among them."""
    product, flops = _sgemm()
    floors = {f"sgemm {i}": product for i in range(_FLOORS)}
    times = measure.best_times({**tasks, **floors}, arguments.repeat, clock=clock(arguments))
    times["sgemm"] = min(times[name] for name in floors)
    return times, flops / times["sgemm"]


def count_flops(task: Callable[[], object]) -> float:
    """Return the floating-point operations of the matrix products in a task."""

    def lstm(inputs: Any, w_ih: Any, w_hh: Any, *_: Any, **__: Any) -> int:
        steps = inputs[0] * inputs[1]
        return int(2 * steps * (w_ih[0] * w_ih[1] + w_hh[0] * w_hh[1]))

    aten: Any = torch.ops.aten
    own = {
        aten.mkldnn_rnn_layer: lstm,
        aten.mkldnn_rnn_layer_backward: lambda *a, **k: 2 * lstm(*a, **k),
    }
    with FlopCounterMode(display=False, custom_mapping=own) as counter:
        task()
    return float(counter.get_total_flops())


# Random models and sentences ------------------------------------------------------------------


class Setup(NamedTuple):
    """A random model and what belongs to it."""

    config: Config
    vocabularies: Vocabularies
    model: model.TransducerModel


def _setup(recipe: str, contextual: str) -> Setup:
    """Make a random model of a recipe's sizes."""
    torch.manual_seed(1)
    config = load_recipe(recipe)
    config = replace(config, model=replace(config.model, contextual=contextual))
    relations = (f"ARG{i}{end}" for i in range(RELATIONS[config.task] // 2) for end in ("", "-of"))
    names = {
        "words": _words(config.model.word_vocabulary),
        "nodes": ("<begin>", *_words(config.model.node_vocabulary)),
        "labels": ("<end>", *_words(LABELS[config.task])),
        "relations": ("root", *relations),
        "chars": "abcdefghijklmnopqrstuvwxyz",
        **{name: [f"{name}{i}" for i in range(40)] for name in ("pos", "ner", "dep", "shape")},
    }
    vocabularies = Vocabularies(
        **{name: Vocabulary(("<pad>", "<unk>", *items)) for name, items in names.items()}
    )
    made = model.TransducerModel(config.model, vocabularies, task_of(config.task).trees)
    with torch.no_grad():
        made.ffn_vocab.bias[EOS] = -1e4
        made.ffn_vocab.weight.mul_(60)
        made.encoder_attention.weight.weight.mul_(60)
        made.biaffine.u.mul_(60)
        made.bilinear.u.mul_(300)
    return Setup(config, vocabularies, made)


@functools.cache
def _words(size: int) -> tuple[str, ...]:
    """Return so many different words; a fourth of them are two words in one, for 1.25 sub-words."""
    tokenizer = json.loads((locate(MINILM) / "tokenizer.json").read_text(encoding="utf-8"))
    known = [word for word in tokenizer["model"]["vocab"] if word.isalpha() and len(word) > 1]
    rng = random.Random(1)
    found: dict[str, None] = {}
    while len(found) < size:
        found["".join(rng.sample(known, 1 if rng.random() < 0.75 else 2))] = None
    return tuple(found)


def _lengths(count: int) -> list[int]:
    """Return lengths of the sentences of a batch: a piece of a corpus that is sorted by length."""
    rng = random.Random(1)
    drawn = (int(rng.gammavariate(4, MEAN_LENGTH / 4)) for _ in range(count * 9))
    return sorted(max(length, SHORTEST) for length in drawn)[count * 4 : count * 5]


def _sentence(rng: random.Random, setup: Setup, length: int) -> Any:
    """Return a sentence of random words, without a tree."""
    words = _words(setup.config.model.word_vocabulary)
    tokens = tuple(Token(rng.choice(words), pos=f"pos{rng.randrange(40)}") for _ in range(length))
    trees = task_of(setup.config.task).trees
    offers = () if trees.words_are_nodes else tuple((token.form,) for token in tokens)
    return Example("", trees, tokens, offers=offers)


def _with_tree(rng: random.Random, example: Any) -> Any:
    """Give a sentence a random UCCA-like tree: its words in order, and units above them."""
    words = len(example.tokens)
    units = int(words * (ROWS_PER_WORD["ucca"] - 1))
    is_unit = [True, *rng.sample([True] * units + [False] * words, units + words)]
    rows, open_units, position = [], [1], 0
    for place, unit in enumerate(is_unit, start=1):
        head = rng.choice(open_units[-4:]) if place > 1 else 0
        relation = f"ARG{rng.randrange(RELATIONS['ucca'] // 2)}" if head else "root"
        if unit:
            rows.append(TreeRow(_words(LABELS["ucca"])[place % 9], place, head, relation))
            open_units = [*open_units[: open_units.index(head) + 1 if head else 0], place]
        else:
            form = example.tokens[position].form
            rows.append(TreeRow(form, place, head, relation, (position,)))
            position += 1
    return replace(example, rows=tuple(rows))


def _items(setup: Setup, lengths: Sequence[int], *, trees: bool = False) -> list[Any]:
    rng = random.Random(1)
    examples = [_sentence(rng, setup, length) for length in lengths]
    if trees:
        examples = [_with_tree(rng, example) for example in examples]
    return [numericalize(example, setup.vocabularies) for example in examples]


# Training ---------------------------------------------------------------------------------------


class Training:
    """One update after another, on one batch of ``paper-ucca`` sizes."""

    def __init__(self, sentences: int) -> None:
        with tempfile.TemporaryDirectory() as folder:  # stands for BERT-large
            shape = {"hidden_size": BERT_LARGE, "num_hidden_layers": 24}
            (Path(folder) / "config.json").write_text(json.dumps(shape), encoding="utf-8")
            self.setup = _setup("paper-ucca", folder)
        self.items = _items(self.setup, _lengths(sentences), trees=True)
        rng = np.random.default_rng(1)
        shapes = [(len(item.forms), 1, BERT_LARGE) for item in self.items]
        self.vectors = [rng.standard_normal(shape).astype(np.float16) for shape in shapes]
        self.model = self.setup.model.train()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3, fused=True)
        self.batch = self.collate()

    def collate(self) -> Any:
        """Make the batch."""
        return collate(self.items, self.setup.vocabularies, contextual=self.vectors)

    def step(self) -> None:
        """Forward, backward, update."""
        settings = self.setup.config.train
        losses = self.model.loss(self.batch, LossWeights.of(settings))
        (losses.total / len(self.items)).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), settings.max_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()


def _training(arguments: argparse.Namespace) -> list[Row]:
    training = Training(arguments.train_batch)
    words = sum(len(item.forms) for item in training.items)
    flops = count_flops(training.step)
    times, speed = _timed({"step": training.step, "collate": training.collate}, arguments)
    step = times["step"]
    product = _sgemm()[1]
    return [
        Row("sgemm", "FLOP/s", times["sgemm"], int(product), speed, "", 0, 0),
        Row("training", f"step, {flops / 1e9:.0f} GFLOP", step, words, words / step, "sgemm",
            step * speed / flops, 0),
        Row("training", "collate", times["collate"], words, words / times["collate"], "step",
            times["collate"] / step, 0),
        *_where_time_goes(training),
    ]  # fmt: skip


def _where_time_goes(training: Training) -> list[Row]:
    """Profile one step: the share of each part, forward and backward together."""
    with _labeled(), torch.profiler.profile() as profile:
        training.step()
    spent: Counter[str] = Counter()
    owner: dict[int, str] = {}
    events = profile.events() or []
    for event in events:
        label = _label_of(event)
        if event.sequence_nr >= 0 and label and "evaluate_function" not in event.name:
            owner.setdefault(event.sequence_nr, label)
    for event in events:
        label = _label_of(event) or _label_of_backward(event, owner)
        spent[label or "other"] += event.self_cpu_time_total
    total = spent.total()
    return [
        Row("training", f"in {label}", micros / 1e6, 0, 0, "profiled step", micros / total, 0)
        for label, micros in spent.most_common()
    ]


_LABEL = "part: "


def _label_of(event: Any) -> str:
    """Return the innermost part of the model around an event of the forward pass."""
    while event is not None:
        if event.name.startswith(_LABEL):
            return str(event.name.removeprefix(_LABEL))
        if event.name.startswith("Optimizer.step"):
            return "optimizer"
        event = event.cpu_parent
    return ""


def _label_of_backward(event: Any, owner: dict[int, str]) -> str:
    """Return the part of the model whose backward pass an event belongs to."""
    while event is not None:
        if "evaluate_function" in event.name:
            return owner.get(event.sequence_nr, "")
        event = event.cpu_parent
    return ""


@contextlib.contextmanager
def _labeled() -> Iterator[None]:
    """Let the profiler know the parts of the model by name."""
    places: list[tuple[Any, str, str]] = [
        (model.EncoderEmbedding, "forward", "embeddings"),
        (model.NodeEmbedding, "embed", "embeddings"),
        (model, "padded_bilstm", "encoder LSTM"),
        (torch.nn.LSTM, "forward", "decoder LSTM"),
        (model.MLPAttention, "forward", "attentions"),
        (model.TransducerModel, "attend", "attentions"),
        (model.TransducerModel, "relation_state", "FFN relation"),
        (model.TransducerModel, "read", "FFN vocabulary, switch"),
        (model.TransducerModel, "score_nodes", "FFN vocabulary, switch"),
        (torch.nn.Sequential, "forward", "MLPs of edges"),
        (model.Biaffine, "forward", "biaffine"),
        (model.TransducerModel, "score_relations", "bilinear"),
        (model, "joint_loss", "losses"),
    ]

    def labeled(function: Any, label: str) -> Any:
        def wrapped(*values: Any, **options: Any) -> Any:
            with torch.profiler.record_function(_LABEL + label):
                return function(*values, **options)

        return wrapped

    with contextlib.ExitStack() as stack:
        for place, name, label in places:
            new = labeled(getattr(place, name), label)
            stack.enter_context(mock.patch.object(place, name, new))
        yield


# Parsing ------------------------------------------------------------------------------------------


class Parsing:
    """Parse random sentences at ``paper-amr2`` sizes with MiniLM, from words to rows."""

    def __init__(self, lengths: Sequence[int]) -> None:
        self.setup = _setup("paper-amr2", MINILM)
        self.setup.model.eval()
        self.items = _items(self.setup, lengths)
        self.features = make_features(self.setup.config, None)
        self.rules = make_rules(self.setup.model, self.setup.vocabularies, task_of("amr"))
        self.rounded = to_int8(self.setup.model)
        self.rounded_features = self.features and self.features.shortened()

    @property
    def words(self) -> int:
        """The number of words to parse."""
        return sum(len(item.forms) for item in self.items)

    def parse(self, batch: int = 256, beam: int = 1, *, int8: bool = False) -> None:
        """Parse all sentences."""
        weights = self.rounded if int8 else self.setup.model
        features = self.rounded_features if int8 else self.features
        items = sorted(self.items, key=lambda item: len(item.forms))
        as_long_as_real = mock.patch.multiple(
            steps, ROWS_PER_TOKEN=ROWS_PER_WORD["amr"], EXTRA_ROWS=0
        )
        with as_long_as_real:
            for start in range(0, len(items), batch):
                group = items[start : start + batch]
                made = make_batch(group, self.setup.vocabularies, self.setup.config, features)
                decode(weights, made, group, self.rules, DecodeConfig(beam=beam))


def _parsing(arguments: argparse.Namespace) -> list[Row]:
    parsing = Parsing(_lengths(max(arguments.batches)))
    bart = Bart(arguments.bart_steps)
    tasks: dict[str, Callable[[], object]] = {
        f"greedy, {kind}, batch {n}": functools.partial(parsing.parse, n, int8=kind == "int8")
        for kind in ("fp32", "int8")
        for n in arguments.batches
    }
    flops = count_flops(functools.partial(parsing.parse, max(arguments.batches)))
    times, speed = _timed(tasks, arguments)
    words = parsing.words
    floor = flops / speed
    rows = [
        Row("parsing", f"sgemm bound, {flops / words / 1e6:.0f} MFLOP/word", floor, words,
            words / floor, "", 0, 0)
    ]  # fmt: skip
    for name in tasks:
        seconds = times[name]
        rows.append(
            Row("parsing", name, seconds, words, words / seconds, "sgemm", seconds / floor, 0)
        )
    kinds = ("fp32", "int8")
    best = {kind: max(r.per_second for r in rows if f"{kind}," in r.measure) for kind in kinds}
    for bits in ("fp32", "bf16"):
        if bits == "bf16":
            shorten(bart.model)
        for n in arguments.bart_batches:
            rate = bart.words_per_second(n, clock(arguments))
            rows += [
                Row("parsing", f"BART-large, {bits}, batch {n}", 1 / rate, 1, rate,
                    f"best greedy, {kind}", best[kind] / rate, 0)
                for kind in kinds
            ]  # fmt: skip
    return rows


class Bart:
    """A sequence-to-sequence model of BART-large's size, with random weights.

    The encoder is timed as it is; of the greedy decoder, with cached states, some steps are timed,
    and all steps are taken to last as long.
    """

    def __init__(self, steps: int) -> None:
        torch.manual_seed(1)
        config = BartConfig()  # its defaults are BART-large
        self.model: Any = BartForConditionalGeneration(config)
        torch.nn.Module.eval(self.model)
        self.steps = steps

    def words_per_second(self, batch: int, clock: Callable[[], float]) -> float:
        """Return the speed for sentences of the mean length."""
        inputs = torch.randint(10, 50_000, (batch, int(MEAN_LENGTH * 1.3)))
        with torch.inference_mode():
            start = clock()
            encoded = self.model.get_encoder()(inputs)
            encoding = clock() - start
            cache, last = None, inputs[:, :1]
            for step in range(self.steps + 1):
                if step == 1:  # the first step also projects the encoder's states
                    start = clock()
                output = self.model(
                    encoder_outputs=encoded, decoder_input_ids=last, past_key_values=cache
                )
                cache, last = output.past_key_values, output.logits[:, -1:].argmax(-1)
            decoding = (clock() - start) / self.steps * SUBWORDS_PER_WORD * MEAN_LENGTH
        return batch * MEAN_LENGTH / (encoding + decoding)


def _beam(arguments: argparse.Namespace) -> list[Row]:
    parsing = Parsing(_lengths(arguments.beam_batch))
    tasks: dict[str, Callable[[], object]] = {
        f"beam {beam}": functools.partial(parsing.parse, arguments.beam_batch, beam)
        for beam in (1, 5)
    }
    times, _ = _timed(tasks, arguments)
    greedy = times["beam 1"]
    return [
        Row("beam", f"{name}, {arguments.beam_batch} sentences", times[name], parsing.words,
            parsing.words / times[name], "greedy", times[name] / greedy, 0)
        for name in tasks
    ]  # fmt: skip


def _latency(arguments: argparse.Namespace) -> list[Row]:
    parsing = Parsing([MEAN_LENGTH])
    tasks: dict[str, Callable[[], object]] = {
        "greedy": parsing.parse,
        "greedy, int8": functools.partial(parsing.parse, int8=True),
        "beam 5": functools.partial(parsing.parse, beam=5),
    }
    times, _ = _timed(tasks, arguments)
    return [
        Row("latency", f"one sentence of {MEAN_LENGTH} words, {name}", times[name], MEAN_LENGTH,
            MEAN_LENGTH / times[name], "greedy", times[name] / times["greedy"], 0)
        for name in tasks
    ]  # fmt: skip


def _length(arguments: argparse.Namespace) -> list[Row]:
    """Parse four sentences of each length; the ratio is the time per word."""
    rows: list[Row] = []
    parsing = Parsing([SHORTEST])
    for length in LENGTHS:
        parsing.items = _items(parsing.setup, [length] * 4)
        times, _ = _timed({"greedy": parsing.parse}, arguments)
        rate = parsing.words / times["greedy"]
        ratio = rows[0].per_second / rate if rows else 1.0
        rows.append(
            Row("length", f"{length} words", times["greedy"], parsing.words, rate,
                f"{LENGTHS[0]} words", ratio, 0)
        )  # fmt: skip
    return rows


# Memory and start-up ------------------------------------------------------------------------------


def _train_once(sentences: int) -> None:
    Training(sentences).step()


def _parse_once(sentences: int, beam: int) -> None:
    Parsing(_lengths(sentences)).parse(sentences, beam)


def _memory(arguments: argparse.Namespace) -> list[Row]:
    train, wide, beam = arguments.train_batch, max(arguments.batches), arguments.beam_batch
    tasks: dict[str, Callable[[], object]] = {
        f"training, {train} sentences": functools.partial(_train_once, train),
        f"greedy, {wide} sentences": functools.partial(_parse_once, wide, 1),
        f"beam 5, {beam} sentences": functools.partial(_parse_once, beam, 5),
        "greedy, 1 sentence": functools.partial(_parse_once, 1, 1),
    }
    return [
        Row("memory", name, 0, 0, 0, "", 0, measure.peak_memory(task))
        for name, task in tasks.items()
    ]


_PARSE_ONE = """
import json, sys, time
clock = time.process_time
marks = [clock()]
import transducer.cli, transducer.parsing.parser, transducer.parsing.inputs, graphconv
marks.append(clock())
model = transducer.parsing.parser.Transducer.load(sys.argv[1], "cpu")
marks.append(clock())
model.parse(["The boy wants to go to the small town by the sea with his three brothers ."])
marks.append(clock())
print(json.dumps(marks))
"""


def _startup(_: argparse.Namespace) -> list[Row]:
    empty = _cpu_seconds(["-c", "pass"])[0]
    usage, loaded = _cpu_seconds(["-c", _HELP])
    rows = [
        Row("start-up", "python -c pass", empty, 1, 1 / empty, "", 0, 0),
        Row("start-up", f"transducer --help (torch imported: {loaded.split()[-1]})", usage, 1,
            1 / usage, "python", usage / empty, 0),
    ]  # fmt: skip
    setup = _setup("paper-amr2", MINILM)
    with tempfile.TemporaryDirectory() as name, torch.no_grad():
        folder = Path(name)
        task = task_of("amr")(setup.config, amr.Tables.learn([]))
        checkpoint.save_setup(folder, task, setup.vocabularies)
        checkpoint.save_weights(folder / checkpoint.WEIGHTS, setup.model.state_dict())
        total, output = _cpu_seconds(["-W", "ignore", "-c", _PARSE_ONE, name])
    marks = [0.0, *json.loads(output.splitlines()[-1])[1:]]
    names = ("imports", "loading the model", "parsing one sentence")
    for label, before, after in zip(names, marks, marks[1:], strict=False):
        rows.append(
            Row("start-up", f"parse: {label}", after - before, 1, 0, "whole",
                (after - before) / total, 0)
        )  # fmt: skip
    return rows


_HELP = """
import sys
from transducer.cli import main
main(["--help"], standalone_mode=False)
print("torch" in sys.modules)
"""


def _cpu_seconds(command: list[str]) -> tuple[float, str]:
    """Run Python; return its CPU seconds and output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    output = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=True, env=environment
    ).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, output


MEASURES: dict[str, Callable[[argparse.Namespace], list[Row]]] = {
    "training": _training,
    "parsing": _parsing,
    "beam": _beam,
    "latency": _latency,
    "length": _length,
    "memory": _memory,
    "startup": _startup,
}
