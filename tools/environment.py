"""Check what is installed in this environment: pins, licences, reasons, and code that runs unasked.

    python tools/environment.py pinned      everything installed is in constraints.txt, as installed
    python tools/environment.py licences    what `pip install -r requirements.txt` brought is free,
                                            explained in CONTRIBUTING.md, and few

Uses the standard library alone, so that the environment that is judged need hold nothing more.
"""

from __future__ import annotations

import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST = 65
"""Packages that `pip install -r requirements.txt` may bring, pip and our own included."""

OWN = ("arbora-graphconv", "arbora-evaltools", "arbora-transducer")
SEED = ("pip", "setuptools", "wheel")
"""What `python -m venv` itself puts into an environment, in versions of its own."""

SETUPTOOLS_PTH = "distutils-precedence.pth"

# Names as SPDX, classifiers and authors write them.
_FREE = re.compile(
    r"""(?: 0BSD | (?:new\ |modified\ )?BSD\b | MIT\b | ISC\b | Apache\b | PSF\b | Python-2\.0
    | Python\ Software\ Foundation | MPL-2\.0 | Mozilla\ Public\ License\ 2\.0 | BSL-1\.0 | CC0-1\.0
    | CNRI-Python | HPND | LLVM-exception | Unlicense | Zlib )""",
    re.VERBOSE | re.IGNORECASE,
)
_ROW = re.compile(r"^\| `([^`]+)` \| (.+?) \| (.+?) \|$", re.MULTILINE)
_TABLE = "## What gets installed"


def normal(name: str) -> str:
    """Return the name of a package as the index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed() -> dict[str, Distribution]:
    """Return the packages of this environment by their names."""
    return {normal(found.name): found for found in distributions()}


def pins(text: str) -> dict[str, str]:
    """Return the versions that a constraints file names."""
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    parts = (line.partition("==") for line in lines if line)
    return {normal(name): version for name, _, version in parts}


def unpinned(found: Mapping[str, str], pinned: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each package that is not pinned, or not as it is pinned."""
    for name, version in sorted(found.items()):
        if name in OWN or name in SEED:
            continue
        if name not in pinned:
            yield f"{name} {version} is installed, but not in constraints.txt: run `nox -s pin`"
        elif public(version) != pinned[name]:
            yield f"{name} {version} is installed, but constraints.txt has {pinned[name]}"


def public(version: str) -> str:
    """Return a version without its local part: 2.13.0+cpu is a build of 2.13.0."""
    return version.partition("+")[0]


_MIT = (
    "Permission is hereby granted, free of charge, to any person obtaining a copy of this software",
    'THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND',
)


def licence(package: Distribution) -> str:
    """Return what a package says of its licence: expression, classifiers or the first line."""
    metadata = package.metadata.json
    classifiers = [
        line.rpartition(" :: ")[2]
        for line in metadata.get("classifier", [])
        if line.startswith("License :: ") and line != "License :: OSI Approved"
    ]
    said = str(metadata.get("license_expression") or "") or " AND ".join(classifiers)
    if not said:
        lines = str(metadata.get("license") or "").strip().splitlines()
        said = lines[0] if lines else ""
    return said or text_licence(package) or "unknown"


def text_licence(package: Distribution) -> str:
    """Return the licence whose text a package carries without naming it: MIT's, or none."""
    for name in package.metadata.get_all("License-File") or []:
        text = package.read_text(f"licenses/{name}") or package.read_text(name) or ""
        words = " ".join(text.split())
        if _MIT[0] in words and _MIT[1] in words:
            return "MIT"
    return ""


def is_free(said: str) -> bool:
    """Say whether a licence lets everybody use, change and sell: no GPL, nothing unknown.

    >>> [is_free(said) for said in ("Apache-2.0 OR GPL-3.0", "MIT AND GPL-3.0", "unknown")]
    [True, False, False]
    """
    choices = re.split(r"\s+OR\s+", re.sub(r"[()]", " ", said))
    return any(
        all(_FREE.match(term.strip()) for term in re.split(r"\s+(?:AND|WITH)\s+", choice))
        for choice in choices
    )


def code_at_start(folder: Path) -> Iterator[str]:
    """Yield a sentence for each ``.pth`` file that runs code whenever Python starts."""
    for path in sorted(folder.glob("*.pth")):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        if path.name != SETUPTOOLS_PTH and any(re.match(r"import[ \t]", line) for line in lines):
            yield f"{path.name} runs code whenever Python starts"


def reasons(text: str) -> dict[str, tuple[str, str]]:
    """Return the table of CONTRIBUTING.md: package -> who needs it, what for."""
    _, _, section = text.partition(_TABLE)
    section = section.partition("\n## ")[0]
    return {normal(name): (normal(by), why) for name, by, why in _ROW.findall(section)}


def requirers(packages: Iterable[Distribution]) -> dict[str, set[str]]:
    """Return for each package the installed ones that name it among their requirements."""
    found: dict[str, set[str]] = {}
    for package in packages:
        for line in package.requires or ():
            required = re.match(r"[\w.-]+", line)
            assert required, line
            found.setdefault(normal(required[0]), set()).add(normal(package.name))
    return found


def unexplained(
    packages: Mapping[str, Distribution], table: Mapping[str, tuple[str, str]]
) -> Iterator[str]:
    """Yield a sentence for each difference between what is installed and the table."""
    wanted = requirers(packages.values())
    for name in sorted({*packages, *table} - {*OWN, "pip"}):
        if name not in table:
            yield f"{name} is installed, but CONTRIBUTING.md does not say why"
        elif name not in packages:
            yield f"{name} is in the table of CONTRIBUTING.md, but not installed"
        elif not {table[name][0], f"arbora-{table[name][0]}"} & wanted.get(name, set()):
            yield f"CONTRIBUTING.md says that {table[name][0]} needs {name}, which does not say so"


def restricted(packages: Mapping[str, Distribution]) -> Iterator[str]:
    """Yield a sentence for each package whose licence is unknown or asks for more than ours."""
    for name, package in sorted(packages.items()):
        said = licence(package)
        if not is_free(said):
            yield f"{name}: its licence is {said}"


def check_pinned() -> Iterator[str]:
    """Yield what is wrong with the versions in this environment."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    versions = {name: package.version for name, package in installed().items()}
    yield from unpinned(versions, pins(text))


def check_licences() -> Iterator[str]:
    """Yield what is wrong with what requirements.txt brought into this environment."""
    packages = installed()
    if len(packages) > MOST:
        yield f"{len(packages)} packages are installed, and {MOST} is the most"
    yield from restricted(packages)
    yield from code_at_start(Path(sysconfig.get_path("purelib")))
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    yield from unexplained(packages, reasons(text))


CHECKS = {"pinned": check_pinned, "licences": check_licences}


def main(names: list[str]) -> int:
    """Run the checks of those names; print what they find."""
    if not names or not set(names) <= set(CHECKS):
        print(__doc__, file=sys.stderr)
        return 2
    problems = [problem for name in names for problem in CHECKS[name]()]
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"{len(installed())} packages: {', '.join(names)} as it should be")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
