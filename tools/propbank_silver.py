r"""Parse the example sentences of PropBank, and keep the graphs that agree with its annotation.

    python tools/propbank_silver.py --examples $C/propbank/examples.jsonl.gz \
        --rolesets $C/propbank/rolesets.tsv.gz --without open-train.amr -o silver.amr

PropBank says of one predicate in each sentence which roleset it is, and which arguments it has. A
parse is kept if it has the predicate once, with just these core roles; it gets PropBank's sense.
So a model learns frames that its treebanks lack, from sentences whose predicate is right.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import click
from join_open_amr import digest, from_penn

from graphconv import cliutil, read, write
from graphconv.graph import Graph
from transducer.errors import TransducerError
from transducer.frameworks.amr import read_rolesets
from transducer.parsing.parser import Transducer

SHORTEST, LONGEST = 5, 28
_BATCH = 512
_CORE = re.compile(r"ARG\d")
_ODD = re.compile(r"[*\[\]/\\<>|]")
_TAKES_TEXT = re.compile(r"op\d+|wiki|value|li|mode")
"""Roles that lead to constants which are no numbers."""


class Example(NamedTuple):
    """A sentence of PropBank, with one predicate."""

    text: str
    roleset: str
    roles: frozenset[str]


def examples(path: Path, known: Iterable[str]) -> Iterator[Example]:
    """Yield the examples that are whole sentences, once each, but those whose hash is *known*."""
    seen = set(known)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            entry: dict[str, Any] = json.loads(line)
            if not _is_sentence(entry["text"]) or (key := digest(entry["text"])) in seen:
                continue
            seen.add(key)
            text = from_penn(entry["text"])
            roles = frozenset(role for role, *_ in entry["args"] if _CORE.fullmatch(role))
            yield Example(text[0].upper() + text[1:], entry["id"], roles)


def _is_sentence(text: str) -> bool:
    words = text.split()
    return (
        SHORTEST <= len(words) <= LONGEST
        and words[-1] in ".?!"
        and not _ODD.search(text)
        and any(character.islower() for character in text)
    )


def judged(graph: Graph, example: Example) -> tuple[Graph | None, str]:
    """Return the graph with PropBank's sense, or none, and what was found.

    >>> from graphconv import loads
    >>> (graph,) = loads("(r / run-01 :ARG0 (b / boy))")
    >>> judged(graph, Example("The boy ran.", "run-02", frozenset({"ARG0"})))[0].nodes[0].label
    'run-02'
    >>> judged(graph, Example("The boy ran it.", "run-01", frozenset({"ARG0", "ARG1"})))
    (None, 'other roles')
    """
    lemma = example.roleset.rpartition("-")[0]
    predicate = re.compile(re.escape(lemma) + r"-\d+")
    found = [node for node in graph.nodes if predicate.fullmatch(node.label or "")]
    if len(found) != 1:
        return None, "no predicate" if not found else "several predicates"
    (node,) = found
    roles = {e.label for e in graph.edges if e.source == node.id and _CORE.fullmatch(e.label)}
    if roles != example.roles:
        return None, "other roles"
    if not sound(graph):
        return None, "unsound"
    if node.label == example.roleset:
        return graph, "kept"
    nodes = (n._replace(label=example.roleset) if n.id == node.id else n for n in graph.nodes)
    return replace(graph, nodes=tuple(nodes)), "kept, sense changed"


def sound(graph: Graph) -> bool:
    """Return whether names and texts are only where AMR has them, and no node is denied twice."""
    texts = {node.id for node in graph.nodes if node.constant and '"' in (node.label or "")}
    once = Counter((e.source, e.label) for e in graph.edges if e.label in ("polarity", "mode"))
    return max(once.values(), default=0) < 2 and all(
        _TAKES_TEXT.fullmatch(e.label) for e in graph.edges if {e.source, e.target} & texts
    )


def silver(
    parser: Transducer, found: Iterable[Example], counts: Counter[str], beam: int
) -> Iterator[Graph]:
    """Yield the graphs that agree, numbered."""
    stream = iter(found)
    while some := list(islice(stream, _BATCH)):
        parsed = parser.parse([e.text for e in some], errors="keep", beam=beam, int8=True)
        for graph, example in zip(parsed, some, strict=True):
            kept, what = judged(graph, example)
            counts[what] += 1
            if kept is not None:
                text = (("snt", example.text),)
                yield replace(kept, id=f"silver.{sum(counts.values())}", metadata=text)


@click.command()
@click.option("--examples", "source", required=True, type=cliutil.existing(folders=False))
@click.option("--rolesets", required=True, type=cliutil.existing(folders=False))
@click.option("--without", multiple=True, type=cliutil.existing(), help="AMR files to leave out.")
@click.option("--model", type=cliutil.existing(), help="Default: the model that ships.")
@click.option("--beam", default=5, show_default=True)
@click.option("-o", "--output", "target", required=True, metavar="OUT")
@cliutil.data_errors(TransducerError)
def main(
    *,
    source: str,
    rolesets: str,
    without: tuple[str, ...],
    model: str | None,
    beam: int,
    target: str,
) -> None:
    """Parse PropBank's examples and keep the graphs that agree with its annotation."""
    known = (digest(graph.text) for path in without for graph in read(path))
    frames = {roleset.id for roleset in read_rolesets(rolesets)}
    found = (e for e in examples(Path(source), known) if e.roleset in frames)
    parser = Transducer.load(model) if model else Transducer.shipped("amr")
    counts: Counter[str] = Counter()
    write(silver(parser, found, counts, beam), target, format="amr")
    for what, number in counts.most_common():
        click.echo(f"{number:6,}  {what}", err=True)


if __name__ == "__main__":
    main()
