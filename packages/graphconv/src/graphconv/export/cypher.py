r"""A Cypher script that creates the graphs in Neo4j, Memgraph or another database of its kind.

>>> from graphconv.graph import Edge, Node
>>> nodes = Node("w", "want-01"), Node("b", "boy")
>>> graph = Graph("1", "amr", nodes=nodes, edges=(Edge("w", "b", "ARG0"),), tops=("w",))
>>> print(statement(graph), end="")
CREATE (g:Graph {id: "1", framework: "amr", text: ""}),
  (n0:Node {graph: "1", framework: "amr", id: "w", label: "want-01"}),
  (n1:Node {graph: "1", framework: "amr", id: "b", label: "boy"}),
  (g)-[:HAS_NODE]->(n0),
  (g)-[:HAS_NODE]->(n1),
  (g)-[:HAS_TOP]->(n0),
  (n0)-[:`ARG0` {label: "ARG0"}]->(n1);

One statement creates one graph: a node ``Graph`` with the sentence, ``HAS_NODE`` and ``HAS_TOP`` to
its nodes, and between these an edge whose type is its label. ``start`` and ``end`` are the
characters of the text, ``words`` what stands there; ``score`` is a log-probability.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from graphconv.graph import Graph
from graphconv.io import files
from graphconv.views import flat_score, text_of, token_spans, words_of

_NO_LABEL = "EDGE"
"""The type of an edge without a label: a type cannot be empty."""


def export(graphs: Iterable[Graph], path: str) -> int:
    """Write a script to a file (``-``: standard output) and return the number of graphs."""
    count = 0
    with files.output(path) as file:
        for graph in graphs:
            file.write(statement(graph).encode())
            count += 1
    return count


def statement(graph: Graph) -> str:
    """Return the statement that creates a graph."""
    graph.validate()
    own: dict[str, Any] = {
        "id": graph.id,
        "framework": graph.framework,
        "text": text_of(graph),
    }
    if graph.scores is not None and graph.scores.graph is not None:
        own["score"] = graph.scores.graph
    parts = [f"(g:Graph {_properties(own)})"]
    names = {node.id: f"n{place}" for place, node in enumerate(graph.nodes)}
    for name, properties in zip(names.values(), node_properties(graph), strict=True):
        parts.append(f"({name}:Node {_properties(properties)})")
    parts += [f"(g)-[:HAS_NODE]->({name})" for name in names.values()]
    parts += [f"(g)-[:HAS_TOP]->({names[top]})" for top in graph.tops]
    for edge in graph.edges:
        properties = {"label": edge.label, **({"remote": True} if edge.remote else {})}
        properties |= flat_score(graph, edge)
        ends = names[edge.source], names[edge.target]
        link = f"[:{_quoted(edge.label or _NO_LABEL)} {_properties(properties)}]"
        parts.append(f"({ends[0]})-{link}->({ends[1]})")
    return "CREATE " + ",\n  ".join(parts) + ";\n"


def node_properties(graph: Graph) -> Iterable[dict[str, Any]]:
    """Yield what each node says, without what it does not say."""
    text, spans, words = text_of(graph), token_spans(graph), words_of(graph)
    for node in graph.nodes:
        said: dict[str, Any] = {
            "graph": graph.id,
            "framework": graph.framework,
            "id": node.id,
            "label": node.label,
            "constant": node.constant or None,
            "implicit": node.implicit or None,
            "anchors": list(words[node.id]) or None,
        }
        places = [spans[place] for place in words[node.id]] if spans else []
        if places:
            start, end = min(places)[0], max(end for _, end in places)
            said |= {"start": start, "end": end, "words": text[start:end]}
        said |= flat_score(graph, node.id)
        yield {name: value for name, value in said.items() if value is not None}


def _properties(pairs: Mapping[str, Any]) -> str:
    # Strings, numbers, truth values and lists of them look as in JSON; a name stands alone.
    return "{" + ", ".join(f"{key}: {_literal(value)}" for key, value in pairs.items()) + "}"


def _literal(value: Any) -> str:
    # ASCII alone, so that no line separator or direction mark inside of a word can be misread.
    return json.dumps(value)


def _quoted(name: str) -> str:
    r"""Return a type of edges.

    >>> print(_quoted("prep`in"), _quoted("\\u0041"))
    `prep``in` `\u005cu0041`
    """
    # Neo4j makes characters of such sequences before it reads anything else.
    return "`" + name.replace("\\u", "\\u005cu").replace("`", "``") + "`"
