"""Write requirements-hashed.txt: what `requirements.txt` installs, with the SHA-256 of every file.

``python tools/hashes.py`` asks pip's package index for the files of each pinned version, so that
``pip install --require-hashes`` refuses anything else. Run it after `nox -s pin`; ``--check`` only
says whether the file still has the versions of constraints.txt.
"""

from __future__ import annotations

import argparse
import re
import sys
import urllib.request
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import environment

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "requirements-hashed.txt"
HEADER = """\
# What requirements.txt installs, with hashes; made by `python tools/hashes.py`. Our own packages
# are on no index: build them (`nox -s build`) and install them after these with --no-deps.
"""
INDEX = "https://pypi.org/simple"
CPU_BUILDS = {"torch": "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"}
"""On Linux torch's files at the package index want gigabytes of CUDA; the CPU build, here that for
Python 3.11, is at PyTorch's own index (``--extra-index-url``)."""


class Links(HTMLParser):
    """The files of a project: names and SHA-256, as the index's page lists them."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: D102
        link = dict(attrs).get("href") or ""
        found = re.fullmatch(r".*/([^/#]+)#sha256=([0-9a-f]{64})", link)
        if tag == "a" and found:
            self.files[found[1]] = found[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--index", default=INDEX, help="default: %(default)s")
    arguments = parser.parse_args()
    if arguments.check:
        sys.exit("\n".join(stale(TARGET.read_text(encoding="utf-8"))) or 0)
    entries = [entry(name, version, arguments.index) for name, version in wanted().items()]
    TARGET.write_text(HEADER + "".join(entries), encoding="utf-8")


def wanted() -> dict[str, str]:
    """Return the versions of what requirements.txt installs, but for what every venv has."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    pinned = environment.pins((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    return {name: pinned[name] for name in environment.reasons(text) if name in pinned}


def entry(name: str, version: str, index: str) -> str:
    """Return the lines of one package: its version, and the hashes of all files of that version."""
    links = Links()
    with urllib.request.urlopen(f"{index}/{name}/", timeout=60) as page:
        links.feed(page.read().decode())
    files = re.compile(rf"[\w.]+?-{re.escape(version)}(?:-.*\.whl|\.tar\.gz|\.zip)")
    build = CPU_BUILDS.get(name)
    found = sorted(
        digest
        for file, digest in links.files.items()
        if files.fullmatch(file) and not (build and "linux" in file)
    )
    if not found:
        sys.exit(f"Error: the index has no file of {name} {version}")
    found += [build] if build else []
    return f"{name}=={version}" + "".join(f" \\\n    --hash=sha256:{h}" for h in found) + "\n"


def stale(text: str) -> Iterator[str]:
    """Yield a sentence for each package that is not in the file as constraints.txt has it."""
    written = dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE))
    for name, version in wanted().items():
        if written.get(name) != version:
            yield f"{TARGET.name}: {name} {version} is missing: run `python tools/hashes.py`"


if __name__ == "__main__":
    main()
