"""One graph type for all frameworks: AMR, DM, PAS, PSD, UCCA (and EDS, PTG, DRG through MRP).

What the parts mean in each framework:

========  ==============================  ==========================================================
part      framework                       meaning
========  ==============================  ==========================================================
token     all                             a word of the sentence; its position is its place in
                                          ``Graph.tokens``, counted from 0
node      AMR                             a variable with its concept as label, or a constant
                                          (``constant=True``; label as written, quotes included)
          DM, PAS, PSD                    a token position: ``anchors == (position,)``, no label
          UCCA                            a unit; ``anchors`` are the positions of its Terminal
                                          children in the order of the file; no label;
                                          ``implicit=True`` for implicit units
edge      AMR                             true direction and role (``:ARG0-of`` is read as ``ARG0``
                                          the other way round), without the colon; the attribute
                                          ``inverted`` records that it was written inverted
          DM, PAS, PSD                    predicate to argument
          UCCA                            parent to child unit; several categories are one label
                                          (:func:`join_categories`); ``remote=True`` if remote
tops      AMR, UCCA                       the root
          DM, PAS, PSD                    the nodes with TOP ``+``: none, one or several
========  ==============================  ==========================================================

Plain Terminal edges of UCCA are not edges here but anchors. A Terminal edge that says more (another
category, remote, attributes) is an :class:`Edge` to a terminal node: a node with the terminal's id
(``0.7``), the terminal's position as its only anchor and the attribute ``terminal``.

Everything else a file says is kept too, in ``attributes``, ``features``, ``metadata`` (what a user
may want to read) and ``extras`` (what only the codec that wrote it understands); all of it takes
part in ``==``; only ``scores``, how sure a parser was, does not. Attributes are tuples of pairs:
ordered, hashable and safe to share.

>>> graph = Graph(
...     id="1",
...     framework="amr",
...     nodes=(Node("w", "want-01"), Node("b", "boy"), Node(":0", "-", constant=True)),
...     edges=(Edge("w", "b", "ARG0"), Edge("w", ":0", "polarity")),
...     tops=("w",),
... )
>>> [edge.label for edge in graph.edges]
['ARG0', 'polarity']
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from graphconv.errors import ConversionError, GraphconvError
from graphconv.scores import Scores

if TYPE_CHECKING:
    import networkx

Attributes = tuple[tuple[str, Any], ...]
"""Pairs (name, value); a value is what JSON can hold."""


class Token(NamedTuple):
    """A word of the sentence, with what the treebank says about it."""

    form: str
    lemma: str | None = None
    pos: str | None = None
    span: tuple[int, int] | None = None
    """Characters [from, to) of the text, where the format gives them."""
    features: Attributes = ()
    """Everything else: ``frame`` (SDP), ``ner``, ``dep``, ``shape`` and more (UCCA ``extra``)."""


class Node(NamedTuple):
    """A node; the module docstring says what it is in each framework."""

    id: str
    label: str | None = None
    anchors: tuple[int, ...] = ()
    constant: bool = False
    implicit: bool = False
    attributes: Attributes = ()


class Edge(NamedTuple):
    """A directed edge; the module docstring says what it is in each framework."""

    source: str
    target: str
    label: str
    remote: bool = False
    attributes: Attributes = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """A meaning graph with its sentence."""

    id: str
    framework: str
    tokens: tuple[Token, ...] = ()
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    tops: tuple[str, ...] = ()
    metadata: Attributes = ()
    extras: Attributes = ()
    scores: Scores | None = field(default=None, compare=False, repr=False)
    """How sure the parser was; no part of what the graph means, so not of ``==`` either."""

    def validate(self) -> None:
        """Raise ConversionError unless ids are unique and edges, tops and anchors exist."""
        counts = Counter(node.id for node in self.nodes)
        for node_id, count in counts.items():
            if count > 1:
                self._refuse(f"node {node_id!r} is defined {count} times")
        for edge in self.edges:
            for end in (edge.source, edge.target):
                if end not in counts:
                    self._refuse(f"edge {edge.label!r} has an unknown node {end!r}")
        for top in self.tops:
            if top not in counts:
                self._refuse(f"top {top!r} is not a node")
        for node in self.nodes:
            for anchor in node.anchors:
                if not 0 <= anchor < len(self.tokens):
                    self._refuse(
                        f"node {node.id!r} is anchored to token {anchor}, which does not exist"
                    )

    @property
    def text(self) -> str:
        """The sentence as the file gives it, else the tokens with blanks between them."""
        from graphconv import views  # noqa: PLC0415 - it needs this module

        return views.text_of(self)

    def span(self, node_id: str) -> tuple[int, int] | None:
        """Return the characters [from, to) of :attr:`text` that a node stands for, if any.

        A UCCA unit stands for all words below it. From the first to the last: a gap is included.
        """
        from graphconv import views  # noqa: PLC0415 - it needs this module

        return views.span_of(self, node_id)

    def triples(self) -> list[tuple[str, str, str]]:
        """Return (node, ``instance``, label) for each node, then (source, label, target).

        A node without a label is its words (DM); a constant stands where its edges end (AMR).
        """
        from graphconv import views  # noqa: PLC0415 - it needs this module

        return views.triples_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything the graph says in JSON's types; :meth:`from_dict` undoes it."""
        from graphconv import views  # noqa: PLC0415 - it needs this module

        return views.to_dict(self)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Graph:
        """Return the graph that :meth:`to_dict` was called on; FormatError if there is none."""
        from graphconv import views  # noqa: PLC0415 - it needs this module

        return views.from_dict(record)

    def __str__(self) -> str:
        from graphconv.io.strings import dumps  # noqa: PLC0415 - it needs this module

        try:
            return dumps(self).rstrip("\n")
        except GraphconvError:  # what no file can hold must still be seen
            return repr(self)

    def _repr_svg_(self) -> str:
        """Return the picture that a notebook shows."""
        from graphconv.draw import svg  # noqa: PLC0415 - it needs this module

        return svg(self)

    def to_networkx(self, flat: bool = False) -> networkx.MultiDiGraph:
        """Return the graph with every field as networkx attributes.

        With *flat* they are strings, numbers and truth values only (lists become JSON, what is
        absent is left out), so that any writer of networkx takes them: ``networkx.write_graphml``.
        """
        import networkx  # noqa: PLC0415 - an optional dependency, and slow to import

        if flat:
            from graphconv import views  # noqa: PLC0415 - it needs this module

            result = networkx.MultiDiGraph(**views.flat_graph(self))
            for node in self.nodes:
                score = views.flat_score(self, node.id)
                result.add_node(node.id, **views.flat_node(node), **score)
            for order, edge in enumerate(self.edges):
                fields = views.flat_edge(edge, order) | views.flat_score(self, edge)
                result.add_edge(edge.source, edge.target, **fields)
            return result
        result = networkx.MultiDiGraph(
            id=self.id,
            framework=self.framework,
            tokens=self.tokens,
            tops=self.tops,
            metadata=self.metadata,
            extras=self.extras,
            scores=self.scores,
        )
        for node in self.nodes:
            result.add_node(node.id, **_fields(node, skip=("id",)))
        for edge in self.edges:
            result.add_edge(edge.source, edge.target, **_fields(edge, skip=("source", "target")))
        return result

    def _refuse(self, message: str) -> None:
        raise ConversionError(message, graph_id=self.id)


