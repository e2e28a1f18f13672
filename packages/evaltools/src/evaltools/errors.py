"""What evaltools refuses to score, in one sentence.

>>> str(EvaluationError("two graphs have the id '7'", filename="a.amr"))
"a.amr: two graphs have the id '7'"
"""

from __future__ import annotations

from graphconv.errors import GraphconvError


class EvaluationError(GraphconvError, ValueError):
    """Gold and prediction cannot be compared."""

    def __init__(self, message: str, *, filename: str | None = None) -> None:
        super().__init__(f"{filename}: {message}" if filename else message)
