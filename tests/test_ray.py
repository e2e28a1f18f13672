"""The three commands on a real Ray cluster of two workers; `nox -s ray` installs Ray.

The cluster is a process of its own, so that drivers can be killed, and has a token of its own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphconv.check import SAMPLE
from graphconv.cluster.shards import TRIES

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="there is no Ray: nox -s ray"
)

CLUSTER = """
import logging, sys, ray
found = ray.init(
    num_cpus=2, object_store_memory=100_000_000, include_dashboard=False,
    logging_level=logging.ERROR,
)
print(found.address_info["gcs_address"], flush=True)
sys.stdin.read()
"""
# A job whose workers end where its lines say so; in a module that workers can import.
ENDING = """
import os, resource, sys
from pathlib import Path
from graphconv.cluster.engines import engine
from graphconv.cluster.running import run
from graphconv.cluster.work import Made, Notes, pieces

class Ending:
    command, model, suffix, options, errors = "ending", "", ".txt", {}, ()

    def cut(self, paths):
        return pieces(Path(paths[0]).read_text().splitlines(), 1, Notes())

    def worker(self):
        return self.made

    def made(self, piece):
        [line] = piece.items
        before = Path(line).exists()
        Path(line).touch()
        if line == "always" or (line == "once" and not before):
            os.kill(os.getpid(), 9)
        if line == "full" and not before:
            _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, most))
        return Made((line * 1000 + "\\n").encode(), 1, Notes())

    def ends(self, head, graphs):
        return "", ""

