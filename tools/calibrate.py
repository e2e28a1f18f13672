"""Are the probabilities of nodes and edges true? Fit temperatures, and draw the answer.

    python tools/calibrate.py measure dm wescience-dev.sdp [MORE ...] [--limit 300] -o dm.json
    python tools/calibrate.py plot dm.json amr.json ucca.json -o docs/calibration.png
    python tools/calibrate.py write dm.json MODEL_FOLDER

``measure`` parses gold sentences and asks of every node and edge how probable the model thought it,
and whether it is right, as the metric of the framework sees it. Every other sentence is for fitting
a temperature each for nodes and edges: what the log-odds are divided by so that the likelihood of
right and wrong is largest (Guo et al. 2017). The expected calibration error, over 15 bins of equal
width, before and after, is that of the other half. ``write`` puts the temperatures into the
config of a model, where parsing finds them; the weights do not change.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import click
from scipy.optimize import minimize_scalar

import evaltools
import graphconv
from graphconv import Graph
from graphconv.draw import MATCH
from graphconv.io import files
from graphconv.views import words_of
from transducer import Transducer
from transducer.frameworks.certainty import tempered
from transducer.storage import cards

BINS = 15
PARTS = ("nodes", "edges")
_SMALLEST = 1e-6


class Said(NamedTuple):
    """What the model said of a part, and whether it is right."""

    log_p: float
    right: bool


def right_nodes(gold: Graph, pred: Graph, marks: dict[str, str]) -> set[str]:
    """Return the ids of the predicted nodes that are right."""
    if gold.framework == "amr":
        return {name for name, state in marks.items() if state == MATCH}
    known = set(words_of(gold).values())  # a word in DM, the words of a unit in UCCA
    return {name for name, words in words_of(pred).items() if words in known}


def compare(gold: Graph, pred: Graph) -> dict[str, list[Said]]:
    """Return what the model said of the nodes and edges of *pred*."""
    scores = pred.scores
    assert scores is not None
    marks = evaltools.align(gold, pred).difference.pred
    right = right_nodes(gold, pred, dict(marks.nodes))
    nodes = [Said(log_p, name in right) for name, log_p in scores.nodes.items()]
    edges = []
    for place, edge in enumerate(pred.edges):
        log_p = scores.of(edge)
        if log_p is not None and place in marks.edges:
            edges.append(Said(log_p, marks.edges[place] == MATCH))
    return {"nodes": nodes, "edges": edges}


def fit(said: Sequence[Said]) -> float:
    """Return the temperature under which right and wrong are most likely."""

    def loss(log_temperature: float) -> float:
        total = 0.0
        for log_p, right in said:
            p = math.exp(tempered(log_p, math.exp(log_temperature)))
            p = min(max(p, _SMALLEST), 1 - _SMALLEST)
            total -= math.log(p if right else 1 - p)
        return total

    found = minimize_scalar(loss, bounds=(math.log(0.2), math.log(20)), method="bounded")
    return round(math.exp(float(found.x)), 3)


def binned(said: Iterable[Said], temperature: float) -> list[tuple[int, float, float]]:
    """Return for each bin how many fall into it, what they say on average, how many are right."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for log_p, right in said:
        p = math.exp(tempered(log_p, temperature))
        bins[min(int(p * BINS), BINS - 1)].append((p, right))
    return [
        (len(one), sum(p for p, _ in one) / len(one), sum(right for _, right in one) / len(one))
        if one
        else (0, 0.0, 0.0)
        for one in bins
    ]


def calibration_error(bins: Iterable[tuple[int, float, float]]) -> float:
    """Return the expected calibration error in per cent.

    >>> calibration_error([(1, 0.5, 1.0), (3, 0.9, 0.9)])
    12.5
    """
    filled = list(bins)
    total = sum(count for count, _, _ in filled)
    return 100 * sum(count * abs(p - right) for count, p, right in filled) / max(total, 1)


