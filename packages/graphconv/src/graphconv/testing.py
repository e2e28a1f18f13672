"""Hypothesis strategies for valid graphs of every framework, odd ones above all.

>>> from hypothesis import given
>>> @given(graphs("ucca"))
... def test_edges_have_known_ends(graph: Graph) -> None:
...     graph.validate()

All graphs are small. What real treebanks contain, and worse, is reachable: no top and several,
cycles, self-loops, parallel edges, unconnected parts, labels that look like our own names, and for
UCCA implicit, linkage, detached and discontiguous units, several parents, and edges straight to
terminals.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy  # noqa: TC002 - types, but of this module's API

from graphconv.arborescence import Arborescence
from graphconv.conversion import to_arborescence
from graphconv.frameworks import FRAMEWORKS, Nodes
from graphconv.graph import (
    Attributes,
    Edge,
    Graph,
    Node,
    Token,
    join_categories,
)

CORPORA = Path(
    os.environ.get("ARBORA_CORPORA", Path(__file__).parents[4].parent / "shared" / "corpora")
)
"""The folder of real treebanks; tests that need one are skipped where it is absent."""

_PASSAGE = """<root annotationID="0" passageID="{id}">
  <attributes />
  <layer layerID="0">
    <attributes />
    <node ID="0.1" type="Word">
      <attributes paragraph="1" paragraph_position="1" text="{word}" />
    </node>
    <node ID="0.2" type="Punctuation">
      <attributes paragraph="1" paragraph_position="2" text="!" />
    </node>
  </layer>
  <layer layerID="1">
    <attributes />
    <node ID="1.1" type="FN">
      <attributes />
      <edge toID="1.2" type="H">
        <attributes />
        <category slot="" tag="H" />
      </edge>
      <edge toID="1.3" type="U">
        <attributes />
        <category slot="" tag="U" />
      </edge>
    </node>
    <node ID="1.2" type="FN">
      <attributes />
      <edge toID="0.1" type="Terminal">
        <attributes />
        <category slot="" tag="Terminal" />
      </edge>
    </node>
    <node ID="1.3" type="PNCT">
      <attributes />
      <edge toID="0.2" type="Terminal">
        <attributes />
        <category slot="" tag="Terminal" />
      </edge>
    </node>
  </layer>
