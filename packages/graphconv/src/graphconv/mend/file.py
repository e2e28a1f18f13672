"""The command ``graphconv repair``: a file in, a valid file and a report out."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import NamedTuple

from graphconv.errors import FormatError
from graphconv.io import files
from graphconv.mend import Repair, repairs


class Summary(NamedTuple):
    """How many graphs there are, how many were repaired, and how many edits of each kind."""

    graphs: int
    repaired: int
    edits: Counter[str]


def repair_file(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    report: str | os.PathLike[str] | None = None,
    progress: Callable[[Iterable[Repair]], Iterable[Repair]] = iter,
) -> Summary:
    """Repair the graphs of a file; *report* gets one JSON line for each edit."""
    source = os.fspath(path)
    name = files.shown(source)
    lines = files.lines(files.chunks(source), name, keep_bom=True)
    graphs, repaired = 0, 0
    kinds: Counter[str] = Counter()
    with ExitStack() as stack:
        file = stack.enter_context(files.output(os.fspath(output)))
        log = stack.enter_context(files.output(os.fspath(report))) if report else None
        for result in progress(repairs(lines, name)):
            graphs += result.graphs
            repaired += result.graphs if result.edits else 0
            kinds.update(edit.kind for edit in result.edits)
            file.write(result.text.encode())
            if log:
                for edit in result.edits:
                    entry = {"file": name, **edit._asdict()}
                    log.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
        if not graphs:
            raise FormatError("there is no PENMAN graph in the file", filename=name)
    return Summary(graphs, repaired, kinds)
