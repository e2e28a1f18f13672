"""Pages of the documentation that the code writes: settings, commands, API, models.

``python tools/docs_pages.py`` writes them below docs/; building the site does it, too. They are not
part of the repository, so that they cannot become untrue.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import click

import evaltools.cli
import graphconv.cli
import transducer.cli
from transducer import config
from transducer.storage.shipped import shipped_cards

DOCS = Path(__file__).parents[1] / "docs"
MODULES = ("graphconv", "graphconv.io", "graphconv.draw", "evaltools", "transducer")
COMMANDS: tuple[ModuleType, ...] = (graphconv.cli, evaltools.cli, transducer.cli)
SECTIONS = {
    "model": config.ModelConfig,
    "train": config.TrainConfig,
    "decode": config.DecodeConfig,
    "amr": config.AmrConfig,
}


def main() -> None:
    write_pages(DOCS)


def write_pages(folder: Path) -> None:
    """Write all pages; one that is as it should be is left alone."""
    pages = {
        "reference/settings.md": settings_page(),
        "reference/cli.md": commands_page(),
        "reference/api.md": api_page(),
        "models.md": models_page(),
    }
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def settings_page() -> str:
    """Return every setting with its default and what its docstring says."""
    lines = [
        "# Settings",
        "",
        "A recipe has these sections; `--set section.name=value` changes one.",
        "",
    ]
    for section, kind in SECTIONS.items():
        lines += [f"## {section}", "", (kind.__doc__ or "").strip(), "", "| setting | default | |"]
        lines += ["|---|---|---|"]
        said = dict(_field_docs(kind))
        for field in dataclasses.fields(kind):
            default = "" if field.default is dataclasses.MISSING else repr(field.default)
            lines.append(f"| `{field.name}` | `{default}` | {_cell(said.get(field.name, ''))} |")
        lines.append("")
    return "\n".join(lines)


def _field_docs(kind: type) -> Iterator[tuple[str, str]]:
    """Yield the docstring below each field of a dataclass."""
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            yield field.target.id, str(text.value.value)


def commands_page() -> str:
    """Return the help of every command."""
    lines = ["# Commands", ""]
    for module in COMMANDS:
        group: Any = module.main
        name = module.__name__.partition(".")[0]
        lines += [f"## {name}", "", _help(group, name)]
        for command in sorted(group.commands):
            lines += [
                f"### {name} {command}",
                "",
                _help(group.commands[command], f"{name} {command}"),
            ]
    return "\n".join(lines)


def _help(command: click.Command, name: str) -> str:
    context = click.Context(command, info_name=name, max_content_width=100)
    return f"```text\n{command.get_help(context)}\n```\n"


def api_page() -> str:
    """Return a page that asks Sphinx for every public name of the packages."""
    lines = ["# Python API", ""]
    for name in MODULES:
        lines += [f"## {name}", "", "```{eval-rst}", f".. automodule:: {name}", "   :noindex:", ""]
        for public, value in public_names(name).items():
            lines += [f".. auto{_kind(value)}:: {name}.{public}", *_options(value), ""]
        lines += ["```", ""]
    return "\n".join(lines)


def public_names(module: str) -> dict[str, Any]:
    """Return what a module has in ``__all__``, also what it imports when it is first asked for."""
    face = importlib.import_module(module)
    return {name: getattr(face, name) for name in face.__all__}


def _kind(value: object) -> str:
    if inspect.isclass(value):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if inspect.isroutine(value) else "data"


def _options(value: object) -> list[str]:
    if inspect.isclass(value):
        return ["   :members:"]
    return [] if inspect.isroutine(value) else ["   :no-value:"]


def models_page() -> str:
    """Return what the cards of the models that ship say."""
    lines = [
        "# Models",
        "",
        "`transducer models` prints this table; each model's card says more.",
        "",
    ]
    for about in (card.about for card in shipped_cards()):
        lines += [f"## {about.title}", "", about.notes.strip(), ""]
        lines += ["| | |", "|---|---|", f"| data | {_cell(about.data)} |"]
        lines += [f"| licence of the data | {_cell(about.data_licence)} |"]
        lines += [f"| licence of the weights | {_cell(about.weights_licence)} |", ""]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    main()
