"""Two Parquet tables, ``nodes.parquet`` and ``edges.parquet`` in a folder, for data frames and SQL.

Needs pyarrow: ``pip install 'arbora-graphconv[tables]'``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from graphconv.errors import GraphconvError
from graphconv.export.cypher import node_properties
from graphconv.graph import Graph
from graphconv.io import files
from graphconv.views import flat_score, text_of

_AT_ONCE = 2000
"""Graphs whose rows are in memory."""


def export(graphs: Iterable[Graph], path: str) -> int:
    """Write the tables into a new folder and return the number of graphs."""
    if path == files.STDIO:
        raise GraphconvError("Parquet is a folder of two tables: name it with -o OUT")
    try:
        import pyarrow  # noqa: PLC0415 - an optional dependency
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        message = "Parquet needs one more package: pip install 'arbora-graphconv[tables]'"
        raise GraphconvError(message) from error
    schemas = {name: _schema(pyarrow, columns) for name, columns in _TABLES.items()}
    stream, count = iter(graphs), 0
    with files.output_folder(path) as folder:
        writers = {
            name: parquet.ParquetWriter(str(Path(folder) / f"{name}.parquet"), schema)
            for name, schema in schemas.items()
        }
        try:
            while some := list(islice(stream, _AT_ONCE)):
                count += len(some)
                for name, rows in (("nodes", _nodes), ("edges", _edges)):
                    found = [row for graph in some for row in rows(graph)]
                    table = pyarrow.Table.from_pylist(found, schema=schemas[name])
                    writers[name].write_table(table)
        finally:
            for writer in writers.values():
                writer.close()
    return count


def _schema(pyarrow: Any, columns: dict[str, str]) -> Any:
    types = {
        "text": pyarrow.string(),
        "number": pyarrow.int32(),
        "numbers": pyarrow.list_(pyarrow.int32()),
        "flag": pyarrow.bool_(),
        "real": pyarrow.float64(),
    }
    return pyarrow.schema([(name, types[kind]) for name, kind in columns.items()])


_TABLES = {
    "nodes": {
        **dict.fromkeys(("graph", "framework", "sentence", "node", "label"), "text"),
        "top": "flag",
        "constant": "flag",
        "implicit": "flag",
        "anchors": "numbers",
        "start": "number",
        "end": "number",
        "words": "text",
        "score": "real",
    },
    "edges": {
        **dict.fromkeys(("graph", "framework", "source", "target", "label"), "text"),
        "remote": "flag",
        "score": "real",
    },
}


def _nodes(graph: Graph) -> Iterator[dict[str, Any]]:
    graph.validate()
    sentence, tops = text_of(graph), {*graph.tops}
    for node, said in zip(graph.nodes, node_properties(graph), strict=True):
        flags = {"constant": node.constant, "implicit": node.implicit, "top": node.id in tops}
        yield {"sentence": sentence, **said, **flags, "node": node.id}


def _edges(graph: Graph) -> Iterator[dict[str, Any]]:
    for edge in graph.edges:
        yield {
            "graph": graph.id,
            "framework": graph.framework,
            **dict(zip(("source", "target", "label"), edge[:3], strict=True)),
            "remote": edge.remote,
            **flat_score(graph, edge),
        }
