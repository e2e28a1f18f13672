r"""GraphML, the XML that networkx, igraph, yEd, Gephi and Cytoscape read; nothing is lost.

>>> from graphconv.graph import Edge
>>> nodes = Node("w", "want-01"), Node("b", "boy")
>>> graph = Graph("1", "amr", nodes=nodes, edges=(Edge("w", "b", "ARG0"),), tops=("w",))
>>> [block] = blocks(format(graph).splitlines(keepends=True), "a.graphml")
>>> parse(block) == graph
True

A file holds one ``graph`` element for each graph. What a node or edge says is in ``data`` elements:
strings, numbers and truth values as they are, lists (anchors, attributes, tokens, metadata) as
JSON. XML cannot hold some characters; an element with one of them has everything once more as JSON,
in ASCII, under the key ``json``. A file that another program has saved is read as long as it keeps
the names of the keys; edges may stand in any order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from graphconv.codecs import Block
from graphconv.codecs._json import Malformed, located
from graphconv.errors import FormatError
from graphconv.graph import Graph, Node
from graphconv.views import flat_edge, flat_graph, flat_node, flat_score, from_dict, to_dict

FOOTER = "</graphml>\n"
"""What ends a file."""

_KEYS = {
    "graph": {
        **dict.fromkeys(("framework", "text", "tokens", "tops", "metadata", "extras"), "string"),
        "score": "double",
        "json": "string",
    },
    "node": {
        "label": "string",
        "anchors": "string",
        "constant": "boolean",
        "implicit": "boolean",
        "attributes": "string",
        "score": "double",
        "json": "string",
    },
    "edge": {
        "label": "string",
        "remote": "boolean",
        "attributes": "string",
        "order": "int",
        "score": "double",
        "json": "string",
    },
}
"""For graphs, nodes and edges: the names of what they say, and the types."""

_LISTS = frozenset({"tokens", "tops", "metadata", "extras", "anchors", "attributes"})
_ADDED = frozenset({"text", "order"})
"""What is written for other programs and follows from the rest."""

_HEADER = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    + "".join(
        f'  <key id="{kind}.{name}" for="{kind}" attr.name="{name}" attr.type="{type_}"/>\n'
        for kind, names in _KEYS.items()
        for name, type_ in names.items()
    )
)
_unsafe = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]").sub
_START = re.compile(r"<(?:\w+:)?graph(?=[\s>])")
_END = re.compile(r"</(?:\w+:)?graph\s*>")
_KEY = re.compile(r"<(?:\w+:)?key\b[^>]*?(?:/>|>.*?</(?:\w+:)?key\s*>)", re.DOTALL)
_PREFIX = re.compile(r"(</?)\w+:(?=\w)")


def sniff(head: str) -> bool:
    """Say whether *head* starts like a GraphML file.

    >>> sniff("<?xml version='1.0'?><graphml>"), sniff("<root passageID='1'>")
    (True, False)
    """
    return head.lstrip("\ufeff \t\r\n").startswith("<") and "<graphml" in head


def blocks(lines: Iterable[str], filename: str) -> Iterator[Block]:
    """Cut a file into graphs; the keys that it defines are their context."""
    keys = rest = ""
    lineno = 1  # of the first line of *rest*
    first = True
    for line in lines:
        rest += line
        while end := _END.search(rest):
            start = _START.search(rest)
            if start is None or start.start() > end.start():
                break
            keys += "".join(_KEY.findall(rest[: start.start()]))
            at = lineno + rest.count("\n", 0, start.start())
            yield Block(rest[start.start() : end.end()], filename, at, first, keys)
            first = False
            lineno += rest.count("\n", 0, end.end())
            rest = rest[end.end() :]
    if start := _START.search(rest):
        at = lineno + rest.count("\n", 0, start.start())
        yield Block(rest[start.start() :], filename, at, first, keys)


def parse(block: Block, framework: str | None = None) -> Graph:
    """Turn one element into a Graph."""
    with located(block):
        root = _element(block)
        names = {key.get("id", ""): key.get("attr.name", "") for key in root.iter("key")}
        element = root.find("graph")
        assert element is not None
        record = _data(element, names, "graph")
        record.setdefault("id", element.get("id", ""))
        if "framework" not in record:
            if framework is None:
                raise Malformed("the graph has no 'framework'")
            record["framework"] = framework
        nodes = {node.get("id"): _data(node, names, "node") for node in element.iter("node")}
        for name, node in nodes.items():
            node.setdefault("id", name)
        edges = [_edge(edge, names, nodes) for edge in element.iter("edge")]
        edges.sort(key=lambda edge: edge[0])
        record |= {"nodes": list(nodes.values()), "edges": [edge for _, edge in edges]}
        try:
            return from_dict(record)
        except FormatError as error:
            raise Malformed(error.message) from error


def _element(block: Block) -> ElementTree.Element:
    text = f"<graphml>{block.context}{block.text}</graphml>"
    if "<!" in text.replace("<!--", ""):
        raise Malformed("declarations and entities of XML are not read")
    try:
        return ElementTree.fromstring(_PREFIX.sub(r"\1", text))
    except UnicodeEncodeError as error:  # in the keys
        raise Malformed("not valid UTF-8") from error
    except (ElementTree.ParseError, RecursionError) as error:
        raise Malformed(f"not well-formed XML ({error})") from error


def _data(element: ElementTree.Element, names: dict[str, str], kind: str) -> dict[str, Any]:
    """Return what an element says."""
    record: dict[str, Any] = {}
    for data in element.iterfind("data"):
        key, text = data.get("key", ""), data.text or ""
        name = names.get(key, key.removeprefix(f"{kind}."))
        if name not in _KEYS[kind]:
            continue  # what another program adds
        try:
            record[name] = _VALUES[_KEYS[kind][name]](text)
            if name in _LISTS or name == "json":
                record[name] = json.loads(text)
        except (ValueError, KeyError, RecursionError) as error:
            raise Malformed(f"{name!r} of a {kind} is not what it should be") from error
    for name in _ADDED & record.keys() - {"order"}:
        del record[name]
    exact = record.pop("json", {})
    if not isinstance(exact, dict):
        raise Malformed(f"'json' of a {kind} is not an object")
    return record | exact


_VALUES: dict[str, Callable[[str], Any]] = {
    "string": str,
    "double": float,
    "int": int,
    "boolean": lambda text: {"true": True, "false": False}[text.lower()],  # networkx: True
}


def _edge(
    element: ElementTree.Element, names: dict[str, str], nodes: dict[str | None, dict[str, Any]]
) -> tuple[int, dict[str, Any]]:
    record = _data(element, names, "edge")
    order = record.pop("order", 0)
    for end in ("source", "target"):
        name = element.get(end)
        if name not in nodes:
            raise Malformed(f"an edge has an unknown node {name!r}")
        record[end] = nodes[name]["id"]
    record.setdefault("label", "")
    return order, record


def file_format() -> Callable[[Graph], str]:
    """Return a function like :func:`format` for the graphs of one file, in order."""
    header = _HEADER

    def write(graph: Graph) -> str:
        nonlocal header
        text, header = header + _graph(graph), ""
        return text

    return write


def format(graph: Graph) -> str:  # noqa: A001 - the name that every codec has
    """Turn a Graph into the text of a file, but for its end."""
    return _HEADER + _graph(graph)


def _graph(graph: Graph) -> str:
    graph.validate()
    record = to_dict(graph)
    said = flat_graph(graph)
    exact = {"id": graph.id, "framework": graph.framework}
    said.pop("id")
    lines = [f'  <graph id={_quoted(graph.id)} edgedefault="directed">\n']
    lines += _items("graph", said, exact, "    ")
    names = _names(graph.nodes)
    for node, own in zip(graph.nodes, record["nodes"], strict=True):
        lines.append(f"    <node id={quoteattr(names[node.id], _SPACE)}>\n")
        fields = flat_node(node) | flat_score(graph, node.id)
        lines += _items("node", fields, own, "      ", named=names[node.id] == node.id)
        lines.append("    </node>\n")
    for order, (edge, own) in enumerate(zip(graph.edges, record["edges"], strict=True)):
        ends = (quoteattr(names[end], _SPACE) for end in (edge.source, edge.target))
        lines.append("    <edge source={} target={}>\n".format(*ends))
        fields = flat_edge(edge, order) | flat_score(graph, edge)
        kept = {key: value for key, value in own.items() if key not in ("source", "target")}
        lines += _items("edge", fields, kept, "      ")
        lines.append("    </edge>\n")
    return "".join([*lines, "  </graph>\n"])


_RETURN = {"\r": "&#13;"}  # XML reads it as the end of a line
_SPACE = _RETURN | {"\n": "&#10;", "\t": "&#9;"}


def _quoted(text: str) -> str:
    return quoteattr(_unsafe("\ufffd", text), _SPACE)


def _names(nodes: Iterable[Node]) -> dict[str, str]:
    """Return the ids of the nodes, or numbers where XML cannot hold one of them."""
    ids = [node.id for node in nodes]
    if any(_unsafe("", name) != name for name in ids):
        return {name: f"n{place}" for place, name in enumerate(ids)}
    return {name: name for name in ids}


def _items(
    kind: str,
    said: dict[str, Any],
    exact: dict[str, Any],
    indent: str,
    *,
    named: bool = True,
) -> Iterator[str]:
    """Yield what an element says, and once more as JSON if XML cannot hold it."""
    is_safe = named and _unsafe("", exact.get("id", "")) == exact.get("id", "")
    for name, value in said.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if name in _LISTS and _unsafe("", text) != text:
            text = json.dumps(json.loads(text))
        safe = _unsafe("\ufffd", text)
        is_safe = is_safe and (safe == text or name in _ADDED)
        yield f'{indent}<data key="{kind}.{name}">{escape(safe, _RETURN)}</data>\n'
    if not is_safe:
        yield f'{indent}<data key="{kind}.json">{escape(json.dumps(exact))}</data>\n'
