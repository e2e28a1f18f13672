"""EDS and PTG: AMR's rows, and below the first row of each node one for every word it stands for.

So a node may have no word, one or several, in any order, and relations alone bring them back. A row
of a word is called by the word, and its relation is ``Terminal``:

>>> from graphconv.graph import Edge, Node, Token
>>> tokens = Token("Dogs"), Token("have"), Token("barked")
>>> nodes = Node("0", "bark", (1, 2)), Node("1", "dog", (0,)), Node("2", "#Gen")
>>> edges = Edge("0", "1", "ACT"), Edge("0", "2", "PAT")
>>> for row in build(Graph("1", "ptg", tokens, nodes, edges, ("0",))).rows:
...     print(*row)
bark 1 0 root ()
have 2 1 Terminal (1,)
barked 3 1 Terminal (2,)
dog 4 1 ACT ()
Dogs 5 4 Terminal (0,)
#Gen 6 1 PAT ()
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from graphconv.arborescence import Row
from graphconv.conversion import amr
from graphconv.conversion.labels import TERMINAL_CHILD, VIRTUAL
from graphconv.conversion.side import Bare, Built
from graphconv.graph import Graph


def build(graph: Graph, *, unit_labels: bool = True) -> Built:
    """Return the rows of *graph*, and the ids of its nodes in the order of their first rows."""
    built = amr.build(graph, unit_labels=unit_labels)
    words = {node.id: node.anchors for node in graph.nodes}
    ids = iter(built.ids)
    rows: list[Row] = []
    number = [0]
    """For each row without words its number here."""
    for old, row in enumerate(built.rows, start=1):
        number.append(len(rows) + 1)
        rows.append(Row(row.label, number[row.index], number[row.head], row.relation))
        if row.index != old or _is_virtual(old, row):
            continue
        for position in words[next(ids)]:
            form = graph.tokens[position].form
            rows.append(Row(form, len(rows) + 1, number[old], TERMINAL_CHILD, (position,)))
    return Built(tuple(rows), built.ids)


def read(rows: Sequence[Row], ids: Sequence[str] | None, framework: str) -> Bare:
    """Return the graph that the rows alone describe."""
    plain, _, words = _without_words(rows)
    bare = amr.read(plain, ids, framework)
    firsts = [n for n, row in enumerate(plain, start=1) if row.index == n]
    if plain and _is_virtual(1, plain[0]):
        firsts = firsts[1:]
    nodes = [
        node._replace(anchors=tuple(words[first])) if words[first] else node
        for node, first in zip(bare.nodes, firsts, strict=True)
    ]
    return bare._replace(nodes=tuple(nodes))


def fresh_names(rows: Sequence[Row]) -> dict[int, str]:
    """Return the id that the node of each index has in the graph of the rows alone."""
    plain, places, _ = _without_words(rows)
    return {places[index - 1]: name for index, name in amr.fresh_names(plain).items()}


def _without_words(
    rows: Sequence[Row],
) -> tuple[list[Row], list[int], dict[int, list[int]]]:
    """Return AMR's rows, the number of each in *rows*, and the words below each."""
    plain: list[Row] = []
    places: list[int] = []
    number = {0: 0}
    words: dict[int, list[int]] = defaultdict(list)
    for place, (label, index, head, relation, anchors) in enumerate(rows, start=1):
        if relation == TERMINAL_CHILD:
            words[number[head]] += anchors
            continue
        number[place] = len(plain) + 1
        places.append(place)
        plain.append(Row(label, number[index], number[head], relation))
    return plain, places, words


def _is_virtual(number: int, row: Row) -> bool:
    return number == 1 and row.label == VIRTUAL
