"""Orders and parts of directed graphs, for nodes of any kind.

>>> edges = [("a", "b"), ("b", "c"), ("a", "c"), ("d", "e"), ("e", "d")]
>>> parents_first("abcde", edges)
['a', 'b', 'c']
>>> has_cycle("abcde", edges), has_cycle("abc", edges[:3])
(True, False)
>>> components("abcdef", edges)
[['a', 'b', 'c'], ['d', 'e'], ['f']]
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def parents_first(nodes: Iterable[T], edges: Iterable[tuple[T, T]]) -> list[T]:
    """Return the nodes, each after all that lead to it (Kahn's algorithm).

    Those in a cycle, or below one, have no such place and are left out. Of several orders it is the
    one that takes the nodes as they are given, layer by layer.
    """
    waiting = dict.fromkeys(nodes, 0)
    below: dict[T, list[T]] = {node: [] for node in waiting}
    for source, target in edges:
        below[source].append(target)
        waiting[target] += 1
    order = [node for node, count in waiting.items() if not count]
    for node in order:  # grows while it is read
        for target in below[node]:
            waiting[target] -= 1
            if not waiting[target]:
                order.append(target)
    return order


def has_cycle(nodes: Iterable[T], edges: Iterable[tuple[T, T]]) -> bool:
    """Say whether some node leads back to itself."""
    distinct = dict.fromkeys(nodes)
    return len(parents_first(distinct, edges)) < len(distinct)


def components(nodes: Iterable[T], edges: Iterable[tuple[T, T]]) -> list[list[T]]:
    """Return the parts between which no edge leads, in whatever direction (weak components)."""
    neighbors: dict[T, list[T]] = {node: [] for node in nodes}
    for source, target in edges:
        neighbors[source].append(target)
        neighbors[target].append(source)
    found: list[list[T]] = []
    seen: set[T] = set()
    for start in neighbors:
        if start in seen:
            continue
        seen.add(start)
        part = [start]
        for node in part:  # grows while it is read
            new = [other for other in dict.fromkeys(neighbors[node]) if other not in seen]
            seen.update(new)
            part += new
        found.append(part)
    return found
