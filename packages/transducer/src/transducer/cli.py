"""The command ``transducer``. Imports torch only when a command runs."""

from __future__ import annotations

from graphconv import starting  # the first of all: the others take a while

# isort: split
import json
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphconv import cliutil
from transducer.config import TASKS, load_config, load_recipe, override, recipes
from transducer.distributed import only_main_reports
from transducer.errors import TransducerError
from transducer.text.annotation import AnnotationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from graphconv.graph import Graph
    from transducer.config import AmrConfig, DecodeConfig
    from transducer.parsing.amr_steps import Process
    from transducer.parsing.parser import Parse, Transducer
    from transducer.text.annotation import Annotator

FORMATS = ("amr", "sdp", "ucca", "mrp", "arborescence", "relations")

_device = click.option(
    "--device",
    default="auto",
    show_default=True,
    metavar="auto|cpu|cuda|mps",
    help="Where to compute.",
)
_annotator = click.option(
    "--annotator",
    metavar="NAME",
    help="spaCy model, folder, module:function, auto or none; default: as in training.",
)
_beam = click.option("--beam", type=click.IntRange(1), metavar="K", help="Beam size; 1 is greedy.")
_batch = click.option(
    "--batch-tokens", type=click.IntRange(1), metavar="N", help="Tokens per batch."
)
_core = click.option(
    "--unique-core-roles/--repeat-core-roles",
    default=None,
    help="Forbid a repeated ARG0..ARGn below a node.",
)
_limit = click.option(
    "--limit-copies/--free-copies",
    default=None,
    help="AMR: use a word about as often as it occurs.",
)
_length_penalty = click.option(
    "--length-penalty",
    type=click.FloatRange(0),
    metavar="A",
    help="Compare graphs of a beam by log-probability / rows ** A; higher gives larger graphs.",
)
_int8 = click.option(
    "--int8/--no-int8", default=None, help="Compute with 8-bit weights: faster on a CPU."
)

_spotlight = click.option(
    "--spotlight",
    default="",
    metavar="URL",
    help="AMR: ask this DBpedia Spotlight service for links; it is sent the sentences.",
)
_seed = click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True)
_overwrite = click.option("--overwrite", is_flag=True, help="Replace a model that is in DIR.")
_bits = click.Choice(["4", "8", "16"])


@cliutil.group("arbora-transducer", "transducer", errors=(TransducerError, AnnotationError))
def main() -> None:
    """Train the neural transducer, and parse text into AMR, DM, PAS, PSD or UCCA graphs."""


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


@main.command(cls=_ManyFiles)
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
@_overwrite
@_seed
@_device
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


@main.command()
@click.argument("input_", metavar="[IN]", default="-", type=cliutil.existing())
@click.option(
    "--model", "models", multiple=True, metavar="DIR", help="Model directory; several: --to json."
)
@click.option(
    "--task",
    "tasks",
    multiple=True,
    type=click.Choice(TASKS),
    help="Take the model of this task that ships with the package; several: --to json.",
)
@click.option("-o", "--output", default="-", metavar="OUT", help="Default: standard output.")
@click.option(
    "--input",
    "kind",
    type=click.Choice(["treebank", "tokens", "sentences", "text"]),
    help="tokens, sentences: one sentence a line; text: lines are joined. Default: by name and "
    "content.",
)
@click.option(
    "--to",
    type=click.Choice([*FORMATS, "json"]),
    help="Default: by the name of OUT, else the framework's own format; json: a document a line, "
    "of all models.",
)
@click.option("--encoding", default="", metavar="NAME", help="Of raw text; default: UTF-8.")
@click.option(
    "--nbest", type=click.IntRange(1), default=1, help="JSON lines with so many hypotheses."
)
@click.option("--scores", is_flag=True, help="JSON lines with a score per relation.")
@click.option(
    "--attention", metavar="FILE", help="Also write the attention of each row as JSON lines."
)
@click.option(
    "--alignments",
    type=click.Choice(["isi", "jamr", "none"]),
    default="none",
    help="AMR: say in PENMAN which words a node stands for.",
)
@click.option("--incremental", is_flag=True, help="Print each relation as it is decided.")
@click.option("--resume", is_flag=True, help="Go on where an interrupted parse of IN stopped.")
@click.option("--overwrite", is_flag=True, help="UCCA: replace the passages in a folder.")
@_beam
@_batch
@_core
@_limit
@_length_penalty
@_int8
@_annotator
@_spotlight
@_device
def parse(
    input_: str,
    models: tuple[str, ...],
    tasks: tuple[str, ...],
    output: str,
    kind: str | None,
    **options: Any,
) -> None:
    """Parse a treebank file (its graphs are ignored) or text."""
    from transducer.parsing.files import parse_file
    from transducer.parsing.inputs import guess_kind
    from transducer.parsing.request import Request, choose_format

    if options["to"] == "json":
        kind = kind or guess_kind(input_, options["encoding"], cliutil.note)
        _parse_documents(input_, (*models, *tasks), output, kind, options)
        return
    if len(models) + len(tasks) > 1:
        raise click.UsageError("the graphs of several models are written with --to json")
    model, task = next(iter(models), None), next(iter(tasks), None)
    with only_main_reports():
        parser = _load(model, task, options["device"], options["spotlight"])
        if options["nbest"] > (options["beam"] or parser.task.config.decode.beam):
            options["beam"] = options["nbest"]
        taken = (
            "scores",
            "attention",
            "alignments",
            "incremental",
            "resume",
            "overwrite",
            "encoding",
        )
        as_graphs = not (options["scores"] or options["nbest"] > 1 or options["incremental"])
        request = Request(
            kind=kind or guess_kind(input_, options["encoding"], cliutil.note),
            to=choose_format(parser.task.name, output if as_graphs else "-", options["to"]),
            settings=_settings(parser, options),
            annotator=_annotator_of(parser, model, options),
            spotlight=options["spotlight"],
            **{name: options[name] for name in taken},
        )
        if parse_file(parser, input_, output, request, tell=cliutil.note, watch=_watch):
            sys.exit(1)


