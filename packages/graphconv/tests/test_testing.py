"""Every oddity that real treebanks have, and some that they do not, is reachable."""

from collections import Counter
from collections.abc import Callable

import networkx
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from graphconv import Graph, Node, linkage_units, to_arborescence
from graphconv.frameworks import FRAMEWORKS
from graphconv.graph import attribute, split_categories
from graphconv.testing import arborescences, graphs

Predicate = Callable[[Graph], bool]


def components(graph: Graph) -> list[set[str]]:
    return [*networkx.weakly_connected_components(graph.to_networkx())]


def node(graph: Graph, node_id: str) -> Node:
    return next(node for node in graph.nodes if node.id == node_id)


def is_cyclic(graph: Graph) -> bool:
    return any(
        len(part) > 1 for part in networkx.strongly_connected_components(graph.to_networkx())
    )


def has_copy_before_primary(graph: Graph) -> bool:
    rows = to_arborescence(graph).rows
    heads = {row.head for row in rows}
    return any(number in heads and row.index != number for number, row in enumerate(rows, start=1))


def is_discontiguous(graph: Graph) -> bool:
    return any(
        max(unit.anchors) - min(unit.anchors) >= len(unit.anchors)
        for unit in graph.nodes
        if unit.anchors
    )


def has_two_parents(graph: Graph) -> bool:
    parents = Counter(edge.target for edge in graph.edges if not edge.remote)
    return max(parents.values(), default=0) > 1


def is_detached(graph: Graph) -> bool:
    children = {edge.target for edge in graph.edges if not edge.remote}
    loose = {unit.id for unit in graph.nodes} - children - {*graph.tops, *linkage_units(graph)}
    return bool(loose)


def has_words_and_children(graph: Graph) -> bool:
    return any(node(graph, edge.source).anchors for edge in graph.edges)


def is_terminal(unit: Node) -> bool:
    return bool(attribute(unit.attributes, "terminal"))


def has_remote_terminal(graph: Graph) -> bool:
    return any(is_terminal(node(graph, edge.target)) and edge.remote for edge in graph.edges)


