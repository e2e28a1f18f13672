"""Commands that show models at work: ``serve`` and ``demo``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from graphconv import cliutil
from transducer.cli import shared
from transducer.config import TASKS
from transducer.errors import TransducerError


@click.command()
@click.option("--task", "tasks", multiple=True, type=click.Choice(TASKS), help="Repeatable.")
@click.option(
    "--model", "models", multiple=True, metavar="DIR", help="Model directory; repeatable."
)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535))
@click.option("--beam", type=click.IntRange(1, 64), metavar="K", help="Default: each model's own.")
@click.option("--queue", default=256, show_default=True, metavar="N", help="Waiting requests.")
@click.option("--max-characters", default=20_000, show_default=True, metavar="N", help="Per text.")
@click.option(
    "--timeout", default=60.0, show_default=True, metavar="S", help="Seconds per request."
)
@click.option("--token-file", metavar="F", help="Ask clients for the bearer token in this file.")
@click.option("--cors", "origins", multiple=True, metavar="ORIGIN", help="Pages that may call it.")
@shared.device
def serve(
    tasks: tuple[str, ...],
    models: tuple[str, ...],
    *,
    host: str,
    port: int,
    token_file: str | None,
    device: str,
    **limits: Any,
) -> None:
    """Parse over HTTP, and show graphs grow in a browser; all models that ship by default."""
    from transducer.extras import require

    require("serve", "serving", "starlette", "uvicorn")
    from transducer.serving.run import serve as run_server
    from transducer.serving.settings import Settings, read_token
    from transducer.storage.shipped import shipped_tasks

    token = read_token(token_file) if token_file else ""
    settings = Settings(token=token, **limits)
    named = (*tasks, *models) or shipped_tasks()
    cliutil.note(f"loading {', '.join(named)}; then http://{host}:{port}/")
    run_server(named, settings, host=host, port=port, device=device)


@click.command()
@click.option("-o", "--output", default="demo", show_default=True, metavar="DIR")
@shared.overwrite
@shared.seed
@shared.device
def demo(output: str, seed: int, device: str, *, overwrite: bool) -> None:
    """Parse three sentences; then train, parse, score and draw on the built-in sample corpus.

    The first page is there within a minute; the training takes about six more, and can be stopped.
    """
    from transducer.console import bar
    from transducer.demo import check_folder, first_look, run_demo, score_table

    def tell(result: Any) -> None:
        if sys.stderr.isatty():
            cliutil.note(f"{result.task}: {result.metric} {result.score:.2f}")

    check_folder(Path(output), overwrite=overwrite)
    try:
        page = first_look(Path(output), device=device)
    except TransducerError as error:
        cliutil.note(f"the models that ship cannot parse here: {error}")
    else:
        click.echo(f"Three sentences, parsed by the models that ship, are drawn in {page}")
        cliutil.note("now small models are trained on the sample corpus; Ctrl-C leaves the page")
    results, page = run_demo(
        Path(output), device=device, seed=seed, overwrite=overwrite, bar=bar, on_result=tell
    )
    click.echo(cliutil.table(score_table(results)))
    click.echo(f"\nGold and predicted graphs are drawn in {page}")
