"""The paper's example sentence, from raw text to a graph of each framework.

A small model memorizes the sentence among a few others of the sample corpus; what is tested is the
way around it: text -> tokens -> relations -> graph -> file, and back.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import graphconv
from graphconv import Edge, Graph, Node, Token
from graphconv.isomorphism import isomorphic

pytest.importorskip("torch")

from click.testing import CliRunner

from transducer import sample
from transducer.cli import main
from transducer.config import load_recipe, override
from transducer.training.runs import new_run, train

TEXT = "Pierre Vinken expressed his concern."
FORMS = ("Pierre", "Vinken", "expressed", "his", "concern", ".")
TAGS = ("NNP", "NNP", "VBD", "PRP$", "NN", ".")
LEMMAS = ("Pierre", "Vinken", "express", "his", "concern", ".")
TOKENS = tuple(Token(*columns) for columns in zip(FORMS, LEMMAS, TAGS, strict=True))

AMR = Graph(
    "vinken",
    "amr",
    tuple(Token(form) for form in FORMS),
    nodes=(
        Node("e", "express-01"),
        Node("p", "person"),
        Node(":0", "-", constant=True),
        Node("n", "name"),
        Node(":1", '"Pierre"', constant=True),
        Node(":2", '"Vinken"', constant=True),
        Node("c", "concern-01"),
    ),
    edges=(
        Edge("e", "p", "ARG0"),
        Edge("p", ":0", "wiki"),
        Edge("p", "n", "name"),
        Edge("n", ":1", "op1"),
        Edge("n", ":2", "op2"),
        Edge("e", "c", "ARG1"),
        Edge("c", "p", "ARG0"),
    ),
    tops=("e",),
)
DM = Graph(
    "vinken",
    "dm",
    TOKENS,
    nodes=tuple(Node(str(i + 1), anchors=(i,)) for i in range(5)),
    edges=(
        Edge("2", "1", "compound"),
        Edge("3", "2", "ARG1"),
        Edge("5", "4", "poss"),
        Edge("3", "5", "ARG2"),
    ),
    tops=("3",),
)
UCCA = Graph(
    "vinken",
    "ucca",
    TOKENS,
    nodes=(
        Node("1.1"),
        Node("1.2"),
        Node("1.3", anchors=(0, 1)),
        Node("1.4", anchors=(2,)),
        Node("1.5"),
        Node("1.6", anchors=(3,)),
        Node("1.7", anchors=(4,)),
        Node("1.8", anchors=(5,), attributes=(("type", "PNCT"),)),
    ),
    edges=(
        Edge("1.1", "1.2", "H"),
        Edge("1.2", "1.3", "A"),
        Edge("1.2", "1.4", "P"),
        Edge("1.2", "1.5", "A"),
        Edge("1.5", "1.6", "E"),
        Edge("1.5", "1.7", "C"),
        Edge("1.1", "1.8", "U"),
    ),
    tops=("1.1",),
)
GOLD = {"amr": AMR, "dm": DM, "ucca": UCCA}
SUFFIX = {"amr": "amr", "dm": "sdp", "ucca": "mrp"}
SETTINGS = (
    "train.epochs=45", "train.minutes=1.5", "train.batch_size=1", "train.evaluate_from=500",
    "train.moving_average=0", "train.smoothing=0", "train.word_dropout=0",
    "train.learning_rate=0.004", "model.dropout=0.0", "model.encoder_size=48",
    "model.decoder_size=96", "model.pos_size=0",
)  # fmt: skip


def test_the_relations_are_those_of_the_figure() -> None:
    """Two "person" nodes have the same index, 2, and a DM edge against the tree ends in -of."""
    rows = graphconv.relations(graphconv.to_arborescence(AMR))
    assert [(r.u, r.d_u, r.r, r.v, r.d_v) for r in rows if r.v in ("express-01", "person")] == [
        ("<root>", 0, "root", "express-01", 1),
        ("express-01", 1, "ARG0", "person", 2),
        ("concern-01", 7, "ARG0", "person", 2),
    ]
    rows = graphconv.relations(graphconv.to_arborescence(DM))
    assert [(r.u, r.r, r.v) for r in rows] == [
        ("<root>", "root", "expressed"),
        ("expressed", "ARG1", "Vinken"),
        ("Vinken", "compound", "Pierre"),
        ("expressed", "ARG2", "concern"),
        ("concern", "poss", "his"),
    ]
    rows = graphconv.relations(graphconv.to_arborescence(UCCA))
    assert [(r.u, r.r, r.v) for r in rows][:4] == [
        ("<root>", "root", "ROOT"),
        ("ROOT", "H", "H"),
        ("H", "A", "Pierre"),
        ("Pierre", "phrase", "Vinken"),
    ]


@pytest.mark.parametrize("task", list(GOLD))
def test_raw_text_to_a_finished_graph(task: str, tmp_path: Path) -> None:
    treebank = tmp_path / f"train.{SUFFIX[task]}"
    others = list(
        zip(graphconv.read(sample.path(task, "train"), framework=task), range(3), strict=False)
    )
    graphconv.write([GOLD[task], *(graph for graph, _ in others)], treebank)
    config = override(load_recipe("tiny", task=task), SETTINGS)
    train(new_run(config, [str(treebank)], [], tmp_path / "model", device="cpu"))
    raw = _parse(tmp_path, TEXT, "text", task)
    assert isomorphic(_bare(raw), _bare(GOLD[task]))
    tokenized = _parse(tmp_path, " ".join(FORMS), "tokens", task)
    assert isomorphic(_bare(tokenized), _bare(raw))


def _parse(folder: Path, text: str, kind: str, task: str) -> Graph:
    source, target = folder / "text.txt", folder / f"out.{SUFFIX[task]}"
    source.write_text(text + "\n", encoding="utf-8")
    arguments = ["parse", str(source), "--model", str(folder / "model"), "--input", kind]
    to = {"amr": "amr", "dm": "sdp", "ucca": "mrp"}[task]
    result = CliRunner().invoke(main, [*arguments, "--to", to, "-o", str(target)])
    assert result.exit_code == 0, result.output
    [graph] = graphconv.read(target, framework=task)
    return graph


def _bare(graph: Graph) -> Graph:
    """Return the graph without what differs between a raw and a tokenized text: spans, columns."""
    tokens = tuple(Token(token.form) for token in graph.tokens)
    nodes = tuple(node._replace(attributes=()) for node in graph.nodes)
    return Graph("", graph.framework, tokens, nodes, graph.edges, graph.tops)
