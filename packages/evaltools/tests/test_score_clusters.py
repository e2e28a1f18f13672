"""score on an engine prints what one machine prints."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import graphconv
from evaltools.cli import main
from evaltools.clusters import outcome_of, record_of
from evaltools.metrics import METRICS
from evaltools.pairing import Evaluation, Outcome, Worker
from graphconv.check import SAMPLE
from graphconv.errors import FormatError


def score(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["score", *map(str, arguments)])


def predictions(gold: Path, folder: Path, *, mixed: bool) -> Path:
    """Write graphs, one of which is missing, one other; if *mixed*, in another order."""
    graphs = list(graphconv.read(gold))
    changed = [graphs[1].__class__.from_dict(graphs[1].to_dict()), *graphs[2:]]
    if mixed:
        random.Random(1).shuffle(changed)
    path = folder / "pred.mrp"
    graphconv.write(changed, path)
    path.write_text(path.read_text().replace("ARG1", "ARG2"))
    return path


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("sample.amr", ()),
        ("sample.amr", ("--fine-grained", "--format", "json")),
        ("sample.amr", ("--metric", "sembleu")),
        ("sample.amr", ("--metric", "wlk")),
        ("sample.sdp", ("--bootstrap", "20", "--format", "json")),
        ("sample.sdp", ("--metric", "mrp")),
    ],
    ids=lambda value: value if isinstance(value, str) else "".join(value),
)
def test_one_score(name: str, options: tuple[str, ...], mixed: bool, tmp_path: Path) -> None:
    gold = SAMPLE / name
    pred = predictions(gold, tmp_path, mixed=mixed)
    one = score(gold, pred, *options)
    where = ("--engine", "local", "--shard", 2, "-o", tmp_path / "out")
    for pack in ((), ("--pack",)):
        out = tmp_path / f"out{len(pack)}"
        ended = score(gold, pred, *options, *where, "-o", out, *pack)
        assert ended.exit_code == one.exit_code == 0, ended.output
        assert ended.stdout == one.stdout
        assert one.stderr in ended.stderr  # what is missing and extra


def test_ucca_and_a_restart(tmp_path: Path) -> None:
    gold = next(SAMPLE.glob("**/*.xml")).parent
    one = score(gold, gold)
    line = (gold, gold, "--engine", "local", "--shard", 1, "-o", tmp_path / "out")
    assert score(*line).stdout == one.stdout
    shards = sorted((tmp_path / "out").glob("part-*"))
    shards[0].unlink()
    again = score(*line)
    assert again.stdout == one.stdout
    assert f"{len(shards) - 1} of them from an earlier run" in again.stderr


@pytest.mark.parametrize("metric", METRICS)
def test_outcomes_come_back_as_they_were(metric: str) -> None:
    if "vectors" in METRICS[metric].option_names:
        pytest.skip("needs word vectors")
    framework = METRICS[metric].frameworks[0]
    suffix = {"amr": "*.amr", "dm": "*.sdp", "ucca": "**/*.xml"}[framework]
    path = next(SAMPLE.glob(suffix))
    evaluation = Evaluation(str(path), str(path), metric=metric)
    found = [Worker(evaluation.plan)(pair) for pair in evaluation.pairs()]
    graph = next(graphconv.read(path))
    found += [Outcome(graph, None), Outcome(None, graph, (None, False)), Outcome("1", "1")]
    kind = type(METRICS[metric].zero())
    for outcome in found:
        assert outcome_of(json.loads(json.dumps(record_of(outcome))), kind) == outcome


def test_a_broken_prediction_is_one_sentence_either_way() -> None:
    error = FormatError("no graph", filename="a.amr", lineno=3)
    again = outcome_of(record_of(Outcome("1", error)), object)
    assert str(again.pred) == str(error)


def test_broken_predictions(tmp_path: Path) -> None:
    gold, pred = SAMPLE / "sample.amr", tmp_path / "pred.amr"
    blocks = gold.read_text().split("\n\n")
    blocks[1] = "# ::id broken\n(a / b"
    pred.write_text("\n\n".join(blocks))
    for index, options in enumerate([(), ("--skip-invalid",)]):
        one = score(gold, pred, *options)
        where = ("--engine", "local", "--shard", 2, "-o", tmp_path / str(index))
        ended = score(gold, pred, *options, *where)
        assert ended.exit_code == one.exit_code == 1 - index
        assert ended.stdout == one.stdout
        assert one.stderr in ended.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "x"), "-o is for --engine"),
        (("--engine", "local"), "name their folder with -o"),
        (("--engine", "local", "-o", "x", "--macro"), "--macro does not go with --engine"),
        (("--engine", "local", "-o", "x", "--jobs", "2"), "--jobs is for one machine"),
    ],
)
def test_contradictions(
    options: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = score(SAMPLE / "sample.sdp", SAMPLE / "sample.sdp", *options)
    assert ended.exit_code == 2
    assert message in ended.stderr


def test_pipes_have_no_second_time(tmp_path: Path) -> None:
    words = ["score", "-", str(SAMPLE / "sample.sdp"), "--engine", "local", "-o", str(tmp_path)]
    ended = CliRunner().invoke(main, words, input=(SAMPLE / "sample.sdp").read_bytes())
    assert ended.exit_code == 2
    assert "no pipes" in ended.stderr
