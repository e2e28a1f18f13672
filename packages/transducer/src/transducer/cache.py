"""Where things that can be computed or asked again are kept."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder(name: str) -> Path:
    """Return the folder for one kind of thing, below ``ARBORA_CACHE`` or the user's cache.

    >>> cache_folder("vectors").name
    'vectors'
    """
    given = os.environ.get("ARBORA_CACHE")
    if given:
        return Path(given) / name
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "arbora" / name
