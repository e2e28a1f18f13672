"""What a model of DM, PAS or PSD gets wrong: ``python tools/dm_errors.py GOLD [--model DIR]``.

Counts the gold edges that are not found by what is there instead, and compares the decoder with
links, a classifier of word pairs that sees nothing but the encoder's states: where both find as
many pairs, the decoder cannot do better than the encoder lets it.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from pathlib import Path

import torch

import graphconv
from evaltools import sdp
from evaltools.counts import Counts
from graphconv.cliutil import table
from graphconv.errors import GraphconvError
from graphconv.graph import Graph
from transducer.data.examples import numericalize
from transducer.errors import TransducerError
from transducer.frameworks.tasks import Document
from transducer.parsing.inputs import gold_documents
from transducer.parsing.parser import Transducer
from transducer.storage.checkpoint import load_setup
from transducer.storage.shipped import find_model

Edge = tuple[int, int, str]
Pair = tuple[int, int]
TOP = -1  # the source of a top


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("gold")
    parser.add_argument("--model", help="model directory; default: the DM model that ships")
    parser.add_argument("--limit", type=int, default=300, help="sentences; 0 is all")
    parser.add_argument("--beam", type=int, default=1)
    arguments = parser.parse_args()
    folder = Path(arguments.model) if arguments.model else find_model("dm")
    framework = load_setup(folder)[0].task  # a bad file is told before the model is loaded
    graphs = graphconv.read(arguments.gold, framework=framework)
    gold = list(itertools.islice(graphs, arguments.limit or None))
    model = Transducer.load(folder, "cpu")
    documents = list(gold_documents(model.task, gold, None))
    settings = replace(model.task.config.decode, beam=arguments.beam, nbest=1)
    parsed = [parse.graph for parse in model.stream(documents, settings)]
    scores = sdp.score(gold, parsed)
    wanted, found = ([edges_of(graph) for graph in side] for side in (gold, parsed))
    pairs = [pairs_of(edges) for edges in wanted]
    rows = [
        ("labelled edges", (scores.edges + scores.tops).f1),
        ("unlabelled edges", (scores.pairs + scores.tops).f1),
        ("word pairs, decoder", f1(pairs, [pairs_of(edges) for edges in found])),
    ]
    if model.model.links is not None:
        linked = [pairs_by_links(model, document) for document in documents]
        rows.append(("word pairs, links", f1(pairs, linked)))
    print(table([("", "F1"), *rows]))
    kinds = Counter(
        kind(edge, ours) for edges, ours in zip(wanted, found, strict=True) for edge in edges - ours
    )
    print(table([("missed edges", "number"), *kinds.most_common()]))


def edges_of(graph: Graph | None) -> set[Edge]:
    """Return the edges between words, and the tops."""
    if graph is None:
        return set()
    place = {node.id: node.anchors[0] for node in graph.nodes}
    edges = {(place[edge.source], place[edge.target], edge.label) for edge in graph.edges}
    return edges | {(TOP, place[top], "") for top in graph.tops}


def pairs_of(edges: Iterable[Edge]) -> set[Pair]:
    """Return which words are linked, in either direction."""
    return {(min(a, b), max(a, b)) for a, b, _ in edges if a != TOP}


def pairs_by_links(model: Transducer, document: Document) -> set[Pair]:
    """Return the pairs of words that links find more probable than not."""
    [sentence] = document.sentences
    model.model.eval()
    with torch.inference_mode():
        items = [numericalize(sentence.example, model.vocabularies)]
        either_way = model.model.encode(model.batch(items, model.features)).links[0, :, 1]
    likely = (either_way + either_way.T).triu(1) > 0
    return {(int(a), int(b)) for a, b in likely.nonzero()}


def f1(wanted: Sequence[Set[Pair]], found: Sequence[Set[Pair]]) -> float:
    """Return the F1 of all sentences together, in percent."""
    both = zip(wanted, found, strict=True)
    return sum((Counts(len(a), len(b), len(a & b)) for a, b in both), Counts()).f1


def kind(edge: Edge, found: Set[Edge]) -> str:
    """Say what is there instead of a gold edge."""
    source, target, label = edge
    pairs = {(a, b) for a, b, _ in found}
    nodes = {place for pair in pairs for place in pair}
    cases = {
        "top": source == TOP,
        "another label": (source, target) in pairs,
        "the other direction": (target, source) in pairs,
        "a word is left out": not {source, target} <= nodes,
        "another target": any((a, name) == (source, label) for a, _, name in found),
        "another source": any((b, name) == (target, label) for _, b, name in found),
    }
    return next((name for name, holds in cases.items() if holds), "something else, or nothing")


if __name__ == "__main__":
    try:
        main()
    except (GraphconvError, TransducerError) as error:
        sys.exit(f"Error: {error}")
