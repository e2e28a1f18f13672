"""Contextual word vectors of a pre-trained encoder: frozen, or tuned with the model."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from transducer.config import ModelConfig
from transducer.encoders.bert import Bert
from transducer.encoders.loading import (
    embeddings_of,
    layers_of,
    load,
    load_cutter,
    outline_of,
    shape,
    told,
)
from transducer.encoders.low_rank import learn_differences
from transducer.encoders.subwords import Subwords, cut_sentences
from transducer.errors import ModelError
from transducer.outline import is_outlined

if TYPE_CHECKING:
    from transducer.data.batches import Batch


def cut(name: str, sentences: Sequence[Sequence[str]], width: int) -> Subwords:
    """Cut sentences into the sub-words of an encoder."""
    return cut_sentences(load_cutter(name), sentences, width)


def mask_number(name: str) -> int:
    """Return the number of the sub-word that an encoder knows as a gap in the text."""
    return load_cutter(name).mask


def pool(layers: Tensor, subwords: Subwords, sentences: int, width: int) -> Tensor:
    """Average the sub-words of each word: (K, L, D) -> (B, S, L, D)."""
    owners = subwords.words[subwords.mask.bool()]
    owned = owners >= 0
    flat, owners = layers[owned], owners[owned]
    total = flat.new_zeros(sentences * width, *flat.shape[1:]).index_add_(0, owners, flat)
    count = flat.new_zeros(sentences * width).index_add_(0, owners, flat.new_ones(len(owners)))
    mean = total / count.clamp_min(1)[:, None, None]
    return mean.view(sentences, width, *flat.shape[1:])


def _copy(model: Any, *, shared: bool) -> Any:
    """Copy an encoder, which others use, too; weights that are not tuned can be shared."""
    weights = model.parameters() if shared else ()
    return copy.deepcopy(model, {id(weight): nn.Parameter(weight.detach()) for weight in weights})


def _tunable(config: ModelConfig) -> Any:
    """Return a copy of the encoder in which whatever is tuned requires gradients."""
    rank, depth = config.contextual_rank, config.contextual_depth
    model = outline_of(config.contextual) if is_outlined() else load(config.contextual)[1]
    model = _copy(model, shared=rank > 0)
    model.train().requires_grad_(not rank)
    embeddings_of(model).requires_grad_(False)
    if depth or rank:
        with told(config.contextual):
            holder, name = layers_of(model, shape(config.contextual)[1] - 1)
        layers = getattr(holder, name)
        setattr(holder, name, layers[:depth] if depth else layers)
        if rank:
            learn_differences(getattr(holder, name), rank)
    if isinstance(model, Bert):
        model.pooler.requires_grad_(False)
    elif not rank:
        _keep_unreached(model)
    return model


def _keep_unreached(model: Any) -> None:
    """Tune nothing that no layer depends on, such as poolers: processes would wait for it."""
    ids = torch.zeros((1, 4), dtype=torch.long)
    layers = _layers(model, ids, torch.ones_like(ids))
    torch.stack([layer.sum() for layer in layers]).sum().backward()
    for weight in model.parameters():
        weight.requires_grad_(weight.requires_grad and weight.grad is not None)
        weight.grad = None


class ContextualEncoder(nn.Module):
    """Mix the layers of the contextual encoder; run it too if it is tuned."""

    origin = ""
    """Hash of the file that its fine-tuned layers come from, if models share one."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width, layers = shape(config.contextual)
        if config.contextual_depth >= layers:
            raise ModelError(
                f"{config.contextual} has {layers - 1} layers, and contextual_depth asks for "
                f"{config.contextual_depth}"
            )
        if config.contextual_depth:
            layers = config.contextual_depth + 1
        self.depth = layers - 1
        self.size = config.contextual_size or width
        self.projection = nn.Linear(width, self.size) if config.contextual_size else None
        self.mix = nn.Parameter(torch.zeros(layers)) if config.contextual_layers == "mix" else None
        self.scale = nn.Parameter(torch.ones(1)) if self.mix is not None else None
        self.model = None
        if config.contextual_tuned:
            self.model = _tunable(config)

    def forward(self, batch: Batch) -> Tensor:
        """Return one vector per word: (B, S, D)."""
        if self.model is None:
            assert batch.contextual is not None
            return self._project(self._mix(batch.contextual.float().unbind(2)))
        if batch.contextual is not None:
            return batch.contextual[:, :, 0].float()  # see RememberedFeatures
        assert batch.subwords is not None
        return self.encode(batch.subwords, *batch.words.shape)

    def encode(self, subwords: Subwords, sentences: int, width: int) -> Tensor:
        """Run a tuned encoder."""
        layers = run(self.model, subwords, last=self.mix is None)
        return self.finish(layers, subwords, sentences, width)

    def finish(
        self, layers: Sequence[Tensor], subwords: Subwords, sentences: int, width: int
    ) -> Tensor:
        """Return one vector per word of what the encoder computed in each layer."""
        # Mixed before pooled: both are sums, and there are fewer vectors to pool.
        mixed = self._mix(layers).unsqueeze(1)
        return self._project(pool(mixed, subwords, sentences, width).squeeze(2))

    def _project(self, vectors: Tensor) -> Tensor:
        return vectors if self.projection is None else self.projection(vectors)

    def _mix(self, layers: Sequence[Tensor]) -> Tensor:
        """Return the last layer, or the weighted sum of all."""
        if self.mix is None or self.scale is None:
            return layers[-1]
        weights = self.scale * self.mix.softmax(0)
        # One after the other: to put them all into one tensor takes longer than to add them up.
        mixed = layers[0] * weights[0]
        for layer, weight in zip(layers[1:], weights[1:], strict=True):
            mixed = torch.addcmul(mixed, layer, weight)
        return mixed


def run(model: Any, subwords: Subwords, *, last: bool) -> list[Tensor]:
    """Run the encoder: (K, D) of every layer, or of the last one alone, K sub-words in all."""
    ids, mask = subwords.ids, subwords.mask
    if isinstance(model, Bert):
        layers = model(ids, mask)
    else:
        layers = [layer[mask.bool()] for layer in _layers(model, ids, mask)]
    return layers[-1:] if last else layers


def _layers(model: Any, ids: Tensor, mask: Tensor) -> Sequence[Tensor]:
    """Return what a model of ``transformers`` computes in each layer: (W, P, D)."""
    output = model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
    layers: Sequence[Tensor] = output.hidden_states
    return layers
