"""Writing UCCA XML; `graphconv.codecs.ucca` says what the attributes mean."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple
from xml.parsers import expat

from graphconv.codecs.ucca.guesses import guess_kinds, is_terminal, name_units
from graphconv.codecs.ucca.marks import (
    EDGE_MARKS,
    EMPTY_SLOT,
    EMPTY_SLOTS,
    FORMAT,
    GRAPH_MARKS,
    NO_CATEGORY,
    NO_SLOT,
    NODE_MARKS,
    TERMINAL,
    TERMINAL_EDGES,
    TOKEN_MARKS,
)
from graphconv.codecs.ucca.xml_source import XML_NAMESPACE
from graphconv.errors import FormatError
from graphconv.graph import Attributes, Edge, Graph, split_categories

# What the features of most tokens consist of.
_PLAIN_GROUPS = frozenset({"", "extra"})
_PLAIN_MARKS = frozenset({"type", "pos_name"})
_EDGE_HEAD = '      <edge toID="'
_GROUPS = frozenset({"attributes", "extra", "layer", "node", "edge", "category"})
_NEWLINE = "\n"  # Python 3.11 has no backslash inside of an f-string
_STYLES = ("categories", "terminal_categories", EMPTY_SLOTS)
_ESCAPES = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&quot;",
        "\r": "&#13;",
        "\n": "&#10;",
        "\t": "&#09;",
    }
)
_is_special = re.compile(r'[&<>"\x00-\x1f\ud800-\udfff\ufffe\uffff]').search
_is_forbidden = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]").search
_is_name = re.compile(r"(?:xml:)?[^\W\d][\w.\-]*").fullmatch
is_number = re.compile("[0-9]{1,18}").fullmatch
"""Say whether a text is a number of a sensible length."""

_Groups = dict[str, dict[str, Any]]
"""Names and values by the element that they belong to; those of marks by ``""``."""


def write_passage(graph: Graph) -> str:
    """Turn *graph* into a passage."""
    extras = _classify(graph.extras, GRAPH_MARKS, "")
    marks = extras.get("", {})
    kinds = {} if marks.get("format") == FORMAT else guess_kinds(graph)
    names = name_units(graph, marks.get("format") != FORMAT)
    token_ids, tokens = _write_tokens(graph, kinds)
    styles = frozenset(name for name in _STYLES if marks.get(name))
    units = _write_units(graph, token_ids, names, kinds, styles)
    parts = {
        "0": _write_layer("0", extras.get("layer0", {}), tokens),
        "1": _write_layer("1", extras.get("layer1", {}), units),
    }
    metadata = _classify(graph.metadata, frozenset(), "attributes")
    codes = ["a", "x", "0", "1"] if "extra" in metadata else ["a", "0", "1"]
    if "children" in marks:
        codes = json.loads(marks["children"])
    inner = "".join([parts.get(code) or _write_child(code, metadata, "  ") for code in codes])
    own = {"annotationID": "0", **extras.get("root", {}), "passageID": graph.id}
    text = _wrap("root", own, inner, "")
    if marks.get("ascii"):
        text = text.encode("ascii", "xmlcharrefreplace").decode()
    before = [f"{marks[name]}\n" for name in ("declaration", "prolog") if marks.get(name)]
    after = [f"{marks['epilog']}\n"] if marks.get("epilog") else []
    return "".join([*before, text, *after])


def _classify(pairs: Attributes, reserved: frozenset[str], default: str) -> _Groups:
    if not pairs:
        return {}
    names, values = zip(*pairs, strict=True)
    return {
        group: {rest: values[i] for rest, i in places}
        for group, places in _places(names, reserved, default)
    }


@lru_cache(maxsize=4096)
def _places(
    names: tuple[str, ...], reserved: frozenset[str], default: str
) -> list[tuple[str, list[tuple[str, int]]]]:
    """Return for each group the names in it, and where they stand; few sets of names differ."""
    groups: dict[str, list[tuple[str, int]]] = {}
    for i, name in enumerate(names):
        group, rest = default, name
        if name in reserved:
            group = ""
        elif "/" in name:
            group, _, rest = name.partition("/")
            if default and group not in _GROUPS:
                raise FormatError("XML has no place for an attribute with this name", text=name)
        groups.setdefault(group, []).append((rest, i))
    return [*groups.items()]


# Elements


def _quote(value: Any) -> str:
    """Write an attribute's value, as ElementTree does."""
    text = value if isinstance(value, str) else str(value)
    if not _is_special(text):
        return text
    if _is_forbidden(text):
        raise FormatError("XML cannot hold a control character", text=text)
    return text.translate(_ESCAPES)


