"""Fuzz every reader, guided by coverage: ``python tools/fuzz.py --seconds 600 amr sdp``.

atheris (``pip install atheris``) changes valid files so that they reach new lines of the code.
What is read may be refused with the package's own error. Findings are every other error, a graph
that is read and breaks a law, and output that cannot be read back. One input of each kind of
finding stays in ``--folder``; the command fails if there is one. A reader runs in a process of its
own, because libFuzzer ends the process.
"""

# ruff: noqa: PLC0415 - what is fuzzed is imported after atheris, which changes it

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

GRAPHS = ("sdp", "amr", "ucca", "mrp", "arborescence", "relations", "graphml", "conllu")
SIDE = "side"
READERS = (*GRAPHS, "repair", SIDE)

_LONGEST = 4096
_SUFFIXES = {"ucca": "xml", "arborescence": "jsonl", "relations": "tsv"}


class Finding(Exception):  # noqa: N818 - what is looked for
    """Something was read or written and is wrong."""


def read_graphs(name: str, data: bytes) -> None:
    """Read graphs, test the laws on each, write each in one of the formats, and read that again."""
    from graphconv import check, io
    from graphconv.errors import GraphconvError
    from graphconv.io.reading import blocks_of
    from graphconv.io.stream import Input

    try:
        blocks = list(blocks_of(io.codec(name), iter([data]), "fuzzed"))
    except GraphconvError:
        return
    for block in blocks:
        try:
            graph = io.parse_block(name, block)
        except GraphconvError:
            continue
        for failure in check.check_input(Input(graph, "fuzzed", name, block)).failures:
            # Types of units that rows do not tell are the file's affair, and told by `check`.
            if failure.endswith("not the same") and "as it is scored" not in failure:
                raise Finding(failure)
        other = sorted(io.FORMATS)[len(data) % len(io.FORMATS)]
        try:
            text = io.dumps(graph, other)
        except GraphconvError:
            continue
        if not io.loads(text, other, graph.framework):
            raise Finding(f"{other}: nothing can be read back")


def repair(data: bytes) -> None:
    """Repair PENMAN: whatever it is, valid graphs come out of it, or a refusal."""
    from graphconv import io, mend
    from graphconv.errors import GraphconvError

    try:
        mended = mend.repair(data.decode("utf-8", "replace"))
    except GraphconvError:
        return
    if mended.graphs and len(io.loads(mended.text, "amr")) != mended.graphs:
        raise Finding("repair counts other graphs than it writes")


def read_side(folder: Path, data: bytes) -> None:
    """Read a file beside the graphs; the first byte says which."""
    if data:
        name, read = sides()[data[0] % len(sides())]
        (folder / name).write_bytes(data[1:])
        try:
            read(folder)
        except Exception as error:
            if not type(error).__module__.startswith("transducer."):
                raise


def sides() -> list[tuple[str, Callable[[Path], Any]]]:
    """Return the JSON and TOML files that a command reads, each with its reader."""
    from transducer import config, schema
    from transducer.data.vocabularies import Vocabularies
    from transducer.frameworks.amr.tables import Tables
    from transducer.parsing.document import Doc
    from transducer.parsing.resumable import Journal
    from transducer.serving.requests import SCHEMAS, read_request
    from transducer.storage import cards, checkpoint
    from transducer.training import runs

    def checked(kind: Any, name: str) -> Callable[[Path], Any]:
        return lambda folder: schema.checked(kind, schema.read_json(folder / name, 10**6))

    return [
        ("config.json", checked(checkpoint.Setup, "config.json")),
        ("vocabularies.json", lambda f: Vocabularies.from_json(
            schema.read_json(f / "vocabularies.json", 10**6))),
        ("tables.json", lambda f: Tables.from_json(schema.read_text(f / "tables.json", 10**6))),
        ("score.json", checkpoint.read_score),
        ("card.json", cards.read_card),
        ("run.json", runs.load_run),
        ("journal.json", checked(Journal, "journal.json")),
        ("recipe.toml", lambda f: config.load_config(f / "recipe.toml", task="amr")),
        ("document.json", lambda f: Doc.from_json(
            (f / "document.json").read_text("utf-8", "replace"))),
        *[("body.json", lambda f, kind=kind: read_request(kind, (f / "body.json").read_bytes()))
          for kind in SCHEMAS],
    ]  # fmt: skip


def targets(scratch: Path) -> dict[str, Callable[[bytes], None]]:
    """Return what each reader does with an input; *scratch* is a folder for files."""
    return {
        **{name: partial(read_graphs, name) for name in GRAPHS},
        "repair": repair,
        SIDE: partial(read_side, scratch),
    }


