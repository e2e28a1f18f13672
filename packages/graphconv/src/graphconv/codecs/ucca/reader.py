r"""UCCA XML, one passage per file, with everything that the file says.

Several passages in one stream (:func:`join`) are elements of ``<passages>``, each of whose tags
stands at the beginning of a line.

Terminals (layer 0) are tokens, units (layer 1) are nodes. What is not in the fields of Graph,
Token, Node and Edge is in their attributes, and only where it differs from the usual file:

* The attributes of an ``<attributes>`` element keep their names, those of ``<extra>`` are called
  ``extra/name``. For tokens, which have mostly ``extra`` features, it is the other way round:
  ``dep``, ``head`` and so on, and ``attributes/name``.
* ``type`` of a unit unless it is FN, of a token unless it is Word. ``paragraph`` of a token unless
  it is 1, ``paragraph_position`` unless it counts on in the paragraph. ``pos_name`` is ``tag`` if
  the token has no ``pos`` feature but a ``tag``.
* ``order`` of a unit: how many edges stand before each of its anchors, unless all anchors come
  first; ``terminals``: how the edges to them are written, unless all are in the passage's usual
  way: ``-`` without a category, ``c`` with one, ``s`` with one that has an empty slot.
  ``category/1/slot`` and so on of an edge: what its categories (counted from 0) say beyond
  their tags. ``type`` of an edge that is not its first category.
* ``node/name`` and ``edge/name``: unusual attributes of these elements themselves.
* ``children``: the child elements as a JSON list, where they are unusual: ``a`` for attributes,
  ``x`` for extra, ``c`` for a category, ``n`` for a node, ``e`` for an edge, ``0`` and ``1`` for
  the layers; anything else (comments, unknown elements and layers) as XML.
* Graph: attributes and extra of the passage are metadata; those of the layers are extras called
  ``layer0/extra/doc`` and so on. The extras ``categories`` and ``terminal_categories`` say that
  edges have a category element even if it is the only one (as in newer files), ``empty_slots`` that
  categories have an empty slot, ``ascii`` that other
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

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any
from xml.etree.ElementTree import Element

from graphconv.codecs import Block
from graphconv.codecs.ucca import regular as ucca_regular
from graphconv.codecs.ucca.elements import (
    Outline,
    Pairs,
    Passage,
    Styles,
    Terminal,
    check_nodes,
    read_outline,
    read_style,
    read_terminal,
    read_unit,
)
from graphconv.codecs.ucca.writer import is_number, way_of, write_passage
from graphconv.codecs.ucca.xml_source import XmlSource, parse_xml
from graphconv.errors import FormatError
from graphconv.graph import Attributes, Edge, Graph, Node, Token, attribute
from graphconv.topology import parents_first

_TERMINAL_NODE: Attributes = (("terminal", True),)

# The constructor of a NamedTuple runs Python code; these do not.
_token: Callable[[Any], Token] = partial(tuple.__new__, Token)
_node: Callable[[Any], Node] = partial(tuple.__new__, Node)
_edge: Callable[[Any], Edge] = partial(tuple.__new__, Edge)

_OPEN, _CLOSE = "<passages>", "</passages>"


def is_one_block(start: bytes) -> bool:
    """Say whether a file that starts so is one passage, which nobody needs to cut into lines."""
    return not start.removeprefix(BOM_UTF8).startswith(_OPEN.encode())


def sniff(head: str) -> bool:
    """Say whether *head* is the beginning of an XML file, and not of GraphML.

    >>> sniff('<root annotationID="0" passageID="7">'), sniff("(b / bark-01)")
    (True, False)
    """
    return head.lstrip("\ufeff \t\r\n").startswith("<") and "<graphml" not in head


def blocks(lines: Iterable[str], filename: str) -> Iterator[Block]:
    """Return the whole file as one block, or the passages of a stream."""
    stream = iter(lines)
    text = next(stream, "")
    if text.strip() == _OPEN:
        yield from _stream_blocks(stream, filename)
        return
    text += "".join(stream)
    if text.startswith("<") or text.strip("\ufeff \t\r\n"):
        yield Block(text, filename, 1, True)


def join(passages: Iterable[str]) -> Iterator[str]:
    r"""Yield the text of a file of some passages; that of one passage is the passage.

    >>> list(join(["<root />\n"])), list(join(["<root />\n"] * 2))
    (['<root />\n'], ['<passages>\n', '<root />\n', '<root />\n', '</passages>\n'])
    """
    stream = iter(passages)
    start = list(islice(stream, 2))
    if len(start) > 1:
        start.insert(0, f"{_OPEN}\n")
        stream = chain(stream, [f"{_CLOSE}\n"])
    yield from chain(start, stream)


def _stream_blocks(lines: Iterator[str], filename: str) -> Iterator[Block]:
    """Cut what follows ``<passages>`` where a passage begins; what is between them is an error."""
    buffer: list[str] = []
    first, lineno = 2, 1
    for lineno, line in enumerate(lines, start=2):
        closes = line.strip() == _CLOSE
        if buffer and (closes or line.startswith("<root")):
            yield Block("".join(buffer), filename, first, first == 2)
            buffer = []
        if closes:
            if rest := "".join(lines).strip():
                message = f"text after {_CLOSE}"
                raise FormatError(message, filename=filename, lineno=lineno + 1, text=rest)
            return
        if buffer or line.strip():
            first = first if buffer else lineno
            buffer.append(line)
    if buffer:
        yield Block("".join(buffer), filename, first, first == 2)
    raise FormatError(f"{_CLOSE} is missing: the file is cut", filename=filename, lineno=lineno)


def parse(block: Block, framework: str | None = None) -> Graph:  # noqa: ARG001 - as in all codecs
    """Turn the text of one passage into a Graph."""
    try:
        return _parse(block)
    except FormatError as error:
        if error.lineno is not None:
            error.lineno += block.lineno - 1
        raise


def _parse(block: Block) -> Graph:
    passage = ucca_regular.read(block.text, block.filename)
    if passage:
        try:
            return _graph(passage)
        except _MisfitError:
            pass  # the other way knows in which line
    return parse_whole(block)


def parse_whole(block: Block) -> Graph:
    """Do the same as :func:`parse` with a tree of all elements, whatever the file is like."""
    source = parse_xml(block.text, block.filename)
    passage = _parse_passage(source)
    try:
        return _graph(passage)
    except _MisfitError as misfit:
        source.fail(misfit.message, misfit.find(passage.outline))


def format(graph: Graph) -> str:  # noqa: A001 - the name that every codec has
    """Turn *graph* into a passage."""
    if graph.framework != "ucca":
        raise FormatError(
            f"graph {graph.id}: a graph of {graph.framework} cannot be written as UCCA"
            "; mrp holds all frameworks"
        )
    return write_passage(graph)


class _MisfitError(Exception):
    """Something is wrong with a node of a layer, or with its edge to *target*."""

    def __init__(self, message: str, layer: int, node: int, target: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.place = (layer, node, target)

    def find(self, outline: Outline) -> Element:
        """Return the element that it is about."""
        layer, node, target = self.place
        element = (outline.terminals, outline.units)[layer][node]
        if target is None:
            return element
        return next(edge for edge in element.iterfind("edge") if edge.get("toID") == target)


def _parse_passage(source: XmlSource) -> Passage:
    """Read the elements of any file; nodes one by one, so that the first error is reported."""
    text = source.text
    outline = read_outline(source, is_ascii="&#" in text and text.isascii())
    check_nodes(source, outline.terminals)
    check_nodes(source, outline.units)
    styles: Styles = frozenset()
    if "<category" in text:
        styles = styles.union(*[read_style(e) for u in outline.units for e in u.iterfind("edge")])
    has_foreign = attribute(outline.extras, "children")
    foreign = _foreign_ids(source.root) if has_foreign else frozenset()
    return Passage(
        outline,
        styles,
        (read_terminal(source, element) for element in outline.terminals),
        [element.attrib["ID"] for element in outline.units],
        (read_unit(source, element, styles, foreign) for element in outline.units),
    )


def _foreign_ids(root: Element) -> frozenset[str]:
    """Return the ids of the nodes in layers that the graph does not hold."""
    layers = [layer for layer in root.iterfind("layer") if layer.get("layerID") not in ("0", "1")]
    return frozenset(node.get("ID", "") for layer in layers for node in layer.iterfind("node"))


def _graph(passage: Passage) -> Graph:
    """Build the graph of a passage."""
    tokens, positions = _read_tokens(passage.terminals)
    numbers = _numbered(passage.unit_ids, positions)
    nodes, edges, linkage, leads_back = _read_units(passage, positions, numbers)
    if leads_back:
        _check_cycles(nodes, edges)
    outline = passage.outline
    styles = [(style, True) for style in sorted(passage.styles)]
    return Graph(
        outline.id,
        "ucca",
        tokens,
        nodes,
        edges,
        _find_top(passage.unit_ids, edges, linkage),
        outline.metadata,
        (*outline.extras, *styles),
    )


def _read_tokens(terminals: Iterable[Terminal]) -> tuple[tuple[Token, ...], dict[str, int]]:
    """Return the tokens, and their positions by id."""
    tokens: list[Token] = []
    positions: dict[str, int] = {}
    paragraph, place, last = "", 0, 0
    for position, terminal in enumerate(terminals):
        token_id, kind, here, given, form, lemma, pos, features, others, unusual = terminal
        place = place + 1 if here == paragraph else 1
        paragraph = here or ""
        marks: Pairs = []
        if kind != "Word":
            marks.append(("type", kind))
        if here != "1":
            marks.append(("paragraph", here))
        if given != str(place):
            marks.append(("paragraph_position", given))
            place = int(given) if given and is_number(given) else place
        marks += others
        if token_id == f"0.{last + 1}":  # nearly always
            last += 1
        else:
            last = _token_number(token_id, last, position)
        if last != position + 1:
            marks.append(("node/ID", token_id))
        marks += unusual
        positions[token_id] = position
        tokens.append(_token((form, lemma, pos, None, (*features, *marks) if marks else features)))
    return tuple(tokens), positions


def _token_number(token_id: str, last: int, position: int) -> int:
    """Return the number in the id of a terminal, which must be greater than the *last* one."""
    number = token_id.removeprefix("0.")
    if not is_number(number) or f"0.{int(number)}" != token_id:
        message = f"the id of a terminal must be like 0.1, not {token_id[:60]!r}"
        raise _MisfitError(message, 0, position)
    if int(number) == last:
        raise _MisfitError(f"node {token_id!r} is defined twice", 0, position)
    if int(number) < last:
        raise _MisfitError(f"terminal {token_id!r} is not in the order of the ids", 0, position)
    return int(number)


def _numbered(unit_ids: Sequence[str], positions: dict[str, int]) -> dict[str, int]:
    """Return the number of each unit by its id."""
    numbers = {unit_id: number for number, unit_id in enumerate(unit_ids)}
    if len(numbers) < len(unit_ids) or not numbers.keys().isdisjoint(positions):
        known = {*positions}
        for number, unit_id in enumerate(unit_ids):
            if unit_id in known:
                raise _MisfitError(f"node {unit_id!r} is defined twice", 1, number)
            known.add(unit_id)
    return numbers


def _read_units(
    passage: Passage, positions: dict[str, int], numbers: dict[str, int]
) -> tuple[tuple[Node, ...], tuple[Edge, ...], set[str], bool]:
    """Return nodes, edges, the ids of the linkage units, and whether an edge leads back.

    A cycle has an edge that leads back in the file, from a unit that some edge leads to.
    """
    nodes: list[Node] = []
    edges: list[Edge] = []
    linkage: set[str] = set()
    sources: set[str] = set()  # of the edges that lead back
    terminals: dict[str, Node] = {}
    usual_way = way_of(passage.styles)
    for number, (unit_id, unit) in enumerate(zip(passage.unit_ids, passage.units, strict=True)):
        kind, implicit, attributes, unusual, written_edges = unit
        if kind == "LKG":
            linkage.add(unit_id)
        anchors: list[int] = []
        order: list[int] = []
        ways: list[str] = []
        first = len(edges)
        for target, (label, remote, marks, written) in written_edges:
            if target in positions:
                position = positions[target]
                if written is not None:
                    anchors.append(position)
                    order.append(len(edges) - first)
                    ways.append(written)
                    continue
                terminals[target] = Node(target, None, (position,), attributes=_TERMINAL_NODE)
            elif target not in numbers:
                message = f"there is an edge to an unknown node {target!r}"
                raise _MisfitError(message, 1, number, target)
            elif numbers[target] <= number and not remote:
                sources.add(unit_id)
            edges.append(_edge((unit_id, target, label, remote, marks)))
        if any(order):
            attributes = (*attributes, ("order", " ".join(map(str, order))))
        if ways.count(usual_way) < len(ways):
            attributes = (*attributes, ("terminals", " ".join(ways)))
        if unusual:
            attributes += unusual
        nodes.append(_node((unit_id, None, tuple(anchors), False, implicit, attributes)))
    leads_back = bool(sources) and any(edge.target in sources for edge in edges if not edge.remote)
    return (*nodes, *terminals.values()), tuple(edges), linkage, leads_back


def _check_cycles(nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
    """Refuse cycles of edges that are not remote."""
    ids = list(dict.fromkeys(node.id for node in nodes))
    ends = [(edge.source, edge.target) for edge in edges if not edge.remote]
    free = set(parents_first(ids, ends))
    if len(free) < len(ids):
        number, name = next((i, name) for i, name in enumerate(ids) if name not in free)
        message = f"unit {name!r} is on or below a cycle of edges that are not remote"
        raise _MisfitError(message, 1, number)


def _find_top(unit_ids: Iterable[str], edges: Iterable[Edge], linkage: set[str]) -> tuple[str, ...]:
    """Return the first unit below nothing but linkage units."""
    children = {
        child for parent, child, _, remote, _ in edges if not remote and parent not in linkage
    }
    for unit_id in unit_ids:
        if unit_id not in children and unit_id not in linkage:
            return (unit_id,)
    return ()
