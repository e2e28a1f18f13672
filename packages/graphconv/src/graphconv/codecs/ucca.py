r"""UCCA XML, one passage per file, with everything that the file says.

Terminals (layer 0) are tokens, units (layer 1) are nodes. What is not in the fields of Graph,
Token, Node and Edge is in their attributes, and only where it differs from the usual file:

* The attributes of an ``<attributes>`` element keep their names, those of ``<extra>`` are called
  ``extra/name``. For tokens, which have mostly ``extra`` features, it is the other way round:
  ``dep``, ``head`` and so on, and ``attributes/name``.
* ``type`` of a unit unless it is FN, of a token unless it is Word. ``paragraph`` of a token unless
  it is 1, ``paragraph_position`` unless it counts on in the paragraph. ``pos_name`` is ``tag`` if
  the token has no ``pos`` feature but a ``tag``.
* ``order`` of a unit: how many edges stand before each of its anchors, unless all anchors come
  first. ``category/1/slot`` and so on of an edge: what its categories (counted from 0) say beyond
  their tags. ``type`` of an edge that is not its first category.
* ``node/name`` and ``edge/name``: unusual attributes of these elements themselves.
* ``children``: the child elements as a JSON list, where they are unusual: ``a`` for attributes,
  ``x`` for extra, ``c`` for a category, ``n`` for a node, ``e`` for an edge, ``0`` and ``1`` for
  the layers; anything else (comments, unknown elements and layers) as XML.
* Graph: attributes and extra of the passage are metadata; those of the layers are extras called
  ``layer0/extra/doc`` and so on. The extras ``categories`` and ``terminal_categories`` say that
  edges have a category element even if it is the only one (as in newer files), ``ascii`` that other
  characters are written as references; ``declaration``, ``prolog`` and ``epilog`` stand outside of
  the root element.
* The extra ``format`` is ``ucca-xml``. In a graph that never was a file, and so does not have it,
  types are guessed when it is written.

Names that would clash with these (an attribute called ``type``, say) have their element's name in
front, as in ``attributes/type``.

Attributes are sorted by name, as in the treebanks; files that are indented by two spaces, as those
are, come back byte for byte, all others as equal canonical XML.

>>> text = '''<root annotationID="0" passageID="7">
...   <attributes />
...   <layer layerID="0">
...     <attributes />
...     <node ID="0.1" type="Word">
...       <attributes paragraph="1" paragraph_position="1" text="Hello" />
...       <extra dep="ROOT" lemma="hello" />
...     </node>
...   </layer>
...   <layer layerID="1">
...     <attributes />
...     <node ID="1.1" type="FN">
...       <attributes />
...       <edge toID="0.1" type="Terminal">
...         <attributes />
...       </edge>
...     </node>
...   </layer>
... </root>
... '''
>>> graph = parse(Block(text, "7.xml", 1))
>>> graph.tokens[0], graph.nodes[0].anchors
(Token(form='Hello', lemma='hello', pos=None, span=None, features=(('dep', 'ROOT'),)), (0,))
>>> format(graph) == text
True
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any
from xml.etree.ElementTree import Element

from graphconv.codecs import Block
from graphconv.codecs.ucca_writer import (
    CODES,
    EDGE_MARKS,
    FORMAT,
    NODE_MARKS,
    TERMINAL,
    TOKEN_MARKS,
    style_of,
    write_passage,
)
from graphconv.codecs.xml_source import XmlSource, parse_xml
from graphconv.graph import Attributes, Edge, Graph, Node, Token, attribute, join_categories

_TERMINAL_NODE: Attributes = (("terminal", True),)
_PLACES = ("paragraph", "paragraph_position", "text")

_Pairs = list[tuple[str, Any]]

# The constructor of a NamedTuple runs Python code; these do not.
_token: Callable[[Any], Token] = partial(tuple.__new__, Token)
_node: Callable[[Any], Node] = partial(tuple.__new__, Node)
_edge: Callable[[Any], Edge] = partial(tuple.__new__, Edge)

ONE_BLOCK = True
"""The file is one graph, so that nobody needs to cut it into lines."""


def sniff(head: str) -> bool:
    """Say whether *head* is the beginning of an XML file.

    >>> sniff('<root annotationID="0" passageID="7">'), sniff("(b / bark-01)")
    (True, False)
    """
    return head.lstrip("\ufeff \t\r\n").startswith("<")


def blocks(lines: Iterable[str], filename: str) -> Iterator[Block]:
    """Return the whole file as one block."""
    text = "".join(lines)
    if text.strip("\ufeff \t\r\n"):
        yield Block(text, filename, 1, True)


def parse(block: Block, framework: str | None = None) -> Graph:  # noqa: ARG001 - as in all codecs
    """Turn the text of one passage into a Graph."""
    source = parse_xml(block.text, block.filename)
    extras: _Pairs = [("format", FORMAT), *source.around]
    layers, metadata = _read_root(source, extras)
    if "&#" in block.text and block.text.isascii():
        extras.append(("ascii", True))
    terminals = _read_layer(source, layers.get("0"), extras)
    units = _read_layer(source, layers.get("1"), extras)
    styles = _read_styles(units) if "<category" in block.text else frozenset()
    extras += [(style, True) for style in sorted(styles)]
    tokens, positions = _read_tokens(source, terminals)
    foreign = _foreign_ids(source.root) if attribute(tuple(extras), "children") else frozenset()
    nodes, edges = _read_units(source, units, positions, styles, foreign)
    return Graph(
        id=source.root.attrib["passageID"],
        framework="ucca",
        tokens=tokens,
        nodes=nodes,
        edges=edges,
        tops=_find_top(source, units, nodes, edges),
        metadata=tuple(metadata),
        extras=tuple(extras),
    )


def format(graph: Graph) -> str:  # noqa: A001 - the name that every codec has
    """Turn *graph* into a passage."""
    return write_passage(graph)


def _contents(
    source: XmlSource, element: Element, item: str, foreign: frozenset[str] = frozenset()
) -> tuple[dict[str, str], dict[str, str], list[Element], str | None]:
    """Return attributes, extra, the children called *item*, and what is unusual about them all."""
    children = list(element)
    tags = [child.tag for child in children]
    if not foreign and tags[:1] == ["attributes"] and not len(children[0]):
        if tags.count(item) == len(tags) - 1:
            return children[0].attrib, {}, children[1:], None
        second = children[1]
        has_extra = second.tag == "extra" and bool(second.attrib) and not len(second)
        if has_extra and tags.count(item) == len(tags) - 2:
            return children[0].attrib, second.attrib, children[2:], None
    codes = []
    found: dict[str, dict[str, str]] = {}
    items = []
    for child, tag in zip(children, tags, strict=True):
        if tag == item and child.get("toID") not in foreign:
            items.append(child)
            codes.append(CODES[tag])
        elif tag in ("attributes", "extra") and tag not in found and not len(child):
            found[tag] = child.attrib
            codes.append(CODES[tag])
        else:
            codes.append(source.quote(child))
    extra = found.get("extra", {})
    usual = ["a", "x"] if extra else ["a"]
    usual += [CODES[item]] * len(items)
    unusual = None if codes == usual else json.dumps(codes, ensure_ascii=False)
    return found.get("attributes", {}), extra, items, unusual


def _pairs(
    attributes: dict[str, str],
    prefix: str,
    skip: Sequence[str] = (),
    reserved: frozenset[str] = frozenset(),
) -> _Pairs:
    """Return sorted *attributes* with *prefix*; if names are *reserved*, only these get it."""
    return [
        (prefix + name if not reserved or name in reserved else name, value)
        for name, value in sorted(attributes.items())
        if name not in skip
    ]


def _read_root(source: XmlSource, extras: _Pairs) -> tuple[dict[str, Element], _Pairs]:
    """Return the layers 0 and 1, and the metadata."""
    root = source.root
    if root.tag != "root":
        source.fail(f"an element 'root' expected, not {root.tag!r}", root)
    if "passageID" not in root.attrib:
        source.fail("the root element has no passageID", root)
    if root.get("annotationID") != "0":
        extras.append(("root/annotationID", root.get("annotationID")))
    extras += _pairs(root.attrib, "root/", ("passageID", "annotationID"))
    layers: dict[str, Element] = {}
    heads: dict[str, dict[str, str]] = {}
    codes = []
    for child in root:
        key = child.get("layerID", "") if child.tag == "layer" else child.tag
        if key in ("0", "1") and key not in layers:
            layers[key] = child
            codes.append(key)
        elif key in ("attributes", "extra") and key not in heads and not len(child):
            heads[key] = child.attrib
            codes.append(CODES[key])
        else:
            codes.append(source.quote(child))
    extra = heads.get("extra", {})
    if codes != (["a", "x", "0", "1"] if extra else ["a", "0", "1"]):
        extras.append(("children", json.dumps(codes, ensure_ascii=False)))
    return layers, _pairs(heads.get("attributes", {}), "") + _pairs(extra, "extra/")


def _foreign_ids(root: Element) -> frozenset[str]:
    """Return the ids of the nodes in layers that the graph does not hold."""
    layers = [layer for layer in root.iterfind("layer") if layer.get("layerID") not in ("0", "1")]
    return frozenset(node.get("ID", "") for layer in layers for node in layer.iterfind("node"))


def _read_layer(source: XmlSource, layer: Element | None, extras: _Pairs) -> list[Element]:
    """Return the nodes of *layer*; everything else that it says goes to *extras*."""
    if layer is None:
        return []
    prefix = f"layer{layer.get('layerID')}/"
    attributes, extra, nodes, unusual = _contents(source, layer, "node")
    extras += _pairs(layer.attrib, f"{prefix}layer/", ("layerID",))
    extras += _pairs(attributes, f"{prefix}attributes/")
    extras += _pairs(extra, f"{prefix}extra/")
    if unusual:
        extras.append((f"{prefix}children", unusual))
    for node in nodes:
        if "ID" not in node.attrib or "type" not in node.attrib:
            source.fail("a node needs the attributes ID and type", node)
    return nodes


def _read_tokens(
    source: XmlSource, elements: list[Element]
) -> tuple[tuple[Token, ...], dict[str, int]]:
    """Return the tokens, and their positions by id."""
    tokens: list[Token] = []
    positions: dict[str, int] = {}
    paragraph, place, last = "", 0, 0
    for element in elements:
        attributes, extra, edges, unusual = _contents(source, element, "edge")
        if "text" not in attributes or edges:
            source.fail("a terminal needs the attribute text and no edges", element)
        pos, features = _read_features(extra) if extra else (None, [])
        kind = element.attrib["type"]
        if kind != "Word":
            features.append(("type", kind))
        here = attributes.get("paragraph")
        place = place + 1 if here == paragraph else 1
        paragraph = here or ""
        if here != "1":
            features.append(("paragraph", here))
        given = attributes.get("paragraph_position")
        if given != str(place):
            features.append(("paragraph_position", given))
            place = int(given) if given and given.isdecimal() else place
        if len(attributes) != 3 or here is None or given is None:
            features += _pairs(attributes, "attributes/", _PLACES)
        token_id, last = _read_token_id(source, element, last)
        if last != len(tokens) + 1:
            features.append(("node/ID", token_id))
        if len(element.attrib) > 2:
            features += _pairs(element.attrib, "node/", ("ID", "type"))
        if unusual:
            features.append(("children", unusual))
        positions[token_id] = len(tokens)
        tokens.append(_token((attributes["text"], extra.get("lemma"), pos, None, tuple(features))))
    return tuple(tokens), positions


def _read_features(extra: dict[str, str]) -> tuple[str | None, _Pairs]:
    """Return the part of speech, and the features without it and the lemma."""
    names, kept = _feature_names(tuple(extra))
    features = list(zip(names, [extra[name] for name in kept], strict=True))
    pos = extra.get("pos")
    if pos is None and "tag" in extra:
        return extra["tag"], [*features, ("pos_name", "tag")]
    return pos, features


@lru_cache(maxsize=1024)
def _feature_names(extra: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the names of features, and those of the attributes of ``extra`` that they come from.

    The tokens of a treebank have few different sets of attributes.
    """
    moved = ("lemma", "pos" if "pos" in extra else "tag")
    kept = sorted(name for name in extra if name not in moved)
    return [f"extra/{name}" if name in TOKEN_MARKS else name for name in kept], kept


