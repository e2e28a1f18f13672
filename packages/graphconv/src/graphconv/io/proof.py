r"""The proof that what is written is what was meant: it is read again before anyone sees it.

A graph carries more than nodes and edges: how a file was laid out, comments, XML that we do not
know. What a record from outside (a side record, the private key of MRP) says there is data like any
other, and the writers believe it. So a text that is made from such a graph is read back, and
refused unless it is one graph with the same tokens, nodes, edges and tops.

>>> from graphconv.graph import Graph, Node
>>> graph = Graph("1", "amr", nodes=(Node("b", "boy"),), tops=("b",))
>>> prove("amr", "(b / boy)\n\n", graph)
>>> prove("amr", "(b / boy)\n\n(g / girl)\n\n", graph)
Traceback (most recent call last):
graphconv.errors.FormatError: graph 1 cannot be written as amr: it would be read as another graph
"""

from __future__ import annotations

from collections import Counter
from io import StringIO

from graphconv.errors import FormatError, GraphconvError
from graphconv.frameworks import framework
from graphconv.graph import Graph
from graphconv.io.reading import codec


def prove(name: str, text: str, graph: Graph) -> None:
    """Raise FormatError unless *text*, in the format *name*, is read as *graph*."""
    module = codec(name)
    try:
        blocks = list(module.blocks(StringIO(text, newline="\n"), name))
        found = [module.parse(block, graph.framework) for block in blocks]
    except GraphconvError as error:
        reason = getattr(error, "message", str(error))
        raise FormatError(f"graph {graph.id} cannot be written as {name}: {reason}") from error
    if len(found) != 1 or _summary(found[0]) != _summary(graph):
        message = f"graph {graph.id} cannot be written as {name}: it would be read as another graph"
        raise FormatError(message)


def _summary(graph: Graph) -> tuple[object, ...]:
    """Return what must not change, whatever the nodes are called."""
    is_anchored = framework(graph.framework, graph.id).is_anchored
    looks = {
        node.id: (
            node.label,
            node.constant,
            node.implicit,
            tuple(sorted(node.anchors)) if is_anchored else (),
        )
        for node in graph.nodes
    }
    return (
        [token.form for token in graph.tokens],
        Counter(looks.values()),
        Counter((looks[e.source], e.label, e.remote, looks[e.target]) for e in graph.edges),
        Counter(looks[top] for top in graph.tops),
    )
