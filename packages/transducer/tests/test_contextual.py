"""Encoders of every kind give the vectors that they give in ``transformers``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from transducer.config import ModelConfig
from transducer.encoders.bert import Bert
from transducer.encoders.contextual import ContextualEncoder, cut, mask_number, pool, run
from transducer.encoders.loading import load, shape
from transducer.encoders.places import find
from transducer.encoders.subwords import Subwords, windows
from transducer.errors import ModelError

KINDS = ("bert", "mpnet", "distilbert", "electra", "roberta", "deberta", "deberta-v2", "t5")
SENTENCES = [
    "The unbelievable boy does n't want to go , but dogs bark .".split(),
    ["naïve", "語", "...", "x" * 300, "\u200b", "Towns"],
    ["Go"],
]
# transformers' DeBERTa is compiled as it was in older days.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
BYTE_LEVEL = ("roberta", "deberta")


def vectors(name: str, sentences: list[list[str]], model: Any = None) -> torch.Tensor:
    """Return what we compute, in single floats: (B, S, L, D)."""
    width = max(map(len, sentences))
    subwords = cut(name, sentences, width)
    with torch.inference_mode():
        layers = run(load(name)[1] if model is None else model, subwords, last=False)
        return pool(torch.stack(layers, dim=1), subwords, len(sentences), width)


def reference(folder: Path, kind: str, words: list[str]) -> torch.Tensor:
    """Return what transformers computes for one sentence: (S, L, D)."""
    from transformers import AutoModel, AutoTokenizer

    more = {"add_prefix_space": True} if kind in BYTE_LEVEL else {}
    tokenizer: Any = AutoTokenizer.from_pretrained(folder, **more)
    model: Any = AutoModel.from_pretrained(folder).eval()
    model = model.get_encoder() if model.config.is_encoder_decoder else model
    cut_whole = tokenizer(words, is_split_into_words=True, return_tensors="pt")
    cut_whole.pop("token_type_ids", None)
    owners = cut_whole.word_ids()
    kept = [i for i, w in enumerate(owners) if w is None or owners[:i].count(w) < 32]
    inputs = {name: value[:, kept] for name, value in cut_whole.items()}
    with torch.inference_mode():
        states = model(**inputs, output_hidden_states=True).hidden_states
    layers = torch.stack(states, dim=2)[0]  # (P, L, D)
    owners = [owners[i] for i in kept]
    rows = [[i for i, w in enumerate(owners) if w == word] for word in range(len(words))]
    return torch.stack([layers[row].mean(0) for row in rows])


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_those_of_transformers(
    kind: str, random_encoder: Callable[[str], Path]
) -> None:
    folder = random_encoder(kind)
    # What has no sub-word at all is unknown to us, and gets lost in transformers.
    sentences = [[w for w in words if w != "\u200b"] for words in SENTENCES]
    found = vectors(str(folder), sentences)
    for row, words in zip(found, sentences, strict=True):
        expected = reference(folder, kind, words)
        assert expected.std() > 0.05
        torch.testing.assert_close(row[: len(words)], expected, atol=1e-5, rtol=1e-5)
    assert isinstance(load(str(folder))[1], Bert) == (kind in ("bert", "mpnet"))


@pytest.mark.parametrize("kind", KINDS)
def test_every_word_has_a_subword(kind: str, random_encoder: Callable[[str], Path]) -> None:
    name = str(random_encoder(kind))
    subwords = cut(name, SENTENCES, 12)
    owners = set(subwords.words.flatten().tolist())
    assert owners - {-1} == {
        b * 12 + s for b, words in enumerate(SENTENCES) for s in range(len(words))
    }
    assert 0 <= mask_number(name) < find(name).size


@pytest.mark.parametrize("kind", BYTE_LEVEL)
def test_words_of_byte_level_tokenizers_have_their_blank(
    kind: str, random_encoder: Callable[[str], Path]
) -> None:
    from transformers import AutoTokenizer

    folder = random_encoder(kind)
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    ids = [piece for word in load(str(folder))[0].pieces(["Dogs", "bark"]) for piece in word]
    assert ids == tokenizer(" Dogs bark", add_special_tokens=False)["input_ids"]


@pytest.mark.parametrize("kind", KINDS)
def test_encoders_are_tuned(kind: str, random_encoder: Callable[[str], Path]) -> None:
    name = str(random_encoder(kind))
    tuned = ContextualEncoder(ModelConfig(contextual=name, contextual_tuned=True))
    width = max(map(len, SENTENCES))
    tuned.encode(cut(name, SENTENCES, width), len(SENTENCES), width).square().sum().backward()
    weights = dict(tuned.named_parameters())
    learned = {n for n, w in weights.items() if w.requires_grad}
    assert learned
    assert not [n for n in learned if weights[n].grad is None]  # processes would wait for them
    thin = ModelConfig(
        contextual=name, contextual_tuned=True, contextual_rank=2, contextual_depth=2
    )
    shallow = ContextualEncoder(thin)
    assert shallow.encode(cut(name, SENTENCES, width), len(SENTENCES), width).isfinite().all()
    learned = {n for n, w in shallow.named_parameters() if w.requires_grad}
    assert learned
    assert all(n.endswith((".down", ".up")) for n in learned)


# Files as they are -------------------------------------------------------------------------------


def test_the_names_of_tensorflow_are_known(
    random_encoder: Callable[[str], Path], tmp_path: Path
) -> None:
    whole = random_encoder("bert")
    for path in whole.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = load_file(whole / "model.safetensors")
    renamed = {
        "bert."
        + n.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): w
        for n, w in weights.items()
    }
    assert renamed.keys() & {"bert.embeddings.LayerNorm.gamma"}
    save_file(renamed, tmp_path / "model.safetensors", {"format": "pt"})
    assert torch.equal(vectors(str(tmp_path), SENTENCES), vectors(str(whole), SENTENCES))


@pytest.mark.parametrize("kind", ["bert", "mpnet", "distilbert", "roberta"])
def test_weights_that_lack_are_told(
    kind: str, random_encoder: Callable[[str], Path], tmp_path: Path
) -> None:
    for path in random_encoder(kind).iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = load_file(tmp_path / "model.safetensors")
    lost = sorted(name for name in weights if "LayerNorm" in name or "layer_norm" in name)
    kept = {name: w for name, w in weights.items() if name not in lost[:2]}
    save_file(kept, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match=r"cannot be loaded: its weights lack .* and 1 more"):
        load(str(tmp_path))


@pytest.mark.parametrize("kind", ["bert", "distilbert"])
def test_damaged_files_are_told(
    kind: str, random_encoder: Callable[[str], Path], tmp_path: Path
) -> None:
    for number, (name, content) in enumerate(
        [("tokenizer.json", "{}"), ("model.safetensors", ""), ("config.json", "{}")]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        for path in random_encoder(kind).iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        (folder / name).write_text(content)
        with pytest.raises(ModelError, match="cannot be loaded: ") as error:
            load(str(folder))
        assert "\n" not in str(error.value)


def test_shapes_are_known_before_weights(random_encoder: Callable[[str], Path]) -> None:
    for kind in KINDS:
        assert shape(str(random_encoder(kind))) == (24, 4)


# Long sentences ----------------------------------------------------------------------------------


@pytest.mark.parametrize("lengths", [[1] * 30, [3] * 11, [2, 5, 1, 1, 5, 4, 3, 2, 1, 5, 5] * 3])
@pytest.mark.parametrize("limit", [10, 13])
def test_words_come_from_the_window_with_most_context(lengths: list[int], limit: int) -> None:
    found = windows(lengths, limit)
    total = sum(lengths)
    taken = [word for window in found for word in range(window.first, window.last)]
    assert taken == list(range(len(lengths)))
    for window in found:
        for word in range(window.first, window.last):
            begin = sum(lengths[:word])
            end = begin + lengths[word]
            assert window.start <= begin
            assert end <= window.end

            def poorer(start: int, begin: int = begin, end: int = end) -> int:
                left = begin - start if start else total
                right = start + limit - end if start + limit < total else total
                return min(left, right)

            assert poorer(window.start) == max(poorer(other.start) for other in found)
    for one, other in pairwise(found):
        assert other.start < one.end  # they overlap
    assert [w.end - w.start for w in found] == [min(limit, total)] * len(found)


@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta-v2"])
def test_long_sentences_are_read_in_windows(
    kind: str, random_encoder: Callable[[str], Path]
) -> None:
    name = str(random_encoder(kind))
    cutter = load(name)[0]
    words = ["Dogs", "bark", "unbelievable", "town", "believe", "girls"] * 200
    pieces = cutter.pieces(words)
    ids, lengths = [piece for word in pieces for piece in word], [len(word) for word in pieces]
    assert len(ids) > 2 * cutter.limit
    subwords = cut(name, [words], len(words))
    found = windows(lengths, cutter.limit)
    assert subwords.ids.shape == (len(found), 512)
    whole = vectors(name, [words])[0]
    for row, window in enumerate(found):
        own = [*cutter.before, *ids[window.start : window.end], *cutter.after]
        assert subwords.ids[row].tolist() == own
        word = window.first  # alone, the window gives the same vectors
        places = (subwords.words[row] == word).nonzero().flatten()
        assert len(places) == lengths[word]
        one = Subwords(*(part[row : row + 1] for part in subwords))
        with torch.inference_mode():
            last = run(load(name)[1], one, last=True)[0]
        torch.testing.assert_close(whole[word, -1], last[places].mean(0), atol=1e-4, rtol=1e-4)


def test_short_encoders_get_short_windows(
    random_encoder: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(random_encoder("bert"), tmp_path / "short"))
    weights = load_file(folder / "model.safetensors")
    key = "embeddings.position_embeddings.weight"
    weights[key] = weights[key][:16].clone()
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 16}))
    assert load(str(folder))[0].limit == 14
    assert vectors(str(folder), [["unbelievable", "x" * 300] * 30]).abs().amin(dim=(2, 3)).all()
