"""Which row may follow some rows, so that the finished graph is one of its framework.

The paper needs no more than that a source precedes its target. The package takes away what cannot
become a graph: a pre-order, one row of a node with children, and what each framework allows
(docs/reference/conversions.md). The rules once more, by going through the rows each time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from graphconv.arborescence import Row
from graphconv.conversion.labels import edge_label

ROWS_PER_TOKEN, EXTRA_ROWS = 3, 20
FIRST = ("<virtual>", "ROOT")

Outcome = tuple[str, str | int]

END: Outcome = ("end", "")


def kind_of(relation: str) -> str:
    """Return what a relation means: its mark, its name if that has a meaning, or plain."""
    if relation in ("null", "top", "phrase"):
        return relation
    if relation in ("Terminal", "null-Terminal"):
        return "terminal"
    marks = {"-of": "reversed", "*": "remote", "~": "secondary", "^": "terminal"}
    return marks.get(edge_label(relation)[1], "plain")


def below(task: str, row: Row) -> str:
    """Return what may hang below a row: anything, further words of its unit, or nothing."""
    if task == "amr":
        return "nothing" if row.label.startswith("=") else "anything"
    if task != "ucca":
        return "anything"
    if row.anchors:
        return "nothing" if kind_of(row.relation) in ("phrase", "terminal") else "words"
    return "nothing" if row.label.endswith("!") else "anything"


def is_elsewhere(task: str, row: Row) -> bool:
    """Say whether a UCCA row is remote: never the primary one of its node."""
    return task == "ucca" and kind_of(row.relation) in ("remote", "secondary")


def is_empty_unit(task: str, rows: Sequence[Row]) -> bool:
    """Say whether the last row is a UCCA unit that still needs its first child."""
    return (
        task == "ucca" and below(task, rows[-1]) == "anything" and not is_elsewhere(task, rows[-1])
    )


def open_heads(task: str, rows: Sequence[Row], *, new_word: bool) -> set[int]:
    """Return the rows that a next row can hang below, so that the rows stay a pre-order."""
    if not rows:
        return {0}
    if is_empty_unit(task, rows):
        return {len(rows)}
    parents = {rows[row.head - 1].index: row.head for row in rows if row.head}
    heads, j = set(), len(rows)
    while j:
        row = rows[j - 1]
        fits = ("anything", "words") if new_word else ("anything",)
        if (
            below(task, row) in fits
            and not is_elsewhere(task, row)
            and parents.get(row.index, j) == j
        ):
            heads.add(j)
        j = row.head
    return heads


class Grammar:
    """The rules for one sentence."""

    def __init__(
        self,
        task: str,
        labels: Sequence[str],
        relations: Sequence[str],
        tokens: int,
        offers: Sequence[Sequence[str]] = (),
        *,
        unique_core_roles: bool = False,
        limit_copies: bool = False,
    ) -> None:
        self.task, self.tokens = task, tokens
        self.labels = [label for label in labels if label not in ("<pad>", "<unk>", "<end>")]
        self.relations_known = [r for r in relations if r not in ("<pad>", "<unk>", "root")]
        self.kinds = {kind_of(relation) for relation in self.relations_known}
        self.limit = ROWS_PER_TOKEN * tokens + EXTRA_ROWS
        self.unique = unique_core_roles
        self.offered = {label for ways in offers for label in ways}
        self.supply: Counter[str] = Counter()
        if limit_copies and task == "amr":
            self.supply.update(label for ways in offers for label in set(ways))
            self.supply.update(label for label in self.offered if not label.startswith("="))

    # Nodes ---------------------------------------------------------------------------------------

    def outcomes(self, rows: Sequence[Row]) -> set[Outcome]:
        """Return the nodes that may come next, or only the end."""
        if len(rows) >= self.limit or self._nothing_below_the_virtual_root(rows):
            return {END}
        possible = {
            "amr": self._amr,
            "ucca": self._ucca,
        }.get(self.task, self._bilexical)(rows)
        return possible or {END}

    def _amr(self, rows: Sequence[Row]) -> set[Outcome]:
        new = Counter(row.label for i, row in enumerate(rows, 1) if row.index == i)
        labels = {*self.labels, *self.offered}
        if self.supply:
            labels = {x for x in labels if x not in self.offered or new[x] < self.supply[x]}
        if not rows:
            return {("label", label) for label in labels if not label.startswith("=")}
        nodes = {row.index for row in rows if below("amr", row) == "anything"}
        return {END, *(("label", x) for x in labels), *(("node", i) for i in nodes)}

    def _bilexical(self, rows: Sequence[Row]) -> set[Outcome]:
        used = {row.anchors[0] for row in rows if row.anchors}
        words: set[Outcome] = {("word", t) for t in range(self.tokens) if t not in used}
        if not rows:
            return words | {("label", label) for label in self.labels}
        heads = open_heads(self.task, rows, new_word=False)
        nodes = {
            row.index
            for row in rows
            if row.anchors and any(not self._joined(rows, h, row.index) for h in heads)
        }
        labels = {label for label in self.labels if label not in FIRST}
        return {END, *words, *(("label", x) for x in labels), *(("node", i) for i in nodes)}

    def _ucca(self, rows: Sequence[Row]) -> set[Outcome]:
        if not rows:
            roots = [x for x in self.labels if x in FIRST]
            return {("label", x) for x in roots or self.labels if not x.endswith("!")}
        used = {row.anchors[0] for row in rows if row.anchors}
        unused = [t for t in range(self.tokens) if t not in used]
        waiting, tight, empty = self._waiting(rows), self._tight(rows), is_empty_unit("ucca", rows)
        result: set[Outcome] = {("word", t) for t in unused}
        for label in self.labels:
            implicit = label.endswith("!")
            if label in FIRST:
                continue
            if (not tight and (unused or implicit)) or (
                tight and empty and not unused and implicit
            ):
                result.add(("label", label))
        head = rows[-1].index if empty else 1
        for i, row in enumerate(rows, 1):
            inner = row.anchors and below("ucca", row) == "nothing"
            if row.index != i or inner or i in self._above(rows, head):
                continue
            if "remote" not in self.kinds and i not in waiting:
                continue
            if not tight or i in waiting:
                result.add(("node", i))
        if not unused and not waiting and not empty:
            result.add(END)
        return result

    def _waiting(self, rows: Sequence[Row]) -> set[int]:
        """Return the nodes that have only remote rows so far."""
        placed = {row.index for row in rows if not is_elsewhere(self.task, row)}
        return {row.index for row in rows} - placed

    def _tight(self, rows: Sequence[Row]) -> bool:
        """Say whether the last rows are kept for what must still come."""
        unused = self.tokens - len({row.anchors[0] for row in rows if row.anchors})
        return self.limit - len(rows) <= unused + 2 * len(self._waiting(rows)) + 2

    def _above(self, rows: Sequence[Row], node: int) -> set[int]:
        """Return the nodes from which a path leads to *node*, itself among them."""
        edges = {(rows[row.head - 1].index, row.index) for row in rows if row.head}
        found, queue = {node}, [node]
        while queue:
            target = queue.pop()
            for source, end in edges:
                if end == target and source not in found:
                    found.add(source)
                    queue.append(source)
        return found

    # Edges ---------------------------------------------------------------------------------------

    def heads(self, rows: Sequence[Row], outcome: Outcome) -> set[int]:
        """Return the rows that may be the source of a next node."""
        heads = open_heads(self.task, rows, new_word=outcome[0] == "word")
        if outcome[0] != "node" or self.task == "amr":
            return heads
        node = int(outcome[1])
        if self.task == "ucca":  # no unit is below itself
            return {h for h in heads if node not in self._above(rows, rows[h - 1].index)}
        return {h for h in heads if not self._joined(rows, h, node)}

    def _virtual(self, rows: Sequence[Row]) -> bool:
        return self.task not in ("amr", "ucca") and bool(rows) and not rows[0].anchors

    def _nothing_below_the_virtual_root(self, rows: Sequence[Row]) -> bool:
        return self._virtual(rows) and not self.kinds & {"null", "top"}

    def _edges(self, rows: Sequence[Row]) -> set[tuple[int, int]]:
        edges = set()
        for row in rows[1:]:
            ends = (rows[row.head - 1].index, row.index)
            edges.add(ends[::-1] if kind_of(row.relation) == "reversed" else ends)
        return edges

    def _joined(self, rows: Sequence[Row], head: int, node: int) -> bool:
        """Say whether there is no room for a further edge between a row and a word."""
        edges, source = self._edges(rows), rows[head - 1].index
        if head == 1 and self._virtual(rows):
            return (1, node) in edges or "top" not in self.kinds
        return (source, node) in edges and (node, source) in edges

    def relations(self, rows: Sequence[Row], outcome: Outcome, head: int) -> set[str]:
        """Return the relations that a next node may have to its head."""
        if not rows:
            return {"root"}
        kinds = (
            self._ucca_kinds(rows, outcome, head)
            if self.task == "ucca"
            else (self._kinds(rows, outcome, head))
        )
        allowed = {r for r in self.relations_known if kind_of(r) in kinds}
        if self.unique:
            allowed = {r for r in allowed if not self._repeats(rows, outcome, head, r)}
        return allowed or set(self.relations_known)

    def _kinds(self, rows: Sequence[Row], outcome: Outcome, head: int) -> set[str]:
        node, new = rows[head - 1].index, outcome[0] != "node"
        kinds = {"null"} if head == 1 and new else set()
        if self._virtual(rows) and head == 1:
            return kinds | {"top"}
        edges = set() if self.task == "amr" or new else self._edges(rows)
        if (node, outcome[1]) not in edges:
            kinds.add("plain")
        if (outcome[1], node) not in edges:
            kinds.add("reversed")
        return kinds

    def _ucca_kinds(self, rows: Sequence[Row], outcome: Outcome, head: int) -> set[str]:
        if below("ucca", rows[head - 1]) == "words":
            return {"phrase"}
        copied = outcome[0] == "node"
        placed = copied and outcome[1] not in self._waiting(rows)
        kinds = {"secondary"} if placed else {"plain"}
        if not self._tight(rows):
            kinds.add("remote")
        if outcome[0] == "word":
            kinds.add("terminal")
        if head == 1 and outcome[0] == "label":
            kinds.add("null")
        return kinds

    def _repeats(self, rows: Sequence[Row], outcome: Outcome, head: int, relation: str) -> bool:
        """Say whether a node would get a core role that it has already."""
        roles = set()
        new = Row("", int(outcome[1]) if outcome[0] == "node" else len(rows) + 1, head, relation)
        for row in rows[1:]:
            roles.add(self._role(rows, row))
        role = self._role(rows, new)
        return bool(re.fullmatch(r"ARG\d+", role[1])) and role in roles

    def _role(self, rows: Sequence[Row], row: Row) -> tuple[int, str]:
        name = edge_label(row.relation)[0]
        backwards = kind_of(row.relation) == "reversed"
        return (row.index if backwards else rows[row.head - 1].index), name
