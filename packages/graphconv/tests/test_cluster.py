"""Bulk work: any cut, any end, any restart gives what one machine writes, once."""

from __future__ import annotations

import gzip
import json
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from graphconv.check import SAMPLE
from graphconv.cli import main
from graphconv.cluster import command
from graphconv.cluster.engines import ENGINES, Engine, Local
from graphconv.cluster.ledger import MANIFEST
from graphconv.cluster.running import Report, run
from graphconv.cluster.shards import TRIES, Failure, Shard, Task
from graphconv.cluster.work import Headed, Job, Made, Notes, Piece, Work, pieces
from graphconv.errors import FormatError
from graphconv.io import files

JOURNAL = ".manifest.json.unfinished"


@dataclass(frozen=True)
class Upper:
    """Writes the lines of files in capitals below a title; ``?`` is lost, ``!`` breaks a piece."""

    size: int = 2
    suffix: str = ".txt"
    title: str = "# title\n"
    asked: str = ""
    made: list[str] = field(default_factory=list)
    command: str = "upper"
    model: str = ""
    errors: tuple[type[Exception], ...] = ()

    @property
    def options(self) -> Mapping[str, Any]:
        return {"asked": self.asked, "size": self.size}

    def cut(self, paths: tuple[str, ...]) -> Iterator[Piece]:
        notes = Notes()
        (path,) = paths
        return pieces(files.lines(files.chunks(path), path), self.size, notes)

    def worker(self) -> Work:
        return self._work

    def _work(self, piece: Piece) -> Made:
        notes = Notes()
        first = iter([self.title])
        write = Headed(lambda line: next(first, "") + line.upper())
        texts = []
        for line in piece.items:
            self.made.append(line.strip())
            if "!" in line:
                raise FormatError("an exclamation")
            if "?" in line:
                notes.lose(f"what is {line.strip()}")
            else:
                texts.append(write(line))
        return Made("".join(texts).encode(), len(texts), notes, write.head, {"lines": len(texts)})

    def ends(self, head: str, graphs: int) -> tuple[str, str]:
        return head, f"# {graphs} lines\n"


def done(job: Job, inputs: list[Path], output: Path, engine: Engine | None = None) -> Report:
    given = [(str(path),) for path in inputs]
    return run(job, given, str(output), engine or Local())


def joined(folder: Path, index: int = 0) -> str:
    names = sorted(folder.glob(f"part-{index:06}-*"))
    return b"".join(path.read_bytes() for path in names).decode()


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
    return found


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@dataclass
class Dying:
    """An engine that a signal ends after some shards, or that leaves out one."""

    lives: int = 99
    without: int = 0
    map = Local.map

    def work(self, job: Job, tasks: list[Task], folder: Path) -> Iterator[Shard | Failure]:
        for lived, found in enumerate(Local().work(job, tasks, folder)):
            if lived == self.lives:
                raise SystemExit(143)
            if found.number != self.without:
                yield found


def test_the_names_of_the_engines() -> None:
    assert tuple(ENGINES) == command._ENGINES


