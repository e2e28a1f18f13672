"""Word vectors in GloVe's text format: a word and its numbers on each line."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from transducer.data.vocabularies import Vocabularies, Vocabulary
from transducer.errors import ConfigError
from transducer.model.network import TransducerModel


def load_vectors(model: TransducerModel, vocabularies: Vocabularies, path: Path) -> None:
    """Initialize the word vectors of encoder and decoder from a file, where it has the word."""
    wanted = {word.lower() for word in vocabularies.words.items}
    wanted |= {_bare(label) for label in vocabularies.nodes.items}
    found = read_vectors(path, wanted, model.config.word_size)
    words = model.encoder_embedding.tables["words"]
    assert isinstance(words, nn.Embedding)
    _initialize(words, vocabularies.words, found)
    _initialize(model.node_embedding.words, vocabularies.nodes, found)


def read_vectors(path: Path, wanted: set[str], size: int) -> dict[str, Tensor]:
    """Read the vectors of some words."""
    found: dict[str, Tensor] = {}
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for lineno, line in enumerate(lines, start=1):
                word, _, numbers = line.rstrip().partition(" ")
                if word not in wanted:
                    continue
                values = [float(x) for x in numbers.split()]
                if len(values) != size:
                    raise ConfigError(
                        f"{path}:{lineno}: {len(values)} numbers, and model.word_size is {size}"
                    )
                found[word] = torch.tensor(values)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{path}:{lineno}: not a vector: {error}") from error
    return found


def _initialize(table: nn.Embedding, vocabulary: Vocabulary, found: dict[str, Tensor]) -> None:
    with torch.no_grad():
        for number, item in enumerate(vocabulary.items):
            vector = found.get(_bare(item))
            if vector is not None:
                table.weight[number] = vector


def _bare(label: str) -> str:
    """Return the word in a node label: a constant without its mark and quotes."""
    return label.removeprefix("=").strip('"').lower()
