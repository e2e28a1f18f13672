"""What matched and what did not, in one pair of graphs: as text and as marks for a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, cast

from evaltools.amr_triples import PROFILES, TOP, Term, Triple, Triples
from evaltools.items import Item
from evaltools.mrp.items import items as mrp_items
from evaltools.mrp.items import triples as mrp_triples
from evaltools.smatch.alignment import Settings, align
from evaltools.smatch.problem import FREE
from graphconv.draw import EXTRA, MATCH, MISSING, Highlight
from graphconv.graph import Graph


class Difference(NamedTuple):
    """The items of two graphs by what became of them."""

    matched: list[str]
    missing: list[str]
    extra: list[str]
    gold: Highlight
    pred: Highlight

    def text(self) -> str:
        """Return what is missing (-) and what is extra (+), one item a line."""
        lines = [f"  - {item}" for item in self.missing] + [f"  + {item}" for item in self.extra]
        return "\n".join([f"  {len(self.matched)} items match", *lines])


def difference(gold: Graph, pred: Graph, metric: str, options: dict[str, Any]) -> Difference:
    """Compare two graphs item by item, as *metric* does (UCCA: before normalization)."""
    items = _ITEMS[metric](gold, pred, options)
    counts = [Counter(item.key for item in side) for side in items]
    common = counts[0] & counts[1]
    gold_states, gold_marks = _marked(items[0], common.copy(), MISSING)
    pred_states, pred_marks = _marked(items[1], common.copy(), EXTRA)
    return Difference(
        [text for text, state in gold_states if state == MATCH],
        [text for text, state in gold_states if state != MATCH],
        [text for text, state in pred_states if state != MATCH],
        gold_marks,
        pred_marks,
    )


def _marked(
    items: Iterable[Item], common: Counter[Hashable], wrong: str
) -> tuple[list[tuple[str, str]], Highlight]:
    states: list[tuple[str, str]] = []
    nodes: dict[str, str] = {}
    edges: dict[int, str] = {}
    for item in items:
        state = MATCH if common[item.key] else wrong
        common[item.key] -= state == MATCH
        states.append((item.text, state))
        if item.node is not None:
            nodes[item.node] = state
        if item.edge is not None:
            edges[item.edge] = state
    return states, Highlight(nodes, edges)


def _smatch_items(gold: Graph, pred: Graph, options: dict[str, Any]) -> list[list[Item]]:
    triples_of = PROFILES[options.get("profile", "smatch-1.0.4")]
    settings = Settings(options.get("restarts"), options.get("seed", 0), options.get("time_limit"))
    columns = align(triples_of(gold), triples_of(pred), settings).columns
    items = [[item for _, item in _triple_items(graph, triples_of)] for graph in (gold, pred)]
    return [_renamed(items[0], columns), items[1]]


def _mrp_items(gold: Graph, pred: Graph, options: dict[str, Any]) -> list[list[Item]]:
    settings = Settings(time_limit=options.get("time_limit"))
    columns = align(mrp_triples(gold), mrp_triples(pred), settings).columns
    return [_renamed(mrp_items(gold), columns), mrp_items(pred)]


def _renamed(items: Iterable[Item], columns: list[int]) -> list[Item]:
    """Put the predicted variables, None where there is none, in the place of gold's."""

    def image(term: Term) -> Hashable:
        if isinstance(term, str):
            return term
        return None if columns[term] == FREE else columns[term]

    return [
        item._replace(key=(image(source), role, image(target)))
        for item in items
        for source, role, target in [cast("Triple", item.key)]
    ]


def _triple_items(
    graph: Graph, triples_of: Callable[[Graph], Triples]
) -> Iterator[tuple[Triple, Item]]:
    """Yield the triple of each node, edge and top; what a profile leaves out has none."""
    names = {node.id: node.label or node.id for node in graph.nodes}
    everything = triples_of(graph)
    bare = triples_of(replace(graph, edges=(), tops=())).items
    for triple in sorted(bare & everything.items, key=str):
        node_id = everything.variables[int(triple[0])]
        yield triple, Item(triple, f"{names[node_id]}", node=node_id)
    for number, edge in enumerate(graph.edges):
        alone = triples_of(replace(graph, edges=(edge,), tops=())).items - bare
        for triple in alone & everything.items:
            text = f"{names[edge.source]} :{edge.label} {names[edge.target]}"
            yield triple, Item(triple, text, edge=number)
    for triple in everything.items:
        if triple[1] == TOP:
            yield triple, Item(triple, f"top {names[graph.tops[0]]}")


def _sdp_items(gold: Graph, pred: Graph, options: dict[str, Any]) -> list[list[Item]]:  # noqa: ARG001
    return [list(_bilexical_items(graph)) for graph in (gold, pred)]


def _bilexical_items(graph: Graph) -> Iterator[Item]:
    anchors = {node.id: node.anchors for node in graph.nodes}
    words = {node.id: _words(graph, node.anchors) for node in graph.nodes}
    for top in graph.tops:
        yield Item(anchors[top], f"top {words[top]}", node=top)
    for number, (source, target, label, *_) in enumerate(graph.edges):
        key = anchors[source], anchors[target], label
        yield Item(key, f"{words[source]} --{label}--> {words[target]}", edge=number)


def _ucca_items(gold: Graph, pred: Graph, options: dict[str, Any]) -> list[list[Item]]:  # noqa: ARG001
    return [list(_unit_items(graph)) for graph in (gold, pred)]


def _unit_items(graph: Graph) -> Iterator[Item]:
    yields = _yields(graph)
    for number, edge in enumerate(graph.edges):
        span = tuple(sorted(yields[edge.target]))
        remote = "*" if edge.remote else ""
        key = span, edge.label, edge.remote
        node = None if edge.remote else edge.target
        yield Item(key, f"{edge.label}{remote} [{_words(graph, span)}]", node, number)


def _yields(graph: Graph) -> dict[str, frozenset[int]]:
    """Return the token positions below each unit, remote edges not followed."""
    children: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    parents = Counter(edge.target for edge in graph.edges if not edge.remote)
    for edge in graph.edges:
        if not edge.remote:
            children[edge.source].append(edge.target)
    order = [node.id for node in graph.nodes if not parents[node.id]]
    for node_id in order:  # grows: parents before children
        for child in children[node_id]:
            parents[child] -= 1
            if not parents[child]:
                order.append(child)
    found = {node.id: frozenset(node.anchors) for node in graph.nodes}
    for node_id in reversed(order):
        found[node_id] = found[node_id].union(*(found[child] for child in children[node_id]))
    return found


def _words(graph: Graph, positions: Iterable[int]) -> str:
    return " ".join(graph.tokens[position].form for position in positions)


_ITEMS: dict[str, Callable[[Graph, Graph, dict[str, Any]], list[list[Item]]]] = {
    "smatch": _smatch_items,
    "sdp": _sdp_items,
    "ucca": _ucca_items,
    "mrp": _mrp_items,
}
