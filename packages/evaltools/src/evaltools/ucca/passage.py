"""A light, mutable working copy of a UCCA graph: what normalization changes and scoring reads.

The input graph is never touched. Everything a unit or a terminal needs hangs from its
:class:`Node`: sorted lists of edges, an integer key that gives the order of UCCA ids (terminals
before units, then by number), and the yield as a bit mask over token positions.

>>> from graphconv.graph import Edge as GraphEdge, Graph, Node as GraphNode, Token
>>> graph = Graph(
...     id="1",
...     framework="ucca",
...     tokens=(Token("Dogs"), Token("bark"), Token(".")),
...     nodes=(GraphNode("1.1", anchors=(0, 1, 2)), GraphNode("1.2", anchors=(1,))),
...     edges=(GraphEdge("1.1", "1.2", "H"),),
...     tops=("1.1",),
... )
>>> passage = Passage(graph, [False, False, True])
>>> passage.compute_yields()
>>> [(unit.key, bin(unit.span)) for unit in passage.ordered()]
[(1, '0b11'), (2, '0b10')]
"""

from __future__ import annotations

import re
import unicodedata
from bisect import insort_right
from collections.abc import Callable, Iterable
from functools import lru_cache
from operator import attrgetter

from graphconv.graph import Edge as GraphEdge
from graphconv.graph import Graph, Token, attribute, split_categories
from graphconv.graph import Node as GraphNode

UNIT, PUNCTUATION, LINKAGE = "FN", "PNCT", "LKG"
"""The types of layer-1 nodes."""
WORD, MARK = "Word", "Punctuation"
"""The types of terminals."""
TERMINAL_CATEGORIES = ("Terminal",)
COORDINATED = "Coordinated_Main_Rel."
_UNIT_ID = re.compile(r"1\.(\d+)")

_by_child = attrgetter("child.key")
_by_parent = attrgetter("parent.key")
_categories = lru_cache(maxsize=4096)(split_categories)


class Node:
    """A unit (key > 0) or a terminal (key < 0)."""

    __slots__ = ("changes", "implicit", "into", "key", "on_path", "out", "span", "tag", "visited")

    def __init__(self, key: int, tag: str, span: int = 0, implicit: bool = False) -> None:
        self.key = key
        self.tag = tag
        self.span = span
        """The yield: bit i is set if the word at position i belongs to it."""
        self.implicit = implicit
        self.out: list[Edge] = []
        """Edges to children, ordered by the child's key."""
        self.into: list[Edge] = []
        """Edges from parents, ordered by the parent's key."""
        self.changes = 0
        """How often `out` was changed."""
        self.visited = False
        self.on_path = False


class Edge:
    """An edge with its categories; `remote` and `coordinated` are the attributes that matter."""

    __slots__ = ("categories", "child", "coordinated", "parent", "remote")

    def __init__(
        self,
        parent: Node,
        child: Node,
        categories: tuple[str, ...],
        remote: bool = False,
        coordinated: bool = False,
    ) -> None:
        self.parent = parent
        self.child = child
        self.categories = categories
        self.remote = remote
        self.coordinated = coordinated


