"""The demo: parse with the models that ship; then train small ones, parse, score and draw."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import graphconv
from evaltools.diff import difference
from evaltools.metrics import metric_of
from graphconv import draw
from graphconv.graph import Graph
from transducer import sample
from transducer.config import load_recipe, override
from transducer.parsing.baseline import nearest
from transducer.parsing.evaluation import headline
from transducer.parsing.inputs import gold_documents
from transducer.parsing.parser import Transducer
from transducer.parsing.pipeline import load
from transducer.storage.folders import refuse_taken
from transducer.storage.shipped import shipped_tasks
from transducer.storage.writing import write_text
from transducer.training import runs
from transducer.training.state import Progress

SENTENCES = (
    "The boy wants to go to the small town by the sea.",
    "She was asked to help, but she could not find the key.",
    "Although it rained, nobody in Paris stayed at home.",
)
"""What the models that ship are asked first."""

SHOWN = 4
"""Sentences per framework that are drawn."""

_LONGEST_SHOWN = 14
_SHORT = {"smatch": "Smatch", "sdp": "labelled F1", "ucca": "labelled F1"}
"""Metric -> what the table calls its headline."""


@dataclass(frozen=True, slots=True)
class Result:
    """How one framework went."""

    task: str
    metric: str
    score: float
    baseline: float
    seconds: float
    gold: tuple[Graph, ...]
    pred: tuple[Graph | None, ...]


def check_folder(folder: Path, *, overwrite: bool) -> None:
    """Refuse to train where other models are, before anything is done."""
    for task in sample.FRAMEWORKS:
        refuse_taken(folder / task, overwrite=overwrite)


def first_look(folder: Path, *, device: str = "auto") -> Path:
    """Parse some sentences with the models that ship, and return a page with the graphs.

    Raises:
        TransducerError: No model ships, or its encoder is neither here nor can be fetched.
    """
    nlp = load(*shipped_tasks(), device=device)
    docs = list(nlp.pipe(SENTENCES, errors="keep"))
    figures = [
        (f"{task.upper()}: {doc.text}", draw.svg(graph, title=""))
        for doc in docs
        for task, graphs in doc.graphs.items()
        for graph in graphs
    ]
    page = folder / "parses.html"
    folder.mkdir(parents=True, exist_ok=True)
    write_text(page, draw.page("Three sentences, parsed by the models that ship", figures))
    return page


def run_demo(
    folder: Path,
    *,
    device: str = "auto",
    seed: int = 1,
    settings: Sequence[str] = (),
    overwrite: bool = False,
    bar: Callable[[str], Callable[[Progress], None]] = lambda _: lambda _: None,
    on_result: Callable[[Result], None] = lambda _: None,
) -> tuple[list[Result], Path]:
    """Run the demo for every framework and draw its page; return the results and the page.

    *settings* change the recipe ``tiny``, as ``--set`` does. *bar* gives, for a task, what is told
    how its training goes.
    """
    results = []
    check_folder(folder, overwrite=overwrite)
    for task in sample.FRAMEWORKS:
        config = override(load_recipe("tiny", task=task), settings)
        run = runs.new_run(config, (), (), folder / task, device=device, seed=seed)
        started = time.perf_counter()
        runs.train(run, overwrite=overwrite, on_progress=bar(task))
        result = _result(run, started)
        on_result(result)
        results.append(result)
    page = folder / "demo.html"
    title = "Gold and predicted graphs of unseen sentences"
    write_text(page, draw.page(title, _figures(results), table=score_table(results)))
    return results, page


def score_table(results: Iterable[Result]) -> list[tuple[str, ...]]:
    """Return the scores beside the baseline's, as rows of a table."""
    rows: list[tuple[str, ...]] = [("task", "metric", "model", "nearest sentence", "seconds")]
    for r in results:
        rows.append((r.task, r.metric, f"{r.score:.2f}", f"{r.baseline:.2f}", f"{r.seconds:.0f}"))
    return rows


def _result(run: runs.Run, started: float) -> Result:
    """Parse the test sentences with the model of a training, and score them."""
    task = run.config.task
    parser = Transducer.load(run.folder, run.device)
    gold = _read(task, "test")
    documents = gold_documents(parser.task, gold, None)
    pred = [parsed.graph for parsed in parser.stream(documents, parser.task.config.decode)]
    score = headline(gold, pred).f1
    seconds = time.perf_counter() - started
    baseline = headline(gold, list(nearest(_read(task, "train"), gold))).f1
    metric = _SHORT[parser.task.metric]
    return Result(task, metric, score, baseline, seconds, tuple(gold), tuple(pred))


def _read(task: str, part: str) -> list[Graph]:
    return list(graphconv.read(sample.path(task, part), framework=task))


def _figures(results: Sequence[Result]) -> list[tuple[str, str]]:
    """Draw the gold and the predicted graph of some sentences, side by side where they fit."""
    figures = []
    for result in results:
        for gold, pred in _chosen(result):
            marks = difference(gold, pred, metric_of(result.task), {})
            missing = ", red where it was not found" if marks.missing else ""
            extra = ", violet where it is wrong" if marks.extra else ""
            pictures = (
                draw.svg(gold, highlight=marks.gold, title=f"gold{missing}"),
                draw.svg(pred, highlight=marks.pred, title=f"predicted{extra}"),
            )
            figures.append((f"{result.task.upper()}, {gold.id}", "".join(pictures)))
    return figures


def _chosen(result: Result) -> list[tuple[Graph, Graph]]:
    """Choose some sentences: not too long to read, spread over the test part."""
    pairs = [
        (gold, pred)
        for gold, pred in zip(result.gold, result.pred, strict=True)
        if pred is not None and len(gold.tokens) <= _LONGEST_SHOWN
    ]
    step = max(len(pairs) // SHOWN, 1)
    return pairs[::step][:SHOWN]
