"""The command ``evaltools entails``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from graphconv import cliutil
from graphconv.frameworks import FRAMEWORKS
from graphconv.io.files import STDIO

if TYPE_CHECKING:
    from evaltools.entailment import Entailment

EXIT_CODES = {"entailed": 0, "neutral": 3, "contradicted": 4}
"""1 is an error in the data and 2 one in the command, as everywhere."""

_MOST_DRAWN = 200


@click.command()
@click.argument("claim", type=cliutil.existing())
@click.argument("source", type=cliutil.existing())
@click.option("--by-id", is_flag=True, help="Compare each claim only with the source of its id.")
@click.option(
    "--framework",
    type=click.Choice([*FRAMEWORKS]),
    help="The one to compare, in files that hold or fit several.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    help="Seconds per alignment; then the best so far, not certified.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write an HTML page.")
def entails(  # noqa: PLR0917 - click passes them by name
    claim: str,
    source: str,
    by_id: bool,
    framework: str | None,
    time_limit: float | None,
    as_json: bool,
    output: str | None,
) -> None:
    """Check each graph of CLAIM against SOURCE, the graphs of a text.

    Says which statements the source supports, contradicts (!) and lacks (?). Exit 0: all claims are
    entailed, 3: one is neutral, 4: one is contradicted; 1: bad data, 2: wrong use.
    """
    if claim == source == STDIO:
        raise click.UsageError("only one input can be standard input")
    counts = dict.fromkeys(EXIT_CODES, 0)
    figures: list[tuple[str, str]] = []
    for found in _found(claim, source, framework, by_id, time_limit):
        counts[found.verdict] += 1
        if output is not None:
            figures += _pictures(found) if len(figures) < 2 * _MOST_DRAWN else []
        elif as_json:
            click.echo(json.dumps(found.to_json(), ensure_ascii=False))
        else:
            cliutil.say(str(found))
    if output is not None:
        from graphconv.draw import page  # noqa: PLC0415 - slow to import, --help needs none of it

        with cliutil.output(output) as stream:
            stream.write(page("Claims and their sources", figures))
    cliutil.note(", ".join(f"{number} {verdict}" for verdict, number in counts.items()))
    code = max(EXIT_CODES[verdict] for verdict, number in counts.items() if number)
    click.get_current_context().exit(code)


def _found(
    claim: str, source: str, framework: str | None, by_id: bool, time_limit: float | None
) -> Iterator[Entailment]:
    from evaltools.entailment import check, prepare  # noqa: PLC0415 - see above
    from graphconv.io import read  # noqa: PLC0415

    sources = [prepare(graph) for graph in read(source, framework=framework)]
    named = {one.graph.id: one for one in sources}
    if by_id and len(named) < len(sources):
        raise cliutil.DataError(f"{source}: two graphs have one id")
    for graph in read(claim, framework=framework):
        if by_id and graph.id not in named:
            raise cliutil.DataError(f"{claim}: there is no source for claim {graph.id!r}")
        chosen = [named[graph.id]] if by_id else sources
        yield check(prepare(graph), chosen, time_limit=time_limit)


def _pictures(found: Entailment) -> list[tuple[str, str]]:
    from graphconv.draw import svg  # noqa: PLC0415 - see above

    caption = f"{found.claim.id}: {found.verdict}"
    reasons = "; ".join(f"{one.text} ({one.kind})" for one in found.contradicted + found.lacking)
    pictures = [
        (
            f"{caption}; {reasons or 'all is supported'}",
            svg(found.claim, highlight=found.highlight()),
        )
    ]
    if found.source is not None:
        pictures.append((f"its source, {found.source.id}", svg(found.source)))
    return pictures
