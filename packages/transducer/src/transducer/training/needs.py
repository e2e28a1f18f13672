"""What a recipe asks for beyond the treebank: whether it is there, and what its lack means."""

from __future__ import annotations

from collections.abc import Iterator

from transducer.config import Config
from transducer.data.vocabularies import SPECIALS, Vocabularies
from transducer.frameworks import task_of
from transducer.text.annotation import Annotator

_FEATURES = {"pos": "part of speech", "ner": "named entities", "dep": "dependencies"}


def needs(config: Config, vocabularies: Vocabularies, annotator: Annotator | None) -> Iterator[str]:
    """Yield one line for each of them."""
    m = config.model
    if m.contextual:
        yield f"contextual encoder: {m.contextual}, {'tuned' if m.contextual_tuned else 'frozen'}"
    if m.word_size and not m.word_vectors:  # else load_vectors tells how many words it has
        yield "word vectors: none, they are learned from the training files (model.word_vectors)"
    yield f"annotator: {annotator.name if annotator is not None else 'none'}"
    for name, what in _FEATURES.items():
        size = getattr(m, f"{name}_size")
        if size and len(getattr(vocabularies, name)) <= len(SPECIALS):
            yield (
                f"{what}: missing in the files, so that model.{name}_size = {size} learns a "
                "constant; train.annotator = auto adds it where spaCy is installed"
            )
    yield from task_of(config.task).needs(config)