@given(
    st.lists(st.lists(st.sampled_from(["a", "?"]), max_size=7), min_size=1, max_size=3),
    st.integers(1, 4),
    st.lists(st.integers(0, 3), max_size=3),
)
def test_any_cut_and_any_ends_give_one_output(
    tmp_path_factory: pytest.TempPathFactory, lines: list[list[str]], size: int, lives: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    inputs = [
        written(folder / f"{i}.txt", "".join(f"{a}\n" for a in some))
        for i, some in enumerate(lines)
    ]
    job = Upper(size)
    for some in lives:
        try:
            done(job, inputs, folder / "out", Dying(some))
        except SystemExit:
            assert not (folder / "out" / MANIFEST).exists()
    report = done(job, inputs, folder / "out")
    for i, words in enumerate(lines):
        good = words.count("a")
        head = "# title\n" if good else ""
        assert joined(folder / "out", i) == head + "A\n" * good + f"# {good} lines\n"
    assert len(job.made) - sum(map(len, lines)) <= size * len(lives)  # only what is missing
    assert report.lost == sum(some.count("?") for some in lines)
    assert manifest(folder / "out")["totals"]["items"] == sum(map(len, lines))
    assert not list((folder / "out").glob(".*"))


def test_the_manifest_says_what_there_is(tmp_path: Path) -> None:
    source = written(tmp_path / "a.txt", "a\nb\n?\n")
    report = done(Upper(), [source], tmp_path / "out")
    found = manifest(tmp_path / "out")
    assert found["complete"]
    assert not report.succeeded  # a line is lost
    assert found["failures"] == []
    assert found["totals"] == {
        "shards": 2, "items": 3, "graphs": 2, "bytes": 4, "lost": 1, "skipped": 0,
    }  # fmt: skip
    assert found["run"]["inputs"] == [{"paths": [str(source)], "sha256": [files.sha256(source)]}]
    first, second = found["shards"]
    assert first["name"] == "part-000000-000001.txt"
    assert first["sha256"] == files.sha256(tmp_path / "out" / first["name"])
    assert second["lost"] == ["what is ?"]
    assert report.counts == {"lines": 2}


def test_packed_shards_are_joined_packed(tmp_path: Path) -> None:
    source = written(tmp_path / "a.txt", "a\nb\nc\n")
    done(Upper(suffix=".txt.gz"), [source], tmp_path / "out")
    parts = sorted((tmp_path / "out").glob("part-*"))
    assert (
        gzip.decompress(b"".join(p.read_bytes() for p in parts)) == b"# title\nA\nB\nC\n# 3 lines\n"
    )


def test_a_restart_makes_what_is_missing_or_changed(tmp_path: Path) -> None:
    source = written(tmp_path / "a.txt", "a\nb\nc\nd\ne\n")
    done(Upper(), [source], tmp_path / "out")
    before = joined(tmp_path / "out")
    (tmp_path / "out" / "part-000000-000001.txt").write_text("A\nX\n")
    (tmp_path / "out" / "part-000000-000003.txt").unlink()
    again = Upper()
    told: list[str] = []
    run(again, [(str(source),)], str(tmp_path / "out"), Local(), tell=told.append)
    assert again.made == ["a", "b", "e"]
    assert told == ["2 shards were gone or changed, and are made anew"]
    assert joined(tmp_path / "out") == before


def test_a_torn_line_of_the_journal_and_an_unrecorded_shard(tmp_path: Path) -> None:
    source = written(tmp_path / "a.txt", "a\nb\nc\nd\n")
    with pytest.raises(SystemExit):
        done(Upper(), [source], tmp_path / "out", Dying(1))
    journal = tmp_path / "out" / JOURNAL
    with journal.open("ab") as file:
        file.write(b'{"input": 0, "numb')
    (tmp_path / "out" / "part-000000-000009.txt").write_text("of a killed driver")
    (tmp_path / "out" / ".part-000000-000002.txt.0123.part").write_text("of a killed worker")
    again = Upper()
    done(again, [source], tmp_path / "out")
    assert again.made == ["c", "d"]
    assert joined(tmp_path / "out") == "# title\nA\nB\nC\nD\n# 4 lines\n"


@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"asked": "more"}, "the options of that run are"),
        ({"size": 3}, "the options of that run are"),
        ({"model": "other"}, "the model of that run is"),
        ({"command": "lower"}, "the command of that run is"),
        ({"suffix": ".csv"}, "the suffix of that run is"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_another_job_is_refused(
    change: dict[str, Any], what: str, ended: bool, tmp_path: Path
) -> None:
    source = written(tmp_path / "a.txt", "a\nb\nc\n")
    if ended:
        done(Upper(), [source], tmp_path / "out")
    else:
        with pytest.raises(SystemExit):
            done(Upper(), [source], tmp_path / "out", Dying(1))
    before = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir() if "lock" not in p.name}
    with pytest.raises(FormatError, match=what):
        done(replace(Upper(), **change), [source], tmp_path / "out")
    after = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir() if "lock" not in p.name}
    assert before == after


def test_other_inputs_are_refused(tmp_path: Path) -> None:
    source, other = written(tmp_path / "a.txt", "a\n"), written(tmp_path / "b.txt", "a\n")
    done(Upper(), [source], tmp_path / "out")
    for inputs in ([other], [source, other], []):
        with pytest.raises(FormatError, match="input"):
            done(Upper(), inputs, tmp_path / "out")
    source.write_text("b\n")
    with pytest.raises(FormatError, match=r"a\.txt is not the input that it was"):
        done(Upper(), [source], tmp_path / "out")


