"""Show that two source trees behave the same: run both, compare what they write byte by byte.

    python tools/same_behaviour.py run TREE FOLDER --sentences 300
    python tools/same_behaviour.py compare FOLDER OTHER

A run parses dev sentences of each framework with the tree's models, greedy and with a beam, scores
and checks them, and makes 20 updates of two recipes; the sample corpus and the weights of the
models are compared as they are. The dev files are those of ``$ARBORA_CORPORA``. Where a model was
replaced between the two trees, ``--models`` names the folder of models that both runs use. Which
model made a graph, and how sure it was, is not compared.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

import graphconv
from graphconv.graph import Graph
from graphconv.testing import CORPORA

_DEV = {"amr": "amr/lpp-dev.amr", "dm": "dm/wescience-dev.sdp", "ucca": "ucca/wiki-dev"}
_SUFFIXES = {"amr": "amr", "dm": "sdp", "ucca": "mrp"}
_PACKAGES = ("graphconv", "evaltools", "transducer")
_SENTENCE_TOKENS = 25
"""Tokens that make a passage of UCCA count as one more sentence."""

_TIMES = ("minutes", "tokens_per_second")
"""Columns of a training's log that no two runs have in common."""

_SIGNATURE = frozenset({"model", "score", "constant_scores"})
"""What a parsed graph says of its making."""

_HASH = re.compile(rb'"[0-9a-f]{64}"')
"""Hashes of files in the record of a score: of a file that says which model made it."""

