"""Frozen vectors are computed once, by all processes, and never taken for those of other words."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from transducer.config import ModelConfig
from transducer.distributed import ALONE, Group
from transducer.encoders import features as module
from transducer.encoders.features import FrozenFeatures
from transducer.encoders.store import Store

SENTENCES = [["Dogs", "bark", "."], ["Cats", "sing", "loudly", "."], ["Go"]]


def key(number: int) -> bytes:
    return (number + 1).to_bytes(32, "little")


def numbers(number: int, words: int) -> np.ndarray[Any, Any]:
    return np.full((words, 2, 3), number, dtype=np.float16)


def filled(folder: Path) -> Path:
    Store(folder, (2, 3)).add({key(i): numbers(i, i + 1) for i in range(4)})
    return folder / "vectors.rec"


def known(folder: Path) -> set[int]:
    """Return which vectors are there, all of which must be right."""
    store = Store(folder, (2, 3))
    result = set()
    for i in range(10):
        found = store.get(key(i))
        if found is not None:
            assert np.array_equal(found, numbers(i, i + 1))
            result.add(i)
    return result


RECORDS = [44 + 12 * (i + 1) for i in range(4)]
"""The sizes of the records in a filled file."""


@pytest.mark.parametrize("lost", [1, 50, 92, 93, 130, sum(RECORDS)])
def test_a_write_that_died_loses_its_record_alone(tmp_path: Path, lost: int) -> None:
    path = filled(tmp_path)
    content = path.read_bytes()
    assert len(content) == sum(RECORDS)
    path.write_bytes(content[:-lost])
    whole = {i for i in range(4) if sum(RECORDS[: i + 1]) <= len(content) - lost}
    assert known(tmp_path) == whole
    Store(tmp_path, (2, 3)).add({key(7): numbers(7, 8)})
    assert known(tmp_path) == whole | {7}


@pytest.mark.parametrize("garbage", [b"x", bytes(100), b"vec1" + bytes(60), b"vec1" + b"\xff" * 90])
def test_garbage_shifts_nothing(tmp_path: Path, garbage: bytes) -> None:
    with filled(tmp_path).open("ab") as file:
        file.write(garbage)
    Store(tmp_path, (2, 3)).add({key(7): numbers(7, 8)})
    assert known(tmp_path) >= {0, 1, 2, 3, 7}


@pytest.mark.parametrize("place", range(0, sum(RECORDS), 5))
def test_a_flipped_bit_is_no_vector(tmp_path: Path, place: int) -> None:
    path = filled(tmp_path)
    content = bytearray(path.read_bytes())
    content[place] ^= 16
    path.write_bytes(content)
    assert known(tmp_path) < {0, 1, 2, 3}
    Store(tmp_path, (2, 3)).add({key(i): numbers(i, i + 1) for i in range(4)})
    assert known(tmp_path) == {0, 1, 2, 3}


def test_a_file_can_be_emptied_or_deleted(tmp_path: Path) -> None:
    path = filled(tmp_path)
    store = Store(tmp_path, (2, 3))
    path.write_bytes(b"")
    store.add({key(5): numbers(5, 6)})
    assert store.get(key(0)) is None
    assert known(tmp_path) == {5}
    shutil.rmtree(tmp_path)
    assert store.get(key(5)) is None
    store.add({key(6): numbers(6, 7)})
    assert known(tmp_path) == {6}


ADD_SOME = """
import sys
from pathlib import Path
import numpy as np
from transducer.encoders.store import Store

store = Store(Path(sys.argv[1]), (2, 3))
for i in range(int(sys.argv[2]), 40, 2):
    store.add({(i + 1).to_bytes(32, "little"): np.full((i + 1, 2, 3), i, dtype=np.float16)})
"""


def test_two_processes_write_one_file(tmp_path: Path) -> None:
    command = (sys.executable, "-c", ADD_SOME, str(tmp_path))
    workers = [subprocess.Popen([*command, str(start)]) for start in (0, 1)]
    assert [worker.wait() for worker in workers] == [0, 0]
    store = Store(tmp_path, (2, 3))
    for i in range(40):
        assert np.array_equal(store.get(key(i)), numbers(i, i + 1))  # type: ignore[arg-type]


@pytest.fixture
def config(random_encoder: Callable[[str], Path]) -> ModelConfig:
    return ModelConfig(contextual=str(random_encoder("bert")))


def test_vectors_are_kept(
    config: ModelConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = FrozenFeatures(config)(SENTENCES)
    FrozenFeatures(config, tmp_path)(SENTENCES[:1])
    (path,) = tmp_path.glob("*/vectors.rec")
    with path.open("ab") as file:
        file.write(bytes(100))  # what a full disk leaves
    FrozenFeatures(config, tmp_path)(SENTENCES)
    monkeypatch.setattr(FrozenFeatures, "_compute", None)
    for kept, right in zip(FrozenFeatures(config, tmp_path)(SENTENCES), true, strict=True):
        assert np.abs(kept - right).max() < 1e-2
        assert kept.shape == right.shape


def test_a_sentence_that_comes_twice_is_computed_once(
    config: ModelConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[tuple[str, ...]] = []
    compute = FrozenFeatures._compute

    def count(self: FrozenFeatures, sentences: Any) -> Any:
        computed.extend(map(tuple, sentences))
        return compute(self, sentences)

    monkeypatch.setattr(FrozenFeatures, "_compute", count)
    FrozenFeatures(config, tmp_path)(SENTENCES * 3)
    assert sorted(computed) == sorted(map(tuple, SENTENCES))


def test_every_process_computes_its_share(
    config: ModelConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SENTENCES_AT_ONCE", 2)
    monkeypatch.setattr(Group, "gather", lambda _, values: values)
    sentences = [[f"word{i}"] * (i % 5 + 1) for i in range(9)]
    shares: list[list[tuple[str, ...]]] = []
    meetings: list[list[tuple[int, int]]] = []
    compute = FrozenFeatures._compute

    def count(self: FrozenFeatures, sentences: Any) -> Any:
        shares[-1].extend(map(tuple, sentences))
        return compute(self, sentences)

    monkeypatch.setattr(FrozenFeatures, "_compute", count)
    for rank in range(2):
        shares.append([])
        meetings.append([])
        source = FrozenFeatures(config, tmp_path)
        source.warm(sentences, Group(rank, 2), lambda *done: meetings[-1].append(done))
    assert sorted(shares[0] + shares[1]) == sorted(map(tuple, sentences))
    assert [len(share) for share in shares] == [5, 4]
    assert meetings[0] == meetings[1] == [(4, 9), (8, 9), (9, 9)]  # they meet equally often
    shares.append([])
    again = FrozenFeatures(config, tmp_path)
    again.warm(sentences, ALONE, lambda *_: None)
    again(sentences)
    assert not shares[-1]
