"""What a graph says, in other shapes: its text, spans, triples, a dictionary, flat attributes.

These are the functions behind the methods of :class:`graphconv.graph.Graph`.

>>> from graphconv.graph import Edge, Graph, Node, Token
>>> graph = Graph(
...     "1", "dm", (Token("Dogs"), Token("bark")), (Node("1", None, (0,)), Node("2", None, (1,))),
...     (Edge("2", "1", "ARG1"),), ("2",),
... )
>>> graph.text, graph.span("2")
('Dogs bark', (5, 9))
>>> graph.triples()
[('1', 'instance', 'Dogs'), ('2', 'instance', 'bark'), ('2', 'ARG1', '1')]
>>> Graph.from_dict(graph.to_dict()) == graph
True
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from graphconv.codecs._json import Malformed, expect, expect_list, field, optional
from graphconv.codecs.arborescence import (
    attributes_from_json,
    attributes_to_json,
    known_framework,
)
from graphconv.codecs.mrp.text import given_text, rebuild
from graphconv.errors import ConversionError, FormatError
from graphconv.frameworks import Nodes, framework
from graphconv.graph import Attributes, Edge, Graph, Node, Token
from graphconv.scores import Scores, collected

Span = tuple[int, int]
Triple = tuple[str, str, str]

INSTANCE = "instance"
"""The role of the triple that says what a node is."""

_KEYS = {
    "graph": ("id", "framework", "tokens", "nodes", "edges", "tops", "metadata", "extras", "score"),
    "token": ("form", "lemma", "pos", "span", "features"),
    "node": ("id", "label", "anchors", "constant", "implicit", "attributes", "score"),
    "edge": ("source", "target", "label", "remote", "attributes", "score"),
}


def text_of(graph: Graph) -> str:
    """Return the sentence as the file gives it, else the tokens with blanks between them."""
    return _text_and_spans(graph)[0]


def token_spans(graph: Graph) -> list[Span]:
    """Return where each token stands in :func:`text_of`; nothing, if they are not all there."""
    return _text_and_spans(graph)[1]


def _text_and_spans(graph: Graph) -> tuple[str, list[Span]]:
    given = given_text(graph)
    if given is None:
        return rebuild(graph.tokens)
    text, spans = rebuild(graph.tokens, given)
    if text != given:  # spans of another text, where blanks were written otherwise
        text, spans = rebuild([token._replace(span=None) for token in graph.tokens], given)
    return (text, spans) if text == given else (given, [])


def span_of(graph: Graph, node_id: str) -> Span | None:
    """Return the characters [from, to) of the text from the first to the last word of a node.

    The words of a UCCA unit are those of the units below it, too. None: the node has no words.
    """
    positions = words_of(graph).get(node_id)
    if positions is None:
        raise ConversionError(f"there is no node {node_id!r}", graph_id=graph.id)
    spans = token_spans(graph)
    if not positions or not spans:
        return None
    return min(spans[p][0] for p in positions), max(spans[p][1] for p in positions)


def words_of(graph: Graph) -> dict[str, tuple[int, ...]]:
    """Return the positions of each node's words, in order; in UCCA those of its whole yield."""
    found = {node.id: set(node.anchors) for node in graph.nodes}
    if framework(graph.framework, graph.id).nodes is Nodes.UNIT:
        children: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
        for edge in graph.edges:
            if not edge.remote:
                children[edge.source].append(edge.target)
        for node_id in _children_first(children):
            found[node_id].update(*(found[child] for child in children[node_id]))
    return {node_id: tuple(sorted(positions)) for node_id, positions in found.items()}


def _children_first(children: dict[str, list[str]]) -> Iterable[str]:
    """Yield every node after its children; a cycle is entered once."""
    seen: set[str] = set()
    for root, below in children.items():
        stack = [(root, iter(below))] if root not in seen else []
        seen.add(root)
        while stack:
            node_id, rest = stack[-1]
            child = next((one for one in rest if one not in seen), None)
            if child is None:
                yield node_id
                stack.pop()
            else:
                seen.add(child)
                stack.append((child, iter(children[child])))


def triples_of(graph: Graph) -> list[Triple]:
    """Return what each node is, then the edges; a constant stands where its edges end.

    A node is its label, or else its words; a node with neither has no such triple.
    """
    constants = {node.id: node.label or "" for node in graph.nodes if node.constant}
    found: list[Triple] = []
    for node in graph.nodes:
        shown = node.label or " ".join(graph.tokens[place].form for place in node.anchors)
        if shown and not node.constant:
            found.append((node.id, INSTANCE, shown))
    for edge in graph.edges:
        source = constants.get(edge.source, edge.source)
        found.append((source, edge.label, constants.get(edge.target, edge.target)))
    return found


def to_dict(graph: Graph) -> dict[str, Any]:
    """Return the graph in JSON's types; what a token, node or edge does not say is left out."""
    record: dict[str, Any] = {
        "id": graph.id,
        "framework": graph.framework,
        "tokens": [_fields(token, "features", {"form"}) for token in graph.tokens],
        "nodes": [_fields(node, "attributes", {"id"}) for node in graph.nodes],
        "edges": [
            _fields(edge, "attributes", {"source", "target", "label"}) for edge in graph.edges
        ],
        "tops": list(graph.tops),
        "metadata": attributes_to_json(graph.metadata),
        "extras": attributes_to_json(graph.extras),
    }
    scores = graph.scores
    if scores is not None:
        if scores.graph is not None:
            record["score"] = scores.graph
        for item, node in zip(record["nodes"], graph.nodes, strict=True):
            item.update(flat_score(graph, node.id))
        for item, edge in zip(record["edges"], graph.edges, strict=True):
            item.update(flat_score(graph, edge))
    return record


