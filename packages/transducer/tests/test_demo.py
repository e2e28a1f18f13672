"""The demo, at its smallest: one epoch for each framework."""

from __future__ import annotations

from pathlib import Path

from transducer import demo

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
