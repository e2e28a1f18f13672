"""Writing PENMAN: the layout of a graph as a tree; `graphconv.codecs.amr` is the codec."""

from __future__ import annotations

import logging
import re
from collections import Counter, deque
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, NamedTuple

from graphconv.errors import FormatError
from graphconv.graph import Attributes, Edge, Graph, Node, attribute

# Deeper levels are not indented further: the size of the text stays linear in that of the graph.
_MAX_INDENT = 50
_INDENT = " " * 6

# What penman's lexer takes as one symbol or string (it has no public name for them).
NO_SYMBOL = r' \t\r\n\v\f"()/:~'
STRING = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
_SYMBOL = rf"(?!\#)[^{NO_SYMBOL}]+"
_is_symbol = re.compile(_SYMBOL).fullmatch
_is_atom = re.compile(f"{_SYMBOL}|{STRING}").fullmatch
_is_role = re.compile(f"[^{NO_SYMBOL}]*").fullmatch
_is_alignment = re.compile(r"(?:[a-z]\.?)?[0-9]+(?:,[0-9]+)*").fullmatch
is_variable = re.compile(rf"[^\W\d_][^{NO_SYMBOL}]*").fullmatch


class _Branch(NamedTuple):
    """An edge as it is written below one of its ends."""

    role: str
    end: str
    mention: bool
    alignment: str


@cache
def load_penman() -> Any:
    """Import penman, which takes longer than reading a small file."""
    penman = import_module("penman")
    import_module("penman.models.amr")
    # Without a handler, Python prints penman's warnings about missing concepts to stderr.
    logging.getLogger("penman").addHandler(logging.NullHandler())
    return penman


def as_symbol(text: str) -> str:
    r"""Return *text* as a concept or constant that PENMAN can write, quoted where it must be.

    >>> as_symbol("boy"), as_symbol("a/b"), as_symbol('say "x"')
    ('boy', '"a/b"', '"say \\"x\\""')
    """
    if _is_atom(text):
        return text
    plain = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'


def write_graph(graph: Graph) -> str:
    """Write *graph* without its metadata, in the layout it was read in or else top down."""
    if len(graph.tops) != 1:
        raise _refusal(graph, f"has {len(graph.tops)} tops, but PENMAN needs exactly one")
    nodes = {node.id: node for node in graph.nodes}
    top = graph.tops[0]
    if top not in nodes or nodes[top].constant:
        raise _refusal(graph, f"has the top {top!r}, which is not a variable")
    names = _name_variables(graph)
    heads = {node.id: _write_head(graph, node, names) for node in graph.nodes}
    inverted = [_is_written_inverted(graph, edge, nodes) for edge in graph.edges]
    branches = _branches(graph, inverted)
    text = _write_body(graph, branches, names, heads)
    if text is None:
        # The graph was not read from PENMAN, or has changed since.
        _connect(graph, nodes, inverted)
        branches = _branches(graph, inverted)
        text = _write_body(graph, branches, names, heads)
    if text is None:
        # Some node has lost the place where it was defined.
        loose = {key: [b._replace(mention=False) for b in some] for key, some in branches.items()}
        text = _write_body(graph, loose, names, heads)
    assert text is not None, "every node can be reached from the top"
    return text


def _refusal(graph: Graph, message: str) -> FormatError:
    return FormatError(f"graph {graph.id} cannot be written as PENMAN: it {message}")


def _name_variables(graph: Graph) -> dict[str, str]:
    """Give each variable the name it is written with: its id, where PENMAN allows that."""
    is_good = _is_symbol if attribute(graph.extras, "odd_variables") else is_variable
    taken = {node.label for node in graph.nodes if node.constant}
    names = {
        n.id: n.id for n in graph.nodes if not n.constant and is_good(n.id) and n.id not in taken
    }
    taken.update(names)
    counts: Counter[str] = Counter()
    for node in graph.nodes:
        if node.constant or node.id in names:
            continue
        letter = node.label[0].lower() if node.label and node.label[0].isalpha() else "x"
        name = letter
        while name in taken:
            counts[letter] += 1
            name = f"{letter}{counts[letter] + 1}"
        taken.add(name)
        names[node.id] = name
    return names


def _write_head(graph: Graph, node: Node, names: dict[str, str]) -> str:
    """Return a constant, or the beginning of a definition."""
    label = node.label
    mark = _write_alignment(graph, node.attributes, "alignment") if node.attributes else ""
    # A constant without text is the missing target of a role.
    missing = node.constant and label == "" and not mark
    if label is None and (mark or node.constant):
        raise _refusal(graph, f"has nothing to write for node {node.id!r}")
    if label is not None and not missing and not _is_atom(label):
        raise _refusal(graph, f"has the label {label!r}, which is neither a symbol nor a string")
    if node.constant:
        return f"{label}{mark}"
    return f"({names[node.id]} / {label}{mark}" if label is not None else f"({names[node.id]}"


