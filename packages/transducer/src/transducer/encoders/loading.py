"""Load a pre-trained encoder: by our own code where it is BERT or MPNet, else by ``transformers``.

Whatever ``AutoModel`` loads is taken, if it has one vector per sub-word in every layer. Of models
that also write text (T5, BART) the encoder alone is used.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import nn

from transducer.encoders.bert import bert_cutter, check_weights, is_bert, load_bert, outline_bert
from transducer.encoders.places import find
from transducer.encoders.subwords import MOST_AT_ONCE, Cutter, make_cutter
from transducer.errors import ModelError

_SAFE: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
_NAMES = ("unk", "pad", "cls", "sep", "mask")


@cache
def load(name: str) -> tuple[Cutter, Any]:
    """Return tokenizer and model, loaded once per process; the model is not to be changed."""
    encoder, expected = find(name), shape(name)
    with told(name), torch.inference_mode(mode=False):  # others may tune what is loaded here
        if is_bert(encoder.folder):
            return load_cutter(name), load_bert(encoder.folder)
        with encoder.alone() as folder:
            cutter, model = _by_transformers(folder)
        _probe(cutter, model, expected)
    return cutter, model


@cache
def load_cutter(name: str) -> Cutter:
    """Return what cuts sentences into sub-words; the weights are read only if they have to be."""
    folder = find(name).folder
    with told(name):
        if is_bert(folder):
            return bert_cutter(folder)
    return load(name)[0]


def outline_of(name: str) -> Any:
    """Return an encoder without weights, where our own code runs it."""
    folder = find(name).folder
    with told(name):
        return outline_bert(folder) if is_bert(folder) else load(name)[1]


@cache
def shape(name: str) -> tuple[int, int]:
    """Return (vector size, number of layers with the embedding layer)."""
    encoder = find(name)
    with told(name):
        if is_bert(encoder.folder):
            config = json.loads((encoder.folder / "config.json").read_text(encoding="utf-8"))
            return config["hidden_size"], config["num_hidden_layers"] + 1
        # Imported here: transformers takes longer to import than all the rest of the package.
        from transformers import AutoConfig  # noqa: PLC0415

        with encoder.alone() as folder:
            loaded: Any = AutoConfig.from_pretrained(folder, **_SAFE)
        return loaded.hidden_size, loaded.num_hidden_layers + 1


@contextmanager
def told(name: str) -> Iterator[None]:
    """Say of which encoder an error is, whatever is wrong with its files."""
    try:
        yield
    # Tokenizers raise plain Exceptions; a stranger's files can bring up anything.
    except Exception as error:
        reason = (str(error) or type(error).__name__).strip().splitlines()[0]
        raise ModelError(f"the encoder {name} cannot be loaded: {reason}") from error


def _by_transformers(folder: Path) -> tuple[Cutter, Any]:
    from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415 - see shape
    from transformers.utils import logging  # noqa: PLC0415

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    tokenizer: Any = AutoTokenizer.from_pretrained(folder, use_fast=True, **_SAFE)
    model: Any
    model, info = AutoModel.from_pretrained(
        folder, dtype=torch.float32, use_safetensors=True, output_loading_info=True, **_SAFE
    )
    check_weights(info["missing_keys"])
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    numbers = {name: getattr(tokenizer, f"{name}_token_id") for name in _NAMES}
    cut = tokenizer.backend_tokenizer if tokenizer.is_fast else tokenizer
    positions = min(_positions(model), int(tokenizer.model_max_length))
    return make_cutter(cut, numbers, positions), model.eval()


def _positions(model: Any) -> int:
    """Return how many sub-words a model takes at once."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            # RoBERTa's positions come after that of padding.
            padding = -1 if module.padding_idx is None else module.padding_idx
            return module.num_embeddings - padding - 1
    said = getattr(model.config, "max_position_embeddings", None)
    return said if isinstance(said, int) and said > 0 else MOST_AT_ONCE


def _probe(cutter: Cutter, model: Any, expected: tuple[int, int]) -> None:
    """Raise an error unless every layer has a vector for every sub-word."""
    ids = torch.tensor([[*cutter.before, cutter.unknown, cutter.unknown, *cutter.after]])
    with torch.inference_mode():
        output = model(
            input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True
        )
    size, layers = expected
    shapes = [tuple(layer.shape) for layer in output.hidden_states]
    if shapes != [(1, ids.shape[1], size)] * layers:
        raise ModelError("it has no vector for every sub-word in every layer")


def layers_of(model: nn.Module, count: int) -> tuple[nn.Module, str]:
    """Return the part of an encoder that holds its list of *count* layers, and the list's name."""
    for name, module in model.named_modules():
        if isinstance(module, nn.ModuleList) and len(module) == count:
            parent, _, own = name.rpartition(".")
            return model.get_submodule(parent), own
    raise ModelError("its layers are not a list, of which some could be taken")


def embeddings_of(model: Any) -> nn.Module:
    """Return the part of an encoder that looks up sub-words."""
    known: nn.Module | None = getattr(model, "embeddings", None)
    return model.get_input_embeddings() if known is None else known
