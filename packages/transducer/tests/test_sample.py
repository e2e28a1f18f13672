"""The sample corpus: what it contains, that it is reproducible, and that it is not trivial."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from evaltools import sdp, smatch, ucca
from evaltools.counts import Counts
from graphconv import Graph, Token, read, relations, to_arborescence, to_graph
from transducer.parsing.baseline import nearest
from transducer.sample import FRAMEWORKS, PARTS, path

ROOT = Path(__file__).parents[3]
SIZES = {"train": 1000, "dev": 100, "test": 100}


@cache
def load(framework: str, part: str) -> tuple[Graph, ...]:
    return tuple(read(path(framework, part)))


def every(framework: str) -> list[Graph]:
    return [graph for part in PARTS for graph in load(framework, part)]


def text(graph: Graph) -> str:
    return " ".join(token.form for token in graph.tokens)


def labels(framework: str) -> Counter[str]:
    return Counter(edge.label for graph in every(framework) for edge in graph.edges)


@pytest.mark.parametrize("part", PARTS)
def test_the_sentences_are_the_same_for_every_framework(part: str) -> None:
    parts = [[(g.id, text(g)) for g in load(framework, part)] for framework in FRAMEWORKS]
    assert len(parts[0]) == SIZES[part]
    assert parts[0] == parts[1] == parts[2]


def test_no_sentence_occurs_twice() -> None:
    texts = Counter(text(graph).lower() for graph in every("dm"))
    assert max(texts.values()) == 1


def test_lengths() -> None:
    lengths = [len(graph.tokens) for graph in every("dm")]
    assert min(lengths) >= 4
    assert max(lengths) <= 25
    assert 10 <= sum(lengths) / len(lengths) <= 13


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_graph_is_valid_and_round_trips(framework: str) -> None:
    for graph in every(framework):
        graph.validate()
        tree = to_arborescence(graph)
        assert len(relations(tree)) == len(tree.rows) > 1
        assert to_graph(tree) == graph


@pytest.mark.parametrize("framework", ["dm", "ucca"])
def test_tokens_carry_lemma_and_part_of_speech(framework: str) -> None:
    tokens: list[Token] = [token for graph in every(framework) for token in graph.tokens]
    assert all(token.lemma and token.pos for token in tokens)


def test_amr_names_lemmas_and_parts_of_speech_for_every_token() -> None:
    for graph in every("amr"):
        fields = dict(graph.metadata)
        counts = {len(fields[name].split()) for name in ("tok", "lemmas", "pos")}
        assert counts == {len(graph.tokens)}


def test_amr_has_what_makes_amr_hard() -> None:
    concepts = Counter(node.label for graph in every("amr") for node in graph.nodes)
    wanted = {"amr-unknown", "date-entity", "temporal-quantity", "volume-quantity", "name", "and",
              "possible-01", "obligate-01", "recommend-01", "contrast-01", "cause-01",
              "have-org-role-91", "have-rel-role-91", "more-than", "imperative"}  # fmt: skip
    assert wanted <= set(concepts)
    roles = {"polarity", "wiki", "poss", "domain", "purpose", "concession", "condition", "mode"}
    assert roles <= set(labels("amr"))
    copies = sum(len(tree.rows) - len({row.index for row in tree.rows})
                 for tree in map(to_arborescence, every("amr")))  # fmt: skip
    assert copies > 300


def test_dm_has_what_makes_dm_hard() -> None:
    wanted = {"BV", "poss", "compound", "neg", "loc", "mwe", "of", "_and_c", "_but_c", "ARG3"}
    assert wanted <= set(labels("dm"))
    outside = sum(len(g.tokens) - len(g.nodes) for g in every("dm"))
    assert outside > 1000
    split = [
        g for g in every("dm") if any(row.relation == "null" for row in to_arborescence(g).rows)
    ]
    assert len(split) > 20
    assert all(len(graph.tops) == 1 for graph in every("dm"))


def test_ucca_has_what_makes_ucca_hard() -> None:
    assert set("HAPSDCEFNRLUG") == set(labels("ucca"))
    graphs = every("ucca")
    assert sum(edge.remote for graph in graphs for edge in graph.edges) > 300
    assert sum(node.implicit for graph in graphs for node in graph.nodes) > 30
    gaps = [
        node
        for graph in graphs
        for node in graph.nodes
        if node.anchors and node.anchors[-1] - node.anchors[0] >= len(node.anchors)
    ]
    assert len(gaps) > 30
    for graph in graphs:
        covered = sorted(anchor for node in graph.nodes for anchor in node.anchors)
        assert covered == list(range(len(graph.tokens)))


def test_some_words_stand_in_the_test_part_alone() -> None:
    known = {
        token.lemma for part in ("train", "dev") for g in load("dm", part) for token in g.tokens
    }
    unknown = {token.lemma for g in load("dm", "test") for token in g.tokens} - known
    assert {"Vera", "Boris", "judge"} <= unknown
    assert len(unknown) > 15
    verbs = {
        t.lemma for g in load("dm", "test") for t in g.tokens if (t.pos or "").startswith("VB")
    }
    assert verbs <= known  # a sense number cannot be copied


def test_the_grammar_writes_the_shipped_files_again(tmp_path: Path) -> None:
    script = ROOT / "tools" / "sample_grammar.py"
    if not script.exists():
        pytest.skip("the tools are not here")
    subprocess.run([sys.executable, script, "-o", tmp_path], check=True)
    for framework in FRAMEWORKS:
        for part in PARTS:
            shipped = path(framework, part)
            # Compared unpacked: another zlib may pack the same text differently.
            again = gzip.decompress((tmp_path / shipped.name).read_bytes())
            assert again == gzip.decompress(shipped.read_bytes())


def score(framework: str, pred: list[Graph]) -> Counts:
    gold = load(framework, "test")
    if framework == "amr":
        return smatch.score(gold, pred).smatch
    if framework == "dm":
        scores = sdp.score(gold, pred)
        return scores.edges + scores.tops
    labelled = ucca.score(gold, pred).labelled
    return labelled.primary + labelled.remote


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_nearest_sentence_is_not_good_enough(framework: str) -> None:
    pred = list(nearest(load(framework, "train"), load(framework, "test")))
    for graph in pred:
        graph.validate()
    counts = score(framework, pred)
    assert 30 < 200 * counts.match / (counts.gold + counts.pred) <= 60


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_nearest_sentence_of_a_known_sentence_is_itself(framework: str) -> None:
    known = load(framework, "dev")
    assert tuple(nearest(known, known)) == known


def test_a_baseline_needs_training_sentences() -> None:
    with pytest.raises(ValueError, match="at least one"):
        next(nearest([], load("dm", "dev")))


def test_unknown_parts_are_refused() -> None:
    with pytest.raises(ValueError, match="no 'best' part"):
        path("dm", "best")
