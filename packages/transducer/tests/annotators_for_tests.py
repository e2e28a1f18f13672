"""Annotators that tests load by name."""

from typing import Any


class Upper:
    name = "upper"

    def annotate(self, sentences: Any) -> Any:
        return [tuple(t._replace(pos=t.form.upper()) for t in tokens) for tokens in sentences]


def nothing() -> int:
    return 5