def test_files_of_others_are_in_the_way(tmp_path: Path) -> None:
    source = written(tmp_path / "a.txt", "a\n")
    (tmp_path / "out").mkdir()
    mine = written(tmp_path / "out" / "part-000000-000001.txt", "mine")
    with pytest.raises(FormatError, match="is in the way"):
        done(Upper(), [source], tmp_path / "out")
    assert mine.read_text() == "mine"
    with pytest.raises(FormatError, match="a file, where a folder"):
        done(Upper(), [source], source)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"run": {}}', '{"failures": 3}', "x" * 99])
def test_a_manifest_of_something_else_is_refused(text: str, tmp_path: Path) -> None:
    source = written(tmp_path / "a.txt", "a\n")
    (tmp_path / "out").mkdir()
    written(tmp_path / "out" / MANIFEST, text)
    with pytest.raises(FormatError, match="not the record of a run"):
        done(Upper(), [source], tmp_path / "out")
    assert (tmp_path / "out" / MANIFEST).read_text() == text


def test_a_second_run_is_refused_meanwhile(tmp_path: Path) -> None:
    source = written(tmp_path / "a.txt", "a\n")
    (tmp_path / "out").mkdir()
    with (
        files.lock(str(tmp_path / "out" / MANIFEST)),
        pytest.raises(FormatError, match="another process is writing"),
    ):
        done(Upper(), [source], tmp_path / "out")


