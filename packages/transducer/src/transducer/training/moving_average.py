"""The exponential moving average of a model's weights while it is trained.

Where ``train.moving_average`` is its decay, the average is evaluated and saved. (The mean of
several trained models is another thing: :mod:`transducer.training.average`.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class MovingAverage:
    """The moving average of the weights that are learned; without a decay it is empty."""

    def __init__(
        self,
        model: nn.Module,
        decay: float,
        device: torch.device,
        saved: Mapping[str, Tensor] | None = None,
    ) -> None:
        self.model = model
        self.decay = decay
        first = (saved or self._learned()) if decay else {}
        self.weights = {name: w.detach().clone().to(device) for name, w in first.items()}

    def update(self, updates: int) -> None:
        """Take the weights in as they are after so many *updates* before this one."""
        if not self.decay:
            return
        # The first updates would weigh too much: the decay grows with them.
        decay = min(self.decay, (1 + updates) / (10 + updates))
        learned = self._learned()
        kept = [self.weights[name] for name in learned]
        torch._foreach_lerp_(kept, list(learned.values()), 1 - decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Put the average into the model for a while."""
        if not self.weights:
            yield
            return
        own = {name: weight.clone() for name, weight in self._learned().items()}
        self.model.load_state_dict(self.weights, strict=False)
        try:
            yield
        finally:
            self.model.load_state_dict(own, strict=False)

    def _learned(self) -> dict[str, Tensor]:
        named = self.model.named_parameters()
        return {name: weight.detach() for name, weight in named if weight.requires_grad}