def _watch(parses: Iterator[Parse]) -> Iterator[Parse]:
    return cliutil.progress(parses, "sentences")


@main.command()
@click.argument("gold", type=cliutil.existing())
@click.option("--model", metavar="DIR", help="Model directory.")
@click.option(
    "--task",
    type=click.Choice(TASKS),
    help="Take the model of this task that ships with the package.",
)
@click.option("--fine-grained", is_flag=True, help="AMR: the fine-grained scores, too.")
@click.option("--untagged", is_flag=True, help="Leave out GOLD's tags: words are as in raw text.")
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table")
@_beam
@_batch
@_core
@_limit
@_length_penalty
@_int8
@_annotator
@_spotlight
@_device
def evaluate(
    gold: str,
    model: str | None,
    task: str | None,
    *,
    fine_grained: bool,
    untagged: bool,
    format_: str,
    **options: Any,
) -> None:
    """Parse the sentences of GOLD and score the graphs; tokens/s and validity, too."""
    from transducer.parsing.report import evaluate_file, evaluation_table

    with only_main_reports():
        parser = _load(model, task, options["device"], options["spotlight"])
        settings = _settings(parser, options)
        report = evaluate_file(
            parser,
            gold,
            settings,
            _annotator_of(parser, model, options),
            fine_grained=fine_grained,
            untagged=untagged,
            watch=_watch,
        )
        if parser.group.main:
            as_json = format_ == "json"
            click.echo(json.dumps(report, indent=1) if as_json else evaluation_table(report))


@main.command()
@click.argument("input_", metavar="IN", type=cliutil.existing())
@click.option("-o", "--output", default="-", metavar="OUT")
@click.option("--annotator", default="auto", show_default=True, metavar="NAME")
@click.option("--framework", type=click.Choice(TASKS))
def annotate(input_: str, output: str, annotator: str, framework: str | None) -> None:
    """Add part of speech, lemma, entities and dependencies to the tokens of a treebank file."""
    import graphconv
    from transducer.frameworks import task_of
    from transducer.registry import FRAMEWORKS
    from transducer.text.annotation import annotated_graphs, load_annotator

    loaded = load_annotator(annotator)
    if loaded is None:
        raise TransducerError(
            "there is no annotator: install spaCy and a pipeline (docs/guides/parse.md)"
        )
    graphs = cliutil.progress(graphconv.read(input_, framework=framework), "graphs")
    cut = (task_of(g.framework).tokenized(g) if g.framework in FRAMEWORKS else g for g in graphs)
    graphconv.write(annotated_graphs(cut, loaded), output)


_tables = (
    click.option("--model", metavar="DIR", help="Take the tables and switches of this model."),
    click.option(
        "--train",
        "train_files",
        multiple=True,
        type=cliutil.existing(),
        metavar="F",
        help="Learn the tables from these AMR files.",
    ),
    click.option(
        "--step",
        "steps",
        multiple=True,
        type=click.Choice(["anonymize", "senses", "wiki", "polarity"]),
        help="Only these steps; default: those of the model, else all but anonymize.",
    ),
    click.option("--skip-invalid", is_flag=True, help="Leave out graphs that cannot be read."),
    click.option("-o", "--output", default="-", metavar="OUT", help="Default: standard output."),
    click.argument("input_", metavar="IN", type=cliutil.existing()),
)


def _with_tables(command: Callable[..., None]) -> Callable[..., None]:
    for option in _tables:
        command = option(command)
    return command


@main.command()
@_with_tables
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


