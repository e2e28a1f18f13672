"""What `nox -s fuzz` does with each input, without atheris."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
import fuzz

from graphconv import check, io, mend


def test_every_format_is_read() -> None:
    assert {*fuzz.GRAPHS} == {*io.FORMATS}


@pytest.mark.parametrize("reader", fuzz.READERS)
def test_valid_files_are_no_findings(reader: str, tmp_path: Path) -> None:
    read = fuzz.targets(tmp_path)[reader]
    found = list(fuzz.seeds(reader))
    assert len(found) >= 2
    for data in (*found, b"", b"\xff"):
        read(data)


def test_a_broken_law_is_a_finding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    data = next(fuzz.seeds("sdp"))
    monkeypatch.setitem(check._LAWS, "graph -> arborescence -> graph", lambda *_: False)
    with pytest.raises(fuzz.Finding, match="graph -> arborescence -> graph: not the same"):
        fuzz.targets(tmp_path)["sdp"](data)


def test_another_number_of_repaired_graphs_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mend, "repair", lambda text: mend.Repair(text, (), 2))
    with pytest.raises(fuzz.Finding, match="counts other graphs"):
        fuzz.repair(b"(a / b)\n")


def test_an_error_of_python_in_a_side_file_is_a_finding(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(fuzz, "sides", lambda: [("a.json", lambda folder: 1 / len(folder.suffix))])
    with pytest.raises(ZeroDivisionError):
        fuzz.read_side(tmp_path, b"\0{}")


def test_one_input_of_each_kind_is_kept(tmp_path: Path) -> None:
    for data, error in ((b"1", "a"), (b"2", "a"), (b"3", "b")):
        fuzz._keep(tmp_path, data, fuzz.Finding(error))
    kept = {path.read_bytes() for path in tmp_path.iterdir() if path.suffix != ".txt"}
    assert kept == {b"1", b"3"}
