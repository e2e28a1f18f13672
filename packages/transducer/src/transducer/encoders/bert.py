"""BERT (Devlin et al., 2019) and MPNet (Song et al., 2020) in plain torch, and their sub-words.

``transformers`` runs every encoder, but takes longer to import than a sentence takes to parse. The
encoders that are used most are these two; for them this module does, with the same numbers, what
``AutoModel`` and ``AutoTokenizer`` do. Weights have the names of BERT's. MPNet is a BERT whose
attention also sees how far two sub-words are apart.
"""

from __future__ import annotations

import json
import math
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from transducer.encoders.subwords import Cutter, make_cutter
from transducer.errors import ModelError
from transducer.outline import outlined

_WEIGHTS = "model.safetensors"
_TOKENIZER = "tokenizer.json"

_FURTHEST = 128
"""Distances from here on are one to MPNet."""
_MPNET_NAMES = {
    "attention.attn.q.": "attention.self.query.",
    "attention.attn.k.": "attention.self.key.",
    "attention.attn.v.": "attention.self.value.",
    "attention.attn.o.": "attention.output.dense.",
    "attention.LayerNorm.": "attention.output.LayerNorm.",
}
"""What MPNet calls parts that BERT has, too."""
_TENSORFLOW_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
_POSITIONS = "embeddings.position_embeddings.weight"
_TYPES = "embeddings.token_type_embeddings.weight"
_NEEDED = (
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_attention_heads",
    "num_hidden_layers",
    "max_position_embeddings",
)
"""Settings that a config has to have; transformers knows what stands for those that it lacks."""
_MPNET_FIRST = 2
"""The number of MPNet's first position; those before it stand for padding."""


def is_bert(folder: Path) -> bool:
    """Return whether a folder holds a BERT or an MPNet that this module can load."""
    if not all((folder / name).is_file() for name in ("config.json", _WEIGHTS, _TOKENIZER)):
        return False
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    plain = config.get("position_embedding_type", "absolute") == "absolute"
    known = config.get("model_type") in ("bert", "mpnet") and not config.get("is_decoder")
    complete = all(isinstance(config.get(name), int) for name in _NEEDED)
    return known and complete and config.get("hidden_act") == "gelu" and plain


def bert_cutter(folder: Path) -> Cutter:
    """Return what cuts sentences into sub-words."""
    positions = _config(folder)["max_position_embeddings"]
    tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
    named = {name: f"[{name.upper()}]" for name in ("unk", "pad", "cls", "sep", "mask")}
    path = folder / "tokenizer_config.json"
    if path.is_file():
        said = json.loads(path.read_text(encoding="utf-8"))
        tokens = {name: said.get(f"{name}_token", token) for name, token in named.items()}
        named = {n: t["content"] if isinstance(t, dict) else t for n, t in tokens.items()}
    numbers = {name: tokenizer.token_to_id(token) for name, token in named.items()}
    return make_cutter(tokenizer, numbers, positions)