class Passage:
    """The units and terminals of one graph, and the operations that normalization is made of."""

    __slots__ = ("cyclic", "root", "terminals", "units")

    def __init__(self, graph: Graph, marks: list[bool]) -> None:
        size = len(marks)
        self.terminals = [
            Node(i - size, MARK) if mark else Node(i - size, WORD, 1 << i)
            for i, mark in enumerate(marks)
        ]
        self.units: dict[int, Node] = {}
        nodes = self._add_units(graph)
        for source, target, label, remote, attributes in graph.edges:
            parent = nodes[source]
            coordinated = bool(attributes) and bool(attribute(attributes, COORDINATED))
            parent.out.append(Edge(parent, nodes[target], _categories(label), remote, coordinated))
        for unit in self.ordered():
            unit.out.sort(key=_by_child)
            for edge in unit.out:
                edge.child.into.append(edge)
        _, self.cyclic = _children_first(self.units.values(), remotes=True)

    def _add_units(self, graph: Graph) -> dict[str, Node]:
        """Make the units with their terminals; return every node of the graph by its id."""
        terminals = self.terminals
        keys = _unit_keys(graph)
        tag = _tagger(graph, terminals)
        nodes: dict[str, Node] = {}
        for node in graph.nodes:
            key = keys.get(node.id)
            if key is None:
                nodes[node.id] = terminals[node.anchors[0]]
                continue
            unit = nodes[node.id] = self.units[key] = Node(key, tag(node), 0, node.implicit)
            unit.out = [
                Edge(unit, terminals[anchor], TERMINAL_CATEGORIES) for anchor in node.anchors
            ]
        root = self.units.get(1)
        self.root = self.units[1] = root or Node(1, UNIT)
        return nodes

    def ordered(self) -> list[Node]:
        """Return the units in the order of their ids."""
        units = self.units
        return [units[key] for key in sorted(units)]

    def heads(self) -> list[Node]:
        """Return the units without a parent, in the order of their ids."""
        return [unit for unit in self.ordered() if not unit.into]

    def first_head(self) -> Node:
        """Return the first of the heads, nearly always the root; the root if there is none."""
        if self.is_alive(self.root) and not self.root.into:
            return self.root
        return next(iter(self.heads()), self.root)

    def add_unit(self, tag: str) -> Node:
        """Create a unit under the first free number above the present number of units."""
        number = len(self.units) + 1
        while number in self.units:
            number += 1
        unit = self.units[number] = Node(number, tag)
        return unit

    def connect(
        self,
        parent: Node,
        child: Node,
        categories: tuple[str, ...],
        remote: bool = False,
        coordinated: bool = False,
    ) -> None:
        """Add an edge; among equal keys it comes last."""
        edge = Edge(parent, child, categories, remote, coordinated)
        parent.changes += 1
        insort_right(parent.out, edge, key=_by_child)
        insort_right(child.into, edge, key=_by_parent)

    def remove(self, edge: Edge) -> None:
        """Remove an edge."""
        edge.parent.changes += 1
        edge.parent.out.remove(edge)
        edge.child.into.remove(edge)

    def is_alive(self, unit: Node) -> bool:
        """Say whether the unit has not been deleted."""
        return self.units.get(unit.key) is unit

    def delete(self, unit: Node) -> None:
        """Delete a unit and its edges; children without another parent become heads."""
        for edge in unit.out.copy():
            self.remove(edge)
        for edge in unit.into.copy():
            self.remove(edge)
        del self.units[unit.key]

    def prune(self, unit: Node | None) -> None:
        """Delete the unit if it is empty, then its parent if that became empty, and so on."""
        while unit is not None and not unit.out and not unit.implicit:
            parent = primary_parent(unit)
            if parent is None:
                return
            self.delete(unit)
            unit = parent

    def delete_and_prune(self, unit: Node) -> Node | None:
        """Delete a unit, prune its primary parent, and return that parent."""
        parent = primary_parent(unit)
        self.delete(unit)
        self.prune(parent)
        return parent

    def remove_and_prune(self, edge: Edge) -> None:
        """Remove an edge and prune its parent."""
        self.remove(edge)
        self.prune(edge.parent)

    def copy(
        self,
        edge: Edge,
        *,
        parent: Node | None = None,
        child: Node | None = None,
        categories: tuple[str, ...] | None = None,
        remote: bool = False,
    ) -> bool:
        """Copy an edge with other ends or categories, *remote* if asked or if it was.

        Return False and do nothing if that would close a cycle. Normalization copies edges only
        along existing paths, so that it cannot happen where there was no cycle before.
        """
        parent = parent or edge.parent
        child = child or edge.child
        if self.cyclic and child in ancestors(parent):
            return False
        self.connect(
            parent, child, categories or edge.categories, edge.remote or remote, edge.coordinated
        )
        return True

    def compute_yields(self) -> None:
        """Set the span of every unit: its words over edges that are not remote."""
        order, cyclic = _children_first(self.units.values(), remotes=False)
        if cyclic:  # grow from nothing until nothing grows
            for unit in order:
                unit.span = 0
        changed = True
        while changed:
            changed = False
            for unit in order:
                span = 0
                if unit.tag is not PUNCTUATION:
                    for edge in unit.out:
                        if not edge.remote:
                            span |= edge.child.span
                if cyclic and span != unit.span:
                    changed = True
                unit.span = span


def primary_edge(node: Node) -> Edge | None:
    """Return the first incoming edge that is neither remote nor from a linkage."""
    for edge in node.into:
        if not edge.remote and edge.parent.tag is UNIT:
            return edge
    return None


def primary_parent(node: Node) -> Node | None:
    """Return the parent over the primary edge."""
    edge = primary_edge(node)
    return edge.parent if edge else None


