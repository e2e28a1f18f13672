r"""UCCA XML, one passage per file, with everything that the file says.

Terminals (layer 0) are tokens, units (layer 1) are nodes. What is not in the fields of Graph, Token,
Node and Edge is in their attributes, and only where it differs from the usual file:

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
  ``x`` for extra, ``c`` for a category, ``n`` for a node, ``e`` for an edge; anything else (comments,
  unknown elements and layers) as XML.
* Graph: attributes and extra of the passage are metadata; those of the layers are extras called
  ``layer0/extra/doc`` and so on. The extra ``categories`` says that edges have category elements.

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
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NoReturn
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.parsers import expat

from graphconv.codecs import Block
from graphconv.errors import FormatError
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

TERMINAL = "Terminal"
FORMAT = "ucca-xml"
"""The extra ``format`` of a graph that was read from XML: nothing has to be guessed."""

_CODES = {"attributes": "a", "extra": "x", "category": "c", "node": "n", "edge": "e"}
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
_XML_NAMESPACE = "{http://www.w3.org/XML/1998/namespace}"
_is_special = re.compile(r'[&<>"\x00-\x1f\ud800-\udfff\ufffe\uffff]').search
_is_forbidden = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]").search
_is_name = re.compile(r"(?:xml:)?[^\W\d][\w.\-]*").fullmatch
_has_text = re.compile(r">\s*[^<\s]").search
_is_unit_id = re.compile(r"1\.[0-9]+").fullmatch

_ROOT = ["a", "0", "1"]
_PLACES = ("paragraph", "paragraph_position", "text")
_TERMINAL: Attributes = (("terminal", True),)
# Names that mean something else in attributes and features than in the file.
_GRAPH_MARKS = frozenset({"format", "categories", "children", "declaration", "prolog", "epilog"})
_TOKEN_MARKS = frozenset({"type", "paragraph", "paragraph_position", "pos_name", "children"})
_NODE_MARKS = frozenset({"type", "order", "terminal", "children"})
_EDGE_MARKS = frozenset({"type", "categories", "children"})

_Pairs = list[tuple[str, Any]]


def sniff(head: str) -> bool:
    """Say whether *head* is the beginning of XML with a ``root`` element.

    >>> sniff('<root annotationID="0" passageID="7">'), sniff("(b / bark-01)")
    (True, False)
    """
    return head.lstrip("\ufeff \t\r\n").startswith("<")


def blocks(lines: Iterable[str], filename: str) -> Iterator[Block]:
    """Return the whole file as one block."""
    text = "".join(lines)
    if text.strip():
        yield Block(text, filename, 1, True)


def parse(block: Block, framework: str | None = None) -> Graph:  # noqa: ARG001 - a codec's signature
    """Turn the text of one passage into a Graph."""
    extras: _Pairs = [("format", FORMAT)]
    root = _parse_xml(block, extras)
    layers, metadata = _read_root(block, root, extras)
    tokens: list[Token] = []
    positions: dict[str, int] = {}
    if "0" in layers:
        terminals = _read_layer(block, layers["0"], "layer0/", extras)
        _read_tokens(block, terminals, tokens, positions)
    elements: list[Element] = []
    if "1" in layers:
        elements = _read_layer(block, layers["1"], "layer1/", extras)
    style = "<category" in block.text
    if style:
        extras.append(("categories", True))
    foreign = _foreign_ids(root) if attribute(tuple(extras), "children") else frozenset()
    nodes, edges = _read_units(block, elements, positions, style, foreign)
    return Graph(
        id=root.attrib["passageID"],
        framework="ucca",
        tokens=tuple(tokens),
        nodes=nodes,
        edges=edges,
        tops=_find_top(block, nodes, edges),
        metadata=tuple(metadata),
        extras=tuple(extras),
    )


# XML to graph


def _parse_xml(block: Block, extras: _Pairs) -> Element:
    """Parse the text; what stands outside of the root element goes to *extras*."""
    text = block.text.removeprefix("\ufeff")
    plain = "<!" not in text and "<?" not in text
    if not plain:
        _read_frame(block, text, extras)
    builder = ElementTree.TreeBuilder(insert_comments=not plain, insert_pis=not plain)
    parser = ElementTree.XMLParser(target=builder)
    try:
        parser.feed(text.lstrip())
        root: Element = parser.close()
    except ElementTree.ParseError as exc:
        skipped = text[: len(text) - len(text.lstrip())].count("\n")
        line, _ = exc.position
        message = str(exc).partition(":")[0]
        raise FormatError(
            f"not well-formed XML, {message}", filename=block.filename, lineno=line + skipped
        ) from exc
    if _has_text(text) and any(piece.strip() for piece in _texts(root)):
        _fail(block, "there is text between the elements")
    return root


def _texts(root: Element) -> Iterator[str]:
    for element in root.iter():
        if isinstance(element.tag, str):
            yield element.text or ""
        yield element.tail or ""


def _read_frame(block: Block, text: str, extras: _Pairs) -> None:
    """Keep the declaration and the comments around the root; refuse document type declarations."""
    data = text.encode("utf-8", "surrogatepass")
    parser = expat.ParserCreate("utf-8")
    depth = 0
    start = end = 0

    def refuse(*_: object) -> None:
        raise FormatError(
            "document type declarations and entities are not allowed",
            filename=block.filename,
            lineno=parser.CurrentLineNumber,
        )

    def enter(*_: object) -> None:
        nonlocal depth, start
        start = start if depth else parser.CurrentByteIndex
        depth += 1

    def leave(_: object) -> None:
        nonlocal depth, end
        depth -= 1
        end = end if depth else data.index(b">", parser.CurrentByteIndex) + 1

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = enter
    parser.EndElementHandler = leave
    try:
        parser.Parse(data.lstrip(), True)
    except expat.ExpatError:
        return  # the other parser says what is wrong
    data = data.lstrip()
    declaration, prolog = _split_declaration(data[:start].decode())
    if "encoding" not in declaration or "utf-8" in declaration.lower():
        extras += [("declaration", declaration)] if declaration else []
    extras += [("prolog", prolog)] if prolog else []
    epilog = data[end:].decode().strip()
    extras += [("epilog", epilog)] if epilog else []


def _split_declaration(text: str) -> tuple[str, str]:
    if not text.startswith("<?xml "):
        return "", text.strip()
    declaration, mark, rest = text.partition("?>")
    return declaration + mark, rest.strip()


def _fail(block: Block, message: str, element: Element | None = None, nth: int = 1) -> NoReturn:
    """Raise FormatError at the line of *element*, the *nth* one like it."""
    line = 1
    if element is not None:
        parser = expat.ParserCreate("utf-8")
        left = nth

        def enter(tag: str, attributes: dict[str, str]) -> None:
            nonlocal left, line
            if tag == element.tag and attributes == element.attrib:
                left -= 1
                if not left:
                    line = parser.CurrentLineNumber

        parser.StartElementHandler = enter
        text = block.text.removeprefix("\ufeff")
        parser.Parse(text.lstrip(), True)
        line += text[: len(text) - len(text.lstrip())].count("\n")
    raise FormatError(message, filename=block.filename, lineno=line)


def _contents(
    block: Block, element: Element, item: str, foreign: frozenset[str] = frozenset()
) -> tuple[dict[str, str], dict[str, str], list[Element], str | None]:
    """Return attributes, extra, the children called *item*, and what is unusual about them all."""
    children = list(element)
    tags = [child.tag for child in children]
    plain = len(tags) - tags.count(item)
    if plain == 1 and tags[0] == "attributes" and not foreign and not len(children[0]):
        return children[0].attrib, {}, children[1:], None
    codes = []
    found: dict[str, dict[str, str]] = {}
    items = []
    for child, tag in zip(children, tags, strict=True):
        if tag == item and child.get("toID") not in foreign:
            items.append(child)
            codes.append(_CODES[tag])
        elif tag in ("attributes", "extra") and tag not in found:
            if len(child):
                _fail(block, f"unexpected element in {tag}", child)
            found[tag] = child.attrib
            codes.append(_CODES[tag])
        else:
            codes.append(_write_xml(child))
    extra = found.get("extra", {})
    usual = ["a", "x"] if extra else ["a"]
    usual += [_CODES[item]] * len(items)
    unusual = None if codes == usual else json.dumps(codes, ensure_ascii=False)
    return found.get("attributes", {}), extra, items, unusual


def _write_xml(element: Element) -> str:
    return ElementTree.tostring(element, encoding="unicode").strip()


def _read_root(
    block: Block, root: Element, extras: _Pairs
) -> tuple[dict[str, Element], list[tuple[str, str]]]:
    """Return the layers 0 and 1, and the metadata."""
    if root.tag != "root":
        _fail(block, f"a root element called 'root' expected, not {root.tag!r}", root)
    if "passageID" not in root.attrib:
        _fail(block, "the root element has no passageID", root)
    annotation = root.get("annotationID")
    if annotation != "0":
        extras.append(("root/annotationID", annotation))
    extras += _pairs(root.attrib, "root/", ("passageID", "annotationID"))
    layers: dict[str, Element] = {}
    metadata: list[tuple[str, str]] = []
    codes = []
    for child in root:
        key = child.get("layerID", "") if child.tag == "layer" else child.tag
        if key in ("0", "1") and key not in layers:
            layers[key] = child
            codes.append(key)
        elif key in ("attributes", "extra") and _CODES[key] not in codes:
            codes.append(_CODES[key])
            metadata += _pairs(child.attrib, "" if key == "attributes" else "extra/")
        else:
            codes.append(_write_xml(child))
    usual = (
        ["a", "x", "0", "1"] if any(name.startswith("extra/") for name, _ in metadata) else _ROOT
    )
    if codes != usual:
        extras.append(("children", json.dumps(codes, ensure_ascii=False)))
    return layers, metadata


def _foreign_ids(root: Element) -> frozenset[str]:
    """Return the ids of the nodes in layers that the graph does not hold."""
    layers = [layer for layer in root.iterfind("layer") if layer.get("layerID") not in ("0", "1")]
    return frozenset(node.get("ID", "") for layer in layers for node in layer.iterfind("node"))


def _pairs(attrib: dict[str, str], prefix: str, skip: Sequence[str] = ()) -> list[tuple[str, str]]:
    return [(prefix + name, attrib[name]) for name in sorted(attrib) if name not in skip]


def _read_layer(block: Block, layer: Element, prefix: str, extras: _Pairs) -> list[Element]:
    """Return the nodes of *layer*; everything else that it says goes to *extras*."""
    attrib, extra, nodes, unusual = _contents(block, layer, "node")
    extras += _pairs(layer.attrib, f"{prefix}layer/", ("layerID",))
    extras += _pairs(attrib, f"{prefix}attributes/")
    extras += _pairs(extra, f"{prefix}extra/")
    if unusual:
        extras.append((f"{prefix}children", unusual))
    for node in nodes:
        if "ID" not in node.attrib or "type" not in node.attrib:
            _fail(block, "a node needs the attributes ID and type", node)
    return nodes


def _read_tokens(
    block: Block, elements: list[Element], tokens: list[Token], positions: dict[str, int]
) -> None:
    paragraph, place = "", 0
    for number, element in enumerate(elements):
        attrib, extra, _, unusual = _contents(block, element, "edge")
        if "text" not in attrib:
            _fail(block, "a terminal needs the attribute text", element)
        features = []
        if extra:
            features = [pair for pair in sorted(extra.items()) if pair[0] not in ("lemma", "pos")]
            if not _TOKEN_MARKS.isdisjoint(extra):
                features = [(_protect(name, "extra/", _TOKEN_MARKS), v) for name, v in features]
        pos = extra.get("pos")
        if pos is None and "tag" in extra:
            pos = extra["tag"]
            features = [("pos_name", "tag"), *[pair for pair in features if pair[0] != "tag"]]
        kind = element.attrib["type"]
        if kind != "Word":
            features.append(("type", kind))
        here = attrib.get("paragraph")
        place = place + 1 if here == paragraph else 1
        paragraph = here or ""
        if here != "1":
            features.append(("paragraph", here))
        given = attrib.get("paragraph_position")
        if given != str(place):
            features.append(("paragraph_position", given))
            place = int(given) if given and given.isdecimal() else place
        if len(attrib) > 3:
            features += _pairs(attrib, "attributes/", _PLACES)
        identifier = _read_identity(block, element, positions, features, f"0.{number + 1}")
        if unusual:
            features.append(("children", unusual))
        positions[identifier] = number
        tokens.append(Token(attrib["text"], extra.get("lemma"), pos, None, tuple(features)))
    _check_order(block, elements, positions)


def _read_identity(
    block: Block, element: Element, known: dict[str, int], pairs: _Pairs, usual: str | None
) -> str:
    """Return the id of a node element, which must be new; unusual attributes go to *pairs*."""
    identifier = element.attrib["ID"]
    if identifier in known:
        _fail(block, f"node {identifier!r} is defined twice", element, 2)
    if usual is not None and identifier != usual:
        pairs.append(("node/ID", identifier))
    if len(element.attrib) > 2:
        pairs += _pairs(element.attrib, "node/", ("ID", "type"))
    return identifier


def _check_order(block: Block, elements: list[Element], positions: dict[str, int]) -> None:
    """Refuse terminals that do not stand in the order of their ids, which is that of the text."""
    if len(positions) == 0 or list(positions)[-1] == f"0.{len(positions)}":
        return
    last = 0
    for element in elements:
        number = element.attrib["ID"].rpartition(".")[2]
        if not number.isdecimal() or int(number) <= last:
            _fail(block, "the terminals are not in the order of their ids", element)
        last = int(number)


def _protect(name: str, prefix: str, reserved: frozenset[str]) -> str:
    return prefix + name if name in reserved else name


def _read_units(
    block: Block,
    elements: list[Element],
    positions: dict[str, int],
    style: bool,
    foreign: frozenset[str],
) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
    known = dict.fromkeys([element.attrib["ID"] for element in elements], -1)
    seen: dict[str, int] = dict.fromkeys(positions, 0)
    nodes: list[Node] = []
    edges: list[Edge] = []
    terminals: dict[str, Node] = {}
    for element in elements:
        attrib, extra, items, unusual = _contents(block, element, "edge", foreign)
        pairs: _Pairs = []
        source = _read_identity(block, element, seen, pairs, None)
        seen[source] = 0
        anchors: list[int] = []
        order: list[int] = []
        first = len(edges)
        for item in items:
            target, label, remote, marks = _read_edge(block, item, style)
            if target in positions:
                if label == TERMINAL and not remote and not marks:
                    anchors.append(positions[target])
                    order.append(len(edges) - first)
                    continue
                terminals[target] = Node(target, None, (positions[target],), attributes=_TERMINAL)
            elif target not in known:
                _fail(block, f"edge to an unknown node {target!r}", item)
            edges.append(Edge(source, target, label, remote, marks))
        implicit = False
        if attrib:
            implicit = attrib.get("implicit") == "True"
            skip = ("implicit",) if implicit else ()
            pairs += [
                (_protect(n, "attributes/", _NODE_MARKS), v) for n, v in _pairs(attrib, "", skip)
            ]
        if extra:
            pairs += _pairs(extra, "extra/")
        kind = element.attrib["type"]
        if kind != "FN":
            pairs.append(("type", kind))
        if any(order):
            pairs.append(("order", " ".join(map(str, order))))
        if unusual:
            pairs.append(("children", unusual))
        nodes.append(Node(source, None, tuple(anchors), False, implicit, tuple(pairs)))
    return (*nodes, *terminals.values()), tuple(edges)


def _read_edge(block: Block, element: Element, style: bool) -> tuple[str, str, bool, Attributes]:
    """Return the target, the label, whether it is remote, and the attributes of an edge."""
    own = element.attrib
    if "toID" not in own:
        _fail(block, "an edge needs the attribute toID", element)
    kind = own.get("type")
    attrib, extra, categories, unusual = _contents(block, element, "category")
    tags = (kind,)
    if categories:
        tags = tuple([category.get("tag") for category in categories])
    if None in tags:
        _fail(block, "an edge needs a category", element)
    label = join_categories(tags)  # type: ignore[arg-type]
    if len(own) == 2 and kind == tags[0] and not (attrib or extra or unusual):
        if not categories and not style:
            return own["toID"], label, False, ()
        if style and len(tags) == 1 == len(categories[:1]) and len(categories[0].attrib) == 1:
            return own["toID"], label, False, ()
    pairs: _Pairs = []
    remote = attrib.get("remote") == "True"
    skip = ("remote",) if remote else ()
    pairs += [
        (_protect(name, "attributes/", _EDGE_MARKS), v) for name, v in _pairs(attrib, "", skip)
    ]
    pairs += _pairs(extra, "extra/")
    pairs += _pairs(own, "edge/", ("toID", "type"))
    if kind != tags[0]:
        pairs.append(("type", kind))
    if bool(categories) != style:
        pairs.append(("categories", bool(categories)))
    for number, category in enumerate(categories):
        if len(category):
            _fail(block, "unexpected element in category", category)
        pairs += _pairs(category.attrib, f"category/{number}/", ("tag",))
    if unusual:
        pairs.append(("children", unusual))
    return own["toID"], label, remote, tuple(pairs)


def _find_top(block: Block, nodes: Sequence[Node], edges: Sequence[Edge]) -> tuple[str, ...]:
    """Return the first unit below nothing; refuse cycles of edges that are not remote."""
    linkage = {node.id for node in nodes if ("type", "LKG") in node.attributes}
    below: dict[str, list[str]] = {node.id: [] for node in nodes}
    degrees: dict[str, int] = dict.fromkeys(below, 0)
    under = set()
    for source, target, _, remote, _ in edges:
        if not remote:
            below[source].append(target)
            degrees[target] += 1
            if source not in linkage:
                under.add(target)
    todo = [node_id for node_id, degree in degrees.items() if not degree]
    for node_id in todo:
        for target in below[node_id]:
            degrees[target] -= 1
            if not degrees[target]:
                todo.append(target)  # noqa: B909 - the list is the queue
    if len(todo) < len(degrees):
        stuck = next(node_id for node_id, degree in degrees.items() if degree)
        cause = ElementTree.Element("node", ID=stuck, type=_type_of(nodes, stuck))
        _fail(block, f"unit {stuck!r} is on or below a cycle of edges that are not remote", cause)
    for node in nodes:
        if node.id not in under and node.id not in linkage and not _is_terminal(node):
            return (node.id,)
    return ()


def _type_of(nodes: Sequence[Node], node_id: str) -> str:
    return next(str(attribute(n.attributes, "type", "FN")) for n in nodes if n.id == node_id)


def _is_terminal(node: Node) -> bool:
    return bool(node.attributes) and bool(attribute(node.attributes, "terminal"))


# Graph to XML


def format(graph: Graph) -> str:
    """Turn *graph* into a passage; types of units and tokens that never were XML are guessed."""
    extras = _classify(graph.extras, _GRAPH_MARKS, "")
    marks = extras.get("", {})
    guess = marks.get("format") != FORMAT
    kinds = _guess_kinds(graph) if guess else {}
    token_ids, tokens = _write_tokens(graph, kinds)
    units = _write_units(graph, token_ids, bool(marks.get("categories")), kinds)
    layers = {
        "0": _write_layer("0", extras.get("layer0", {}), tokens),
        "1": _write_layer("1", extras.get("layer1", {}), units),
    }
    metadata = _classify(graph.metadata, frozenset(), "attributes")
    own = {"annotationID": "0", **extras.get("root", {}), "passageID": graph.id}
    usual = ["a", "x", "0", "1"] if "extra" in metadata else _ROOT
    codes = json.loads(marks["children"]) if "children" in marks else usual
    parts = {**layers, **_heads(metadata, "  ")}
    inner = "".join([parts[code] if code in parts else f"  {code}\n" for code in codes])
    text = _wrap("root", own, inner, "")
    around = [marks.get(name, "") for name in ("declaration", "prolog")]
    lines = [line + "\n" for line in around if line] + [text]
    return "".join(lines) + (f"{marks['epilog']}\n" if "epilog" in marks else "")


def _classify(
    pairs: Attributes, reserved: frozenset[str], default: str
) -> dict[str, dict[str, Any]]:
    """Sort *pairs* by the element they belong to; reserved names belong to ``""``."""
    groups: dict[str, dict[str, Any]] = {}
    for name, value in pairs:
        group, rest = default, name
        if name in reserved:
            group = ""
        elif "/" in name:
            group, _, rest = name.partition("/")
        groups.setdefault(group, {})[rest] = value
    return groups


def _quote(value: Any) -> str:
    """Write an attribute's value, as ElementTree does."""
    text = value if isinstance(value, str) else str(value)
    if not _is_special(text):
        return text
    if _is_forbidden(text):
        raise FormatError("XML cannot hold this character", text=text)
    return text.translate(_ESCAPES)


