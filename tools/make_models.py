"""Make a model that ships, from the treebanks alone: ``python tools/make_models.py dm``.

A model is the end of a chain of steps, each of which goes on from models of earlier ones. Steps
that are done are not repeated, and a training that was interrupted goes on, so that the command can
be given again until there is a model. ``--commands`` prints the commands instead.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from string import Formatter

from benchmarks.measure import corpora

from transducer.storage import checkpoint

TASKS = ("ucca", "dm", "amr")
TOOLS = Path(__file__).parent

DATA = {
    "dm": "--train {C}/dm/wescience-train.sdp --train {C}/dm/redwoods-train.sdp"
    " --dev {C}/dm/wescience-dev.sdp",
    "ucca": "--train {C}/ucca/wiki-train --dev {C}/ucca/wiki-dev",
    "amr": "--train {C}/amr/lpp-train.amr --train {C}/amr/bio-train.amr"
    " --train {C}/amr/qald9-train.amr --dev {C}/amr/lpp-dev.amr",
}
"""Training and dev files of a task."""

TWICE = "--train {C}/dm/wescience-train.sdp"
"""What a DM training reads twice: the part that is like the dev section."""

LIKE = "--like {C}/amr/lpp-train.amr --like {C}/amr/bio-train.amr --like {C}/amr/qald9-train.amr"

DIALOGUE = "--train {C}/amr/dialogue-train.amr.gz"
OPEN = (
    f"--train {{C}}/amr/open/open-train.amr.gz {DIALOGUE} --train {{C}}/amr/lpp-train.amr"
    " --train {C}/amr/bio-train.amr --train {C}/amr/qald9-train.amr"
    " --train {C}/amr/scout-train.amr.gz --train {C}/amr/wiki25.amr"
    " --train {C}/amr/propbank-examples.amr --dev {C}/amr/open/open-dev.amr"
)
"""What AMR learns from last: ordinary text, everyday dialogue (twice in the end), and the rest."""

WIDE = "--set train.contextual_from= --set train.batch_tokens=360"
FRAMES = "--set model.copy_ways=other --set amr.frames={C}/propbank/rolesets.tsv.gz"

DEEP = (
    f"train {OPEN} {DIALOGUE} --task amr --recipe large {WIDE} {FRAMES}"
    " --set model.contextual_depth=12 --set train.edge_smoothing=0.1 --set train.link_smoothing=0.1"
)
"""AMR with all layers of MPNet, and less sure of edges and links."""

SURE = "--set train.edge_smoothing=0 --set train.link_smoothing=0"
EIGHT = f"{SURE} --set model.contextual_depth=8 --set model.frame_size=0"
"""DM's settings before edges and links were smoothed, and before it had ten layers and frames."""

TEN = (
    f"train {DATA['dm']} --task dm --recipe large {SURE} --set train.start_from={{dm-eight}}"
    " --set train.schedule=constant --set train.epochs=1"
)