def study(pairs: Sequence[dict[str, list[Said]]]) -> dict[str, Any]:
    """Fit on every other sentence and measure on the others."""
    result: dict[str, Any] = {}
    for part in PARTS:
        fitted = [said for pair in pairs[::2] for said in pair[part]]
        others = [said for pair in pairs[1::2] for said in pair[part]]
        temperature = fit(fitted)
        before, after = binned(others, 1.0), binned(others, temperature)
        result[part] = {
            "temperature": temperature,
            "fitted_on": len(fitted),
            "measured_on": len(others),
            "right": round(100 * sum(said.right for said in others) / max(len(others), 1), 2),
            "ece_before": round(calibration_error(before), 2),
            "ece_after": round(calibration_error(after), 2),
            "before": before,
            "after": after,
        }
    return result


@click.group()
def main() -> None:
    """Calibrate the probabilities of a model."""


@main.command()
@click.argument("model")
@click.argument("gold", nargs=-1, required=True)
@click.option(
    "--limit", default=300, show_default=True, help="Graphs of each file, from its start."
)
@click.option("-o", "--output", required=True)
def measure(model: str, gold: tuple[str, ...], limit: int, output: str) -> None:
    """Parse GOLD with MODEL, a task that ships or a folder."""
    parser = Transducer.from_pretrained(model, device="cpu")
    graphs = [graph for file in gold for graph in islice(graphconv.read(file), limit)]
    graphs = [parser.task.tokenized(graph) for graph in graphs if graph.tokens]
    parsed = parser.parse(
        [graph.tokens for graph in graphs],
        errors="keep",
        node_temperature=1.0,
        edge_temperature=1.0,
    )
    both = zip(graphs, parsed, strict=True)
    pairs = [compare(one, pred) for one, pred in both if pred.scores is not None]
    names = [Path(file).name for file in gold]
    found = {"task": parser.task.name, "gold": names, "graphs": len(pairs), **study(pairs)}
    with files.output(output) as file:
        file.write((json.dumps(found, indent=1) + "\n").encode())
    for part in PARTS:
        print(found["task"], part, {k: v for k, v in found[part].items() if k not in _BINNED})


_BINNED = ("before", "after")


@main.command()
@click.argument("measured", nargs=-1, required=True)
@click.option("-o", "--output", required=True)
def plot(measured: tuple[str, ...], output: str) -> None:
    """Draw reliability: of what the model gives a probability, how much is right."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to import

    figure = Figure(figsize=(3.4 * len(measured), 6.4), layout="constrained")
    axes = figure.subplots(len(PARTS), len(measured), sharex=True, sharey=True, squeeze=False)
    for column, name in enumerate(measured):
        found = json.loads(Path(name).read_text(encoding="utf-8"))
        for row, part in enumerate(PARTS):
            axis, own = axes[row][column], found[part]
            axis.plot((0, 1), (0, 1), color="0.7", linewidth=1)
            for when, color, marker in (("before", "#b3470b", "o"), ("after", "#1c5fb0", "s")):
                filled = [(p, right, count) for count, p, right in own[when] if count >= 10]
                label = f"{when}: ECE {own[f'ece_{when}']:.1f}"
                xs, ys, _ = zip(*filled, strict=True)
                axis.plot(xs, ys, marker=marker, color=color, markersize=4, label=label)
            axis.set_title(
                f"{found['task'].upper()} {part}, T = {own['temperature']:.2f}", fontsize=10
            )
            axis.legend(fontsize=8, loc="upper left")
            axis.grid(alpha=0.3)
    figure.supxlabel("probability")
    figure.supylabel("right")
    figure.savefig(output, dpi=110, metadata={"Software": None})


@main.command()
@click.argument("measured")
@click.argument("folder")
def write(measured: str, folder: str) -> None:
    """Put the temperatures into the config of a model, whose card then tells its new size."""
    found = json.loads(Path(measured).read_text(encoding="utf-8"))
    path = Path(folder) / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    for part in PARTS:
        config["config"]["decode"][f"{part[:-1]}_temperature"] = found[part]["temperature"]
    with files.output(str(path)) as file:
        file.write((json.dumps(config, indent=1, ensure_ascii=False) + "\n").encode())
    if (path.parent / cards.CARD).exists():
        card = cards.read_card(path.parent)
        weights = replace(card.weights, size=cards.model_size(path.parent))
        cards.write_card(path.parent, replace(card, weights=weights))


if __name__ == "__main__":
    main()
