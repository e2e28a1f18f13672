"""The demo, at its smallest: one epoch for each framework."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from transducer import Pipeline, Transducer, demo
from transducer.cli import main
from transducer.errors import ModelError

QUICK = ("train.epochs=1", "train.evaluate_from=2", "decode.beam=1", "model.decoder_size=32")


def test_demo_scores_and_draws_every_framework(tmp_path: Path) -> None:
    told: list[str] = []
    results, page = demo.run_demo(
        tmp_path, device="cpu", settings=QUICK, on_result=lambda r: told.append(r.task)
    )
    assert told == [r.task for r in results] == ["amr", "dm", "ucca"]
    text = page.read_text(encoding="utf-8")
    drawn = sum(min(demo.SHOWN, sum(p is not None for p in r.pred)) for r in results)
    assert text.count("<svg") == 2 * drawn
    assert f"<td>{results[0].score:.2f}</td><td>{results[0].baseline:.2f}</td>" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")  # self-contained


def test_score_table() -> None:
    result = demo.Result("dm", "labelled F1", 96.5, 41.25, 99.6, (), ())
    head, row = demo.score_table([result])
    assert head == ("task", "metric", "model", "nearest sentence", "seconds")
    assert row == ("dm", "labelled F1", "96.50", "41.25", "100")


def test_first_the_models_that_ship_parse(
    make_small: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    parsers = {}
    for task in ("amr", "dm", "ucca"):
        small = make_small(task)
        parsers[task] = Transducer(small.task, small.vocabularies, small.model, {})
    monkeypatch.setattr(demo, "load", lambda *_, **__: Pipeline(parsers))
    page = demo.first_look(tmp_path / "new", device="cpu").read_text(encoding="utf-8")
    assert page.count("<svg") == 3 * len(demo.SENTENCES)
    assert all(page.count(f": {sentence}</figcaption>") == 3 for sentence in demo.SENTENCES)


def test_the_page_stays_when_the_training_is_stopped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    def look(folder: Path, **_: object) -> Path:
        (folder / "parses.html").write_text("page")
        return folder / "parses.html"

    monkeypatch.setattr(demo, "first_look", look)
    monkeypatch.setattr(demo, "run_demo", stop)
    run = CliRunner().invoke(main, ["demo", "-o", str(tmp_path)])
    assert run.exit_code == 1
    assert f"are drawn in {tmp_path / 'parses.html'}" in run.stdout
    assert (tmp_path / "parses.html").read_text() == "page"


def test_without_an_encoder_the_demo_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def look(*_: object, **__: object) -> Path:
        raise ModelError("the encoder is not here")

    monkeypatch.setattr(demo, "first_look", look)
    monkeypatch.setattr(demo, "run_demo", lambda *_, **__: ([], tmp_path / "demo.html"))
    run = CliRunner().invoke(main, ["demo", "-o", str(tmp_path)])
    assert run.exit_code == 0
    assert "cannot parse here: the encoder is not here" in run.stderr
