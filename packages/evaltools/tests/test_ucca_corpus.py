"""Real sentences (English Wiki, dev section) against a regularly perturbed copy.

The expected counts were made with the ``ucca`` toolkit 1.3.11. The perturbation numbers the edges
between two units that are not remote; numbers 0, 4, 8, ... get another category, into numbers 2, 6,
10, ... comes a unit with a C edge.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from evaltools.counts import Counts
from evaltools.ucca import ZERO, Scores, pair_counts
from graphconv import io
from graphconv.graph import Edge, Graph, Node, attribute
from graphconv.testing import CORPORA

pytestmark = pytest.mark.corpora

ROOT = Path(__file__).parents[3]
FOLDER = CORPORA / "ucca/wiki-dev"
CHANGED = dict(zip("ACEPSDFRHLNGTQ", "CECSPEEFANLDDE", strict=True))

# pred/gold, then labelled, unlabelled and weak matches of primary, remote and implicit units.
RAW = {
    "669000": "35/35 26 35 28 1/1 1 1 1 0/0 0 0 0",
    "673017": "23/23 17 23 17 1/1 1 1 1 1/1 1 1 1",
    "674001": "39/38 28 38 31 1/1 1 1 1 1/1 0 0 0",
    "698010": "20/19 14 19 16 1/1 1 1 1 2/2 0 1 1",
    "700000": "38/38 28 38 31 1/1 1 1 1 1/1 1 1 1",
    "all": "19198/19167 14211 19167 15335 415/415 415 415 415 140/140 71 109 104",
}
NORMALIZED = {
    "669000": "34/35 26 34 28 1/1 0 0 0 0/0 0 0 0",
    "673017": "23/23 18 23 18 1/1 1 1 1 1/1 0 0 0",
    "674001": "36/36 29 36 31 1/1 1 1 1 1/1 1 1 1",
    "698010": "18/19 14 18 16 1/1 1 1 1 2/2 1 2 2",
    "700000": "38/38 27 37 30 1/1 1 1 1 1/1 0 0 0",
    "all": "18950/19118 14502 18857 15618 415/415 413 413 413 140/140 99 137 132",
}


def summary(scores: Scores) -> str:
    """Write all counts as the tables above do."""
    parts = []
    for name in ("primary", "remote", "implicit"):
        counts = [getattr(part, name) for part in (scores.labelled, scores.unlabelled, scores.weak)]
        parts.append(f"{counts[0].pred}/{counts[0].gold}")
        parts.extend(str(count.match) for count in counts)
    return " ".join(parts)


def perturb(graph: Graph) -> Graph:
    units = {node.id for node in graph.nodes if attribute(node.attributes, "type") is None}
    number = max(int(node.id.split(".")[1]) for node in graph.nodes)
    nodes = list(graph.nodes)
    edges: list[Edge] = []
    i = 0
    for edge in graph.edges:
        changed = edge
        if edge.source in units and edge.target in units and not edge.remote:
            if i % 4 == 0:
                changed = edge._replace(label=CHANGED.get(edge.label, edge.label))
            elif i % 4 == 2:
                number += 1
                nodes.append(Node(f"1.{number}"))
                edges.append(Edge(f"1.{number}", edge.target, "C"))
                changed = edge._replace(target=f"1.{number}")
            i += 1
        edges.append(changed)
    return replace(graph, nodes=tuple(nodes), edges=tuple(edges))


@pytest.fixture(scope="module")
def graphs() -> list[Graph]:
    if not FOLDER.exists():
        pytest.skip("the corpora are absent")
    return list(io.read(FOLDER))


@pytest.mark.parametrize(("normalize", "expected"), [(True, NORMALIZED), (False, RAW)])
def test_perturbed_sentences(
    graphs: list[Graph], normalize: bool, expected: dict[str, str]
) -> None:
    total = ZERO
    found = {}
    for graph in graphs:
        result = pair_counts(graph, perturb(graph), normalize=normalize)
        total += result
        if graph.id in expected:
            found[graph.id] = summary(result)
    assert len(graphs) == 514
    assert {**found, "all": summary(total)} == expected


@pytest.mark.parametrize(("normalize", "primary"), [(True, 19094), (False, 19167)])
def test_sentences_against_themselves(graphs: list[Graph], normalize: bool, primary: int) -> None:
    total = ZERO
    for graph in graphs:
        total += pair_counts(graph, graph, normalize=normalize)
    for part in (total.labelled, total.unlabelled, total.weak):
        assert part.primary == Counts(primary, primary, primary)
        assert part.remote == Counts(415, 415, 415)
        assert part.implicit == Counts(140, 140, 140)
