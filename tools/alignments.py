"""How often the words of parsed AMR nodes are those of a gold alignment.

    python tools/alignments.py GOLD.amr [--model DIR]

The sentences of GOLD, whose nodes are aligned (``~e.3``), are parsed from their tokens. Nodes are
paired as Smatch pairs them, constants by their parent and role; of the pairs with the same label
whose gold node is aligned, a parsed node is right if it shares a word with the gold node.
Precision is over the pairs whose parsed node is anchored, recall over all of them, and recall of
gold over all aligned gold nodes, which counts what the parser did not find, too.
"""

from __future__ import annotations

import argparse

import evaltools
import graphconv
from graphconv import Graph, Node
from transducer import Transducer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gold")
    parser.add_argument("--model")
    arguments = parser.parse_args()
    gold = [graph for graph in graphconv.read(arguments.gold) if graph.tokens]
    model = (
        Transducer.load(arguments.model) if arguments.model else Transducer.shipped("amr", "cpu")
    )
    parsed = model.parse([graph.tokens for graph in gold])
    paired = anchored = right = 0
    for one, two in zip(gold, parsed, strict=True):
        for a, b in node_pairs(one, two):
            if a.label == b.label and a.anchors:
                paired += 1
                anchored += bool(b.anchors)
                right += not {*a.anchors}.isdisjoint(b.anchors)
    aligned = sum(bool(node.anchors) for graph in gold for node in graph.nodes)
    print(f"{len(gold)} sentences, {aligned} aligned gold nodes, {paired} of them found")
    print(
        f"precision {100 * right / max(anchored, 1):.1f}  recall {100 * right / max(paired, 1):.1f}"
    )
    print(f"recall of gold {100 * right / max(aligned, 1):.1f}")


def node_pairs(gold: Graph, pred: Graph) -> list[tuple[Node, Node]]:
    """Return the nodes that stand for each other."""
    nodes = {node.id: node for node in gold.nodes}, {node.id: node for node in pred.nodes}
    names = dict(evaltools.align(gold, pred).pairs)
    constants = {
        (edge.source, edge.label, nodes[1][edge.target].label): edge.target
        for edge in pred.edges
        if nodes[1][edge.target].constant
    }
    for edge in gold.edges:
        target = nodes[0][edge.target]
        key = (names.get(edge.source, ""), edge.label, target.label)
        if target.constant and key in constants:
            names[target.id] = constants[key]
    return [(nodes[0][a], nodes[1][b]) for a, b in names.items()]


if __name__ == "__main__":
    main()
