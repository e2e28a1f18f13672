"""Break the code in one place after the other, and see whether the tests notice.

``python tools/mutants.py`` copies the tree to a temporary folder, changes one line as
``tools/mutants.toml`` says, runs the tests that should fail then, and tells which changes survive.

The old text of a mutant occurs exactly once below its ``file``, which may be a folder, so that code
can move without any change here. A text that is not there any more is an error.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "tools" / "mutants.toml"
PACKAGES = ("graphconv", "evaltools", "transducer")
SUFFIXES = (".py", ".toml")
LEFT_OUT = (".git", ".nox", ".venv", "__pycache__", ".*_cache", "models", "*.safetensors")
SECONDS = 900
"""Tests that take longer have noticed something: many changes make a loop endless."""


class StaleError(Exception):
    """The old text of a mutant is not where it should be."""


@dataclass(frozen=True)
class Mutant:
    """A change of one line, and the tests that must notice it."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    audit: bool = False
    """One of those that an audit found to survive all tests there were."""


def load(path: Path = TABLE) -> list[Mutant]:
    """Read the table."""
    groups = tomllib.loads(path.read_text(encoding="utf-8"))["group"]
    return [
        Mutant(**{"file": group["file"], "tests": tuple(group["tests"]), **_own(mutant)})
        for group in groups
        for mutant in group["mutant"]
    ]


def _own(mutant: dict[str, object]) -> dict[str, object]:
    return mutant | ({"tests": tuple(mutant["tests"])} if "tests" in mutant else {})  # type: ignore[arg-type]


def read_sources(place: Path) -> dict[Path, str]:
    """Return the text of a file, or of all files below a folder, that a mutant can be in."""
    files = sorted(place.rglob("*")) if place.is_dir() else [place]
    return {
        file: file.read_text(encoding="utf-8")
        for file in files
        if file.suffix in SUFFIXES and file.is_file()
    }


def find(mutant: Mutant, root: Path = ROOT, known: Mapping[Path, str] | None = None) -> Path:
    """Return the file that holds the old text, once; *known* texts need not be read again."""
    place = root / mutant.file
    texts = read_sources(place) if known is None else known
    counts = {
        file: text.count(mutant.old) for file, text in texts.items() if file.is_relative_to(place)
    }
    found = [file for file, count in counts.items() if count]
    times = sum(counts.values())
    if times != 1:
        where = ", ".join(str(file.relative_to(root)) for file in found)
        raise StaleError(
            f"{mutant.name}: {mutant.old!r} occurs {times} times in {mutant.file}"
            + (f" ({where})" if where else "")
        )
    return found[0]


@contextmanager
def applied(mutant: Mutant, root: Path) -> Iterator[Path]:
    """Change the tree for a while."""
    file = find(mutant, root)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        yield file
    finally:
        file.write_text(text, encoding="utf-8")


def copy_tree(target: Path, source: Path = ROOT) -> Path:
    """Copy the tree without models, which no test of a mutant reads."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(*LEFT_OUT))
    return target


def run_tests(root: Path, tests: Sequence[str]) -> int:
    """Run tests of a copy; return pytest's exit code."""
    sources = os.pathsep.join(str(root / "packages" / name / "src") for name in PACKAGES)
    environment = {**os.environ, "PYTHONPATH": sources, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    try:
        return subprocess.run(
            command, cwd=root, env=environment, capture_output=True, timeout=SECONDS, check=False
        ).returncode
    except subprocess.TimeoutExpired:
        return 1


Runner = Callable[[Path, Sequence[str]], int]


def judge(mutant: Mutant, root: Path, run: Runner = run_tests) -> str:
    """Return what becomes of a mutant: killed, survived, or broken where no test ran at all."""
    with applied(mutant, root):
        code = run(root, mutant.tests)
    return {0: "survived", 1: "killed"}.get(code, f"broken (pytest {code})")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "-k", dest="parts", action="append", help="only mutants with this in their name"
    )
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time")
    parser.add_argument("--check", action="store_true", help="only see whether all still apply")
    options = parser.parse_args()
    parts = options.parts or [""]
    mutants = [mutant for mutant in load() if any(part in mutant.name for part in parts)]
    try:
        texts = read_sources(ROOT / "packages")
        for mutant in mutants:
            find(mutant, known=texts)
    except StaleError as error:
        sys.exit(str(error))
    if options.check:
        print(f"{len(mutants)} mutants apply")
        return
    with tempfile.TemporaryDirectory() as folder:
        bad = _judge_all(mutants, Path(folder), options.jobs)
    if bad:
        sys.exit(f"{len(bad)} of {len(mutants)} mutants were not killed: {', '.join(bad)}")
    print(f"all {len(mutants)} mutants were killed")


def _judge_all(mutants: Sequence[Mutant], folder: Path, jobs: int) -> list[str]:
    """Judge each mutant in one of *jobs* copies; return the names of those that live."""
    copies: Queue[Path] = Queue()
    for number in range(jobs):
        copies.put(copy_tree(folder / str(number)))
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    if run_tests(folder / "0", tests):
        sys.exit("the tests fail without any mutant")

    def one(mutant: Mutant) -> str:
        root = copies.get()
        started = time.perf_counter()
        try:
            verdict = judge(mutant, root)
        finally:
            copies.put(root)
        print(f"{verdict:10}{time.perf_counter() - started:6.1f} s  {mutant.name}", flush=True)
        return verdict

    with ThreadPoolExecutor(jobs) as pool:
        verdicts = list(pool.map(one, mutants))
    return [m.name for m, verdict in zip(mutants, verdicts, strict=True) if verdict != "killed"]


if __name__ == "__main__":
    main()
