"""Run a job: what is missing is made, recorded shard by shard, and told in the manifest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from graphconv.cluster.engines import Engine
from graphconv.cluster.ledger import MANIFEST, Input, Ledger, Run
from graphconv.cluster.shards import Failure, Shard, Task, hash_of, name_of, write
from graphconv.cluster.work import Job
from graphconv.errors import FileError, FormatError
from graphconv.io import files

Tell = Callable[[str], None]
Watch = Callable[[Iterator[Shard | Failure]], Iterator[Shard | Failure]]


@dataclass
class Report:
    """How a run ended."""

    shards: list[Shard]
    """All that are there, in the order of the inputs."""
    failures: list[Failure] = field(default_factory=list)
    made: int = 0
    """How many of them this run made."""

    @property
    def counts(self) -> Counter[str]:
        """What the workers counted beside graphs."""
        return sum((Counter(shard.counts) for shard in self.shards), Counter())

    @property
    def graphs(self) -> int:
        """The graphs in all shards."""
        return sum(shard.graphs for shard in self.shards)

    @property
    def lost(self) -> int:
        """What should be in the shards and is not."""
        return sum(len(shard.lost) for shard in self.shards)

    @property
    def skipped(self) -> int:
        """What the user wanted to be left out."""
        return sum(len(shard.skipped) for shard in self.shards)

    @property
    def succeeded(self) -> bool:
        """Whether everything is there."""
        return not self.failures and not self.lost

    def totals(self) -> dict[str, Any]:
        """Return the sums for the manifest."""
        return {
            "shards": len(self.shards),
            "items": sum(shard.items for shard in self.shards),
            "graphs": self.graphs,
            "bytes": sum(shard.bytes for shard in self.shards),
            "lost": self.lost,
            "skipped": self.skipped,
        }


def run(
    job: Job,
    inputs: Sequence[tuple[str, ...]],
    output: str,
    engine: Engine,
    *,
    tell: Tell = lambda _: None,
    watch: Watch = iter,
) -> Report:
    """Do a job on some inputs, each of one or more files; *output* is the folder of the shards.

    *tell* is told of what is lost, skipped or failed; *watch* sees what the workers made go by.
    """
    folder = Path(output)
    with files.os_errors(output):
        if folder.exists() and not folder.is_dir():
            raise FormatError("a file, where a folder is to be written", filename=output)
        folder.mkdir(exist_ok=True)
    with files.lock(str(folder / MANIFEST)):
        ledger = Ledger(folder, _described(job, inputs, engine))
        try:
            ledger.open(engine)
            before = len(ledger.shards())
            if ledger.made_anew:
                tell(f"{ledger.made_anew:,} shards were gone or changed, and are made anew")
            failures = _work(job, ledger, engine, tell=tell, watch=watch)
            _write_ends(job, ledger, failures)
            for failure in failures:
                tell(_told(failure, ledger.run))
            shards = ledger.shards()
            report = Report(shards, failures, len(shards) - before)
            ledger.finish(failures, report.totals())
        except (KeyboardInterrupt, SystemExit):
            tell(f"stopped; {len(ledger.shards()):,} shards are kept; the same command goes on")
            raise
        finally:
            ledger.close()
    return report


def _described(job: Job, inputs: Sequence[tuple[str, ...]], engine: Engine) -> Run:
    hashes = engine.map(hash_of, [path for paths in inputs for path in paths])
    known = [Input(list(paths), [next(hashes) for _ in paths]) for paths in inputs]
    options = dict(job.options)
    return Run(job.command, version("arbora-graphconv"), job.model, options, job.suffix, known)


def _work(job: Job, ledger: Ledger, engine: Engine, *, tell: Tell, watch: Watch) -> list[Failure]:
    """Make the shards that are missing; return what could not be made."""
    failures: list[Failure] = []
    tasks = [
        Task(index, tuple(given.paths), frozenset(s.number for s in ledger.of_input(index)))
        for index, given in enumerate(ledger.run.inputs)
        if not _is_complete(ledger.of_input(index))
    ]
    for found in watch(engine.work(job, tasks, ledger.folder)):
        try:
            problem = found if isinstance(found, Failure) else None
            _record(found, ledger, tell)
        except FileError as error:  # the disk of the folder is full
            problem = Failure(found.input, found.number, str(error), stop=True)
        if problem is not None:
            failures.append(problem)
            if problem.stop:
                return failures
    failed = {(failure.input, failure.number) for failure in failures}
    for task in tasks:
        failures += _unexplained(task.input, ledger.of_input(task.input), failed)
    return sorted(failures)


def _record(found: Shard | Failure, ledger: Ledger, tell: Tell) -> None:
    if isinstance(found, Failure):
        ledger.fail(found)
        return
    ledger.add(found)
    for problem in found.lost:
        tell(problem)
    for problem in found.skipped:
        tell(f"skipped: {problem}")


def _is_complete(shards: list[Shard]) -> bool:
    return bool(shards) and shards[-1].last and shards[-1].number == len(shards)


def _unexplained(
    index: int, shards: list[Shard], failed: set[tuple[int, int]]
) -> Iterator[Failure]:
    """Yield the failures that nobody was left to report, so that nothing is lost in silence."""
    if (index, 0) in failed or _is_complete(shards):
        return
    why = "the engine gave it up"
    there = {shard.number for shard in shards} | {n for i, n in failed if i == index}
    for number in range(1, max(there, default=0) + 1):
        if number not in there:
            yield Failure(index, number, why)
    if not any(shard.last for shard in shards) and not any(i == index for i, _ in failed):
        yield Failure(index, 0, why)


def _write_ends(job: Job, ledger: Ledger, failures: list[Failure]) -> None:
    """Write what stands before and after the graphs of each input that is complete."""
    packed = ".gz" if job.suffix.endswith(".gz") else ""
    for index in range(len(ledger.run.inputs)):
        shards = ledger.of_input(index)
        if not _is_complete(shards):
            continue
        heads = {shard.head for shard in shards if shard.graphs}
        if len(heads) > 1:
            why = "its graphs are of several versions of the format: convert it on one machine"
            failures.append(Failure(index, 0, why))
            continue
        graphs = sum(shard.graphs for shard in shards)
        head, tail = job.ends(next(iter(heads), ""), graphs)
        for number, text, kind in ((0, head, ".head"), (len(shards) + 1, tail, ".tail")):
            if text:
                name = name_of(index, number, kind + packed)
                try:
                    write(ledger.folder / name, text.encode())
                except FileError as error:
                    failures.append(Failure(index, 0, str(error), stop=True))


def _told(failure: Failure, known: Run) -> str:
    paths = ", ".join(known.inputs[failure.input].paths)
    shard = f", shard {failure.number:,}" if failure.number else ""
    return failure.why if paths in failure.why else f"{paths}{shard}: {failure.why}"
