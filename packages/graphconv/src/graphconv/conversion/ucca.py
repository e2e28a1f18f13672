r"""UCCA: units, their words, remote edges and linkage.

A pre-terminal (a unit with words and nothing else) collapses onto its first word; ``phrase`` leads
to its others. Other units carry the relation of their primary row as label, and ``!`` if they are
implicit; words of a unit that also has children hang below it by ``Terminal``. Siblings stand in
numeric order of their UCCA ids, words first.

>>> from graphconv.graph import Graph, Token
>>> graph = Graph(
...     "1", "ucca", tuple(map(Token, "He gave up".split())),
...     nodes=(Node("1.1"), Node("1.2"), Node("1.3", None, (0,)), Node("1.4", None, (1, 2))),
...     edges=(Edge("1.1", "1.2", "H"), Edge("1.2", "1.3", "A"), Edge("1.2", "1.4", "P")),
...     tops=("1.1",),
... )
>>> for row in build(graph).rows:
...     print(*row)
ROOT 1 0 root ()
H 2 1 H ()
He 3 2 A (0,)
gave 4 2 P (1,)
up 5 4 phrase (2,)

The *primary* edge of a unit is the first of its incoming edges, by the id of the parent (the root
before all others), that is neither remote nor linkage. All others lead to copies, and their
relation says so: ``A*`` is remote, ``A~`` is not. Units without a primary edge hang below the first
row by ``null``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from graphconv.arborescence import ROOT_RELATION, Row
from graphconv.conversion.labels import (
    IMPLICIT,
    NULL,
    NULL_TERMINAL,
    PHRASE,
    REMOTE,
    SECONDARY,
    STRUCTURAL,
    TERMINAL,
    TERMINAL_CHILD,
    TOP,
    VIRTUAL,
    edge_label,
    is_linkage,
    natural,
    relation,
)
from graphconv.conversion.side import Bare, Built, reordered
from graphconv.conversion.spanning import NO_EDGE, Arc, preorder
from graphconv.conversion.unit_ids import sibling_ids
from graphconv.errors import ConversionError
from graphconv.graph import Attributes, Edge, Graph, Node, attribute
from graphconv.topology import parents_first

ROOT_UNIT = "ROOT"
"""The label of the root."""
ANY_UNIT = "UNIT"
"""The label of every unit without unit labels."""

_LINKAGE_TYPE: Attributes = (("type", "LKG"),)
_PUNCTUATION_TYPE: Attributes = (("type", "PNCT"),)
_TERMINAL_NODE: Attributes = (("terminal", True),)
_WORDS = frozenset({PHRASE, TERMINAL_CHILD})
_PRIMARY = ("", TERMINAL)
_TYPED = frozenset({"U", NULL, NULL_TERMINAL})
"""Primary relations of units that may have one of the types above."""

# The constructor of a NamedTuple runs Python code; these do not.
_node: Callable[[Any], Node] = partial(tuple.__new__, Node)
_edge: Callable[[Any], Edge] = partial(tuple.__new__, Edge)

_Edge = tuple[int, int, str, bool]
"""Source, target, label, remote."""
_Child = tuple[int, str, int, int]
"""Place among the siblings, relation, number of the edge, number of the node."""


def linkage_units(graph: Graph) -> tuple[str, ...]:
    """Return the ids of the linkage units: what ``foundational`` drops."""
    candidates = {node.id for node in graph.nodes if not node.anchors} - {*graph.tops}
    candidates -= {edge.target for edge in graph.edges}
    candidates &= {edge.source for edge in graph.edges}
    candidates -= {edge.source for edge in graph.edges if not is_linkage(edge.label)}
    return tuple(
        node.id
        for node in graph.nodes
        if node.id in candidates or attribute(node.attributes, "type") == "LKG"
    )


def foundational(graph: Graph) -> Graph:
    """Return *graph* without its linkage units and their edges."""
    dropped = {*linkage_units(graph)}
    if not dropped:
        return graph
    return replace(
        graph,
        nodes=tuple(node for node in graph.nodes if node.id not in dropped),
        edges=tuple(e for e in graph.edges if not {e.source, e.target} & dropped),
        tops=tuple(top for top in graph.tops if top not in dropped),
    )


def build(graph: Graph, *, unit_labels: bool = True) -> Built:
    """Return the rows of *graph*, and the ids of its nodes in the order of their first rows."""
    nodes = graph.nodes
    number = {node.id: i for i, node in enumerate(nodes)}
    edges = [(number[s], number[t], label, remote) for s, t, label, remote, _ in graph.edges]
    tops = sorted({number[top] for top in graph.tops})
    virtual = len(nodes)
    root = tops[0] if len(tops) == 1 else virtual
    terminal = {i for i, node in enumerate(nodes) if node.attributes and _is_terminal_node(node)}
    _check(graph, edges, terminal)
    by_id, rank = _ranks(graph, terminal)
    parent = _primary_edges(edges, rank, root)
    primary = [ROOT_RELATION] * virtual
    children: list[list[_Child]] = [[] for _ in range(virtual + 1)]
    for k, (source, target, label, remote) in enumerate(edges):
        if parent[target] != k:
            name = relation(label, REMOTE if remote else SECONDARY)
        else:
            name = relation(label, TERMINAL) if target in terminal else relation(label)
            primary[target] = name
        children[source].append((rank[target], name, k, target))
    if root == virtual:
        children[root].extend([(rank[top], TOP, NO_EDGE, top) for top in tops])
    for i, k in enumerate(parent[:virtual]):
        if k == NO_EDGE and i != root:
            name = TOP if i in tops else NULL_TERMINAL if i in terminal else NULL
            primary[i] = name
            if name != TOP:
                children[root].append((rank[i], name, NO_EDGE, i))
    labels = _unit_labels(nodes, primary, root) if unit_labels else [ANY_UNIT] * virtual
    for i, node in enumerate(nodes):
        if node.implicit:
            labels[i] += IMPLICIT
    labels.append(VIRTUAL)
    anchors = _add_words(graph, root, terminal, children, labels)
    parent += [NO_EDGE] * (len(labels) - len(parent))
    arcs: list[list[Arc]] = []
    for siblings in children:
        if len(siblings) > 1:
            siblings.sort()
        arcs.append([(child, name, k) for _, name, k, child in siblings] if siblings else [])
    arcs += [[]] * (len(labels) - len(arcs))
    tree = preorder(root, arcs, parent, labels, anchors)
    order = sorted(range(virtual), key=tree.first.__getitem__)
    ids = [nodes[i].id for i in order]
    side = None
    if root != virtual and not terminal and _is_plain(graph, children, primary, anchors):
        edge_order = [k for i in by_id for _, _, k, _ in children[i] if k != NO_EDGE]
        side = reordered(ids, by_id, edge_order)
    return Built(tree.rows, ids, side)


def read(rows: Sequence[Row], ids: Sequence[str] | None, framework: str) -> Bare:
    """Return the graph that the rows alone describe; its units stand in the order of their ids."""
    del framework
    indices = _indices(rows)
    names = dict(zip(indices, _fresh_ids(rows) if ids is None else ids, strict=True))
    anchors = {index: rows[index - 1].anchors for index in indices}
    primary = dict.fromkeys(indices, "")
    edges: dict[int, list[Edge]] = {}
    tops: list[str] = []
    owners = [0]  # for each row the node that its children belong to
    for _, index, head, row_relation, row_anchors in rows:
        above = owners[head]
        owners.append(index if index in names else above)
        if row_relation in _WORDS:
            if index not in names and above:
                anchors[above] += row_anchors
        elif row_relation in STRUCTURAL:
            primary[index] = row_relation
            if index in names and (row_relation == TOP or not head):
                tops.append(names[index])
        else:
            label, mark = edge_label(row_relation)
            if mark in _PRIMARY:
                primary[index] = row_relation
            if above:
                edge = _edge((names[above], names[index], label, mark == REMOTE, ()))
                if above in edges:
                    edges[above].append(edge)
                else:
                    edges[above] = [edge]
    nodes = []
    ordered: list[Edge] = []
    for _, index in sorted(zip(map(natural, names.values()), names, strict=True)):
        label, _, _, _, word = rows[index - 1]
        outgoing = edges.get(index, ())
        ordered += outgoing
        implicit = not word and label.endswith(IMPLICIT)
        attributes = _attributes(primary[index], bool(word), outgoing)
        nodes.append(_node((names[index], None, anchors[index], False, implicit, attributes)))
    return Bare(tuple(nodes), tuple(ordered), tuple(tops))


def fresh_names(rows: Sequence[Row]) -> dict[int, str]:
    """Return the id that the node of each index has in the graph of the rows alone."""
    return dict(zip(_indices(rows), _fresh_ids(rows), strict=True))


def _is_plain(
    graph: Graph,
    children: Sequence[Sequence[_Child]],
    primary: Sequence[str],
    words: Sequence[tuple[int, ...]],
) -> bool:
    """Say whether rows can hold each node and edge of a graph with one top and no terminal node."""
    if [edge for edge in graph.edges if edge.attributes]:
        return False
    for i, (_, label, anchors, constant, _, attributes) in enumerate(graph.nodes):
        if label is not None or constant or (len(anchors) > 1 and [*anchors] != sorted(anchors)):
            return False
        name = primary[i]
        if not (attributes or name in _TYPED or name.endswith(TERMINAL)):
            continue  # most units
        outgoing: list[Edge] = []
        if name == NULL:
            outgoing = [graph.edges[k] for _, _, k, _ in children[i] if k != NO_EDGE]
        if attributes != _attributes(name, bool(words[i]), outgoing):
            return False
    return True


def _check(graph: Graph, edges: Sequence[_Edge], terminal: set[int]) -> None:
    """Refuse a terminal that is two nodes, and a cycle of edges that are not remote."""
    if len({graph.nodes[i].anchors for i in terminal}) != len(terminal):
        raise ConversionError("two nodes are the same terminal", graph_id=graph.id)
    ends = [(source, target) for source, target, _, remote in edges if not remote]
    # A cycle has an edge that leads back in the list, from a node that some edge leads to.
    back = [source for source, target in ends if source >= target]
    if not back or {target for _, target in ends}.isdisjoint(back):
        return
    free = set(parents_first(range(len(graph.nodes)), ends))
    if len(free) < len(graph.nodes):
        unit = next(node for i, node in enumerate(graph.nodes) if i not in free)
        raise ConversionError(
            f"unit {unit.id!r} is in or below a cycle of edges that are not remote",
            graph_id=graph.id,
        )


def _ranks(graph: Graph, terminal: set[int]) -> tuple[list[int], list[int]]:
    """Return the nodes by id, and their sibling order: terminals by position, then units by id."""
    keys = [natural(node.id) for node in graph.nodes]
    by_id = sorted(range(len(keys)), key=keys.__getitem__)
    ranks = [0] * len(keys)
    for place, i in enumerate(by_id):
        ranks[i] = place
    for i in terminal:
        ranks[i] = _word_rank(graph, graph.nodes[i].anchors[0])
    return by_id, ranks


def _word_rank(graph: Graph, position: int) -> int:
    return position - len(graph.tokens)


def _primary_edges(edges: Sequence[_Edge], rank: Sequence[int], root: int) -> list[int]:
    best: list[tuple[int, str, int] | None] = [None] * (len(rank) + 1)
    offset = -min(rank, default=0)
    for k, (source, target, label, remote) in enumerate(edges):
        if not remote and target != root and not is_linkage(label):
            # The root comes first, as it does where ids are fresh: it is 1.1 there.
            candidate = (-1 if source == root else rank[source] + offset, label, k)
            other = best[target]
            if other is None or candidate < other:
                best[target] = candidate
    return [NO_EDGE if candidate is None else candidate[-1] for candidate in best]


def _unit_labels(nodes: Sequence[Node], primary: Sequence[str], root: int) -> list[str]:
    # The mark of implicit units comes last, so that no category may end in it.
    labels = [
        f"{name}=" if IMPLICIT in name and name.rstrip("=").endswith(IMPLICIT) else name
        for name in primary
    ]
    if root < len(nodes):
        labels[root] = ROOT_UNIT
    return labels


def _add_words(
    graph: Graph,
    root: int,
    terminal: set[int],
    children: list[list[_Child]],
    labels: list[str],
) -> list[tuple[int, ...]]:
    """Give pre-terminals the label of their first word and add the rows of all other words."""
    tokens = graph.tokens
    anchors: list[tuple[int, ...]] = [()] * len(labels)
    for i, node in enumerate(graph.nodes):
        own = node.anchors
        if not own:
            continue
        positions = sorted(own) if len(own) > 1 else [*own]
        if positions[0] < 0:
            graph.validate()
        name = TERMINAL_CHILD
        if i in terminal or not (children[i] or node.implicit or i == root):
            name = PHRASE
            labels[i] = tokens[positions[0]].form
            anchors[i] = (positions.pop(0),)
        for position in positions:
            children[i].append((_word_rank(graph, position), name, NO_EDGE, len(labels)))
            labels.append(tokens[position].form)
            anchors.append((position,))
    return anchors


def _is_terminal_node(node: Node) -> bool:
    return (
        len(node.anchors) == 1
        and not node.implicit
        and bool(attribute(node.attributes, "terminal"))
    )


def _is_terminal(row: Row) -> bool:
    return row.relation == NULL_TERMINAL or edge_label(row.relation)[1] == TERMINAL


def _attributes(primary: str, is_word: bool, edges: Sequence[Edge]) -> Attributes:
    if primary == "U" and is_word:
        return _PUNCTUATION_TYPE
    if primary == NULL and edges and all(is_linkage(edge.label) for edge in edges):
        return _LINKAGE_TYPE
    if is_word and (primary == NULL_TERMINAL or primary.endswith(TERMINAL)):
        return _TERMINAL_NODE
    return ()


def _fresh_ids(rows: Sequence[Row]) -> list[str]:
    """Return ids ``1.1``, ``1.2``, ... whose numeric order is the order of siblings."""
    first: dict[int, int] = {}
    for row in rows:
        if row.anchors and _is_terminal(row):
            first.setdefault(row.anchors[0], row.index)
    ids = {index: f"0.{position + 1}" for position, index in first.items()}
    indices = _indices(rows)
    ids |= sibling_ids(rows, [index for index in indices if index not in ids])
    return [ids[index] for index in indices]


def _indices(rows: Sequence[Row]) -> list[int]:
    """Return the indices that stand for nodes: not the virtual root, not the words of a unit."""
    indices = sorted({row.index for row in rows if row.relation not in _WORDS})
    is_virtual = rows[:1] and rows[0].label == VIRTUAL and not rows[0].anchors
    return indices[1:] if is_virtual else indices
