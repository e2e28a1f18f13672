"""Rounded weights are made once, and never taken for those of another model."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

from graphconv.graph import Graph
from transducer.encoders.low_rank import LowRankLinear
from transducer.encoders.places import find
from transducer.errors import TransducerError
from transducer.parsing.parser import Transducer
from transducer.storage import checkpoint, rounded

SENTENCES = ["The boy wants to go .".split(), "He left .".split()]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own; layers of a small model count as large ones."""
    monkeypatch.setenv("ARBORA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("transducer.int8._SMALLEST", 8)
    monkeypatch.setattr("transducer.storage.rounded._LARGE", 2000)
    return tmp_path / "cache"


@pytest.fixture
def make_model(
    make_small: Callable[..., Any], tiny_mpnet: Path, tmp_path: Path
) -> Callable[..., Path]:
    """Return the maker of a model directory whose encoder is tuned by differences."""

    def make(seed: int = 0, name: str = "model") -> Path:
        contextual = {
            "contextual": str(find(str(tiny_mpnet)).reference), "contextual_tuned": True,
            "contextual_layers": "mix", "contextual_depth": 2, "contextual_rank": 3,
        }  # fmt: skip
        small = make_small("dm", seed=seed, **contextual)
        small.shake(seed, 0.3)
        for module in small.model.modules():
            if isinstance(module, LowRankLinear):
                torch.nn.init.normal_(module.up, std=0.1)
        folder = tmp_path / name
        checkpoint.save_setup(folder, small.task, small.vocabularies)
        config = json.loads((folder / checkpoint.CONFIG).read_text())
        config["config"]["decode"]["int8"] = True
        (folder / checkpoint.CONFIG).write_text(json.dumps(config))
        checkpoint.save_weights(folder / checkpoint.WEIGHTS, small.model.state_dict())
        return folder

    return make


def parse(folder: Path) -> list[Graph]:
    return Transducer.load(folder, "cpu").parse(SENTENCES, errors="keep", beam=2)


def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows whenever weights are merged and rounded."""
    times: list[str] = []
    make = rounded._rounded

    def watched(source: rounded.Source) -> Any:
        times.append(source.sha256)
        return make(source)

    monkeypatch.setattr(rounded, "_rounded", watched)
    return times


def test_they_are_made_once_and_are_the_same(
    make_model: Callable[..., Path], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, times = make_model(), made(monkeypatch)
    first, second = parse(folder), parse(folder)
    assert len(times) == 1
    kept = Transducer.load(folder, "cpu")._in_8_bits()[0].state_dict()
    monkeypatch.setattr(rounded, "_read", lambda _: None)
    fresh = Transducer.load(folder, "cpu")._in_8_bits()[0].state_dict()
    assert fresh.keys() == kept.keys()
    assert all(torch.equal(weight, fresh[name]) for name, weight in kept.items())
    assert {torch.int8, torch.float32} <= {weight.dtype for weight in kept.values()}
    assert first == second == parse(folder)
    [place] = (cache / "rounded").iterdir()
    stored = {path.name for path in place.iterdir()} - {"lock"}
    assert stored == {"rounded.safetensors", "made.json"}


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "a bit": lambda place: _flip(place / "rounded.safetensors"),
    "the end is gone": lambda place: (place / "rounded.safetensors").write_bytes(b"\x08\0\0"),
    "all is gone": lambda place: (place / "rounded.safetensors").unlink(),
    "no record": lambda place: (place / "made.json").unlink(),
    "a record of something else": lambda place: (place / "made.json").write_text('{"key": 3}'),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_is_damaged_is_made_anew(
    damage: Callable[[Path], object],
    make_model: Callable[..., Path],
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder, times = make_model(), made(monkeypatch)
    before = parse(folder)
    [place] = (cache / "rounded").iterdir()
    damage(place)
    assert parse(folder) == before
    assert parse(folder) == before
    assert len(times) == 2


def test_other_weights_in_the_folder_are_another_model(
    make_model: Callable[..., Path], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = made(monkeypatch)
    before = parse(make_model(seed=0))
    after = parse(make_model(seed=1))
    assert before != after
    assert after == parse(make_model(seed=1, name="elsewhere/model"))
    assert len(set(times)) == 2
    assert len(list((cache / "rounded").iterdir())) == 2  # a folder has but one


def test_without_a_cache_it_parses_as_well(
    make_model: Callable[..., Path], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, times = make_model(), made(monkeypatch)
    expected = parse(folder)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(rounded, "save_file", full)
        patch.setattr(rounded, "FORMAT", 0)
        assert parse(folder) == expected
    [place] = (cache / "rounded").iterdir()
    assert not list(place.glob(".*"))  # nothing half-written
    (cache / "file").touch()
    monkeypatch.setattr(rounded, "cache_folder", lambda name: cache / "file" / name)
    assert parse(folder) == expected
    assert len(times) == 3


def test_several_can_be_the_first(
    make_model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, times = make_model(), made(monkeypatch)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(parse, [folder] * 4))
    assert len(times) == 1
    assert all(result == results[0] for result in results)


def test_full_precision_is_loaded_when_it_is_asked_for(make_model: Callable[..., Path]) -> None:
    folder = make_model()
    parser, other = (Transducer.load(folder, "cpu") for _ in range(2))
    assert vars(parser)["_model"] is None
    graphs = parser.parse(SENTENCES, errors="keep", int8=False)
    assert vars(parser)["_model"] is parser.model
    assert len(graphs) == 2
    make_model(seed=1)
    with pytest.raises(TransducerError, match="is another model than it was"):
        other.parse(SENTENCES, int8=False)
