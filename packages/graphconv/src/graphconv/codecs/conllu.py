r"""CoNLL-U: graphs over words (DM, PAS, PSD) in the column DEPS, as enhanced dependencies are.

>>> from graphconv.graph import Edge, Node
>>> graph = Graph(
...     "1", "dm", (Token("Dogs", "dog", "NNS"), Token("bark", "bark", "VBP")),
...     (Node("1", None, (0,)), Node("2", None, (1,), attributes=PREDICATE)),
...     (Edge("2", "1", "ARG1"),), ("2",),
... )
>>> print(format(graph).replace("\t", " "), end="")
# sent_id = 1
# text = Dogs bark
# framework = dm
1 Dogs dog _ NNS _ _ _ 2:ARG1 _
2 bark bark _ VBP _ _ _ 0:root _
<BLANKLINE>
>>> parse(Block(format(graph), "a.conllu", 1)) == graph
True

=========  ======================================================================================
column     here
=========  ======================================================================================
LEMMA      lemma
XPOS       part of speech; UPOS, FEATS, HEAD and DEPREL are ``_``
DEPS       ``0:root`` for a top, then source and label of each edge to the word
MISC       ``Frame=``; ``TokenRange=0:4``, the characters; ``Node=Yes`` for a node that neither is a
           top nor has an edge; ``Pred=Yes`` or ``Pred=No`` where the edges do not say it
=========  ======================================================================================

Metadata and extras are comments, in JSON. So is the whole graph (``# graphconv =``) if the columns
alone would give another one: a label with a ``|``, a feature that has no column. If somebody has
changed the columns since, they count, and that comment does not.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from graphconv.codecs import Block
from graphconv.codecs._json import Malformed, located
from graphconv.codecs.arborescence import (
    attributes_from_json,
    attributes_to_json,
    known_framework,
)
from graphconv.errors import FormatError
from graphconv.frameworks import BILEXICAL
from graphconv.graph import PREDICATE, Attributes, Edge, Graph, Node, Token, attribute
from graphconv.views import from_dict, text_of, to_dict

_ROOT = "root"
_JSON_COMMENTS = ("metadata", "extras", "graphconv")
_NOTHING = "_"
_FORM, _LEMMA, _XPOS, _DEPS, _MISC = 1, 2, 4, 8, 9  # columns that are read
_no_column = re.compile(r"[\t\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]").sub
_DEP = re.compile(r"(0|[1-9][0-9]{0,8}):(.*)", re.DOTALL)
_RANGE = re.compile(r"([0-9]{1,12}):([0-9]{1,12})")


def sniff(head: str) -> bool:
    r"""Say whether *head* starts like a CoNLL-U file.

    >>> sniff("# sent_id = 1\n1\tGo\tgo\t_\tVB\t_\t_\t_\t0:root\t_\n"), sniff("#SDP 2015\n")
    (True, False)
    """
    for line in head.split("\n"):
        if line.startswith("# sent_id ="):
            return True
        if line and not line.startswith("#"):
            cells = line.split("\t")
            return len(cells) == 10 and cells[0] == "1" and cells[6].isdecimal()
    return False


def blocks(lines: Iterable[str], filename: str) -> Iterator[Block]:
    """Cut a file at its empty lines."""
    text = ""
    start = 1
    for number, line in enumerate(lines, start=1):
        if line.strip("\r\n"):
            start = start if text else number
            text += line
        elif text:
            yield Block(text, filename, start)
            text = ""
    if text:
        yield Block(text, filename, start)


def parse(block: Block, framework: str | None = None) -> Graph:
    """Turn the lines of one sentence into a Graph."""
    with located(block):
        comments: dict[str, str] = {}
        rows: list[list[str]] = []
        for number, line in enumerate(block.text.rstrip("\n").split("\n")):
            text = line.removesuffix("\r")
            if text.startswith("#") and not rows:
                name, _, value = text[1:].partition("=")
                comments.setdefault(name.strip(), value.removeprefix(" "))
            else:
                rows.append(_cells(text, len(rows), number))
        name = known_framework(comments.get("framework", framework or "dm"))
        if name not in BILEXICAL:
            raise Malformed(f"CoNLL-U holds graphs over words, not {name}")
        said = {key: _json(comments[key], key) for key in _JSON_COMMENTS if key in comments}
        whole = said.get("graphconv")
        if whole is not None:
            graph = _whole(whole)
            if graph.framework == name and _columns(graph) == rows:
                return graph
        graph_id = comments.get("sent_id", "")
        metadata = attributes_from_json(said.get("metadata", []))
        extras = attributes_from_json(said.get("extras", []))
        graph = _graph(graph_id, name, rows, metadata, extras)
        graph.validate()
        return graph


def _cells(line: str, before: int, number: int) -> list[str]:
    cells = line.split("\t")
    if len(cells) != 10:
        raise Malformed(f"{len(cells)} columns, where CoNLL-U has 10", row=number)
    if cells[0] != str(before + 1):
        kind = "a multiword token" if "-" in cells[0] else "an empty node"
        message = f"{kind}, for which a graph over words has no place"
        if not re.fullmatch(r"[0-9]+[-.][0-9]+", cells[0]):
            message = f"word {cells[0]!r}, where {before + 1} is expected"
        raise Malformed(message, row=number)
    return cells


def _json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the comment {name!r} is not JSON") from error


def _whole(record: Any) -> Graph:
    try:
        return from_dict(record)
    except FormatError as error:
        raise Malformed(error.message) from error


def _graph(
    graph_id: str, framework: str, rows: list[list[str]], metadata: Attributes, extras: Attributes
) -> Graph:
    edges: list[Edge] = []
    tops: list[str] = []
    misc = [dict(_pairs(row[_MISC])) for row in rows]
    for target, row in enumerate(rows, start=1):
        for text in row[_DEPS].split("|") if row[_DEPS] != _NOTHING else ():
            found = _DEP.fullmatch(text)
            if found is None or int(found[1]) > len(rows):
                raise Malformed(f"word {target} depends on {text!r}, which is no word and label")
            if found[1] == "0":
                tops.append(str(target))
            else:
                edges.append(Edge(found[1], str(target), found[2]))
    sources = {edge.source for edge in edges}
    there = sources | {edge.target for edge in edges} | {*tops}
    nodes = []
    for place, said in enumerate(misc):
        name = str(place + 1)
        if name in there or "Node" in said or said.get("Pred") == "Yes":
            is_predicate = said.get("Pred", "Yes" if name in sources else "No") == "Yes"
            nodes.append(Node(name, None, (place,), attributes=PREDICATE if is_predicate else ()))
    tokens = tuple(_token(row, said) for row, said in zip(rows, misc, strict=True))
    return Graph(
        graph_id, framework, tokens, tuple(nodes), tuple(edges), tuple(tops), metadata, extras
    )


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for pair in text.split("|") if text != _NOTHING else ():
        name, _, value = pair.partition("=")
        yield name, value


def _token(row: list[str], misc: dict[str, str]) -> Token:
    lemma, pos = (None if cell == _NOTHING else cell for cell in (row[_LEMMA], row[_XPOS]))
    span = _RANGE.fullmatch(misc.get("TokenRange", ""))
    features: Attributes = (("frame", misc["Frame"]),) if "Frame" in misc else ()
    return Token(row[_FORM], lemma, pos, (int(span[1]), int(span[2])) if span else None, features)


def format(graph: Graph) -> str:  # noqa: A001 - the name that every codec has
    """Turn a Graph into the lines of one sentence."""
    if graph.framework not in BILEXICAL:
        raise FormatError(
            f"graph {graph.id}: CoNLL-U holds graphs over words ({', '.join(sorted(BILEXICAL))}), "
            f"not {graph.framework}"
        )
    graph.validate()
    rows = _columns(graph)
    comments = [
        ("sent_id", _line(graph.id)),
        ("text", _line(text_of(graph))),
        ("framework", graph.framework),
    ]
    for name in ("metadata", "extras"):
        if pairs := getattr(graph, name):
            comments.append((name, json.dumps(attributes_to_json(pairs))))
    lines = ["\t".join(row) for row in rows]
    text = _text(comments, lines)
    if not _comes_back(graph, text):
        text = _text([*comments, ("graphconv", json.dumps(to_dict(graph)))], lines)
    return text


def _text(comments: Iterable[tuple[str, str]], lines: Iterable[str]) -> str:
    return "\n".join([*(f"# {name} = {value}" for name, value in comments), *lines, "", ""])


def _comes_back(graph: Graph, text: str) -> bool:
    try:
        again = parse(Block(text, "", 1))
    except FormatError:
        return False
    return again == graph and graph.scores is None


def _line(text: str) -> str:
    return _no_column(" ", text)


def _columns(graph: Graph) -> list[list[str]]:
    """Return the cells of each word; what a cell cannot hold is as near as it can be."""
    place = {node.id: node.anchors[0] + 1 for node in graph.nodes if len(node.anchors) == 1}
    deps: defaultdict[int, list[str]] = defaultdict(list)
    for top in graph.tops:
        deps[place.get(top, 0)].append(f"0:{_ROOT}")
    for edge in graph.edges:
        label = _line(edge.label).replace("|", _NOTHING)
        deps[place.get(edge.target, 0)].append(f"{place.get(edge.source, 0)}:{label}")
    misc = _misc(graph, place)
    return [
        [
            str(number),
            _cell(token.form),
            _cell(token.lemma),
            _NOTHING,
            _cell(token.pos),
            *[_NOTHING] * 3,
            "|".join(deps[number]) or _NOTHING,
            "|".join(misc[number]) or _NOTHING,
        ]
        for number, token in enumerate(graph.tokens, start=1)
    ]


def _misc(graph: Graph, place: dict[str, int]) -> dict[int, list[str]]:
    result: defaultdict[int, list[str]] = defaultdict(list)
    sources = {edge.source for edge in graph.edges}
    linked = sources | {edge.target for edge in graph.edges} | {*graph.tops}
    for node in graph.nodes:
        own = result[place.get(node.id, 0)]
        if node.id not in linked:
            own.append("Node=Yes")
        is_predicate = attribute(node.attributes, "pred") == "+"
        if is_predicate != (node.id in sources):
            own.append(f"Pred={'Yes' if is_predicate else 'No'}")
    for number, token in enumerate(graph.tokens, start=1):
        frame = attribute(token.features, "frame")
        if isinstance(frame, str):
            result[number].append(f"Frame={_line(frame).replace('|', _NOTHING)}")
        if token.span is not None:
            result[number].append("TokenRange={}:{}".format(*token.span))
    return result


def _cell(text: str | None) -> str:
    return _line(text or "") or _NOTHING
