"""Make a model that ships, from the treebanks alone: ``python tools/make_models.py dm``.

A model is the end of a chain of steps, each of which starts from models of earlier ones. Steps
that are done are not repeated, and a training that was interrupted goes on, so that the command can
be given again until there is a model. ``--commands`` prints the commands instead. The steps are in
``tools/models.toml``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

from graphconv.testing import CORPORA
from transducer.storage import checkpoint

TASKS = ("ucca", "dm", "amr")
TOOLS = Path(__file__).parent

MODELS = TOOLS / "models.toml"
"""What makes each model, and the silver graphs that AMR learns from first."""

Step = dict[str, Any]
_TRAINING = {"recipe", "data", "more", "use", "from", "encoder_from", "set", "seed"}
_KEYS = {
    "train": _TRAINING,
    "joint": {"updates"},
    "average": set[str](),
    "tool": {"options", "arguments"},
}
"""What a step of each kind may say."""


class Command(NamedTuple):
    """A command without the place to which it writes, and what it reads from standard input."""

    words: list[str]
    given: str = ""


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
            print(shown(command))
        else:
            make(arguments.runs / name, command)


def shown(command: Command) -> str:
    """Return a command as a shell takes it."""
    words = shlex.join(command.words)
    return f"{words} <<'END'\n{command.given}END" if command.given else words


def read_steps(path: Path = MODELS) -> dict[str, Command]:
    """Return the command of each step.

    Names in braces are other steps, which come before; {C} is the folder of the treebanks, {D} that
    of the project's own data.
    """
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: _command(name, step, tables) for name, step in tables["step"].items()}


def _command(name: str, step: Step, tables: Mapping[str, Any]) -> Command:
    kinds = [kind for kind in _KEYS if kind in step]
    known = _KEYS[kinds[0]] if kinds else set()
    parts = step["joint"].values() if kinds == ["joint"] else ()
    unknown = [*(step.keys() - known - {*kinds})]
    unknown += [key for part in parts for key in part.keys() - _TRAINING - {"weight"}]
    if len(kinds) != 1 or unknown:
        said = sorted(step) if len(kinds) != 1 else unknown
        raise SystemExit(f"Error: {MODELS}: the step {name} has {', '.join(said)}")
    made = _COMMANDS[kinds[0]](step, tables)
    return made if isinstance(made, Command) else Command(made)


def _files(step: Step, tables: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the files to train on, and the dev files."""
    data = tables["data"][step["data"]]
    dev = data["dev"] if isinstance(data["dev"], list) else [data["dev"]]
    return [*data["train"], *step.get("more", ())], dev


def _settings(step: Step, tables: Mapping[str, Any]) -> dict[str, object]:
    settings: dict[str, object] = {}
    for group in step.get("use", ()):
        settings |= tables["settings"][group]
    for key, setting in (("from", "train.start_from"), ("encoder_from", "train.contextual_from")):
        if key in step:
            settings[setting] = f"{{{step[key]}}}"
    settings |= step.get("set", {})
    return settings


def _train(step: Step, tables: Mapping[str, Any]) -> list[str]:
    train, dev = _files(step, tables)
    options = [("--train", file) for file in train] + [("--dev", file) for file in dev]
    options += [("--task", step["train"]), ("--recipe", step["recipe"])]
    options += [("--set", f"{key}={value}") for key, value in _settings(step, tables).items()]
    options += [("--seed", str(step["seed"]))] if "seed" in step else []
    return ["train", *itertools.chain(*options)]


def _joint(step: Step, tables: Mapping[str, Any]) -> Command:
    """Return the command that reads its plan from standard input."""
    lines = [f"updates = {step['updates']}"]
    for task, part in step["joint"].items():
        train, dev = _files(part, tables)
        kept = {key: part[key] for key in ("recipe", "seed", "weight") if key in part}
        lines += [f"[{task}]", *_toml(kept | {"train": train, "dev": dev})]
        lines += [f"[{task}.set]", *_toml(_settings(part, tables))]
    return Command(["joint", "-"], "".join(f"{line}\n" for line in lines))


def _toml(values: Mapping[str, object]) -> list[str]:
    return [f'"{key}" = {json.dumps(value)}' for key, value in values.items()]


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


_COMMANDS: dict[str, Callable[[Step, Mapping[str, Any]], list[str] | Command]] = {
    "train": _train,
    "joint": _joint,
    "average": _average,
    "tool": _tool,
}


def order(name: str, steps: Mapping[str, Command]) -> list[str]:
    """Return the steps that lead to a model, in the order in which they are made, itself last."""
    found: dict[str, None] = {}
    for word in (*steps[name].words, steps[name].given):
        for _, field, _, _ in Formatter().parse(word):
            needed = (field or "").partition("/")[0]
            if needed in steps:
                found |= dict.fromkeys(order(needed, steps))
    return [*found, name]


def command_of(name: str, steps: Mapping[str, Command], runs: Path, folder: Path) -> Command:
    """Return the command of a step, which writes to the folder or file of its name in *runs*."""
    places: dict[str, object] = {step: runs / step for step in steps}
    places |= {"C": folder, "D": TOOLS.parent / "data"}
    verb, *rest = (word.format_map(places) for word in steps[name].words)
    tool = [str(TOOLS / verb)] if verb.endswith(".py") else ["-m", "transducer", verb]
    words = [sys.executable, *tool, *rest, "-o", str(runs / name)]
    return Command(words, steps[name].given.format_map(places))


def make(output: Path, command: Command) -> None:
    """Run a step, unless it is done; a training that was interrupted goes on."""
    done = output.with_name(f"{output.name}.done")
    if done.exists():
        return
    resumed = [verb for verb, last in _RESUMED.items() if list(output.glob(last))]
    if resumed:
        words = [sys.executable, "-m", "transducer", resumed[0], "--resume", str(output)]
        command = Command(words)
    elif output.is_dir():  # what ended before its first checkpoint begins anew
        command = command._replace(words=[*command.words, "--overwrite"])
    print(shown(command), file=sys.stderr)
    output.parent.mkdir(parents=True, exist_ok=True)
    given = command.given or None
    status = subprocess.run(command.words, check=False, text=True, input=given).returncode
    if status:
        sys.exit(status)
    done.touch()


_RESUMED = {"train": checkpoint.LAST, "joint": f"*/{checkpoint.LAST}"}
"""Which command goes on with what it left in its folder."""


if __name__ == "__main__":
    main()
