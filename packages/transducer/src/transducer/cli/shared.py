"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

USUAL: dict[str, Any] = {
    "nbest": 1,
    "scores": False,
    "incremental": False,
    "resume": False,
    "attention": None,
    "alignments": "none",
    "spotlight": "",
    "overwrite": False,
}
"""What only some ways to parse can change, and its defaults."""

Command = Callable[..., Any]
Option = Callable[[Command], Command]


def all_of(*options: Option) -> Option:
    """Return one decorator that gives a command several options, which its help lists in order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


device = click.option(
    "--device",
    default="auto",
    show_default=True,
    metavar="auto|cpu|cuda|mps",
    help="Where to compute.",
)
spotlight = click.option(
    "--spotlight",
    default="",
    metavar="URL",
    help="AMR: ask this DBpedia Spotlight service for links; it is sent the sentences.",
)
seed = click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True)
overwrite = click.option("--overwrite", is_flag=True, help="Replace a model that is in DIR.")
decoding = all_of(
    click.option("--beam", type=click.IntRange(1), metavar="K", help="Beam size; 1 is greedy."),
    click.option("--batch-tokens", type=click.IntRange(1), metavar="N", help="Tokens per batch."),
    click.option(
        "--unique-core-roles/--repeat-core-roles",
        default=None,
        help="Forbid a repeated ARG0..ARGn below a node.",
    ),
    click.option(
        "--limit-copies/--free-copies",
        default=None,
        help="AMR: use a word about as often as it occurs.",
    ),
    click.option(
        "--length-penalty",
        type=click.FloatRange(0),
        metavar="A",
        help="Compare graphs of a beam by log-probability / rows ** A; higher gives larger graphs.",
    ),
    click.option(
        "--int8/--no-int8", default=None, help="Compute with 8-bit weights: faster on a CPU."
    ),
    click.option(
        "--annotator",
        metavar="NAME",
        help="spaCy model, folder, module:function, auto or none; default: as in training.",
    ),
    spotlight,
    device,
)
"""How a model parses: the options of every command that parses."""
