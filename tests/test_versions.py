"""Lock-step versions: three packages, their pins on one another, and the changelog agree."""

import re
import tomllib
from pathlib import Path
from typing import Any

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
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert headings[0] == "Unreleased" or headings[0].startswith(_project("graphconv")["version"])


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