def ancestors(node: Node) -> set[Node]:
    """Return the node and everything from which it is reachable over any edges."""
    found = {node}
    stack = [node]
    while stack:
        for edge in stack.pop().into:
            parent = edge.parent
            if parent not in found:
                found.add(parent)
                stack.append(parent)
    return found


def passages(*graphs: Graph) -> list[Passage]:
    """Make the working copies of graphs about the same tokens.

    A treebank says which tokens are punctuation. A graph that does not (predicted, or MRP) takes
    that from one that does. If none does, graphs with character spans (MRP) are judged by form;
    in the others every token is a word, because the treebanks only mark what is none.
    """
    stated = [_stated_marks(graph.tokens) for graph in graphs]
    common = next((marks for marks in stated if marks), None)
    if common is None:
        guess = any(token.span for graph in graphs for token in graph.tokens)
        common = [guess and _is_mark(token.form) for token in graphs[0].tokens]
    return [Passage(graph, marks or common) for graph, marks in zip(graphs, stated, strict=True)]


def _stated_marks(tokens: Iterable[Token]) -> list[bool] | None:
    """Say which tokens their type calls punctuation; None if no token has a type."""
    types = [attribute(token[4], "type") for token in tokens]
    return [kind == MARK for kind in types] if any(types) else None


@lru_cache(maxsize=65536)
def _is_mark(form: str) -> bool:
    """Say whether a token consists of punctuation marks and symbols only.

    >>> [_is_mark(form) for form in ("well-known", "--", "$", "")]
    [False, True, True, False]
    """
    return bool(form) and all(unicodedata.category(character)[0] in "PS" for character in form)


def _unit_keys(graph: Graph) -> dict[str, int]:
    """Number the units: as their ids say, or else the top first and the others as listed."""
    keys: dict[str, int] = {}
    for node in graph.nodes:
        match = _UNIT_ID.fullmatch(node.id)
        if match:
            keys[node.id] = int(match[1])
        elif not _is_terminal(node):
            break
    else:
        if len(set(keys.values())) == len(keys):
            return keys
    units = [node.id for node in graph.nodes if not _is_terminal(node)]
    top = graph.tops[0] if graph.tops else None
    units.sort(key=lambda unit: unit != top)
    return {unit: number for number, unit in enumerate(units, start=1 if top else 2)}


def _is_terminal(node: GraphNode) -> bool:
    return any(name == "terminal" for name, _ in node.attributes)


def _tagger(graph: Graph, terminals: list[Node]) -> Callable[[GraphNode], str]:
    """Return the function that tells units, punctuation units and linkages apart."""
    kinds = {UNIT: UNIT, PUNCTUATION: PUNCTUATION, LINKAGE: LINKAGE}
    typed = any(node[5] and attribute(node[5], "type") for node in graph.nodes)
    if typed or _stated_marks(graph.tokens):
        return lambda node: kinds.get(attribute(node.attributes, "type", UNIT), UNIT)
    into: dict[str, list[GraphEdge]] = {}
    out: dict[str, list[GraphEdge]] = {}
    for edge in graph.edges:
        into.setdefault(edge.target, []).append(edge)
        out.setdefault(edge.source, []).append(edge)

    def tag(node: GraphNode) -> str:
        below, above = out.get(node.id, ()), into.get(node.id, ())
        if below and not above and all(edge.label in ("LA", "LR") for edge in below):
            return LINKAGE
        only_marks = node.anchors and all(terminals[i].tag is MARK for i in node.anchors)
        if only_marks and not below and above and all(edge.label == "U" for edge in above):
            return PUNCTUATION
        return UNIT

    return tag


def _children_first(units: Iterable[Node], *, remotes: bool) -> tuple[list[Node], bool]:
    """Order units, children first, and say whether there is a cycle; *remotes*: of any edges."""
    order: list[Node] = []
    cyclic = False
    state: dict[Node, bool] = {}  # False while the unit is on the path, True when it is finished
    for unit in units:
        stack = [unit]
        while stack:
            node = stack[-1]
            if node not in state:
                state[node] = False
                for edge in node.out:
                    child = edge.child
                    if child.key < 0 or (edge.remote and not remotes):
                        continue
                    finished = state.get(child)
                    if finished is None:
                        stack.append(child)
                    elif not finished:
                        cyclic = True
                continue
            stack.pop()
            if not state[node]:
                state[node] = True
                order.append(node)
    return order, cyclic
