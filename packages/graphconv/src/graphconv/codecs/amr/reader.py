r"""PENMAN AMR, parsed by the `penman` library and interpreted here.

>>> text = '''# ::id x ::snt It does not bark .
... (b / bark-01 :polarity -
...       :ARG0 (i / it))'''
>>> graph = parse(Block(text, "x.amr", 1))
>>> graph.id, [(edge.source, edge.label, edge.target) for edge in graph.edges]
('x', [('b', 'polarity', ':0'), ('b', 'ARG0', 'i')])
>>> format(graph) == text + "\n\n"
True

What is kept where:

* Nodes stand in the order of the text; constants are nodes ``:0``, ``:1``, ... A role without a
  target has a constant with the label ``""`` as target. ``(x)`` and ``(x / )`` have the label None.
* Which ``-of`` roles are inverted is what penman's model of AMR says (``:consist-of`` is not one).
  An edge written inverted has the attribute ``inverted``. ``:polarity-of -`` is an edge from the
  constant; as a triple of penman it is ``(x, :polarity-of, -)``.
* The attribute ``alignment`` is what follows the ``~`` on a concept or constant (nodes) or on a
  role (edges); ``target_alignment`` of an edge is that of a variable mentioned again. The tokens
  that a node is aligned with are its anchors, too.
* Nodes are defined where the text first mentions them; an edge that mentions a node earlier than
  its definition has the attribute ``mention``.
* Metadata are the ``::`` fields. The extra ``comments`` says how they stand in lines, where it is
  not one field a line: a number is a line of that many fields, anything else a line as it was.
  Comments after the last graph of a file are the extra ``trailer``. In a value a word that looks
  like a field has a backslash before it (``\\::vector``). Tokens are ``::tok``, or ``::tokens`` as
  JSON if one of them has a blank.
* A graph without ``::id`` is called ``#1``, ``#2``, ... by its place in the file and has the extra
  ``anonymous``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import count
from typing import Any

from graphconv.codecs import Block
from graphconv.codecs.amr.alignments import FIELD, read_line
from graphconv.codecs.amr.comments import (
    count_comments,
    read_comments,
    tokens_of,
    write_comments,
)
from graphconv.codecs.amr.writer import (
    NO_SYMBOL,
    STRING,
    as_symbol,
    is_variable,
    load_penman,
    write_graph,
)
from graphconv.errors import FormatError
from graphconv.graph import Attributes, Edge, Graph, Node, attribute

_brackets = re.compile(rf"{STRING}|\#.*|[()\"]|:?[^{NO_SYMBOL}]+").finditer
_brackets_only = re.compile(rf"\#.*|[()]|:?[^{NO_SYMBOL}]+").finditer

_INVERTED: Attributes = (("inverted", True),)
_MENTION: Attributes = (("mention", True),)
_ALIGNMENT = re.compile(r"(?:[a-z]\.?)?([0-9]+(?:,[0-9]+)*)")

__all__ = ["as_symbol", "blocks", "format", "parse", "sniff"]

# For users, who do not know the names of the lexer's tokens.
_MESSAGES = {
    "Expected: ROLE": "a role or a closing bracket expected",
    "Expected: LPAREN": "text outside of brackets",
    "Expected: SYMBOL": "a variable expected",
    "Expected: SYMBOL, STRING, LPAREN": "a value or a bracket expected after the role",
    "Expected: RPAREN": "a closing bracket expected",
}
_UNCLOSED = "the graph ends before its brackets are closed"
# Parsed behind each graph: what stands between the two is text outside of brackets.
_SENTINEL = "(end)"


def sniff(head: str) -> bool:
    r"""Say whether *head* starts with comments and an opening bracket.

    >>> sniff("# ::id 1\n(b / bark-01)"), sniff("#SDP 2015\n1\tIt"), sniff("<root />")
    (True, False, False)
    """
    for line in head.splitlines():
        text = line.strip()
        if text.startswith("# ::") or text.startswith("("):
            return True
        if text and not text.startswith("#"):
            return False
    return False


def blocks(lines: Iterable[str], filename: str) -> Iterator[Block]:
    """Cut *lines* into graphs, each with the comments before it.

    An unclosed graph ends before the next line of metadata, and before the next comment or opening
    bracket at the start of a line after a blank line.
    """
    held: Block | None = None
    trailer: list[str] = []
    for number, (text, lineno) in enumerate(_cut(lines, trailer), 1):
        if held:
            yield held
        held = Block(text, filename, lineno, number == 1, str(number))
    if held:
        yield held._replace(text="\n".join([held.text, *trailer])) if trailer else held


def parse(block: Block, framework: str | None = None) -> Graph:  # noqa: ARG001 - as in all codecs
    """Turn the text of one graph into a Graph."""
    return _parse(block)[0]


def parse_with_places(block: Block) -> tuple[Graph, list[str]]:
    """Return a graph, and the place of each node in its tree (``0.1``: the second child)."""
    graph, tree, variables = _parse(block)
    return graph, _places(tree, variables)


def _parse(block: Block) -> tuple[Graph, _Tree, set[str]]:
    lines = block.text.split("\n")
    start = count_comments(lines)
    if start == len(lines):
        raise FormatError("there is no graph", filename=block.filename, lineno=block.lineno)
    stop = len(lines) - count_comments(lines[::-1])
    extras: list[tuple[str, Any]] = []
    metadata = read_comments(lines[:start], extras) if start else ()
    tree = _parse_tree(block, lines, start, stop)
    variables = _variables(block, tree)
    nodes, edges = _interpret(tree, variables)
    tokens = tokens_of(metadata)
    if "~" in block.text:
        nodes = tuple([_anchored(node, len(tokens)) for node in nodes])
    line = attribute(metadata, FIELD)
    if line is not None:
        anchors = read_line(line, _places(tree, variables), len(tokens))
        nodes = tuple(
            [n if n.anchors else n._replace(anchors=a) for n, a in zip(nodes, anchors, strict=True)]
        )
    graph_id = attribute(metadata, "id")
    if not graph_id:
        extras.append(("anonymous", True))
        graph_id = f"#{block.context or 1}"
    if stop < len(lines):
        extras.append(("trailer", "\n".join(lines[stop:]).strip("\n")))
    if not all(map(is_variable, variables)):
        extras.append(("odd_variables", True))
    graph = Graph(
        id=graph_id,
        framework="amr",
        tokens=tokens,
        nodes=nodes,
        edges=edges,
        tops=(tree[0],),
        metadata=metadata,
        extras=tuple(extras),
    )
    return graph, tree, variables


def format(graph: Graph) -> str:  # noqa: A001 - the name that every codec has
    """Turn *graph* into PENMAN text, in the layout it was read in or else top down."""
    if graph.framework != "amr":
        raise FormatError(
            f"graph {graph.id}: a graph of {graph.framework} cannot be written as PENMAN"
            "; mrp holds all frameworks"
        )
    trailer = attribute(graph.extras, "trailer")
    tail = f"\n{trailer}\n\n" if trailer else "\n\n"
    return f"{write_comments(graph)}{write_graph(graph)}{tail}"


# Cutting a file into graphs


def _cut(lines: Iterable[str], trailer: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the text of each graph and its first line; comments after the last go to *trailer*."""
    buffer: list[str] = []
    first = 0
    depth = 0  # of open brackets; -1 in text outside of brackets
    blank = False
    for lineno, line in enumerate(lines, 1):
        rest = line.strip("\r\n")
        if not rest or rest.isspace():
            blank = True
            if buffer:
                buffer.append("")
            continue
        if depth and _breaks(rest, depth, blank):
            yield "\n".join(buffer).rstrip("\n"), first
            buffer, depth = [], 0
        blank = False
        while rest:
            first = first if buffer else lineno
            begin = rest.lstrip()[0]
            if depth < 0 or (depth == 0 and begin != "("):
                depth = 0 if begin == "#" else -1
                buffer.append(rest)
                break
            depth, end = _scan(rest, depth)
            buffer.append(rest[:end])
            rest = rest[end:].lstrip()
            if not depth:
                yield "\n".join(buffer), first
                buffer = []
    text = "\n".join(buffer).rstrip("\n")
    if depth:
        yield text, first
    elif text:
        trailer.append(text)


