"""What only an extra of the package brings, and the sentence that says so where it is missing."""

from __future__ import annotations

import importlib.util

from transducer.errors import TransducerError


def require(extra: str, purpose: str, *modules: str) -> None:
    """Refuse to go on without the modules of an extra; imports none of them."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise TransducerError(
            f"{purpose} needs {' and '.join(missing)}: pip install 'arbora-transducer[{extra}]'"
        )


def require_training() -> None:
    """Refuse to train without what the extra ``train`` brings."""
    require("train", "training", "accelerate", "matplotlib", "rich")
