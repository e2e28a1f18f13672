"""Scores and alignments from Python: paths, strings and graphs alike, as the command has them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import evaltools
import graphconv
from evaltools.cli import main
from evaltools.errors import EvaluationError
from graphconv import Graph
from graphconv.check import sample_paths

GOLD = """# ::id 1
(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))

# ::id 2
(l / leave-11 :ARG0 (h / he))
"""
PRED = GOLD.replace(":ARG0 b)", ":ARG1 b)").replace("leave-11", "go-02")


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    gold, pred = tmp_path / "gold.amr", tmp_path / "pred.amr"
    gold.write_text(GOLD)
    pred.write_text(PRED)
    return gold, pred


def test_paths_strings_and_graphs_have_the_same_score(paths: tuple[Path, Path]) -> None:
    graphs = graphconv.loads(GOLD), graphconv.loads(PRED)
    expected = evaltools.score(*paths)
    assert expected.f1 == pytest.approx(100 * 9 / 11)
    for gold in (paths[0], str(paths[0]), GOLD, graphs[0], tuple(graphs[0])):
        for pred in (paths[1], str(paths[1]), PRED, graphs[1], iter(graphs[1])):
            found = evaltools.score(gold, pred)
            assert found.statistics == expected.statistics
            assert (found.p, found.r, found.metric) == (expected.p, expected.r, "smatch")


def test_it_is_what_the_command_prints(paths: tuple[Path, Path]) -> None:
    arguments = [str(path) for path in paths]
    found = evaltools.score(*paths, fine_grained=True, bootstrap=50)
    command = ["score", *arguments, "--fine-grained", "--bootstrap", "50"]
    assert CliRunner().invoke(main, command).stdout == f"{found}\n"
    printed = CliRunner().invoke(main, [*command, "--format", "json"]).stdout
    assert json.loads(printed) == json.loads(json.dumps(found.to_json()))
    assert str(found).startswith(found.table)
    assert str(found).endswith(found.signature)
    assert found.certified
    # A string has the hash of a file of it.
    assert evaltools.score(GOLD, PRED).signature == evaltools.score(*paths).signature
    assert "smatch" in found._repr_html_()


def test_strings_in_the_place_of_graphs_are_told_what_takes_them() -> None:
    with pytest.raises(TypeError, match=r"evaltools\.score takes strings and paths"):
        evaltools.smatch.score(GOLD, PRED)


@pytest.mark.parametrize("path", sample_paths())
def test_every_framework_is_scored(path: str) -> None:
    graphs = list(graphconv.read(path))
    found = evaltools.score(graphs, path)
    assert found.f1 == 100
    assert not found.missing
    assert evaltools.score(graphs[0], graphs[0], metric=found.metric).f1 == 100


def test_graphs_are_paired_by_id_else_by_order() -> None:
    one, two = graphconv.loads(GOLD)
    assert evaltools.score([one, two], [two, one]).f1 == 100
    assert evaltools.score([one, two], [one]).missing == ["2"]
    assert evaltools.score(one, two).f1 < 100  # two graphs are a pair, whatever their ids
    renamed = graphconv.loads(GOLD.replace("::id ", "::id x"))
    assert evaltools.score([one, two], renamed).f1 == 100
    nameless = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))"
    assert evaltools.score(one, nameless).f1 == 100
    assert evaltools.score(nameless, nameless).f1 == 100


@pytest.mark.parametrize(
    ("gold", "pred", "options", "says"),
    [
        (GOLD, PRED, {"metric": "bleu"}, "there is no metric 'bleu': choose auto, smatch, sdp"),
        (GOLD, PRED, {"beam": 4}, "there is no option 'beam'; there are framework, "),
        (GOLD, PRED, {"normalize": True}, "normalize is no option of smatch"),
        (GOLD, PRED, {"profile": "x"}, "there is no profile 'x': choose smatch-1.0.4"),
        (GOLD, PRED, {"metric": "sdp"}, "sdp scores dm, pas, psd, not amr"),
        ([], PRED, {}, "there is no graph to score: the list is empty"),
        (GOLD, 7, {}, "pred is a int, where a graph is expected: give a path, a string"),
        (GOLD, [GOLD], {}, "pred is a str, where a graph is expected"),
        (GOLD, "no-such.amr", {}, "no-such.amr: No such file or directory"),
        (GOLD, "(w / want-01", {}, "<string>:1: "),
        (GOLD, "", {}, "the string is empty"),
    ],
)
def test_bad_arguments_are_one_sentence(
    gold: Any, pred: Any, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(graphconv.GraphconvError) as caught:
        evaltools.score(gold, pred, **options)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_mixed_frameworks_are_told() -> None:
    amr = graphconv.loads(GOLD)[0]
    dm = next(
        graph
        for path in sample_paths()
        for graph in graphconv.read(path)
        if graph.framework == "dm"
    )
    with pytest.raises(EvaluationError, match=r"the prediction is dm but gold \(gold\) is amr"):
        evaltools.score(amr, dm)
    with pytest.raises(EvaluationError, match="a is amr and b is dm: only graphs of one framework"):
        evaltools.align(amr, dm)
    with pytest.raises(EvaluationError, match="a holds 2 graphs: align one with one"):
        evaltools.align(GOLD, GOLD)
    with pytest.raises(EvaluationError, match="beam is no option of smatch"):
        evaltools.align(amr, amr, beam=1)


def test_an_alignment_of_amrs() -> None:
    one, two = (
        graphconv.loads(GOLD)[0],
        graphconv.loads(
            PRED.replace("(b /", "(x /").replace("ARG1 b", "ARG1 x").replace("ARG0 b", "ARG0 x")
        )[0],
    )
    found = evaltools.align(one, two)
    assert found.pairs == (("w", "w"), ("b", "x"), ("g", "g"))
    assert found.missing == ("go-02 :ARG0 boy",)
    assert found.extra == ("go-02 :ARG1 boy",)
    assert len(found.matched) == 6
    assert found.certified
    assert found._repr_html_().count("<svg") == 2
    assert str(found).splitlines()[0].strip() == "6 items match"
    assert not evaltools.align(one, two, restarts=0).certified


@pytest.mark.parametrize("path", sample_paths()[1:])
def test_an_alignment_by_words(path: str) -> None:
    graph = next(graphconv.read(path))
    same = evaltools.align(graph, graph)
    assert not same.missing
    assert not same.extra
    words = {node.id for node in graph.nodes if graph.span(node.id)}
    assert same.pairs == tuple((node.id, node.id) for node in graph.nodes if node.id in words)
    less = Graph.from_dict({**graph.to_dict(), "edges": graph.to_dict()["edges"][:-1]})
    assert len(evaltools.align(graph, less).missing) >= 1


def test_importing_is_light() -> None:
    code = "import sys, evaltools; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numpy", "scipy", "evaltools.scoring", "graphconv"} & {*loaded}