def _read_token_id(source: XmlSource, element: Element, last: int) -> tuple[str, int]:
    """Return the id of a terminal and its number, which must be greater than the *last* one."""
    token_id = element.attrib["ID"]
    if token_id == f"0.{last + 1}":  # nearly always
        return token_id, last + 1
    number = token_id.removeprefix("0.")
    if not number.isdecimal() or f"0.{int(number)}" != token_id:
        source.fail(f"the id of a terminal must be like 0.1, not {token_id!r}", element)
    if int(number) == last:
        source.fail(f"node {token_id!r} is defined twice", element)
    if int(number) < last:
        source.fail(f"terminal {token_id!r} is not in the order of the ids", element)
    return token_id, int(number)


def _read_units(
    source: XmlSource,
    elements: list[Element],
    positions: dict[str, int],
    styles: frozenset[str],
    foreign: frozenset[str],
) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
    known = _read_unit_ids(source, elements, positions)
    nodes: list[Node] = []
    edges: list[Edge] = []
    terminals: dict[str, Node] = {}
    for element in elements:
        own = element.attrib
        unit_id = own["ID"]
        attributes, extra, items, unusual = _contents(source, element, "edge", foreign)
        anchors: list[int] = []
        order: list[int] = []
        first = len(edges)
        for item in items:
            target, label, remote, marks = _read_edge(source, item, styles)
            if target in positions:
                if label == TERMINAL and not remote and not marks:
                    anchors.append(positions[target])
                    order.append(len(edges) - first)
                    continue
                terminals[target] = Node(
                    target, None, (positions[target],), attributes=_TERMINAL_NODE
                )
            elif target not in known:
                source.fail(f"there is an edge to an unknown node {target!r}", item)
            edges.append(_edge((unit_id, target, label, remote, marks)))
        implicit = attributes.get("implicit") == "True"
        skip = ("implicit",) if implicit else ()
        pairs = _pairs(attributes, "attributes/", skip, NODE_MARKS) if attributes else []
        if extra:
            pairs += _pairs(extra, "extra/")
        if own["type"] != "FN":
            pairs.append(("type", own["type"]))
        if len(own) > 2:
            pairs += _pairs(own, "node/", ("ID", "type"))
        if any(order):
            pairs.append(("order", " ".join(map(str, order))))
        if unusual:
            pairs.append(("children", unusual))
        nodes.append(_node((unit_id, None, tuple(anchors), False, implicit, tuple(pairs))))
    return (*nodes, *terminals.values()), tuple(edges)


