"""Commands that say what is here: ``inspect``, ``models``, ``fetch``, ``doctor``."""

from __future__ import annotations

from pathlib import Path

import click

from graphconv import cliutil
from transducer.cli import shared
from transducer.config import TASKS, recipes
from transducer.errors import TransducerError


@click.command()
@click.argument("name", required=False)
@click.option("--task", type=click.Choice(TASKS))
def inspect(name: str | None, task: str | None) -> None:
    """Print a recipe, or a model's config, vocabulary sizes, score and data."""
    from transducer.parsing.report import describe

    if name is None:
        click.echo("\n".join(recipes()))
    else:
        click.echo(describe(name, task))


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the cards as JSON.")
@click.option("--card", "task", type=click.Choice(TASKS), help="Print the card of this model.")
def models(*, as_json: bool, task: str | None) -> None:
    """List the models that ship with the package."""
    from transducer.storage.cards import page, read_card
    from transducer.storage.shipped import find_model, overview, shipped_cards

    cards = [read_card(find_model(task))] if task else shipped_cards()
    if as_json:
        click.echo("[" + ",\n".join(card.to_json() for card in cards) + "]")
    elif task:
        click.echo(page(cards[0]), nl=False)
    elif cards:
        click.echo(cliutil.table(overview(cards)))
    else:
        cliutil.note("no model ships with this version: transducer train makes one")


@click.command()
@click.argument("encoder", required=False)
@click.option("--to", metavar="DIR", help="Copy it below DIR, for a machine without network.")
@click.option("--list", "listed", is_flag=True, help="Tell which encoders are where.")
def fetch(encoder: str | None, to: str | None, *, listed: bool) -> None:
    """Fetch a pre-trained encoder; without a name, that of the models that ship.

    ENCODER is a name such as ORG/NAME or ORG/NAME@REVISION, or a folder, which is then known by its
    hash. On a machine without network, set ARBORA_ENCODERS to a copy of DIR.
    """
    from transducer.encoders import places
    from transducer.encoders.references import PINNED

    if listed:
        click.echo(cliutil.table(places.overview()))
        return
    found = places.find(encoder or next(iter(PINNED)))
    folder = found.folder if to is None else places.copy_to(found, Path(to))
    cliutil.note(f"{found.reference}: {found.size / 1e6:.1f} MB, verified")
    click.echo(folder)


@click.command()
@shared.device
def doctor(device: str) -> None:
    """Say what works on this machine and how fast; exit 1 if something needed is broken."""
    from transducer.doctor import BAD, examine

    broken = 0
    for what, state, says in examine(device):
        click.echo(f"{state:4}  {what}: {says}")
        broken += state == BAD
    if broken:
        raise TransducerError(
            f"{broken} of these need mending, see the lines that begin with {BAD}"
        )