def test_a_broken_input_leaves_the_others_alone_and_may_be_mended(tmp_path: Path) -> None:
    good = written(tmp_path / "good.txt", "a\n")
    broken = tmp_path / "broken.txt.gz"
    packed = gzip.compress(b"".join(b"%d\n" % (i * 7919 % 10007) for i in range(9000)))
    broken.write_bytes(packed[: len(packed) // 2])
    job = Upper(1000)
    told: list[str] = []
    report = run(
        job,
        [(str(path),) for path in (broken, good)],
        str(tmp_path / "out"),
        Local(),
        tell=told.append,
    )
    assert not report.succeeded
    assert told == [f"{broken}: damaged gzip file (it ends too early)"]
    found = manifest(tmp_path / "out")
    assert not found["complete"]
    assert found["failures"] == [
        {"input": 0, "paths": [str(broken)], "shard": None, "why": told[0]}
    ]
    assert joined(tmp_path / "out", 1) == "# title\nA\n# 1 lines\n"
    broken.write_bytes(packed)
    again = Upper(1000)
    assert done(again, [broken, good], tmp_path / "out").succeeded
    assert len(again.made) == 9000  # nothing of what was read of another file is kept
    assert joined(tmp_path / "out").count("\n") == 9002
    assert manifest(tmp_path / "out")["complete"]


def test_an_input_that_is_gone_is_a_failure(tmp_path: Path) -> None:
    good = written(tmp_path / "good.txt", "a\n")
    report = done(Upper(), [tmp_path / "gone.txt", good], tmp_path / "out")
    assert [failure.why for failure in report.failures] == [
        f"{tmp_path}/gone.txt: No such file or directory"
    ]
    assert joined(tmp_path / "out", 1) == "# title\nA\n# 1 lines\n"


def test_a_piece_that_fails_is_tried_again(tmp_path: Path) -> None:
    source = written(tmp_path / "a.txt", "a\nb\nc!\nd\ne\n")
    report = done(Upper(), [source], tmp_path / "out")
    assert report.failures == [Failure(0, 2, "an exclamation")]
    assert manifest(tmp_path / "out")["failures"][0]["shard"] == 2
    again = Upper()
    done(again, [source], tmp_path / "out")
    assert again.made == ["c!"]


@dataclass(frozen=True)
class Buggy(Upper):
    def _work(self, piece: Piece) -> Made:  # noqa: ARG002 - as in Upper
        raise RuntimeError("shapes\ndiffer")


@dataclass(frozen=True)
class Unloadable(Upper):
    def worker(self) -> Work:
        raise FormatError("there is no model")


def test_a_bug_has_its_name_and_a_model_that_does_not_load_stops(tmp_path: Path) -> None:
    source = written(tmp_path / "a.txt", "a\nb\nc\n")
    bugs = done(Buggy(), [source], tmp_path / "bugs").failures
    assert [failure.why for failure in bugs] == ["RuntimeError: shapes differ"] * 2
    stopped = done(Unloadable(), [source], tmp_path / "stopped").failures
    assert stopped == [Failure(0, 1, "there is no model", stop=True)]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_what_an_engine_loses_is_a_failure(number: int, tmp_path: Path) -> None:
    source = written(tmp_path / "a.txt", "a\nb\nc\nd\ne\n")
    report = done(Upper(), [source], tmp_path / "out", Dying(without=number))
    # Of the last one nobody knows that it should be there.
    assert [failure.number for failure in report.failures] == [0 if number == 3 else number]
    assert done(Upper(), [source], tmp_path / "out").succeeded


def test_what_kills_its_worker_is_given_up(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from graphconv.cluster.shards import Maker\n"
        "from test_cluster import Notes, Piece, Upper\n"
        "class Killed(Upper):\n"
        "    def _work(self, piece):\n"
        "        return os.kill(os.getpid(), 9) if piece.number == 1 else super()._work(piece)\n"
        f"make = Maker(Killed(), Path({str(tmp_path)!r}))\n"
        "for number in (1, 2): print(make(0, Piece(number, ['a'], False, Notes())))\n"
    )
    ends = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        for _ in range(TRIES + 1)
    ]
    assert [end.returncode for end in ends] == [-9] * TRIES + [0], ends[-1].stderr
    given_up, shard = ends[-1].stdout.splitlines()
    assert given_up.startswith("Failure(input=0, number=1")
    assert "its worker was killed 3 times (not enough memory?)', stop=False" in given_up
    assert "number=2" in shard
    assert [path.name for path in tmp_path.iterdir()] == ["part-000000-000002.txt"]


def test_versions_of_a_format_in_one_input_are_refused(tmp_path: Path) -> None:
    source = written(tmp_path / "a.txt", "a\nb\nc\n")
    heads = iter(["one", "two"])

    class Changing(Upper):
        def _work(self, piece: Piece) -> Made:
            return super()._work(piece)._replace(head=next(heads))

    report = done(Changing(), [source], tmp_path / "out")
    assert "several versions" in report.failures[0].why
    assert not list((tmp_path / "out").glob("*.head"))


def limited(arguments: list[str], size: int) -> subprocess.CompletedProcess[str]:
    """Run the command where no file can be larger."""
    return subprocess.run(
        [sys.executable, "-m", "graphconv", *arguments],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )


def test_a_full_disk_stops_the_run_and_the_next_goes_on(tmp_path: Path) -> None:
    source = tmp_path / "a.sdp"
    source.write_bytes((SAMPLE / "sample.sdp").read_bytes() * 40)
    arguments = ["convert", str(source), "--to", "mrp", "--engine", "local", "--shard", "40"]
    arguments += ["-o", str(tmp_path / "out")]
    ended = limited(arguments, 4000)
    assert ended.returncode == 1
    assert "File too large" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not [path.name for path in (tmp_path / "out").glob("*.part")]
    found = manifest(tmp_path / "out")
    assert not found["complete"]
    assert "File too large" in found["failures"][0]["why"]
    assert limited(arguments, 1 << 30).returncode == 0
    assert manifest(tmp_path / "out")["complete"]
    one = tmp_path / "one.mrp"
    assert run_cli("convert", source, "-o", one).exit_code == 0
    assert joined(tmp_path / "out").encode() == one.read_bytes()


def run_cli(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


SAMPLES = ("sample.amr", "sample.sdp")


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("to", ["mrp", "graphml", "arborescence", "relations", "own"])
def test_shards_joined_are_what_one_machine_writes(name: str, to: str, tmp_path: Path) -> None:
    source = SAMPLE / name
    to = source.suffix[1:] if to == "own" else to
    one = tmp_path / "one"
    assert run_cli("convert", source, "--to", to, "-o", one).exit_code == 0
    options = ("--to", to, "--engine", "local", "--shard", 1, "-o", tmp_path / "out")
    ended = run_cli("convert", source, *options)
    assert ended.exit_code == 0, ended.output
    assert joined(tmp_path / "out").encode() == one.read_bytes()


def test_passages_joined_are_a_file_of_passages(tmp_path: Path) -> None:
    source = next(SAMPLE.glob("**/*.xml")).parent
    options = ("--engine", "local", "--shard", 1, "-o", tmp_path / "out")
    assert run_cli("convert", source, "--to", "ucca", *options).exit_code == 0
    (tmp_path / "all.xml").write_text(joined(tmp_path / "out"))
    assert run_cli("convert", source, "--to", "mrp", "-o", tmp_path / "a.mrp").exit_code == 0
    again = run_cli("convert", tmp_path / "all.xml", "--to", "mrp", "-o", tmp_path / "b.mrp")
    assert again.exit_code == 0, again.output
    assert (tmp_path / "a.mrp").read_bytes() == (tmp_path / "b.mrp").read_bytes()


def test_to_arborescence_with_its_options(tmp_path: Path) -> None:
    source = next(SAMPLE.glob("**/*.xml")).parent
    options = ("--foundational", "--no-unit-labels")
    one = run_cli("to-arborescence", source, *options, "-o", tmp_path / "one")
    where = ("--engine", "local", "--shard", 1, "-o", tmp_path / "out")
    ended = run_cli("to-arborescence", source, *options, *where)
    assert ended.exit_code == one.exit_code == 0
    assert joined(tmp_path / "out").encode() == (tmp_path / "one").read_bytes()
    assert one.stderr in ended.stderr  # linkage units that were left out


def test_patterns_find_files_in_natural_order(tmp_path: Path) -> None:
    for number in (10, 9, 2):
        (tmp_path / f"{number}.sdp").write_bytes((SAMPLE / "sample.sdp").read_bytes())
    pattern = str(tmp_path / "*.sdp")
    assert command.expand([pattern, "-"]) == (
        *(str(tmp_path / f"{number}.sdp") for number in (2, 9, 10)),
        "-",
    )
    assert run_cli("convert", tmp_path / "*.none", "--to", "mrp").exit_code == 2
    ended = run_cli("convert", pattern, "--to", "mrp", "--engine", "local", "-o", tmp_path / "out")
    assert ended.exit_code == 0, ended.output
    assert len(manifest(tmp_path / "out")["run"]["inputs"]) == 3


def test_invalid_graphs_are_skipped_or_a_failure(tmp_path: Path) -> None:
    source = tmp_path / "a.amr"
    good = (SAMPLE / "sample.amr").read_text()
    source.write_text(f"{good}\n# ::id broken\n(a / b\n\n{good}")
    where = ("--to", "mrp", "--engine", "local", "--shard", 1, "-o")
    failed = run_cli("convert", source, *where, tmp_path / "strict")
    assert failed.exit_code == 1
    assert "a.amr:" in failed.stderr
    assert len(manifest(tmp_path / "strict")["failures"]) == 1
    skipped = run_cli("convert", source, "--skip-invalid", *where, tmp_path / "out")
    one = run_cli("convert", source, "--skip-invalid", "--to", "mrp", "-o", tmp_path / "one")
    assert skipped.exit_code == one.exit_code == 0
    assert joined(tmp_path / "out").encode() == (tmp_path / "one").read_bytes()
    assert "1 invalid graphs were skipped" in skipped.stderr
    assert manifest(tmp_path / "out")["totals"]["skipped"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--engine", "local"), "name their folder with -o"),
        (("--shard", "3", "-o", "x"), "are for --engine"),
        (("--engine", "local", "--jobs", "2", "-o", "x"), "--jobs is for one machine"),
        (("--engine", "local", "--to", "parquet", "-o", "x"), "by one machine"),
    ],
)
def test_contradictions(
    options: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run_cli("convert", SAMPLE / "sample.sdp", "--to", "mrp", *options)
    assert ended.exit_code != 0
    assert message in ended.stderr
    assert not Path("x").exists()


def test_standard_input_has_no_second_time() -> None:
    ended = CliRunner().invoke(
        main, ["convert", "-", "--to", "mrp", "--engine", "local", "-o", "x"], input="x"
    )
    assert ended.exit_code == 2
    assert "standard input is none" in ended.stderr


def test_without_ray_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    ended = run_cli(
        "convert", SAMPLE / "sample.sdp", "--to", "mrp", "--engine", "ray", "-o", tmp_path / "out"
    )
    assert ended.exit_code == 1
    assert ended.stderr.startswith("Error: --engine ray needs Ray Data: pip install")
    assert not (tmp_path / "out").exists()
