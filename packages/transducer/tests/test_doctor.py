"""One command says what works here."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from click.testing import CliRunner

from transducer import doctor
from transducer.cli import main
from transducer.errors import ModelError
from transducer.parsing.parser import Transducer

MPNET = "sentence-transformers/all-mpnet-base-v2"


def run() -> tuple[int, dict[str, tuple[str, str]]]:
    result = CliRunner().invoke(main, ["doctor", "--device", "cpu"])
    lines = [line for line in result.stdout.splitlines() if line[4:6] == "  "]
    found = {}
    for line in lines:
        what, _, says = line[6:].partition(": ")
        found[what] = (line[:4].strip(), says)
    assert "Traceback" not in result.output
    return result.exit_code, found


@pytest.fixture
def parser(memorized: Callable[[str], tuple[Path, Path]], monkeypatch: pytest.MonkeyPatch) -> None:
    """A small model ships for one task, and needs no encoder."""
    folder = memorized("dm")[1]
    monkeypatch.setattr("transducer.storage.shipped.shipped_tasks", lambda: ("dm",))
    monkeypatch.setattr("transducer.storage.shipped.find_model", lambda _: folder)
    monkeypatch.setattr("transducer.parsing.parser.find_model", lambda _: folder)


@pytest.mark.usefixtures("parser")
def test_what_works_is_told_with_its_speed() -> None:
    code, found = run()
    assert code == 0
    assert {state for state, _ in found.values()} <= {"ok", "none"}
    assert {"Python", "torch", "CPU", "CPU, int8"} <= found.keys()
    assert found["CPU"][1].endswith("TFLOP/s")
    assert found["parse --task dm"][0] == "ok"
    assert found["parse --task dm"][1].endswith("words/s on cpu")


@pytest.mark.usefixtures("parser")
def test_a_model_that_breaks_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> Transducer:
        raise ModelError("the weights are damaged")

    monkeypatch.setattr(Transducer, "shipped", broken)
    code, found = run()
    assert code == 1
    assert found["parse --task dm"] == ("BAD", "the weights are damaged")


def test_an_absent_encoder_is_told_and_not_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("ARBORA_CACHE", "HF_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.delenv("ARBORA_ENCODERS", raising=False)
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    code, found = run()
    assert code == 1
    assert found[f"encoder {MPNET}"] == ("BAD", f"not here: transducer fetch {MPNET}")
    assert found["parse --task dm"] == ("BAD", f"its encoder {MPNET} is not here")
    assert not any(path.suffix == ".safetensors" for path in tmp_path.rglob("*"))


def test_packages_that_lack_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "version", version)
    found = {finding.what: finding.state for finding in doctor._packages()}
    assert found["torch"] == "BAD"
    assert found["accelerate"] == "none"


def test_the_number_of_cores_is_that_of_the_machine() -> None:
    says = {finding.what: finding.says for finding in doctor._processors()}
    assert says["CPU"].startswith(f"{os.cpu_count()} cores")
