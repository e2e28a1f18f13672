"""tools/unpack_treebank.py: the files of an archive in one folder, or nothing at all."""

import io
import sys
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from unpack_treebank import main


def archive(path: Path, names: list[str]) -> Path:
    with tarfile.open(path, "w:gz") as packed:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(name)
            packed.addfile(member, io.BytesIO(name.encode()))
    return path


def test_files_leave_their_folders_in_the_archive(tmp_path: Path) -> None:
    source = archive(
        tmp_path / "a.tar.gz", ["ewt/1.xml", "ewt/deep/2.xml", "ewt/._1.xml", "../3.xml"]
    )
    result = CliRunner().invoke(main, [str(source), "-o", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    written = {file.name: file.read_text() for file in (tmp_path / "out").iterdir()}
    assert written == {"1.xml": "ewt/1.xml", "2.xml": "ewt/deep/2.xml", "3.xml": "../3.xml"}


@pytest.mark.parametrize("problem", ["two files", "no archive", "cut short"])
def test_a_bad_archive_leaves_nothing(problem: str, tmp_path: Path) -> None:
    source = archive(tmp_path / "a.tar.gz", ["a/1.xml", "b/1.xml"])
    if problem == "no archive":
        source.write_text("text")
    if problem == "cut short":
        source.write_bytes(source.read_bytes()[:60])
    result = CliRunner().invoke(main, [str(source), "-o", str(tmp_path / "out")])
    assert result.exit_code == 1
    assert result.output.startswith(f"Error: {source}")
    assert result.output.count("\n") == 1
    assert not (tmp_path / "out").exists()