class TokenNodes(NamedTuple):
    """The nodes of SDP files, by token position; all graphs share them, since they hold no more."""

    ids: tuple[str, ...]
    plain: tuple[Node, ...]
    predicates: tuple[Node, ...]
    """Those with PRED ``+``."""


PREDICATE: Attributes = (("pred", "+"),)
"""The attributes of a token with PRED ``+``."""

_token_nodes = TokenNodes((), (), ())


def token_nodes(count: int) -> TokenNodes:
    """Return the shared nodes of at least *count* tokens.

    >>> token_nodes(2).predicates[1] == Node("2", None, (1,), attributes=PREDICATE)
    True
    """
    global _token_nodes  # noqa: PLW0603 - grows to the longest sentence
    if count > len(_token_nodes.ids):
        ids = tuple(map(str, range(1, max(2 * count, 256) + 1)))
        _token_nodes = TokenNodes(
            ids,
            tuple(Node(name, None, (i,)) for i, name in enumerate(ids)),
            tuple(Node(name, None, (i,), attributes=PREDICATE) for i, name in enumerate(ids)),
        )
    return _token_nodes


def attribute(attributes: Attributes, name: str, default: Any = None) -> Any:
    """Return the value of the first pair called *name*."""
    for key, value in attributes:
        if key == name:
            return value
    return default


def join_categories(categories: tuple[str, ...]) -> str:
    """Join the categories of a UCCA edge into its label.

    >>> join_categories(("A", "S"))
    'A|S'
    """
    if len(categories) == 1 and not (set(categories[0]) & {"\\", "|"}):
        return categories[0]
    return "|".join(c.replace("\\", "\\\\").replace("|", "\\|") for c in categories)


LINKAGE = frozenset({"LA", "LR"})
"""UCCA: the categories of edges that link scenes, which never are primary ones."""


def split_categories(label: str) -> tuple[str, ...]:
    r"""Split the label of a UCCA edge into its categories.

    >>> split_categories("A|S")
    ('A', 'S')
    >>> split_categories(join_categories(("a|b", "\\")))
    ('a|b', '\\')
    """
    if "\\" not in label:
        return tuple(label.split("|"))
    categories = [""]
    escaped = False
    for character in label:
        if escaped:
            categories[-1] += character
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == "|":
            categories.append("")
        else:
            categories[-1] += character
    return tuple(categories)


def _fields(item: Node | Edge, skip: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in item._asdict().items() if name not in skip}