def _breaks(line: str, depth: int, blank: bool) -> bool:
    """Say whether *line* starts a new graph although the last one is not closed."""
    if depth < 0:
        return blank or line[0] in "#("
    return (line[0] == "#" and (blank or "::" in line)) or (line[0] == "(" and blank)


def _scan(line: str, depth: int) -> tuple[int, int]:
    """Return the depth after the part of *line* that belongs to the open graph, and its length."""
    closing = line.count(")")
    if closing < depth and '"' not in line and "#" not in line:
        return depth + line.count("(") - closing, len(line)
    for match in _all_brackets(line):
        text = match[0]
        if text == "(":
            depth += 1
        elif text == ")":
            depth -= 1
            if not depth:
                return 0, match.end()
    return depth, len(line)


def _all_brackets(line: str) -> Iterator[re.Match[str]]:
    """Yield the brackets outside of strings, among others, in one pass."""
    for match in _brackets(line):
        yield match
        if match[0] == '"':
            # A string that does not end: then none that begins behind it does, and to look for
            # the end of each would take time that grows with the square of the line.
            yield from _brackets_only(line, match.end())
            return


# Text to graph

_Tree = tuple[str, list[tuple[str, Any]]]
"""A node of penman's trees: a variable, and roles with a symbol, a node or None each."""