class Bert(nn.Module):
    """The encoder; modules are nested and named as in the published weights."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        size, inner = config["hidden_size"], config["intermediate_size"]
        self.heads = config["num_attention_heads"]
        self.dropout = config.get("hidden_dropout_prob", 0.1)
        self.attention_dropout = config.get("attention_probs_dropout_prob", 0.1)
        norm = config.get("layer_norm_eps", 1e-12)
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(config["vocab_size"], size),
                "position_embeddings": nn.Embedding(config["max_position_embeddings"], size),
                "token_type_embeddings": nn.Embedding(config.get("type_vocab_size", 1), size),
                "LayerNorm": nn.LayerNorm(size, norm),
            }
        )
        layers = (_layer(size, inner, norm) for _ in range(config["num_hidden_layers"]))
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(layers)})
        buckets = config.get("relative_attention_num_buckets", 0)
        if buckets:
            self.encoder["relative_attention_bias"] = nn.Embedding(buckets, self.heads)
        self.pooler = nn.ModuleDict({"dense": nn.Linear(size, size)})  # there, but not used

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> list[Tensor]:
        """Encode windows of sub-words: (W, P) -> (K, D) of every layer, the embeddings first.

        K sub-words are there; padding is left out of everything but the attention, since it can be
        half of a batch.
        """
        e: Any = self.embeddings  # a table of modules has no types
        places = attention_mask.flatten().nonzero().squeeze(1)  # of the K sub-words among W * P
        x = e["word_embeddings"](input_ids) + e["token_type_embeddings"].weight[0]
        x = x + e["position_embeddings"].weight[: input_ids.shape[1]]
        x = self._drop(e["LayerNorm"](x.flatten(0, 1)[places]))  # (K, D)
        mask = attention_mask.bool()
        seen = self._seen(mask)
        layers = [x]
        blocks: Any = self.encoder["layer"]
        for layer in blocks:
            x = self._run(layer, x, places, mask, seen)
            layers.append(x)
        return layers

    def _seen(self, mask: Tensor) -> Tensor:
        """Return which scores the attention takes, or what it adds to them: (W, ., ., P)."""
        here = mask[:, None, None, :]
        if "relative_attention_bias" not in self.encoder:
            return here
        table: Any = self.encoder["relative_attention_bias"]
        bias = table(_buckets(mask.shape[1], table.num_embeddings).to(mask.device))  # (P, P, H)
        return bias.permute(2, 0, 1).masked_fill(~here, -math.inf)

    def _run(self, layer: Any, x: Tensor, places: Tensor, mask: Tensor, seen: Tensor) -> Tensor:
        own, output = layer["attention"]["self"], layer["attention"]["output"]
        query, key, value = (
            _pad(own[name](x), places, mask).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        dropout = self.attention_dropout if self.training else 0.0
        attended = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=seen, dropout_p=dropout
        )
        attended = output["dense"](attended.transpose(1, 2).flatten(0, 1).flatten(1)[places])
        x = output["LayerNorm"](x + self._drop(attended))
        inner = functional.gelu(layer["intermediate"]["dense"](x))
        return layer["output"]["LayerNorm"](x + self._drop(layer["output"]["dense"](inner)))

    def _drop(self, x: Tensor) -> Tensor:
        return functional.dropout(x, self.dropout, self.training)


def _buckets(length: int, count: int) -> Tensor:
    """Return the number of the distance between any two places: near ones have one each."""
    places = torch.arange(length)
    ahead = places - places[:, None]
    half, distance = count // 2, ahead.abs()
    exact = half // 2
    far = (distance / exact).clamp_min(1).log() / math.log(_FURTHEST / exact) * (half - exact)
    near = torch.where(distance < exact, distance, (exact + far.long()).clamp_max(half - 1))
    return near + half * (ahead > 0)


def _pad(x: Tensor, places: Tensor, mask: Tensor) -> Tensor:
    """Put sub-words into their places: (K, D) -> (W, P, D)."""
    padded = x.new_zeros(mask.numel(), x.shape[-1]).index_copy(0, places, x)
    return padded.view(*mask.shape, -1)


def _layer(size: int, inner: int, norm: float) -> nn.ModuleDict:
    attention = nn.ModuleDict({name: nn.Linear(size, size) for name in ("query", "key", "value")})
    return nn.ModuleDict(
        {
            "attention": nn.ModuleDict({"self": attention, "output": _output(size, size, norm)}),
            "intermediate": nn.ModuleDict({"dense": nn.Linear(size, inner)}),
            "output": _output(inner, size, norm),
        }
    )


def _output(inputs: int, size: int, norm: float) -> nn.ModuleDict:
    return nn.ModuleDict({"dense": nn.Linear(inputs, size), "LayerNorm": nn.LayerNorm(size, norm)})


def _config(folder: Path) -> dict[str, Any]:
    """Return the settings of an encoder; positions are those that a sub-word can have."""
    config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if config["model_type"] == "mpnet":
        config["max_position_embeddings"] -= _MPNET_FIRST
    return config


def outline_bert(folder: Path) -> Bert:
    """Return the encoder of a folder without its weights."""
    with outlined():
        return Bert(_config(folder)).eval()


def load_bert(folder: Path) -> Bert:
    """Load the encoder of a folder."""
    model = outline_bert(folder)
    wanted = model.state_dict()
    found = read_bert(folder, wanted)
    if _config(folder)["model_type"] == "mpnet":  # it has no types of tokens
        found.setdefault(_TYPES, torch.zeros(wanted[_TYPES].shape))
    missing = {n: torch.zeros(t.shape) for n, t in wanted.items() if n not in found}
    check_weights(list(missing))
    model.load_state_dict({**found, **missing}, assign=True)
    return model


def read_bert(folder: Path, wanted: Container[str]) -> dict[str, Tensor]:
    """Return the weights with these names, as far as a folder has them: mapped, where possible."""
    mpnet = _config(folder)["model_type"] == "mpnet"
    with safe_open(folder / _WEIGHTS, "pt") as file:
        names = {_bert_name(stored, mpnet=mpnet): stored for stored in file.keys()}  # noqa: SIM118
        found = {n: file.get_tensor(s).float() for n, s in names.items() if n in wanted}
    if mpnet and _POSITIONS in found:
        found[_POSITIONS] = found[_POSITIONS][_MPNET_FIRST:]
    return found


def _bert_name(name: str, *, mpnet: bool) -> str:
    """Return what BERT calls a weight today; the first checkpoints come from TensorFlow."""
    for prefix in ("bert.", "mpnet."):
        name = name.removeprefix(prefix)
    for old, new in _TENSORFLOW_NAMES.items():
        name = f"{name.removesuffix(old)}{new}" if name.endswith(old) else name
    known = (other for other in _MPNET_NAMES if mpnet and other in name)
    return next((name.replace(other, _MPNET_NAMES[other]) for other in known), name)


def check_weights(missing: Iterable[str]) -> None:
    """Raise an error if weights that are used would be random numbers."""
    used = sorted(name for name in missing if "pooler." not in name)
    if used:
        more = f" and {len(used) - 1} more" if len(used) > 1 else ""
        raise ModelError(f"its weights lack {used[0]}{more}")