_UPDATES = ("train.updates=20", "train.minutes=0", "train.evaluate_from=1")
_TRAININGS = {
    "tiny": _UPDATES,
    # All switches beyond the paper, without the encoder that makes an update slow.
    "tuned": (
        *_UPDATES,
        "model.contextual=",
        "model.contextual_tuned=false",
        "train.precision=fp32",
    ),
}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Compare the behaviour of two source trees."""


@main.command()
@click.argument("tree", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--sentences", default=300, show_default=True, help="Dev sentences per framework.")
@click.option("--only", multiple=True, type=click.Choice(["parse", "check", "sample", "train"]))
@click.option(
    "--models",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Parse with amr/, dm/ and ucca/ in this folder.  [default: the tree's own models]",
)
def run(
    tree: Path, folder: Path, sentences: int, only: tuple[str, ...], models: Path | None
) -> None:
    """Write into FOLDER what the code of TREE does."""
    folder.mkdir(parents=True, exist_ok=True)
    models = models or _source(tree) / "models"
    steps: dict[str, Callable[[Path, str, Path, Path], None]] = {
        "parse": partial(_parse, models),
        "check": _check,
        "sample": partial(_sample, models),
        "train": _train,
    }
    with tempfile.TemporaryDirectory() as scratch:
        for framework in _DEV:
            gold = Path(scratch) / f"dev.{_SUFFIXES[framework]}"
            graphconv.write(_some(framework, sentences), str(gold))
            for name, step in steps.items():
                if name in (only or steps):
                    step(tree, framework, gold, folder)


@main.command()
@click.argument("first", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("second", type=click.Path(exists=True, file_okay=False, path_type=Path))
def compare(first: Path, second: Path) -> None:
    """Compare all files of two folders; exit 1 if one differs or is missing."""
    names = sorted({p.name for folder in (first, second) for p in folder.iterdir()})
    different = [name for name in names if _digest(first / name) != _digest(second / name)]
    for name in names:
        click.echo(f"{'DIFFERENT' if name in different else 'same':10}{name}")
    if different or not names:
        sys.exit(1)


def _digest(path: Path) -> str:
    if not path.is_file():
        return ""
    content = path.read_bytes()
    if path.suffix == ".mrp":
        graphs = (json.dumps(_unsigned(json.loads(line))) for line in content.splitlines())
        content = "\n".join(graphs).encode()
    elif path.name.endswith(".score.json"):
        content = _HASH.sub(b"", content)
    return hashlib.sha256(content).hexdigest()


def _unsigned(value: Any) -> Any:
    """Leave out of a graph which model made it, and how sure it was."""
    if isinstance(value, list):
        return [_unsigned(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _unsigned(item) for key, item in value.items() if key not in _SIGNATURE}
    return {key: item for key, item in kept.items() if (key, item) != ("graphconv", {})}


def _some(framework: str, sentences: int) -> Iterator[Graph]:
    """Yield the first graphs of a dev file, as many as have about so many sentences."""
    for graph in graphconv.read(str(CORPORA / _DEV[framework]), framework=framework):
        if sentences <= 0:
            return
        yield graph
        sentences -= 1 + (len(graph.tokens) // _SENTENCE_TOKENS if framework == "ucca" else 0)


def _parse(models: Path, tree: Path, framework: str, gold: Path, folder: Path) -> None:
    """Parse greedily, with every score, and with a beam, and score the latter."""
    greedy = folder / f"{framework}.greedy.jsonl"
    beam = folder / f"{framework}.beam.mrp"
    parse = ("transducer", "parse", "--model", str(models / framework))
    _call(tree, *parse, str(gold), "--beam", "1", "--scores", "-o", str(greedy))
    _call(tree, *parse, str(gold), "--beam", "5", "--to", "mrp", "-o", str(beam))
    score = _call(tree, "evaltools", "score", str(gold), str(beam), "--format", "json")
    # The record names the files, which are not in the same place twice.
    text = score.replace(str(gold), gold.name).replace(str(beam), beam.name)
    (folder / f"{framework}.score.json").write_text(text, encoding="utf-8")


def _source(tree: Path) -> Path:
    return tree.resolve() / "packages/transducer/src/transducer"


def _check(tree: Path, framework: str, gold: Path, folder: Path) -> None:
    """Convert there and back, and show the trees and relations in between."""
    told = _call(tree, "graphconv", "check", str(gold)).replace(str(gold), gold.name)
    (folder / f"{framework}.check.txt").write_text(told, encoding="utf-8")
    for command in ("to-arborescence", "relations", "stats"):
        written = _call(tree, "graphconv", command, str(gold)).replace(str(gold), gold.name)
        (folder / f"{framework}.{command}.txt").write_text(written, encoding="utf-8")


def _sample(models: Path, tree: Path, framework: str, gold: Path, folder: Path) -> None:
    """Copy the sample corpus, and what the weights of the model are."""
    del gold
    for path in sorted((_source(tree) / "sample").glob(f"*.{framework}*.gz")):
        (folder / f"sample.{path.name}").write_bytes(path.read_bytes())
    weights = _digest(models / framework / "model.safetensors")
    (folder / f"{framework}.weights.sha256").write_text(weights + "\n", encoding="utf-8")


def _train(tree: Path, framework: str, gold: Path, folder: Path) -> None:
    """Make some updates on the sample corpus, and parse its dev section."""
    del gold
    for recipe, settings in _TRAININGS.items():
        with tempfile.TemporaryDirectory() as scratch:
            command = ["train", "--task", framework, "--recipe", recipe, "-o", f"{scratch}/run"]
            for setting in settings:
                command += ["--set", setting]
            _call(tree, "transducer", *command, "--seed", "7", "--device", "cpu")
            run = Path(scratch) / "run"
            name = f"{framework}.{recipe}"
            weights = (run / "model.safetensors").read_bytes()
            (folder / f"{name}.model.safetensors").write_bytes(weights)
            vocabularies = (run / "vocabularies.json").read_bytes()
            (folder / f"{name}.vocabularies.json").write_bytes(vocabularies)
            with (run / "log.csv").open(encoding="utf-8") as file:
                rows = [[row[k] for k in row if k not in _TIMES] for row in csv.DictReader(file)]
            lines = "".join(",".join(row) + "\n" for row in rows)
            (folder / f"{name}.log.csv").write_text(lines, encoding="utf-8")


def _call(tree: Path, package: str, *arguments: str) -> str:
    """Run a command with the code of a tree; return what it says on standard output."""
    sources = [str(tree.resolve() / "packages" / name / "src") for name in _PACKAGES]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sources),
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",  # a tree is only read
    }
    code = f"import sys; from {package}.cli import main; sys.argv[0] = {package!r}; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise click.ClickException(f"{package} {' '.join(arguments)}: {done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    main()
