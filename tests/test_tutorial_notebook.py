"""The tutorial's notebook runs from top to bottom, in a kernel of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from transducer.encoders.places import look
from transducer.encoders.references import parse_reference

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "docs" / "tutorial.ipynb"
ENCODER = "sentence-transformers/all-mpnet-base-v2"


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The code cells after they ran; a cell that raises fails here."""
    if look(parse_reference(ENCODER)) is None:
        pytest.skip(f"{ENCODER} is not here: transducer fetch {ENCODER}")
    if find_spec("nbclient") is None:
        pytest.skip("nbclient is not installed: pip install nbclient ipykernel")
    target = tmp_path_factory.mktemp("tour") / "done.ipynb"
    command = [sys.executable, str(ROOT / "tools" / "run_notebook.py"), str(NOTEBOOK), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    cells: list[dict[str, Any]] = json.loads(target.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def shown(cells: list[dict[str, Any]], kind: str) -> str:
    found = []
    for cell in cells:
        for output in cell["outputs"]:
            told = (
                output.get("text", "") if kind == "stream" else output.get("data", {}).get(kind, "")
            )
            found.append("".join(told))
    return "\n".join(found)


def test_the_tour_shows_what_it_promises(executed: list[dict[str, Any]]) -> None:
    """Graphs, pictures, a score with its signature, the alignment, a hit, and what came back."""
    told, plain = shown(executed, "stream"), shown(executed, "text/plain")
    assert "# ::snt The boy wants to go." in told
    assert "smatch|" in told
    assert "with scores: True" in told
    assert "'who': 'b'" in plain
    assert plain.rstrip().endswith("True"), "the document comes back from JSON"
    assert shown(executed, "image/svg+xml").count("<svg") >= 2
    assert "<svg" in shown(executed, "text/html")
    assert "below 25%" in shown(executed, "image/svg+xml"), "shades are explained"


def test_the_notebook_is_stored_without_results() -> None:
    """They would be those of a model that has changed since."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) > 5
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in code)


def test_the_notebook_has_all_six_parts() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    headings = [
        line.removeprefix("## ").strip()
        for cell in cells
        for line in cell["source"]
        if line.startswith("## ")
    ]
    assert headings == ["Parse", "Look", "Score", "Compare", "Search", "Export"]