STEPS = {
    "dm-first": f"train {DATA['dm']} {TWICE} --task dm --recipe tuned",
    "dm-second": f"train {DATA['dm']} {TWICE} --task dm --recipe tuned"
    " --set train.start_from={dm-first} --set train.epochs=2 --set train.learning_rate=0.0006"
    " --set train.contextual_rate=0.0001 --set model.dropout=0.33",
    "dm-tuned": f"train {DATA['dm']} {TWICE} --task dm --recipe tuned"
    " --set train.start_from={dm-second} --set train.epochs=5 --set train.learning_rate=0.0008"
    " --set train.contextual_rate=0.00013 --set model.dropout=0.4"
    " --set train.subword_dropout=0.03",
    "dm-large": f"train {DATA['dm']} {TWICE} --task dm --recipe large {EIGHT}"
    " --set train.start_from={dm-tuned} --set model.dropout=0.4 --set train.accumulate=2",
    "dm-eight": f"train {DATA['dm']} {TWICE} --task dm --recipe large {EIGHT}"
    " --set train.start_from={dm-large} --set train.updates=4854 --seed 2",
    "dm-ten-1": f"{TEN} --seed 2",
    "dm-ten-2": f"{TEN} --set train.subword_dropout=0.1 --seed 3",
    "dm-ten": "average {dm-ten-1} {dm-ten-2}",
    "dm-smooth-1": f"train {DATA['dm']} {TWICE} --task dm --recipe large"
    " --set train.start_from={dm-ten} --set train.link_smoothing=0 --set train.updates=2716"
    " --seed 5",
    "dm-smooth": "average {dm-smooth-1} {dm-smooth-1}/last",
    "dm-links": f"train {DATA['dm']} {TWICE} --task dm --recipe large"
    " --set train.start_from={dm-smooth} --set train.updates=1808 --seed 21",
    "dm": "average {dm-links} {dm-smooth}",
    "ucca-tuned": f"train {DATA['ucca']} --task ucca --recipe tuned"
    " --set train.contextual_from={dm-first}",
    "ucca": f"train {DATA['ucca']} --task ucca --recipe large"
    " --set train.start_from={ucca-tuned} --set train.contextual_from={dm-large}",
    "silver-wescience": f"amrize --longest 30 {LIKE} {{C}}/dm/wescience-train.sdp",
    "silver-redwoods": f"amrize --longest 30 {LIKE} {{C}}/dm/redwoods-train.sdp",
    "amr-silver": f"train {DATA['amr']} --train {{silver-wescience}} --train {{silver-redwoods}}"
    " --task amr --recipe tuned-silver --set train.contextual_from={dm-first}",
    "amr-tuned": f"train {DATA['amr']} --task amr --recipe tuned"
    " --set train.start_from={amr-silver} --seed 2",
    "amr-large": f"train {DATA['amr']} --task amr --recipe large"
    " --set train.start_from={amr-tuned} --set train.contextual_from={dm-large}",
    "amr-open": f"train {OPEN} --task amr --recipe large {WIDE}"
    " --set train.start_from={amr-large} --set train.epochs=12 --set train.evaluate_from=12",
    "amr-words": f"train {OPEN} {DIALOGUE} --task amr --recipe large {WIDE} {FRAMES}"
    " --set train.start_from={amr-open} --set train.epochs=30 --set train.evaluate_from=30"
    " --set train.updates=2205 --set train.learning_rate=0.0006"
    " --set train.contextual_rate=0.0004 --seed 2",
    "amr-deep": f"{DEEP} --set train.start_from={{amr-words}} --set train.epochs=12"
    " --set train.evaluate_from=12 --set train.learning_rate=0.0007"
    " --set train.contextual_rate=0.0005 --seed 3",
    "amr": f"{DEEP} --set train.start_from={{amr-deep}} --set train.epochs=6"
    " --set train.evaluate_from=6 --set train.updates=1500 --set train.learning_rate=0.0005"
    " --set train.contextual_rate=0.0004 --seed 4",
}
"""What makes each model, and the silver graphs that AMR learns from first. Names in braces are
other steps, which come before; {C} is the folder of the treebanks."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--corpora", type=Path, default=corpora(), help="default: %(default)s")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="default: %(default)s")
    parser.add_argument("--commands", action="store_true", help="print the commands and stop")
    arguments = parser.parse_args()
    if not (arguments.commands or arguments.corpora.is_dir()):
        sys.exit(f"Error: {arguments.corpora} is no folder: --corpora names that of the treebanks")
    for name in order(arguments.task):
        command = command_of(name, arguments.runs, arguments.corpora)
        if arguments.commands:
            print(shlex.join(command))
        else:
            make(arguments.runs / name, command)


def order(name: str) -> list[str]:
    """Return the steps that lead to a model, in the order in which they are made, itself last."""
    steps: dict[str, None] = {}
    for _, needed, _, _ in Formatter().parse(STEPS[name]):
        if needed in STEPS:
            steps |= dict.fromkeys(order(needed))
    return [*steps, name]


def command_of(name: str, runs: Path, folder: Path) -> list[str]:
    """Return the command of a step, which writes to the folder or file of its name in *runs*."""
    places: Mapping[str, object] = {"C": folder} | {step: runs / step for step in STEPS}
    # Split first: a folder's name may have spaces.
    verb, *rest = (word.format_map(places) for word in shlex.split(STEPS[name]))
    tool = [str(TOOLS / "amrize.py")] if verb == "amrize" else ["-m", "transducer", verb]
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
