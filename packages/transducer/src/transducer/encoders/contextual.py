"""Contextual word vectors of a pre-trained encoder: frozen and cached, or tuned with the model."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from transducer.config import ModelConfig
from transducer.encoders.bert import Bert, is_bert, load_bert
from transducer.encoders.low_rank import learn_differences
from transducer.encoders.places import digest_of, find
from transducer.errors import ModelError
from transducer.model.int8 import shorten

if TYPE_CHECKING:
    from transducer.data.examples import Batch

MAX_SUBWORDS = 510
"""Longer sentences are encoded in overlapping windows of so many sub-words."""


class Subwords(NamedTuple):
    """A batch of sentences cut into the encoder's sub-words."""

    ids: Tensor  # (W, P) windows of sub-words
    mask: Tensor  # (W, P)
    words: Tensor  # (W, P) flat number b * S + s of the word that a sub-word belongs to, or -1


@cache
def _loaded(name: str) -> tuple[Any, Any]:
    """Return tokenizer and model, loaded once per process."""
    encoder = find(name)
    if is_bert(encoder.folder):
        return load_bert(encoder.folder)
    # Imported here: transformers takes longer to import than all the rest of the package.
    from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415
    from transformers.utils import logging  # noqa: PLC0415

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    safe: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
    with encoder.alone() as folder, _told(name):
        tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True, **safe)
        model = AutoModel.from_pretrained(folder, dtype=torch.float32, use_safetensors=True, **safe)
    return tokenizer, model.eval()


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Say of which encoder an error is, whatever is wrong with its files."""
    try:
        yield
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError) as error:
        reason = (str(error) or type(error).__name__).strip().splitlines()[0]
        raise ModelError(f"the encoder {name} cannot be loaded: {reason}") from error


@cache
def _shape(name: str) -> tuple[int, int]:
    """Return (vector size, number of layers with the embedding layer)."""
    encoder = find(name)
    if is_bert(encoder.folder):
        config = json.loads((encoder.folder / "config.json").read_text(encoding="utf-8"))
        return config["hidden_size"], config["num_hidden_layers"] + 1
    from transformers import AutoConfig  # noqa: PLC0415 - see _loaded

    with encoder.alone() as folder, _told(name):
        loaded = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        return loaded.hidden_size, loaded.num_hidden_layers + 1


def cut(name: str, sentences: Sequence[Sequence[str]], width: int) -> Subwords:
    """Cut words into sub-words and pack every sentence into one or more windows.

    A word is cut on its own, so that its sub-words never depend on its neighbors' spelling.
    """
    tokenizer = _loaded(name)[0]
    vocabulary = _word_pieces(name)
    windows: list[tuple[list[int], list[int]]] = []
    for number, sentence in enumerate(sentences):
        ids: list[int] = []
        owners: list[int] = []
        for place, word in enumerate(sentence):
            pieces = vocabulary(word) or [tokenizer.unk_token_id]
            ids += pieces
            owners += [number * width + place] * len(pieces)
        for start in range(0, max(len(ids), 1), MAX_SUBWORDS):
            piece = slice(start, start + MAX_SUBWORDS)
            windows.append((ids[piece], owners[piece]))
    longest = max(len(ids) for ids, _ in windows) + 2
    shape = (len(windows), longest)
    ids_array = np.full(shape, tokenizer.pad_token_id, dtype=np.int64)
    mask = np.zeros(shape, dtype=np.int64)
    words = np.full(shape, -1, dtype=np.int64)
    for row, (ids, owners) in enumerate(windows):
        ids_array[row, : len(ids) + 2] = [tokenizer.cls_token_id, *ids, tokenizer.sep_token_id]
        mask[row, : len(ids) + 2] = 1
        words[row, 1 : len(ids) + 1] = owners
    return Subwords(*(torch.from_numpy(array) for array in (ids_array, mask, words)))


def mask_number(name: str) -> int:
    """Return the number of the sub-word that an encoder knows as a gap in the text."""
    tokenizer = _loaded(name)[0]
    known = tokenizer.mask_token_id
    return int(tokenizer.unk_token_id if known is None else known)


@cache
def _word_pieces(name: str) -> Any:
    """Return a cached function from a word to its sub-word numbers."""
    tokenizer = _loaded(name)[0]

    @cache
    def pieces(word: str) -> list[int]:
        # Sub-words far beyond any real word (base64, URLs) say nothing more.
        return list(tokenizer(word, add_special_tokens=False)["input_ids"][:32])

    return pieces


def pool(layers: Tensor, subwords: Subwords, sentences: int, width: int) -> Tensor:
    """Average the sub-words of each word: (K, L, D) -> (B, S, L, D)."""
    owners = subwords.words[subwords.mask.bool()]
    owned = owners >= 0
    flat, owners = layers[owned], owners[owned]
    total = flat.new_zeros(sentences * width, *flat.shape[1:]).index_add_(0, owners, flat)
    count = flat.new_zeros(sentences * width).index_add_(0, owners, flat.new_ones(len(owners)))
    mean = total / count.clamp_min(1)[:, None, None]
    return mean.view(sentences, width, *flat.shape[1:])


def _copy(model: Any, *, shared: bool) -> Any:
    """Copy an encoder, which others use, too; weights that are not tuned can be shared."""
    weights = model.parameters() if shared else ()
    return copy.deepcopy(model, {id(weight): nn.Parameter(weight.detach()) for weight in weights})


class ContextualEncoder(nn.Module):
    """Mix the layers of the contextual encoder; run it too if it is tuned."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width, layers = _shape(config.contextual)
        if config.contextual_depth >= layers:
            raise ModelError(
                f"{config.contextual} has {layers - 1} layers, and contextual_depth asks for "
                f"{config.contextual_depth}"
            )
        if config.contextual_depth:
            layers = config.contextual_depth + 1
        self.size = config.contextual_size or width
        self.projection = nn.Linear(width, self.size) if config.contextual_size else None
        self.mix = nn.Parameter(torch.zeros(layers)) if config.contextual_layers == "mix" else None
        self.scale = nn.Parameter(torch.ones(1)) if self.mix is not None else None
        self.model = None
        if config.contextual_tuned:
            self.model = _copy(_loaded(config.contextual)[1], shared=config.contextual_rank > 0)
            self.model.train().requires_grad_(not config.contextual_rank)
            self.model.embeddings.requires_grad_(False)
            if getattr(self.model, "pooler", None) is not None:
                # Nobody reads it: processes would wait for its gradients.
                self.model.pooler.requires_grad_(False)
            if config.contextual_depth:
                self.model.encoder.layer = self.model.encoder.layer[: config.contextual_depth]
            if config.contextual_rank:
                learn_differences(self.model.encoder.layer, config.contextual_rank)

    def forward(self, batch: Batch) -> Tensor:
        """Return one vector per word: (B, S, D)."""
        if self.model is None:
            assert batch.contextual is not None
            return self._project(self._mix(batch.contextual.float().unbind(2)))
        if batch.contextual is not None:
            return batch.contextual[:, :, 0].float()  # see RememberedFeatures
        assert batch.subwords is not None
        return self.encode(batch.subwords, *batch.words.shape)

    def encode(self, subwords: Subwords, sentences: int, width: int) -> Tensor:
        """Run a tuned encoder."""
        layers = run(self.model, subwords, last=self.mix is None)
        # Mixed before pooled: both are sums, and there are fewer vectors to pool.
        mixed = self._mix(layers).unsqueeze(1)
        return self._project(pool(mixed, subwords, sentences, width).squeeze(2))

    def _project(self, vectors: Tensor) -> Tensor:
        return vectors if self.projection is None else self.projection(vectors)

    def _mix(self, layers: Sequence[Tensor]) -> Tensor:
        """Return the last layer, or the weighted sum of all."""
        if self.mix is None or self.scale is None:
            return layers[-1]
        weights = self.scale * self.mix.softmax(0)
        # One after the other: to put them all into one tensor takes longer than to add them up.
        mixed = layers[0] * weights[0]
        for layer, weight in zip(layers[1:], weights[1:], strict=True):
            mixed = torch.addcmul(mixed, layer, weight)
        return mixed


