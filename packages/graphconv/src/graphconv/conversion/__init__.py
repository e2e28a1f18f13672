"""Graph <-> Arborescence <-> relation sequence, exactly.

>>> from graphconv.arborescence import relations
>>> from graphconv.graph import Edge, Node
>>> boy = Graph(
...     "1", "amr", (),
...     nodes=(Node("w", "want-01"), Node("b", "boy"), Node("g", "go-02")),
...     edges=(Edge("w", "b", "ARG0"), Edge("w", "g", "ARG1"), Edge("g", "b", "ARG0")),
...     tops=("w",),
... )
>>> tree = to_arborescence(boy)
>>> for row in tree.rows:
...     print(*row[:4])
want-01 1 0 root
boy 2 1 ARG0
go-02 3 1 ARG1
boy 2 3 ARG0
>>> to_graph(tree) == boy
True

The relations alone give the same graph with other ids:

>>> bare = from_relations(relations(tree), id="1", framework="amr", tokens=())
>>> bare.rows == tree.rows, to_graph(bare).tops
(True, ('w',))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from graphconv.arborescence import (
    ROOT_RELATION,
    Arborescence,
    Relation,
    Row,
    rows_from_relations,
)
from graphconv.conversion import amr, anchored, bilexical, ucca
from graphconv.conversion.labels import REVERSED, STRUCTURAL, edge_label
from graphconv.conversion.side import Bare, Built, freeze_pairs, pack, thaw_pairs, unpack
from graphconv.conversion.ucca import linkage_units
from graphconv.errors import ConversionError
from graphconv.frameworks import Nodes
from graphconv.frameworks import framework as framework_of
from graphconv.graph import Attributes, Graph, Token
from graphconv.scores import EdgeName, Scores

__all__ = ["from_relations", "linkage_units", "row_parts", "to_arborescence", "to_graph"]


class Conversion(Protocol):
    """What the module of a framework defines."""

    def build(self, graph: Graph, *, unit_labels: bool = True) -> Built:
        """Return the rows of *graph*, and its ids in the order of the bare graph."""

    def read(self, rows: Sequence[Row], ids: Sequence[str] | None, framework: str) -> Bare:
        """Return the graph that the rows alone describe, with *ids* or fresh ones."""

    def fresh_names(self, rows: Sequence[Row]) -> dict[int, str]:
        """Return the id that the node of each index has in the graph of the rows alone."""


CONVERSIONS: dict[str, Conversion] = {
    "amr": amr,
    "anchored": anchored,
    "bilexical": bilexical,
    "ucca": ucca,
}
"""The modules, by the names in :mod:`graphconv.frameworks`."""


def to_arborescence(
    graph: Graph, *, foundational: bool = False, unit_labels: bool = True
) -> Arborescence:
    """Convert *graph* to its arborescence; :func:`to_graph` gives exactly the same graph back.

    Args:
        graph: A valid graph of any framework.
        foundational: UCCA: leave out the linkage units (see :func:`linkage_units`).
        unit_labels: UCCA: label units with their category, not all with the same name.

    Raises:
        ConversionError: The graph is not a valid one of its framework.
    """
    framework = framework_of(graph.framework, graph.id)
    conversion = CONVERSIONS[framework.conversion]
    if foundational and framework.nodes is Nodes.UNIT:
        graph = ucca.foundational(graph)
    try:
        rows, ids, side = conversion.build(graph, unit_labels=unit_labels)
        if side is None:
            side = pack(graph, conversion.read(rows, ids, graph.framework), ids)
        if graph.metadata:
            side["metadata"] = freeze_pairs(graph.metadata)
        if graph.extras:
            side["extras"] = freeze_pairs(graph.extras)
        if graph.scores is not None:
            side["scores"] = graph.scores.to_json()
    except (IndexError, KeyError):
        graph.validate()  # says what is wrong with it
        raise
    except RecursionError as error:
        raise ConversionError("an attribute is nested too deeply", graph_id=graph.id) from error
    if len({*ids}) != len(graph.nodes):
        graph.validate()
    return Arborescence(graph.id, graph.framework, graph.tokens, rows, side)


def to_graph(tree: Arborescence) -> Graph:
    """Convert an arborescence to its graph; without a side record, to one with fresh ids.

    Raises:
        ConversionError: The rows or the side record are not those of a graph.
    """
    conversion = CONVERSIONS[framework_of(tree.framework, tree.id).conversion]
    rows, side = tree.rows, tree.side
    if rows and rows[0].relation != ROOT_RELATION:
        raise ConversionError("the first row is not a root", graph_id=tree.id)
    try:
        bare = conversion.read(rows, side.get("ids"), tree.framework)
        metadata: Attributes = ()
        extras: Attributes = ()
        scores = None
        if side:  # that of an SDP graph is mostly empty
            bare = unpack(side, bare)
            metadata = thaw_pairs(side.get("metadata", ()))
            extras = thaw_pairs(side.get("extras", ()))
            scores = Scores.from_json(side["scores"]) if "scores" in side else None
    except (
        AttributeError,
        IndexError,
        KeyError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise ConversionError(
            "the rows and the side record do not fit together", graph_id=tree.id
        ) from error
    return Graph(tree.id, tree.framework, tree.tokens, *bare, metadata, extras, scores)


def from_relations(
    relations: Iterable[Relation],
    *,
    id: str,  # noqa: A002 - the name of the field
    framework: str,
    tokens: Iterable[Token] = (),
) -> Arborescence:
    """Build the arborescence of a relation sequence; its graph gets fresh ids.

    Raises:
        ConversionError: The relations are not those of an arborescence.
    """
    try:
        rows = rows_from_relations(relations)
    except ConversionError as error:
        raise ConversionError(error.message, graph_id=id) from None
    tree = Arborescence(id, framework, tuple(tokens), rows)
    tree.validate()
    if rows and rows[0].relation != ROOT_RELATION:
        raise ConversionError("the first relation is not that of a root", graph_id=id)
    return tree


def row_parts(tree: Arborescence) -> list[tuple[str | None, EdgeName | None]]:
    """Return what each row of a tree without a side record is in its graph.

    That is the node, and the edge by source, target and label. A further word of a UCCA unit is
    part of the unit; a virtual root is no node; ``null``, ``top`` and the like are no edge.

    >>> from graphconv.arborescence import Row
    >>> rows = Row("want-01", 1, 0, "root"), Row("boy", 2, 1, "ARG0")
    >>> row_parts(Arborescence("1", "amr", rows=rows))
    [('w', None), ('b', ('w', 'b', 'ARG0'))]
    """
    names = CONVERSIONS[framework_of(tree.framework, tree.id).conversion].fresh_names(tree.rows)
    owners: list[str | None] = [None]
    result: list[tuple[str | None, EdgeName | None]] = []
    for row in tree.rows:
        above = owners[row.head]
        own = names.get(row.index, above)
        owners.append(own)
        edge = None
        if above is not None and own is not None and row.relation not in STRUCTURAL:
            label, mark = edge_label(row.relation)
            edge = (own, above, label) if mark == REVERSED else (above, own, label)
        result.append((own, edge))
    return result