def _read_unit_ids(
    source: XmlSource, elements: list[Element], positions: dict[str, int]
) -> set[str]:
    ids: set[str] = set()
    for element in elements:
        unit_id = element.attrib["ID"]
        if unit_id in ids or unit_id in positions:
            source.fail(f"node {unit_id!r} is defined twice", element)
        ids.add(unit_id)
    return ids


def _read_styles(units: list[Element]) -> frozenset[str]:
    """Say which edges have a category element even if it is their only one."""
    found = set()
    for unit in units:
        for edge in unit.iterfind("edge"):
            categories = edge.findall("category")
            if len(categories) == 1:
                found.add(style_of((categories[0].get("tag"),)))
    return frozenset(found)


def _read_edge(
    source: XmlSource, element: Element, styles: frozenset[str]
) -> tuple[str, str, bool, Attributes]:
    """Return the target, the label, whether it is remote, and the attributes of an edge."""
    own = element.attrib
    kind, target = own.get("type"), own.get("toID")
    if target is None:
        source.fail("an edge needs the attribute toID", element)
    if len(element) == 1 and len(own) == 2 and kind and not styles:
        head = element[0]
        # Nothing but an empty element attributes, and a label that is the type.
        if head.tag == "attributes" and not head.keys() and not len(head) and _is_label(kind):
            return target, kind, False, ()
    attributes, extra, categories, unusual = _contents(source, element, "category")
    tags = tuple([category.get("tag") for category in categories]) or (kind,)
    if None in tags:
        source.fail("an edge needs a category", element)
    remote = attributes.get("remote") == "True"
    pairs = _pairs(attributes, "attributes/", ("remote",) if remote else (), EDGE_MARKS)
    pairs += _pairs(extra, "extra/")
    if len(own) > 2 or kind is None:
        pairs += _pairs(own, "edge/", ("toID", "type"))
    if kind != tags[0]:
        pairs.append(("type", kind))
    usual = len(tags) > 1 or style_of(tags) in styles
    if bool(categories) != usual:
        pairs.append(("categories", bool(categories)))
    for number, category in enumerate(categories):
        if len(category):
            source.fail("unexpected element in a category", category)
        if len(category.attrib) > 1:
            pairs += _pairs(category.attrib, f"category/{number}/", ("tag",))
    if unusual:
        pairs.append(("children", unusual))
    return target, _label(tags), remote, tuple(pairs)


