"""Text to meaning graphs: the attention-based neural transducer of Zhang et al. (EMNLP 2019)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transducer.parsing.parser import Transducer

__all__ = ["Transducer"]

# Torch's threads wait for each other by spinning, which is 30 times slower as soon as another
# program wants a core. It reads this when it is first imported.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def __getattr__(name: str) -> Any:
    # Imported on first use: torch is slow to load, and --help does not need it.
    if name == "Transducer":
        from transducer.parsing.parser import Transducer  # noqa: PLC0415

        return Transducer
    raise AttributeError(name)
