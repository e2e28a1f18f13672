"""Ends that are not planned: signals, killed workers, closed streams, obstacles, full disks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from graphconv.errors import FormatError, GraphconvError
from graphconv.io import files
from graphconv.io.parallel import ordered_map

COMMAND = (sys.executable, "-m", "graphconv")
AMR = "# ::id 1\n(a / apple)\n\n"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and shells")


def _killed_at_3(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_a_killed_worker_is_one_sentence() -> None:
    with pytest.raises(GraphconvError, match="a worker process ended"):
        list(ordered_map(_killed_at_3, range(1000), jobs=2))


def test_workers_end_with_their_parent() -> None:
    code = (
        "import os, time\n"
        "from graphconv.io.parallel import ordered_map\n"
        "def work(i):\n    time.sleep(0.02)\n    return os.getpid()\n"
        "for pid in ordered_map(work, range(10**6), jobs=2):\n    print(pid, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        worker = int(run.stdout.readline())
        run.kill()
    assert _eventually(lambda: not _runs(worker))


@pytest.mark.parametrize("jobs", [1, 2])
def test_sigterm_leaves_nothing_behind(tmp_path: Path, jobs: int) -> None:
    source = tmp_path / "big.amr"
    source.write_text(AMR * 200_000)
    folder = tmp_path / "out"
    folder.mkdir()
    arguments = ["to-arborescence", "--jobs", str(jobs), str(source), "-o", str(folder / "x.jsonl")]
    with subprocess.Popen([*COMMAND, *arguments], stderr=subprocess.PIPE, text=True) as run:
        assert _eventually(lambda: any(f.name.endswith(".part") for f in folder.iterdir()))
        run.terminate()
        _, said = run.communicate(timeout=30)
    assert run.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in said
    assert not list(folder.iterdir())


def test_sigterm_in_a_finalizer_is_not_lost() -> None:
    code = (
        "import os, signal, time\n"
        "from graphconv import cliutil\n"
        "class Last:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "        time.sleep(0)\n"
        "with cliutil._ending_well():\n"
        "    last = Last()\n"
        "    del last\n"
        "    time.sleep(20)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=15, check=False)
    assert (run.returncode, run.stderr) == (128 + signal.SIGTERM, b"")


@pytest.mark.parametrize(
    ("redirect", "message"),
    [(">&-", "standard output is closed"), ("<&-", "standard input is closed"), ("2>&-", "")],
)
def test_closed_streams(tmp_path: Path, redirect: str, message: str) -> None:
    source = tmp_path / "a.amr"
    source.write_text(AMR)
    name = "-" if redirect == "<&-" else "a.amr"
    line = f"{sys.executable} -m graphconv convert {name} --to mrp {redirect}"
    run = subprocess.run(
        line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    if message:
        assert run.returncode == 1
        assert message in run.stderr
        assert len(run.stderr.splitlines()) == 1
    else:
        assert run.returncode == 0
        assert run.stdout.startswith("{")


def test_a_folder_gets_all_files_or_none(tmp_path: Path) -> None:
    (tmp_path / "out" / "b.xml").mkdir(parents=True)
    (tmp_path / "out" / "a.xml").write_text("before")
    with pytest.raises(FormatError, match=r"b\.xml is a folder"):
        _fill(tmp_path / "out", "a.xml", "b.xml", "c.xml")
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["a.xml", "b.xml"]
    assert (tmp_path / "out" / "a.xml").read_text() == "before"


def test_a_move_that_fails_midway_is_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in ("a.xml", "b.xml"):
        (out / name).write_text("before")
    replace = Path.replace
    moves = 0

    def failing(self: Path, target: Path) -> Path:
        nonlocal moves
        moves += self.parent != out and target.parent == out
        if moves == 3:
            monkeypatch.setattr(Path, "replace", replace)
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(FormatError, match="No space left"):
        _fill(out, "a.xml", "b.xml", "c.xml")
    assert {file.name: file.read_text() for file in out.iterdir()} == {
        "a.xml": "before",
        "b.xml": "before",
    }


def test_files_of_an_earlier_run_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "README.md").write_text("stays")
    (out / "9.xml").write_text("stale")
    with pytest.raises(FormatError, match=r"1 other \.xml files, such as 9\.xml"):
        _fill(out, "1.xml")
    (out / "9.xml").unlink()
    for _ in range(2):
        _fill(out, "1.xml")
    assert sorted(file.name for file in out.iterdir()) == ["1.xml", "README.md"]
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def _fill(out: Path, *names: str) -> None:
    with files.output_folder(str(out)) as folder:
        for name in names:
            (folder / name).write_text("after")


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _eventually(holds: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