if __name__ == "__main__":
    from ending import Ending
    report = run(Ending(), [("in.txt",)], "out", engine("ray", 2), tell=print)
    sys.exit(not report.succeeded)
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Start a cluster; return the environment of its drivers."""
    own = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(16)}
    own["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
    folder = tmp_path_factory.mktemp("modules")
    own["PYTHONPATH"] = f"{folder}{os.pathsep}{own['PYTHONPATH']}"
    (folder / "ending.py").write_text(ENDING)
    environment = {**os.environ, **own, "OMP_NUM_THREADS": "1"}
    environment.pop("RAY_ADDRESS", None)
    with subprocess.Popen(
        [sys.executable, "-c", CLUSTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout
        address = process.stdout.readline().strip()
        assert address
        yield {**environment, "RAY_ADDRESS": address}
        assert process.stdin
        process.stdin.close()  # it ends by itself
        process.wait(60)


def command(name: str, *arguments: object) -> list[str]:
    call = f"from {name}.cli import main; main(prog_name={name!r})"
    return [sys.executable, "-c", call, *map(str, arguments)]


def ended(
    line: list[str], folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        line, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def joined(folder: Path, index: int = 0) -> bytes:
    return b"".join(p.read_bytes() for p in sorted(folder.glob(f"part-{index:06}-*")))


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


def test_graphconv_with_a_broken_input(cluster: dict[str, str], tmp_path: Path) -> None:
    good = (SAMPLE / "sample.amr").read_bytes()
    (tmp_path / "1.amr").write_bytes(good * 9)
    (tmp_path / "2.amr.gz").write_bytes(b"\x1f\x8b" + good)
    (tmp_path / "3.amr").write_bytes(good)
    for number in (1, 3):
        line = command("graphconv", "to-arborescence", f"{number}.amr", "-o", f"one{number}")
        assert ended(line, tmp_path, cluster).returncode == 0
    line = command("graphconv", "to-arborescence", "?.amr*", "--engine", "ray")
    done = ended([*line, "--shard", "5", "-o", "out"], tmp_path, cluster)
    assert done.returncode == 1
    assert "2.amr.gz: damaged gzip file" in done.stderr
    assert "Traceback" not in done.stderr
    out = tmp_path / "out"
    assert joined(out, 0) == (tmp_path / "one1").read_bytes()
    assert joined(out, 2) == (tmp_path / "one3").read_bytes()
    [failure] = manifest(out)["failures"]
    assert failure["paths"] == ["2.amr.gz"]
    assert "damaged gzip file" in failure["why"]


def test_evaltools_score(cluster: dict[str, str], tmp_path: Path) -> None:
    gold, pred = SAMPLE / "sample.sdp", tmp_path / "pred.sdp"
    pred.write_text(gold.read_text().replace("ARG1", "ARG2"))
    line = command("evaltools", "score", gold, pred)
    one = ended(line, tmp_path, cluster)
    done = ended([*line, "--engine", "ray", "--shard", "2", "-o", "out"], tmp_path, cluster)
    assert done.returncode == 0, done.stderr
    assert done.stdout == one.stdout


def lines(*words: str) -> bytes:
    return b"".join(word.encode() * 1000 + b"\n" for word in words)


def test_a_killed_worker_costs_nothing_and_a_piece_that_always_kills_is_given_up(
    cluster: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("a\nonce\nb\nalways\nc\n")
    done = ended([sys.executable, "-m", "ending"], tmp_path, cluster)
    assert done.returncode == 1, done.stderr
    assert joined(tmp_path / "out") == lines("a", "once", "b", "c")
    [failure] = manifest(tmp_path / "out")["failures"]
    assert failure["shard"] == 4
    assert f"killed {TRIES} times" in failure["why"]
    assert not list((tmp_path / "out").glob(".*"))


def test_a_full_disk_ends_the_run_and_the_next_goes_on(
    cluster: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("a\nb\nfull\nc\nd\n")
    done = ended([sys.executable, "-m", "ending"], tmp_path, cluster)
    assert done.returncode == 1, done.stderr
    assert "File too large" in done.stdout
    found = manifest(tmp_path / "out")
    assert not found["complete"]
    assert "File too large" in found["failures"][0]["why"]
    assert not list((tmp_path / "out").glob(".*"))
    assert ended([sys.executable, "-m", "ending"], tmp_path, cluster).returncode == 0
    assert joined(tmp_path / "out") == lines("a", "b", "full", "c", "d")


def test_the_driver_dies_and_the_next_goes_on(cluster: dict[str, str], tmp_path: Path) -> None:
    source = tmp_path / "a.amr"
    source.write_bytes((SAMPLE / "sample.amr").read_bytes() * 1500)
    one = ended(command("graphconv", "convert", source, "-o", "one.mrp"), tmp_path, cluster)
    assert one.returncode == 0
    line = command("graphconv", "convert", source, "--to", "mrp", "--engine", "ray", "--shard")
    line += ["100", "-o", "out"]
    out = tmp_path / "out"
    journal = out / ".manifest.json.unfinished"
    with subprocess.Popen(line, cwd=tmp_path, env=cluster, stderr=subprocess.DEVNULL) as driver:
        waiting = time.monotonic() + 60
        while not journal.exists() or journal.read_bytes().count(b"\n") < 3:
            assert time.monotonic() < waiting
            time.sleep(0.02)
        driver.send_signal(signal.SIGKILL)
    assert not (out / "manifest.json").exists()
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("part-*")}
    recorded = journal.read_bytes().count(b"\n") - 1
    done = ended(line, tmp_path, cluster)
    assert done.returncode == 0, done.stderr
    assert joined(out) == (tmp_path / "one.mrp").read_bytes()
    kept = [n for n, when in before.items() if (out / n).stat().st_mtime_ns == when]
    assert len(kept) == recorded < len(list(out.glob("part-*")))
    assert f"{recorded} of them from an earlier run" in done.stderr
    assert manifest(out)["totals"]["graphs"] == joined(out).count(b"\n")


def test_parse_with_a_sentence_that_is_too_long(cluster: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from transducer.encoders.places import look
    from transducer.encoders.references import PINNED, parse_reference
    from transducer.frameworks.tasks import LONGEST
    from transducer.parsing.parser import WINDOW

    encoder = next(iter(PINNED))
    if look(parse_reference(encoder)) is None:
        pytest.skip(f"{encoder} is not here: transducer fetch {encoder}")
    (tmp_path / "1.txt").write_text("I go .\n" * WINDOW + "so " * (LONGEST + 1) + "\nYou go .\n")
    (tmp_path / "2.txt").write_text("They go .\n")
    options = ("--task", "dm", "--beam", "1", "--input", "tokens")
    for number in (1, 2):
        line = command("transducer", "parse", f"{number}.txt", *options, "-o", f"{number}.sdp")
        assert ended(line, tmp_path, cluster).returncode == 2 - number
    line = command("transducer", "parse", "?.txt", *options, "--engine", "ray", "--shard", WINDOW)
    done = ended([*line, "-o", "out"], tmp_path, cluster)
    assert done.returncode == 1
    assert f"1.txt: sentence {WINDOW + 1} is not parsed: it has 1,001 tokens" in done.stderr
    for index in (0, 1):
        assert joined(tmp_path / "out", index) == (tmp_path / f"{index + 1}.sdp").read_bytes()
    assert manifest(tmp_path / "out")["totals"]["lost"] == 1