def _parse_tree(block: Block, lines: list[str], start: int, stop: int) -> _Tree:
    """Parse lines [start, stop) of *block*."""
    penman = load_penman()
    try:
        trees = penman.iterparse([*lines[start:stop], _SENTINEL])
        tree, end = next(trees, None), next(trees, None)
    except RecursionError as exc:
        message = "the brackets are nested deeper than the penman library reads"
        raise _error(message, block, lines, start) from exc
    except penman.DecodeError as exc:
        line = start + (exc.lineno or 1) - 1
        message = _UNCLOSED if line >= stop else _MESSAGES.get(exc.message, exc.message)
        raise _error(message, block, lines, min(line, stop - 1)) from exc
    if tree is None or end is None or end.node[0] != "end":
        # penman stops in silence at what is neither a comment nor a bracket.
        raise _error("text outside of brackets", block, lines, stop - 1 if tree else start)
    node: _Tree = tree.node
    return node


def _error(message: str, block: Block, lines: list[str], line: int) -> FormatError:
    return FormatError(
        message, filename=block.filename, lineno=block.lineno + line, text=lines[line].strip()
    )


def _variables(block: Block, tree: _Tree) -> set[str]:
    """Return the variables that *tree* defines."""
    found = []
    todo = [tree]
    while todo:
        variable, branches = todo.pop()
        found.append(variable)
        todo += [target for _, target in branches if type(target) is tuple]
    variables = set(found)
    if None in variables:
        line = next(_find_lines(block, r"\(\s*\)"), 0)
        raise _error("a node without a variable", block, block.text.split("\n"), line)
    if len(variables) < len(found):
        twice = next(name for number, name in enumerate(found) if name in found[:number])
        places = list(_find_lines(block, rf"\(\s*{re.escape(twice)}[\s/()]"))
        line = places[1] if len(places) > 1 else 0
        raise _error(f"variable {twice!r} is defined twice", block, block.text.split("\n"), line)
    return variables


def _find_lines(block: Block, pattern: str) -> Iterator[int]:
    """Yield the lines, from 0, in which *pattern* occurs."""
    for match in re.finditer(pattern, block.text):
        yield block.text.count("\n", 0, match.start())


