"""Find mistakes in AMRs: what the guidelines, or PropBank's frames, do not allow.

>>> for finding in lint("(w / want-01 :ARG0 (b / boy) :ARG0 (g / girl) :colour (r / red))"):
...     print(finding.variable, finding.code, finding.message)
w unknown-role the role :colour is unknown
w repeated-role want-01 has :ARG0 2 times
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from evaltools.errors import EvaluationError
from evaltools.linting.rules import RULES, Fault, Frames, view
from evaltools.sources import Scorable, source_of
from graphconv.codecs import Block
from graphconv.errors import GraphconvError
from graphconv.graph import Graph
from graphconv.io import parse_block, read_blocks

__all__ = ["RULES", "Finding", "Frames", "lint", "lint_file", "read_frames"]


class Finding(NamedTuple):
    """One mistake."""

    file: str
    line: int
    graph: str
    variable: str
    code: str
    """The rule, a key of ``RULES``."""
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: {self.graph}"
        return f"{place}: {self.variable}: {self.code}: {self.message}"


def lint(given: Scorable, propbank: str | os.PathLike[str] | Frames | None = None) -> list[Finding]:
    """Return the mistakes in AMRs.

    Args:
        given: The path of a file or folder, a string with AMRs, a graph, or several.
        propbank: The path of a table of rolesets, or what :func:`read_frames` made of it; without
            it nothing is said about frames.

    Raises:
        GraphconvError: A graph cannot be read, or is not an AMR.
    """
    frames = read_frames(propbank) if isinstance(propbank, str | os.PathLike) else propbank
    source = source_of(given, "amr")
    return list(_findings(source.format, source.blocks, frames, None))


def lint_file(
    path: str,
    frames: Frames | None = None,
    on_error: Callable[[GraphconvError], None] | None = None,
) -> Iterator[Finding]:
    """Yield the mistakes in a file of AMRs, with their lines.

    Raises:
        GraphconvError: A graph cannot be read, and there is no *on_error* to take the error.
        EvaluationError: The file does not hold AMRs.
    """
    name, blocks = read_blocks(path, on_error=on_error)
    return _findings(name, blocks, frames, on_error)


def _findings(
    name: str,
    blocks: Iterable[Block | Graph],
    frames: Frames | None,
    on_error: Callable[[GraphconvError], None] | None,
) -> Iterator[Finding]:
    seen: set[str] = set()
    for block in blocks:
        try:
            graph = block if isinstance(block, Graph) else parse_block(name, block)
        except GraphconvError as error:
            if on_error is None:
                raise
            on_error(error)
            continue
        filename, lineno = ("", 0) if isinstance(block, Graph) else (block.filename, block.lineno)
        if graph.framework != "amr":
            message = f"lint reads AMR, not {graph.framework}"
            raise EvaluationError(message, filename=filename or None)
        if graph.id in seen:
            message = f"two graphs have the id {graph.id!r}"
            yield Finding(filename, lineno, graph.id, "", "repeated-id", message)
        seen.add(graph.id)
        for code, fault in _faults(graph, frames):
            node, _, message = fault
            line = lineno
            if name == "amr" and not isinstance(block, Graph):
                line = _line(block, fault)
            yield Finding(filename, line, graph.id, node, code, message)


def read_frames(path: str | os.PathLike[str]) -> Frames:
    """Read PropBank's rolesets: tab-separated, with the columns ``id`` and ``roles``.

    ``roles`` is ``ARG0=wanter;ARG1=thing wanted``, or the names alone; .gz is unpacked.

    Raises:
        EvaluationError: The file is not such a table.
    """
    path = os.fspath(path)
    try:
        raw = Path(path).read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise EvaluationError(f"cannot be read: {error}", filename=path) from error
    header, *lines = text.splitlines() or [""]
    columns = header.split("\t")
    if "id" not in columns or "roles" not in columns:
        message = "a table of rolesets has the columns 'id' and 'roles', separated by tabs"
        raise EvaluationError(message, filename=path)
    name, roles = columns.index("id"), columns.index("roles")
    frames: dict[str, frozenset[str]] = {}
    for number, line in enumerate(lines, start=2):
        cells = line.split("\t")
        if len(cells) <= max(name, roles):
            raise EvaluationError(f"line {number} has {len(cells)} columns", filename=path)
        frames[cells[name]] = frozenset(
            role.partition("=")[0].strip() for role in cells[roles].split(";") if role.strip()
        )
    return frames


def _faults(graph: Graph, frames: Frames | None) -> Iterable[tuple[str, Fault]]:
    seen = view(graph, frames)
    return [(code, fault) for code, rule in RULES.items() for fault in rule(seen)]


def _line(block: Block, fault: Fault) -> int:
    """Return the line where a variable is defined or, below it, has the role."""
    node, role, _ = fault
    start = re.search(rf"\(\s*{re.escape(node)}\s*[/)]", block.text)
    place = start.start() if start else 0
    if role is not None:
        found = re.compile(rf":{re.escape(role)}(?![\w-])").search(block.text, place)
        place = found.start() if found else place
    return block.lineno + block.text.count("\n", 0, place)
