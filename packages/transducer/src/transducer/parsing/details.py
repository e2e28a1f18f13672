"""What can be told of a parse beside its graph: scores, alignments, relations one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import IO, Any

from graphconv.arborescence import ROOT_LABEL, Row
from transducer.data.examples import numericalize
from transducer.decoding.results import Decision
from transducer.frameworks.tasks import Document
from transducer.parsing.parser import Parse, Transducer


def hypotheses(parsed: Parse) -> dict[str, Any]:
    """Return the hypotheses of a document with the scores of their rows, for JSON."""
    return {
        "id": parsed.document.id,
        "sentences": [
            [
                {
                    "score": hypothesis.score,
                    "rows": [
                        {**row._asdict(), "score": score}
                        for row, score in zip(hypothesis.rows, hypothesis.row_scores, strict=False)
                    ],
                }
                for hypothesis in found
            ]
            for found in parsed.hypotheses
        ],
    }


def alignments(parsed: Parse) -> dict[str, Any]:
    """Return the attention of the best rows to the tokens, for JSON."""
    sentences = zip(parsed.document.sentences, parsed.hypotheses, strict=False)
    return {
        "id": parsed.document.id,
        "sentences": [
            {
                "tokens": [token.form for token in sentence.tokens],
                "rows": [
                    {
                        "label": row.label,
                        "index": row.index,
                        "attention": [round(x, 4) for x in weights],
                    }
                    for row, weights in zip(found[0].rows, found[0].alignments, strict=False)
                ],
            }
            for sentence, found in sentences
        ],
    }


def stream_relations(parser: Transducer, document: Document, file: IO[str]) -> None:
    """Write the relations of a document as greedy search decides them, one a line."""
    greedy = replace(parser.task.config.decode, beam=1, nbest=1)
    for sentence in document.sentences:
        item = numericalize(sentence.example, parser.vocabularies)
        if not item.forms:
            continue
        rows = [Row(ROOT_LABEL, 0, 0, "")]

        def tell(_: int, row: Row, __: Decision, rows: list[Row] = rows) -> None:
            source = rows[row.head]
            rows.append(row)
            file.write("\t".join(map(str, (document.id, *_relation(source, row)))) + "\n")
            file.flush()

        parser.decode([item], greedy, on_row=tell)
        file.write("\n")


def _relation(source: Row, row: Row) -> Iterator[str | int]:
    yield from (source.label, source.index, row.relation, row.label, row.index)
    yield from row.anchors
