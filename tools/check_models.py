"""Parse the sentences of tests/models with each model that ships, and compare with stored graphs.

``python tools/check_models.py`` lists every changed graph with its score and exits with 1;
``--update`` stores what the models say now. Greedy search in full precision: 8-bit products differ
between processors, these hardly do.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import graphconv
from graphconv import Graph
from transducer import Transducer
from transducer.parsing.evaluation import headline
from transducer.text.tokens import tokenize

FOLDER = Path(__file__).parents[1] / "tests" / "models"
TASKS = ("amr", "dm", "ucca")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--update", action="store_true", help="store the graphs as they are now")
    parser.add_argument("tasks", nargs="*", default=TASKS, metavar="TASK", help=", ".join(TASKS))
    arguments = parser.parse_args()
    changed = 0
    for task in arguments.tasks:
        graphs = parse(task)
        stored = FOLDER / f"{task}.mrp"
        if arguments.update:
            graphconv.write(graphs, stored)
        else:
            changed += compare(list(graphconv.read(stored)), graphs)
    sys.exit(changed > 0)


def parse(task: str) -> list[Graph]:
    """Return what the model that ships makes of the sentences, as a file holds it."""
    sentences = (FOLDER / "sentences.txt").read_text(encoding="utf-8").splitlines()
    tokens = [tokenize(sentence) for sentence in sentences]
    graphs = Transducer.shipped(task).parse(tokens, beam=1, int8=False)
    return graphconv.loads(graphconv.dumps(graphs, format="mrp"))


def compare(stored: Sequence[Graph], graphs: Sequence[Graph]) -> int:
    """Print each graph that is not as it is stored, with its score; return their number."""
    pairs = list(zip(stored, graphs, strict=True))
    changed = [(before, now) for before, now in pairs if meaning(before) != meaning(now)]
    for before, now in changed:
        f1 = headline([before], [now]).f1
        print(f"{now.framework} {now.id}: changed, F1 with the stored graph {f1:.2f}")
    print(f"{stored[0].framework}: {len(pairs) - len(changed)} of {len(pairs)} are as stored")
    return len(changed)


def meaning(graph: Graph) -> tuple[object, ...]:
    """Return what counts: metadata, such as the version of the model, does not."""
    return graph.nodes, graph.edges, graph.tops


if __name__ == "__main__":
    main()
