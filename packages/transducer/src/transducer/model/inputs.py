"""What the model is given: batches of items, with the vectors of the contextual encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from transducer.config import Config
from transducer.data.batches import Batch, collate
from transducer.data.examples import Item
from transducer.data.vocabularies import Vocabularies
from transducer.encoders.contextual import cut
from transducer.encoders.features import CPU, Features, FrozenFeatures

if TYPE_CHECKING:
    import torch


def make_features(
    config: Config, folder: Path | None, device: torch.device = CPU
) -> FrozenFeatures | None:
    """Return the source of frozen contextual vectors, if the model uses them."""
    if not config.model.contextual or config.model.contextual_tuned:
        return None
    return FrozenFeatures(config.model, folder, device)


def make_batch(
    items: Sequence[Item], vocabularies: Vocabularies, config: Config, features: Features | None
) -> Batch:
    """Collate items with whatever the contextual encoder needs."""
    forms = [item.forms for item in items]
    vectors = features(forms) if features is not None else None
    subwords = None
    if config.model.contextual_tuned and vectors is None:
        subwords = cut(config.model.contextual, forms, max(len(f) for f in forms))
    return collate(items, vocabularies, contextual=vectors, subwords=subwords)
