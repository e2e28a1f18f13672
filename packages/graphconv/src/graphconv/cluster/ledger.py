"""The record of a run: a journal while it is under way, the manifest when it has ended.

Every line of the journal is JSON: first what the run is, then a line per shard. A line that a
sudden end has cut is as if it had not been written.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any

from graphconv.cluster.engines import Engine
from graphconv.cluster.shards import OURS, Failure, Shard, hash_of, name_of
from graphconv.errors import FormatError
from graphconv.io import files

MANIFEST = "manifest.json"
_TYPES = {
    "int": int, "str": str, "bool": bool, "list[str]": list, "dict[str, int]": dict,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Input:
    """The files of an input and their hashes; a file that cannot be read has none."""

    paths: list[str]
    sha256: list[str]


@dataclass(frozen=True, slots=True)
class Run:
    """What tells a run from others."""

    command: str
    version: str
    model: str
    options: dict[str, Any]
    suffix: str
    inputs: list[Input]


class Ledger:
    """The record of a run in its folder, for the one process that holds the folder's lock."""

    def __init__(self, folder: Path, run: Run) -> None:
        self.folder = folder
        self.run = run
        self._shards: dict[int, dict[int, Shard]] = {}  # by input and number
        self.made_anew = 0
        """Shards that were gone or changed since they were recorded."""
        self._manifest = folder / MANIFEST
        self._journal = files.beside(self._manifest, "unfinished")
        self._file: IO[bytes] | None = None

    def open(self, engine: Engine) -> None:
        """Find what an earlier run left, and begin the journal of this one."""
        known = self._known()
        if known is None:
            other = next((p.name for p in sorted(self.folder.iterdir()) if OURS.match(p.name)), "")
            if other:
                message = f"{other} is in the way, and no run has left it: name another folder"
                raise FormatError(message, filename=str(self.folder))
        else:
            self._take(*known, engine)
        self._sweep()
        with files.os_errors(str(self._journal)):
            with files.replacing(self._journal) as hidden:
                lines = [asdict(self.run), *map(asdict, self.shards())]
                hidden.write_bytes(b"".join(map(_line, lines)))
            self._manifest.unlink(missing_ok=True)
            self._file = self._journal.open("ab", buffering=0)

    def _known(self) -> tuple[dict[str, Any], list[Any], set[int]] | None:
        """Return what a run was, its shards, and the inputs that failed."""
        with files.os_errors(str(self.folder)):
            if self._journal.exists():
                lines = self._journal.read_bytes().splitlines(keepends=True)
                records = [_record(line, self._journal) for line in lines if line.endswith(b"\n")]
                failed = {record["failed"] for record in records if "failed" in record}
                if records:
                    run, *shards = (record for record in records if "failed" not in record)
                    return run, shards, failed
            if not self._manifest.exists():
                return None
            said = _record(self._manifest.read_bytes(), self._manifest)
        try:
            failed = {failure["input"] for failure in said["failures"]}
            return said["run"], said["shards"], failed
        except (KeyError, TypeError) as error:
            raise _unknown(self._manifest) from error

    def _take(
        self, run: dict[str, Any], records: list[Any], failed: set[int], engine: Engine
    ) -> None:
        """Keep the shards that are as they were recorded; refuse the work of another run."""
        changed = self._changed(run, failed)
        shards = [_shard(record, self._manifest) for record in records]
        shards = [shard for shard in shards if shard.input not in changed]
        names = (name_of(shard.input, shard.number, self.run.suffix) for shard in shards)
        there = engine.map(hash_of, [str(self.folder / name) for name in names])
        for shard, digest in zip(shards, there, strict=True):
            if digest == shard.sha256:
                self._keep(shard)
            else:
                self.made_anew += 1

    def _changed(self, run: dict[str, Any], failed: set[int]) -> set[int]:
        """Return the inputs that failed and were mended; refuse all other differences."""
        own = json.loads(json.dumps(asdict(self.run)))
        for name in own:
            if name != "inputs" and run.get(name) != own[name]:
                raise self._refusal(f"the {name} of that run {_verb(name)} not the same")
        before = run.get("inputs")
        if not isinstance(before, list) or len(before) != len(own["inputs"]):
            raise self._refusal("the inputs of that run are not the same")
        changed = set()
        for index, (old, new) in enumerate(zip(before, own["inputs"], strict=True)):
            if old != new:
                if index not in failed or old.get("paths") != new["paths"]:
                    raise self._refusal(f"{', '.join(new['paths'])} is not the input that it was")
                changed.add(index)
        return changed

    def _refusal(self, why: str) -> FormatError:
        message = f"the folder holds another run: {why}; name another folder"
        return FormatError(message, filename=str(self.folder))

    def _sweep(self) -> None:
        """Remove what is not recorded: a driver ended before it had taken note of it."""
        keep = {name_of(shard.input, shard.number, self.run.suffix) for shard in self.shards()}
        for path in self.folder.iterdir():
            if OURS.fullmatch(path.name) and path.name not in keep:
                path.unlink(missing_ok=True)
        self._remove_unfinished()

    def _remove_unfinished(self) -> None:
        """Remove the beginnings of shards, and the marks, of workers that ended suddenly."""
        for path in self.folder.glob(".part-*"):
            path.unlink(missing_ok=True)

    def _keep(self, shard: Shard) -> None:
        self._shards.setdefault(shard.input, {})[shard.number] = shard

    def add(self, shard: Shard) -> None:
        """Record a shard that is there."""
        self._note(asdict(shard))
        self._keep(shard)

    def fail(self, failure: Failure) -> None:
        """Record that an input failed, so that it may be mended."""
        self._note({"failed": failure.input, "why": failure.why})

    def _note(self, record: dict[str, Any]) -> None:
        assert self._file is not None
        with files.os_errors(str(self._journal)):
            self._file.write(_line(record))

    def of_input(self, index: int) -> list[Shard]:
        """Return the shards of an input, in order."""
        found = self._shards.get(index, {})
        return [found[number] for number in sorted(found)]

    def shards(self) -> list[Shard]:
        """Return all shards, in the order of the inputs."""
        return [shard for index in sorted(self._shards) for shard in self.of_input(index)]

    def finish(self, failures: list[Failure], totals: dict[str, Any]) -> None:
        """Write the manifest."""
        inputs = self.run.inputs
        manifest = {
            "complete": not failures,
            "totals": totals,
            "failures": [
                {
                    "input": failure.input,
                    "paths": inputs[failure.input].paths,
                    "shard": failure.number or None,
                    "why": failure.why,
                }
                for failure in failures
            ],
            "run": asdict(self.run),
            "shards": [
                {"name": name_of(s.input, s.number, self.run.suffix), **asdict(s)}
                for s in self.shards()
            ],
        }
        with files.os_errors(str(self._manifest)):
            with files.replacing(self._manifest) as hidden:
                text = json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
                hidden.write_text(text, encoding="utf-8", errors="backslashreplace")
            self.close()
            self._journal.unlink(missing_ok=True)
            self._remove_unfinished()

    def close(self) -> None:
        """Leave the journal for another run."""
        if self._file is not None:
            self._file.close()


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode() + b"\n"


def _verb(name: str) -> str:
    return "are" if name.endswith("s") else "is"


def _record(data: bytes, path: Path) -> dict[str, Any]:
    try:
        record = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _unknown(path) from error
    if not isinstance(record, dict):
        raise _unknown(path)
    return record


def _shard(record: Any, path: Path) -> Shard:
    known = {field.name: _TYPES[str(field.type)] for field in fields(Shard)}
    if not isinstance(record, dict) or any(
        type(record.get(name)) is not kind for name, kind in known.items()
    ):
        raise _unknown(path)
    return Shard(**{name: record[name] for name in known})


def _unknown(path: Path) -> FormatError:
    message = "it is not the record of a run: remove the folder, or name another one"
    return FormatError(message, filename=str(path))
