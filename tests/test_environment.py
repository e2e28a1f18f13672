"""The checks of what is installed, the lower bounds, and what happens without an extra."""

import importlib.util
import re
import sys
import tomllib
from dataclasses import replace
from email.message import Message
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path

import pytest
from click.testing import CliRunner

import graphconv
from transducer.cli import main

ROOT = Path(__file__).parents[1]
OWN = "arbora-graphconv"
sys.path.insert(0, str(ROOT / "tools"))
import check_models  # noqa: E402 - scripts beside the packages
import environment  # noqa: E402
import hashes  # noqa: E402


def package(folder: Path, name: str, **fields: str | list[str]) -> Distribution:
    """Make a distribution that says of itself what *fields* say."""
    message = Message()
    for key, value in {"Metadata-Version": "2.4", "Name": name, "Version": "1", **fields}.items():
        for item in [value] if isinstance(value, str) else value:
            message[key.replace("_", "-")] = item
    home = folder / f"{name}-1.dist-info"
    home.mkdir()
    (home / "METADATA").write_text(message.as_string(), encoding="utf-8")
    return PathDistribution(home)


def test_what_is_not_pinned_is_told() -> None:
    pinned = environment.pins("# made by a tool\ntorch==2.13.0\nPy_YAML==6\n")
    found = {"torch": "2.13.0+cpu", "py-yaml": "5", "stranger": "1", "pip": "9", OWN: "0"}
    assert list(environment.unpinned(found, pinned)) == [
        "py-yaml 5 is installed, but constraints.txt has 6",
        "stranger 1 is installed, but not in constraints.txt: run `nox -s pin`",
    ]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"License_Expression": "MIT"}, ""),
        ({"License_Expression": "Apache-2.0 OR GPL-3.0-only"}, ""),
        ({"License_Expression": "MIT AND AGPL-3.0-only"}, "MIT AND AGPL-3.0-only"),
        ({"License": "GPLv2"}, "GPLv2"),
        ({"License": "BSD\nand much more"}, ""),
        ({"Classifier": ["License :: OSI Approved :: BSD License"]}, ""),
        (
            {"Classifier": ["License :: OSI Approved :: GNU Affero General Public License v3"]},
            "GNU Affero General Public License v3",
        ),
        ({}, "unknown"),
    ],
)
def test_licences(fields: dict[str, str | list[str]], told: str, tmp_path: Path) -> None:
    found = {"x": package(tmp_path, "x", **fields)}
    assert list(environment.restricted(found)) == ([f"x: its licence is {told}"] if told else [])


def test_code_that_runs_whenever_python_starts(tmp_path: Path) -> None:
    (tmp_path / "_editable.pth").write_text("/some/folder\n", encoding="utf-8")
    (tmp_path / environment.SETUPTOOLS_PTH).write_text("import os; 1", encoding="utf-8")
    assert list(environment.code_at_start(tmp_path)) == []
    (tmp_path / "bad.pth").write_text("# fine\nimport bad; bad.begin()\n", encoding="utf-8")
    assert list(environment.code_at_start(tmp_path)) == ["bad.pth runs code whenever Python starts"]


def test_the_table_is_compared_with_what_is_installed(tmp_path: Path) -> None:
    text = "## What gets installed\n\n| `a` | b | why |\n| `b` | a | why |\n| `gone` | a | why |\n"
    found = {
        "a": package(tmp_path, "a"),
        "b": package(tmp_path, "b", Requires_Dist=["A>=1"]),
        "new": package(tmp_path, "new"),
    }
    assert list(environment.unexplained(found, environment.reasons(text))) == [
        "CONTRIBUTING.md says that a needs b, which does not say so",
        "gone is in the table of CONTRIBUTING.md, but not installed",
        "new is installed, but CONTRIBUTING.md does not say why",
    ]


def test_too_many_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"x": package(tmp_path, "x", License="MIT")}
    monkeypatch.setattr(environment, "installed", lambda: found)
    monkeypatch.setattr(environment, "MOST", 0)
    assert "1 packages are installed, and 0 is the most" in environment.check_licences()


def test_every_package_of_the_table_is_pinned() -> None:
    pinned = environment.pins((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    table = environment.reasons((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert len(table) + len(environment.OWN) + 1 <= environment.MOST
    assert {*table} - {*pinned} - {*environment.SEED} == set()


@pytest.mark.parametrize("name", ["graphconv", "evaltools", "transducer"])
def test_dependencies_have_lower_bounds_only(name: str) -> None:
    text = (ROOT / "packages" / name / "pyproject.toml").read_text(encoding="utf-8")
    declared = [d for d in tomllib.loads(text)["project"]["dependencies"] if "arbora" not in d]
    assert [d for d in declared if not re.fullmatch(r"[\w-]+>=[\d.]+", d)] == []


def test_training_without_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    find = importlib.util.find_spec
    gone = ("accelerate", "matplotlib")
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name in gone else find(name, *a)
    )
    done = CliRunner().invoke(main, ["train", "--task", "dm", "-o", str(tmp_path / "model")])
    assert done.exit_code == 1
    assert done.stderr.strip().endswith(
        "training needs accelerate and matplotlib: pip install 'arbora-transducer[train]'"
    )
    assert not (tmp_path / "model").exists()


def test_the_hashed_requirements_have_the_pinned_versions() -> None:
    text = hashes.TARGET.read_text(encoding="utf-8")
    assert list(hashes.stale(text)) == []
    older = text.replace("\nclick==", "\nclick==0.")
    assert list(hashes.stale(older)) == [
        f"requirements-hashed.txt: click {hashes.wanted()['click']} is missing:"
        " run `python tools/hashes.py`"
    ]


def test_a_changed_parse_is_listed_with_its_score(capsys: pytest.CaptureFixture[str]) -> None:
    stored = list(graphconv.read(check_models.FOLDER / "dm.mrp"))
    assert check_models.compare(stored, stored) == 0
    one, *rest = stored
    changed = replace(one, edges=one.edges[1:], metadata=())
    assert check_models.compare(stored, [changed, *rest]) == 1
    assert "dm 1: changed, F1 with the stored graph" in capsys.readouterr().out
    assert {path.stem for path in check_models.FOLDER.glob("*.mrp")} == set(check_models.TASKS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Permission is hereby granted, free of charge,\nto any person obtaining a copy of this "
            'software.\nTHE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND',
            "MIT",
        ),
        ("Permission is granted to nobody.", "unknown"),
    ],
)
def test_a_licence_that_is_not_named_is_known_by_its_text(
    text: str, expected: str, tmp_path: Path
) -> None:
    folder = tmp_path / "thing-1.0.dist-info"
    (folder / "licenses").mkdir(parents=True)
    (folder / "METADATA").write_text(
        "Metadata-Version: 2.4\nName: thing\nVersion: 1.0\nLicense-File: LICENSE\n"
    )
    (folder / "licenses" / "LICENSE").write_text(text)
    assert environment.licence(Distribution.at(folder)) == expected
