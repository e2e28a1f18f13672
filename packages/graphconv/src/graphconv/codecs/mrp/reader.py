r"""MRP JSON lines, the format of the CoNLL shared tasks of 2019 and 2020, in all frameworks.

>>> line = '{"id": "1", "framework": "amr", "input": "Go!", "tops": [0], "nodes": [{"id": 0, '
>>> line += '"label": "go-02", "properties": ["mode"], "values": ["imperative"]}]}'
>>> graph = parse(Block(line, "a.mrp", 1))
>>> [(node.id, node.label, node.constant) for node in graph.nodes]
[('0', 'go-02', False), (':0', 'imperative', True)]
>>> load(format(graph)) == load(line)
True

How a record becomes a Graph:

* Tokens are cut from ``input`` (:mod:`graphconv.codecs.mrp.text`) and have spans. In DM, PAS and
  PSD an anchor is one token, which gets label, ``pos`` and ``frame`` of its node.
* ``properties`` of AMR are constants: numbers, ``-``, ``+`` and modes as they are, others quoted.
  In DM, PAS, PSD, EDS, PTG and DRG they are attributes of the node.
* AMR: an edge with ``normal``, or whose role ends in an inverting ``-of``, is turned round.
* UCCA: node *n* is called ``1.n+1``; a leaf without anchors is implicit; edges with the same ends
  are one edge with several categories.
* All other keys of a record are metadata. The extra and attribute ``mrp`` holds, as JSON, in what a
  record, node or edge differs from what would be written without it: nothing is lost.

What MRP has no place for is written under the key ``graphconv``, which other tools pass over:
tokens (where text and nodes do not give them back), attributes, the spelling of constants, and the
scores of the record, its nodes and its edges (``score``; of the constants of a node and their edges
in ``constant_scores``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from graphconv.codecs import Block
from graphconv.codecs._json import (
    Malformed,
    dump,
    expect,
    expect_list,
    keys,
    load,
    located,
    optional,
)
from graphconv.codecs.arborescence import attributes_from_json, known_framework
from graphconv.codecs.mrp.record import (
    KEYS,
    Json,
    JsonId,
    edge_items,
    encode,
    graph_id,
    incoming_labels,
    is_implicit,
    is_inverted,
    spell,
    unit_attributes,
)
from graphconv.codecs.mrp.residue import RESIDUE, residue
from graphconv.codecs.mrp.text import (
    PRIVATE,
    anchor_spans,
    pairs,
    positions,
    private,
    rebuild,
    tokens_of,
)
from graphconv.errors import ConversionError
from graphconv.frameworks import FRAMEWORKS, Framework, Nodes, Properties
from graphconv.graph import Attributes, Edge, Graph, Node, attribute, join_categories
from graphconv.scores import Scores, collected

_INVERTED: Attributes = (("inverted", True),)
_SCALARS = (str, int, float, bool, type(None))


def sniff(head: str) -> bool:
    """Say whether *head* starts like an MRP file."""
    found = keys(head)
    return "id" in found and bool(found & {"flavor", "nodes", "tops", "edges", "input"})


def parse(block: Block, framework: str | None = None) -> Graph:
    """Turn one record into a Graph."""
    with located(block):
        record = load(block.text)
        name = record.get("framework", framework)
        if name is None:
            raise Malformed("'framework' is missing")
        name = known_framework(expect(name, str, "'framework'"))
        items, links = _objects(record, "nodes"), _objects(record, "edges")
        graph = _graph(record, name, items, links)
        return _with_residues(graph, record, items)


def format(graph: Graph) -> str:  # noqa: A001 - the name that every codec has
    """Turn a Graph into one line."""
    try:
        return dump(encode(graph))
    except Malformed as error:  # what its attributes say of the record may come from a stranger
        raise ConversionError(error.message, graph_id=graph.id) from error


def _objects(record: Json, key: str) -> list[Json]:
    items = optional(record.get(key), list, f"{key!r}") or []
    return [expect(item, dict, f"an element of {key!r}") for item in items]


def _name(value: Any, what: str) -> JsonId:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise Malformed(f"{what} is neither a number nor a string")


def _graph(record: Json, name: str, items: list[Json], links: list[Json]) -> Graph:
    framework = FRAMEWORKS[name]
    tokens, spans = tokens_of(record, name)
    text = optional(record.get("input"), str, "'input'")
    ids = _ids(items, is_unit=framework.nodes is Nodes.UNIT)
    tops = tuple(
        _known(top, ids, "the top") for top in optional(record.get("tops"), list, "'tops'") or []
    )
    edges = [_edge(link, ids, framework) for link in links]
    numbers = [optional(private(link).get("edge"), int, "'edge'") or 0 for link in links]
    sources = {edge.source for edge in edges}
    incoming = incoming_labels(edges)
    nodes = []
    for item, node_id in zip(items, ids.values(), strict=True):
        anchors = positions(anchor_spans(item, len(text or "")), spans)
        if "anchors" in private(item):
            anchors = tuple(expect_list(private(item)["anchors"], int, "the anchors of a node"))
            if not {*anchors} <= {*range(len(tokens))}:
                raise Malformed("a node is anchored to a token that does not exist")
        node = _node(item, Node(node_id, None, anchors), framework, incoming)
        if framework.nodes is Nodes.UNIT:
            node = node._replace(implicit=is_implicit(node, sources, tops))
        implicit = private(item).get("implicit", node.implicit)
        nodes.append(node._replace(implicit=expect(implicit, bool, "'implicit'")))
    constants: list[tuple[Node, Edge]] = []
    if framework.properties is Properties.CONSTANTS:
        unused = count()
        for item, node in zip(items, nodes, strict=True):
            constants += _constants(item, node, unused)
    told = [private(link).get("score") for link in links]
    order: Attributes = ()
    if framework.has_categories:
        edges, order, places = _merge_categories(edges, numbers)
        told = [told[place] for place in places]
    extras: Attributes = (("format", "mrp"), *order)
    if not framework.penman_notes and text is not None and rebuild(tokens)[0] != text:
        extras += (("input", text),)
    return Graph(
        str(_name(record.get("id"), "'id'")),
        name,
        tokens,
        (*nodes, *[node for node, _ in constants]),
        (*[edge for _, edge in constants], *edges),
        tops,
        _metadata(record, framework, text),
        extras,
        _scores(record, zip(nodes, items, strict=True), zip(edges, told, strict=True), constants),
    )


def _scores(
    record: Json,
    nodes: Iterable[tuple[Node, Json]],
    edges: Iterable[tuple[Edge, Any]],
    constants: Iterable[tuple[Node, Edge]],
) -> Scores | None:
    of_nodes, inner = [], []
    for node, item in nodes:
        of_nodes.append((node.id, private(item).get("score")))
        if not node.constant:
            given = optional(private(item).get("constant_scores"), list, "'constant_scores'")
            inner += given or [(None, None)] * len(pairs(item, "properties"))
    of_edges = [(edge[:3], score) for edge, score in edges]
    try:
        for (node, edge), (node_score, edge_score) in zip(constants, inner, strict=False):
            of_nodes.append((node.id, node_score))
            of_edges.append((edge[:3], edge_score))
        return collected(private(record).get("score"), of_nodes, of_edges)
    except (TypeError, ValueError) as error:
        raise Malformed("a score is not a number") from error


def _metadata(record: Json, framework: Framework, text: str | None) -> Attributes:
    metadata = [(key, value) for key, value in record.items() if key not in KEYS]
    if framework.penman_notes and text is not None:
        metadata.append(("snt", text))
    return (*metadata, *attributes_from_json(private(record).get("metadata", [])))


def _ids(items: Iterable[Json], *, is_unit: bool) -> dict[JsonId, str]:
    ids: dict[JsonId, str] = {}
    for item in items:
        name = _name(item.get("id"), "the id of a node")
        own = optional(private(item).get("id"), str, "an id")
        if name in ids:
            raise Malformed(f"node {name!r} is defined twice")
        ids[name] = own if own is not None else graph_id(name, is_unit=is_unit)
    if len(set(ids.values())) < len(ids):
        raise Malformed("two nodes have the same id")
    return ids


def _known(name: Any, ids: Mapping[JsonId, str], what: str) -> str:
    if _name(name, what) not in ids:
        raise Malformed(f"{what} {name!r} is not a node")
    return ids[name]


def _node(item: Json, node: Node, framework: Framework, incoming: Mapping[str, set[str]]) -> Node:
    own = private(item)
    properties = pairs(item, "properties")
    given = attributes_from_json(own["attributes"]) if "attributes" in own else None
    if framework.nodes is Nodes.UNIT:
        rule = unit_attributes(incoming.get(node.id))
        return node._replace(attributes=rule if given is None else given)
    attributes: Attributes = ()
    is_token = framework.nodes is Nodes.TOKEN
    if framework.properties is Properties.ATTRIBUTES and _are_attributes(properties):
        at_token = ("pos", "frame") if is_token and len(node.anchors) == 1 else ()
        attributes = tuple(pair for pair in properties if pair[0] not in at_token)
    label = item.get("label") if not is_token else None
    return node._replace(
        label=label if isinstance(label, str) else None,
        constant=own.get("constant") is True,
        attributes=attributes + (given or ()),
    )


def _are_attributes(properties: list[tuple[str, Any]]) -> bool:
    return not any(
        name in (RESIDUE, "pred") or not isinstance(value, _SCALARS) for name, value in properties
    )


def _constants(item: Json, node: Node, numbers: Iterable[int]) -> list[tuple[Node, Edge]]:
    if node.constant:
        return []
    properties = pairs(item, "properties")
    written = private(item).get("constants", [])
    if len(expect(written, list, "'constants'")) not in (0, len(properties)):
        raise Malformed("there are as many 'constants' as properties, or none")
    result = []
    for place, ((role, value), number) in enumerate(zip(properties, numbers, strict=False)):
        text = value if isinstance(value, str) else dump({"": value})[5:-2]
        label, own, edge_own, *more = written[place] if written else (spell(text), [], [])
        constant = Node(
            f":{number}",
            expect(label, str, "a constant"),
            tuple(expect_list(more[0], int, "the anchors of a constant")) if more else (),
            constant=True,
            attributes=attributes_from_json(own),
        )
        edge = Edge(node.id, constant.id, role, attributes=attributes_from_json(edge_own))
        result.append((constant, edge))
    return result


def _edge(link: Json, ids: Mapping[JsonId, str], framework: Framework) -> Edge:
    source = _known(link.get("source"), ids, "the source of an edge")
    target = _known(link.get("target"), ids, "the target of an edge")
    label = optional(link.get("label"), str, "the label of an edge") or ""
    attributes = attributes_from_json(private(link).get("attributes", []))
    public = pairs(link, "attributes" if "attributes" in link else "properties")
    remote = ("remote", True) in public
    if framework.properties is Properties.ATTRIBUTES and _are_attributes(public):
        attributes = (*(pair for pair in public if pair != ("remote", True)), *attributes)
    if framework.has_categories:
        own = optional(private(link).get("label"), str, "a label")
        label = join_categories((label,)) if own is None else own
    elif framework.penman_notes and private(link).get(
        "inverted", is_inverted(label, link.get("normal"))
    ):
        source, target, label = target, source, label.removesuffix("-of")
        attributes = _INVERTED + attributes
    edge = Edge(source, target, label, remote, attributes)
    names = {ids[link["source"]]: link["source"], ids[link["target"]]: link["target"]}
    written = edge_items(edge, framework, names)[0]
    rest = residue(link | {PRIVATE: None}, written | {PRIVATE: None})
    return edge._replace(attributes=attributes + rest)


def _merge_categories(
    edges: list[Edge], numbers: list[int]
) -> tuple[list[Edge], Attributes, list[int]]:
    """Make one edge of those with the same ends.

    Return also how they stood, if that is new, and the place of the first of each.
    """
    merged: dict[Any, list[int]] = {}
    for place, (edge, number) in enumerate(zip(edges, numbers, strict=True)):
        # What only one of several categories says, as a residue, keeps them apart.
        rest = attribute(edge.attributes, RESIDUE)
        key = (edge.source, edge.target, edge.remote, number) if rest is None else place
        merged.setdefault(key, []).append(place)
    written = [place for places in merged.values() for place in places]
    result = []
    for first, *more in merged.values():
        label = "|".join([edges[first].label, *(edges[place].label for place in more)])
        result.append(edges[first]._replace(label=label))
    firsts = [places[0] for places in merged.values()]
    if written == sorted(written):
        return result, (), firsts
    order = sorted(range(len(written)), key=written.__getitem__)
    return result, (("edge_order", " ".join(map(str, order))),), firsts


def _with_residues(graph: Graph, record: Json, items: list[Json]) -> Graph:
    written = encode(graph)
    nodes = list(graph.nodes)
    for place, (item, other) in enumerate(zip(items, written["nodes"], strict=True)):
        node = nodes[place]
        nodes[place] = node._replace(attributes=node.attributes + residue(item, other))
    # Of the lists that have residues of their own, only their absence is left to say.
    told: Json = {key: [] for key in ("nodes", "edges") if isinstance(record.get(key), list)}
    rest = residue({**record, **told}, {**written, "nodes": [], "edges": []})
    return Graph(
        graph.id,
        graph.framework,
        graph.tokens,
        tuple(nodes),
        graph.edges,
        graph.tops,
        graph.metadata,
        graph.extras + rest,
        graph.scores,
    )
