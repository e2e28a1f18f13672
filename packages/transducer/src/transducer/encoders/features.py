"""Vectors of an encoder that is not tuned: computed once per sentence, and kept."""

from __future__ import annotations

import copy
import functools
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from transducer.config import ModelConfig
from transducer.distributed import Group
from transducer.encoders.contextual import ContextualEncoder, cut, pool, run
from transducer.encoders.loading import load, shape
from transducer.encoders.places import find
from transducer.encoders.references import digest_of
from transducer.encoders.store import Store, Vectors
from transducer.encoders.subwords import Subwords
from transducer.int8 import shorten

Features = Callable[[Sequence[Sequence[str]]], list[Vectors]]
"""Where the vectors of an encoder come from that is not tuned, or not any more."""

_VERSION = 2
"""What changes when the same files give other vectors: 2 cuts whole sentences."""
_SENTENCES_AT_ONCE = 256
"""Sentences that a process computes before it meets the others."""
_TOKENS_AT_ONCE = {"cpu": 3000, "cuda": 24_000}
"""How many words a device computes best at once; a CPU's caches are small."""
CPU = torch.device("cpu")


class FrozenFeatures:
    """Vectors of a frozen encoder, computed once per sentence and kept in a file."""

    def __init__(
        self, config: ModelConfig, folder: Path | None = None, device: torch.device = CPU
    ) -> None:
        self.name = config.contextual
        self.last = config.contextual_layers == "last"
        self.device = device
        size, layers = shape(self.name)
        self.shape = (1 if self.last else layers, size)
        self._store = Store(folder / self._key(), self.shape) if folder is not None else None
        self._model: Any = None

    def shortened(self) -> FrozenFeatures:
        """Return a source of these vectors that computes with fewer bits, and keeps no file."""
        result = copy.copy(self)
        result._store = None
        result._model = copy.deepcopy(load(self.name)[1]).to(self.device)
        shorten(result._model)
        return result

    def __call__(self, sentences: Sequence[Sequence[str]]) -> list[Vectors]:
        """Return one (tokens, layers, size) array of half floats per sentence."""
        keys = [_key_of(words) for words in sentences]
        found: dict[bytes, Vectors] = {}
        missing: dict[bytes, int] = {}
        for i, key in enumerate(keys):
            kept = None if self._store is None else self._store.get(key)
            if kept is None:
                missing[key] = i
            else:
                found[key] = kept
        tokens = _TOKENS_AT_ONCE.get(self.device.type, _TOKENS_AT_ONCE["cpu"])
        for batch in _by_length(list(missing.values()), sentences, tokens):
            computed = self._compute([sentences[i] for i in batch])
            new = {keys[i]: vectors for i, vectors in zip(batch, computed, strict=True)}
            if self._store is not None:
                self._store.add(new)
            found |= new
        return [found[key] for key in keys]

    def warm(
        self, sentences: Iterable[Sequence[str]], group: Group, on_done: Callable[[int, int], None]
    ) -> None:
        """Compute the vectors of all sentences once, before they are asked for.

        Each process of a group computes its share. They meet after every few of them, so that none
        waits for the others longer than a group allows.

        Args:
            sentences: The same ones in every process.
            group: The processes.
            on_done: Is told how many sentences are done, of how many.
        """
        if self._store is None:
            return
        # Neighbors have about the same length, so that the shares take about the same time.
        plan = sorted({tuple(words) for words in sentences}, key=lambda words: (len(words), words))
        step = _SENTENCES_AT_ONCE * group.size
        for start in range(0, len(plan), step):
            share = plan[start : start + step][group.rank :: group.size]
            self([words for words in share if _key_of(words) not in self._store])
            group.gather([len(share)])
            on_done(min(start + step, len(plan)), len(plan))
        self._store.reload()

    def _compute(self, sentences: Sequence[Sequence[str]]) -> list[Vectors]:
        width = max(len(words) for words in sentences)
        if self._model is None:
            self._model = load(self.name)[1]
            if self.device.type != "cpu":
                self._model = copy.deepcopy(self._model).to(self.device)
        subwords = Subwords(*(part.to(self.device) for part in cut(self.name, sentences, width)))
        with torch.inference_mode():
            layers = torch.stack(run(self._model, subwords, last=self.last), dim=1)
            vectors = pool(layers, subwords, len(sentences), width)
        halves = vectors.half().cpu().numpy()
        return [halves[i, : len(words)] for i, words in enumerate(sentences)]

    def _key(self) -> str:
        encoder = find(self.name)
        known = f"{_VERSION} {digest_of(encoder.files)} {self.last} {self.shape}"
        name = encoder.reference.name.replace("/", "--")
        return f"{name}-{hashlib.sha256(known.encode()).hexdigest()[:12]}"


def _key_of(words: Sequence[str]) -> bytes:
    return hashlib.sha256("\0".join(words).encode(errors="surrogatepass")).digest()


class RememberedFeatures:
    """Vectors of tuned encoders that are tuned no further: mixed, and made once per sentence.

    Encoders that share their layers run once for all (see :mod:`transducer.encoders.sharing`): what
    differs is how each mixes them, and how many of them it has.
    """

    def __init__(
        self, encoders: Sequence[ContextualEncoder], name: str, precision: torch.dtype
    ) -> None:
        self.encoders = encoders
        self.name = name
        self.precision = precision
        self._known: list[dict[tuple[str, ...], Vectors]] = [{} for _ in encoders]

    def of(self, place: int) -> Features:
        """Return the source of one encoder's vectors."""
        return functools.partial(self._vectors, place)

    def _vectors(self, place: int, sentences: Sequence[Sequence[str]]) -> list[Vectors]:
        """Return one (tokens, 1, size) array per sentence."""
        known = self._known[place]
        keys = [tuple(words) for words in sentences]
        missing = list({key: i for i, key in enumerate(keys) if key not in known}.values())
        for batch in _by_length(missing, sentences, _TOKENS_AT_ONCE["cpu"]):
            for own, computed in zip(
                self._known, self._compute([keys[i] for i in batch]), strict=True
            ):
                own.update(zip((keys[i] for i in batch), computed, strict=True))
        return [known[key] for key in keys]

    @torch.inference_mode()
    def _compute(self, sentences: Sequence[Sequence[str]]) -> list[list[Vectors]]:
        """Return the vectors of each encoder."""
        width = max(len(words) for words in sentences)
        deepest = max(self.encoders, key=lambda encoder: encoder.depth)
        device = next(deepest.parameters()).device
        subwords = Subwords(*(part.to(device) for part in cut(self.name, sentences, width)))
        training = deepest.training
        deepest.eval()
        layers = run(deepest.model, subwords, last=False)
        deepest.train(training)
        found = []
        for encoder in self.encoders:
            own = layers[: encoder.depth + 1]
            vectors = encoder.finish(own, subwords, len(sentences), width)
            arrays = vectors.to(self.precision).cpu().numpy()
            found.append([arrays[i, : len(words), None] for i, words in enumerate(sentences)])
        return found


def _by_length(
    numbers: Sequence[int], sentences: Sequence[Sequence[str]], tokens: int
) -> Iterator[list[int]]:
    """Group sentences of similar length, about *tokens* words each."""
    group: list[int] = []
    for number in sorted(numbers, key=lambda i: len(sentences[i])):
        if group and len(sentences[number]) * (len(group) + 1) > tokens:
            yield group
            group = []
        group.append(number)
    if group:
        yield group
