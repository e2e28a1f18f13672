"""Sudden ends of real processes: signals at any moment, full disks, two writers of one file.

Whatever happens, an output is absent, or as it was before, or whole. A process that could clean up
(all but SIGKILL) leaves nothing; after SIGKILL the next run works and gives the whole output.
"""

from __future__ import annotations

import random
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from campaign.mutation import seeds
from graphconv import io

Found = dict[str, Any]
Way = Callable[[list[str], Path, bytes | None, random.Random], str]

COPIES = 300
"""So many times the sample is in the file that is converted: about a second."""
_ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)
_COMMANDS: tuple[tuple[str, list[str]], ...] = (
    ("dm.sdp", ["convert", "--to", "mrp"]),
    ("amr.amr", ["to-arborescence"]),
    ("dm.sdp", ["relations", "--jobs", "2"]),
)


def attack(folder: Path, number: int, seed: int, counts: Counter[str]) -> Iterator[Found]:
    """End a command in a bad way; yield what cannot be explained."""
    rng = random.Random(f"{seed}:{number}:end")
    way = rng.choice(WAYS)
    name, command = rng.choice(_COMMANDS)
    source, out = folder / f"long-{name}", folder / "out" / "whole.jsonl"
    source.write_bytes(_long(name))
    out.parent.mkdir()
    old = b"old\n" if rng.random() < 0.5 else None
    if old:
        out.write_bytes(old)
    arguments = [*command, str(source), "-o", str(out)]
    counts[f"ends: {way.__name__}"] += 1
    reason = way(arguments, out, old, rng)
    for file in out.parent.iterdir():
        file.unlink()
    out.parent.rmdir()
    if reason:
        yield {"seed": seed, "number": number, "end": way.__name__, "reason": reason,
               "command": " ".join(["graphconv", *arguments])}  # fmt: skip


@cache
def _long(name: str) -> bytes:
    graphs = list(io.loads(seeds()[name].decode())) * COPIES
    return io.dumps([replace(graph, id=f"g{i}") for i, graph in enumerate(graphs)]).encode()


@cache
def _whole(command: tuple[str, ...]) -> bytes:
    """Return what a command writes if nothing happens."""
    done = subprocess.run(_process(command), capture_output=True, check=True)
    return done.stdout


def _process(arguments: tuple[str, ...]) -> list[str]:
    return [str(Path(sys.executable).with_name("graphconv")), *arguments]


def _expected(arguments: list[str]) -> bytes:
    return _whole((*arguments[: arguments.index("-o")],))


def _fault(
    out: Path, old: bytes | None, whole: bytes, run: subprocess.CompletedProcess[bytes]
) -> str:
    """Return what is wrong with the output and the words of a process that was disturbed."""
    data = out.read_bytes() if out.exists() else None
    left = [file.name for file in out.parent.iterdir() if file != out]
    right = [whole] if run.returncode == 0 else [old, whole]
    reasons = {
        f"the output is neither old nor whole: {len(data or b'')} bytes": data not in right,
        f"files are left behind: {left}": bool(left),
        f"a traceback: {run.stderr[-200:]!r}": b"Traceback" in run.stderr,
        "more than one sentence": run.stderr.count(b"\n") > 1,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def killed(arguments: list[str], out: Path, old: bytes | None, rng: random.Random) -> str:
    """Send a signal after some time, often in the middle."""
    whole = _expected(arguments)
    end = rng.choice(_ENDS)
    with subprocess.Popen(_process((*arguments,)), stderr=subprocess.PIPE) as process:
        try:
            process.wait(timeout=rng.uniform(0.15, 1.5))
        except subprocess.TimeoutExpired:
            process.send_signal(end)
        said = process.communicate(timeout=60)[1]
    run = subprocess.CompletedProcess(arguments, process.returncode, b"", said)
    if end is not signal.SIGKILL or run.returncode == 0:
        # Before the first line of our code a signal is Python's own affair.
        early = b"KeyboardInterrupt" in said and out.exists() == (old is not None)
        return "" if early else _fault(out, old, whole, run)
    if out.exists() and out.read_bytes() not in (old, whole):
        return "SIGKILL leaves half of an output under its name"
    again = subprocess.run(_process((*arguments,)), capture_output=True, check=False, timeout=60)
    if again.returncode or out.read_bytes() != whole:
        return f"after SIGKILL it does not work again: {again.stderr[-200:]!r}"
    return ""


def full(arguments: list[str], out: Path, old: bytes | None, rng: random.Random) -> str:
    """Let files grow to a few kilobytes and no more, as on a disk that is full."""
    whole = _expected(arguments)
    most = rng.randrange(len(whole))

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    run = subprocess.run(
        _process((*arguments,)), capture_output=True, check=False, timeout=60, preexec_fn=limit
    )
    if run.returncode != 1:
        return f"a full disk is exit {run.returncode}"
    return _fault(out, old, whole, run) or ("" if run.stderr.strip() else "without a word")


def closed(arguments: list[str], out: Path, old: bytes | None, rng: random.Random) -> str:  # noqa: ARG001
    """Write to a device that is full, or to a pipe that nobody reads."""
    cut = arguments[: arguments.index("-o")]
    if rng.random() < 0.5:
        with Path("/dev/full").open("wb") as device:
            run = subprocess.run(
                _process((*cut,)), stdout=device, stderr=subprocess.PIPE, check=False, timeout=60
            )
    else:
        with subprocess.Popen(
            _process((*cut,)), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.read(10)
            process.stdout.close()
            said = process.stderr.read()
        run = subprocess.CompletedProcess(cut, process.returncode, b"", said)
    if run.returncode != 1:
        return f"a stream that takes nothing is exit {run.returncode}"
    if b"Traceback" in run.stderr or run.stderr.count(b"\n") > 1:
        return f"more than one sentence: {run.stderr[-200:]!r}"
    return ""


def together(arguments: list[str], out: Path, old: bytes | None, rng: random.Random) -> str:
    """Let two or three processes write the same file."""
    whole = _expected(arguments)
    running = [
        subprocess.Popen(_process((*arguments,)), stderr=subprocess.PIPE)
        for _ in range(rng.randint(2, 3))
    ]
    ended = [(each.communicate(timeout=120)[1], each.returncode) for each in running]
    codes = [code for _, code in ended]
    if 0 not in codes or not {*codes} <= {0, 1}:
        return f"exit codes {codes}: {ended}"[:300]
    if any(code and said.count(b"\n") != 1 for said, code in ended):
        return f"a second writer is refused in other than one sentence: {ended}"[:300]
    done = subprocess.CompletedProcess(arguments, 0, b"", b"")
    return _fault(out, old, whole, done)


WAYS: tuple[Way, ...] = (
    killed,
    killed,
    full,
    closed,
    together,
)
