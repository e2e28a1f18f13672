"""Text to meaning graphs: the attention-based neural transducer of Zhang et al. (EMNLP 2019)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transducer.parser import Transducer

__all__ = ["Transducer"]


def __getattr__(name: str) -> Any:
    # Imported on first use: torch is slow to load, and --help does not need it.
    if name == "Transducer":
        from transducer.parser import Transducer  # noqa: PLC0415

        return Transducer
    raise AttributeError(name)
