"""Every example in README, CONTRIBUTING, docs and package READMEs runs and prints what it says.

Code fences, in the order of the page and in one temporary folder:

* ``console``: lines after ``$`` are run; what follows must be the output (``...`` is anything).
* ``pycon`` and ``python`` with ``>>>``: a doctest.
* ``text NAME``: a file of that name for the examples after it.

``<!-- not run: reason -->`` before a fence leaves it out.
"""

import ast
import dataclasses
import doctest
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GENERATED = (
    "docs/models.md",
    "docs/reference/api.md",
    "docs/reference/cli.md",
    "docs/reference/settings.md",
)
PAGES = sorted(
    path.relative_to(ROOT)
    for pattern in ("*.md", "docs/**/*.md", "packages/*/README.md")
    for path in ROOT.glob(pattern)
    if path.relative_to(ROOT).as_posix() not in GENERATED
)
FENCE = re.compile(
    r"(?P<skip><!-- not run: [^>]+ -->\n)?^```(?P<info>.*)\n(?P<code>(?s:.*?))^```$", re.M
)
SHOWN_ONLY = ("", "text", "json", "toml", "xml", "{toctree}")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _fences(page: Path) -> Iterator[tuple[str, str]]:
    for match in FENCE.finditer((ROOT / page).read_text(encoding="utf-8")):
        if not match["skip"]:
            yield match["info"].strip(), match["code"]


def _commands(code: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console fence with its expected output."""
    for part in re.split(r"^\$ ", code, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        while command.endswith("\\"):
            more, _, output = output.partition("\n")
            command = f"{command}\n{more}"
        yield command, output


def _run(command: str, expected: str, folder: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stderr}"
    if expected.strip():
        same = doctest.OutputChecker().check_output(expected, done.stdout, FLAGS)
        assert same, f"{command} printed\n{done.stdout}"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("docs", "packages", "tests", "tools"):
        (tmp_path / name).symlink_to(ROOT / name)
    names: dict[str, object] = {}
    for info, code in _fences(page):
        language, _, file = info.partition(" ")
        if language == "console":
            for command, expected in _commands(code):
                _run(command, expected, tmp_path)
        elif language in ("pycon", "python"):
            test = doctest.DocTestParser().get_doctest(code, names, str(page), str(page), 0)
            assert test.examples, f"{page}: an example without >>> is not run"
            runner = doctest.DocTestRunner(optionflags=FLAGS)
            runner.run(test, clear_globs=False)
            names.update(test.globs)
            assert not runner.failures, f"{page}: {code}"
        elif file:
            (tmp_path / file).write_text(code, encoding="utf-8")
        else:
            assert language in SHOWN_ONLY, f"{page}: who runs {language!r}?"


def test_the_page_of_settings_explains_each_with_its_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("transducer")
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import docs_pages

    text = docs_pages.settings_page()
    for section, kind in docs_pages.SECTIONS.items():
        part = text.split(f"\n## {section}\n")[1].split("\n## ")[0]
        rows = re.findall(r"^\| `(\w+)` \| `(.*?)` \| (.*) \|$", part, re.M)
        defaults = {field.name: field.default for field in dataclasses.fields(kind)}
        assert {name: ast.literal_eval(value) for name, value, _ in rows} == defaults
        assert [name for name, _, says in rows if not says] == []


def test_the_page_of_the_api_has_every_public_name(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import docs_pages

    asked = set(re.findall(r"^\.\. auto\w+:: (\S+)$", docs_pages.api_page(), re.M))
    for module in docs_pages.MODULES:
        names = docs_pages.public_names(module)
        assert {f"{module}.{name}" for name in names} <= asked
        assert [n for n, value in names.items() if _has_code(value) and not value.__doc__] == []
    assert "evaltools.score" in asked  # which is imported when it is first asked for


def _has_code(value: object) -> bool:
    return inspect.isclass(value) or inspect.isroutine(value)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", re.sub(FENCE, "", text)):
        if target.startswith(("http://", "https://")):
            continue
        place = (ROOT / page).parent / target if target else ROOT / page
        assert place.exists(), f"{page} links to {target}"
        if anchor:
            assert anchor in _anchors(place), f"{page} links to {target}#{anchor}"


def _anchors(page: Path) -> set[str]:
    """Return the names of a page's headings, as Markdown on the web makes them."""
    text = re.sub(FENCE, "", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_anchors_of_headings() -> None:
    assert "8-bit-weights" in _anchors(ROOT / "docs/reference/performance.md")
    assert "8-bits" not in _anchors(ROOT / "docs/reference/performance.md")