ANY: dict[str, Predicate] = {
    "no top": lambda g: bool(g.nodes) and not g.tops,
    "several tops": lambda g: len(g.tops) > 1,
    "top with incoming edges": lambda g: any(e.target in g.tops for e in g.edges),
    "self-loop": lambda g: any(e.source == e.target for e in g.edges),
    "parallel edges": lambda g: len({e[:2] for e in g.edges}) < len(g.edges),
    "equal edges": lambda g: len({e[:4] for e in g.edges}) < len(g.edges),
    "cycle": is_cyclic,
    "unconnected parts": lambda g: sorted(map(len, components(g)))[-2:-1] > [1],
    "single node apart": lambda g: len(g.nodes) > 1 and min(map(len, components(g))) == 1,
    "label ends in -of": lambda g: any(e.label.endswith("-of") for e in g.edges),
    "label is called null": lambda g: any(e.label == "null" for e in g.edges),
    "label with quotes": lambda g: any('"' in e.label for e in g.edges),
    "label not in ASCII": lambda g: any(not e.label.isascii() for e in g.edges),
    "empty label": lambda g: any(not e.label for e in g.edges),
    "attributes with structure": lambda g: any(type(v) in (list, dict) for _, v in g.metadata),
    "no tokens": lambda g: bool(g.nodes) and not g.tokens,
}
NO_UNITS: dict[str, Predicate] = {
    "empty graph": lambda g: not g.nodes,
    "cycle through the top": lambda g: is_cyclic(g) and any(e.target in g.tops for e in g.edges),
}
AMR: dict[str, Predicate] = {
    "constant": lambda g: any(n.constant for n in g.nodes),
    "constant as source": lambda g: any(node(g, e.source).constant for e in g.edges),
    "constant as top": lambda g: any(node(g, top).constant for top in g.tops),
    "concept like a constant": lambda g: any(n.label == "5" and not n.constant for n in g.nodes),
    "no concept": lambda g: any(n.label is None for n in g.nodes),
    "polarity to a variable": lambda g: any(
        e.label == "polarity" and not node(g, e.target).constant for e in g.edges
    ),
    "written inverted": lambda g: any(attribute(e.attributes, "inverted") for e in g.edges),
    "no layout": lambda g: len(g.edges) > 2 and not any(e.attributes for e in g.edges),
    "alignment": lambda g: any(attribute(n.attributes, "alignment") for n in g.nodes),
}
DM: dict[str, Predicate] = {
    "top without edges": lambda g: {*g.tops} > {end for e in g.edges for end in e[:2]},
    "repeated words": lambda g: len({t.form for t in g.tokens}) < len(g.nodes),
    "nodes out of order": lambda g: (
        [n.anchors for n in g.nodes] != sorted(n.anchors for n in g.nodes)
    ),
    "tops out of order": lambda g: (
        len(g.tops) > 1 and node(g, g.tops[0]).anchors > node(g, g.tops[1]).anchors
    ),
    "copy before primary": has_copy_before_primary,
    "like an SDP file": lambda g: bool(g.edges) and "ids" not in to_arborescence(g).side,
}
UCCA: dict[str, Predicate] = {
    "implicit": lambda g: any(n.implicit for n in g.nodes),
    "linkage": lambda g: bool(linkage_units(g)),
    "remote": lambda g: any(e.remote for e in g.edges),
    "remote before primary": has_copy_before_primary,
    "words and children": has_words_and_children,
    "discontiguous": is_discontiguous,
    "several categories": lambda g: any(len(split_categories(e.label)) > 1 for e in g.edges),
    "several primary parents": has_two_parents,
    "detached unit": is_detached,
    "edge to a terminal": lambda g: any(is_terminal(node(g, e.target)) for e in g.edges),
    "remote edge to a terminal": has_remote_terminal,
    "words out of order": lambda g: any([*n.anchors] != sorted(n.anchors) for n in g.nodes),
    "punctuation": lambda g: any(attribute(n.attributes, "type") == "PNCT" for n in g.nodes),
}
ANCHORED = {
    "several anchors": lambda g: any(len(n.anchors) > 1 for n in g.nodes),
    "anchors with a gap": lambda g: any(
        n.anchors and max(n.anchors) - min(n.anchors) >= len(n.anchors) for n in g.nodes
    ),
    "anchored and not": lambda g: 0 < sum(bool(n.anchors) for n in g.nodes) < len(g.nodes),
    "property": lambda g: any(n.attributes for n in g.nodes),
}
EDGE_ATTRIBUTES = {
    "member": lambda g: any(("member", True) in e.attributes for e in g.edges),
    "effective, too": lambda g: any(len(dict(e.attributes)) > 1 for e in g.edges),
}
DRG = {
    "box in a box": lambda g: any(
        node(g, e.source).label is node(g, e.target).label is None for e in g.edges
    ),
    "edge without a label": lambda g: any(not e.label for e in g.edges),
}
CASES = {
    "amr": {**ANY, **NO_UNITS, **AMR},
    "eds": ANCHORED,
    "ptg": {**ANCHORED, **EDGE_ATTRIBUTES},
    "drg": {**NO_UNITS, **EDGE_ATTRIBUTES, **DRG},
    "dm": {**ANY, **NO_UNITS, **DM},
    "ucca": {**ANY, **UCCA},
}
del CASES["dm"]["no tokens"]  # its nodes are tokens


@pytest.mark.parametrize(
    ("framework", "case"), [(framework, case) for framework in CASES for case in CASES[framework]]
)
def test_every_case_is_reachable(framework: str, case: str) -> None:
    search = settings(max_examples=3000, phases=[Phase.generate], database=None, deadline=None)
    predicate = CASES[framework][case]
    assert predicate(find(graphs(framework), predicate, settings=search))


@pytest.mark.parametrize("framework", FRAMEWORKS)
@given(data=st.data())
def test_graphs_and_arborescences_are_valid(framework: str, data: st.DataObject) -> None:
    data.draw(graphs(framework)).validate()
    data.draw(arborescences(framework)).validate()
