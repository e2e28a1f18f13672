"""Graphs without their metadata, which name the model that made them: to compare two models."""

from collections.abc import Iterable
from dataclasses import replace

from graphconv.graph import Graph


def unsigned(graphs: Iterable[Graph]) -> list[Graph]:
    """Return the graphs without metadata."""
    return [replace(graph, metadata=()) for graph in graphs]