@lru_cache(maxsize=1024)
def _is_label(kind: str) -> bool:
    return join_categories((kind,)) == kind


@lru_cache(maxsize=1024)
def _label(tags: tuple[str, ...]) -> str:
    return join_categories(tags)


def _find_top(
    source: XmlSource, units: list[Element], nodes: Sequence[Node], edges: Sequence[Edge]
) -> tuple[str, ...]:
    """Return the first unit below nothing; refuse cycles of edges that are not remote."""
    linkage = {unit.attrib["ID"] for unit in units if unit.attrib["type"] == "LKG"}
    below: dict[str, list[str]] = {node.id: [] for node in nodes}
    degrees: dict[str, int] = dict.fromkeys(below, 0)
    children = set()
    for parent, child, _, remote, _ in edges:
        if not remote:
            below[parent].append(child)
            degrees[child] += 1
            if parent not in linkage:
                children.add(child)
    todo = [node_id for node_id, degree in degrees.items() if not degree]
    for node_id in todo:
        for child in below[node_id]:
            degrees[child] -= 1
            if not degrees[child]:
                todo.append(child)
    if len(todo) < len(degrees):
        stuck = next(unit for unit in units if degrees[unit.attrib["ID"]])
        name = stuck.attrib["ID"]
        source.fail(f"unit {name!r} is on or below a cycle of edges that are not remote", stuck)
    for unit in units:
        if unit.attrib["ID"] not in children and unit.attrib["type"] != "LKG":
            return (unit.attrib["ID"],)
    return ()
