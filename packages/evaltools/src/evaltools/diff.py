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
    pairs: tuple[tuple[str, str], ...] = ()
    """The ids of gold and predicted nodes that stand for each other."""
    certified: bool = True
    """Whether no other pairs can match more."""

    def text(self) -> str:
        """Return what is missing (-) and what is extra (+), one item a line."""
        lines = [f"  - {item}" for item in self.missing] + [f"  + {item}" for item in self.extra]
        return "\n".join([f"  {len(self.matched)} items match", *lines])


def difference(gold: Graph, pred: Graph, metric: str, options: dict[str, Any]) -> Difference:
    """Compare two graphs item by item, as *metric* does (UCCA: before normalization)."""
    items, pairs, certified = _ITEMS[metric](gold, pred, options)
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
        tuple(pairs),
        certified,
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


class _Items(NamedTuple):
    """The items of both graphs, which of their nodes are pairs, and whether that is proved best."""

    items: tuple[list[Item], list[Item]]
    pairs: list[tuple[str, str]]
    certified: bool = True


def _smatch_items(gold: Graph, pred: Graph, options: dict[str, Any]) -> _Items:
    triples_of = PROFILES[options.get("profile", "smatch-1.0.4")]
    settings = Settings(options.get("restarts"), options.get("seed", 0), options.get("time_limit"))
    items = (
        [item for _, item in _triple_items(gold, triples_of)],
        [item for _, item in _triple_items(pred, triples_of)],
    )
    return _aligned(triples_of(gold), triples_of(pred), settings, items)


def _mrp_items(gold: Graph, pred: Graph, options: dict[str, Any]) -> _Items:
    settings = Settings(time_limit=options.get("time_limit"))
    items = mrp_items(gold), mrp_items(pred)
    return _aligned(mrp_triples(gold), mrp_triples(pred), settings, items)


def _aligned(
    gold: Triples, pred: Triples, settings: Settings, items: tuple[list[Item], list[Item]]
) -> _Items:
    """Align two graphs, and name gold's variables in its items as the prediction does."""
    found = align(gold, pred, settings)
    pairs = [
        (name, pred.variables[column])
        for name, column in zip(gold.variables, found.columns, strict=True)
        if column != FREE
    ]
    renamed = _renamed(items[0], found.columns)
    return _Items((renamed, items[1]), pairs, found.counts.match == found.bound)


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


def _sdp_items(gold: Graph, pred: Graph, options: dict[str, Any]) -> _Items:  # noqa: ARG001
    words = [{node.id: node.anchors for node in graph.nodes} for graph in (gold, pred)]
    items = list(_bilexical_items(gold)), list(_bilexical_items(pred))
    return _Items(items, _pairs(words[0], words[1]))


def _pairs(gold: dict[str, Any], pred: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the nodes that stand for the same words; several of the same are pairs by order."""
    waiting: dict[Hashable, list[str]] = {}
    for node_id, words in pred.items():
        waiting.setdefault(words, []).append(node_id)
    return [
        (node_id, waiting[words].pop(0)) for node_id, words in gold.items() if waiting.get(words)
    ]


def _bilexical_items(graph: Graph) -> Iterator[Item]:
    anchors = {node.id: node.anchors for node in graph.nodes}
    words = {node.id: _words(graph, node.anchors) for node in graph.nodes}
    for top in graph.tops:
        yield Item(anchors[top], f"top {words[top]}", node=top)
    for number, (source, target, label, *_) in enumerate(graph.edges):
        key = anchors[source], anchors[target], label
        yield Item(key, f"{words[source]} --{label}--> {words[target]}", edge=number)


def _ucca_items(gold: Graph, pred: Graph, options: dict[str, Any]) -> _Items:  # noqa: ARG001
    words = [{k: v for k, v in _yields(graph).items() if v} for graph in (gold, pred)]
    items = list(_unit_items(gold)), list(_unit_items(pred))
    return _Items(items, _pairs(words[0], words[1]))


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


_ITEMS: dict[str, Callable[[Graph, Graph, dict[str, Any]], _Items]] = {
    "smatch": _smatch_items,
    "sdp": _sdp_items,
    "ucca": _ucca_items,
    "mrp": _mrp_items,
}
