"""The server-sent events of ``/v1/stream``: words, then each relation as it is decided.

>>> rows = Relations()
>>> root = rows.event("amr", 0, Row("bark-01", 1, 0, "root"), Decision(-0.1, 0.0, 0.0))
>>> root["source"], root["relation"], root["target"], root["probability"]
('<root>', 'root', 'bark-01', 0.904837)
>>> rows.event("amr", 0, Row("dog", 2, 1, "ARG0"), Decision(-0.1, 0.0, 0.0))["source"]
'bark-01'
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import exp
from typing import Any

from graphconv.arborescence import ROOT_LABEL, Row
from graphconv.graph import Token
from transducer.data.vocabularies import EOS, FIRST
from transducer.decoding.results import PARTS, Decision
from transducer.parsing.document import Span

RUNNERS_UP = 3
"""For a node, a source and a relation each, how many others are told."""

END = FIRST["labels"][EOS]
"""The label of a runner-up that would have ended the graph; its target is null."""


def event(name: str, data: Any) -> str:
    """Return one event of a stream."""
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def tokens(words: Sequence[Token], parts: Mapping[str, Sequence[Span]]) -> dict[str, Any]:
    """Return the words of a text, their characters, and the first and last+1 of each sentence."""
    spans = ((word, word.span) for word in words if word.span is not None)
    return {
        "tokens": [{"form": word.form, "start": a, "end": b} for word, (a, b) in spans],
        "sentences": {task: [list(bounds) for bounds in some] for task, some in parts.items()},
    }


class Relations:
    """The rows of each sentence so far, and their events."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, int], list[Row]] = {}

    def event(self, task: str, sentence: int, row: Row, decision: Decision) -> dict[str, Any]:
        """Return what is told of the next row of a sentence."""
        before = self._rows.setdefault((task, sentence), [Row(ROOT_LABEL, 0, 0, "")])
        number = len(before)
        before.append(row)
        source = before[row.head]
        parts = decision.node, decision.source, decision.relation
        others = [
            {
                "part": part,
                "source": before[other.head].label,
                "relation": other.relation,
                "target": None if other.label == END else other.label,
                "probability": _probability(log_p),
            }
            for part, other, log_p in decision.runners_up
        ]
        return {
            "task": task,
            "sentence": sentence,
            "row": number,
            "source": source.label,
            "source_index": source.index,
            "head": row.head,
            "relation": row.relation,
            "target": row.label,
            "index": row.index,
            "position": row.anchors[0] if row.anchors else None,
            "probability": _probability(sum(parts)),
            "parts": {part: _probability(log_p) for part, log_p in zip(PARTS, parts, strict=True)},
            "runners_up": others,
        }


def _probability(log_p: float) -> float:
    return round(exp(log_p), 6)
