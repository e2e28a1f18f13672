"""Wikipedia links of named entities: removed in training, looked up afterwards.

The training data's own table comes first, by entity type and name, then by name; then a linker,
such as DBpedia Spotlight, if there is one; else ``-``, where the training data have links at all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from graphconv.graph import Edge, Graph, Node
from transducer.amr.structure import fresh_constants, names

WIKI = "wiki"
UNLINKED = "-"
# The key of a rate over all types, for types that were never seen.
_ANY = ""

Linker = Callable[[str, str], str | None]
"""From (sentence, name) to the title of a Wikipedia page, or None."""


def learn_wiki(graphs: Iterable[Graph]) -> tuple[dict[str, str], dict[str, float]]:
    """Return the most frequent link per name, and how often a type of entity has a link at all.

    Keys of the first are "type name" and "name"; the link is a constant as written, or "" for none.
    """
    links: dict[str, Counter[str]] = defaultdict(Counter)
    totals: Counter[str] = Counter()
    linked: Counter[str] = Counter()
    for graph in graphs:
        found = _links(graph)
        for entity, _, name in names(graph):
            link = found.get(entity.id, "")
            for key in _keys(entity, name):
                links[key][link] += 1
            for kind in (entity.label or "", _ANY):
                totals[kind] += 1
                linked[kind] += bool(link)
    table = {
        key: min(counter, key=lambda link: (-counter[link], link))
        for key, counter in sorted(links.items())
    }
    return table, {kind: linked[kind] / totals[kind] for kind in sorted(totals)}


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


def restore_wiki(
    graph: Graph,
    table: Mapping[str, str],
    rates: Mapping[str, float],
    linker: Linker | None = None,
) -> Graph:
    """Add a link to each named entity that has none, where the training data would have one."""
    sentence = " ".join(token.form for token in graph.tokens)
    ids = fresh_constants(graph)
    present = _links(graph)
    nodes: list[Node] = []
    links: dict[str, Edge] = {}
    for entity, _, name in names(graph):
        if entity.id in present or entity.id in links or entity.constant:
            continue
        link = next((table[key] for key in _keys(entity, name) if key in table), None)
        if link is None:
            usual = rates.get(entity.label or "", rates.get(_ANY, 0.0))
            link = _linked(sentence, name, linker) if usual >= 0.5 else ""
        if link:
            nodes.append(Node(next(ids), link, constant=True))
            links[entity.id] = Edge(entity.id, nodes[-1].id, WIKI)
    edges: list[Edge] = []
    for edge in graph.edges:  # AMR writes the link before the name
        if edge.label == "name" and edge.source in links:
            edges.append(links.pop(edge.source))
        edges.append(edge)
    return replace(graph, nodes=graph.nodes + tuple(nodes), edges=tuple(edges))


def _linked(sentence: str, name: tuple[str, ...], linker: Linker | None) -> str:
    plain = " ".join(part.strip('"') for part in name)
    title = linker(sentence, plain) if linker else None
    if title is None:
        return UNLINKED
    escaped = title.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


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