def _fields(item: Token | Node | Edge, pairs: str, always: set[str]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for name, value in item._asdict().items():
        if name in always or value not in (None, (), False):
            shown = list(value) if isinstance(value, tuple) else value
            record[name] = attributes_to_json(value) if name == pairs else shown
    return record


def from_dict(record: dict[str, Any]) -> Graph:
    """Return the graph that :func:`to_dict` was called with, or raise FormatError."""
    try:
        graph = _graph(record)
        graph.validate()
        graph = replace(graph, scores=_scores(record, graph))
    except Malformed as error:
        raise FormatError(f"this dictionary is not a graph: {error.message}") from error
    return graph


def _graph(record: dict[str, Any]) -> Graph:
    _known(record, "graph")
    return Graph(
        field(record, "id", str),
        known_framework(field(record, "framework", str)),
        tuple(map(_token, expect(record.get("tokens", []), list, "'tokens'"))),
        tuple(map(_node, expect(record.get("nodes", []), list, "'nodes'"))),
        tuple(map(_edge, expect(record.get("edges", []), list, "'edges'"))),
        tuple(expect_list(record.get("tops", []), str, "'tops'")),
        attributes_from_json(record.get("metadata", [])),
        attributes_from_json(record.get("extras", [])),
    )


def _scores(record: dict[str, Any], graph: Graph) -> Scores | None:
    nodes = zip(graph.nodes, record.get("nodes", []), strict=True)
    edges = zip(graph.edges, record.get("edges", []), strict=True)
    try:
        return collected(
            record.get("score"),
            [(node.id, item.get("score")) for node, item in nodes],
            [(edge[:3], item.get("score")) for edge, item in edges],
        )
    except ValueError as error:
        raise Malformed(str(error)) from error


def _token(item: Any) -> Token:
    record = _known(item, "token")
    span = record.get("span")
    start, end = expect_list(span, int, "a span", 2) if span is not None else (0, 0)
    return Token(
        field(record, "form", str),
        optional(record.get("lemma"), str, "a lemma"),
        optional(record.get("pos"), str, "a part of speech"),
        None if span is None else (start, end),
        attributes_from_json(record.get("features", [])),
    )


def _node(item: Any) -> Node:
    record = _known(item, "node")
    return Node(
        field(record, "id", str),
        optional(record.get("label"), str, "the label of a node"),
        tuple(expect_list(record.get("anchors", []), int, "the anchors of a node")),
        _flag(record, "constant"),
        _flag(record, "implicit"),
        attributes_from_json(record.get("attributes", [])),
    )


def _edge(item: Any) -> Edge:
    record = _known(item, "edge")
    return Edge(
        field(record, "source", str),
        field(record, "target", str),
        field(record, "label", str),
        _flag(record, "remote"),
        attributes_from_json(record.get("attributes", [])),
    )


def _flag(record: dict[str, Any], name: str) -> bool:
    value = record.get(name, False)
    if isinstance(value, bool):
        return value
    raise Malformed(f"{name!r} is neither true nor false")


def _known(item: Any, kind: str) -> dict[str, Any]:
    record = expect(item, dict, f"a {kind}")
    unknown = sorted(str(key) for key in record.keys() - set(_KEYS[kind]))
    if unknown:
        raise Malformed(f"a {kind} has no {unknown[0]!r}")
    return record


def flat_graph(graph: Graph) -> dict[str, Any]:
    """Return what a graph says beyond its nodes and edges, as scalars; lists are JSON."""
    record = to_dict(graph)
    flat = {name: _json(record[name]) for name in ("tokens", "tops", "metadata", "extras")}
    if "score" in record:
        flat["score"] = record["score"]
    return {"id": graph.id, "framework": graph.framework, "text": text_of(graph), **flat}


def flat_score(graph: Graph, part: str | Edge) -> dict[str, float]:
    """Return the score of a node, given by its id, or of an edge, if it has one."""
    log_p = graph.scores.of(part) if graph.scores is not None else None
    return {} if log_p is None else {"score": log_p}


def flat_node(node: Node) -> dict[str, Any]:
    """Return the fields of a node as scalars; what it does not say is left out."""
    return _flat(_fields(node, "attributes", set()), skip=("id",))


def flat_edge(edge: Edge, order: int) -> dict[str, Any]:
    """Return the fields of an edge as scalars, with its place in the graph."""
    fields = _flat(_fields(edge, "attributes", {"label"}), skip=("source", "target"))
    return {**fields, "order": order}


def _flat(record: dict[str, Any], skip: tuple[str, ...]) -> dict[str, Any]:
    return {
        name: _json(value) if isinstance(value, list) else value
        for name, value in record.items()
        if name not in skip
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def attributes_of(text: str) -> Attributes:
    """Return the attributes that a flat string holds."""
    return attributes_from_json(json.loads(text))
