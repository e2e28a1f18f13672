"""UCCA passages of several sentences: split for the model, joined again afterwards.

Sentences end where the rules of :func:`split_tokens` say so, unless a unit spans the place. The
root exists in every part, with the children that it has there. What leads from one part into
another (remote edges, linkage) is written down in the first part's extras, so that joining gold
parts gives the passage back exactly, ids included; :func:`count_splits` counts it.

>>> tokens = tuple(Token(form) for form in "It began . Mr . Li ( J . R . ) left .".split())
>>> [len(part) for part in split_tokens(tokens)]
[3, 11]
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

from graphconv.graph import LINKAGE, Attributes, Edge, Graph, Node, Token, attribute
from graphconv.scores import Scores, joined
from graphconv.topology import parents_first
from transducer.text.sentences import ends_sentence

# The extra of a part: its number, and what only the passage knows.
_PART = "passage"
_WRITTEN = frozenset({"format", "categories", "terminal_categories"})
# Not the ellipsis: units of English-Wiki go on after 39 of 41 that a capital follows.
_FINAL = frozenset(". ! ? 。 ！ ？ ؟ ।".split())
_CLOSING = frozenset("\" ' '' ” ’ » ) ] }".split())


def split_tokens(tokens: Sequence[Token]) -> tuple[tuple[Token, ...], ...]:
    """Cut the tokens of a passage into sentences, by punctuation, capitals and paragraphs."""
    cuts = [0, *find_boundaries(tokens), len(tokens)]
    return tuple(tuple(tokens[start:end]) for start, end in pairwise(cuts) if start < end)


def find_boundaries(tokens: Sequence[Token]) -> list[int]:
    """Return the positions of the tokens that start a new sentence.

    In the treebank a unit goes on to the end of a quotation or bracket, however many sentences
    that has, so none of them ends inside.
    """
    depths = _depths(tokens)
    result = []
    position = 0
    while position < len(tokens):
        end = position + 1
        final = tokens[position].form in _FINAL
        if final:
            while (
                end < len(tokens) and tokens[end].form in _CLOSING and depths[end] < depths[end - 1]
            ):
                end += 1
        if end < len(tokens) and (
            _paragraph(tokens[end]) != _paragraph(tokens[end - 1])
            or (final and not depths[end - 1] and _ends(tokens, position, end))
        ):
            result.append(end)
        position = end
    return result


def _depths(tokens: Sequence[Token]) -> list[int]:
    """Return in how many brackets and quotations each token stands; a closing mark is outside.

    A passage may be a piece of a longer quotation: one that is never closed goes on to the end of
    its paragraph, and a first mark that would leave another unclosed closes what came before.
    """
    changes = [0] * (len(tokens) + 1)
    start = 0
    for end in range(1, len(tokens) + 1):
        if end < len(tokens) and _paragraph(tokens[end]) == _paragraph(tokens[start]):
            continue
        forms = [token.form for token in tokens[start:end]]
        stray = forms[0] == '"' and forms.count('"') % 2
        _nest(forms, start, stray, changes)
        start = end
    return list(accumulate(changes))[:-1]


def _nest(forms: Sequence[str], start: int, stray: int, changes: list[int]) -> None:
    """Add to *changes* where the depth rises and falls in one paragraph."""
    open_at: list[tuple[str, int]] = []
    for position, form in enumerate(forms[stray:], start=start + stray):
        matching = [n for n, (mark, _) in enumerate(open_at) if mark == _PAIRS.get(form)]
        if form == '"' and _opens(forms, position - start):
            del open_at[matching[-1] if matching else len(open_at) :]
            open_at.append((form, position))
        elif matching:
            changes[open_at[matching[-1]][1]] += 1
            changes[position] -= 1
            del open_at[matching[-1] :]
        elif form in _OPENERS:
            open_at = [*open_at[1 - _DEEPEST :], (form, position)]
    for mark, position in open_at:
        if mark not in _BRACKETS:
            changes[position] += 1
            changes[start + len(forms)] -= 1


def _opens(forms: Sequence[str], position: int) -> bool:
    """Say whether a straight mark can only open, as in: He said, "It ..."."""
    after = forms[position + 1 : position + 2]
    return (
        position > 0 and forms[position - 1] in (",", ":") and any(f[:1].isupper() for f in after)
    )


# Closing mark -> opening mark; deeper levels than eight are forgotten.
_PAIRS = {")": "(", "]": "[", "}": "{", '"': '"', "''": "``", "”": "“", "»": "«"}
_OPENERS = frozenset(_PAIRS.values())
_BRACKETS = frozenset("([{")
_DEEPEST = 8


def _ends(tokens: Sequence[Token], final: int, start: int) -> bool:
    """Say whether a mark ends a sentence, given the words before it and at *start*."""
    following = tokens[start].form
    if following[:1].islower() or not (following[:1].isalnum() or following in _OPENING):
        return False
    before = tokens[final - 1].form if final else ""
    return bool(before) and (tokens[final].form != "." or ends_sentence(before, following))


_OPENING = frozenset("\" ' `` “ ‘ « ( [".split())


def _paragraph(token: Token) -> str:
    return str(attribute(token.features, "paragraph", "1"))


def mark_paragraph(tokens: Iterable[Token], number: int) -> tuple[Token, ...]:
    """Return the tokens as those of the paragraph of that number, from 1."""
    if number == 1:
        return tuple(tokens)
    mark = ("paragraph", str(number))
    return tuple(token._replace(features=(*token.features, mark)) for token in tokens)


def split_passage(graph: Graph) -> tuple[Graph, ...]:
    """Split a passage into one graph per sentence; a passage of one sentence is left as it is."""
    cuts = _cuts(graph)
    if len(cuts) <= 2:
        return (graph,)
    root = graph.tops[0]
    places = _places(graph, cuts)
    numbered: list[list[int]] = [[] for _ in cuts[1:]]
    for position, node in enumerate(graph.nodes):
        if places[node.id] is not None:
            numbered[places[node.id] or 0].append(position)
    inside: list[list[int]] = [[] for _ in cuts[1:]]
    between: list[int] = []
    for position, edge in enumerate(graph.edges):
        part = _edge_place(edge, root, places)
        (between if part is None else inside[part]).append(position)
    parts = []
    for number, (start, end) in enumerate(pairwise(cuts)):
        nodes = [_shift(_root_part(graph, start, end), -start)]
        nodes += [_shift(graph.nodes[position], -start) for position in numbered[number]]
        known: dict[str, Any] = {
            "number": number,
            "nodes": numbered[number],
            "edges": inside[number],
        }
        if number == 0:
            known["rest"] = _rest(graph, places, between)
        extras = graph.extras if number == 0 else _format(graph)
        parts.append(
            Graph(
                id=f"{graph.id}.{number + 1}",
                framework=graph.framework,
                tokens=graph.tokens[start:end],
                nodes=tuple(nodes),
                edges=tuple(graph.edges[position] for position in inside[number]),
                tops=graph.tops,
                metadata=graph.metadata if number == 0 else (),
                extras=(*extras, (_PART, known)),
            )
        )
    return tuple(parts)


def count_splits(graph: Graph) -> Counter[str]:
    """Count ``boundaries`` found, those ``spanned`` by a unit, and what leads from part to part."""
    counts: Counter[str] = Counter(passages=1)
    counts["boundaries"] = len(find_boundaries(graph.tokens))
    cuts = _cuts(graph)
    counts["spanned"] = counts["boundaries"] - (len(cuts) - 2 if len(cuts) > 1 else 0)
    counts["parts"] = len(cuts) - 1
    places = _places(graph, cuts)
    for edge in graph.edges:
        if _edge_place(edge, graph.tops[0] if graph.tops else "", places) is None:
            counts["linkage" if edge.label in LINKAGE else "remote"] += 1
    return counts


def join_passages(graphs: Sequence[Graph], *, id: str) -> Graph:  # noqa: A002 - the field's name
    """Join the graphs of sentences into one passage with one root.

    Parts that :func:`split_passage` made, and nothing changed, give the passage back exactly.
    """
    if not graphs:
        return Graph(id, "ucca", nodes=(Node("1.1"),), tops=("1.1",))
    known = [attribute(graph.extras, _PART) for graph in graphs]
    if all(known) and [part["number"] for part in known] == list(range(len(known))):
        return _rejoined(graphs, known, id)
    if len(graphs) == 1:
        return replace(graphs[0], id=id)
    tokens: list[Token] = []
    nodes: list[Node] = []
    edges: list[Edge] = []
    anchors: list[int] = []
    scores: list[Scores | None] = []
    top = next((graph.tops[0] for graph in graphs if graph.tops), "1.1")
    last = 1
    for graph in graphs:
        names = {graph.tops[0]: top} if graph.tops else {}
        for node in graph.nodes:
            layer, _, number = node.id.partition(".")
            if layer == "0":  # a terminal is called by its place in the passage
                names[node.id] = f"0.{int(number) + len(tokens)}"
            elif node.id not in names:
                last += 1
                names[node.id] = f"1.{last}"
            moved = _shift(node, len(tokens))._replace(id=names[node.id])
            if moved.id == top:
                anchors += moved.anchors
            else:
                nodes.append(moved)
        edges += [
            edge._replace(source=names[edge.source], target=names[edge.target])
            for edge in graph.edges
        ]
        tokens += graph.tokens
        scores.append(graph.scores and graph.scores.renamed(names))
    return Graph(
        id=id,
        framework=graphs[0].framework,
        tokens=tuple(tokens),
        nodes=(Node(top, anchors=tuple(anchors)), *nodes),
        edges=tuple(edges),
        tops=(top,),
        metadata=graphs[0].metadata,
        extras=tuple(pair for pair in graphs[0].extras if pair[0] != _PART),
        scores=joined(scores),
    )


def _rejoined(graphs: Sequence[Graph], known: Sequence[dict[str, Any]], name: str) -> Graph:
    """Put the parts of a passage back in their places."""
    rest = known[0]["rest"]
    nodes: dict[int, Node] = {position: _node(values) for position, values in rest["nodes"]}
    edges: dict[int, Edge] = {position: _edge(values) for position, values in rest["edges"]}
    offset = 0
    for graph, part in zip(graphs, known, strict=True):
        for position, node in zip(part["nodes"], graph.nodes[1:], strict=True):
            nodes[position] = _shift(node, offset)
        edges.update(zip(part["edges"], graph.edges, strict=True))
        offset += len(graph.tokens)
    return Graph(
        id=name,
        framework=graphs[0].framework,
        tokens=tuple(token for graph in graphs for token in graph.tokens),
        nodes=tuple(nodes[position] for position in sorted(nodes)),
        edges=tuple(edges[position] for position in sorted(edges)),
        tops=graphs[0].tops,
        metadata=graphs[0].metadata,
        extras=tuple(pair for pair in graphs[0].extras if pair[0] != _PART),
    )


def _cuts(graph: Graph) -> list[int]:
    """Return the boundaries that no unit spans, with both ends of the text."""
    if len(graph.tops) != 1:
        return [0, len(graph.tokens)]
    steps: Counter[int] = Counter()
    for name, (first, last) in _yields(graph).items():
        if name != graph.tops[0] and first < last:
            steps[first + 1] += 1
            steps[last + 1] -= 1
    spanning, position = 0, 0
    cuts = [0]
    for boundary in find_boundaries(graph.tokens):
        while position < boundary:
            position += 1
            spanning += steps[position]
        if not spanning:
            cuts.append(boundary)
    return [*cuts, len(graph.tokens)]


def _yields(graph: Graph) -> dict[str, tuple[int, int]]:
    """Return the first and last token below each unit, along edges that are not remote."""
    upwards = [
        (edge.target, edge.source)
        for edge in graph.edges
        if not edge.remote and edge.label not in LINKAGE
    ]
    ids = [node.id for node in graph.nodes]
    children_first = parents_first(ids, upwards)
    if len(children_first) < len(ids):  # a cycle: nothing can be said, so nothing is split
        return dict.fromkeys({"", *ids} - {*children_first}, (0, len(graph.tokens)))
    above: dict[str, list[str]] = defaultdict(list)
    for child, parent in upwards:
        above[child].append(parent)
    spans = {n.id: (min(n.anchors), max(n.anchors)) for n in graph.nodes if n.anchors}
    for name in children_first:
        for parent in above[name] if name in spans else ():
            first, last = spans.get(parent, spans[name])
            spans[parent] = (min(first, spans[name][0]), max(last, spans[name][1]))
    return spans


def _places(graph: Graph, cuts: Sequence[int]) -> dict[str, int | None]:
    """Return the part that each node belongs to; None for the root and for edges between parts."""
    spans = _yields(graph)
    places: dict[str, int | None] = {
        name: bisect_right(cuts, first) - 1 for name, (first, _) in spans.items()
    }
    # What has no words (implicit and linkage units) goes where its parent is, or all its children.
    parents: dict[str, str] = {}
    children: dict[str, set[str]] = defaultdict(set)
    for edge in graph.edges:
        children[edge.source].add(edge.target)
        if not edge.remote and edge.label not in LINKAGE:
            parents.setdefault(edge.target, edge.source)
    root = graph.tops[0] if graph.tops else ""
    for node in graph.nodes:
        path = []
        name = node.id
        while name not in places and name in parents and name != root:
            path.append(name)
            name = parents[name]
        found = {places.get(child) for child in children[node.id]} if name == node.id else set()
        place = places.get(name, found.pop() if len(found) == 1 else None)
        if name == root and path:
            place = 0  # an implicit unit below the root
        for step in path or ([node.id] if node.id not in places else []):
            places[step] = place
    places[root] = None
    return places


def _edge_place(edge: Edge, root: str, places: dict[str, int | None]) -> int | None:
    """Return the part that holds an edge, or None if it leads from part to part."""
    source, target = places.get(edge.source), places.get(edge.target)
    if edge.source == root:
        return target
    return source if source == target else None


def _root_part(graph: Graph, start: int, end: int) -> Node:
    root = next(node for node in graph.nodes if node.id == graph.tops[0])
    return root._replace(
        anchors=tuple(anchor for anchor in root.anchors if start <= anchor < end),
        # Which of its edges stand before which words: true of the whole root only.
        attributes=tuple(pair for pair in root.attributes if pair[0] != "order"),
    )


def _rest(graph: Graph, places: dict[str, int | None], between: list[int]) -> dict[str, Any]:
    """Return the nodes and edges of the passage that are in no part, as JSON."""
    return {
        "nodes": [
            [position, list(node)]
            for position, node in enumerate(graph.nodes)
            if places[node.id] is None
        ],
        "edges": [[position, list(graph.edges[position])] for position in between],
    }


def _node(values: Sequence[Any]) -> Node:
    name, label, anchors, constant, implicit, attributes = values
    return Node(name, label, tuple(anchors), constant, implicit, _pairs(attributes))


def _edge(values: Sequence[Any]) -> Edge:
    source, target, label, remote, attributes = values
    return Edge(source, target, label, remote, _pairs(attributes))


def _pairs(values: Iterable[Sequence[Any]]) -> Attributes:
    return tuple((key, value) for key, value in values)


def _shift(node: Node, offset: int) -> Node:
    if not node.anchors or not offset:
        return node
    return node._replace(anchors=tuple(anchor + offset for anchor in node.anchors))


def _format(graph: Graph) -> Attributes:
    """Return the extras that say how every part is written; the others are of the whole passage."""
    return tuple(pair for pair in graph.extras if pair[0] in _WRITTEN)
