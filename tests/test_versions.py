"""Lock-step versions: three packages, their pins on one another, and the changelog agree."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NAMES = ("graphconv", "evaltools", "transducer")


def _project(name: str) -> dict[str, Any]:
    text = (ROOT / "packages" / name / "pyproject.toml").read_text(encoding="utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    return project


def test_versions_are_equal_and_pins_match() -> None:
    versions = {_project(name)["version"] for name in NAMES}
    assert len(versions) == 1
    version = versions.pop()
    for name in NAMES:
        ours = [d for d in _project(name)["dependencies"] if d.startswith("arbora-")]
        assert all(dependency.endswith(f"=={version}") for dependency in ours)


def test_packages_depend_in_one_direction() -> None:
    depends = {
        name: {d.partition("==")[0].removeprefix("arbora-") for d in _project(name)["dependencies"]}
        for name in NAMES
    }
    assert {name: depends[name] & {*NAMES} for name in NAMES} == {
        "graphconv": set(),
        "evaltools": {"graphconv"},
        "transducer": {"graphconv", "evaltools"},
    }


def test_changelog_has_the_version_or_says_unreleased() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert not changelog_problem(text, _project("graphconv")["version"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# C\n## Unreleased\n- new\n## 0.1.0 (2026)\n- old", ""),
        ("# C\n## 0.1.0 (2026)\n- old", ""),
        ("# C\n## Unreleased\n- the first version", ""),
        ("# C\n## Unreleased\n- new\n## 0.2.0\n- old", "the newest release is not 0.1.0"),
        ("# C\n## 0.1.1\n- new", "the newest release is not 0.1.0"),
        ("# C\n## Unreleased\n## 0.1.0\n- old", "Unreleased says nothing"),
        ("# C\n## 0.1.0\n- old\n## Unreleased\n- new", "Unreleased is not on top"),
    ],
)
def test_a_changelog_that_does_not_fit_is_noticed(text: str, problem: str) -> None:
    assert changelog_problem(text, "0.1.0") == problem


def changelog_problem(text: str, version: str) -> str:
    """Return what is wrong with a changelog: the newest release has the packages' version."""
    sections = re.split(r"^## ", text, flags=re.M)[1:]
    headings = [section.partition("\n")[0].strip() for section in sections]
    if "Unreleased" in headings[1:]:
        return "Unreleased is not on top"
    if headings[0] == "Unreleased":
        if "\n- " not in sections[0]:
            return "Unreleased says nothing"
        headings = headings[1:]
    if headings and headings[0].split()[0] != version:
        return f"the newest release is not {version}"
    return ""


def test_every_dependency_is_pinned() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {_normal(line.partition("==")[0]) for line in lines if not line.startswith("#")}
    for name in NAMES:
        project = _project(name)
        extras = [d for extra in project.get("optional-dependencies", {}).values() for d in extra]
        for dependency in (*project["dependencies"], *extras):
            required = _normal(re.split(r"[\[<>=!~ ;]", dependency)[0])
            assert required.startswith("arbora-") or required in pinned, dependency


def test_torch_is_pinned_to_the_supported_series() -> None:
    assert "\ntorch==2.13.0\n" in (ROOT / "constraints.txt").read_text(encoding="utf-8")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
