"""Exact Smatch, SDP and UCCA scores that can be quoted.

>>> import evaltools
>>> evaltools.score("(w / want-01 :ARG0 (b / boy))", "(w / want-01 :ARG0 (b / boy))").f1
100.0
>>> evaltools.align("(w / want-01 :ARG0 (b / boy))", "(w / want-01)").missing
('boy', 'want-01 :ARG0 boy')
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # not from typing: its import is the longest before graphconv.starting
if TYPE_CHECKING:
    from typing import Any

    from evaltools.aligning import Alignment, align
    from evaltools.entailment import Entailment, entails
    from evaltools.linting import lint
    from evaltools.scoring import Score, score

__all__ = ["Alignment", "Entailment", "Score", "align", "entails", "lint", "score"]

_HOMES = {
    "Alignment": "evaltools.aligning",
    "Entailment": "evaltools.entailment",
    "Score": "evaltools.scoring",
    "align": "evaltools.aligning",
    "entails": "evaltools.entailment",
    "lint": "evaltools.linting",
    "score": "evaltools.scoring",
}


def __getattr__(name: str) -> Any:
    # Imported on first use: --help needs none of it.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
