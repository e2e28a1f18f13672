"""A short, seeded version of the campaign of `nox -s attack`."""

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
import attack


def test_damaged_files_have_explained_results() -> None:
    found = attack.campaign(inputs=80, seed=31)
    assert found["unexplained"] == []
    assert found["commands"] == 240
    assert found["exit 1"] > 30  # they are damaged, indeed


@pytest.mark.parametrize("mutation", attack.MUTATIONS)
def test_mutations_are_seeded_and_change_files(mutation: attack.Mutation) -> None:
    for data in attack.seeds().values():
        made = [mutation(data, random.Random(seed)) for seed in range(6)]
        assert made == [mutation(data, random.Random(seed)) for seed in range(6)]
        assert sum(each != data for each in made) >= 3


def test_seeds_hold_every_format() -> None:
    kinds = {name.partition(".")[2] for name in attack.seeds()}
    assert {"amr", "sdp", "xml", "mrp", "jsonl", "tsv"} <= kinds


@pytest.mark.parametrize(
    ("code", "out", "said", "fault"),
    [
        (0, "labelled all  100.00  100.00  100.00  3  3  3\n", "", ""),
        (0, "labelled all  100.00  100.00  100.50  3  3  3\n", "", "a score above 100"),
        (0, '{"f1": NaN}\n', "", "NaN in a score"),
        (1, "", "Error: \x1b[0m\n", "a control character in a message"),
        (1, "", "", "exit 1 without a word"),
        (3, "", "", "exit code 3"),
    ],
)
def test_faults_are_seen(code: int, out: str, said: str, fault: str) -> None:
    class Made:
        exception, exit_code, stdout, stderr = None, code, out, said

    assert attack._fault(Made()) == fault  # type: ignore[arg-type]
