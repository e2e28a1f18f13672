"""Estimate what training takes: weights, memory and time, computed from a recipe's sizes.

    python tools/estimate.py [--recipe paper-amr2] [--sentences 36521] [--tokens 18] [--rows 14]

Nothing is trained. Weights are counted in the real model (built without memory); an operation with
w weights applied at p positions is 2 * w * p FLOPs forward and twice that backward. Time is FLOPs
over what a device reaches in practice (--used, a share of its peak); LSTMs are sequential, so that
share is small. Every figure is computed, not measured.
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from typing import NamedTuple
from unittest import mock

import torch

from graphconv.cliutil import table
from transducer.config import Config, load_recipe
from transducer.data.vocabularies import Vocabularies, Vocabulary
from transducer.encoders import contextual
from transducer.frameworks import task_of
from transducer.model.network import TransducerModel

ENCODERS = {"bert-large-cased": (1024, 24, 303e6)}
"""Contextual encoders: size, layers, weights without embeddings."""

DEVICES = {
    "2 CPU cores": 0.2,
    "GTX TITAN X": 6.6,
    "V100": 15.7,
    "A100": 19.5,
    "H100": 67.0,
}
"""Peaks in TFLOP/s, fp32."""

_SIZES = {"relations": 150, "pos": 50, "ner": 20, "dep": 50, "shape": 200, "chars": 120}
_SOURCE_SIDE = ("encoder_embedding", "encoder.", "encoder_attention.key", "bridge")
_TABLES = ("embedding", "tables", ".words", ".pos")


class Work(NamedTuple):
    """What the sentences look like."""

    sentences: int
    tokens: float
    rows: float


def build(config: Config, device: str = "meta") -> TransducerModel:
    """Build the model of a recipe; on the device ``meta`` it takes no memory for its weights."""
    sizes = {**_SIZES, "words": config.model.word_vocabulary}
    sizes |= dict.fromkeys(("nodes", "labels"), config.model.node_vocabulary)
    vocabularies = Vocabularies(
        **{name: Vocabulary(map(str, range(size))) for name, size in sizes.items()}
    )
    # The encoder itself need not be here: its sizes are enough.
    size, layers, _ = ENCODERS.get(config.model.contextual, (0, 0, 0.0))
    known = mock.patch.object(contextual, "shape", return_value=(size, layers + 1))
    with known if size else nullcontext(), torch.device(device):
        return TransducerModel(config.model, vocabularies, task_of(config.task).trees)


def count_weights(model: TransducerModel) -> dict[str, int]:
    """Return how many weights are looked up, applied to each token, and to each row."""
    counts = {"tables": 0, "tokens": 0, "rows": 0}
    for name, weight in model.named_parameters():
        matrix = weight.dim() > 1 and "lstm" not in name
        if any(part in name for part in _TABLES) and "convolution" not in name:
            counts["tables"] += weight.numel()
        elif matrix or "weight" in name:
            side = "tokens" if name.startswith(_SOURCE_SIDE) else "rows"
            counts[side] += weight.numel()
    return counts


def step_flops(config: Config, counts: dict[str, int], work: Work) -> float:
    """Return the FLOPs of one sentence, forward and backward."""
    m = config.model
    tokens, rows = work.tokens, work.rows + 1
    states = 2 * m.encoder_size
    attention = rows * tokens * (m.attention_size + states)
    attention += rows * rows / 2 * m.attention_size + rows * rows * m.biaffine_size
    forward = 2 * (counts["tokens"] * tokens + counts["rows"] * rows + attention)
    return 3 * forward


def activations(config: Config, batch: int, tokens: float, rows: float) -> dict[str, float]:
    """Return the bytes that one batch keeps for the backward pass, by cause."""
    m = config.model
    contextual = ENCODERS.get(config.model.contextual, (0, 0, 0))[0]
    inputs = contextual + m.word_size + m.pos_size + m.char_size + m.anonymous_size
    gates = 6  # four gates, the cell and the output of an LSTM unit
    outcomes = m.node_vocabulary + tokens + rows
    values = {
        "encoder": tokens * (inputs + 2 * gates * m.encoder_layers * m.encoder_size),
        "decoder": rows * (2 * m.word_size + gates * m.decoder_layers * m.decoder_size),
        "attention": 2 * rows * (tokens + rows) * m.attention_size,
        "outcomes": 4 * rows * outcomes,  # scores, softmax, mixture, smoothing
        "edges": 3 * rows * rows + 2 * rows * (m.biaffine_size + 150 * m.bilinear_size),
    }
    return {name: 4.0 * batch * count for name, count in values.items()}


def report(config: Config, work: Work, used: float, epochs: int) -> str:
    """Return the estimate as text."""
    model = build(config)
    weights = sum(weight.numel() for weight in model.parameters())
    counts = count_weights(model)
    kept = activations(config, config.train.batch_size, 2 * work.tokens, 2 * work.rows)
    memory: list[tuple[object, ...]] = [("memory (computed)", "GB")]
    memory.append(("weights, gradients, Adam", 16 * weights / 1e9))
    memory += [(f"activations: {name}", count / 1e9) for name, count in kept.items()]
    memory.append(("together", (16 * weights + sum(kept.values())) / 1e9))
    flops = step_flops(config, counts, work) * work.sentences
    time: list[tuple[object, ...]] = [
        ("time (computed)", "min/epoch", f"hours for {epochs} epochs", "8 devices at best")
    ]
    for name, peak in DEVICES.items():
        seconds = flops / (peak * 1e12 * used)
        hours = epochs * seconds / 3600
        time.append((name, seconds / 60, hours, hours / 8))
    size, _, encoder = ENCODERS.get(config.model.contextual, (0, 0, 0.0))
    words = work.sentences * work.tokens
    lines = [
        f"{config.task}: {weights / 1e6:.1f} million weights "
        f"({counts['tables'] / 1e6:.1f} in tables), "
        f"{step_flops(config, counts, work) / 1e9:.1f} GFLOP per sentence and update",
        "",
        table(memory),
        "",
        table(time),
    ]
    if size:
        lines += [
            "",
            f"frozen vectors, once: {words * size * 2 / 1e9:.1f} GB on disk, "
            f"{2 * encoder * words * 1.3 / 1e15:.1f} PFLOP",
        ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Estimate what training takes.")
    parser.add_argument("--recipe", default="paper-amr2")
    parser.add_argument("--task")
    parser.add_argument("--sentences", type=int, default=36521, help="AMR 2.0: 36,521")
    parser.add_argument("--tokens", type=float, default=18.0, help="per sentence")
    parser.add_argument("--rows", type=float, default=14.0, help="per sentence")
    parser.add_argument("--used", type=float, default=0.1, help="share of the peak that is reached")
    parser.add_argument("--epochs", type=int, default=120)
    given = parser.parse_args()
    config = load_recipe(given.recipe, task=given.task)
    work = Work(given.sentences, given.tokens, given.rows)
    print(report(config, work, given.used, given.epochs))


if __name__ == "__main__":
    main()
