"""Make a model that ships, from the treebanks alone: ``python tools/make_models.py dm``.

A model is the end of a chain of steps, each of which starts from models of earlier ones. Steps
that are done are not repeated, and a training that was interrupted goes on, so that the command can
be given again until there is a model. ``--commands`` prints the commands instead. The steps are in
``tools/models.toml``.
"""

from __future__ import annotations

import argparse
import itertools
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from string import Formatter
from typing import Any

from graphconv.testing import CORPORA
from transducer.storage import checkpoint

TASKS = ("ucca", "dm", "amr")
TOOLS = Path(__file__).parent

MODELS = TOOLS / "models.toml"
"""What makes each model, and the silver graphs that AMR learns from first."""

Step = dict[str, Any]
_KEYS = {
    "train": {"recipe", "data", "more", "use", "from", "encoder_from", "set", "seed"},
    "average": set[str](),
    "tool": {"options", "arguments"},
}
"""What a step of each kind may say."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--corpora", type=Path, default=CORPORA, help="default: %(default)s")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="default: %(default)s")
    parser.add_argument("--commands", action="store_true", help="print the commands and stop")
    arguments = parser.parse_args()
    if not (arguments.commands or arguments.corpora.is_dir()):
        sys.exit(f"Error: {arguments.corpora} is no folder: --corpora names that of the treebanks")
    steps = read_steps()
    for name in order(arguments.task, steps):
        command = command_of(name, steps, arguments.runs, arguments.corpora)
        if arguments.commands:
            print(shlex.join(command))
        else:
            make(arguments.runs / name, command)


def read_steps(path: Path = MODELS) -> dict[str, list[str]]:
    """Return the command of each step, without the folder to which it writes.

    Names in braces are other steps, which come before; {C} is the folder of the treebanks, {D} that
    of the project's own data.
    """
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: _words(name, step, tables) for name, step in tables["step"].items()}


def _words(name: str, step: Step, tables: Mapping[str, Any]) -> list[str]:
    kinds = [kind for kind in _KEYS if kind in step]
    unknown = step.keys() - {*kinds, *(_KEYS[kinds[0]] if kinds else ())}
    if len(kinds) != 1 or unknown:
        raise SystemExit(f"Error: {MODELS}: the step {name} has {', '.join(sorted(step))}")
    return _COMMANDS[kinds[0]](step, tables)


def _train(step: Step, tables: Mapping[str, Any]) -> list[str]:
    data = tables["data"][step["data"]]
    files = [("--train", file) for file in data["train"]] + [("--dev", data["dev"])]
    files += [("--train", file) for file in step.get("more", ())]
    settings: dict[str, object] = {}
    for group in step.get("use", ()):
        settings |= tables["settings"][group]
    for key, setting in (("from", "train.start_from"), ("encoder_from", "train.contextual_from")):
        if key in step:
            settings[setting] = f"{{{step[key]}}}"
    settings |= step.get("set", {})
    options = [*files, ("--task", step["train"]), ("--recipe", step["recipe"])]
    options += [("--set", f"{key}={value}") for key, value in settings.items()]
    options += [("--seed", str(step["seed"]))] if "seed" in step else []
    return ["train", *itertools.chain(*options)]


def _average(step: Step, tables: Mapping[str, Any]) -> list[str]:
    del tables
    return ["average", *step["average"]]


def _tool(step: Step, tables: Mapping[str, Any]) -> list[str]:
    del tables
    words = [f"{step['tool']}.py"]
    for option, value in step.get("options", {}).items():
        values = value if isinstance(value, list) else [value]
        words += [word for value in values for word in (f"--{option}", str(value))]
    return [*words, *step.get("arguments", ())]


_COMMANDS: dict[str, Callable[[Step, Mapping[str, Any]], list[str]]] = {
    "train": _train,
    "average": _average,
    "tool": _tool,
}


def order(name: str, steps: Mapping[str, list[str]]) -> list[str]:
    """Return the steps that lead to a model, in the order in which they are made, itself last."""
    found: dict[str, None] = {}
    for word in steps[name]:
        for _, needed, _, _ in Formatter().parse(word):
            if needed and needed in steps:
                found |= dict.fromkeys(order(needed, steps))
    return [*found, name]


def command_of(name: str, steps: Mapping[str, list[str]], runs: Path, folder: Path) -> list[str]:
    """Return the command of a step, which writes to the folder or file of its name in *runs*."""
    places: dict[str, object] = {step: runs / step for step in steps}
    places |= {"C": folder, "D": TOOLS.parent / "data"}
    verb, *rest = (word.format_map(places) for word in steps[name])
    tool = [str(TOOLS / verb)] if verb.endswith(".py") else ["-m", "transducer", verb]
    return [sys.executable, *tool, *rest, "-o", str(runs / name)]


def make(output: Path, command: list[str]) -> None:
    """Run a step, unless it is done; a training that was interrupted goes on."""
    done = output.with_name(f"{output.name}.done")
    if done.exists():
        return
    if (output / checkpoint.LAST).exists():
        command = [sys.executable, "-m", "transducer", "train", "--resume", str(output)]
    elif output.is_dir():  # what ended before its first checkpoint begins anew
        command = [*command, "--overwrite"]
    print(shlex.join(command), file=sys.stderr)
    output.parent.mkdir(parents=True, exist_ok=True)
    status = subprocess.run(command, check=False).returncode
    if status:
        sys.exit(status)
    done.touch()


if __name__ == "__main__":
    main()
