"""Damaged files against every command that reads them, in this process.

A result is *explained* if the exit code is 0 or 1 and stderr is readable. Unexplained are a
traceback, a NaN, a score above 100, a control character in a message, a refusal without a word or
with an output file, files left behind, minutes of computing, and output that cannot be read back.
Every so often the same command runs as a process of its own: it must say and write the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from campaign.mutation import MUTATIONS, seeds
from graphconv import io

Run = tuple[str, list[str]]
Found = dict[str, Any]

AS_PROCESS = 500
"""One input of so many also runs as processes."""
MOST_SECONDS = 60.0
"""Of computing in one command; the files have a few kilobytes."""

_controls = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]").search
_OUT = "written"
_SKIP: tuple[list[str], ...] = ([], ["--skip-invalid"])


class SlowError(Exception):
    """A command computes for too long."""


def attack(folder: Path, number: int, seed: int, counts: Counter[str]) -> Iterator[Found]:
    """Damage a file, run commands on it, and yield what cannot be explained."""
    rng = random.Random(f"{seed}:{number}")
    originals = seeds()
    name = rng.choice(sorted(originals))
    mutation = rng.choice(MUTATIONS)
    data = mutation(originals[name], rng)
    path, good = folder / f"bad-{name}", folder / f"good-{name}"
    path.write_bytes(data)
    good.write_bytes(originals[name])
    before = {file.name for file in folder.iterdir()}
    counts["files"] += 1
    for program, arguments in _runs(rng, str(path), str(good), folder):
        counts["commands"] += 1
        result = invoke(program, arguments)
        counts[f"exit {result.exit_code}"] += 1
        reason = fault(result, arguments[0]) or _fault_of_output(result, arguments, folder)
        if not reason and number % AS_PROCESS == 0:
            counts["processes"] += 1
            reason = _otherwise_as_process(program, arguments, result, folder)
        _remove(folder / _OUT)
        left = {file.name for file in folder.iterdir()} - before
        if left:
            reason = reason or f"files are left behind: {sorted(left)}"
            for each in left:
                _remove(folder / each)
        if reason:
            command = " ".join([program, *arguments])
            where = {"seed": seed, "number": number, "file": name, "mutation": mutation.__name__}
            yield {**where, "command": command, "reason": reason, "data": data.decode("latin-1")}


def _runs(rng: random.Random, bad: str, good: str, folder: Path) -> list[Run]:
    """Return three commands with a damaged file: to look, to write, to score."""
    skip = rng.choice(_SKIP)
    to = rng.choice(io.FORMATS)
    out = str(folder / _OUT)
    looks: list[Run] = [
        ("graphconv", ["check", *skip, bad]),
        ("graphconv", ["stats", *skip, bad]),
        ("graphconv", ["grep", "(x :ARG0 (y))", *skip, bad]),
        ("graphconv", ["draw", bad, "-o", f"{out}.svg"]),
        ("evaltools", ["lint", bad]),
    ]
    writes: list[Run] = [
        ("graphconv", ["convert", *skip, bad, "--to", to, "-o", out]),
        ("graphconv", ["convert", *skip, bad, "--to", to]),
        ("graphconv", ["to-arborescence", *skip, bad, "-o", out]),
        ("graphconv", ["relations", *skip, bad, "-o", out]),
        ("graphconv", ["repair" if ".amr" in bad else "align", bad, "-o", out]),
    ]
    scores: list[Run] = [
        ("evaltools", ["validity", bad]),
        ("evaltools", ["score", *skip, good, bad]),
        ("evaltools", ["score", "--format", "json", *skip, bad, good]),
        ("evaltools", ["diff", good, bad]),
        ("evaltools", ["compare", "--samples", "20", *skip, good, bad, good]),
    ]
    return [rng.choice(looks), rng.choice(writes), rng.choice(scores)]


def invoke(program: str, arguments: list[str]) -> Result:
    """Run a command in this process, for a limited time."""
    signal.signal(signal.SIGPROF, _too_slow)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        return CliRunner().invoke(_program(program), arguments)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@cache
def _program(name: str) -> Any:
    return import_module(f"{name}.cli").main


def _too_slow(*_: Any) -> None:
    raise SlowError(f"more than {MOST_SECONDS:.0f} seconds of computing")


def fault(result: Any, command: str = "") -> str:
    """Return why the result of a command cannot be explained, or nothing."""
    error = result.exception
    crash = error is not None and not isinstance(error, SystemExit)
    reasons = {
        f"{type(error).__name__}: {error}"[:300]: crash,
        f"exit code {result.exit_code}": result.exit_code not in (0, 1),
        "a traceback": "Traceback" in result.stderr,
        "a control character in a message": _controls(result.stderr),
        "NaN in a score": _holds_nan(result.stdout),
        "a score above 100": any(float(number) > 100.001 for number in _f1s(result.stdout)),
        "exit 1 without a word": result.exit_code == 1
        and command != "grep"  # it found nothing, as every grep says
        and not (result.stderr + (result.stdout if command == "lint" else "")).strip(),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _holds_nan(out: str) -> bool:
    """Say whether a report holds a number that is none; a label may be called so."""
    found: list[str] = []
    if out.startswith("{"):
        with contextlib.suppress(ValueError):
            json.loads(out, parse_constant=found.append)
    return bool(found) or bool(re.search(r"(?m)^\S.*? +(?:nan|inf)(?: |$)", out))


def _f1s(out: str) -> list[str]:
    """Return precision, recall and F1 of every line of a table, and those of a JSON report."""
    table = re.findall(r"(?m)^\S.*? +(\d+\.\d\d) +(\d+\.\d\d) +(\d+\.\d\d) +\d", out)
    return [n for row in table for n in row] + re.findall(r'"(?:p|r|f1)": (\d+\.\d+)', out)


def _fault_of_output(result: Result, arguments: list[str], folder: Path) -> str:
    """Return what is wrong with the file that a command has written, or has not."""
    files = [path for path in (folder / _OUT, folder / f"{_OUT}.svg") if path.exists()]
    if result.exit_code != 0:
        # With --skip-invalid the graphs before the damage are written: exit 1 says there were more.
        whole = files and "--skip-invalid" not in arguments
        return "it is refused, and there is output" if whole else ""
    if arguments[0] == "convert":
        to = arguments[arguments.index("--to") + 1]
        data = None if files else result.stdout_bytes
        return _unreadable(folder / _OUT, data, to)
    return ""


def _unreadable(path: Path, data: bytes | None, to: str) -> str:
    if data is not None:
        path.write_bytes(data)
    empty = not any(path.iterdir()) if path.is_dir() else not path.read_bytes().strip()
    try:
        if not empty and not list(io.read(path, format=to)):
            return "no graph can be read back"
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        return f"cannot be read back: {error}"[:300]
    return ""


def _otherwise_as_process(program: str, arguments: list[str], result: Result, folder: Path) -> str:
    """Return what a process does otherwise than the same command did here."""
    _remove(folder / _OUT)
    run = subprocess.run(
        [str(Path(sys.executable).with_name(program)), *arguments],
        capture_output=True, check=False, timeout=300,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    if run.returncode != result.exit_code:
        return f"as a process it ends with {run.returncode}, not {result.exit_code}"
    if run.stdout != result.stdout_bytes:
        return "as a process it writes something else"
    if run.stderr != result.stderr_bytes:
        return f"as a process it says something else: {run.stderr.decode('utf-8', 'replace')[:200]}"
    return ""


def _remove(path: Path) -> None:
    for each in (path, path.with_suffix(".svg")):
        if each.is_dir():
            for file in each.iterdir():
                file.unlink()
            each.rmdir()
        else:
            each.unlink(missing_ok=True)