def _interpret(tree: _Tree, variables: set[str]) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
    """Turn *tree* into nodes and edges, in written order."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    defined: set[str] = set()
    constants = count()
    stack = [_define(tree, nodes, defined)]
    while stack:
        source, branches = stack[-1]
        for role, target in branches:
            label, inverted, attributes = _read_role(role)
            nested = type(target) is tuple
            if nested:
                end = target[0]
            else:
                text, alignment = _split_alignment(target)
                if text in variables:
                    end = text
                    attributes += (("target_alignment", alignment),) if alignment else ()
                    attributes += () if end in defined else _MENTION
                else:
                    end = f":{next(constants)}"
                    marks = (("alignment", alignment),) if alignment else ()
                    nodes.append(Node(end, text, (), True, False, marks))
            if inverted:
                edges.append(Edge(end, source, label, False, attributes))
            else:
                edges.append(Edge(source, end, label, False, attributes))
            if nested:
                stack.append(_define(target, nodes, defined))
                break
        else:
            stack.pop()
    return tuple(nodes), tuple(edges)


def _places(tree: _Tree, variables: set[str]) -> list[str]:
    """Return where each node of *tree* stands, in the order of :func:`_interpret`."""
    places = ["0"]
    stack = [("0", _define(tree, [], set())[1], count())]
    while stack:
        above, branches, children = stack[-1]
        for _, target in branches:
            nested = type(target) is tuple
            if nested or _split_alignment(target)[0] not in variables:
                places.append(f"{above}.{next(children)}")
            if nested:
                stack.append((places[-1], _define(target, [], set())[1], count()))
                break
        else:
            stack.pop()
    return places


def _define(
    tree: _Tree, nodes: list[Node], defined: set[str]
) -> tuple[str, Iterator[tuple[str, Any]]]:
    """Add the node that *tree* defines; return its variable and the rest of its branches."""
    variable, branches = tree
    rest = iter(branches)
    concept = None
    if branches and branches[0][0] == "/":
        concept = next(rest)[1]
    else:
        # The other way to write a concept.
        given = [branch for branch in branches if branch[0] == ":instance"][:1]
        if given and type(given[0][1]) is str:
            concept = given[0][1]
            rest = iter([branch for branch in branches if branch is not given[0]])
    marks: Attributes = ()
    if concept and "~" in concept:
        concept, alignment = _split_alignment(concept)
        marks = (("alignment", alignment),) if alignment else ()
    nodes.append(Node(variable, concept, (), False, False, marks))
    defined.add(variable)
    return variable, rest


def _anchored(node: Node, tokens: int) -> Node:
    """Return the node with the positions that its alignment names, if these tokens exist."""
    positions = positions_of(str(attribute(node.attributes, "alignment", "")))
    if not positions or max(positions) >= tokens:
        return node
    return node._replace(anchors=positions)


def positions_of(alignment: str) -> tuple[int, ...]:
    """Return the positions in an alignment, each once.

    >>> positions_of("e.3,4"), positions_of("5"), positions_of("x")
    ((3, 4), (5,), ())
    """
    found = _ALIGNMENT.fullmatch(alignment)
    return tuple(dict.fromkeys(map(int, found[1].split(",")))) if found else ()


@lru_cache(maxsize=4096)
def _read_role(role: str) -> tuple[str, bool, Attributes]:
    """Return the label of a written role, whether it is inverted, and the edge's attributes."""
    role, _, alignment = role.partition("~")
    attributes: Attributes = (("alignment", alignment),) if alignment else ()
    if load_penman().models.amr.model.is_role_inverted(role):
        return role[1:-3], True, _INVERTED + attributes
    return role[1:], False, attributes


def _split_alignment(text: str | None) -> tuple[str, str]:
    """Split what stands behind a role, which may be nothing, into its text and its alignment."""
    if not text or "~" not in text:
        return text or "", ""
    if text[0] == '"':
        # A tilde inside of the quotes is text.
        end = text.rindex('"') + 1
        return text[:end], text[end + 1 :]
    text, _, alignment = text.partition("~")
    return text, alignment
