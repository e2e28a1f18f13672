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
from collections.abc import Iterable
from functools import lru_cache
from operator import attrgetter

from graphconv.graph import LINKAGE, Graph, Token, attribute, split_categories
from graphconv.graph import Node as GraphNode

UNIT, PUNCTUATION, LINKAGE_UNIT = "FN", "PNCT", "LKG"
"""The types of layer-1 nodes."""
WORD, MARK = "Word", "Punctuation"
"""The types of terminals."""
TERMINAL_CATEGORIES = ("Terminal",)
COORDINATED = "Coordinated_Main_Rel."
_MARKED = ("type", MARK)
_TAGS = {
    PUNCTUATION: PUNCTUATION,
    LINKAGE_UNIT: LINKAGE_UNIT,
}  # as the objects that `is` compares with
_NOTHING: list[Edge] = []
"""What is below a terminal; shared, because making lists takes time."""

_is_number = re.compile("[0-9]{1,18}").fullmatch
_by_child = attrgetter("child.key")
_by_parent = attrgetter("parent.key")
_categories = lru_cache(maxsize=4096)(split_categories)


class Node:
    """A unit (key > 0) or a terminal (key < 0)."""

    __slots__ = ("changes", "implicit", "into", "key", "on_path", "out", "span", "tag", "visited")

    def __init__(
        self, key: int, tag: str, out: list[Edge], span: int = 0, implicit: bool = False
    ) -> None:
        self.key = key
        self.tag = tag
        self.span = span
        """The yield: bit i is set if the word at position i belongs to it."""
        self.implicit = implicit
        self.out = out
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

    __slots__ = ("_cyclic", "_order", "root", "terminals", "units")

    def __init__(self, graph: Graph, marks: list[bool]) -> None:
        size = len(marks)
        self.terminals = [
            Node(i - size, MARK, _NOTHING) if mark else Node(i - size, WORD, _NOTHING, 1 << i)
            for i, mark in enumerate(marks)
        ]
        self.units: dict[int, Node] = {}
        nodes = self._add_units(graph)
        self.root = self.units.setdefault(1, Node(1, UNIT, []))
        self._cyclic: bool | None = None
        self._order: list[Node] | None = None
        for source, target, label, remote, attributes in graph.edges:
            parent = nodes[source]
            coordinated = bool(attributes) and bool(attribute(attributes, COORDINATED))
            parent.out.append(Edge(parent, nodes[target], _categories(label), remote, coordinated))
        for unit in self.ordered():
            if len(unit.out) > 1:
                unit.out.sort(key=_by_child)
            for edge in unit.out:
                edge.child.into.append(edge)
        if not _is_typed(graph):
            self._infer_tags()

    def _add_units(self, graph: Graph) -> dict[str, Node]:
        """Make the units with their terminals; return every node of the graph by its id."""
        terminals = self.terminals
        nodes: dict[str, Node] = {}
        keys = unit_keys(graph)
        for name, _, anchors, _, implicit, attributes in graph.nodes:
            if name not in keys:
                nodes[name] = terminals[anchors[0]]
                continue
            tag = _TAGS.get(attribute(attributes, "type"), UNIT) if attributes else UNIT
            unit = nodes[name] = self.units[keys[name]] = Node(keys[name], tag, [], 0, implicit)
            for anchor in anchors:
                unit.out.append(Edge(unit, terminals[anchor], TERMINAL_CATEGORIES))
        return nodes

    def _infer_tags(self) -> None:
        """Recognize punctuation units and linkages by their edges, where nothing names them."""
        for unit in self.units.values():
            below = {category for edge in unit.out for category in edge.categories}
            above = {category for edge in unit.into for category in edge.categories}
            if below and not above and below <= LINKAGE:
                unit.tag = LINKAGE_UNIT
            elif above == {"U"} and unit.out and all(e.child.tag is MARK for e in unit.out):
                unit.tag = PUNCTUATION

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
        unit = self.units[number] = Node(number, tag, [])
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
        along existing paths, so that it cannot happen unless there is a cycle already.
        """
        if self._cyclic is None:
            _, self._cyclic = _children_first(self.units.values(), remotes=True)
        parent = parent or edge.parent
        child = child or edge.child
        if self._cyclic and child in ancestors(parent):
            return False
        self.connect(
            parent, child, categories or edge.categories, edge.remote or remote, edge.coordinated
        )
        return True

    def move_to_head(self, unit: Node, category: str) -> None:
        """Move a unit from its primary parent to the first head, between two `compute_yields`."""
        parent = primary_parent(unit)
        if parent is not None:
            self.remove(next(edge for edge in parent.out if edge.child is unit))
        head = self.first_head()
        self.connect(head, unit, (category,))
        if head.into:
            self._order = None
        elif self._order and self._order[-1] is not head:
            # Nothing is above a head, so it may come last, after all its new children.
            self._order.remove(head)
            self._order.append(head)

    def compute_yields(self) -> None:
        """Set the span of every unit: its words over edges that are not remote."""
        order, cyclic = self._order, False
        if order is None:
            order, cyclic = _children_first(self.units.values(), remotes=False)
        if cyclic:  # grow from nothing until nothing grows
            for unit in order:
                unit.span = 0
        else:
            self._order = order
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


def has_only_terminals(node: Node) -> bool:
    """Say whether nothing but terminals is below a node; they come first among its children."""
    return not node.out or node.out[-1].child.key < 0


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
    """Say which tokens their type calls punctuation; None if there are none."""
    marks = [_MARKED in token[4] for token in tokens]
    return marks if any(marks) else None


def _is_typed(graph: Graph) -> bool:
    """Say whether the graph tells punctuation and linkages from other tokens and units."""
    return any(_MARKED in token[4] for token in graph.tokens) or any(
        attribute(node[5], "type") in _TAGS for node in graph.nodes if node[5]
    )


@lru_cache(maxsize=65536)
def _is_mark(form: str) -> bool:
    """Say whether a token consists of punctuation marks and symbols only.

    >>> [_is_mark(form) for form in ("well-known", "--", "$", "")]
    [False, True, True, False]
    """
    return bool(form) and all(unicodedata.category(character)[0] in "PS" for character in form)


def unit_keys(graph: Graph) -> dict[str, int]:
    """Number the units: as their ids say, or else the top first and the others as listed."""
    keys: dict[str, int] = {}
    for node in graph.nodes:
        layer, _, number = node[0].partition(".")
        if layer == "1" and _is_number(number):
            keys[node[0]] = int(number)
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
                        if has_only_terminals(child):
                            state[child] = True
                            order.append(child)
                        else:
                            stack.append(child)
                    elif not finished:
                        cyclic = True
                continue
            stack.pop()
            if not state[node]:
                state[node] = True
                order.append(node)
    return order, cyclic
