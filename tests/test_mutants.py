"""The mutants that `nox -s mutants` runs: every one still applies, and is judged right."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import mutants  # noqa: E402 - a script beside the packages

TABLE = mutants.load()


def test_the_table_is_large_and_its_names_are_distinct() -> None:
    assert len(TABLE) >= 60
    assert len({mutant.name for mutant in TABLE}) == len(TABLE)
    assert sum(mutant.audit for mutant in TABLE) >= 19


def test_every_mutant_applies_to_one_place_and_is_still_a_program() -> None:
    texts = mutants.read_sources(ROOT / "packages")
    for mutant in TABLE:
        file = mutants.find(mutant, known=texts)
        text = texts[file].replace(mutant.old, mutant.new)
        assert text != texts[file], mutant.name
        if file.suffix == ".py":
            compile(text, str(file), "exec")
        for test in mutant.tests:
            assert (ROOT / test.partition("::")[0]).is_file(), test


def made(old: str = "a + b", new: str = "a - b") -> mutants.Mutant:
    return mutants.Mutant("minus", "code", old, new, ("test_code.py",))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "sum.py").write_text("def add(a, b):\n    return a + b\n")
    (tmp_path / "code" / "notes.txt").write_text("a + b")  # no program
    return tmp_path


@pytest.mark.parametrize(("old", "times"), [("a * b", 0), ("a", 3)])
def test_a_text_that_is_not_there_once_is_an_error(tree: Path, old: str, times: int) -> None:
    with pytest.raises(mutants.StaleError, match=rf"minus: '.*' occurs {times} times in code"):
        mutants.find(made(old), tree)


@pytest.mark.parametrize(
    ("code", "verdict"), [(0, "survived"), (1, "killed"), (5, "broken (pytest 5)")]
)
def test_the_verdict_is_that_of_the_tests(tree: Path, code: int, verdict: str) -> None:
    file = tree / "code" / "sum.py"
    before = file.read_text()
    seen = []

    def run(root: Path, tests: Sequence[str]) -> int:
        seen.append((file.read_text(), root, tests))
        return code

    assert mutants.judge(made(), tree, run) == verdict
    assert seen == [(before.replace("+", "-"), tree, ("test_code.py",))]
    assert file.read_text() == before


def test_real_tests_judge_a_copy(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (tree / "test_code.py").write_text(
        "import sys\nsys.path.insert(0, 'code')\nfrom sum import add\n\n"
        "def test_add():\n    assert add(1, 0) == 1\n"
    )
    copy = mutants.copy_tree(tmp_path_factory.mktemp("copies") / "0", tree)
    assert mutants.judge(made(new="b - a"), copy) == "killed"
    assert (tree / "code" / "sum.py").read_text() == (copy / "code" / "sum.py").read_text()
