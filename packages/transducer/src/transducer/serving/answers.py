"""What the endpoints answer, as JSON: documents, converted graphs, scores and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import evaltools
import graphconv
from evaltools.metrics import METRICS, metric_of
from graphconv import Graph
from graphconv.codecs.amr.alignments import with_alignments
from graphconv.draw import svg
from graphconv.errors import GraphconvError
from graphconv.io.strings import is_no_notation
from transducer.parsing.document import Doc
from transducer.parsing.request import ALIGNED
from transducer.serving.requests import (
    ConvertRequest,
    DrawRequest,
    ParseRequest,
    RequestError,
    ScoreRequest,
)

MOST_DRAWN = 2000
"""Nodes of a graph that is drawn: no reader sees more, and they would take seconds."""


def parsed(request: ParseRequest, doc: Doc) -> dict[str, Any]:
    """Return the document, and strings in the formats asked for."""
    doc = doc if request.scores else _without_scores(doc)
    answer = doc.to_json()
    if request.formats:
        answer["formats"] = {task: _strings(graphs, request) for task, graphs in doc.graphs.items()}
        for task, found in doc.nbest.items():
            for shown, hypotheses in zip(answer["nbest"][task], found, strict=True):
                for record, hypothesis in zip(shown, hypotheses, strict=True):
                    record["formats"] = _strings([hypothesis.graph], request)
    return answer


def _without_scores(doc: Doc) -> Doc:
    """Return a document whose graphs do not say how sure the parser was."""

    def bare(graph: Graph) -> Graph:
        return replace(graph, scores=None)

    graphs = {task: tuple(map(bare, some)) for task, some in doc.graphs.items()}
    nbest = {
        task: tuple(tuple(one._replace(graph=bare(one.graph)) for one in best) for best in found)
        for task, found in doc.nbest.items()
    }
    return replace(doc, graphs=graphs, nbest=nbest)


def _strings(graphs: Sequence[Graph], request: ParseRequest) -> dict[str, str]:
    """Return graphs as strings; empty where a format cannot hold their framework."""
    strings = {}
    for name in request.formats:
        aligned = name in ALIGNED and request.alignments != "none"
        try:
            written = [with_alignments(g, request.alignments) if aligned else g for g in graphs]
            strings[name] = graphconv.dumps(written, format=name)
        except GraphconvError:
            strings[name] = ""
    return strings


def converted(request: ConvertRequest) -> dict[str, Any]:
    """Return graphs in another format."""
    graphs = _graphs(request.text, format=request.format, framework=request.framework)
    return {"text": graphconv.dumps(graphs, format=request.to)}


def _graphs(text: str, **options: str | None) -> list[Graph]:
    """Read the graphs in a text; here it never names a file."""
    if options.get("format") is None and text.strip() and is_no_notation(text):
        raise RequestError(f"this is not a graph in any format: {text[:60]!r}", 422)
    return graphconv.loads(text, **options)


def scored(request: ScoreRequest, seconds: float) -> dict[str, Any]:
    """Return scores; of a single pair also what matched, and both pictures with it.

    Search for the best alignment ends after *seconds*; what is found then is not certified.
    """
    gold, pred = _graphs(request.gold), _graphs(request.pred)
    options: dict[str, Any] = {}
    metric = request.metric
    if gold and metric == "auto":
        metric = metric_of(gold[0].framework)
    if metric != "auto" and "time_limit" in METRICS[metric].option_names:
        options["time_limit"] = seconds / len(gold) if gold else seconds
    result = evaltools.score(gold, pred, metric=request.metric, **options)
    answer = {"scores": result.to_json(), "table": str(result), "certified": result.certified}
    if len(gold) == len(pred) == 1 and metric == metric_of(gold[0].framework):
        found = evaltools.align(gold[0], pred[0], **options)
        answer["alignment"] = {
            "pairs": [list(pair) for pair in found.pairs],
            "matched": list(found.matched),
            "missing": list(found.missing),
            "extra": list(found.extra),
        }
        answer["pictures"] = {
            "gold": _picture(gold[0], highlight=found.difference.gold),
            "pred": _picture(pred[0], highlight=found.difference.pred),
        }
    return answer


def drawn(request: DrawRequest) -> dict[str, Any]:
    """Return the pictures of all graphs of a text as SVG."""
    graphs = _graphs(request.text, format=request.format, framework=request.framework)
    if not graphs:
        raise RequestError("there is no graph in the text", 422)
    pictures = [_picture(graph) for graph in graphs]
    return {"svg": pictures[0], "pictures": pictures}


def _picture(graph: Graph, **options: Any) -> str:
    if len(graph.nodes) + len(graph.tokens) > MOST_DRAWN:
        size = f"{len(graph.nodes):,} nodes and {len(graph.tokens):,} words"
        raise RequestError(f"the graph {graph.id} has {size}, too many for a picture", 422)
    return svg(graph, title="", **options)
