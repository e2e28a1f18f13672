"""Lossless AMR, SDP and UCCA <-> arborescence conversion."""

from graphconv.arborescence import Arborescence, Relation, Row, relations
from graphconv.conversion import from_relations, linkage_units, to_arborescence, to_graph
from graphconv.errors import ConversionError, FormatError, GraphconvError
from graphconv.graph import Edge, Graph, Node, Token

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
    "from_relations",
    "linkage_units",
    "relations",
    "to_arborescence",
    "to_graph",
]
