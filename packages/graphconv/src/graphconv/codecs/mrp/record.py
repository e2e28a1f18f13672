"""Graph to MRP record: the writing half of :mod:`graphconv.codecs.mrp`.

>>> spell("Obama"), spell("5"), spell("-"), unspell('"Obama"')
('"Obama"', '5', '-', 'Obama')
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from importlib import import_module
from itertools import count
from typing import Any, NamedTuple

from graphconv.codecs.arborescence import attributes_to_json, token_to_json
from graphconv.codecs.mrp import text as mrp_text
from graphconv.codecs.mrp.residue import RESIDUE, residue_of, with_residue
from graphconv.codecs.mrp.text import PRIVATE
from graphconv.frameworks import Framework, Nodes, Properties
from graphconv.frameworks import framework as framework_of
from graphconv.graph import (
    Attributes,
    Edge,
    Graph,
    Node,
    Token,
    attribute,
    join_categories,
    split_categories,
)
from graphconv.scores import Scores

Json = dict[str, Any]
JsonId = int | str


KEYS = ("id", "flavor", "framework", "input", "tops", "nodes", "edges", PRIVATE)
"""The keys of a record that are not metadata."""

_RESERVED = (RESIDUE, "pred")

# MRP demands a version and a date, and the date of writing would make every output a new one.
_DEFAULTS = {"version": 1.1, "time": "1970-01-01"}
_UNIT_ID = re.compile(r"1\.([1-9][0-9]{0,17})")
_NUMBER_ID = re.compile(r"0|-?[1-9][0-9]{0,17}")
_PLAIN = re.compile(r"[-+]|[-+]?[0-9]+(?:[.,][0-9]+)*|imperative|expressive|interrogative")
_PUNCTUATION: Attributes = (("type", "PNCT"),)


class _Context(NamedTuple):
    """What the nodes and edges of one graph share."""

    graph: Graph
    framework: Framework
    names: Mapping[str, JsonId]
    spans: list[mrp_text.Span]
    constants: Mapping[str, list[tuple[Edge, Node]]]
    sources: frozenset[str]
    incoming: Mapping[str, set[str]]


def encode(graph: Graph) -> Json:
    """Return the record of a graph."""
    graph.validate()
    constants = owned_constants(graph)
    owned = {node.id for pairs in constants.values() for _, node in pairs}
    nodes = [node for node in graph.nodes if node.id not in owned]
    text, spans = _text(graph)
    framework = framework_of(graph.framework, graph.id)
    context = _Context(
        graph,
        framework,
        _names(graph, nodes),
        spans,
        constants,
        frozenset(edge.source for edge in graph.edges),
        incoming_labels(graph.edges),
    )
    edges = _edges([edge for edge in graph.edges if edge.target not in owned], context)
    order = [int(place) for place in str(attribute(graph.extras, "edge_order", "")).split()]
    if len(order) == len(edges):
        edges = [edges[place] for place in order]
    metadata, leftover = _metadata(graph, text)
    record: Json = {
        "id": graph.id,
        "flavor": framework.flavor,
        "framework": graph.framework,
        **metadata,
        "input": text,
        "tops": [context.names[top] for top in graph.tops],
        "nodes": [_node_item(node, context) for node in nodes],
        "edges": edges,
    }
    private: Json = {"metadata": leftover} if leftover else {}
    if graph.scores is not None and graph.scores.graph is not None:
        private["score"] = graph.scores.graph
    if not _are_given_by(mrp_text.tokens_of(record, graph.framework)[0], graph.tokens):
        private["tokens"] = [token_to_json(token) for token in graph.tokens]
    if private:
        record[PRIVATE] = private
    return with_residue(record, graph.extras)


def _are_given_by(found: tuple[Token, ...], tokens: tuple[Token, ...]) -> bool:
    """Say whether the tokens found are those of the graph, but for spans that it does not know."""
    return len(found) == len(tokens) and all(
        token in (other, other._replace(span=None))
        for token, other in zip(tokens, found, strict=True)
    )


def graph_id(name: JsonId, *, is_unit: bool) -> str:
    """Return the id of the node that a record calls *name*."""
    return f"1.{name + 1}" if is_unit and isinstance(name, int) else str(name)


def incoming_labels(edges: Iterable[Edge]) -> dict[str, set[str]]:
    """Return the labels of the edges that lead to each node."""
    labels: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        labels[edge.target].add(edge.label)
    return labels


def unit_attributes(labels: set[str] | None) -> Attributes:
    """Return the attributes that a UCCA unit has unless its record says otherwise."""
    return _PUNCTUATION if labels == {"U"} else ()


def spell(value: str) -> str:
    """Return an unquoted constant as AMR writes it."""
    if _PLAIN.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def unspell(label: str) -> str:
    """Return a constant of AMR without its quotes."""
    if len(label) >= 2 and label[0] == label[-1] == '"':
        return re.sub(r"\\(.)", r"\1", label[1:-1])
    return label


def _text(graph: Graph) -> tuple[str, list[mrp_text.Span]]:
    given = mrp_text.given_text(graph)
    text, spans = mrp_text.rebuild(graph.tokens, given)
    if given is not None and framework_of(graph.framework).penman_notes:
        # The tokens may be written otherwise; then only our own key can hold anchors.
        is_aligned = any(node.anchors for node in graph.nodes)
        return given, spans if text == given and is_aligned else []
    return text, spans


def _metadata(graph: Graph, text: str) -> tuple[Json, list[list[Any]]]:
    """Return the metadata as keys, and as pairs where they cannot be keys."""
    record: Json = {}
    leftover: list[list[Any]] = []
    noted = framework_of(graph.framework).penman_notes
    shown = {("id", graph.id), ("snt", text)} if noted else set()
    for name, value in graph.metadata:
        if (name, str(value)) in shown:
            shown.discard((name, str(value)))
        elif name in KEYS or name in record:
            leftover += attributes_to_json(((name, value),))
        else:
            # PENMAN has made a string of it.
            record[name] = float(value) if name == "version" and _is_float(value) else value
    if attribute(graph.extras, "format") != "mrp":
        record = {**_DEFAULTS, **record}
    return record, leftover


def _is_float(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[0-9]+\.[0-9]+", value) is not None


def _names(graph: Graph, nodes: list[Node]) -> dict[str, JsonId]:
    """Return what each node is called in the record."""
    is_mrp = attribute(graph.extras, "format") == "mrp"
    kind = framework_of(graph.framework).nodes
    names: dict[str, JsonId] = {}
    for node in nodes:
        unit = _UNIT_ID.fullmatch(node.id) if kind is Nodes.UNIT else None
        changed = residue_of(node.attributes)[0]
        if "id" in changed:
            names[node.id] = changed["id"]
        elif unit:
            names[node.id] = int(unit[1]) - 1
        elif is_mrp and kind is not Nodes.UNIT:
            names[node.id] = int(node.id) if _NUMBER_ID.fullmatch(node.id) else node.id
    used = set(names.values())
    free = (number for number in count() if number not in used)
    for node in nodes:
        if node.id in names:
            continue
        # In the bilexical frameworks a node is called by the position of its token.
        position = node.anchors[0] if kind is Nodes.TOKEN and node.anchors else None
        name = position if position is not None and position not in used else next(free)
        names[node.id] = name
        used.add(name)
    return names


def owned_constants(graph: Graph) -> dict[str, list[tuple[Edge, Node]]]:
    """Return the constants of AMR that a property of another node can express."""
    owned: dict[str, list[tuple[Edge, Node]]] = defaultdict(list)
    nodes = {node.id: node for node in graph.nodes if node.constant}
    uses = Counter(end for edge in graph.edges for end in edge[:2])
    uses.update(graph.tops)
    for edge in graph.edges:
        if edge.target in nodes and edge.source not in nodes and uses[edge.target] == 1:
            owned[edge.source].append((edge, nodes[edge.target]))
    return owned


def _node_item(node: Node, context: _Context) -> Json:
    item: Json = {"id": context.names[node.id]}
    label, properties = _properties(node, context)
    if label is not None:
        item["label"] = label
    if properties:
        item["properties"] = [name for name, _ in properties]
        item["values"] = [value for _, value in properties]
    if node.anchors and context.spans and not node.constant:
        merge = context.framework.merges_anchors
        item["anchors"] = mrp_text.anchors(node.anchors, context.spans, merge=merge)
    private = _private(node, context, properties)
    if private:
        item[PRIVATE] = private
    return with_residue(item, node.attributes)


def _properties(node: Node, context: _Context) -> tuple[str | None, list[tuple[str, Any]]]:
    """Return the label and the properties of a node."""
    framework, tokens = context.framework, context.graph.tokens
    if node.id in context.constants:
        constants = context.constants[node.id]
        return node.label, [(edge.label, unspell(c.label or "")) for edge, c in constants]
    if framework.properties is not Properties.ATTRIBUTES:
        return node.label, []
    properties = [pair for pair in node.attributes if pair[0] not in _RESERVED]
    if framework.nodes is Nodes.TOKEN and len(node.anchors) == 1:
        label, more = token_properties(tokens[node.anchors[0]])
        return label, more + properties
    return node.label, properties


def _private(node: Node, context: _Context, properties: list[tuple[str, Any]]) -> Json:
    """Return what MRP cannot say about a node."""
    graph, framework = context.graph, context.framework
    is_unit = framework.nodes is Nodes.UNIT
    private: Json = {}
    attributes = tuple(pair for pair in node.attributes if pair[0] != RESIDUE)
    usual = unit_attributes(context.incoming.get(node.id)) if is_unit else ()
    if framework.properties is Properties.ATTRIBUTES:
        # An edge says as much as PRED +.
        wanted = () if node.id in context.sources else ("pred",)
        attributes = tuple(pair for pair in attributes if pair[0] in wanted)
    if attributes != usual:
        private["attributes"] = attributes_to_json(attributes)
    constants = context.constants.get(node.id, [])
    written = [
        [
            *(c.label, attributes_to_json(c.attributes), attributes_to_json(edge.attributes)),
            *([list(c.anchors)] if c.anchors else []),
        ]
        for edge, c in constants
    ]
    if constants and written != [[spell(value), [], []] for _, value in properties]:
        private["constants"] = written
    if node.implicit != (is_unit and is_implicit(node, context.sources, graph.tops)):
        private["implicit"] = node.implicit
    if node.constant:
        private["constant"] = True
    # An alignment, or a token without characters.
    is_loose = is_unit or framework.penman_notes
    if is_loose and node.anchors != _read_anchors(node, context.spans):
        private["anchors"] = list(node.anchors)
    if is_unit and graph_id(context.names[node.id], is_unit=True) != node.id:
        private["id"] = node.id
    return private | _scores(node, constants, graph.scores)


def _scores(node: Node, constants: list[tuple[Edge, Node]], scores: Scores | None) -> Json:
    """Return how sure a parser was of a node, and of its constants: of them and their edges."""
    if scores is None:
        return {}
    private: Json = {} if node.id not in scores.nodes else {"score": scores.nodes[node.id]}
    inner = [[scores.of(c.id), scores.of(edge)] for edge, c in constants]
    if any(score is not None for pair in inner for score in pair):
        private["constant_scores"] = inner
    return private


def _read_anchors(node: Node, spans: list[mrp_text.Span]) -> tuple[int, ...]:
    """Return the anchors that the record gives to a node, unless our own key says otherwise."""
    if not spans or node.constant:
        return ()
    return mrp_text.positions([spans[place] for place in node.anchors], spans)


def token_properties(token: Token) -> tuple[str | None, list[tuple[str, Any]]]:
    """Return what the node of a token has in the bilexical frameworks: its label and properties."""
    pairs = (("pos", token.pos), ("frame", attribute(token.features, "frame")))
    return token.lemma, [(name, value) for name, value in pairs if value is not None]


def is_implicit(node: Node, sources: Iterable[str], tops: Iterable[str]) -> bool:
    """Say whether a unit of UCCA is implicit, unless its record says otherwise."""
    return not node.anchors and node.id not in sources and node.id not in tops


def _edges(edges: Iterable[Edge], context: _Context) -> list[Json]:
    result = []
    framework = context.framework
    parallel: Counter[Any] = Counter()
    for edge in edges:
        items = edge_items(edge, framework, context.names)
        result += items
        score = context.graph.scores.of(edge) if context.graph.scores is not None else None
        if score is not None:
            items[0][PRIVATE] = {**items[0].get(PRIVATE, {}), "score": score}
        if not framework.has_categories or attribute(edge.attributes, RESIDUE) is not None:
            continue
        ends = (edge.source, edge.target, edge.remote)
        if parallel[ends]:
            # A second edge with the same ends is not another category of the first.
            for item in items:
                item[PRIVATE] = {**item.get(PRIVATE, {}), "edge": parallel[ends]}
        parallel[ends] += 1
    return result


def edge_items(edge: Edge, framework: Framework, names: Mapping[str, JsonId]) -> list[Json]:
    """Return the objects of an edge: one for each of its categories."""
    source, target = names[edge.source], names[edge.target]
    attributes = [pair for pair in edge.attributes if pair[0] != RESIDUE]
    label, normal = edge.label, None
    turned = framework.penman_notes and ("inverted", True) in attributes
    if turned:
        attributes.remove(("inverted", True))
        source, target = target, source
        label, normal = f"{edge.label}-of", edge.label
    elif framework.penman_notes and label == "mod":
        normal = "domain"
    public = [("remote", True)] if edge.remote else []
    if framework.properties is Properties.ATTRIBUTES:
        public, attributes = public + attributes, []
    labels = split_categories(label) if framework.has_categories else (label,)
    items: list[Json] = [{"source": source, "target": target, "label": one} for one in labels]
    for item in items:
        if normal is not None:
            item["normal"] = normal
        if public:
            item["attributes"] = [name for name, _ in public]
            item["values"] = [value for _, value in public]
    items[0] = with_residue(items[0], edge.attributes)
    private: Json = {"attributes": attributes_to_json(tuple(attributes))} if attributes else {}
    if framework.penman_notes and is_inverted(label, items[0].get("normal")) != turned:
        private["inverted"] = turned
    if framework.has_categories and join_categories(labels) != label:
        private["label"] = label
    if private:
        items[0][PRIVATE] = private
    return items


def is_inverted(label: str, normal: Any) -> bool:
    """Say whether an edge of AMR is read backwards, unless its record says otherwise."""
    if normal is not None or not label.endswith("-of"):
        return isinstance(normal, str) and label == f"{normal}-of"
    # Slow to import, and no record of the shared tasks needs it.
    model = import_module("penman.models.amr").model
    return bool(model.is_role_inverted(f":{label}"))
