"""The next best choices of a row, for whoever wants to see what else the model thought of.

Search itself only needs the best; these are computed anew, and only where they are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from transducer.decoding.hypotheses import NEVER, Choice, Hypotheses

if TYPE_CHECKING:
    from transducer.decoding.steps import Steps


def next_best(
    steps: Steps, hyp: Hypotheses, choice: Choice, head: Tensor, relation: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the runners-up of chosen rows and their log-probabilities: (n, 3, W) twice.

    Each is what could be in the row's place if all that was chosen before it stays.
    """
    width = steps.runners_up
    log_p, outcome = steps.outcomes(hyp, width + 1)
    sources, row = _best(steps.sources(hyp, choice), width + 1)
    relations, name = _best(steps.relations(hyp, choice, head), width + 1)
    found = (
        _without(outcome[choice.parent], log_p[choice.parent], choice.outcome, width),
        _without(row + (1 if hyp.length else 0), sources, head, width),
        _without(name, relations, relation, width),
    )
    return torch.stack([one for one, _ in found], 1), torch.stack([p for _, p in found], 1)


def _best(log_p: Tensor, best: int) -> tuple[Tensor, Tensor]:
    top, place = log_p.topk(min(best, log_p.shape[1]))
    return top, place


def _without(number: Tensor, log_p: Tensor, chosen: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Return the best numbers but the chosen one, and their log-probabilities: (n, width) twice."""
    log_p = log_p.masked_fill(number == chosen.unsqueeze(1), NEVER)
    missing = max(width - number.shape[1], 0)
    number = torch.nn.functional.pad(number, (0, missing))
    log_p = torch.nn.functional.pad(log_p, (0, missing), value=NEVER)
    top, place = log_p.topk(width)
    return number.gather(1, place), top