</root>
"""


def passage(passage_id: str = "7", word: str = "Go") -> str:
    """Return a passage of UCCA as XML: a scene of one word, and punctuation.

    >>> from graphconv.io import loads
    >>> [token.form for token in loads(passage(word="Stop"))[0].tokens]
    ['Stop', '!']
    """
    return _PASSAGE.format(id=passage_id, word=word)


def interrupt_imports(module: str) -> None:
    """Assert that Ctrl-C ends a command in silence while it imports, and is an error afterwards.

    *module* is that of the command; click is the first of what it imports that takes a while.
    """
    # A shell lets programs in the background ignore the signal.
    listen = "import os, signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    hook = (
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'click': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
    )
    during = _run(f"{listen}{hook}import {module}\n")
    assert (during.returncode, during.stderr) == (-signal.SIGINT, b"")
    after = _run(f"{listen}import {module}\nsignal.raise_signal(signal.SIGINT)\n")
    assert b"KeyboardInterrupt" in after.stderr


def _run(program: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)


# Labels that look like names or marks of the conversion, with and without the escape.
_ODD = (
    *("null", "top", "root", "phrase", "Terminal", "null-Terminal", "<virtual>", "ROOT", "UNIT"),
    *("-of", "mod-of", "consist-of", "ARG0-of", "x-of-of", "x-of=", "null=", "null==", "=", "=="),
    *("A*", "A~", "A^", "A!", "A!=", "A*=", "*", "~", "^", "!", "\\", "\\=", "_", "", " ", '"q"'),
)
_ROLES = ("ARG0", "ARG1", "ARG10", "ARG2", "op2", "op10", "mod", "polarity", "location")
_CATEGORIES = ("A", "P", "S", "D", "C", "E", "H", "L", "U", "F", "LA", "LR")
_CONCEPTS = ("boy", "want-01", "go-02", "imperative", "5", "-")
_CONSTANTS = ("-", "5", '"Obama"', "imperative", "boy")
_VALUES: tuple[Any, ...] = (
    *("x", "", 1, -0.5, True, None, (), (1, ("a", None)), [1, ("b",)], {"list": [()], "dict": {}}),
)
_TOKENS = (
    *(Token("the", "the", "DT"), Token("the"), Token("Cat", "cat", "NN", (4, 7)), Token("日本")),
    *(Token("=", None, "SYM"), Token("!", "", "", None, (("frame", "v:e-i"), ("ner", None)))),
    *(Token("<virtual>"), Token("ö", "null", "-of", (0, 0), (("shape", ("x", ("y",))),))),
)
_KINDS = st.tuples(
    st.booleans(),
    st.sampled_from(((), (), (("type", "PNCT"),), (("type", "LKG"),), (("note", "x"),))),
)
"""Whether a unit of UCCA is implicit, and its attributes."""


def graphs(framework: str) -> SearchStrategy[Graph]:
    """Return a strategy for valid graphs of *framework*."""
    return _STRATEGIES[FRAMEWORKS[framework].nodes](framework)


def arborescences(framework: str) -> SearchStrategy[Arborescence]:
    """Return a strategy for everything that :func:`to_arborescence` can produce."""
    return graphs(framework).map(to_arborescence)


@cache  # hypothesis looks at a strategy once, which takes longer than drawing from it
def names(*usual: str) -> SearchStrategy[str]:
    """Return a strategy for labels: usual ones, odd ones, any text."""
    return st.one_of(st.sampled_from(usual), st.sampled_from(_ODD), st.text(max_size=4))


@cache
def attributes(*usual: str) -> SearchStrategy[Attributes]:
    """Return a strategy for pairs of names and whatever JSON can hold."""
    pair = st.tuples(st.sampled_from(usual), st.sampled_from(_VALUES))
    return st.one_of(st.just(()), pair.map(lambda one: (one,)), st.tuples(pair, pair))


@cache
def tokens(max_size: int = 6) -> SearchStrategy[tuple[Token, ...]]:
    """Return a strategy for sentences, with repeated words and words that look like labels."""
    return st.lists(st.sampled_from(_TOKENS), max_size=max_size).map(tuple)


@st.composite
def _concept_graphs(draw: DrawFn, framework: str) -> Graph:
    """AMR, EDS, PTG and DRG: any number of concepts and constants, any edges between them."""
    words = draw(tokens())
    row = FRAMEWORKS[framework]
    is_penman = row.penman_notes
    noted = attributes("alignment") if is_penman else attributes("sempos", "carg", "frame")
    nodes: list[Node] = []
    for i in range(draw(st.integers(0, 6))):
        constant = is_penman and draw(st.booleans())
        label = draw(names(*_CONSTANTS) if constant else _concepts())
        name = f":{sum(node.constant for node in nodes)}" if constant else f"v{i}"
        is_anchored = row.flavor == 1 or (is_penman and draw(st.booleans()))
        anchors = draw(_positions(len(words))) if is_anchored else ()
        nodes.append(Node(name, label, anchors, constant, False, draw(noted)))
    # The attribute that says which edges were written inverted: on some, or on none at all.
    flags: SearchStrategy[Attributes] = st.just(())
    if is_penman and draw(st.booleans()):
        flags = st.sampled_from(
            ((), (("inverted", True),), (("alignment", "e.1"), ("inverted", True)))
        )
    elif not is_penman:
        flags = attributes("member", "effective")
    edges = draw(_edges(nodes, names(*_ROLES), flags)) if nodes else ()
    return _finished(draw, framework, words, nodes, edges)


@st.composite
def _token_graphs(draw: DrawFn, framework: str) -> Graph:
    """DM, PAS and PSD: some of the tokens, any edges between them."""
    words = draw(tokens())
    as_in_files = draw(st.booleans())
    positions = draw(_positions(len(words)) | st.just(tuple(range(len(words)))))
    positions = tuple(sorted(positions)) if as_in_files else positions
    shift = 1 if as_in_files else draw(st.sampled_from((1, 0, -100)))
    noted = st.just(()) if as_in_files else attributes("pred", "note")
    nodes = [Node(str(p + shift), None, (p,), attributes=draw(noted)) for p in positions]
    edges = draw(_edges(nodes, names(*_ROLES), noted)) if nodes else ()
    if as_in_files:
        sources = {edge.source for edge in edges}
        nodes = [n._replace(attributes=(("pred", "+"),)) if n.id in sources else n for n in nodes]
        cells = {(int(edge.target), int(edge.source)): edge for edge in edges}
        edges = tuple(cells[cell] for cell in sorted(cells))
    return _finished(draw, framework, words, nodes, edges)


@st.composite
def _unit_graphs(draw: DrawFn, framework: str) -> Graph:
    """UCCA: a root, units below earlier ones, detached units, remote edges and linkage."""
    words = draw(tokens())
    ids = draw(_unit_ids(draw(st.integers(1, 7))))
    anchors: dict[str, list[int]] = {unit: [] for unit in ids}
    owners = st.sampled_from((None, *ids))
    for position in range(len(words)):
        owner = draw(owners)
        if owner is not None:
            anchors[owner].append(position)
    nodes = []
    for unit, own in anchors.items():
        order = draw(st.permutations(own)) if len(own) > 1 and draw(st.booleans()) else own
        implicit, kind = draw(_KINDS)
        nodes.append(Node(unit, None, tuple(order), implicit=implicit, attributes=kind))
    nodes, targets = draw(_with_terminals(nodes, words))
    edges = draw(_unit_edges(ids, targets))
    if draw(st.booleans()):
        nodes = draw(st.permutations(nodes))
    graph = _finished(draw, framework, words, nodes, edges)
    return graph if draw(st.integers(0, 3)) == 0 else _with_top(graph, ids[0])


@st.composite
def _unit_ids(draw: DrawFn, count: int) -> list[str]:
    """UCCA ids whose numeric order is any, in the form of XML files or of MRP."""
    numbers = draw(st.permutations(range(1, count + 1)))
    form = draw(st.sampled_from(("1.{}", "1.{}0", "{}", "n{}")))
    return [form.format(number) for number in numbers]


@st.composite
def _with_terminals(
    draw: DrawFn, nodes: list[Node], words: Sequence[Token]
) -> tuple[list[Node], list[str]]:
    """Add terminals that are nodes, and list the ids that an edge may lead to."""
    terminals = [
        Node(f"0.{position + 1}", None, (position,), attributes=(("terminal", True),))
        for position in draw(_positions(len(words)).map(lambda positions: positions[:2]))
        if draw(st.booleans())
    ]
    return [*nodes, *terminals], [terminal.id for terminal in terminals]


@st.composite
def _unit_edges(draw: DrawFn, units: list[str], terminals: list[str]) -> tuple[Edge, ...]:
    """Edges that are not remote lead from earlier to later units; remote ones anywhere."""
    everything = [*units, *terminals]
    label = _categories()
    edges = []
    for i, target in enumerate(everything[1:], start=1):
        above = units[: min(i, len(units))]
        for _ in range(draw(st.integers(0, 2))):
            edges.append(Edge(draw(st.sampled_from(above)), target, draw(label)))
    for _ in range(draw(st.integers(0, 3))):
        ends = draw(st.sampled_from(units)), draw(st.sampled_from(everything))
        edges.append(Edge(*ends, draw(label), remote=True))
    noted = attributes("note")
    edges = [edge._replace(attributes=draw(noted)) for edge in edges]
    return tuple(draw(st.permutations(edges)) if draw(st.booleans()) else edges)


@cache
def _categories() -> SearchStrategy[str]:
    category = names(*_CATEGORIES)
    return category | st.lists(category, min_size=1, max_size=2).map(tuple).map(join_categories)


@cache
def _concepts() -> SearchStrategy[str | None]:
    return st.none() | names(*_CONCEPTS)


@st.composite
def _edges(
    draw: DrawFn,
    nodes: Sequence[Node],
    labels: SearchStrategy[str],
    flags: SearchStrategy[Attributes],
) -> tuple[Edge, ...]:
    ids = [node.id for node in nodes]
    ends: list[tuple[str, str]] = []
    if draw(st.booleans()):
        # Connected: every node but the first has an edge from or to an earlier one.
        for i, node_id in enumerate(ids[1:], start=1):
            pair = (ids[draw(st.integers(0, i - 1))], node_id)
            ends.append(pair if draw(st.booleans()) else (pair[1], pair[0]))
    any_node = st.sampled_from(ids)
    ends += draw(st.lists(st.tuples(any_node, any_node), max_size=5))
    return tuple(Edge(*pair, draw(labels), attributes=draw(flags)) for pair in ends)


@cache
def _positions(count: int) -> SearchStrategy[tuple[int, ...]]:
    if not count:
        return st.just(())
    return st.lists(st.integers(0, count - 1), unique=True).map(tuple)


def _finished(
    draw: DrawFn, framework: str, words: tuple[Token, ...], nodes: list[Node], edges: Sequence[Edge]
) -> Graph:
    tops: tuple[str, ...] = ()
    candidates = [node.id for node in nodes if ("terminal", True) not in node.attributes]
    if candidates:
        ids = st.sampled_from(candidates)
        tops = tuple(draw(st.one_of(ids.map(lambda top: [top]), st.lists(ids, unique=True))))
    return Graph(
        draw(st.sampled_from(("1", "x y", ""))),
        framework,
        words,
        tuple(nodes),
        tuple(edges),
        tops,
        draw(attributes("snt", "time")),
        draw(attributes("format", "comments")),
    )


def _with_top(graph: Graph, top: str) -> Graph:
    return Graph(
        graph.id,
        graph.framework,
        graph.tokens,
        graph.nodes,
        graph.edges,
        (top,),
        graph.metadata,
        graph.extras,
    )


_STRATEGIES: dict[Nodes, Callable[[str], SearchStrategy[Graph]]] = {
    Nodes.CONCEPT: _concept_graphs,
    Nodes.TOKEN: _token_graphs,
    Nodes.UNIT: _unit_graphs,
}
