"""A short, seeded version of the campaign of `nox -s attack`."""

import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
import attack
from campaign import ends, files, models, mutation

from graphconv import io
from graphconv.frameworks import FRAMEWORKS


def test_damaged_files_have_explained_results() -> None:
    found = attack.campaign(inputs=300, seed=31, jobs=1)
    assert found["unexplained"] == []
    assert found["commands"] == 900
    assert found["exit 1"] > 300  # they are damaged, indeed
    assert found["processes"] == 3


def test_model_folders_have_explained_results(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    found = [each for n in range(12) for each in models.attack(tmp_path, n, 31, counts)]
    assert found == []
    assert counts["model folders: exit 1"] >= 5


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("way", dict.fromkeys(ends.WAYS), ids=lambda way: way.__name__)
def test_sudden_ends_are_explained(
    way: ends.Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ends, "WAYS", (way,))
    counts: Counter[str] = Counter()
    assert list(ends.attack(tmp_path, 1, 31, counts)) == []
    assert counts == {f"ends: {way.__name__}": 1}


def test_a_campaign_is_the_same_in_one_process_and_in_two() -> None:
    one, two = (attack.campaign(inputs=40, seed=2, first=1, jobs=jobs) for jobs in (1, 2))
    measured = {"seconds", "CPU seconds"}
    assert {k: one[k] for k in one.keys() - measured} == {k: two[k] for k in two.keys() - measured}


@pytest.mark.parametrize("change", mutation.MUTATIONS)
def test_mutations_are_seeded_and_change_files(change: mutation.Mutation) -> None:
    for data in mutation.seeds().values():
        made = [change(data, random.Random(seed)) for seed in range(6)]
        assert made == [change(data, random.Random(seed)) for seed in range(6)]
        assert sum(each != data for each in made) >= 3


def test_seeds_hold_every_format() -> None:
    kinds = {name.partition(".")[2] for name in mutation.seeds()}
    frameworks = {name.partition(".")[0] for name in mutation.seeds()}
    assert {*FRAMEWORKS} - frameworks == {"pas", "psd"}  # which are as dm
    assert kinds == {"amr", "sdp", "xml", "mrp", "jsonl", "tsv", "graphml", "conllu"}
    assert len(kinds) == len(io.FORMATS)


@pytest.mark.parametrize(
    ("code", "out", "said", "fault"),
    [
        (0, "labelled all  100.00  100.00  100.00  3  3  3\n", "", ""),
        (0, "labelled all  100.00  100.00  100.50  3  3  3\n", "", "a score above 100"),
        (0, '{"f1": NaN}\n', "", "NaN in a score"),
        (0, '{"NaN": {"f1": 1.0}}\n', "", ""),
        (0, "labelled all  nan  100.00\n", "", "NaN in a score"),
        (1, "", "Error: \x1b[0m\n", "a control character in a message"),
        (1, "", "", "exit 1 without a word"),
        (3, "", "", "exit code 3"),
    ],
)
def test_faults_are_seen(code: int, out: str, said: str, fault: str) -> None:
    class Made:
        exception, exit_code, stdout, stderr = None, code, out, said

    assert files.fault(Made()) == fault


@pytest.mark.parametrize(
    ("code", "written", "left", "said", "fault"),
    [
        (1, b"old", None, b"Error: full\n", ""),
        (0, b"whole", None, b"", ""),
        (0, b"old", None, b"", "neither old nor whole"),
        (1, b"wh", None, b"Error: full\n", "neither old nor whole"),
        (1, None, None, b"Error: full\n", "neither old nor whole"),
        (1, b"old", b"wh", b"Error: full\n", "left behind"),
        (1, b"old", None, b"Traceback (most recent call last)\n", "a traceback"),
        (1, b"old", None, b"one\ntwo\n", "more than one sentence"),
    ],
)
def test_faults_of_ends_are_seen(  # noqa: PLR0917
    code: int, written: bytes | None, left: bytes | None, said: bytes, fault: str, tmp_path: Path
) -> None:
    for name, data in (("out", written), ("out.part", left)):
        if data is not None:
            (tmp_path / name).write_bytes(data)
    run = subprocess.CompletedProcess([], code, b"", said)
    found = ends._fault(tmp_path / "out", b"old", b"whole", run)
    assert fault in found
    assert bool(fault) == bool(found)
