"""The commands in real pipes: one process feeds the next, and nothing waits for the end."""

import shlex
import subprocess
import sys
from pathlib import Path

from graphconv.check import SAMPLE

BIN = Path(sys.executable).parent


def _pipe(line: str) -> str:
    """Run a shell line with the commands of this environment."""
    command = ["bash", "-o", "pipefail", "-c", f"PATH={shlex.quote(str(BIN))}:$PATH; {line}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_there_and_back() -> None:
    file = shlex.quote(str(SAMPLE / "sample.sdp"))
    found = _pipe(f"cat {file} | graphconv to-arborescence - | graphconv from-arborescence -")
    assert found == (SAMPLE / "sample.sdp").read_text(encoding="utf-8")


def test_relations_through_a_filter() -> None:
    file = shlex.quote(str(SAMPLE / "sample.amr"))
    keep = "python -c \"import sys; [print(l, end='') for l in sys.stdin if 'sample-3' in l]\""
    found = _pipe(f"graphconv relations {file} | {keep} | graphconv from-relations - --to amr")
    assert found.count("# ::id") == 1
    assert "possible-01" in found


def test_the_first_graph_comes_out_before_the_last_goes_in() -> None:
    command = [str(BIN / "graphconv"), "to-arborescence", "-", "--from", "sdp"]
    sentence = (SAMPLE / "sample.sdp").read_bytes()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(sentence * 30)  # fits into the pipe, and its output does not wait
        process.stdin.flush()
        assert process.stdout.readline().startswith(b'{"arborescence"')
        process.stdin.close()
        process.stdout.read()
        assert process.wait() == 0
