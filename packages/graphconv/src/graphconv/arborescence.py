"""The unified target format: rows of a tree in pre-order, and the relations read off them.

Rows are numbered from 1; number 0 is ``<root>``, the source of the first relation. A row has

- ``label``: the node's label,
- ``index``: the number of the first row of the same node; a row whose index is not its own number
  is a copy of a re-entrant node,
- ``head``: the number of the row it hangs below (0 for row 1), always smaller than its own,
- ``relation``: the relation to the head,
- ``anchors``: the token position, for a word of a DM, PAS, PSD or UCCA graph.

Of all rows of a node exactly one, the *primary*, may have children. ``side`` holds what the model
never sees: node ids, attributes, metadata, written order. The example of the paper, "the boy wants
to go":

>>> tree = Arborescence("1", "amr", rows=(
...     Row("want-01", 1, 0, "root"),
...     Row("boy", 2, 1, "ARG0"),
...     Row("go-01", 3, 1, "ARG1"),
...     Row("boy", 2, 3, "ARG0"),
... ))
>>> for relation in relations(tree):
...     print(tuple(relation))
('<root>', 0, 'root', 'want-01', 1, None)
('want-01', 1, 'ARG0', 'boy', 2, None)
('want-01', 1, 'ARG1', 'go-01', 3, None)
('go-01', 3, 'ARG0', 'boy', 2, None)
>>> rows_from_relations(relations(tree)) == tree.rows
True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from graphconv.errors import ConversionError
from graphconv.graph import Token

if TYPE_CHECKING:
    import networkx

ROOT_LABEL = "<root>"
"""The label of number 0, the source of the first relation."""

ROOT_RELATION = "root"
"""The relation of row 1 to ``<root>``."""


class Row(NamedTuple):
    """One row of an arborescence."""

    label: str
    index: int  # type: ignore[assignment] # hides a method of tuples that no row needs
    head: int
    relation: str
    anchors: tuple[int, ...] = ()


class Relation(NamedTuple):
    """The paper's tuple (u, d_u, r, v, d_v), and the token position of v where v is a word."""

    u: str
    d_u: int
    r: str
    v: str
    d_v: int
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Arborescence:
    """A graph as a tree; the module docstring defines its rows."""

    id: str
    framework: str
    tokens: tuple[Token, ...] = ()
    rows: tuple[Row, ...] = ()
    side: Mapping[str, Any] = field(default_factory=dict)

    def validate(self) -> None:
        """Raise ConversionError unless the rows are a pre-order of a tree with valid indices."""
        path: list[int] = [0]
        parents: dict[int, int] = {}
        for number, row in enumerate(self.rows, start=1):
            while path and path[-1] != row.head:
                path.pop()
            if not path or (row.head == 0) != (number == 1):
                raise ConversionError(
                    f"row {number} hangs below row {row.head}, which breaks the pre-order",
                    graph_id=self.id,
                )
            path.append(number)
            if not 1 <= row.index <= number or self.rows[row.index - 1].index != row.index:
                raise ConversionError(
                    f"row {number} has index {row.index}, which is not the first row of a node",
                    graph_id=self.id,
                )
            if row.head:
                node = self.rows[row.head - 1].index
                if parents.setdefault(node, row.head) != row.head:
                    raise ConversionError(
                        f"two rows of node {node} have children", graph_id=self.id
                    )

    def to_networkx(self) -> networkx.DiGraph:
        """Return the tree of row numbers, with the fields of the rows as attributes."""
        import networkx  # noqa: PLC0415 - an optional dependency, and slow to import

        tree = networkx.DiGraph(id=self.id, framework=self.framework, tokens=self.tokens)
        for number, row in enumerate(self.rows, start=1):
            tree.add_node(number, label=row.label, index=row.index, anchors=row.anchors)
            if row.head:
                tree.add_edge(row.head, number, relation=row.relation)
        return tree


def relations(tree: Arborescence) -> tuple[Relation, ...]:
    """Return the relation sequence of the paper, one relation per row."""
    rows = tree.rows
    result = []
    for label, index, head, relation, anchors in rows:
        position = anchors[0] if anchors else None
        if head:
            source = rows[head - 1]
            result.append(Relation(source[0], source[1], relation, label, index, position))
        else:
            result.append(Relation(ROOT_LABEL, 0, relation, label, index, position))
    return tuple(result)


def rows_from_relations(sequence: Iterable[Relation]) -> tuple[Row, ...]:
    """Build the rows back from a relation sequence.

    A relation names the *node* of its source; the row is the one on the path from the root to the
    row before, and of two (a node that is its own descendant) the upper one, since only one row of
    a node has children.
    """
    rows: list[Row] = []
    path: list[int] = []  # the nodes from the root to the last row; of a repeated node the upper
    numbers: dict[int, int] = {}  # and the row number of each
    for number, (_, d_u, r, v, d_v, position) in enumerate(sequence, start=1):
        head = numbers.get(d_u, 0)
        if (head == 0) != (number == 1) or not 1 <= d_v <= number:
            raise ConversionError(
                f"relation {number} does not continue the tree: {(d_u, r, v, d_v)}"
            )
        while path and path[-1] != d_u:
            del numbers[path.pop()]
        rows.append(Row(v, d_v, head, r, () if position is None else (position,)))
        if d_v not in numbers:
            path.append(d_v)
            numbers[d_v] = number
    return tuple(rows)
