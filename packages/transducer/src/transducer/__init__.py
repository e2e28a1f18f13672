"""Text to meaning graphs: the attention-based neural transducer of Zhang et al. (EMNLP 2019).

>>> import transducer
>>> nlp = transducer.load("amr", "dm", "ucca")                                # doctest: +SKIP
>>> doc = nlp("The boy wants to go. He left.")                                # doctest: +SKIP
>>> doc.amr[0].triples()[0]                                                   # doctest: +SKIP
('w', 'instance', 'want-01')
"""

from __future__ import annotations

import os
from importlib import import_module

TYPE_CHECKING = False  # not from typing: its import is the longest before graphconv.starting
if TYPE_CHECKING:
    from typing import Any

    from transducer.parsing.document import Doc
    from transducer.parsing.parser import Transducer
    from transducer.parsing.pipeline import Pipeline, load

__all__ = ["Doc", "Pipeline", "Transducer", "load"]

_HOMES = {
    "Doc": "transducer.parsing.document",
    "Pipeline": "transducer.parsing.pipeline",
    "Transducer": "transducer.parsing.parser",
    "load": "transducer.parsing.pipeline",
}

# Torch's threads wait for each other by spinning, which is 30 times slower as soon as another
# program wants a core. It reads this when it is first imported.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


if not TYPE_CHECKING:  # so that a checker of types still knows which names there are

    def __getattr__(name: str) -> Any:
        # Imported on first use: torch is slow to load, and --help does not need it.
        if name in _HOMES:
            return getattr(import_module(_HOMES[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
