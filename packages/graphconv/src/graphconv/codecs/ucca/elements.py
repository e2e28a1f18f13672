"""What single elements of UCCA XML say; `graphconv.codecs.ucca` says what the attributes mean."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from graphconv.codecs.ucca.marks import (
    CODES,
    EDGE_MARKS,
    EMPTY_SLOT,
    EMPTY_SLOTS,
    FORMAT,
    NO_CATEGORY,
    NO_SLOT,
    NODE_MARKS,
    TERMINAL,
    TOKEN_MARKS,
)
from graphconv.codecs.ucca.writer import style_of
from graphconv.codecs.ucca.xml_source import XmlSource
from graphconv.graph import Attributes, join_categories

Pairs = list[tuple[str, Any]]
Styles = frozenset[str]
"""Those of the extras ``categories``, ``terminal_categories`` and ``empty_slots`` that it has."""

_PLACES = ("paragraph", "paragraph_position", "text")


class Terminal(NamedTuple):
    """What the element of a terminal says."""

    id: str
    kind: str
    paragraph: str | None
    place: str | None
    form: str
    lemma: str | None
    pos: str | None
    features: Attributes
    """Those of ``extra``."""
    others: Attributes
    """Those of unusual attributes."""
    unusual: Attributes
    """The features called ``node/name`` and ``children``."""


class WrittenEdge(NamedTuple):
    """What the element of an edge says beyond its target."""

    label: str
    remote: bool
    attributes: Attributes
    written: str | None
    """How an edge that makes a terminal an anchor of the unit is written; None: it is an Edge."""


class Unit(NamedTuple):
    """What the element of a unit says."""

    kind: str
    implicit: bool
    attributes: Attributes
    unusual: Attributes
    """The attribute ``children``, which comes last."""
    edges: Sequence[tuple[str, WrittenEdge]]
    """The ids that its edges lead to, and what the edges say."""


class Outline(NamedTuple):
    """What a file says outside of the nodes of its layers 0 and 1."""

    id: str
    metadata: Attributes
    extras: Attributes
    terminals: list[Element]
    units: list[Element]


class Passage(NamedTuple):
    """What a file says, element by element."""

    outline: Outline
    styles: Styles
    terminals: Iterable[Terminal]
    unit_ids: Sequence[str]
    units: Iterable[Unit]


def contents(
    source: XmlSource, element: Element, item: str, foreign: frozenset[str] = frozenset()
) -> tuple[dict[str, str], dict[str, str], list[Element], str | None]:
    """Return attributes, extra, the children called *item*, and what is unusual about them all.

    Edges to nodes with *foreign* ids are no items.
    """
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


def read_outline(source: XmlSource, *, is_ascii: bool) -> Outline:
    """Read everything but the nodes; *is_ascii* says that other characters are references."""
    extras: Pairs = [("format", FORMAT), *source.around]
    layers, metadata = _read_root(source, extras)
    if is_ascii:
        extras.append(("ascii", True))
    terminals = _read_layer(source, layers.get("0"), extras)
    units = _read_layer(source, layers.get("1"), extras)
    passage_id = source.root.attrib["passageID"]
    return Outline(passage_id, tuple(metadata), tuple(extras), terminals, units)


def check_nodes(source: XmlSource, nodes: Iterable[Element]) -> None:
    """Refuse nodes without an id or a type."""
    for node in nodes:
        if "ID" not in node.attrib or "type" not in node.attrib:
            source.fail("a node needs the attributes ID and type", node)


def read_terminal(source: XmlSource, element: Element) -> Terminal:
    """Read the element of a terminal.

    No value may decide where another one goes: the reader of regular files relies on it.
    """
    own = element.attrib
    attributes, extra, edges, unusual = contents(source, element, "edge")
    if "text" not in attributes or edges:
        source.fail("a terminal needs the attribute text and no edges", element)
    pos, features = _read_features(extra)
    rest = _pairs(own, "node/", ("ID", "type"))
    if unusual:
        rest.append(("children", unusual))
    return Terminal(
        own["ID"],
        own["type"],
        attributes.get("paragraph"),
        attributes.get("paragraph_position"),
        attributes["text"],
        extra.get("lemma"),
        pos,
        tuple(features),
        tuple(_pairs(attributes, "attributes/", _PLACES)),
        tuple(rest),
    )


def read_unit(
    source: XmlSource, element: Element, styles: Styles, foreign: frozenset[str] = frozenset()
) -> Unit:
    """Read the element of a unit."""
    own = element.attrib
    attributes, extra, items, unusual = contents(source, element, "edge", foreign)
    written_edges = []
    for item in items:
        if "toID" not in item.attrib:
            source.fail("an edge needs the attribute toID", item)
        written_edges.append((item.attrib["toID"], read_edge(source, item, styles)))
    implicit = attributes.get("implicit") == "True"
    pairs = _pairs(attributes, "attributes/", ("implicit",) if implicit else (), NODE_MARKS)
    pairs += _pairs(extra, "extra/")
    if own["type"] != "FN":
        pairs.append(("type", own["type"]))
    pairs += _pairs(own, "node/", ("ID", "type"))
    rest = () if unusual is None else (("children", unusual),)
    return Unit(own["type"], implicit, tuple(pairs), rest, written_edges)


def read_edge(source: XmlSource, element: Element, styles: Styles) -> WrittenEdge:
    """Read the element of an edge."""
    own = element.attrib
    kind = own.get("type")
    attributes, extra, categories, unusual = contents(source, element, "category")
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
    empty = EMPTY_SLOTS in styles
    for number, category in enumerate(categories):
        if len(category):
            source.fail("unexpected element in a category", category)
        if len(category.attrib) > 1 or empty:
            said = {"slot": None, **category.attrib} if empty else category.attrib
            usual_slot = empty and said["slot"] == ""
            pairs += _pairs(
                said, f"category/{number}/", ("tag", "slot") if usual_slot else ("tag",)
            )
    label = _label(tags)
    written = None
    if label == TERMINAL and not remote and kind == TERMINAL and not unusual:
        written = _way_to_write(pairs, categories)
    if unusual:
        pairs.append(("children", unusual))
    return WrittenEdge(label, remote, tuple(pairs), written)


def _way_to_write(pairs: Pairs, categories: Sequence[Element]) -> str | None:
    """Return one of the :data:`TERMINAL_EDGES`, or None if a terminal edge says more than that."""
    if not {name for name, _ in pairs} <= {"categories", "category/0/slot"}:
        return None
    if not categories:
        return NO_CATEGORY
    slot = categories[0].get("slot")
    return {None: NO_SLOT, "": EMPTY_SLOT}.get(slot) if len(categories) == 1 else None


def read_style(edge: Element) -> Styles:
    """Say that *edge* has a category element even though it is the only one, or an empty slot."""
    categories = edge.findall("category")
    found = {EMPTY_SLOTS for category in categories if category.get("slot") == ""}
    if len(categories) == 1:
        found.add(style_of((categories[0].get("tag"),)))
    return frozenset(found)


def _read_root(source: XmlSource, extras: Pairs) -> tuple[dict[str, Element], Pairs]:
    """Return the layers 0 and 1, and the metadata; everything else goes to *extras*."""
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


def _read_layer(source: XmlSource, layer: Element | None, extras: Pairs) -> list[Element]:
    """Return the nodes of *layer*; everything else that it says goes to *extras*."""
    if layer is None:
        return []
    prefix = f"layer{layer.get('layerID')}/"
    attributes, extra, nodes, unusual = contents(source, layer, "node")
    extras += _pairs(layer.attrib, f"{prefix}layer/", ("layerID",))
    extras += _pairs(attributes, f"{prefix}attributes/")
    extras += _pairs(extra, f"{prefix}extra/")
    if unusual:
        extras.append((f"{prefix}children", unusual))
    return nodes


def _pairs(
    attributes: Mapping[str, str | None],
    prefix: str,
    skip: Sequence[str] = (),
    reserved: frozenset[str] = frozenset(),
) -> Pairs:
    """Return sorted *attributes* with *prefix*; if names are *reserved*, only these get it."""
    return [
        (prefix + name if not reserved or name in reserved else name, value)
        for name, value in sorted(attributes.items())
        if name not in skip
    ]


def _read_features(extra: dict[str, str]) -> tuple[str | None, Pairs]:
    """Return the part of speech, and the features without it and the lemma."""
    moved = ("lemma", "pos" if "pos" in extra else "tag")
    features = _pairs(extra, "extra/", moved, TOKEN_MARKS)
    if "pos" not in extra and "tag" in extra:
        return extra["tag"], [*features, ("pos_name", "tag")]
    return extra.get("pos"), features


@lru_cache(maxsize=1024)
def _label(tags: tuple[str, ...]) -> str:
    return join_categories(tags)
