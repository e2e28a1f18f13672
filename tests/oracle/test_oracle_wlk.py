"""WLK and WWLK against their authors' program, of which zensols.amr brings a copy (version 0.2).

The program renames a concept that is also a variable's name (`i / i`), so variables get names here
that are no concepts.
"""

import importlib.util
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import islice
from types import ModuleType
from typing import Any

import networkx as nx
import numpy as np
import penman
import pytest

from evaltools import wlk, wwlk
from evaltools.similarity import SCALE
from graphconv.codecs import Block, amr
from graphconv.graph import Graph
from graphconv.io import read
from graphconv.testing import CORPORA

FILES = [CORPORA / f"amr/{name}.amr" for name in ("lpp-dev", "bio-dev", "massive-dev")]
LIMIT = int(os.environ.get("ORACLE_GRAPHS", "167"))
RATE = 0.2
CLOSE = 2 / SCALE

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.corpora,
    pytest.mark.skipif(not FILES[0].exists(), reason="no corpora"),
]


@cache
def program(name: str) -> ModuleType:
    """Load one file of the program, without the package around it and without word vectors."""
    package = importlib.util.find_spec("zensols")
    if package is None or not package.submodule_search_locations:
        pytest.skip("zensols.amr is not installed")
    gensim, downloader = ModuleType("gensim"), ModuleType("gensim.downloader")
    gensim.downloader = downloader  # type: ignore[attr-defined]
    sys.modules.update({"gensim": gensim, "gensim.downloader": downloader})
    path = f"{next(iter(package.submodule_search_locations))}/amr/wlk/{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pairs() -> Iterator[tuple[str, str]]:
    """Yield AMRs and copies with other concepts and roles, as PENMAN."""
    rng = random.Random(35)
    for path in FILES:
        graphs = list(islice(read(path), LIMIT))
        concepts = [node.label for graph in graphs for node in graph.nodes if not node.constant]
        found = {edge.label for graph in graphs for edge in graph.edges}
        roles = sorted(role for role in found if not role.endswith("-of"))  # fits constants, too
        for graph in graphs:
            nodes = tuple(
                node._replace(label=rng.choice(concepts))
                if not node.constant and rng.random() < RATE
                else node
                for node in graph.nodes
            )
            edges = tuple(
                edge._replace(label=rng.choice(roles)) if rng.random() < RATE else edge
                for edge in graph.edges
            )
            copy = Graph(graph.id, "amr", nodes=nodes, edges=edges, tops=graph.tops)
            yield text(graph), text(copy)


def text(graph: Graph) -> str:
    lines = amr.format(graph).split("\n")
    tree: penman.Tree = penman.parse("\n".join(line for line in lines if not line.startswith("#")))
    tree.reset_variables("v{i}x")
    return str(penman.format(tree))


def ours(penman_text: str) -> Graph:
    return amr.parse(Block(penman_text, "pair", 1))


def theirs(penman_text: str) -> Any:
    graphs, _ = program("graph_helpers").GraphParser().parse([penman_text])
    return graphs[0]


def numbered(graph: Any) -> Any:
    """Number equal labels from the last one on, as version 0.1 does, the paper's, and we do."""
    result = graph.copy()
    left = Counter(label for _, label in result.nodes(data="label"))
    for node, label in list(result.nodes(data="label")):
        result.nodes[node]["label"] = f"{label}###{left[label]}"
        left[label] -= 1
    return nx.MultiDiGraph(result)


def test_wlk() -> None:
    for gold, pred in pairs():
        sides = [[numbered(theirs(side))] for side in (gold, pred)]
        expected = program("amr_similarity").WLK().predict(*sides)[0]
        found = wlk.pair_counts(ours(gold), ours(pred)).millionths / SCALE
        assert found == pytest.approx(expected, abs=CLOSE), gold


def test_wwlk() -> None:
    similarity = program("amr_similarity")

    class Preprocessor(similarity.AmrWasserPreProcessor):  # type: ignore[misc, name-defined]
        """The program's, but with our vectors of labels and weights of roles, not random ones."""

        def _get_vec(self, string: str) -> Any:
            return np.array(wwlk._vector(string, None))

        def _xprepare(self, *sides: list[Any]) -> None:
            graphs = [graph for side in sides for graph in side]
            roles = sorted({role for graph in graphs for role in self.get_edge_labels(graph)})
            self.params = np.array([wwlk._weight(role.lstrip(":")) for role in roles])[:, None]
            self.param_keys = {role: number for number, role in enumerate(roles)}

    for gold, pred in pairs():
        kernel = similarity.WasserWLK(Preprocessor(w2v_uri=None, is_resettable=False))
        expected = kernel.predict([theirs(gold)], [theirs(pred)])[0]  # 1 - distance
        found = wwlk.pair_counts(ours(gold), ours(pred)).millionths / SCALE
        assert found == pytest.approx((1 + expected) / 2, abs=CLOSE), gold