def seeds(reader: str) -> Iterator[bytes]:
    """Yield valid files for a reader to begin with."""
    if reader == SIDE:
        yield from _side_seeds()
        return
    from campaign import mutation

    if reader == "repair":
        reader = "amr"
    suffix = _SUFFIXES.get(reader, reader)
    for name, data in mutation.seeds().items():
        if name.endswith(suffix):
            yield data
            yield from (part + b"\n" for part in re.split(rb"(?<=\n)\n|(?<=})\n", data) if part)


def _side_seeds() -> Iterator[bytes]:
    models = Path(__file__).parents[1] / "packages/transducer/src/transducer/models"
    for number, (name, _) in enumerate(sides()):
        mark = bytes([number])
        yield mark + b"{}"
        for path in (*models.glob(f"*/{name}"), *models.glob(f"*/{name}.gz")):
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            if len(data) < _LONGEST:
                yield mark + data
        setup = json.loads((models / "amr" / "config.json").read_text())
        yield mark + json.dumps({"config": setup["config"], "train": [], "dev": []}).encode()
        yield mark + b'base = "tiny"\n[train]\nepochs = 3\n'
        yield mark + b'{"text": "Go", "task": "amr", "gold": "(a / b)", "pred": "(a / b)"}'
        yield mark + b'{"words": ["a"], "labels": ["b"], "lexicon": {"a": "b"}, "rates": {"a": 1}}'


def fuzz(reader: str, folder: Path, seconds: int) -> None:
    """Fuzz one reader in this process, and end it."""
    import atheris

    with atheris.instrument_imports(include=["graphconv", "transducer", "penman"]):
        from graphconv import check, io, mend  # noqa: F401

        for name in io.FORMATS:
            io.codec(name)
        if reader == SIDE:
            sides()
    corpus, findings = folder / "corpus", folder / "findings"
    for each in (corpus, findings):
        each.mkdir(parents=True, exist_ok=True)
    for old in findings.iterdir():  # what is still there is found again
        if old.suffix != ".txt":
            (corpus / old.name).write_bytes(old.read_bytes())
        old.unlink()
    words: set[bytes] = set()
    for data in seeds(reader):
        (corpus / hashlib.sha1(data).hexdigest()).write_bytes(data)
        words |= set(re.findall(rb"[\w.:-]{2,20}", data))
    lines = [f'"{word.decode()}"\n' for word in sorted(words) if word.isascii()]
    (folder / "words").write_text("".join(lines))
    read = targets(Path(tempfile.mkdtemp()))[reader]

    def target(data: bytes) -> None:
        try:
            read(data)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            _keep(findings, data, error)

    options = [f"-max_total_time={seconds}", f"-max_len={_LONGEST}", "-timeout=60",
               "-report_slow_units=60", "-rss_limit_mb=4096", f"-dict={folder / 'words'}",
               f"-artifact_prefix={findings}/", "-print_final_stats=1"]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(corpus)], target)
    atheris.Fuzz()


def _keep(findings: Path, data: bytes, error: Exception) -> None:
    """Keep the first input of each kind of finding: of one error at one place."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/src/" in f.filename]
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else str(error)
    if isinstance(error, Finding):
        place = str(error)
    name = hashlib.sha1(f"{type(error).__name__} {place}".encode()).hexdigest()[:8]
    if not (findings / f"{name}.txt").exists():
        (findings / name).write_bytes(data)
        (findings / f"{name}.txt").write_text("".join(traceback.format_exception(error)))


def main() -> None:
    """Fuzz the readers one after the other, and say what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("readers", nargs="*", choices=[[], *READERS], metavar="READER")
    parser.add_argument("--seconds", type=int, default=600, help="of each reader")
    parser.add_argument("--folder", type=Path, default=Path(".fuzz"))
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        fuzz(arguments.readers[0], arguments.folder, arguments.seconds)
    found = 0
    for reader in arguments.readers or READERS:
        folder = arguments.folder / reader
        folder.mkdir(parents=True, exist_ok=True)
        own = [reader, "--here", "--seconds", str(arguments.seconds), "--folder", str(folder)]
        command = [sys.executable, __file__, *own]
        with (folder / "log").open("w") as log:
            done = subprocess.run(command, stderr=log, stdout=log, check=False)
        said = (folder / "log").read_text(errors="replace")
        runs = re.findall(r"number_of_executed_units: (\d+)", said) or ["no"]
        covered = re.findall(r"cov: (\d+)", said) or ["no"]
        kept = sorted(path for path in (folder / "findings").glob("*") if path.suffix != ".txt")
        print(f"{reader}: {runs[-1]} inputs, {covered[-1]} places reached, {len(kept)} findings,")
        print(f"  exit {done.returncode}", *kept, sep="\n  ", flush=True)
        found += len(kept) + bool(done.returncode)
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