@lru_cache(maxsize=4096)
def _name(name: str) -> str:
    name = name.replace(_XML_NAMESPACE, "xml:")
    if not _is_name(name):
        raise FormatError("not a name that XML allows", text=name)
    return name


def _write_pairs(pairs: dict[str, Any]) -> str:
    """Write attributes, sorted, each with a space before it."""
    items = sorted(pairs.items()) if len(pairs) > 1 else pairs.items()
    return "".join(
        [f' {_name(name)}="{_quote(value)}"' for name, value in items if value is not None]
    )


def _wrap(tag: str, own: dict[str, Any], inner: str, indent: str) -> str:
    if not inner:
        return f"{indent}<{tag}{_write_pairs(own)} />\n"
    return f"{indent}<{tag}{_write_pairs(own)}>\n{inner}{indent}</{tag}>\n"


def _heads(groups: dict[str, dict[str, Any]], indent: str) -> dict[str, str]:
    """Return the elements attributes and extra by their codes."""
    return {
        "a": f"{indent}<attributes{_write_pairs(groups.get('attributes', {}))} />\n",
        "x": f"{indent}<extra{_write_pairs(groups.get('extra', {}))} />\n",
    }


def _arrange(
    groups: dict[str, dict[str, Any]], items: list[str], code: str, unusual: str | None, indent: str
) -> str:
    """Return the children of an element: attributes, extra, items, unless *unusual* says more."""
    heads = _heads(groups, indent)
    if unusual is None:
        return heads["a"] + (heads["x"] if "extra" in groups else "") + "".join(items)
    rest = iter(items)
    parts = []
    for entry in json.loads(unusual):
        parts.append(next(rest, "") if entry == code else heads.get(entry, f"{indent}{entry}\n"))
    return "".join(parts) + "".join(rest)


