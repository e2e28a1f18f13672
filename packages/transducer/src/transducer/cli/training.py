"""Commands that make models: ``train``, ``joint``, ``average``, ``export``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from graphconv import cliutil
from transducer.cli import shared
from transducer.config import TASKS, load_config, load_recipe, override, recipes
from transducer.distributed import only_main_reports

_bits = click.Choice(["4", "8", "16"])


class _ManyFiles(click.Command):
    """A command whose ``--train`` and ``--dev`` take all files up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say the option again before each further file."""
        given: list[str] = []
        option = ""
        for argument in args:
            is_option = argument.startswith("-") and argument != "-"
            if option and not is_option and given[-1] != option:
                given.append(option)
            given.append(argument)
            if is_option:
                option = argument if argument in ("--train", "--dev") else ""
        return super().parse_args(ctx, given)


@click.command(cls=_ManyFiles)
@click.option("--task", type=click.Choice(TASKS), help="The framework.")
@click.option(
    "--recipe",
    metavar="NAME",
    help=f"One of {', '.join(recipes())}; default: small, and tiny for the sample corpus.",
)
@click.option(
    "--config", "config_file", type=click.Path(exists=True, dir_okay=False), help="A TOML file."
)
@click.option(
    "--train",
    "train_files",
    multiple=True,
    type=cliutil.existing(),
    metavar="F...",
    help="Training files, or folders of them.",
)
@click.option(
    "--dev",
    "dev_files",
    multiple=True,
    type=cliutil.existing(),
    metavar="F...",
    help="Dev files, or folders of them.",
)
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Change one setting.")
@click.option("-o", "--output", metavar="DIR", help="Model directory; default: runs/TASK.")
@click.option(
    "--resume",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Go on where DIR stopped.",
)
@shared.overwrite
@shared.seed
@shared.device
def train(  # noqa: PLR0917 - one parameter per option
    task: str | None,
    recipe: str | None,
    config_file: str | None,
    train_files: tuple[str, ...],
    dev_files: tuple[str, ...],
    settings: tuple[str, ...],
    output: str | None,
    resume: str | None,
    *,
    overwrite: bool,
    **options: Any,
) -> None:
    """Train a model.

    Without files it trains on the built-in sample corpus.
    """
    from transducer import console
    from transducer.training import runs

    if recipe and config_file:
        raise click.UsageError("--recipe and --config exclude each other")
    named = task or config_file or (recipe or "").startswith("paper-")
    if resume is None and not named:
        raise click.UsageError("--task is missing")
    with only_main_reports():
        if resume is not None:
            run = runs.load_run(Path(resume), settings)
        else:
            if config_file:
                config = load_config(config_file, task=task)
            else:
                config = load_recipe(recipe or _default_recipe(train_files), task=task)
            config = override(config, settings)
            folder = output or f"runs/{config.task}"
            run = runs.new_run(config, train_files, dev_files, Path(folder), **options)
        runs.train(
            run,
            resume=resume is not None,
            overwrite=overwrite,
            on_progress=console.bar(run.config.task),
            on_epoch=console.print_epoch,
            on_note=cliutil.note,
        )


def _default_recipe(train_files: tuple[str, ...]) -> str:
    """Return the recipe of users who name none; say which, how long it takes, what is better."""
    if not train_files:
        return "tiny"
    minutes = load_recipe("small", task=TASKS[0]).train.minutes
    cliutil.note(
        f"recipe small: at most {minutes:g} minutes of training; --recipe tuned takes longer and "
        "parses better (docs/guides/train.md)"
    )
    return "small"


@click.command()
@click.argument("plan", required=False, type=click.Path(dir_okay=False))
@click.option("-o", "--output", metavar="DIR", default="runs/joint", show_default=True)
@click.option(
    "--resume",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Go on where DIR stopped.",
)
@shared.overwrite
@shared.device
def joint(
    plan: str | None, output: str, resume: str | None, device: str, *, overwrite: bool
) -> None:
    """Train models of several frameworks in turn, with one contextual encoder.

    PLAN is a TOML file (-: standard input): `updates`, and for each task a table with `recipe`,
    `train`, `dev`, `set`, `seed` and `weight`. DIR gets a model directory for each task.
    """
    from transducer import console
    from transducer.training.joint import Plan, load_runs, read_plan, train_together

    if (plan is None) == (resume is None):
        raise click.UsageError("say either PLAN or --resume DIR")
    with only_main_reports():
        trained = (
            Plan(load_runs(Path(resume)), [])
            if resume
            else read_plan(str(plan), Path(output), device)
        )
        train_together(
            trained.runs,
            trained.weights,
            resume=resume is not None,
            overwrite=overwrite,
            on_epoch=console.print_epoch_of,
            on_note=cliutil.note,
        )


@click.command()
@click.argument(
    "models",
    metavar="MODEL...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, file_okay=False),
)
@click.option("-o", "--output", required=True, metavar="DIR", help="The folder to write.")
@shared.overwrite
def average(models: tuple[str, ...], output: str, *, overwrite: bool) -> None:
    """Write the mean of the weights of models that started from the same one."""
    from transducer.training.average import average as average_models

    average_models([Path(model) for model in models], Path(output), overwrite=overwrite)


@click.command()
@click.argument("model", metavar="MODEL", type=click.Path(exists=True, file_okay=False))
@click.option("-o", "--output", required=True, metavar="DIR", help="The folder to write.")
@shared.overwrite
@click.option("--bits", type=_bits, default="8", show_default=True, help="Bits per weight.")
@click.option(
    "--tuned-bits",
    type=_bits,
    default="8",
    show_default=True,
    help="The same for what tuning changed in the contextual encoder.",
)
@click.option(
    "--share-encoder",
    is_flag=True,
    help="Keep the fine-tuned layers of the contextual encoder in a file beside DIR, once for all "
    "models that have them; the deepest is exported first.",
)
@click.option(
    "--about",
    type=click.Path(exists=True, dir_okay=False),
    metavar="F",
    help="Add a model card; F.toml says title, data and licences.",
)
@click.option(
    "--gold", multiple=True, type=cliutil.existing(), metavar="F", help="Score on these files."
)
@click.option(
    "--beam",
    "beams",
    multiple=True,
    type=click.IntRange(1),
    default=(1,),
    metavar="K",
    help="Beam sizes to score with; default: greedy.",
)
def export(  # noqa: PLR0917 - one parameter per option
    model: str,
    output: str,
    bits: str,
    tuned_bits: str,
    about: str | None,
    gold: tuple[str, ...],
    beams: tuple[int, ...],
    *,
    share_encoder: bool,
    overwrite: bool,
) -> None:
    """Write a trained model in few bits, as it ships: nothing but what parsing needs."""
    from transducer.parsing.report import measure
    from transducer.storage.cards import model_size, read_about
    from transducer.storage.export import add_card
    from transducer.storage.export import export as export_model

    if about and not gold:
        raise click.UsageError("a card has scores: --gold F is missing")
    said = read_about(Path(about)) if about else None
    run, folder = Path(model), Path(output)
    width = {"bits": int(bits), "tuned_bits": int(tuned_bits)}
    export_model(run, folder, **width, share_encoder=share_encoder, overwrite=overwrite)
    scores = measure(folder, gold, beams)
    if scores:
        rows: list[tuple[object, ...]] = [("file", "graphs", "beam", "F1")]
        click.echo(cliutil.table([*rows, *((s.gold, s.graphs, s.beam, s.f1) for s in scores)]))
    if said is not None:
        add_card(run, folder, said, scores, **width)
    cliutil.note(f"{folder}: {model_size(folder) / 1e6:.1f} MB")
