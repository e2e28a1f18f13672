r"""What can be scored: a path, a string with graphs, a graph, or several.

>>> [source.name for source in map(source_of, ("(b / boy)", [])) if source]
Traceback (most recent call last):
evaltools.errors.EvaluationError: there is no graph to score: the list is empty
>>> source_of("(b / boy)", "gold").format
'amr'
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaltools.errors import EvaluationError
from graphconv.codecs import Block
from graphconv.graph import Graph
from graphconv.io import looks_like_graphs, read_blocks, string_blocks
from graphconv.io.files import sha256

GRAPHS = "graphs"
"""The format of graphs that are there already."""

Scorable = str | os.PathLike[str] | Graph | Iterable[Graph]
"""The path of a file or folder, a string with graphs in any format, a graph, or several."""


@dataclass(frozen=True, slots=True)
class Source:
    """One side of a comparison."""

    name: str
    """What errors call it: the path, or the side."""
    format: str
    blocks: Iterator[Block | Graph]
    digest: Callable[[], str]
    """Returns the SHA-256 of the file, of the string, or of the graphs as JSON.

    Asked last: a pipe can be read only once.
    """
    ids: tuple[str, ...] | None = None
    """The ids of graphs that are there already."""
    single: bool = False
    """Whether it is one graph, and not a list of them."""


def source_of(given: Scorable, side: str = "gold", *, framework: str | None = None) -> Source:
    """Return where the graphs of one side come from; *side* is its name if it has no path.

    *framework* is what is wanted of a folder that has several.
    """
    if isinstance(given, Graph):
        return _of_graphs([given], side, single=True)
    if isinstance(given, str) and is_text(given):
        name, blocks = string_blocks(given)
        return Source(side, name, blocks, lambda: hashlib.sha256(given.encode()).hexdigest())
    if isinstance(given, str | os.PathLike):
        path = os.fspath(given)
        name, blocks = read_blocks(path, framework=framework)
        return Source(path, name, blocks, lambda: sha256(path))
    several: Any = given
    graphs = list(several) if isinstance(several, Iterable) else [several]
    for graph in graphs:
        if not isinstance(graph, Graph):
            message = f"{side} is a {type(graph).__name__}, where a graph is expected"
            raise EvaluationError(f"{message}: give a path, a string with graphs, or graphs")
    return _of_graphs(graphs, side)


def is_text(given: str) -> bool:
    """Say whether a string is graphs, and not the path of a file."""
    if "\n" in given or (looks_like_graphs(given) and not Path(given).exists()):
        return True
    return not given.strip()


def _of_graphs(graphs: list[Graph], side: str, *, single: bool = False) -> Source:
    if not graphs:
        raise EvaluationError("there is no graph to score: the list is empty")
    for graph in graphs:
        graph.validate()
    ids = tuple(graph.id for graph in graphs)
    return Source(side, GRAPHS, iter(graphs), lambda: _digest(graphs), ids, single)


def _digest(graphs: Iterable[Graph]) -> str:
    digest = hashlib.sha256()
    for graph in graphs:
        digest.update(json.dumps(graph.to_dict(), sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


def by_order(gold: Source, pred: Source) -> bool:
    """Say whether graphs that are there already are pairs by order: their ids make no pairs."""
    if gold.ids is None or pred.ids is None:
        return False
    if gold.single and pred.single:
        return True
    repeated = any(len(set(ids)) < len(ids) for ids in (gold.ids, pred.ids))
    return len(gold.ids) == len(pred.ids) and (repeated or not {*gold.ids} & {*pred.ids})
