r"""Word vectors as text: a word and its numbers on each line, as GloVe and word2vec write them.

The published files are not as tidy as their format. Those of GloVe 840B have words with blanks
(``. . .``, ``at name@domain.com``) and with characters that Unicode takes for line breaks, some
words twice, and bytes that are no UTF-8. So lines are bytes that end in ``\n`` and nowhere else,
numbers are counted from the right, and the first vector of a word, which is the one of the more
frequent spelling, is kept. A first line with two whole numbers, as word2vec writes it, is skipped.

>>> lines = [b"a 0.5 1\n", b". . . -1 2e-1\n", b"a 7 7\n"]
>>> {word: vector.tolist() for word, vector in select_vectors(lines, {"a", ". . ."}, 2)}
{'a': [0.5, 1.0], '. . .': [-1.0, 0.20000000298023224]}
"""

from __future__ import annotations

import gzip
import math
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from transducer.data.vocabularies import Vocabularies, Vocabulary
from transducer.errors import ConfigError

if TYPE_CHECKING:
    from transducer.model.network import TransducerModel

_FIRST_LINES = 100
"""So many lines tell the size of the vectors: not all of their words end in a number."""
_HEADER = 2
"""Fields of word2vec's first line: how many words there are, and the size of their vectors."""


class _BadLineError(ValueError):
    """A line is not a vector."""

    def __init__(self, lineno: int, reason: str) -> None:
        super().__init__(reason)
        self.lineno = lineno


def load_vectors(model: TransducerModel, vocabularies: Vocabularies, path: Path) -> str:
    """Initialize the word vectors of encoder and decoder from a file, where it has the word.

    Returns:
        A line that says how many of the words have one.
    """
    wanted = {word.lower() for word in vocabularies.words.items}
    wanted |= {_bare(label) for label in vocabularies.nodes.items}
    found = read_vectors(path, wanted, model.config.word_size)
    words = model.encoder_embedding.tables["words"]
    assert isinstance(words, nn.Embedding)
    known = _initialize(words, vocabularies.words, found)
    _initialize(model.node_embedding.words, vocabularies.nodes, found)
    return f"word vectors: {path} has {known:,} of the {len(vocabularies.words):,} words"


def read_vectors(path: Path, wanted: set[str], size: int) -> dict[str, Tensor]:
    """Read the vectors of some words from a file, which can be in a ``.gz`` or ``.zip``."""
    try:
        with _opened(path) as lines:
            return dict(select_vectors(lines, wanted, size))
    except _BadLineError as error:
        raise ConfigError(f"{path}:{error.lineno}: {error}") from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ConfigError(f"{path}: the compressed file is damaged: {error}") from error


def select_vectors(
    lines: Iterable[bytes], wanted: set[str], size: int
) -> Iterator[tuple[str, Tensor]]:
    """Yield the vectors of some words, each once."""
    stream = iter(lines)
    first = list(islice(stream, _FIRST_LINES))
    skipped = _is_header(first, size)
    _check_size(first[skipped:], size, 1 + skipped)
    left = {word.encode(errors="replace"): word for word in wanted}
    # Most lines are of words that nobody wants: their beginning is enough to tell.
    beginnings = {word.partition(b" ")[0] for word in left}
    for lineno, line in enumerate(chain(first[skipped:], stream), start=1 + skipped):
        if line.partition(b" ")[0] not in beginnings:
            continue
        word, *numbers = line.rstrip(b" \r\n").rsplit(b" ", size)
        if word in left:
            yield left.pop(word), _vector(numbers, size, lineno)


def _vector(numbers: list[bytes], size: int, lineno: int) -> Tensor:
    if len(numbers) < size:
        raise _BadLineError(lineno, f"{len(numbers)} numbers, and model.word_size is {size}")
    try:
        values = [float(number) for number in numbers]
    except ValueError as error:
        raise _BadLineError(lineno, f"not a vector: {error}") from error
    if not all(map(math.isfinite, values)):
        raise _BadLineError(lineno, "not a vector: not all of its numbers are finite")
    return torch.tensor(values)


def _is_header(lines: list[bytes], size: int) -> bool:
    fields = lines[0].split() if lines else []
    numbers = len(fields) == _HEADER and all(field.isdigit() for field in fields)
    return numbers and (size > 1 or int(fields[1]) == size)


def _check_size(lines: list[bytes], size: int, lineno: int) -> None:
    """Raise an error if the vectors of a file have another size: then no word would be found."""
    counts = [_trailing_numbers(line) for line in lines if line.strip(b" \r\n")]
    if counts and min(counts) != size:
        raise _BadLineError(
            lineno + counts.index(min(counts)),
            f"{min(counts)} numbers, and model.word_size is {size}",
        )


def _trailing_numbers(line: bytes) -> int:
    """Return how many numbers a line ends with; its first field is a word in any case."""
    count = 0
    for field in reversed(line.rstrip(b" \r\n").split(b" ")[1:]):
        try:
            float(field)
        except ValueError:
            break
        count += 1
    return count


@contextmanager
def _opened(path: Path) -> Iterator[Iterable[bytes]]:
    """Open a file, or the only one in an archive."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
            if len(names) != 1:
                raise ConfigError(f"{path}: {len(names)} files are in it: unpack the one you mean")
            with archive.open(names[0]) as lines:
                yield lines
    else:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
            yield lines


def _initialize(table: nn.Embedding, vocabulary: Vocabulary, found: dict[str, Tensor]) -> int:
    """Put vectors into a table; return how many."""
    known = 0
    with torch.no_grad():
        for number, item in enumerate(vocabulary.items):
            vector = found.get(_bare(item))
            if vector is not None:
                table.weight[number] = vector
                known += 1
    return known


def _bare(label: str) -> str:
    """Return the word in a node label: a constant without its mark and quotes."""
    return label.removeprefix("=").strip('"').lower()
