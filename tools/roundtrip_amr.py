"""Report what AMR pre- and postprocessing lose on gold, step by step.

    python tools/roundtrip_amr.py --train TRAIN.amr... [--dev DEV.amr...]

For each file and each step: the Smatch of preprocess, then postprocess, against gold (proved
optimal), the Negation score where the rules are on, and how many labels source copy covers.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from evaltools import smatch
from graphconv.graph import Graph
from graphconv.io import read
from transducer.config import AmrConfig
from transducer.frameworks.amr import (
    Tables,
    copy_constant,
    copy_lemma,
    postprocess,
    prepare_tokens,
    preprocess,
    tokenize_graph,
)
from transducer.text.annotation import annotate, load_annotator

OFF: dict[str, Any] = {
    "anonymize": False,
    "senses": False,
    "wiki": False,
    "polarity": False,
}
STEPS = {
    "none": {},
    "senses": {"senses": True},
    "wiki": {"wiki": True},
    "anonymize": {"anonymize": True},
    "polarity": {"polarity": True},
    "senses+wiki": {"senses": True, "wiki": True},
    "all": {"senses": True, "wiki": True, "anonymize": True, "polarity": True},
}


def round_trip(graphs: Sequence[Graph], tables: Tables, options: AmrConfig) -> str:
    """Return the scores of the round trip."""
    total = smatch.ZERO
    for graph in graphs:
        small = preprocess(graph, tables, options)
        _, record = prepare_tokens(graph.tokens, tables, options)
        back = postprocess(small, record, tables, options)
        total += smatch.pair_counts(graph, back, fine_grained=options.polarity)
    assert total.certified, "without a time limit every value is proved"
    text = f"Smatch {total.smatch.f1:6.2f}"
    if options.polarity:
        negation = total.fine_grained["Negation"]
        text += f"  Negation P {negation.p:6.2f} R {negation.r:6.2f}"
    return text


def coverage(graphs: Sequence[Graph], tables: Tables, options: AmrConfig) -> str:
    """Return the share of the labels that the tokens offer to source copy."""
    concepts = covered = constants = offered = 0
    for graph in graphs:
        small = preprocess(graph, tables, options)
        lemmas = {copy_lemma(token, tables) for token in small.tokens}
        others = {copy_constant(token) for token in small.tokens}
        for node in small.nodes:
            if node.constant:
                constants += 1
                offered += node.label in others
            else:
                concepts += 1
                covered += node.label in lemmas
    return (
        f"copy covers {covered / max(concepts, 1):.1%} of {concepts} concepts, "
        f"{offered / max(constants, 1):.1%} of {constants} constants"
    )


def main() -> None:
    """Report on the files named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", nargs="+", type=Path, required=True)
    parser.add_argument("--dev", nargs="*", type=Path, default=[])
    parser.add_argument("--annotator", default="none")
    arguments = parser.parse_args()
    annotator = load_annotator(arguments.annotator)

    def load(path: Path) -> list[Graph]:
        graphs = [tokenize_graph(graph) for graph in read(path, format="amr")]
        tokens = annotate([graph.tokens for graph in graphs], annotator)
        return [
            Graph(g.id, g.framework, t, g.nodes, g.edges, g.tops, g.metadata, g.extras)
            for g, t in zip(graphs, tokens, strict=True)
        ]

    training = {path: load(path) for path in arguments.train}
    tables = Tables.learn(chain.from_iterable(training.values()))
    for path, graphs in chain(training.items(), ((path, load(path)) for path in arguments.dev)):
        print(path.name, f"({len(graphs)} graphs)")
        for name, on in STEPS.items():
            options = AmrConfig(**{**OFF, **on})
            print(f"    {name:12} {round_trip(graphs, tables, options)}  ", end="")
            print(coverage(graphs, tables, options))


if __name__ == "__main__":
    main()
