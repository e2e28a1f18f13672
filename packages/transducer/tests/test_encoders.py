"""Pre-trained encoders are found in packages, and tuned by differences of low rank."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from transducer import Transducer, checkpoint, encoders
from transducer.compact import PRETRAINED
from transducer.config import ModelConfig
from transducer.encoders import Packaged, locate
from transducer.errors import ConfigError, ModelError
from transducer.export import export
from transducer.low_rank import LEARNED, LowRankLinear

NAME = "somebody/encoder"
CPU = torch.device("cpu")


@pytest.fixture
def pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """A folder with a text, as a zip file in two pieces, each in a package of its own."""
    folder = tmp_path / "encoder"
    folder.mkdir()
    (folder / "config.json").write_text("{}" * 200)
    whole = Path(shutil.make_archive(str(tmp_path / "whole"), "zip", tmp_path, "encoder"))
    content = whole.read_bytes()
    packages = tmp_path / "packages"
    written = []
    for number, part in enumerate((content[:100], content[100:]), start=1):
        path = packages / f"piece-{number}" / "input" / f"encoder.zip.{number:03}"
        path.parent.mkdir(parents=True)
        (path.parent.parent / "__init__.py").touch()
        path.write_bytes(part)
        written.append(path)
    packaged = Packaged("piece-1 piece-2", ("piece-1", "piece-2"), "input/encoder.zip.*")
    monkeypatch.setitem(encoders.PACKAGED, NAME, packaged)
    monkeypatch.syspath_prepend(str(packages))
    monkeypatch.setenv("ARBORA_CACHE", str(tmp_path / "cache"))
    return written


def test_an_encoder_in_pieces_is_unpacked_once(pieces: list[Path]) -> None:
    folder = Path(locate(NAME))
    assert (folder / "config.json").read_text() == "{}" * 200
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    pieces[0].write_bytes(b"")
    assert locate(NAME) == str(folder)


def test_damaged_and_missing_pieces_are_told(pieces: list[Path]) -> None:
    whole = pieces[0].read_bytes()
    pieces[0].write_bytes(bytes(len(whole)))
    with pytest.raises(ModelError, match="package of the encoder somebody/encoder is damaged"):
        locate(NAME)
    shutil.rmtree(pieces[1].parents[1])
    with pytest.raises(ModelError, match="not here: pip install piece-1 piece-2, or set"):
        locate(NAME)


def low_rank(folder: Path, **more: Any) -> dict[str, Any]:
    """Return switches that tune two layers of an encoder by differences of rank 3."""
    return {
        "contextual": str(folder), "contextual_tuned": True, "contextual_layers": "mix",
        "contextual_depth": 2, "contextual_rank": 3, "contextual_size": 10, **more,
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