def _write_alignment(graph: Graph, attributes: Attributes, name: str) -> str:
    value = attribute(attributes, name)
    if value is None:
        return ""
    if not _is_alignment(str(value)):
        raise _refusal(graph, f"has the alignment {value!r}")
    return f"~{value}"


def _branches(graph: Graph, inverted: list[bool]) -> dict[str, list[_Branch]]:
    """Return what is written below each node."""
    branches: dict[str, list[_Branch]] = {node.id: [] for node in graph.nodes}
    for edge, turned in zip(graph.edges, inverted, strict=True):
        above, below = (edge.target, edge.source) if turned else (edge.source, edge.target)
        role = _write_role(edge.label, turned)
        mention, alignment = False, ""
        if edge.attributes:
            role = f"{role}{_write_alignment(graph, edge.attributes, 'alignment')}"
            alignment = _write_alignment(graph, edge.attributes, "target_alignment")
            mention = bool(alignment) or attribute(edge.attributes, "mention", False)
        branches[above].append(_Branch(str(role), below, mention, alignment))
    return branches


def _is_written_inverted(graph: Graph, edge: Edge, nodes: dict[str, Node]) -> bool:
    """Say how *edge* is written: as its attributes say, unless it cannot be read back so."""
    if edge.source not in nodes or edge.target not in nodes:
        raise _refusal(graph, f"has an edge {edge.label!r} with an unknown node")
    wish = any(name == "inverted" and value for name, value in edge.attributes)
    for turned in (wish, not wish):
        above = edge.target if turned else edge.source
        if not nodes[above].constant and _write_role(edge.label, turned) is not None:
            return turned
    raise _refusal(graph, f"has an edge {edge.label!r} from {edge.source!r} to {edge.target!r}")


def _connect(graph: Graph, nodes: dict[str, Node], inverted: list[bool]) -> None:
    """Turn edges in *inverted* until every node can be reached from the top."""
    ends = [
        (edge.target, edge.source) if turned else (edge.source, edge.target)
        for edge, turned in zip(graph.edges, inverted, strict=True)
    ]
    downward: dict[str, list[int]] = {node_id: [] for node_id in nodes}
    upward: dict[str, list[int]] = {node_id: [] for node_id in nodes}
    for number, (above, below) in enumerate(ends):
        downward[above].append(number)
        upward[below].append(number)
    reached: dict[str, None] = {}
    todo = [graph.tops[0]]
    waiting: deque[str] = deque()
    while todo or (waiting and len(reached) < len(nodes)):
        if todo:
            node_id = todo.pop()
            if node_id not in reached:
                reached[node_id] = None
                waiting.append(node_id)
                todo += [ends[number][1] for number in reversed(downward[node_id])]
            continue
        node_id = waiting.popleft()
        for number in upward[node_id]:
            above = ends[number][0]
            turned = not inverted[number]
            if (
                above not in reached
                and not nodes[node_id].constant
                and _write_role(graph.edges[number].label, turned) is not None
            ):
                inverted[number] = turned
                todo.append(above)
    if len(reached) < len(nodes):
        lost = next(node_id for node_id in nodes if node_id not in reached)
        raise _refusal(graph, f"has a node {lost!r} that the top is not connected to")


@lru_cache(maxsize=4096)
def _write_role(label: str, inverted: bool) -> str | None:
    """Return the role as written, or None if it would be read as another one."""
    role = f":{label}-of" if inverted else f":{label}"
    if _is_role(label) and load_penman().models.amr.model.is_role_inverted(role) == inverted:
        return role
    return None


def _write_body(
    graph: Graph,
    branches: dict[str, list[_Branch]],
    names: dict[str, str],
    heads: dict[str, str],
) -> str | None:
    """Write the graph top down; return None if a node does not come up or is nowhere defined."""
    top = graph.tops[0]
    parts = [heads[top]]
    defined = {top}
    stack = [iter(branches[top])]
    inline = True  # constants stay in the line of their concept until something else comes
    while stack:
        branch = next(stack[-1], None)
        if branch is None:
            parts.append(")")
            stack.pop()
            continue
        role, end, mention, alignment = branch
        constant = end not in names
        inline = inline and constant
        parts.append(" " if inline else "\n" + _INDENT * min(len(stack), _MAX_INDENT))
        parts.append(role)
        if constant:
            parts.append(f" {heads[end]}" if heads[end] else "")
            defined.add(end)
        elif mention or end in defined:
            parts.append(f" {names[end]}{alignment}")
        elif alignment:
            raise _refusal(graph, f"has an alignment {alignment!r} on the definition of {end!r}")
        else:
            parts.append(f" {heads[end]}")
            defined.add(end)
            stack.append(iter(branches[end]))
            inline = True
    return "".join(parts) if len(defined) == len(heads) else None
