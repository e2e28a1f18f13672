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