def run(model: Any, subwords: Subwords, *, last: bool) -> list[Tensor]:
    """Run the encoder: (K, D) of every layer, or of the last one alone, K sub-words in all."""
    ids, mask = subwords.ids, subwords.mask
    if isinstance(model, Bert):
        layers = model(ids, mask)
    else:
        output = model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        layers = [layer[mask.bool()] for layer in output.hidden_states]
    return layers[-1:] if last else layers


class FrozenFeatures:
    """Vectors of a frozen encoder, computed once per sentence and kept in a memory-mapped file."""

    def __init__(self, config: ModelConfig, folder: Path | None = None) -> None:
        self.name = config.contextual
        self.last = config.contextual_layers == "last"
        size, layers = _shape(self.name)
        self.shape = (1 if self.last else layers, size)
        self._store = _Store(folder / self._key(), self.shape) if folder is not None else None
        self._model: Any = None

    def shortened(self) -> FrozenFeatures:
        """Return a source of these vectors that computes with fewer bits, and keeps no file."""
        result = copy.copy(self)
        result._store = None
        result._model = copy.deepcopy(_loaded(self.name)[1])
        shorten(result._model)
        return result

    def __call__(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray[Any, Any]]:
        """Return one (tokens, layers, size) array of half floats per sentence."""
        keys = [hashlib.sha256("\0".join(words).encode()).hexdigest() for words in sentences]
        found = {key: self._store.get(key) for key in keys} if self._store is not None else {}
        missing = [i for i, key in enumerate(keys) if found.get(key) is None]
        for batch in _by_length(missing, sentences):
            for i, vectors in zip(batch, self._compute([sentences[i] for i in batch]), strict=True):
                found[keys[i]] = vectors
                if self._store is not None:
                    self._store.add(keys[i], vectors)
        if self._store is not None and missing:
            self._store.flush()
        return [found[key] for key in keys]  # type: ignore[misc]

    def reload(self) -> None:
        """See what another process has added to the file."""
        if self._store is not None:
            self._store.reload()

    def _compute(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray[Any, Any]]:
        width = max(len(words) for words in sentences)
        model = _loaded(self.name)[1] if self._model is None else self._model
        subwords = cut(self.name, sentences, width)
        with torch.inference_mode():
            layers = torch.stack(run(model, subwords, last=self.last), dim=1)
            vectors = pool(layers, subwords, len(sentences), width)
        halves = vectors.half().numpy()
        return [halves[i, : len(words)] for i, words in enumerate(sentences)]

    def _key(self) -> str:
        encoder = find(self.name)
        known = f"{digest_of(encoder.files)} {self.last} {self.shape}"
        name = encoder.reference.name.replace("/", "--")
        return f"{name}-{hashlib.sha256(known.encode()).hexdigest()[:12]}"


