"""Commands that read text or treebanks with a model: ``parse``, ``evaluate``, ``annotate``."""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from graphconv import cliutil
from graphconv.cluster import command as clusters
from transducer.cli import shared
from transducer.cli.loading import annotator_of, decode_settings, load_parser, warn_of
from transducer.cli.on_cluster import parse_on
from transducer.config import TASKS
from transducer.distributed import only_main_reports
from transducer.errors import TransducerError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transducer.parsing.parser import Parse

FORMATS = ("amr", "sdp", "ucca", "mrp", "arborescence", "relations")


@click.command()
@click.argument("inputs", metavar="[IN]", nargs=-1, type=clusters.Files())
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
@shared.decoding
@clusters.options
def parse(
    inputs: tuple[str, ...],
    models: tuple[str, ...],
    tasks: tuple[str, ...],
    output: str,
    kind: str | None,
    **options: Any,
) -> None:
    """Parse a treebank file (its graphs are ignored) or text; with --engine, several IN."""
    from transducer.parsing.files import parse_file
    from transducer.parsing.inputs import guess_kind
    from transducer.parsing.request import Request, choose_format

    cluster = clusters.taken(options)
    paths = clusters.expand(inputs) or ("-",)
    if cluster.engine:
        parse_on(cluster, paths, (*models, *tasks), output, kind=kind or "", options=options)
        return
    if len(paths) > 1:
        raise click.UsageError(f"{len(paths):,} files are parsed together with --engine")
    (input_,) = paths
    if options["to"] == "json":
        kind = kind or guess_kind(input_, options["encoding"], cliutil.note)
        _parse_documents(input_, (*models, *tasks), output, kind, options)
        return
    if len(models) + len(tasks) > 1:
        raise click.UsageError("the graphs of several models are written with --to json")
    model, task = next(iter(models), None), next(iter(tasks), None)
    with only_main_reports():
        parser = load_parser(model, task, options["device"], options["spotlight"])
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
            settings=decode_settings(parser, options),
            annotator=annotator_of(parser, model, options),
            spotlight=options["spotlight"],
            **{name: options[name] for name in taken},
        )
        if parse_file(parser, input_, output, request, tell=cliutil.note, watch=_watch):
            sys.exit(1)


def _parse_documents(
    input_: str, names: tuple[str, ...], output: str, kind: str, options: dict[str, Any]
) -> None:
    """Parse a text with all models together, to documents as JSON lines."""
    from transducer.config import DecodeConfig
    from transducer.parsing.pipeline import Source, load, write_documents

    unfit = next((name for name, value in shared.USUAL.items() if options[name] != value), None)
    if unfit:
        raise click.UsageError(f"--{unfit} does not go with --to json")
    if not names:
        raise click.UsageError("--model DIR or --task T is missing")
    for name in names:
        if name in TASKS:
            warn_of(name)
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


def _watch(parses: Iterator[Parse]) -> Iterator[Parse]:
    return cliutil.progress(parses, "sentences")


@click.command()
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
@shared.decoding
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
        parser = load_parser(model, task, options["device"], options["spotlight"])
        settings = decode_settings(parser, options)
        report = evaluate_file(
            parser,
            gold,
            settings,
            annotator_of(parser, model, options),
            fine_grained=fine_grained,
            untagged=untagged,
            watch=_watch,
        )
        if parser.group.main:
            as_json = format_ == "json"
            click.echo(json.dumps(report, indent=1) if as_json else evaluation_table(report))


@click.command()
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
