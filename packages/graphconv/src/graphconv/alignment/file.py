"""The command ``graphconv align``: a file in, a file with marks and a report out."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

from graphconv import io
from graphconv.alignment import align
from graphconv.errors import ConversionError
from graphconv.graph import Graph
from graphconv.io import files


@dataclass
class Summary:
    """How many nodes and graphs without a sentence there are, and the labels without a word."""

    nodes: int = 0
    without_sentence: int = 0
    unaligned: Counter[str] = field(default_factory=Counter)


def align_graphs(
    graphs: Iterable[Graph],
    output: str | os.PathLike[str],
    *,
    report: str | os.PathLike[str] | None = None,
    on_error: io.OnError | None = None,
) -> Summary:
    """Align graphs and write them as PENMAN; *report* gets a JSON line for each graph."""
    summary = Summary()
    with ExitStack() as stack:
        log = stack.enter_context(files.output(os.fspath(report))) if report else None

        def aligned() -> Iterator[Graph]:
            for graph in graphs:
                if graph.framework != "amr":
                    raise ConversionError(
                        f"only AMRs are aligned, not {graph.framework} (--framework amr chooses)",
                        graph_id=graph.id,
                    )
                result = align(graph)
                summary.nodes += len(graph.nodes)
                summary.without_sentence += not graph.tokens
                summary.unaligned.update(node.label or "" for node in result.unaligned)
                if log:
                    left = [{"node": node.id, "label": node.label} for node in result.unaligned]
                    entry = {"id": graph.id, "unaligned": left}
                    log.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
                yield result.graph

        io.write(aligned(), output, format="amr", on_error=on_error)
    return summary