class RememberedFeatures:
    """Vectors of a tuned encoder that is tuned no further: mixed, and made once per sentence."""

    def __init__(self, encoder: ContextualEncoder, name: str) -> None:
        self.encoder = encoder.requires_grad_(False)
        self.name = name
        self._known: dict[tuple[str, ...], np.ndarray[Any, Any]] = {}

    def __call__(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray[Any, Any]]:
        """Return one (tokens, 1, size) array of half floats per sentence."""
        keys = [tuple(words) for words in sentences]
        missing = [i for i, key in enumerate(keys) if key not in self._known]
        for batch in _by_length(missing, sentences):
            for i, vectors in zip(batch, self._compute([keys[i] for i in batch]), strict=True):
                self._known[keys[i]] = vectors
        return [self._known[key] for key in keys]

    def _compute(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray[Any, Any]]:
        width = max(len(words) for words in sentences)
        device = next(self.encoder.parameters()).device
        subwords = Subwords(*(part.to(device) for part in cut(self.name, sentences, width)))
        training = self.encoder.training
        self.encoder.eval()
        with torch.inference_mode():
            vectors = self.encoder.encode(subwords, len(sentences), width)
        self.encoder.train(training)
        halves = vectors.half().cpu().numpy()
        return [halves[i, : len(words), None] for i, words in enumerate(sentences)]


class _Store:
    """An append-only file of half floats and an index of where each sentence's vectors are."""

    def __init__(self, folder: Path, shape: tuple[int, int]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.data = folder / "vectors.f16"
        self.index_file = folder / "index.tsv"
        self.shape = shape
        self.data.touch()
        self.index: dict[str, tuple[int, int]] = {}
        self._map: np.memmap[Any, Any] | None = None
        self.reload()

    def reload(self) -> None:
        """Read the index anew."""
        self._map = None
        if self.index_file.is_file():
            for line in self.index_file.read_text(encoding="utf-8").splitlines():
                key, start, tokens = line.split("\t")
                self.index[key] = (int(start), int(tokens))

    def get(self, key: str) -> np.ndarray[Any, Any] | None:
        """Return a sentence's vectors, or None."""
        if key not in self.index:
            return None
        start, tokens = self.index[key]
        row = self.shape[0] * self.shape[1]
        end = (start + tokens) * row
        if self._map is None or self._map.shape[0] < end:
            if self.data.stat().st_size < end * 2:  # written by a run that died
                return None
            self._map = np.memmap(self.data, dtype=np.float16, mode="r")
        return self._map[start * row : end].reshape(tokens, *self.shape)

    def add(self, key: str, vectors: np.ndarray[Any, Any]) -> None:
        """Append a sentence's vectors."""
        row = self.shape[0] * self.shape[1] * 2
        with self.data.open("ab") as file:
            start = file.tell() // row
            file.write(np.ascontiguousarray(vectors).tobytes())
        with self.index_file.open("a", encoding="utf-8") as file:
            file.write(f"{key}\t{start}\t{len(vectors)}\n")
        self.index[key] = (start, len(vectors))

    def flush(self) -> None:
        """Let later reads see what was added."""
        self._map = None


def _by_length(
    numbers: Sequence[int], sentences: Sequence[Sequence[str]], tokens: int = 3000
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
