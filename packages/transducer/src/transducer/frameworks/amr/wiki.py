"""Wikipedia's page of named entities (``:wiki``): removed in training, looked up afterwards.

The training data's own table comes first, by entity type and name; then the gazetteer, if the model
has one; then the table by name alone; then a wikifier, such as DBpedia Spotlight, if there is one;
else the name itself ("New_York") or ``-``, whichever is what such entities have more often, where
the training data say the page at all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from graphconv.graph import Edge, Graph, Node
from transducer.frameworks.amr.gazetteer import NO_PAGE, Gazetteer
from transducer.frameworks.amr.structure import WIKI, fresh_constants, names, page_constants

# The key of a rate over all types, for types that were never seen.
_ANY = ""
_USUAL = 0.5

# What was seen less often says nothing of a type of its own.
_MIN_COUNT = 3

_NO_GAZETTEER = Gazetteer({})

Wikifier = Callable[[str, str], str | None]
"""From (sentence, name) to the title of a Wikipedia page, or None."""


class KnownPages(NamedTuple):
    """What the training data says of pages."""

    table: Mapping[str, str]
    """"type name" and "name" -> the most frequent page, as written, or "" for none."""
    rates: Mapping[str, float]
    """Type of entity -> how often it has a page at all."""
    titles: Mapping[str, float]
    """Type of entity -> how often its page is the name itself, of those that are it or ``-``."""
    gazetteer: Gazetteer = _NO_GAZETTEER
    """Pages of well-known names."""


def learn_wiki(graphs: Iterable[Graph], gazetteer: Gazetteer = _NO_GAZETTEER) -> KnownPages:
    """Count the pages of named entities.

    What an unknown name has is learned from names that the *gazetteer* does not know, either: well
    known persons have a page of their name, others have none.
    """
    pages: dict[str, Counter[str]] = defaultdict(Counter)
    totals: Counter[str] = Counter()
    paged: Counter[str] = Counter()
    pageless: Counter[str] = Counter()
    titled: Counter[str] = Counter()
    for graph in graphs:
        found = page_constants(graph)
        for entity, _, name in names(graph):
            page = found.get(entity.id, "")
            well_known = gazetteer.readings([word.strip('"') for word in name])
            for key in _keys(entity, name):
                pages[key][page] += 1
            for kind in (entity.label or "", _ANY):
                totals[kind] += 1
                paged[kind] += bool(page)
                if not well_known:
                    pageless[kind] += page == NO_PAGE
                    titled[kind] += page == _title(name)
    table = {
        key: min(counter, key=lambda page: (-counter[page], page))
        for key, counter in sorted(pages.items())
    }
    known = {kind: titled[kind] + pageless[kind] for kind in sorted(totals)}
    return KnownPages(
        table,
        {kind: paged[kind] / totals[kind] for kind in sorted(totals)},
        {kind: titled[kind] / seen for kind, seen in known.items() if seen >= _MIN_COUNT},
    )


def remove_wiki(graph: Graph) -> Graph:
    """Remove all pages that are constants."""
    constants = {node.id for node in graph.nodes if node.constant}
    dropped = {
        edge.target for edge in graph.edges if edge.label == WIKI and edge.target in constants
    }
    return replace(
        graph,
        nodes=tuple(node for node in graph.nodes if node.id not in dropped),
        edges=tuple(edge for edge in graph.edges if edge.target not in dropped),
    )


def restore_wiki(graph: Graph, known: KnownPages, wikifier: Wikifier | None = None) -> Graph:
    """Add the page to each named entity that has none, where the training data would have one."""
    sentence = " ".join(token.form for token in graph.tokens)
    ids = fresh_constants(graph)
    present = page_constants(graph)
    nodes: list[Node] = []
    pages: dict[str, Edge] = {}
    for entity, _, name in names(graph):
        if entity.id in present or entity.id in pages or entity.constant:
            continue
        page = _known(known, entity, name)
        if page is None:
            page = ""
            if _of_type(known.rates, entity) >= _USUAL:
                titled = _of_type(known.titles, entity) >= _USUAL
                page = _asked(sentence, name, wikifier) or (_title(name) if titled else NO_PAGE)
        if page:
            nodes.append(Node(next(ids), page, constant=True))
            pages[entity.id] = Edge(entity.id, nodes[-1].id, WIKI)
    edges: list[Edge] = []
    for edge in graph.edges:  # AMR writes the page before the name
        if edge.label == "name" and edge.source in pages:
            edges.append(pages.pop(edge.source))
        edges.append(edge)
    return replace(graph, nodes=graph.nodes + tuple(nodes), edges=tuple(edges))


def _known(known: KnownPages, entity: Node, name: tuple[str, ...]) -> str | None:
    """Return the page that the training data or the gazetteer has, "" for none."""
    typed, untyped = _keys(entity, name)
    page = known.table.get(typed)
    if page is None:
        page = known.gazetteer.page(entity.label or "", [word.strip('"') for word in name])
    return known.table.get(untyped) if page is None else page


def _of_type(rates: Mapping[str, float], entity: Node) -> float:
    return rates.get(entity.label or "", rates.get(_ANY, 0.0))


def _asked(sentence: str, name: tuple[str, ...], wikifier: Wikifier | None) -> str | None:
    plain = " ".join(part.strip('"') for part in name)
    title = wikifier(sentence, plain) if wikifier else None
    if title is None:
        return None
    escaped = title.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _title(name: tuple[str, ...]) -> str:
    """Return the page that has the name itself."""
    return '"' + "_".join(part.strip('"') for part in name) + '"'


def _keys(entity: Node, name: tuple[str, ...]) -> tuple[str, str]:
    joined = " ".join(name)
    return f"{entity.label} {joined}", joined
