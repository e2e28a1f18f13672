"""AMR pre- and post-processing of whole files, and what each step does to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import graphconv
from graphconv.graph import Graph
from graphconv.io import OnError
from transducer.config import AMR_STEPS, AmrConfig
from transducer.errors import TransducerError
from transducer.frameworks import amr

Process = Callable[[Iterable[Graph], AmrConfig], Iterable[Graph]]
"""Pre- or postprocessing of graphs."""


class Effect(NamedTuple):
    """What one step alone does to the graphs of a file."""

    step: str
    graphs: int
    """Graphs that it changes."""
    nodes: int
    """Nodes that the graphs have afterwards."""
    edges: int
    labels: int
    """Different labels of nodes."""


def read_graphs(path: str, on_error: OnError | None = None) -> list[Graph]:
    """Read the AMR graphs of a file with the tokens that the model sees."""
    graphs = graphconv.read(path, on_error=on_error)
    found = [amr.tokenize_graph(graph) for graph in graphs if graph.framework == amr.NAME]
    if not found:
        raise TransducerError(f"{path}: there is no AMR in it")
    return found


def learned_tables(
    model: str | None,
    train: Sequence[str],
    on_error: OnError | None = None,
    own: Sequence[Graph] = (),
) -> tuple[amr.Tables, AmrConfig]:
    """Return the tables and switches of a model, or tables learned from files or else *own*."""
    if model is not None:
        from transducer.storage.checkpoint import load_setup  # noqa: PLC0415 - imports torch

        _, _, task = load_setup(Path(model))
        if task.tables is None:
            raise TransducerError(f"{model} is a model for {task.name}, not for amr")
        return task.tables, task.config.amr
    graphs = [graph for file in train for graph in read_graphs(file, on_error)] or own
    if not graphs:
        raise TransducerError("there is no AMR to learn from: give --model or --train")
    return amr.Tables.learn(graphs), AmrConfig(polarity=True)


def only(options: AmrConfig, steps: Sequence[str]) -> AmrConfig:
    """Return options in which these steps alone are on; without steps, the options as they are.

    >>> only(AmrConfig(), ["senses"]).wiki
    False
    """
    if not steps:
        return options
    wanted: dict[str, Any] = {name: name in steps for name in AMR_STEPS}
    return replace(options, **wanted)


def effects(graphs: Sequence[Graph], options: AmrConfig, process: Process) -> list[Effect]:
    """Return what the graphs are before, what each step alone makes of them, and what all do."""
    on = [name for name in AMR_STEPS if getattr(options, name)]
    rows = [_effect("before", graphs, graphs)]
    for name in on:
        rows.append(_effect(name, graphs, process(graphs, only(options, [name]))))
    rows.append(_effect("all", graphs, process(graphs, options)))
    return rows


def _effect(step: str, before: Sequence[Graph], after: Iterable[Graph]) -> Effect:
    graphs = list(after)
    changed = sum(
        (old.nodes, old.edges) != (new.nodes, new.edges)
        for old, new in zip(before, graphs, strict=True)
    )
    nodes = [node for graph in graphs for node in graph.nodes]
    edges = sum(len(graph.edges) for graph in graphs)
    return Effect(step, changed, len(nodes), edges, len({node.label for node in nodes}))
