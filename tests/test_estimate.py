"""What tools/estimate.py computes without memory is what a model takes that has it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from transducer.config import Config, load_recipe, override

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from estimate import Work, activations, build, count_weights, report, step_flops

SMALL = {
    "word_vocabulary": 30, "node_vocabulary": 20, "word_size": 8, "char_size": 4,
    "char_embedding": 4, "index_size": 4, "relation_size": 4, "encoder_size": 8,
    "decoder_size": 16, "attention_size": 8, "biaffine_size": 8, "bilinear_size": 8,
}  # fmt: skip
RECIPES = {"paper-amr2": "amr", "paper-dm": "dm", "paper-ucca": "ucca", "tiny": "dm"}
WORK = Work(sentences=100, tokens=18.0, rows=14.0)


def small(recipe: str) -> Config:
    config = load_recipe(recipe, task=RECIPES[recipe])
    return override(config, [f"model.{name}={size}" for name, size in SMALL.items()])


@pytest.mark.parametrize("recipe", RECIPES)
def test_memory_is_that_of_a_real_model(recipe: str) -> None:
    """The same weights, and with gradients and Adam's two moments 16 bytes for each of them."""
    config = small(recipe)
    computed, real = build(config), build(config, "cpu")
    assert {weight.device.type for weight in computed.parameters()} == {"meta"}
    shapes = [{n: tuple(w.shape) for n, w in m.named_parameters()} for m in (computed, real)]
    assert shapes[0] == shapes[1]
    weights = [weight for weight in real.parameters() if weight.requires_grad]
    for weight in weights:
        weight.grad = torch.ones_like(weight)
    adam = torch.optim.Adam(weights)
    adam.step()
    moments = [s[name] for s in adam.state.values() for name in ("exp_avg", "exp_avg_sq")]
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    taken = sum(t.numel() * t.element_size() for t in (*weights, *gradients, *moments))
    assert taken == 16 * sum(weight.numel() for weight in computed.parameters())
    line = next(x for x in report(config, WORK, 0.1, 10).splitlines() if "Adam" in x)
    assert float(line.split()[-1]) == pytest.approx(taken / 1e9, abs=0.005)


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_weight_but_biases_is_counted_once(recipe: str) -> None:
    model = build(small(recipe))
    biases = sum(w.numel() for n, w in model.named_parameters() if w.dim() == 1)
    counts = count_weights(model)
    assert sum(counts.values()) + biases == sum(w.numel() for w in model.parameters())


def test_the_decoder_is_counted_by_hand() -> None:
    """All that is applied to each row of a small DM model."""
    config = small("paper-dm")
    m, counts = config.model, count_weights(build(config))
    node = m.word_size + m.pos_size + m.char_size
    states, d = 2 * m.encoder_size, m.decoder_size
    lstm = 4 * d * (node + m.index_size + d) + 4 * d * (d + d)
    relation = d * (d + states + m.relation_size + node + m.index_size)
    attention = m.attention_size * (d + 1) + 2 * m.attention_size * d + m.attention_size
    node_scores = d * (20 + 3)
    edges = 2 * d * m.biaffine_size + m.biaffine_size**2 + 2 * m.biaffine_size
    relations = 2 * d * m.bilinear_size + 150 * m.bilinear_size**2
    characters = m.char_size * m.char_embedding * m.char_kernel
    by_hand = lstm + relation + attention + node_scores + edges + relations + characters
    assert counts["rows"] == by_hand


def test_longer_and_more_sentences_take_more() -> None:
    config = small("paper-amr2")
    counts = count_weights(build(config))
    shorter, longer = (step_flops(config, counts, Work(1, tokens, 14)) for tokens in (10, 20))
    m = config.model
    attention = (14 + 1) * (m.attention_size + 2 * m.encoder_size)  # of all rows to one token
    assert longer - shorter == 3 * 2 * 10 * (counts["tokens"] + attention)
    memory = [sum(activations(config, batch, 20, 15).values()) for batch in (8, 16)]
    assert memory[1] == 2 * memory[0]
