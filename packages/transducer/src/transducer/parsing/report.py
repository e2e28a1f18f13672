"""What a model is and how well and fast it parses, as text or JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import graphconv
from evaltools.report import score_table
from evaltools.validity import count_faults
from graphconv.graph import Graph, Token
from transducer.config import DecodeConfig, load_recipe, recipes
from transducer.errors import TransducerError
from transducer.parsing.evaluation import score
from transducer.parsing.inputs import gold_documents
from transducer.parsing.parser import Parse, Transducer
from transducer.storage import checkpoint
from transducer.storage.cards import Score
from transducer.text.annotation import Annotator, model_annotator


def evaluate_file(
    parser: Transducer,
    gold: str,
    settings: DecodeConfig,
    annotator: Annotator | None,
    *,
    fine_grained: bool = False,
    untagged: bool = False,
    watch: Callable[[Iterator[Parse]], Iterator[Parse]] = iter,
) -> dict[str, Any]:
    """Parse the sentences of a treebank file and score the graphs.

    *untagged* leaves out all that the file says of its words, so that they are as in raw text;
    *watch* sees the parses go by.
    """
    graphs = [
        g
        for g in graphconv.read(gold, framework=parser.task.name)
        if g.framework == parser.task.name
    ]
    if not graphs:
        raise TransducerError(f"{gold} has no {parser.task.name} graph")
    shown = [_without_tags(graph) for graph in graphs] if untagged else graphs
    documents = list(gold_documents(parser.task, shown, annotator))
    started = time.perf_counter()
    parsed = list(watch(parser.stream(documents, settings)))
    seconds = time.perf_counter() - started
    refinements = parser.task.metric_options
    options = {"fine_grained": True} if fine_grained and "fine_grained" in refinements else {}
    statistics = score(graphs, [p.graph for p in parsed], **options)
    found = [p.graph for p in parsed if p.graph is not None]
    _, faults = count_faults(found)
    tokens = sum(len(s.tokens) for d in documents for s in d.sentences)
    return {
        **statistics.to_json(),
        "f1": statistics.main.f1,
        "beam": settings.beam,
        "graphs": len(graphs),
        "unparsed": len(parsed) - len(found),
        "tokens": tokens,
        "tokens_per_second": tokens / seconds,
        "validity": {name: len(ids) for name, ids in faults.items()},
    }


def measure(folder: Path, gold: Sequence[str], beams: Sequence[int] = (1,)) -> list[Score]:
    """Score a model on treebank files, for its card."""
    parser = Transducer.load(folder, "cpu")
    config = parser.task.config
    place = f"{folder / checkpoint.CONFIG}: train.annotator"
    annotator = model_annotator(config.train.annotator, place)
    scores = []
    for path in gold:
        for beam in beams:
            settings = replace(config.decode, beam=beam, nbest=1)
            report = evaluate_file(parser, path, settings, annotator)
            scores.append(Score(Path(path).name, report["graphs"], beam, report["f1"]))
    return scores


def _without_tags(graph: Graph) -> Graph:
    return replace(graph, tokens=tuple(Token(t.form, span=t.span) for t in graph.tokens))


def evaluation_table(report: dict[str, Any]) -> str:
    """Format what :func:`evaluate_file` found."""
    own = ("f1", "beam", "graphs", "unparsed", "tokens", "tokens_per_second", "validity")
    scores = {name: value for name, value in report.items() if name not in own}
    faults = ", ".join(f"{count} {name}" for name, count in report["validity"].items() if count)
    return "\n".join(
        [
            score_table(scores),
            "",
            f"{report['graphs']:,} graphs, {report['unparsed']} unparsed, beam {report['beam']}, "
            f"{report['tokens_per_second']:,.0f} tokens/s",
            f"faults: {faults or 'none'}",
        ]
    )


def describe(name: str, task: str | None = None) -> str:
    """Return a recipe or a model directory as text."""
    if name in recipes():
        fallback = None if name.startswith("paper-") else "amr"
        return json.dumps(load_recipe(name, task=task or fallback).to_dict(), indent=1)
    folder = Path(name)
    config, vocabularies, _ = checkpoint.load_setup(folder)
    sizes = {kind: len(items) for kind, items in vocabularies.to_json().items()}
    weights = folder / checkpoint.WEIGHTS
    return json.dumps(
        {
            "config": config.to_dict(),
            "vocabularies": sizes,
            "score": checkpoint.read_score(folder),
            "weights_bytes": weights.stat().st_size if weights.is_file() else 0,
        },
        indent=1,
    )
