"""Section 4.1: the encoder embedding module and the multi-layer BiLSTM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from graphconv.graph import Token
from reference.functions import Weights, char_cnn, ffn, lstm_cell, softmax
from transducer.config import ModelConfig
from transducer.data.examples import Example
from transducer.data.vocabularies import Vocabularies
from transducer.text.annotation import token_features

FEATURES = ("pos", "ner", "dep", "shape")


class Encoding(NamedTuple):
    """What the decoder gets: s_{1:n}, and the state that each of its layers begins with."""

    states: list[Tensor]
    first: list[tuple[Tensor, Tensor]]
    frames: list[list[float]]
    """P(frame) of each word, where the model tells them."""


def embed_token(
    w: Weights, c: ModelConfig, v: Vocabularies, token: Token, *, anonymous: bool = False
) -> Tensor:
    """Concatenate the embeddings of a token; a feature of size 0 is off."""
    known = token_features(token)
    numbers = {"words": v.words[token.form.lower()]}
    for name in FEATURES:
        numbers[name] = getattr(v, name)[known[name] or "<unk>"]
    numbers["punct"] = 1 if known["punct"] == "yes" else 0
    numbers["anonymous"] = int(anonymous)
    sizes = {name: getattr(c, f"{name}_size") for name in numbers if name != "words"}
    parts = [w["encoder_embedding.tables.words.weight"][numbers["words"]]]
    parts += [
        w[f"encoder_embedding.tables.{name}.weight"][numbers[name]]
        for name, size in sizes.items()
        if size
    ]
    if c.char_size:
        parts.append(char_cnn(w, "encoder_embedding.chars", [v.chars[x] for x in token.form]))
    return torch.cat(parts)


def mix_layers(w: Weights, c: ModelConfig, layers: Sequence[Tensor]) -> Tensor:
    """Return a word's contextual vector from the encoder's layers."""
    mixed = layers[-1]
    if c.contextual_layers == "mix":
        weights = softmax(w["encoder_embedding.contextual.mix"].tolist())
        scale = w["encoder_embedding.contextual.scale"][0]
        mixed = torch.zeros_like(layers[0])
        for layer, weight in zip(layers, weights, strict=True):
            mixed = mixed + scale * weight * layer
    return ffn(w, "encoder_embedding.contextual.projection", mixed) if c.contextual_size else mixed


def encode(
    w: Weights,
    c: ModelConfig,
    v: Vocabularies,
    example: Example,
    contextual: Sequence[Tensor] | None = None,
) -> Encoding:
    """Equation 1, and h_0^l = [backward s_1; forward s_n] of each layer l."""
    n = len(example.tokens)
    inputs = []
    for t, token in enumerate(example.tokens):
        anonymous = bool(example.anonymous) and example.anonymous[t]
        inputs.append(embed_token(w, c, v, token, anonymous=anonymous))
        if contextual is not None:
            inputs[t] = torch.cat([inputs[t], contextual[t]])
    zero = torch.zeros(c.encoder_size, dtype=inputs[0].dtype)
    last = []
    for layer in range(c.encoder_layers):
        forward, backward = (zero, zero), (zero, zero)
        left: list[Tensor] = []
        right: list[Tensor] = []
        for t in range(n):
            forward = lstm_cell(w, "encoder", f"l{layer}", inputs[t], forward)
            left.append(forward[0])
        for t in reversed(range(n)):
            backward = lstm_cell(w, "encoder", f"l{layer}_reverse", inputs[t], backward)
            right.insert(0, backward[0])
        inputs = [torch.cat([left[t], right[t]]) for t in range(n)]
        last.append(tuple(torch.cat([b, f]) for f, b in zip(forward, backward, strict=True)))
    first = []
    for layer in range(c.decoder_layers):
        h, cell = last[min(layer, c.encoder_layers - 1)]
        if 2 * c.encoder_size != c.decoder_size:
            h, cell = ffn(w, "bridge", h), ffn(w, "bridge", cell)
        first.append((h, cell))
    return Encoding(inputs, first, [])
