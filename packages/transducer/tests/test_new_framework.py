"""A new framework is one module: this one. Nothing else knows it, and it trains and parses."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

import graphconv
import transducer
from graphconv import frameworks
from graphconv.graph import Edge, Graph, Node, Token
from transducer.config import Config, ModelConfig, TrainConfig
from transducer.data.trees import RelationKind, RowKind, TreeRules
from transducer.decoding.constraints import Constraints
from transducer.decoding.hypotheses import Choice, Hypotheses
from transducer.errors import ConfigError
from transducer.frameworks.tasks import Sentence, Task
from transducer.parsing.parser import Transducer
from transducer.registry import FRAMEWORKS
from transducer.training.trainer import make_trainer

NAME = "toy"


class ToyConstraints(Constraints):
    """The first word is the root, and all others hang below it."""

    def first(self, hyp: Hypotheses, label: Tensor, word: Tensor) -> tuple[Tensor, Tensor]:
        del hyp
        return label & False, word

    def further(self, hyp: Hypotheses, label: Tensor, copy: Tensor) -> tuple[Tensor, Tensor]:
        end = label.expand(len(hyp), -1).clone()
        end[:, 3:] = False
        return end, copy & False

    def heads(self, hyp: Hypotheses, parent: Tensor, new_word: Tensor | None) -> Tensor:
        heads = super().heads(hyp, parent, new_word)
        heads[:, 1:] = False
        return heads

    def relation_kinds(
        self, hyp: Hypotheses, choice: Choice, head: Tensor, by_kind: Tensor
    ) -> None:
        del hyp, choice, head
        by_kind[:, RelationKind.PLAIN] = True


def row_kind(label: str, relation: str, is_word: bool) -> RowKind:
    """Return what may hang below a row: only the root has children, which the rules see to."""
    del label, relation, is_word
    return RowKind.NODE


class ToyTask(Task):
    """Says who finished a graph."""

    __slots__ = ()
    trees = TreeRules(row_kind, words_are_nodes=True)
    constraints = ToyConstraints
    metric = "sdp"

    def finished(self, graph: Graph, sentence: Sentence) -> Graph:
        return replace(graph, metadata=(("finished", sentence.id),))


TASK = ToyTask


def toy_graphs() -> Iterator[Graph]:
    """Yield stars: every word with a capital is linked to the first word."""
    sentences = ("sing Ada and Bo", "dance Bo", "sing Cy", "eat Bo and Ada", "dance Ada")
    for number, sentence in enumerate(sentences, start=1):
        tokens = tuple(Token(form) for form in sentence.split())
        named = [i for i, token in enumerate(tokens) if token.form.istitle()]
        nodes = tuple(Node(str(i), anchors=(i,)) for i in (0, *named))
        edges = tuple(Edge("0", str(i), "who") for i in named)
        yield Graph(str(number), NAME, tokens, nodes, edges, ("0",))


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enter the framework into the tables: graphconv's, whose rows of DM suit it, and ours."""
    monkeypatch.setitem(frameworks.FRAMEWORKS, NAME, frameworks.FRAMEWORKS["dm"])
    monkeypatch.setitem(sys.modules, "toy_framework", sys.modules[__name__])
    monkeypatch.setitem(FRAMEWORKS, NAME, "toy_framework")


def trained(folder: Path, epochs: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Transducer, float]:
    """Return a small model for toys, and the score that it reached."""
    # It has no file format: the treebank is a list.
    monkeypatch.setattr(graphconv, "read", lambda *_, **__: toy_graphs())
    (folder / "toy").write_text("stars")
    files = [str(folder / "toy")]
    model = ModelConfig(
        word_size=16, pos_size=0, char_size=0, index_size=8, relation_size=8, encoder_size=24,
        decoder_size=48, attention_size=16, biaffine_size=16, bilinear_size=16, dropout=0.0,
    )  # fmt: skip
    settings = TrainConfig(
        batch_size=5, epochs=epochs, learning_rate=0.01, coverage=0.0, evaluate_from=epochs
    )
    trainer = make_trainer(Config(NAME, model, settings), files, files, folder / "model")
    best = trainer.fit().best
    return Transducer.load(folder / "model", "cpu"), best


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("beam", [1, 3])
def test_a_new_framework_trains_and_parses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, beam: int
) -> None:
    parser, best = trained(tmp_path, 60, monkeypatch)
    assert best == pytest.approx(100)
    assert type(parser.task) is ToyTask
    gold = list(toy_graphs())
    for graph, parsed in zip(gold, parser.parse([g.tokens for g in gold], beam=beam), strict=True):
        assert parsed.framework == NAME
        assert dict(parsed.metadata)["finished"] == graph.id
        assert {node.anchors for node in parsed.nodes} == {node.anchors for node in graph.nodes}
        assert len(parsed.edges) == len(graph.edges)


@pytest.mark.usefixtures("toy")
def test_its_rules_hold_whatever_the_model_wants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that learned next to nothing makes stars, too; with other rules it does not."""
    parser, best = trained(tmp_path, 1, monkeypatch)
    assert best < 100
    with torch.no_grad():
        parser.model.ffn_switch.bias[1] += 20  # every word becomes a node
        parser.model.biaffine.u.mul_(-50)  # and prefers the wrong head
    sentences = [tuple(map(Token, "a b c d e f".split()))] * 2
    assert _are_stars(parser.parse(sentences))
    with monkeypatch.context() as patch:
        patch.setattr(ToyConstraints, "heads", Constraints.heads)
        assert not _are_stars(parser.parse(sentences))


def _are_stars(graphs: list[Graph]) -> bool:
    return all(edge.source == graph.tops[0] for graph in graphs for edge in graph.edges)


def test_a_framework_that_is_not_in_the_table_is_refused() -> None:
    with pytest.raises(ConfigError, match="task is amr, dm, pas, psd or ucca, not 'toy'"):
        Config(NAME)


def test_names_of_frameworks_are_compared_in_their_modules_alone() -> None:
    package = Path(transducer.__file__).parent
    named = re.compile(rf"""(==|!=|\bin|\bcase) *\(?["']({"|".join(FRAMEWORKS)})["']""")
    compared = {
        path.relative_to(package).parts[0]
        for path in package.rglob("*")
        if path.suffix in (".py", ".js") and named.search(path.read_text(encoding="utf-8"))
    }
    assert compared <= {"frameworks"}
    assert named.search('if task == "ucca":')
