"""Graphs for programs that only take them: a script for Neo4j, tables for data frames.

What is written here is not read again; the formats of :mod:`graphconv.codecs` are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import cast

from graphconv.graph import Graph

EXPORTS = ("cypher", "parquet")
"""The names of what can be written, each a module here with a function ``export``."""

SUFFIXES = {".cypher": "cypher", ".cql": "cypher", ".parquet": "parquet"}
"""What the name of a file says."""

Export = Callable[[Iterable[Graph], str], int]


def export(graphs: Iterable[Graph], path: str | os.PathLike[str], name: str) -> int:
    """Write graphs to *path* for another program, and return their number."""
    module = import_module(f"graphconv.export.{name}")
    return cast("Export", module.export)(graphs, os.fspath(path))
