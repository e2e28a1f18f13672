"""The command ``evaltools``: score, compare, validity, lint, diff, entails."""

from __future__ import annotations

from graphconv import starting  # the first of all: the others take a while

# isort: split
import heapq
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evaltools.entails_command import entails
from graphconv import cliutil
from graphconv.cluster import command as clusters
from graphconv.frameworks import FRAMEWORKS
from graphconv.io.files import STDIO

if TYPE_CHECKING:
    from evaltools.counts import Counts, Statistics
    from evaltools.pairing import Evaluation

_SHOWN = 5


@cliutil.group("arbora-evaltools", "evaltools")
def main() -> None:
    """Score meaning graphs: Smatch and MRP (proved optimal), SDP and UCCA."""


def _scoring(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what is compared and how."""
    options = (
        click.option(
            "--metric",
            type=click.Choice(
                ["auto", "smatch", "sdp", "ucca", "mrp", "s2match", "wlk", "wwlk", "sembleu"]
            ),
            default="auto",
            help="Default: by framework.",
        ),
        click.option(
            "--framework",
            type=click.Choice(FRAMEWORKS),
            help="The one to score, in files that hold or fit several.",
        ),
        click.option(
            "--profile",
            type=click.Choice(["smatch-1.0.4", "smatchpp-amr"]),
            default="smatch-1.0.4",
            help="The triples of an AMR.",
        ),
        click.option(
            "--restarts",
            type=click.IntRange(0),
            help="Plain hill-climbing with N random starts instead of the proved optimum.",
        ),
        click.option("--seed", type=click.IntRange(0), default=0, help="For everything random."),
        click.option(
            "--time-limit",
            type=click.FloatRange(0, min_open=True),
            help="Seconds per pair of graphs; then the best value so far, with its bound.",
        ),
        click.option(
            "--vectors",
            type=cliutil.existing(folders=False),
            help="Word vectors for s2match and wwlk, in GloVe's text format.",
        ),
        click.option(
            "--no-normalize", is_flag=True, help="UCCA without the official normalization."
        ),
        click.option("--jobs", type=click.IntRange(1), default=1, help="Processes."),
        click.option(
            "--skip-invalid", is_flag=True, help="Count a broken prediction as an empty one."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _format_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--format",
        "form",
        type=click.Choice(["table", "json"]),
        default="table",
        help="How to print the result.",
    )(command)


_gold = click.argument("gold", type=cliutil.existing())
_pred = click.argument("pred", type=cliutil.existing())


@main.command()
@_gold
@_pred
@_scoring
@_format_option
@click.option(
    "--fine-grained", is_flag=True, help="Also the eight scores of Damonte et al. (2017)."
)
@click.option("--per-graph", type=click.Path(dir_okay=False), help="Write the score of each graph.")
@click.option("--bootstrap", type=click.IntRange(1), help="95 % interval of F1 from N samples.")
@click.option("--macro", is_flag=True, help="MRP F1 of every framework of GOLD, and their mean.")
@click.option("-o", "--output", default=STDIO, metavar="OUT", help="The folder for --engine.")
@clusters.options
def score(  # noqa: PLR0917 - one parameter per option
    gold: str,
    pred: str,
    form: str,
    output: str,
    per_graph: str | None,
    bootstrap: int | None,
    **settings: Any,
) -> None:
    """Score the graphs of PRED against those of GOLD."""
    from evaltools.mrp.macro import macro_score
    from evaltools.scoring import bootstrap_interval, finished

    cluster = clusters.taken(settings)
    if cluster.engine is None and output != STDIO:
        raise click.UsageError("-o is for --engine: what is printed can be redirected")
    if cluster.engine and settings["macro"]:
        raise click.UsageError("--macro does not go with --engine")
    with _files(gold, pred) as paths:
        if cluster.engine and paths != [gold, pred]:
            raise click.UsageError("--engine reads files, no pipes and no standard input")
        if settings.pop("macro"):
            mean = macro_score(*paths, time_limit=settings["time_limit"], jobs=settings["jobs"])
            cliutil.say(json.dumps(mean.to_json(), indent=2) if form == "json" else str(mean))
            return
        evaluation = _evaluation(paths[0], paths[1], settings)
        if cluster.engine:
            _score_on(cluster, evaluation, output, settings)
        counts: list[Counts] | None = [] if bootstrap else None
        total = _total(evaluation, counts, per_graph)
        found = finished(evaluation, total)
    if bootstrap and counts:
        interval = bootstrap_interval(counts, bootstrap, settings["seed"])
        found = replace(found, bootstrap=interval)
    if form == "json":
        _print_json(found.to_json())
    else:
        cliutil.say(str(found))
    _notes(evaluation)


@main.command()
@_gold
@click.argument("pred_a", type=cliutil.existing())
@click.argument("pred_b", type=cliutil.existing())
@_scoring
@_format_option
@click.option("--samples", type=click.IntRange(1), default=10_000, help="Of both tests.")
def compare(gold: str, pred_a: str, pred_b: str, form: str, samples: int, **settings: Any) -> None:
    """Compare two predictions: difference in F1, its interval, and p.

    The interval is from a paired bootstrap, p from this and from approximate randomization.
    """
    from evaltools.counts import Counts
    from evaltools.signature import signature
    from evaltools.significance import compare as compare_counts

    sides: list[list[Counts]] = [[], []]
    signatures = []
    with _files(gold, pred_a, pred_b) as paths:
        for pred, counts in zip(paths[1:], sides, strict=True):
            evaluation = _evaluation(paths[0], pred, settings)
            total = _total(evaluation, counts)
            certified = getattr(total, "certified", True)
            plan = evaluation.plan
            signatures.append(signature(plan.metric, plan.options, certified, evaluation.hashes))
            _notes(evaluation)
    found = compare_counts(sides[0], sides[1], samples, settings["seed"])
    scores = [sum(counts, Counts()) for counts in sides]
    if form == "json":
        _print_json(
            {
                "a": scores[0].to_json(),
                "b": scores[1].to_json(),
                "difference": found.difference,
                "interval": list(found.interval),
                "bootstrap_p": found.bootstrap_p,
                "p": found.randomization_p,
                "samples": samples,
                "seed": settings["seed"],
                "signature": signatures,
            }
        )
        return
    from evaltools.report import score_table

    click.echo(score_table({name: each.to_json() for name, each in zip("AB", scores, strict=True)}))
    low, high = found.interval
    click.echo(f"B - A: {found.difference:+.2f} F1, 95 % interval {low:+.2f} to {high:+.2f}")
    click.echo(f"p = {found.randomization_p:.4f} (approximate randomization)")
    click.echo(f"p = {found.bootstrap_p:.4f} (paired bootstrap)")


@main.command()
@_pred
@_format_option
@click.option(
    "--framework",
    type=click.Choice(FRAMEWORKS),
    help="The one to check, in files that hold or fit several.",
)
def validity(pred: str, form: str, framework: str | None) -> None:
    """Count the invalid graphs in PRED: repeated core roles, disconnected graphs and the like."""
    from evaltools.validity import count_faults
    from graphconv.io import read

    broken: list[str] = []
    graphs = read(pred, framework=framework, on_error=lambda error: broken.append(str(error)))
    number, failed = count_faults(cliutil.progress(graphs, "graphs"))
    if not number and broken:
        raise cliutil.DataError(broken[0])
    for message in broken:
        cliutil.note(message)
    if form == "json":
        counts = {name: len(ids) for name, ids in failed.items()}
        invalid = counts.get("repeated core role", 0)
        report = {"graphs": number, "broken": len(broken), "invalid": invalid, "checks": counts}
        _print_json({**report, "ids": failed})
        return
    rows: list[tuple[object, ...]] = [("graphs", number), ("broken", len(broken))]
    click.echo(cliutil.table([*rows, *((name, len(ids)) for name, ids in failed.items())]))
    for name, ids in failed.items():
        if ids:
            cliutil.say(f"{name}: {_some(ids)}")


@main.command()
@click.argument("files", nargs=-1, required=True, type=cliutil.existing())
@click.option(
    "--propbank",
    type=cliutil.existing(folders=False),
    help="Table of rolesets (tab-separated, columns id and roles): also check frames.",
)
@click.option("--ignore", multiple=True, metavar="CODE", help="Leave out a rule; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def lint(
    files: tuple[str, ...], propbank: str | None, ignore: tuple[str, ...], as_json: bool
) -> None:
    """Find mistakes in AMR FILES: unknown frames, roles and types, gaps, misplaced constants.

    A line per finding: file, line, graph, variable, code, message. Exit 1 if there is one.
    """
    from evaltools.linting import RULES, lint_file, read_frames

    unknown = sorted(set(ignore) - RULES.keys())
    if unknown:
        message = f"there is no rule {unknown[0]!r}; the rules are {', '.join(RULES)}"
        raise click.BadParameter(message, param_hint="--ignore")
    frames = read_frames(propbank) if propbank else None
    broken: list[str] = []
    number = 0
    for path in files:
        for finding in lint_file(path, frames, on_error=lambda error: broken.append(str(error))):
            if finding.code not in ignore:
                number += 1
                click.echo(
                    json.dumps(finding._asdict(), ensure_ascii=False) if as_json else str(finding)
                )
    for problem in broken:
        cliutil.note(problem)
    if number or broken:
        click.get_current_context().exit(1)


@main.command()
@_gold
@_pred
@_scoring
@click.option("--worst", type=click.IntRange(1), default=10, help="How many graphs.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write an HTML page.")
def diff(gold: str, pred: str, worst: int, output: str | None, **settings: Any) -> None:
    """Show the worst graphs, gold and predicted, with what matched and what did not."""
    from evaltools.diff import difference
    from evaltools.pairing import graphs_of

    with _files(gold, pred) as paths:
        evaluation = _evaluation(paths[0], paths[1], settings)
        results = cliutil.progress(evaluation, "graphs")
        chosen = heapq.nsmallest(worst, results, key=lambda r: (r.statistics.main.f1, r.index))
        pairs = graphs_of(evaluation, chosen)
    figures: list[tuple[str, str]] = []
    plan = evaluation.plan
    for result, (gold_graph, pred_graph) in zip(chosen, pairs, strict=True):
        found = difference(gold_graph, pred_graph, plan.metric, plan.options)
        caption = f"{result.id}: F1 {result.statistics.main.f1:.2f}"
        if output is None:
            cliutil.say(f"{caption}\n{found.text()}\n")
            continue
        from graphconv.draw import svg

        wrong = f"{len(found.matched)} items match, missing: {_some(found.missing) or 'none'}"
        figures.append((f"{caption}, gold; {wrong}", svg(gold_graph, highlight=found.gold)))
        wrong = f"predicted; extra: {_some(found.extra) or 'none'}"
        figures.append((f"{caption}, {wrong}", svg(pred_graph, highlight=found.pred)))
    if output is not None:
        from graphconv.draw import page

        with cliutil.output(output) as stream:
            stream.write(page(f"The worst {len(chosen)} graphs", figures))
    _notes(evaluation)


@contextmanager
def _files(*paths: str) -> Iterator[list[str]]:
    """Copy standard input and pipes to files, because inputs are read, hashed and shown."""
    from graphconv.errors import GraphconvError
    from graphconv.io import files

    if paths.count(STDIO) > 1:
        raise click.UsageError("only one input can be standard input")
    pipes = [
        path for path in dict.fromkeys(paths) if not Path(path).is_file() | Path(path).is_dir()
    ]
    if not pipes:
        yield list(paths)
        return
    with tempfile.TemporaryDirectory() as folder:
        copies = {path: str(Path(folder, str(number))) for number, path in enumerate(pipes)}
        for path, copy in copies.items():
            with open(copy, "wb") as file:  # noqa: PTH123 - the name is a string
                file.writelines(files.chunks(path))
        try:
            yield [copies.get(path, path) for path in paths]
        except GraphconvError as error:
            message = str(error)
            for path, copy in copies.items():
                message = message.replace(copy, files.shown(path))
            raise cliutil.DataError(message) from error


_PARTICULAR: dict[str, tuple[str, Any]] = {
    "profile": ("--profile", "smatch-1.0.4"),
    "fine_grained": ("--fine-grained", False),
    "restarts": ("--restarts", None),
    "vectors": ("--vectors", None),
    "normalize": ("--no-normalize", True),
}
"""Options that change the score of some metrics and mean nothing to the others."""


def _evaluation(gold: str, pred: str, settings: dict[str, Any]) -> Evaluation:
    from evaltools.errors import EvaluationError
    from evaltools.metrics import METRICS
    from evaltools.pairing import Evaluation

    given = dict(settings)
    given["normalize"] = not given.pop("no_normalize")
    evaluation = Evaluation(
        gold,
        pred,
        metric=given.pop("metric"),
        framework=given.pop("framework"),
        skip_invalid=given.pop("skip_invalid"),
        jobs=given.pop("jobs"),
    )
    metric = evaluation.plan.metric
    names = METRICS[metric].option_names
    for name, (flag, usual) in _PARTICULAR.items():
        if name not in names and given.get(name, usual) != usual:
            raise EvaluationError(f"{flag} is no option of {metric}: leave it out")
    options = {name: given[name] for name in names if given.get(name) is not None}
    evaluation.plan = evaluation.plan._replace(options=options)
    return evaluation


def _score_on(
    cluster: clusters.Cluster, evaluation: Evaluation, output: str, settings: dict[str, Any]
) -> None:
    """Let a cluster score the pairs of an evaluation."""
    from evaltools.clusters import ScoreJob, outcomes

    if settings["jobs"] > 1:
        raise click.UsageError("--jobs is for one machine: --workers with --engine")
    plan = evaluation.plan
    job = ScoreJob(
        plan, settings["metric"], settings["framework"], cluster.size, packed=cluster.packed
    )
    report = clusters.run(job, [(plan.gold_path, plan.pred_path)], output, cluster)
    clusters.finish(report, output)
    evaluation.outcomes = outcomes(report.shards, output, job)


def _total(
    evaluation: Evaluation, counts: list[Counts] | None = None, per_graph: str | None = None
) -> Statistics:
    """Score all pairs; collect the main counts in *counts* and write each score to *per_graph*."""
    from evaltools.metrics import METRICS

    total = METRICS[evaluation.plan.metric].zero()
    with cliutil.output(per_graph) if per_graph else nullcontext() as stream:
        for result in cliutil.progress(evaluation, "graphs"):
            total += result.statistics
            if counts is not None:
                counts.append(result.statistics.main)
            if stream is not None:
                record = {"id": result.id, "missing": result.missing, **result.statistics.to_json()}
                if hasattr(result.statistics, "certified"):
                    record["certified"] = result.statistics.certified
                stream.write(json.dumps(record, ensure_ascii=False) + "\n")
    return total


def _notes(evaluation: Evaluation) -> None:
    """Say what a reader of the score must know."""
    sentences = (
        (evaluation.broken, "broken predictions count as empty"),
        (evaluation.missing, "gold graphs have no valid prediction, which counts as empty"),
        (evaluation.extra, "predictions have no gold graph and are left out"),
        (evaluation.other_texts, "pairs, made by order, have different sentences"),
    )
    for found, what in sentences:
        if found:
            cliutil.note(f"{len(found)} {what}: {_some(found)}")


def _some(items: list[str]) -> str:
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(items[:_SHOWN]) + more


def _print_json(report: dict[str, Any]) -> None:
    click.echo(json.dumps(report, ensure_ascii=False, indent=2))


main.add_command(entails)

starting.end()  # the last of all
