"""Graphs of one side of a comparison, and which framework a file is scored as."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from evaltools.metrics import METRICS
from evaltools.sources import GRAPHS
from graphconv.codecs import Block
from graphconv.errors import FormatError, GraphconvError
from graphconv.frameworks import BILEXICAL
from graphconv.graph import Graph
from graphconv.io import MIXED_FORMATS, parse_block


def load(name: str, block: Block | Graph, framework: str | None) -> Graph:
    """Parse a block; *framework* is what an SDP file holds, which does not say so itself."""
    if isinstance(block, Graph):
        return block
    graph = parse_block(name, block, framework if name == "sdp" else None)
    if graph.framework == "amr":
        _check_amr(graph, block)
    return graph


def _check_amr(graph: Graph, block: Block) -> None:
    """Refuse what PENMAN can be read as, but nobody can have meant."""
    ids = [value for key, value in graph.metadata if key == "id"]
    if len(ids) > 1:
        message = f"a graph with the ids {ids[0]!r} and {ids[1]!r}: one of the graphs is missing"
        raise FormatError(message, filename=block.filename, lineno=block.lineno)
    # ``:time 16:42`` without quotes is the roles ``:time`` and ``:42``.
    nothing = {node.id for node in graph.nodes if node.constant and not node.label}
    for edge in graph.edges if nothing else ():
        if edge.target in nothing or edge.source in nothing:
            before, role, _ = block.text.partition(f":{edge.label}")
            raise FormatError(
                f"graph {graph.id}: the role :{edge.label} has no value (quotes missing?)",
                filename=block.filename,
                lineno=block.lineno + before.count("\n"),
                text=(before.rpartition("\n")[2] + role).strip(),
            )


def peek(
    name: str, blocks: Iterator[Block | Graph], metric: str, framework: str | None
) -> tuple[str | None, Iterator[Block | Graph]]:
    """Return the framework to score in a file that tells it graph by graph, and all its blocks.

    It is the one asked for, or the metric's first one that is there, or that of the first graph.
    """
    if name not in MIXED_FORMATS and name != GRAPHS:
        return None, blocks
    wanted = meant_by(metric)
    found: set[str] = set()
    read: list[Block | Graph] = []
    for block in blocks:
        read.append(block)
        try:
            found.add(load(name, block, None).framework)
        except GraphconvError:
            continue
        if framework or not wanted or wanted[0] in found:
            break
    choice = next((known for known in wanted if known in found), None)
    return choice or min(found, default=None), chain(read, blocks)


def meant_by(metric: str) -> tuple[str, ...]:
    """Return the frameworks that a metric is made for; none if it takes any."""
    known = METRICS.get(metric)
    return known.frameworks if known and not known.is_general else ()


def framework_of(name: str, first: str | None, other: str | None) -> str:
    """Return the framework of a file; for SDP, which does not say it, that of the other file."""
    if name == "sdp":
        return other if other in BILEXICAL else "dm"
    return first or {"amr": "amr", "ucca": "ucca"}.get(name) or other or "amr"
