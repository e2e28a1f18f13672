"""docs/paper.md names functions that exist and settings that are settings."""

import dataclasses
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from transducer.config import Config

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([^`]+)`")
HEADER = ["in the paper", "here", "what differs, and why", "setting"]
SWITCHES = [
    "model.anchored", "model.copy_attention", "model.pointer_reach", "model.link_size",
    "model.frame_size", "model.copy_ways", "model.source_candidates", "model.unit_labels",
    "model.contextual_tuned", "train.force_copy", "train.precision",
    "amr.gazetteer",
    "decode.unique_core_roles", "decode.limit_copies", "decode.length_penalty",
]  # fmt: skip
"""What changes the paper's method, and so belongs on the page."""


def rows() -> list[list[str]]:
    """Return the cells of all tables."""
    lines = [line for line in TEXT.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def find(path: str) -> Any:
    """Return what a dotted path names: a module, and what is in it."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            found = getattr(found, name)
        return found
    raise AttributeError(path)


def test_every_table_has_four_columns() -> None:
    tables = [row for row in rows() if row == HEADER]
    assert len(tables) == TEXT.count("\n## ")
    assert {len(row) for row in rows()} == {4}


def test_every_function_exists() -> None:
    for row in rows():
        if row != HEADER:
            named = CODE.findall(row[1])
            assert named, row
            for path in named:
                assert callable(find(path)), path


def test_a_wrong_name_is_noticed() -> None:
    with pytest.raises(AttributeError):
        find("transducer.model.network.TransducerModel.no_such_thing")


def test_every_setting_is_one_and_every_switch_is_named() -> None:
    sections = {
        f.name: getattr(Config("dm"), f.name)
        for f in dataclasses.fields(Config)
        if dataclasses.is_dataclass(getattr(Config("dm"), f.name))
    }
    known = {
        f"{name}.{f.name}"
        for name, section in sections.items()
        for f in dataclasses.fields(section)
    }
    named = {path for row in rows() if row != HEADER for path in CODE.findall(row[3])}
    assert named <= known, named - known
    assert set(SWITCHES) <= named
