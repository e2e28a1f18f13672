"""Parse sentences with a trained model.

>>> from transducer import Transducer                                         # doctest: +SKIP
>>> [graph] = Transducer.shipped("amr").parse(["The boy wants to go ."])      # doctest: +SKIP
>>> [graph] = Transducer.load("model").parse(["The boy wants to go ."])       # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from graphconv.errors import GraphconvError
from graphconv.graph import Graph, Token
from transducer.config import Config, DecodeConfig
from transducer.data.examples import Batch, Item, collate, number
from transducer.data.vocabularies import Vocabularies
from transducer.decoding.constraints import Rules, make_rules
from transducer.decoding.search import Decoded, decode
from transducer.encoders.contextual import FrozenFeatures, RememberedFeatures, cut
from transducer.encoders.low_rank import merge_differences
from transducer.errors import TransducerError
from transducer.frameworks.tasks import LONGEST, Document, Task, make_linker
from transducer.model.int8 import has_int8, to_int8
from transducer.model.network import TransducerModel
from transducer.storage import checkpoint
from transducer.storage.shipped import find_model
from transducer.training.distributed import ALONE, Group, join, launched

WINDOW = 1024
"""Sentences read ahead, so that batches have sentences of similar length."""


@dataclass(frozen=True, slots=True)
class Parse:
    """A parsed document: its graph, or why there is none."""

    document: Document
    graph: Graph | None
    hypotheses: tuple[tuple[Decoded, ...], ...] = ()
    """For each sentence its hypotheses, best first."""
    problem: str = ""


class Transducer:
    """A trained model, ready to parse."""

    def __init__(
        self,
        task: Task,
        vocabularies: Vocabularies,
        model: TransducerModel,
        score: dict[str, Any],
        *,
        group: Group = ALONE,
    ) -> None:
        self.task = task
        self.vocabularies = vocabularies
        self.model = model
        self.score = score
        self.group = group
        self.features: FrozenFeatures | RememberedFeatures | None = make_features(task.config, None)
        self._rules: Rules | None = None
        self._rounded: tuple[TransducerModel, FrozenFeatures | None] | None = None

    @classmethod
    def load(cls, folder: str | Path, device: str = "auto", *, spotlight: str = "") -> Transducer:
        """Load a model directory; processes that were launched together parse together.

        *spotlight* is the address of a service that links the names of AMR; none is asked without.
        """
        group = join(device)
        saved = checkpoint.load(folder, pick_device(device))
        merge_differences(saved.model)
        task = replace(saved.task, linker=make_linker(spotlight))
        return cls(task, saved.vocabularies, saved.model, saved.score, group=group)

    @classmethod
    def shipped(cls, task: str, device: str = "auto", *, spotlight: str = "") -> Transducer:
        """Load the model of a task that comes with the package."""
        return cls.load(find_model(task), device, spotlight=spotlight)

    def parse(self, sentences: Iterable[str | Sequence[Token]], **options: Any) -> list[Graph]:
        """Parse tokenized sentences: tokens, or strings with blanks between the tokens."""
        tokens = (_tokens(sentence) for sentence in sentences)
        documents = (self.task.document(str(i), t) for i, t in enumerate(tokens, start=1))
        graphs = []
        for parse in self.stream(documents, replace(self.task.config.decode, **options)):
            if parse.graph is None:
                raise TransducerError(f"sentence {parse.document.id}: {parse.problem}")
            graphs.append(parse.graph)
        return graphs

    def stream(
        self, documents: Iterable[Document], settings: DecodeConfig, *, details: bool = False
    ) -> Iterator[Parse]:
        """Parse lazily, in the order of the input.

        Each process of a group decodes some of the batches and gets the results of all.
        """
        stream = iter(documents)
        while window := list(islice(stream, WINDOW)):
            yield from self._window(window, settings, details=details)

    def _window(
        self, documents: Sequence[Document], settings: DecodeConfig, *, details: bool
    ) -> Iterator[Parse]:
        sentences = [sentence for document in documents for sentence in document.sentences]
        items = [number(sentence.example, self.vocabularies) for sentence in sentences]
        found: list[tuple[Decoded, ...]] = [(_NOTHING,)] * len(items)
        budget = max(settings.batch_tokens // settings.beam, 1)
        fitting = [i for i, item in enumerate(items) if 0 < len(item.forms) <= LONGEST]
        groups = list(by_tokens(fitting, items, budget))
        own: list[tuple[int, list[Decoded]]] = []
        for group in groups[self.group.rank :: self.group.size]:
            decoded = self.decode([items[i] for i in group], settings, details=details)
            own += zip(group, decoded, strict=True)
        for i, hypotheses in self.group.gather(own):
            found[i] = tuple(hypotheses)
        start = 0
        for document in documents:
            end = start + len(document.sentences)
            yield self._finish(document, tuple(found[start:end]))
            start = end

    def decode(
        self, items: Sequence[Item], settings: DecodeConfig, *, details: bool = False, **more: Any
    ) -> list[list[Decoded]]:
        """Decode one batch."""
        rounded = settings.int8 and has_int8(next(self.model.parameters()).device)
        model, features = self._in_8_bits() if rounded else (self.model, self.features)
        batch = self.batch(items, features)
        if self._rules is None or self.model.training:
            self._rules = make_rules(self.model, self.vocabularies, self.task.name)
        return decode(
            model,
            batch,
            items,
            self._rules,
            beam=settings.beam,
            nbest=settings.nbest,
            unique_core_roles=settings.unique_core_roles,
            limit_copies=settings.limit_copies,
            length_penalty=settings.length_penalty,
            details=details,
            **more,
        )

    def batch(
        self, items: Sequence[Item], features: FrozenFeatures | RememberedFeatures | None = None
    ) -> Batch:
        """Collate items with their contextual vectors."""
        device = next(self.model.parameters()).device
        source = features or self.features
        return make_batch(items, self.vocabularies, self.task.config, source).to(device)

    def _in_8_bits(self) -> tuple[TransducerModel, FrozenFeatures | None]:
        if self._rounded is None:
            features = make_features(self.task.config, None)
            self._rounded = to_int8(self.model), features and features.shortened()
        return self._rounded

    def _finish(self, document: Document, found: tuple[tuple[Decoded, ...], ...]) -> Parse:
        longest = max((len(sentence.tokens) for sentence in document.sentences), default=0)
        if longest > LONGEST:
            return Parse(
                document, None, problem=f"it has {longest:,} tokens, and {LONGEST:,} is the most"
            )
        if not any(hypotheses[0].rows for hypotheses in found):
            return Parse(document, None, problem="there is no word in it")
        try:
            best = [hypotheses[0] for hypotheses in found]
            graph = self.task.graph(document, [b.rows for b in best], [b.frames for b in best])
        except GraphconvError as error:
            return Parse(document, None, found, str(error))
        return Parse(document, graph, found)


_NOTHING = Decoded((), 0.0)


def make_features(config: Config, folder: Path | None) -> FrozenFeatures | None:
    """Return the source of frozen contextual vectors, if the model uses them."""
    if not config.model.contextual or config.model.contextual_tuned:
        return None
    return FrozenFeatures(config.model, folder)


def make_batch(
    items: Sequence[Item],
    vocabularies: Vocabularies,
    config: Config,
    features: FrozenFeatures | RememberedFeatures | None,
) -> Batch:
    """Collate items with whatever the contextual encoder needs."""
    forms = [item.forms for item in items]
    vectors = features(forms) if features is not None else None
    subwords = None
    if config.model.contextual_tuned and vectors is None:
        subwords = cut(config.model.contextual, forms, max(len(f) for f in forms))
    return collate(items, vocabularies, contextual=vectors, subwords=subwords)


def by_tokens(numbers: Iterable[int], items: Sequence[Item], budget: int) -> Iterator[list[int]]:
    """Group items of similar length so that a padded batch has at most *budget* tokens."""
    group: list[int] = []
    for i in sorted(numbers, key=lambda i: len(items[i].forms)):
        if group and (len(group) + 1) * len(items[i].forms) > budget:
            yield group
            group = []
        group.append(i)
    if group:
        yield group


def pick_device(name: str) -> torch.device:
    """Return the device called *name*; ``auto`` is the best there is, one per process."""
    if name.startswith("cuda:") and launched().size > 1:
        raise TransducerError(f"--device {name}: each of several processes has a GPU of its own")
    if name in ("auto", "cuda") and torch.cuda.is_available():
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    if name == "auto":
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise TransducerError(f"there is no device {name!r} here: {reason}") from error
    return device


def _tokens(sentence: str | Sequence[Token]) -> tuple[Token, ...]:
    if isinstance(sentence, str):
        return tuple(Token(form) for form in sentence.split())
    return tuple(sentence)
