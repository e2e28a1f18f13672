"""Lossless AMR, SDP and UCCA <-> arborescence conversion.

>>> from graphconv import Edge, Graph, Node, relations, to_arborescence, to_graph
>>> graph = Graph(
...     "1", "amr",
...     nodes=(Node("b", "bark-01"), Node("d", "dog")),
...     edges=(Edge("b", "d", "ARG0"),),
...     tops=("b",),
... )
>>> tree = to_arborescence(graph)
>>> [tuple(relation[:5]) for relation in relations(tree)]
[('<root>', 0, 'root', 'bark-01', 1), ('bark-01', 1, 'ARG0', 'dog', 2)]
>>> to_graph(tree) == graph
True
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # not from typing: its import is the longest before graphconv.starting
if TYPE_CHECKING:
    from typing import Any

    from graphconv.alignment import align
    from graphconv.arborescence import Arborescence, Relation, Row, relations
    from graphconv.conversion import from_relations, linkage_units, to_arborescence, to_graph
    from graphconv.errors import ConversionError, FormatError, GraphconvError
    from graphconv.graph import Edge, Graph, Node, Token
    from graphconv.io import dumps, loads, read, write
    from graphconv.mend import repair
    from graphconv.notebook import render
    from graphconv.search import grep

__all__ = [
    "Arborescence",
    "ConversionError",
    "Edge",
    "FormatError",
    "Graph",
    "GraphconvError",
    "Node",
    "Relation",
    "Row",
    "Token",
    "align",
    "dumps",
    "from_relations",
    "grep",
    "linkage_units",
    "loads",
    "read",
    "relations",
    "render",
    "repair",
    "to_arborescence",
    "to_graph",
    "write",
]

_HOMES = {
    "Arborescence": "graphconv.arborescence",
    "ConversionError": "graphconv.errors",
    "Edge": "graphconv.graph",
    "FormatError": "graphconv.errors",
    "Graph": "graphconv.graph",
    "GraphconvError": "graphconv.errors",
    "Node": "graphconv.graph",
    "Relation": "graphconv.arborescence",
    "Row": "graphconv.arborescence",
    "Token": "graphconv.graph",
    "align": "graphconv.alignment",
    "dumps": "graphconv.io",
    "from_relations": "graphconv.conversion",
    "grep": "graphconv.search",
    "linkage_units": "graphconv.conversion",
    "loads": "graphconv.io",
    "read": "graphconv.io",
    "relations": "graphconv.arborescence",
    "render": "graphconv.notebook",
    "repair": "graphconv.mend",
    "to_arborescence": "graphconv.conversion",
    "to_graph": "graphconv.conversion",
    "write": "graphconv.io",
}
_MODULES = ("codecs", *sorted({home.split(".")[1] for home in _HOMES.values()}))

if not TYPE_CHECKING:  # so that a checker of types still knows which names there are

    def __getattr__(name: str) -> Any:
        # Imported on first use: a command begins at once, and --help needs none of it.
        if name in _HOMES:
            found = getattr(import_module(_HOMES[name]), name)
        elif name in _MODULES:
            found = import_module(f"{__name__}.{name}")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, *_MODULES})
