"""Word vectors are read from files that are as untidy as the published ones."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from transducer.encoders.vectors import load_vectors, read_vectors
from transducer.errors import ConfigError

ODD = b"".join(
    (
        b", 0.25 -1 3e-2\n",
        b". . . 1 2 3\n",  # the first of them stopped a training
        b"at name@domain.com 4 5 6\n",
        b"next\xc2\x85line 7 8 9\n",
        b"thin\xe2\x80\xa8line 10 11 12\n",
        b"hard\xc2\xa0space 13 14 15\n",
        b"carriage\rreturn 16 17 18\n",
        b"bad\xff 19 20 21\n",
        b"1 2 22 23 24\n",
        b"dog 25 26 27\r\n",
        b"dog 0 0 0\n",
        b"fast 28 29 30 \n",
        b"last 31 32 33",
    )
)


def vectors(path: Path, *words: str) -> dict[str, list[float]]:
    return {word: vector.tolist() for word, vector in read_vectors(path, set(words), 3).items()}


def test_the_oddities_of_840b(tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_bytes(ODD)
    words = (
        ",", ". . .", "at name@domain.com", "next\x85line", "thin\u2028line", "hard\xa0space",
        "carriage\rreturn", "1 2", "dog", "fast", "last", "absent", "1", "at", ".", "line",
    )  # fmt: skip
    found = vectors(path, *words)
    assert found.pop(",") == pytest.approx([0.25, -1, 0.03])
    assert found == {
        ". . .": [1, 2, 3],
        "at name@domain.com": [4, 5, 6],
        "next\x85line": [7, 8, 9],
        "thin\u2028line": [10, 11, 12],
        "hard\xa0space": [13, 14, 15],
        "carriage\rreturn": [16, 17, 18],
        "1 2": [22, 23, 24],
        "dog": [25, 26, 27],
        "fast": [28, 29, 30],
        "last": [31, 32, 33],
    }


def test_the_first_line_of_word2vec_is_no_word(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_bytes(b"2 3\n2 1 2 3\ndog 4 5 6\n")
    assert vectors(path, "2", "dog") == {"2": [1, 2, 3], "dog": [4, 5, 6]}


def test_compressed_files_are_read(tmp_path: Path) -> None:
    packed, archive = tmp_path / "vectors.txt.gz", tmp_path / "vectors.zip"
    packed.write_bytes(gzip.compress(ODD))
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("odd.txt", ODD)
    assert vectors(packed, "dog") == vectors(archive, "dog") == {"dog": [25, 26, 27]}
    for path in (packed, archive):
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(ConfigError, match=rf"{path}: the compressed file is damaged"):
            vectors(path, "nowhere")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"dog 1 2 3 4\ncat 1 2 3 4\n", ":1: 4 numbers, and model.word_size is 3"),
        (b"2 4\ndog 1 2 3 4\ncat 1 2 3 4\n", ":2: 4 numbers, and model.word_size is 3"),
        (b"dog 1 2\n", ":1: 2 numbers, and model.word_size is 3"),
        (b"a 1 2 3\n" * 200 + b"dog 1 2", ":201: 2 numbers, and model.word_size is 3"),
        (b"a 1 2 3\n" * 200 + b"dog 1 2 x\n", ":201: not a vector: could not convert"),
        (b"dog 1 nan 3\n", ":1: not a vector: not all of its numbers are finite"),
    ],
)
def test_bad_files_are_told_with_their_line(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as error:
        vectors(path, "dog")
    assert str(error.value).startswith(str(path) + problem)


def test_an_absent_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        vectors(tmp_path / "absent", "dog")


def test_a_model_starts_with_them(make_small: Callable[..., Any], tmp_path: Path) -> None:
    small = make_small("amr")
    word = next(w for w in small.vocabularies.words.items if w.isalpha())
    node = next(n for n in small.vocabularies.nodes.items if n.isalpha() and n != word)
    path = tmp_path / "vectors.txt"
    path.write_text("".join(f"{w} {' '.join([str(i)] * 8)}\n" for i, w in ((3, word), (5, node))))
    before = small.model.encoder_embedding.tables["words"].weight.clone()
    told = load_vectors(small.model, small.vocabularies, path)
    words, nodes = small.vocabularies.words.items, small.vocabularies.nodes.items
    after = small.model.encoder_embedding.tables["words"].weight
    assert told.endswith(f"of the {len(words):,} words")
    assert torch.equal(after[words.index(word)], torch.full((8,), 3.0))
    assert torch.equal(
        small.model.node_embedding.words.weight[nodes.index(node)], torch.full((8,), 5.0)
    )
    other = [i for i, w in enumerate(words) if w not in (word, node)]
    assert torch.equal(after[other], before[other])
