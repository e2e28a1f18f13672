"""The items of Smatch: its triples, each with the nodes and the edges that make it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import cast

from evaltools.amr_triples import INSTANCE, PROFILES, TOP, Term, Triple, Triples, origins
from evaltools.items import Item, PairedItems
from evaltools.smatch.alignment import Settings, align
from evaltools.smatch.problem import FREE
from graphconv.graph import Graph


def items(graph: Graph, *, profile: str = "smatch-1.0.4") -> list[Item]:
    """Return the triples of a graph; their keys are over the numbers of its variables."""
    names = {node.id: node.label or node.id for node in graph.nodes}
    variables = PROFILES[profile](graph).variables

    def shown(term: Term) -> str:
        return names[variables[term]] if isinstance(term, int) else term

    def text(triple: Triple, edges: set[int]) -> str:
        source, role, target = triple
        if role == INSTANCE:
            return shown(source)
        if role == TOP:
            return f"top {shown(source)}"
        if len(edges) == 1:
            edge = graph.edges[min(edges)]
            return f"{names[edge.source]} :{edge.label} {names[edge.target]}"
        return f"{shown(source)} :{role} {shown(target)}"

    return [
        Item(triple, text(triple, edges), tuple(sorted(nodes)), tuple(sorted(edges)))
        for triple, (nodes, edges) in origins(graph, profile).items()
    ]


def paired_items(
    gold: Graph,
    pred: Graph,
    *,
    profile: str = "smatch-1.0.4",
    restarts: int | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    fine_grained: bool = False,  # noqa: ARG001 - an option of the score
) -> PairedItems:
    """Return the triples of both graphs, gold's with the variables of the prediction."""
    sides = items(gold, profile=profile), items(pred, profile=profile)
    triples_of = PROFILES[profile]
    return aligned(triples_of(gold), triples_of(pred), Settings(restarts, seed, time_limit), sides)


def aligned(
    gold: Triples, pred: Triples, settings: Settings, sides: tuple[list[Item], list[Item]]
) -> PairedItems:
    """Align two graphs, and name gold's variables in its items as the prediction does."""
    found = align(gold, pred, settings)
    pairs = [
        (name, pred.variables[column])
        for name, column in zip(gold.variables, found.columns, strict=True)
        if column != FREE
    ]
    certified = found.counts.match == found.bound
    return PairedItems(_renamed(sides[0], found.columns), sides[1], pairs, certified)


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
