"""Every weight of every recipe learns: a module that nothing uses is noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from transducer.config import Config, load_recipe, recipes
from transducer.data.vocabularies import EOS
from transducer.training.trainer import Trainer, make_trainer

TASKS = ("amr", "dm", "ucca")
OWN = {"paper-amr1": "amr", "paper-amr2": "amr", "paper-dm": "dm", "paper-ucca": "ucca"}
"""The recipes of one task alone."""

CASES = [(name, task) for name in recipes() for task in TASKS if OWN.get(name, task) == task]

Shrink = Callable[..., Config]


@pytest.fixture
def shrink(tiny_mpnet: Path) -> Shrink:
    """The maker of small recipes with an encoder, for two updates without what is random."""

    def make(recipe: str, task: str) -> Config:
        config = load_recipe(recipe, task=task)
        m = config.model
        sizes: dict[str, Any] = {
            "word_size": 8, "char_size": 4, "char_embedding": 4, "index_size": 4,
            "relation_size": 4, "encoder_size": 8, "decoder_size": 16, "attention_size": 8,
            "biaffine_size": 8, "bilinear_size": 8, "dropout": 0.0,
        }  # fmt: skip
        optional = {
            "pos_size": 4, "ner_size": 3, "dep_size": 3, "shape_size": 3, "punct_size": 2,
            "anonymous_size": 2, "link_size": 6, "frame_size": 5, "contextual": str(tiny_mpnet),
            "contextual_depth": 2, "contextual_rank": 2, "contextual_size": 6,
        }  # fmt: skip
        sizes |= {name: size for name, size in optional.items() if getattr(m, name)}
        train = {
            "annotator": "none", "updates": 2, "batch_size": 10, "batch_tokens": 0, "minutes": 0,
            "word_dropout": 0.0, "feature_dropout": 0.0, "subword_dropout": 0.0,
            "contextual_from": "", "start_from": "", "precision": "fp32", "warmup": 0,
        }  # fmt: skip
        train_config = replace(config.train, **train)  # type: ignore[arg-type]
        return replace(config, model=replace(m, **sizes), train=train_config)

    return make


def gradients(trainer: Trainer) -> dict[str, Tensor]:
    """Train, and return the sizes of all gradients, added up over the updates."""
    sums: dict[str, Tensor] = {}

    def add(*_: Any) -> None:
        for name, weight in trainer.model.named_parameters():
            if weight.grad is not None:
                sums[name] = sums.get(name, 0) + weight.grad.abs()

    inner: Any = trainer.optimizer  # Accelerate's, around Adam
    inner.optimizer.register_step_pre_hook(add)
    trainer.fit()
    return sums


def cannot_learn(trainer: Trainer) -> set[str]:
    """Return the weights that get no gradient, because the data has nothing to learn for them."""
    model, known = trainer.model, trainer.vocabularies
    names = set()
    if len(known.labels) == EOS + 1:  # DM: the end symbol is the only choice
        names |= {"ffn_vocab.weight", "ffn_vocab.bias"}
    if model.links is not None and trainer.config.task != "amr":
        names |= {"links.of_wordless"}  # all rows that can have children have a word
    return names


@pytest.mark.parametrize(("recipe", "task"), CASES)
def test_every_weight_of_every_recipe_learns(
    recipe: str, task: str, shrink: Shrink, ten: Callable[[str], Path], tmp_path: Path
) -> None:
    config = shrink(recipe, task)
    trainer = make_trainer(config, [str(ten(task))], [], tmp_path / "model", device="cpu")
    found = gradients(trainer)
    learned = {n for n, w in trainer.model.named_parameters() if w.requires_grad}
    assert found.keys() == learned
    still = {name for name, size in found.items() if not float(size.sum()) > 0}
    assert still == cannot_learn(trainer)
    for name, module in trainer.model.named_modules():
        if isinstance(module, nn.Linear) and f"{name}.weight" in learned - still:
            # An input that is always 0 is a part of the model that is left out.
            unread = (found[f"{name}.weight"].sum(0) == 0).sum()
            impossible = 2 if name == "frames.meaning" else 0  # padding and UNK are no frames
            assert int(unread) == impossible, name
    assert all(torch.isfinite(size).all() for size in found.values())
