"""Round trips of a graph, one function per law: does anything get lost, for this very graph?

>>> from graphconv.graph import Edge, Node
>>> loop = Graph("1", "amr", nodes=(Node("a", "a"),), edges=(Edge("a", "a", "mod"),), tops=("a",))
>>> check_graph(loop)
()

A law that fails is named, with what went wrong:

>>> two = Graph("1", "amr", nodes=(Node("a"), Node("a")), tops=("a",))
>>> check_graph(two)
("conversion: graph 1: node 'a' is defined 2 times",)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from graphconv import io
from graphconv.arborescence import Arborescence, relations
from graphconv.codecs import Block, arborescence
from graphconv.conversion import from_relations, to_arborescence, to_graph
from graphconv.errors import FormatError, GraphconvError
from graphconv.frameworks import FRAMEWORKS, Nodes
from graphconv.graph import Graph, Node, attribute
from graphconv.io.stream import Input

SAMPLE = Path(__file__).parent / "sample"
"""A folder with a few graphs of each framework, for trying things out."""


_KEPT_BYTE_FOR_BYTE = frozenset({"sdp"})


class Result(NamedTuple):
    """What :func:`check_input` found about one graph."""

    path: str
    framework: str
    id: str
    failures: tuple[str, ...]


class Line(NamedTuple):
    """A line of the table: how many graphs of one file and framework passed."""

    file: str
    framework: str
    graphs: int
    passed: int
    failed: int


def sample_paths() -> tuple[str, ...]:
    """Return the files of the bundled sample."""
    return tuple(str(path) for path in sorted(SAMPLE.iterdir()) if not path.name.startswith("_"))


def check_graph(graph: Graph) -> tuple[str, ...]:
    """Return the laws that *graph* breaks on its way to an arborescence and back; none is good."""
    try:
        tree = to_arborescence(graph)
    except GraphconvError as error:
        return (f"conversion: {error}",)
    messages = (_broken(law, partial(holds, graph, tree)) for law, holds in _LAWS.items())
    return tuple(message for message in messages if message)


def check_input(item: Input) -> Result:
    """Check a graph that was read from a file, and that the file format keeps it."""
    failures = [*check_graph(item.graph)]
    failure = _broken(f"graph -> {item.format} file -> graph", lambda: _file_round_trip(item))
    if failure:
        failures.append(failure)
    if FRAMEWORKS[item.graph.framework].nodes is Nodes.UNIT and not failures:
        law = "graph -> relations -> graph as it is scored"
        failures += filter(None, [_broken(law, lambda: _same_types(item.graph))])
    return Result(item.path, item.graph.framework, item.graph.id, tuple(failures))


def summary(results: Iterable[Result]) -> tuple[list[Line], list[Result]]:
    """Return the counts per file and framework, and the results that failed."""
    passed: Counter[tuple[str, str]] = Counter()
    failed: Counter[tuple[str, str]] = Counter()
    failures = []
    for result in results:
        key = (result.path, result.framework)
        (failed if result.failures else passed)[key] += 1
        if result.failures:
            failures.append(result)
    keys = {**dict.fromkeys(passed), **dict.fromkeys(failed)}
    lines = [Line(*key, passed[key] + failed[key], passed[key], failed[key]) for key in keys]
    return lines, failures


def _equal_by(name: Mapping[str, str], graph: Graph, bare: Graph) -> bool:
    """Say whether *bare* is *graph* when its nodes are called by the other *name*."""
    return (
        name.keys() == {node.id for node in bare.nodes}
        and Counter(_core(node, node.id, graph.framework) for node in graph.nodes)
        == Counter(_core(node, name[node.id], graph.framework) for node in bare.nodes)
        and Counter(edge[:4] for edge in graph.edges)
        == Counter((name[s], name[t], *rest) for s, t, *rest, _ in bare.edges)
        and set(graph.tops) == {name[top] for top in bare.tops}
    )


def _core(node: Node, node_id: str, framework: str) -> tuple[object, ...]:
    """Return what the relations say about a node; AMR's and DRG's nodes have no words there."""
    anchors = sorted(node.anchors) if FRAMEWORKS[framework].is_anchored else ()
    return (node_id, node.label, tuple(anchors), node.constant, node.implicit)


def _back_to_graph(graph: Graph, tree: Arborescence) -> bool:
    return to_graph(tree) == graph


def _from_bare_relations(graph: Graph, tree: Arborescence) -> bool:
    tokens = [token._replace(span=None, features=()) for token in tree.tokens]
    bare = from_relations(relations(tree), id=graph.id, framework=graph.framework, tokens=tokens)
    found = to_graph(bare)
    names = dict(zip(_ids_by_row(found), _ids(tree, graph), strict=True))
    return bare.rows == tree.rows and _equal_by(names, graph, found)


def _ids_by_row(found: Graph) -> list[str]:
    """Return the ids of a graph that was read from rows alone, in the order of its rows."""
    if FRAMEWORKS[found.framework].nodes is Nodes.CONCEPT:
        # It has them in this order. Its own tree may be another one: of parts that no top reaches,
        # the order of the edges decides which of several nodes with equal degrees is the root.
        return [node.id for node in found.nodes]
    return _ids(to_arborescence(found), found)


def _ids(tree: Arborescence, graph: Graph) -> list[str]:
    """Return the ids of a graph in an order that depends on the rows of its tree alone."""
    ids: list[str] | None = tree.side.get("ids")
    return [node.id for node in graph.nodes] if ids is None else ids


def _same_arborescence_again(graph: Graph, tree: Arborescence) -> bool:  # noqa: ARG001
    tree.validate()
    return to_arborescence(to_graph(tree)) == tree


def _pipe_format(graph: Graph, tree: Arborescence) -> bool:
    return arborescence.parse(Block(arborescence.format(tree), graph.id, 1)) == tree


def _same_types(graph: Graph) -> bool:
    """Say whether the types of terminals and units, which scores look at, follow from the rows."""
    tree = to_arborescence(graph)
    tokens = [token._replace(span=None, features=()) for token in tree.tokens]
    bare = from_relations(relations(tree), id=graph.id, framework=graph.framework, tokens=tokens)
    try:
        return _types(graph) == _types(to_graph(bare))
    except FormatError:  # XML cannot hold it, and nothing else has types
        return True


def _types(graph: Graph) -> tuple[list[bool], Counter[tuple[object, ...]]]:
    """Return which tokens are punctuation, and units by type and what is around them."""
    codec = io.codec("ucca")
    read: Graph = codec.parse(Block(codec.format(graph), graph.id, 1), None)
    around: dict[str, list[tuple[bool, str]]] = {node.id: [] for node in read.nodes}
    for edge in read.edges:
        around[edge.source].append((True, edge.label))
        around[edge.target].append((False, edge.label))
    marks = [attribute(token.features, "type") == "Punctuation" for token in read.tokens]
    types = ((node, attribute(node.attributes, "type", "FN")) for node in read.nodes)
    return marks, Counter(
        (kind if kind in _SCORED else "FN", tuple(sorted(node.anchors)), *sorted(around[node.id]))
        for node, kind in types
    )


_SCORED = frozenset({"LKG", "PNCT"})
"""The types of units that scores treat in another way than the usual one."""


_LAWS: dict[str, Callable[[Graph, Arborescence], bool]] = {
    "graph -> arborescence -> graph": _back_to_graph,
    "graph -> relations -> graph": _from_bare_relations,
    "arborescence -> graph -> arborescence": _same_arborescence_again,
    "arborescence -> file -> arborescence": _pipe_format,
}


def _file_round_trip(item: Input) -> bool:
    if item.format in io.TREE_FORMATS:
        return True  # the laws above have done it
    codec = io.codec(item.format)
    file_format = getattr(codec, "file_format", None)
    text_of = file_format() if file_format and item.block.first else codec.format
    text = text_of(item.graph)
    if item.format in _KEPT_BYTE_FOR_BYTE and text != item.block.text:
        return False
    # Cut again, because a block and the text that is written may differ in blank lines.
    blocks = [
        block._replace(first=item.block.first, context=item.block.context)
        for block in codec.blocks(StringIO(text, newline="\n"), item.block.filename)
    ]
    return [codec.parse(block, item.graph.framework) for block in blocks] == [item.graph]


def _broken(law: str, holds: Callable[[], bool]) -> str | None:
    try:
        return None if holds() else f"{law}: not the same"
    except GraphconvError as error:
        return f"{law}: {error}"