@main.command()
@_with_tables
@_spotlight
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
    from transducer.frameworks.amr.spotlight import make_linker
    from transducer.parsing.amr_steps import learned_tables

    tables, options = learned_tables(model, train_files)
    linker = make_linker(spotlight)
    _process(
        _amr_of(input_, skip_invalid=skip_invalid),
        options,
        lambda graphs, on: amr.postprocess_graphs(graphs, tables, on, linker),
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


@main.command()
@click.argument("name", required=False)
@click.option("--task", type=click.Choice(TASKS))
def inspect(name: str | None, task: str | None) -> None:
    """Print a recipe, or a model's config, vocabulary sizes, score and data."""
    from transducer.parsing.report import describe

    if name is None:
        click.echo("\n".join(recipes()))
    else:
        click.echo(describe(name, task))


@main.command()
@click.argument(
    "models",
    metavar="MODEL...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, file_okay=False),
)
@click.option("-o", "--output", required=True, metavar="DIR", help="The folder to write.")
@_overwrite
def average(models: tuple[str, ...], output: str, *, overwrite: bool) -> None:
    """Write the mean of the weights of models that started from the same one."""
    from transducer.training.average import average as average_models

    average_models([Path(model) for model in models], Path(output), overwrite=overwrite)


@main.command()
@click.argument("model", metavar="MODEL", type=click.Path(exists=True, file_okay=False))
@click.option("-o", "--output", required=True, metavar="DIR", help="The folder to write.")
@_overwrite
@click.option("--bits", type=_bits, default="8", show_default=True, help="Bits per weight.")
@click.option(
    "--tuned-bits",
    type=_bits,
    default="8",
    show_default=True,
    help="The same for what tuning changed in the contextual encoder.",
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
    export_model(run, folder, **width, overwrite=overwrite)
    scores = measure(folder, gold, beams)
    if scores:
        rows: list[tuple[object, ...]] = [("file", "graphs", "beam", "F1")]
        click.echo(cliutil.table([*rows, *((s.gold, s.graphs, s.beam, s.f1) for s in scores)]))
    if said is not None:
        add_card(run, folder, said, scores, **width)
    cliutil.note(f"{folder}: {model_size(folder) / 1e6:.1f} MB")


@main.command()
@_device
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


@main.command()
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


@main.command()
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


@main.command()
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
@_device
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


@main.command()
@click.option("-o", "--output", default="demo", show_default=True, metavar="DIR")
@_overwrite
@_seed
@_device
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


def _parse_documents(
    input_: str, names: tuple[str, ...], output: str, kind: str, options: dict[str, Any]
) -> None:
    """Parse a text with all models together, to documents as JSON lines."""
    from transducer.config import DecodeConfig
    from transducer.parsing.pipeline import Source, load, write_documents

    usual: dict[str, Any] = {"nbest": 1, "scores": False, "incremental": False, "resume": False}
    usual |= {"attention": None, "alignments": "none", "spotlight": "", "overwrite": False}
    unfit = next((name for name, value in usual.items() if options[name] != value), None)
    if unfit:
        raise click.UsageError(f"--{unfit} does not go with --to json")
    if not names:
        raise click.UsageError("--model DIR or --task T is missing")
    for name in names:
        if name in TASKS:
            _warn(name)
    known = {field.name for field in fields(DecodeConfig)} - {"nbest"}
    settings = {name: options[name] for name in known if options.get(name) is not None}
    with only_main_reports():
        nlp = load(*names, device=options["device"], annotator=options["annotator"] or "")
        source = Source(input_, kind, options["encoding"])
        if write_documents(
            nlp,
            source,
            output,
            settings,
            tell=cliutil.note,
            watch=lambda docs: cliutil.progress(docs, "documents"),
        ):
            sys.exit(1)


def _load(model: str | None, task: str | None, device: str, spotlight: str) -> Transducer:
    """Load the model that the user named, or the one that ships for a task."""
    if model is None and task is None:
        raise click.UsageError("--model DIR or --task T is missing")
    from transducer.parsing.parser import Transducer

    if model is not None:
        return Transducer.load(model, device, spotlight=spotlight)
    _warn(str(task))
    return Transducer.shipped(str(task), device, spotlight=spotlight)


def _warn(task: str) -> None:
    """Say so if the model that ships for a task is not to be relied on yet."""
    from transducer.storage.cards import read_card
    from transducer.storage.shipped import find_model

    why = read_card(find_model(task)).about.experimental
    if why:
        cliutil.note(f"the {task.upper()} model is experimental. {why}")


def _settings(parser: Transducer, options: dict[str, Any]) -> DecodeConfig:
    own = parser.task.config.decode
    said = {field.name: options.get(field.name) for field in fields(own)}
    return replace(own, **{name: value for name, value in said.items() if value is not None})


def _annotator_of(
    parser: Transducer, model: str | None, options: dict[str, Any]
) -> Annotator | None:
    """Return the annotator that the user named, or else the one of the training."""
    from transducer.text.annotation import load_annotator, model_annotator

    if options["annotator"]:
        return load_annotator(options["annotator"])
    folder = model or f"the {parser.task.name} model"
    return model_annotator(
        parser.task.config.train.annotator, f"{folder}/config.json: train.annotator"
    )


starting.end()  # the last of all
