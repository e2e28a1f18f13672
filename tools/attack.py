"""Attack graphconv and evaltools with damaged files: ``python tools/attack.py --seconds 600``.

Files of every format are mutated at the level of bytes, lines, tokens and structure, from a seed,
and given to every command, in one process. A result is *explained* if it is an exit code of 0 or 1
and one sentence; unexplained are a traceback, a NaN, a score above 100, a control character in a
message, a file left behind, a refusal without a word, and output that cannot be read back.

>>> campaign(inputs=3, seed=1)["unexplained"]
[]
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from evaltools.cli import main as evaltools
from graphconv import check, io
from graphconv.cli import main as graphconv
from graphconv.codecs import arborescence, mrp, relations
from graphconv.conversion import to_arborescence

Mutation = Callable[[bytes, random.Random], bytes]

_ODD = [
    *(b"\x00", b"\xff", b"\x1b[31m", b"\xed\xa0\x80", "\u202e".encode(), b"\r", b"\t", b"\\"),
    *(b'"', b"(", b")", b"<", b"&", b"#", b"::id", b"null", b"[]", b"{}"),
    *(b"-1", b"0", b"9" * 4400, b"1e999", b"NaN"),
]
_TOKEN = re.compile(rb"[\w.]+|[^\w\s]")
_controls = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]").search


def seeds() -> dict[str, bytes]:
    """Return a file of each format, made from the bundled sample."""
    found: dict[str, bytes] = {}
    for path in map(Path, check.sample_paths()):
        for file in sorted(path.iterdir())[:1] if path.is_dir() else [path]:
            graphs = list(io.read(file))[:3]
            trees = [to_arborescence(graph) for graph in graphs]
            kind = graphs[0].framework
            found[f"{kind}{file.suffix}"] = b"".join(
                [io.dumps([graph]).encode() for graph in graphs[: 1 if kind == "ucca" else 3]]
            )
            found[f"{kind}.mrp"] = "".join(map(mrp.format, graphs)).encode()
            found[f"{kind}.jsonl"] = "".join(map(arborescence.format, trees)).encode()
            found[f"{kind}.tsv"] = "".join(map(relations.format_tsv, trees)).encode()
    return found


def in_bytes(data: bytes, rng: random.Random) -> bytes:
    """Replace, drop or insert a few bytes."""
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(data) + 1)
        data = (
            data[:place]
            + rng.choice([b"", bytes([rng.randrange(256)]), rng.choice(_ODD)])
            + (data[place + rng.randint(0, 3) :])
        )
    return data


def in_lines(data: bytes, rng: random.Random) -> bytes:
    """Drop, repeat, exchange or cut lines."""
    lines = data.splitlines(keepends=True)
    one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
    change = rng.randrange(4)
    if change == 0:
        del lines[one]
    elif change == 1:
        lines.insert(two, lines[one])
    elif change == 2:
        lines[one], lines[two] = lines[two], lines[one]
    else:
        lines[one] = lines[one][: rng.randrange(len(lines[one]) + 1)]
    return b"".join(lines)


def in_tokens(data: bytes, rng: random.Random) -> bytes:
    """Replace a token by another one of the file, or by something odd."""
    places = list(_TOKEN.finditer(data))
    for _ in range(rng.randint(1, 2)):
        place = rng.choice(places)
        new = rng.choice([rng.choice(places)[0], rng.choice(_ODD)])
        data = data[: place.start()] + new + data[place.end() :]
        places = list(_TOKEN.finditer(data)) or places
    return data


def in_structure(data: bytes, rng: random.Random) -> bytes:
    """Change a value somewhere inside a JSON record; other formats: move a part of the text."""
    if data.startswith(b"{"):
        lines = data.splitlines()
        number = rng.randrange(len(lines))
        record = json.loads(lines[number])
        places = list(_places(record))
        holder, key = rng.choice(places)
        other, from_ = rng.choice(places)
        odd: list[Any] = [
            None,
            -1,
            10**9,
            "",
            "x",
            [],
            {},
            True,
            [["a", 1]],
            "\ud800",
            other[from_],
        ]
        holder[key] = rng.choice(odd)
        try:
            lines[number] = json.dumps(record).encode()
        except (ValueError, RecursionError):  # it holds itself
            return data
        return b"\n".join(lines) + b"\n"
    start, end = sorted(rng.sample(range(len(data)), 2))
    part = data[start : min(end, start + 200)]
    place = rng.randrange(len(data))
    return data[:place] + part + data[place:]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


MUTATIONS: tuple[Mutation, ...] = (in_bytes, in_lines, in_tokens, in_structure)


def campaign(inputs: int = 10**9, seconds: float = math.inf, seed: int = 0) -> dict[str, Any]:
    """Attack until one of the limits; return the counts, and what could not be explained."""
    rng = random.Random(seed)
    originals = seeds()
    names = sorted(originals)
    end = time.monotonic() + seconds
    counts: Counter[str] = Counter()
    unexplained: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(inputs):
            if time.monotonic() > end:
                break
            name = rng.choice(names)
            mutation = rng.choice(MUTATIONS)
            data = mutation(originals[name], rng)
            for command, reason in _attack(Path(folder), name, originals[name], data, rng, counts):
                unexplained.append(
                    {"seed": seed, "input": number, "file": name, "mutation": mutation.__name__,
                     "command": command, "reason": reason, "data": data.decode("latin-1")}
                )  # fmt: skip
            counts["inputs"] += 1
    return {**counts, "unexplained": unexplained}


def _attack(  # noqa: PLR0917
    folder: Path, name: str, original: bytes, data: bytes, rng: random.Random, counts: Counter[str]
) -> Iterator[tuple[str, str]]:
    """Yield the commands with a result that cannot be explained."""
    path, gold = folder / f"bad-{name}", folder / f"good-{name}"
    path.write_bytes(data)
    gold.write_bytes(original)
    before = {file.name for file in folder.iterdir()}
    to = rng.choice(["amr", "sdp", "ucca", "mrp", "arborescence", "relations"])
    skip = rng.choice([[], ["--skip-invalid"]])
    runs = [
        (graphconv, [rng.choice(["check", "stats"]), *skip, str(path)]),
        (graphconv, ["convert", *skip, str(path), "--to", to, "-o", "-"]),
        (evaltools, rng.choice([["validity", str(path)], ["score", *skip, str(gold), str(path)],
                                ["score", "--format", "json", *skip, str(path), str(gold)]])),
    ]  # fmt: skip
    for program, arguments in runs:
        counts["commands"] += 1
        result = CliRunner().invoke(program, arguments)
        counts[f"exit {result.exit_code}"] += 1
        command = " ".join([str(program.name), *arguments])
        reason = _fault(result)
        if not reason and result.exit_code == 0 and arguments[0] == "convert":
            reason = _unreadable(result.stdout_bytes, to, folder)
        if reason:
            yield command, reason
    left = {file.name for file in folder.iterdir()} - before
    if left:
        yield "all", f"files are left behind: {sorted(left)}"


def _fault(result: Result) -> str:
    """Return why a result cannot be explained, or nothing."""
    error = result.exception
    crash = error is not None and not isinstance(error, SystemExit)
    number = re.search(r"\b(?:nan|inf)\b", result.stdout, re.IGNORECASE)
    reasons = {
        f"{type(error).__name__}: {error}"[:300]: crash,
        f"exit code {result.exit_code}": result.exit_code not in (0, 1),
        "a traceback": "Traceback" in result.stderr,
        "a control character in a message": _controls(result.stderr),
        "NaN in a score": number and '"f1"' in result.stdout,
        "a score above 100": any(float(number) > 100.001 for number in _f1s(result.stdout)),
        "exit 1 without a word": result.exit_code == 1 and not result.stderr.strip(),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _f1s(out: str) -> list[str]:
    """Return precision, recall and F1 of every line of a table, and those of a JSON report."""
    table = re.findall(r"(?m)^\S.*? +(\d+\.\d\d) +(\d+\.\d\d) +(\d+\.\d\d) +\d", out)
    return [n for row in table for n in row] + re.findall(r'"(?:p|r|f1)": (\d+\.\d+)', out)


def _unreadable(data: bytes, to: str, folder: Path) -> str:
    path = folder / "written"
    path.write_bytes(data)
    try:
        if data.strip() and not list(io.read(path, format=to)):
            return "no graph can be read back"
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        return f"cannot be read back: {error}"[:300]
    finally:
        path.unlink()
    return ""


def main() -> None:
    """Run a campaign and print what it found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    found = campaign(arguments.inputs, arguments.seconds, arguments.seed)
    json.dump(found, sys.stdout, indent=2)
    print()
    sys.exit(bool(found["unexplained"]))


if __name__ == "__main__":
    main()
