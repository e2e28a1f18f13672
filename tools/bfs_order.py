"""Count the graphs whose tree a literal reading of the paper's section 3.1 changes.

    python tools/bfs_order.py FILE...

Literally, breadth-first search over the arborescence begins anew after every edge that is reversed.
graphconv goes through the levels once, and takes the nodes of a level in the order of discovery.
"""

from __future__ import annotations

import sys
from collections import deque
from unittest.mock import patch

import graphconv
from graphconv.cliutil import table
from graphconv.conversion import to_arborescence
from graphconv.conversion.spanning import NO_EDGE, UNVISITED, Arc, Arcs, _descend
from graphconv.graph import Graph


def literal_span(root: int, arcs: Arcs, unvisited: int) -> int:
    """Do what :func:`graphconv.conversion.spanning.span` does, as the paper puts it."""
    arcs.parent[root] = NO_EDGE
    unvisited -= 1 + _descend(root, [[root]], 0, arcs)
    while unvisited and (found := _first_unused(root, arcs)) is not None:
        node, arc = found
        source, _, number = arc
        arcs.parent[source] = number
        arcs.turned.append(number)
        arcs.out[node].append(arc)
        arcs.sort(arcs.out[node])
        arcs.out[source] = [other for other in arcs.out[source] if other[2] != number]
        unvisited -= 1 + _descend(source, [[source]], 0, arcs)
    return unvisited


def _first_unused(root: int, arcs: Arcs) -> tuple[int, Arc] | None:
    """Return the first node with an unused incoming edge, and that edge."""
    incoming, queue = arcs.incoming(), deque([root])
    while queue:
        node = queue.popleft()
        for arc in incoming[node]:
            if arcs.parent[arc[0]] == UNVISITED:
                return node, arc
        queue.extend(t for t, _, k in arcs.out[node] if arcs.parent[t] == k and t != root)
    return None


def is_changed(graph: Graph) -> bool:
    """Say whether the literal reading gives another tree."""
    own = to_arborescence(graph).rows
    with (
        patch("graphconv.conversion.bilexical.span", literal_span),
        patch("graphconv.conversion.amr.span", literal_span),
        patch("graphconv.conversion.spanning.span", literal_span),
    ):
        return to_arborescence(graph).rows != own


def main() -> None:
    rows: list[tuple[object, ...]] = [("file", "graphs", "changed", "the first of them")]
    for path in sys.argv[1:]:
        graphs = list(graphconv.read(path))
        changed = [graph.id for graph in graphs if is_changed(graph)]
        rows.append((path, len(graphs), len(changed), " ".join(changed[:3])))
    print(table(rows))


if __name__ == "__main__":
    main()
