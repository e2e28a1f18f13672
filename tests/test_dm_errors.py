"""tools/dm_errors.py tells apart what can be wrong with an edge."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from transducer import sample
from transducer.encoders.places import look
from transducer.encoders.references import parse_reference

TOOL = Path(__file__).parents[1] / "tools" / "dm_errors.py"
FOUND = {(-1, 1, ""), (1, 0, "ARG1"), (1, 2, "ARG2"), (3, 2, "BV")}


@pytest.mark.parametrize(
    ("edge", "kind"),
    [
        ((-1, 2, ""), "top"),
        ((1, 2, "ARG3"), "another label"),
        ((0, 1, "ARG1"), "the other direction"),
        ((1, 9, "ARG1"), "a word is left out"),
        ((1, 3, "ARG1"), "another target"),
        ((0, 2, "BV"), "another source"),
        ((0, 3, "conj"), "something else, or nothing"),
    ],
)
def test_missed_edges_are_told_apart(edge: tuple[int, int, str], kind: str) -> None:
    assert runpy.run_path(str(TOOL))["kind"](edge, FOUND) == kind


def test_the_model_that_ships_is_compared_with_its_links() -> None:
    if look(parse_reference("sentence-transformers/all-mpnet-base-v2")) is None:
        pytest.skip("the encoder is not here: transducer fetch")
    command = [sys.executable, str(TOOL), str(sample.path("dm", "test")), "--limit", "5"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "word pairs, decoder" in printed
    assert "word pairs, links" in printed


def test_a_missing_file_is_one_sentence() -> None:
    command = [sys.executable, str(TOOL), "no-such-file.sdp"]
    failed = subprocess.run(command, check=False, capture_output=True, text=True)
    assert failed.returncode == 1
    assert failed.stderr == "Error: no-such-file.sdp: No such file or directory\n"