def _quote_all(texts: Iterable[str]) -> Iterable[str]:
    return map(_quote, texts) if _is_special("".join(texts)) else texts


@lru_cache(maxsize=4096)
def _template(names: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return *names* in order, and the text of these attributes with a place for each value."""
    order = tuple(sorted(names))
    written = [name.replace(XML_NAMESPACE, "xml:") for name in order]
    for name in written:
        if not _is_name(name) or not (name.isascii() or _is_read_as_name(name)):
            raise FormatError("XML cannot hold an attribute with this name", text=name)
    return order, "".join([f' {name}="%s"' for name in written])


def _is_read_as_name(name: str) -> bool:
    """Ask the parser, whose names are those of an older XML."""
    try:
        return expat.ParserCreate().Parse(f'<a {name}="" />', True) == 1
    except expat.ExpatError:
        return False


def _write_pairs(pairs: dict[str, Any]) -> str:
    """Write attributes, sorted by name, each with a space before it; None is no attribute."""
    if None in pairs.values():
        pairs = {name: value for name, value in pairs.items() if value is not None}
    names, template = _template(tuple(pairs))
    values = [pairs[name] for name in names]
    try:
        special = _is_special("".join(values)) is not None
    except TypeError:  # values that are no text
        special = True
    return template % tuple(map(_quote, values) if special else values)


def _wrap(tag: str, own: dict[str, Any], inner: str, indent: str) -> str:
    if not inner:
        return f"{indent}<{tag}{_write_pairs(own)} />\n"
    return f"{indent}<{tag}{_write_pairs(own)}>\n{inner}{indent}</{tag}>\n"


def _write_child(code: str, groups: _Groups, indent: str) -> str:
    """Write attributes or extra, or what *code* says as XML."""
    if code == "a":
        return f"{indent}<attributes{_write_pairs(groups.get('attributes', {}))} />\n"
    if code == "x":
        return f"{indent}<extra{_write_pairs(groups.get('extra', {}))} />\n"
    return f"{indent}{code}\n"


def _write_children(groups: _Groups, items: list[str], code: str, indent: str) -> str:
    """Write the children of an element: attributes, extra, and *items*, which *code* stands for."""
    unusual = groups[""].get("children") if "" in groups else None
    if unusual is None:
        head = f"{indent}<attributes />\n"
        if "attributes" in groups:
            head = _write_child("a", groups, indent)
        if "extra" in groups:
            head += _write_child("x", groups, indent)
        return head + "".join(items)
    rest = iter(items)
    parts = [
        next(rest, "") if entry == code else _write_child(entry, groups, indent)
        for entry in json.loads(unusual)
    ]
    return "".join(parts) + "".join(rest)


def _write_layer(number: str, said: dict[str, Any], items: list[str]) -> str:
    groups = _classify(tuple(said.items()), frozenset({"children"}), "layer")
    own = {**groups.get("layer", {}), "layerID": number}
    return _wrap("layer", own, _write_children(groups, items, "n", "    "), "  ")


def _write_node(node_id: str, kind: str, groups: _Groups, items: list[str]) -> str:
    inner = _write_children(groups, items, "e", "      ")
    if "node" not in groups and not _is_special(f"{node_id}{kind}"):
        return f'    <node ID="{node_id}" type="{kind}">\n{inner}    </node>\n'
    return _wrap("node", {"ID": node_id, "type": kind, **groups.get("node", {})}, inner, "    ")


# Tokens, units and edges


def _write_tokens(graph: Graph, kinds: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return the ids and the elements of the terminals."""
    ids, texts = [], []
    paragraph, place = "", 0
    for number, (form, lemma, pos, _, features) in enumerate(graph.tokens, 1):
        names, values = zip(*features, strict=True) if features else ((), ())
        pos_name = values[names.index("pos_name")] if "pos_name" in names else "pos"
        token_id = f"0.{number}"
        template = _plain_token(names, lemma is not None, pos is not None, pos_name)
        if template:
            kind = kinds.get(token_id, "Word")
            following = place + 1 if paragraph == "1" else 1
            text = _fill(template, (token_id, kind, str(following), form, lemma, pos, *values))
            if text:
                paragraph, place = "1", following
                ids.append(token_id)
                texts.append(text)
                continue
        groups = _classify(features, TOKEN_MARKS, "extra")
        marks = groups.get("", {})
        if lemma is not None:
            groups.setdefault("extra", {})["lemma"] = lemma
        if pos is not None:
            groups.setdefault("extra", {})[pos_name] = pos
        here = marks.get("paragraph", "1")
        place = place + 1 if here == paragraph else 1
        paragraph = here or ""
        given = str(place)
        if "paragraph_position" in marks:
            given = marks["paragraph_position"]
            place = int(given) if given and is_number(given) else place
        if "node" in groups:
            token_id = groups["node"].get("ID") or token_id
        ids.append(token_id)
        kind = marks.get("type", kinds.get(token_id, "Word"))
        attributes = groups.setdefault("attributes", {})
        attributes.update(paragraph=here, paragraph_position=given, text=form)
        texts.append(_write_node(token_id, kind, groups, []))
    return ids, texts


class _Template(NamedTuple):
    """A text with places for values, and which values go there."""

    text: str
    pick: Callable[[Sequence[Any]], tuple[Any, ...]]


@lru_cache(maxsize=4096)
def _plain_token(
    names: tuple[str, ...], has_lemma: bool, has_pos: bool, pos_name: str
) -> _Template | None:
    """Return the template of a terminal of the first paragraph, as nearly all are, else None.

    Its values are id, type, place, form, lemma, pos, and those of the features called *names*.
    """
    groups = {group: dict(places) for group, places in _places(names, TOKEN_MARKS, "extra")}
    marks, extra = groups.get("", {}), groups.get("extra", {})
    if not _PLAIN_GROUPS.issuperset(groups) or not _PLAIN_MARKS.issuperset(marks):
        return None
    places = {name: 6 + place for name, place in extra.items()}
    if has_lemma:
        places["lemma"] = 4
    if has_pos:
        places[pos_name] = 5
    kind = 6 + marks["type"] if "type" in marks else 1
    order, written = _template(tuple(places))
    text = (
        '    <node ID="%s" type="%s">\n'
        '      <attributes paragraph="1" paragraph_position="%s" text="%s" />\n'
        f"{f'      <extra{written} />{_NEWLINE}' if places else ''}"
        "    </node>\n"
    )
    return _Template(text, itemgetter(0, kind, 2, 3, *[places[name] for name in order]))


def _fill(template: _Template, values: Sequence[Any]) -> str | None:
    """Put *values* into a template; None if one of them is None, which is no attribute."""
    chosen = template.pick(values)
    try:
        if not _is_special("".join(chosen)):
            return template.text % chosen
    except TypeError:  # values that are no text
        if None in chosen:
            return None
    return template.text % tuple(map(_quote, chosen))


def _write_units(
    graph: Graph,
    token_ids: list[str],
    names: dict[str, str],
    kinds: dict[str, str],
    styles: frozenset[str],
) -> list[str]:
    outgoing: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    names |= {n.id: token_ids[n.anchors[0]] for n in graph.nodes if n.attributes and is_terminal(n)}
    written = dict(zip(names, _quote_all(names.values()), strict=True))
    tails: dict[str, str] = {}
    for edge in graph.edges:
        source, target, label, remote, attributes = edge
        if remote or attributes:
            item = _write_edge(edge, names[target], styles)
        else:
            if label not in tails:
                tails[label] = _edge_tail(label, styles)
            item = f"{_EDGE_HEAD}{written[target]}{tails[label]}"
        outgoing[source].append(item)
    tail = _terminal_tail(way_of(styles))
    anchor_heads = [f"{_EDGE_HEAD}{token_id}" for token_id in _quote_all(token_ids)]
    anchor_items = [f"{head}{tail}" for head in anchor_heads]
    texts = []
    for node in graph.nodes:
        node_id, _, anchors, _, implicit, attributes = node
        if attributes and is_terminal(node):
            continue
        groups = _classify(attributes, NODE_MARKS, "attributes") if attributes else {}
        marks = groups.get("", {})
        items = outgoing[node_id]
        if anchors:
            words = [anchor_items[anchor] for anchor in anchors]
            if "terminals" in marks:
                ways = marks["terminals"].split()
                words = [
                    f"{anchor_heads[anchor]}{_terminal_tail(way)}"
                    for anchor, way in zip(anchors, ways, strict=True)
                ]
            items = _merge(words, items, marks["order"]) if "order" in marks else words + items
        kind = marks["type"] if "type" in marks else kinds.get(node_id, "FN")
        if implicit:
            groups.setdefault("attributes", {})["implicit"] = "True"
        if groups:
            texts.append(_write_node(names[node_id], kind, groups, items))
            continue
        texts.append(
            f'    <node ID="{written[node_id]}" type="{kind}">\n'
            f"      <attributes />\n{''.join(items)}    </node>\n"
        )
    return texts


def _merge(anchors: list[str], edges: list[str], order: str) -> list[str]:
    """Put each anchor behind as many edges as *order* says."""
    result: list[str] = []
    done = 0
    for anchor, before in zip(anchors, order.split(), strict=False):
        result += edges[done : int(before)]
        done = max(done, int(before))
        result.append(anchor)
    return result + anchors[len(order.split()) :] + edges[done:]


def way_of(styles: frozenset[str]) -> str:
    """Return the usual way of a passage to write an edge to an anchor."""
    if "terminal_categories" not in styles:
        return NO_CATEGORY
    return EMPTY_SLOT if EMPTY_SLOTS in styles else NO_SLOT


def _terminal_tail(way: str) -> str:
    """Return what stands behind the target's id in an edge to an anchor."""
    return f'" type="{TERMINAL}">\n        <attributes />\n{TERMINAL_EDGES[way]}      </edge>\n'


def style_of(tags: tuple[str | None, ...]) -> str:
    """Return the extra that says whether an edge with this category has a category element."""
    return "terminal_categories" if tags == (TERMINAL,) else "categories"


def _write_edge(edge: Edge, target: str, styles: frozenset[str]) -> str:
    groups = _classify(edge.attributes, EDGE_MARKS, "attributes")
    marks = groups.get("", {})
    if edge.remote:
        groups.setdefault("attributes", {})["remote"] = "True"
    tags = split_categories(edge.label)
    categories = []
    if marks.get("categories", len(tags) > 1 or style_of(tags) in styles):
        slot = {"slot": ""} if EMPTY_SLOTS in styles else {}
        said: list[dict[str, Any]] = [{**slot, "tag": tag} for tag in tags]
        for name, value in groups.get("category", {}).items():
            number, _, rest = name.partition("/")
            if int(number) < len(said):
                said[int(number)][rest] = value
        categories = [f"        <category{_write_pairs(pairs)} />\n" for pairs in said]
    own = {"toID": target, "type": marks.get("type", tags[0]), **groups.get("edge", {})}
    inner = _write_children(groups, categories, "c", "        ")
    return _wrap("edge", own, inner, "      ")


@lru_cache(maxsize=1024)
def _edge_tail(label: str, styles: frozenset[str]) -> str:
    """Return what stands behind the target's id in an edge that says nothing but its label."""
    tags = split_categories(label)
    categories = tags if len(tags) > 1 or style_of(tags) in styles else ()
    slot = 'slot="" ' if EMPTY_SLOTS in styles else ""
    inner = "".join([f'        <category {slot}tag="{_quote(tag)}" />\n' for tag in categories])
    return f'" type="{_quote(tags[0])}">\n        <attributes />\n{inner}      </edge>\n'