def _write_layer(number: str, said: dict[str, Any], items: list[str]) -> str:
    groups = _classify(tuple(said.items()), frozenset({"children"}), "layer")
    unusual = groups.get("", {}).get("children")
    inner = _arrange(groups, items, "n", unusual, "    ")
    return _wrap("layer", {**groups.get("layer", {}), "layerID": number}, inner, "  ")


def _write_tokens(graph: Graph, kinds: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return the ids and the elements of the terminals."""
    ids, texts = [], []
    paragraph, place = "", 0
    for number, token in enumerate(graph.tokens, 1):
        groups = _classify(token.features, _TOKEN_MARKS, "extra")
        marks = groups.get("", {})
        if token.lemma is not None:
            groups.setdefault("extra", {})["lemma"] = token.lemma
        if token.pos is not None:
            groups.setdefault("extra", {})[marks.get("pos_name", "pos")] = token.pos
        here = marks.get("paragraph", "1")
        place = place + 1 if here == paragraph else 1
        paragraph = here or ""
        given = marks.get("paragraph_position", str(place))
        place = int(given) if given and given.isdecimal() else place
        attributes = groups.setdefault("attributes", {})
        attributes.update(paragraph=here, paragraph_position=given, text=token.form)
        own = {"ID": f"0.{number}", "type": marks.get("type", kinds.get(f"0.{number}", "Word"))}
        own.update(groups.get("node", {}))
        inner = _arrange(groups, [], "e", marks.get("children"), "      ")
        ids.append(own["ID"])
        texts.append(_wrap("node", own, inner, "    "))
    return ids, texts


def _write_units(
    graph: Graph, token_ids: list[str], style: bool, kinds: dict[str, str]
) -> list[str]:
    names = _name_units(graph, bool(kinds))
    outgoing: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    for node in graph.nodes:
        if _is_terminal(node):
            names[node.id] = token_ids[node.anchors[0]]
    for edge in graph.edges:
        outgoing[edge.source].append(_write_edge(edge, names[edge.target], style))
    head, tail = _plain_edge(TERMINAL, style)
    texts = []
    for node in graph.nodes:
        if _is_terminal(node):
            continue
        groups = _classify(node.attributes, _NODE_MARKS, "attributes")
        marks = groups.get("", {})
        items = outgoing[node.id]
        anchors = [f"{head}{token_ids[anchor]}{tail}" for anchor in node.anchors]
        if "order" in marks:
            items = _merge(anchors, items, marks["order"])
        elif anchors:
            items = anchors + items
        if node.implicit:
            groups.setdefault("attributes", {})["implicit"] = "True"
        own = {"ID": names[node.id], "type": marks.get("type", kinds.get(node.id, "FN"))}
        own.update(groups.get("node", {}))
        inner = _arrange(groups, items, "e", marks.get("children"), "      ")
        texts.append(_wrap("node", own, inner, "    "))
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


def _write_edge(edge: Edge, target: str, style: bool) -> str:
    if not edge.attributes and not edge.remote:
        head, tail = _plain_edge(edge.label, style)
        return f"{head}{target}{tail}"
    groups = _classify(edge.attributes, _EDGE_MARKS, "attributes")
    marks = groups.get("", {})
    if edge.remote:
        groups.setdefault("attributes", {})["remote"] = "True"
    tags = split_categories(edge.label)
    categories = []
    if marks.get("categories", style or len(tags) > 1):
        said: list[dict[str, Any]] = [{"tag": tag} for tag in tags]
        for name, value in groups.get("category", {}).items():
            number, _, rest = name.partition("/")
            if int(number) < len(said):
                said[int(number)][rest] = value
        categories = [f"        <category{_write_pairs(pairs)} />\n" for pairs in said]
    own = {"toID": target, "type": marks.get("type", tags[0]), **groups.get("edge", {})}
    inner = _arrange(groups, categories, "c", marks.get("children"), "        ")
    return _wrap("edge", own, inner, "      ")


@lru_cache(maxsize=1024)
def _plain_edge(label: str, style: bool) -> tuple[str, str]:
    """Return what stands before and after the target's id in an edge that says nothing more."""
    tags = split_categories(label)
    categories = tags if style or len(tags) > 1 else ()
    inner = "".join([f'        <category tag="{_quote(tag)}" />\n' for tag in categories])
    kind = f'" type="{_quote(tags[0])}">\n'
    return '      <edge toID="', f"{kind}        <attributes />\n{inner}      </edge>\n"


def _name_units(graph: Graph, fresh: bool) -> dict[str, str]:
    """Return the ids to write: those of the graph, or 1.1, 1.2, ... with the top first."""
    units = [node.id for node in graph.nodes if not _is_terminal(node)]
    if not fresh or all(map(_is_unit_id, units)):
        return {unit: unit for unit in units}
    units.sort(key=lambda unit: unit not in graph.tops)
    return {unit: f"1.{number}" for number, unit in enumerate(units, 1)}


def _guess_kinds(graph: Graph) -> dict[str, str]:
    """Guess the types of terminals and units in a graph that does not say them."""
    kinds = {
        f"0.{number}": "Punctuation"
        for number, token in enumerate(graph.tokens, 1)
        if token.form and not any(character.isalnum() for character in token.form)
    }
    incoming: dict[str, set[str]] = {node.id: set() for node in graph.nodes}
    outgoing: dict[str, set[str]] = {node.id: set() for node in graph.nodes}
    for edge in graph.edges:
        incoming[edge.target].add(edge.label)
        outgoing[edge.source].add(edge.label)
    for node in graph.nodes:
        if outgoing[node.id] and outgoing[node.id] <= {"LA", "LR"}:
            kinds[node.id] = "LKG"
        elif incoming[node.id] == {"U"} and node.anchors and not outgoing[node.id]:
            if all(f"0.{anchor + 1}" in kinds for anchor in node.anchors):
                kinds[node.id] = "PNCT"
    return kinds
