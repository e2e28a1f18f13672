"""Count the graphs that no annotator would write, whatever their score.

``repeated core role`` is the count of the paper: a node with two outgoing edges of the same core
role (ARG0, ARG1, ...), in the true direction of the edges.

>>> from graphconv.graph import Edge, Graph, Node
>>> nodes = Node("g", "give-01"), Node("b", "boy"), Node("c", "girl")
>>> edges = Edge("g", "b", "ARG0"), Edge("g", "c", "ARG0")
>>> faults(Graph("1", "amr", nodes=nodes, edges=edges, tops=("g",)))
['repeated core role']
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

from graphconv.frameworks import BILEXICAL, FRAMEWORKS
from graphconv.graph import LINKAGE, Graph, attribute
from graphconv.topology import components, has_cycle

# ARG1 of AMR and DM, verb_ARG1 of PAS; functors of PSD may repeat (coordination).
_CORE = re.compile(r"(?:.*_)?ARG[0-9]+").fullmatch

_ALL = frozenset(FRAMEWORKS)
_LABELED = frozenset({"amr", "eds"})
_UCCA = frozenset({"ucca"})


def faults(graph: Graph) -> list[str]:
    """Return the names of the checks that *graph* fails."""
    return [
        name
        for name, (frameworks, fails) in CHECKS.items()
        if graph.framework in frameworks and fails(graph)
    ]


def count_faults(graphs: Iterable[Graph]) -> tuple[int, dict[str, list[str]]]:
    """Return the number of graphs, and for each check the ids of those that fail it."""
    number = 0
    failed: dict[str, list[str]] = {}
    for graph in graphs:
        number += 1
        for name, (frameworks, _) in CHECKS.items():
            if graph.framework in frameworks:
                failed.setdefault(name, [])
        for name in faults(graph):
            failed[name].append(graph.id)
    return number, failed


def _repeats_core_role(graph: Graph) -> bool:
    roles = Counter((edge.source, edge.label) for edge in graph.edges if _CORE(edge.label))
    return any(count > 1 for count in roles.values())


def _is_disconnected(graph: Graph) -> bool:
    return len(components((node.id for node in graph.nodes), _ends(graph))) > 1


def _is_cyclic(graph: Graph) -> bool:
    return has_cycle((node.id for node in graph.nodes), _ends(graph))


def _ends(graph: Graph) -> list[tuple[str, str]]:
    return [(edge.source, edge.target) for edge in graph.edges]


def _covered(graph: Graph) -> Counter[int]:
    return Counter(
        anchor
        for node in graph.nodes
        if not attribute(node.attributes, "terminal")
        for anchor in node.anchors
    )


def _has_childless_unit(graph: Graph) -> bool:
    parents = {edge.source for edge in graph.edges}
    return any(not (node.anchors or node.implicit or node.id in parents) for node in graph.nodes)


def _has_several_parents(graph: Graph) -> bool:
    parents = Counter(
        edge.target for edge in graph.edges if not edge.remote and edge.label not in LINKAGE
    )
    return any(count > 1 for count in parents.values())


CHECKS: dict[str, tuple[frozenset[str], Callable[[Graph], bool]]] = {
    "repeated core role": (_LABELED | BILEXICAL, _repeats_core_role),
    "disconnected": (_ALL, _is_disconnected),
    "no root": (_ALL, lambda graph: not graph.tops),
    "cyclic": (_ALL, _is_cyclic),
    "empty": (_ALL, lambda graph: not graph.nodes),
    "node without a label": (
        _LABELED,
        lambda graph: any(node.label is None for node in graph.nodes),
    ),
    "token in no unit": (_UCCA, lambda graph: len(_covered(graph)) < len(graph.tokens)),
    "token in two units": (_UCCA, lambda graph: max(_covered(graph).values(), default=0) > 1),
    "unit without content": (_UCCA, _has_childless_unit),
    "two primary parents": (_UCCA, _has_several_parents),
}
"""What is checked: for which frameworks, and the test that an invalid graph passes."""
