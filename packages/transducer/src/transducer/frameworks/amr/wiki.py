"""Wikipedia links of named entities: removed in training, looked up afterwards.

The training data's own table comes first, by entity type and name, then by name; then a linker,
such as DBpedia Spotlight, if there is one; else the name itself ("New_York") or ``-``, whichever is
the link of such entities more often, where the training data have links at all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from graphconv.graph import Edge, Graph, Node
from transducer.frameworks.amr.structure import fresh_constants, names

WIKI = "wiki"
UNLINKED = "-"
# The key of a rate over all types, for types that were never seen.
_ANY = ""
_USUAL = 0.5

# What was seen less often says nothing of a type of its own.
_MIN_COUNT = 3

Linker = Callable[[str, str], str | None]
"""From (sentence, name) to the title of a Wikipedia page, or None."""


class WikiLinks(NamedTuple):
    """What the training data says of links."""

    table: Mapping[str, str]
    """"type name" and "name" -> the most frequent link, as written, or "" for none."""
    rates: Mapping[str, float]
    """Type of entity -> how often it has a link at all."""
    titles: Mapping[str, float]
    """Type of entity -> how often its link is the name itself, of those that are it or ``-``."""


def learn_wiki(graphs: Iterable[Graph]) -> WikiLinks:
    """Count the links of named entities."""
    links: dict[str, Counter[str]] = defaultdict(Counter)
    totals: Counter[str] = Counter()
    linked: Counter[str] = Counter()
    unlinked: Counter[str] = Counter()
    titled: Counter[str] = Counter()
    for graph in graphs:
        found = _links(graph)
        for entity, _, name in names(graph):
            link = found.get(entity.id, "")
            for key in _keys(entity, name):
                links[key][link] += 1
            for kind in (entity.label or "", _ANY):
                totals[kind] += 1
                linked[kind] += bool(link)
                unlinked[kind] += link == UNLINKED
                titled[kind] += link == _title(name)
    table = {
        key: min(counter, key=lambda link: (-counter[link], link))
        for key, counter in sorted(links.items())
    }
    known = {kind: titled[kind] + unlinked[kind] for kind in sorted(totals)}
    return WikiLinks(
        table,
        {kind: linked[kind] / totals[kind] for kind in sorted(totals)},
        {kind: titled[kind] / seen for kind, seen in known.items() if seen >= _MIN_COUNT},
    )


def remove_wiki(graph: Graph) -> Graph:
    """Remove all links to constants."""
    constants = {node.id for node in graph.nodes if node.constant}
    dropped = {
        edge.target for edge in graph.edges if edge.label == WIKI and edge.target in constants
    }
    return replace(
        graph,
        nodes=tuple(node for node in graph.nodes if node.id not in dropped),
        edges=tuple(edge for edge in graph.edges if edge.target not in dropped),
    )


def restore_wiki(graph: Graph, known: WikiLinks, linker: Linker | None = None) -> Graph:
    """Add a link to each named entity that has none, where the training data would have one."""
    sentence = " ".join(token.form for token in graph.tokens)
    ids = fresh_constants(graph)
    present = _links(graph)
    nodes: list[Node] = []
    links: dict[str, Edge] = {}
    for entity, _, name in names(graph):
        if entity.id in present or entity.id in links or entity.constant:
            continue
        link = next((known.table[key] for key in _keys(entity, name) if key in known.table), None)
        if link is None:
            link = ""
            if _of_type(known.rates, entity) >= _USUAL:
                titled = _of_type(known.titles, entity) >= _USUAL
                link = _linked(sentence, name, linker) or (_title(name) if titled else UNLINKED)
        if link:
            nodes.append(Node(next(ids), link, constant=True))
            links[entity.id] = Edge(entity.id, nodes[-1].id, WIKI)
    edges: list[Edge] = []
    for edge in graph.edges:  # AMR writes the link before the name
        if edge.label == "name" and edge.source in links:
            edges.append(links.pop(edge.source))
        edges.append(edge)
    return replace(graph, nodes=graph.nodes + tuple(nodes), edges=tuple(edges))


def _of_type(rates: Mapping[str, float], entity: Node) -> float:
    return rates.get(entity.label or "", rates.get(_ANY, 0.0))


def _linked(sentence: str, name: tuple[str, ...], linker: Linker | None) -> str | None:
    plain = " ".join(part.strip('"') for part in name)
    title = linker(sentence, plain) if linker else None
    if title is None:
        return None
    escaped = title.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _title(name: tuple[str, ...]) -> str:
    """Return the link that a name itself is."""
    return '"' + "_".join(part.strip('"') for part in name) + '"'


def _links(graph: Graph) -> dict[str, str]:
    constants = {node.id: node.label or "" for node in graph.nodes if node.constant}
    return {
        edge.source: constants[edge.target]
        for edge in graph.edges
        if edge.label == WIKI and edge.target in constants
    }


def _keys(entity: Node, name: tuple[str, ...]) -> tuple[str, str]:
    joined = " ".join(name)
    return f"{entity.label} {joined}", joined
