"""What is done to AMR around a model, step by step: ``preprocess`` and ``postprocess``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from graphconv import cliutil
from transducer.cli import shared

if TYPE_CHECKING:
    from graphconv.graph import Graph
    from transducer.config import AmrConfig
    from transducer.parsing.amr_steps import Process


_tables = shared.all_of(
    click.argument("input_", metavar="IN", type=cliutil.existing()),
    click.option("-o", "--output", default="-", metavar="OUT", help="Default: standard output."),
    click.option("--skip-invalid", is_flag=True, help="Leave out graphs that cannot be read."),
    click.option(
        "--step",
        "steps",
        multiple=True,
        type=click.Choice(["anonymize", "senses", "wiki", "polarity"]),
        help="Only these steps; default: those of the model, else all but anonymize.",
    ),
    click.option(
        "--train",
        "train_files",
        multiple=True,
        type=cliutil.existing(),
        metavar="F",
        help="Learn the tables from these AMR files.",
    ),
    click.option("--model", metavar="DIR", help="Take the tables and switches of this model."),
)


@click.command()
@_tables
def preprocess(
    input_: str,
    model: str | None,
    train_files: tuple[str, ...],
    *,
    skip_invalid: bool,
    **rest: Any,
) -> None:
    """Write the AMR graphs that a model learns, and tell what each step changes.

    Without --model and --train the tables are learned from IN itself.
    """
    from transducer.frameworks import amr
    from transducer.parsing.amr_steps import learned_tables

    given = _amr_of(input_, skip_invalid=skip_invalid)  # once: it may be a pipe
    leave_out = (lambda _: None) if skip_invalid else None
    tables, options = learned_tables(model, train_files, leave_out, given)
    _process(given, options, lambda graphs, on: amr.preprocess_graphs(graphs, tables, on), **rest)


@click.command()
@_tables
@shared.spotlight
def postprocess(
    input_: str,
    model: str | None,
    train_files: tuple[str, ...],
    spotlight: str,
    *,
    skip_invalid: bool,
    **rest: Any,
) -> None:
    """Finish graphs as a model emits them, and tell what each step changes.

    Senses, entities, negations and links are restored, and the graphs completed.
    """
    from transducer.frameworks import amr
    from transducer.frameworks.amr.spotlight import make_wikifier
    from transducer.parsing.amr_steps import learned_tables

    tables, options = learned_tables(model, train_files)
    wikifier = make_wikifier(spotlight)
    _process(
        _amr_of(input_, skip_invalid=skip_invalid),
        options,
        lambda graphs, on: amr.postprocess_graphs(graphs, tables, on, wikifier),
        **rest,
    )


def _amr_of(path: str, *, skip_invalid: bool) -> list[Graph]:
    from transducer.parsing.amr_steps import read_graphs

    return read_graphs(path, (lambda e: cliutil.note(str(e))) if skip_invalid else None)


def _process(
    graphs: list[Graph],
    options: AmrConfig,
    process: Process,
    *,
    steps: tuple[str, ...],
    output: str,
) -> None:
    """Show the effect of each step on graphs, and write what all of them make of them."""
    import graphconv
    from transducer.parsing.amr_steps import Effect, effects, only

    options = only(options, steps)
    rows: list[tuple[object, ...]] = [("step", *Effect._fields[1:])]
    cliutil.note(cliutil.table([*rows, *effects(graphs, options, process)]))
    graphconv.write(process(graphs, options), output, format="amr")
