"""Parse sentences with a trained model.

>>> from transducer import Transducer                                         # doctest: +SKIP
>>> [graph] = Transducer.shipped("amr").parse(["The boy wants to go."])       # doctest: +SKIP
>>> [graph] = Transducer.load("model").parse([["The", "boy", "left", "."]])   # doctest: +SKIP
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from graphconv.arborescence import Row
from graphconv.errors import GraphconvError
from graphconv.graph import Attributes, Graph, Token
from graphconv.io.files import sha256
from transducer.config import DecodeConfig
from transducer.data.batches import Batch, by_tokens
from transducer.data.examples import Item, numericalize
from transducer.data.vocabularies import Vocabularies
from transducer.decoding.results import Decision, Decoded
from transducer.decoding.rules import Rules, make_rules
from transducer.decoding.search import decode
from transducer.devices import pick_device
from transducer.distributed import ALONE, Group, join
from transducer.encoders.contextual import ContextualEncoder
from transducer.encoders.features import Features, FrozenFeatures
from transducer.encoders.low_rank import merge_differences
from transducer.errors import ConfigError, TransducerError
from transducer.frameworks.amr.spotlight import make_wikifier
from transducer.frameworks.certainty import Temperatures, scores_of
from transducer.frameworks.tasks import LONGEST, Document, ScoreTree, Task
from transducer.int8 import has_int8, to_int8
from transducer.model.inputs import make_batch, make_features
from transducer.model.network import TransducerModel
from transducer.storage import checkpoint, hub
from transducer.storage.compact import encoder_digest
from transducer.storage.rounded import Source, is_kept, load_rounded
from transducer.storage.shipped import find_model
from transducer.text.annotation import Annotator, model_annotator
from transducer.text.tokens import given_tokens

_log = logging.getLogger(__name__)

ERRORS = ("raise", "skip", "keep")
"""What a sentence that cannot be parsed does."""

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
        model: TransducerModel | None,
        score: dict[str, Any],
        *,
        group: Group = ALONE,
        about: dict[str, Any] | None = None,
        rounded: TransducerModel | None = None,
    ) -> None:
        """Take a model; *rounded* is one in 8 bits, without which it is made when it is needed."""
        self.task = task
        self.vocabularies = vocabularies
        self._model = model
        self.score = score
        self.group = group
        self.folder: Path | None = None
        """Where it was loaded from."""
        self.about = about or {}
        """The name of the model, the version of the package, the hash of the weights."""
        known = model or rounded
        assert known is not None
        self.device = next(known.parameters()).device
        self.features: Features | None = make_features(task.config, None, self.device)
        self._rules: Rules | None = None
        self._rounded: tuple[TransducerModel, FrozenFeatures | None] | None = None
        if rounded is not None:
            self._rounded = rounded, None

    @classmethod
    def load(cls, folder: str | Path, device: str = "auto", *, spotlight: str = "") -> Transducer:
        """Load a model directory; processes that were launched together parse together.

        *spotlight* is the address of a service that knows the Wikipedia pages of names (AMR); none
        is asked without.
        """
        group = join(device)
        folder, place = Path(folder), pick_device(device)
        config, vocabularies, task = checkpoint.load_setup(folder)
        task = replace(task, wikifier=make_wikifier(spotlight))
        model = rounded = None
        if is_kept(folder, config, place):
            about, score = describe(folder), checkpoint.read_score(folder)
            source = Source(folder, task, vocabularies, about["sha256"])
            found = rounded = load_rounded(source)
        else:
            saved = checkpoint.load(folder, place)
            about, score = describe(folder), saved.score
            found = model = saved.model
            merge_differences(model)
        if found.encoder_embedding.contextual is not None:
            origin = encoder_digest(folder / checkpoint.WEIGHTS)
            found.encoder_embedding.contextual.origin = origin
        loaded = cls(task, vocabularies, model, score, group=group, about=about, rounded=rounded)
        loaded.folder = folder
        return loaded

    @property
    def model(self) -> TransducerModel:
        """The model in full precision, loaded when it is first asked for."""
        if self._model is None:
            folder = self._source()
            model = checkpoint.load(folder, self.device).model
            if describe(folder) != self.about:
                raise TransducerError(f"{folder} is another model than it was when it was loaded")
            merge_differences(model)
            self._model = model
        return self._model

    @classmethod
    def shipped(cls, task: str, device: str = "auto", *, spotlight: str = "") -> Transducer:
        """Load the model of a task that comes with the package."""
        return cls.load(find_model(task), device, spotlight=spotlight)

    def identity(self) -> dict[str, Any]:
        """Return all that tells this model from others, for whoever resumes its work."""
        tables = self.task.tables
        return {
            "weights": self.about.get("sha256"),
            "config": self.task.config.to_dict(),
            "vocabularies": self.vocabularies.to_json(),
            "tables": tables.to_json() if tables is not None else "",
        }

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | Path,
        *,
        revision: str | None = None,
        cache_dir: str | Path | None = None,
        local_files_only: bool = False,
        device: str = "auto",
    ) -> Transducer:
        """Load a model: a task that ships, a folder, or ``OWNER/NAME`` on the hub.

        Args:
            name_or_path: Which one.
            revision: A branch, tag or commit on the hub.
            cache_dir: Where its files are kept; default: the cache of Hugging Face.
            local_files_only: Fetch nothing: what is not in the cache is an error.
            device: Where to compute.
        """
        folder = hub.find_pretrained(
            name_or_path,
            revision=revision,
            cache_dir=cache_dir,
            local_files_only=local_files_only,
        )
        return cls.load(folder, device)

    def save_pretrained(self, folder: str | Path) -> None:
        """Save the model, with its card as README in the hub's format."""
        hub.save_pretrained(self._source(), Path(folder), self.task.name)

    def push_to_hub(self, repo_id: str, **options: Any) -> str:
        """Push the model to the hub, and return the address of the commit.

        *options*: ``token``, ``private``, ``commit_message``, and those of
        ``huggingface_hub.HfApi.upload_folder``.
        """
        return hub.push(self._source(), self.task.name, repo_id, **options)

    def _source(self) -> Path:
        if self.folder is None:
            raise TransducerError("this model was not loaded from a folder: save it first")
        return self.folder

    @cached_property
    def annotator(self) -> Annotator | None:
        """What told part of speech, lemma and the rest in training, if it is installed."""
        place = f"the {self.task.name} model/config.json: train.annotator"
        return model_annotator(self.task.config.train.annotator, place)

    def settings(self, options: dict[str, Any]) -> DecodeConfig:
        """Return the settings of the search with the user's options."""
        known = [field.name for field in fields(DecodeConfig)]
        for name in options:
            if name not in known:
                raise ConfigError(f"there is no option {name!r}; there are {', '.join(known)}")
        return replace(self.task.config.decode, **options)

    def parse(
        self,
        sentences: Iterable[str | Sequence[str | Token]],
        *,
        tokenized: bool = False,
        errors: str = "raise",
        **options: Any,
    ) -> list[Graph]:
        """Parse sentences: raw ones (strings), or their tokens (lists).

        Args:
            sentences: One graph is made of each.
            tokenized: Strings have blanks between the tokens.
            errors: What a sentence that cannot be parsed does: ``raise``; ``skip`` leaves it out,
                which is logged; ``keep`` puts a graph without nodes in its place, whose metadata
                have the reason as ``problem``.
            options: Settings of the search: ``beam``, ``batch_tokens`` and so on.
        """
        check_errors(errors)
        settings = self.settings(options)
        if isinstance(sentences, str):
            raise TypeError("parse takes a list of sentences: put the string into a list")
        given = [given_tokens(sentence, tokenized=tokenized) for sentence in sentences]
        words = [tokens for tokens, _ in given]
        if self.annotator is not None:
            words = self.annotator.annotate(words)
        documents = (
            self.task.document(str(i), tokens, self.said(text))
            for i, (tokens, (_, text)) in enumerate(zip(words, given, strict=True), start=1)
        )
        graphs = []
        for parse in self.stream(documents, settings):
            if parse.graph is not None:
                graphs.append(parse.graph)
                continue
            name, problem = parse.document.id, parse.problem
            if errors == "raise":
                raise TransducerError(f"sentence {name}: {problem}")
            if errors == "skip":
                _log.warning("sentence %s is left out: %s", name, problem)
                continue
            graphs.append(Graph(name, self.task.name, metadata=(("problem", problem),)))
        return graphs

    def said(self, text: str) -> Attributes:
        """Return what a graph says about its sentence: AMR has no other place for it."""
        return self.task.metadata(text) if text else ()

    def stream(
        self,
        documents: Iterable[Document],
        settings: DecodeConfig,
        *,
        details: bool = False,
        runners_up: int = 0,
        vectors: Features | None = None,
    ) -> Iterator[Parse]:
        """Parse lazily, in the order of the input.

        The decisions of each hypothesis have *runners_up* of the next best choices.
        *vectors* are those of the contextual encoder, where another model computes them, too.
        Each process of a group decodes some of the batches and gets the results of all.
        """
        stream = iter(documents)
        while window := list(islice(stream, WINDOW)):
            yield from self._window(
                window, settings, details=details, runners_up=runners_up, vectors=vectors
            )

    def _window(
        self, documents: Sequence[Document], settings: DecodeConfig, **more: Any
    ) -> Iterator[Parse]:
        sentences = [sentence for document in documents for sentence in document.sentences]
        items = [numericalize(sentence.example, self.vocabularies) for sentence in sentences]
        found: list[tuple[Decoded, ...]] = [(_NOTHING,)] * len(items)
        budget = max(settings.batch_tokens // settings.beam, 1)
        fitting = [i for i, item in enumerate(items) if 0 < len(item.forms) <= LONGEST]
        groups = list(by_tokens(fitting, items, budget))
        own: list[tuple[int, list[Decoded]]] = []
        for group in groups[self.group.rank :: self.group.size]:
            decoded = self.decode([items[i] for i in group], settings, **more)
            own += zip(group, decoded, strict=True)
        for i, hypotheses in self.group.gather(own):
            found[i] = tuple(hypotheses)
        start = 0
        for document in documents:
            end = start + len(document.sentences)
            yield self._finish(document, tuple(found[start:end]), settings)
            start = end

    def parse_watched(
        self,
        document: Document,
        settings: DecodeConfig,
        on_row: Callable[[int, Row, Decision], None],
        *,
        runners_up: int = 0,
        vectors: Features | None = None,
    ) -> Parse:
        """Parse one document; *on_row* gets each row of each of its sentences as it is decided.

        With it comes how sure the model is, and *runners_up* of the next best choices; for
        *vectors* see :meth:`stream`.
        """
        found: list[tuple[Decoded, ...]] = []
        for place, sentence in enumerate(document.sentences):
            item = numericalize(sentence.example, self.vocabularies)
            if not 0 < len(item.forms) <= LONGEST:
                found.append((_NOTHING,))
                continue

            def tell(_: int, row: Row, decision: Decision, place: int = place) -> None:
                on_row(place, row, decision)

            [decoded] = self.decode(
                [item],
                settings,
                details=True,
                on_row=tell,
                runners_up=runners_up,
                vectors=vectors,
            )
            found.append(tuple(decoded))
        return self._finish(document, tuple(found), settings)

    def encoder(self, settings: DecodeConfig) -> ContextualEncoder | None:
        """Return the fine-tuned contextual encoder with which sentences are parsed, if any."""
        contextual = self._model_for(settings)[0].encoder_embedding.contextual
        return None if contextual is None or contextual.model is None else contextual

    def _model_for(self, settings: DecodeConfig) -> tuple[TransducerModel, Features | None]:
        """Return the model with which sentences are parsed, and its frozen vectors."""
        rounded = settings.int8 and has_int8(self.device)
        return self._in_8_bits() if rounded else (self.model, self.features)

    def decode(
        self,
        items: Sequence[Item],
        settings: DecodeConfig,
        *,
        details: bool = False,
        vectors: Features | None = None,
        **more: Any,
    ) -> list[list[Decoded]]:
        """Decode one batch; AMR always with details, which say what its nodes stand for."""
        details = details or not self.task.trees.words_are_nodes
        model, features = self._model_for(settings)
        batch = self.batch(items, vectors or features)
        if self._rules is None or (self._model is not None and self._model.training):
            self._rules = make_rules(self._model or model, self.vocabularies, self.task)
        return decode(model, batch, items, self._rules, settings, details=details, **more)

    def batch(self, items: Sequence[Item], features: Features | None = None) -> Batch:
        """Collate items with their contextual vectors."""
        source = features or self.features
        return make_batch(items, self.vocabularies, self.task.config, source).to(self.device)

    def _in_8_bits(self) -> tuple[TransducerModel, FrozenFeatures | None]:
        if self._rounded is None:
            features = make_features(self.task.config, None, self.device)
            self._rounded = to_int8(self.model), features and features.shortened()
        return self._rounded

    def _finish(
        self,
        document: Document,
        found: tuple[tuple[Decoded, ...], ...],
        settings: DecodeConfig,
    ) -> Parse:
        longest = max((len(sentence.tokens) for sentence in document.sentences), default=0)
        if longest > LONGEST:
            return Parse(
                document, None, problem=f"it has {longest:,} tokens, and {LONGEST:,} is the most"
            )
        if not any(hypotheses[0].rows for hypotheses in found):
            return Parse(document, None, problem="there is no word in it")
        try:
            graph = self.graph(document, [hypotheses[0] for hypotheses in found], settings)
        except GraphconvError as error:
            return Parse(document, None, found, str(error))
        return Parse(document, graph, found)

    def graph(
        self,
        document: Document,
        sentences: Sequence[Decoded],
        settings: DecodeConfig | None = None,
    ) -> Graph:
        """Return the graph of a document, given a hypothesis for each of its sentences.

        *settings* has the temperatures of its scores; default: the model's.
        """
        rows, frames = [one.rows for one in sentences], [one.frames for one in sentences]
        attentions = [one.alignments for one in sentences]
        scores = [_scores(one, settings or self.task.config.decode) for one in sentences]
        graph = self.task.graph(document, rows, frames, attentions, scores=scores)
        return self._signed(graph)

    def _signed(self, graph: Graph) -> Graph:
        """Return the graph with the model that made it in its metadata, and no other."""
        if not self.about:
            return graph
        name, number, digest = (self.about[key] for key in ("name", "version", "sha256"))
        others = tuple(pair for pair in graph.metadata if pair[0] != "model")
        signature = ("model", f"{name} {number} sha256:{digest[:16]}")
        return replace(graph, metadata=(*others, signature))


_NOTHING = Decoded((), 0.0)


def _scores(decoded: Decoded, settings: DecodeConfig) -> ScoreTree:
    temperatures = Temperatures(settings.node_temperature, settings.edge_temperature)
    return lambda tree: scores_of(tree, decoded.decisions, decoded.score, temperatures)


def describe(folder: Path) -> dict[str, Any]:
    """Return what identifies a model: its name, the version of this package, its weights' hash."""
    digest = sha256(checkpoint.weights_path(folder))
    name = f"{folder.resolve().name}"
    return {"name": name, "version": version("arbora-transducer"), "sha256": digest}


def check_errors(errors: str) -> None:
    """Refuse an unknown way to treat errors."""
    if errors not in ERRORS:
        raise ConfigError(f"errors={errors!r} is none of {', '.join(map(repr, ERRORS))}")
