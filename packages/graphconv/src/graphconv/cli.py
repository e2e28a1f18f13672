"""The command ``graphconv``. Every command is a library function, and options of the same names."""

from __future__ import annotations

from graphconv import starting  # the first of all: the others take a while

# isort: split
import contextlib
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from graphconv import cliutil
from graphconv.cluster import command as clusters
from graphconv.frameworks import FRAMEWORKS

if TYPE_CHECKING:
    from graphconv.errors import GraphconvError
    from graphconv.io.stream import Reader, Source

# The names are those of graphconv.io.FORMATS, repeated here so that --help imports no reader; a
# test compares them.
FORMATS = ("amr", "sdp", "ucca", "mrp", "arborescence", "relations", "graphml", "conllu")
EXPORTS = ("cypher", "parquet")

_input = click.argument("input_", metavar="IN", default="-", type=cliutil.existing())
_output = click.option(
    "-o", "--output", default="-", metavar="OUT", help="Write here; - is standard output."
)
_to = click.option("--to", type=click.Choice(FORMATS + EXPORTS), help="Format to write.")
_skip = click.option(
    "--skip-invalid", is_flag=True, help="Go on after a bad graph and report how many were skipped."
)
_Command = Callable[..., Any]


def _all(*decorators: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Return one decorator for several, so that commands can share options."""

    def decorate(command: _Command) -> _Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


_treebank = _all(
    click.option("--from", "from_", type=click.Choice(FORMATS), help="Format of the input."),
    click.option(
        "--framework",
        type=click.Choice(FRAMEWORKS),
        help="Framework of an SDP file (dm if not given), or the one to take from a mixed file.",
    ),
)
_jobs = click.option(
    "--jobs", type=click.IntRange(min=1), default=1, metavar="N", help="Processes to use."
)
_inputs = click.argument(
    "inputs", metavar="IN...", nargs=-1, required=True, type=cliutil.existing()
)
_reading = _all(_inputs, _treebank, _jobs, _skip)
_reading_patterns = _all(
    click.argument("inputs", metavar="IN...", nargs=-1, required=True, type=clusters.Files()),
    _treebank,
    _jobs,
    _skip,
    clusters.options,
)
_units = _all(
    click.option(
        "--foundational", is_flag=True, help="UCCA: leave out linkage units; says how many."
    ),
    click.option("--no-unit-labels", is_flag=True, help="UCCA: give all units the same label."),
)


@cliutil.group("arbora-graphconv", "graphconv")
def main() -> None:
    """Convert AMR, SDP and UCCA treebanks to arborescences and back without losing anything.

    IN is a file, a folder of UCCA files, or - for standard input; .gz is read and written too.
    """


@main.command()
@_reading_patterns
@_units
@_output
def to_arborescence(output: str, **options: Any) -> None:
    """Convert treebanks to arborescences, as JSON lines."""
    cluster = clusters.taken(options)
    options["inputs"] = clusters.expand(options["inputs"])
    if cluster.engine:
        _convert_on(cluster, output, "arborescence", **options)
        return
    _write_trees("arborescence", output, **options)


@main.command()
@_reading
@_units
@_output
@click.option("--format", "format_", type=click.Choice(["jsonl", "tsv"]), default="jsonl")
def relations(output: str, format_: str, **options: Any) -> None:
    """Write the bare relation sequences: id, framework, tokens and relations, nothing else."""
    _write_trees("tsv" if format_ == "tsv" else "relations", output, **options)


@main.command()
@_input
@_output
@_to
@_skip
def from_arborescence(input_: str, output: str, to: str | None, *, skip_invalid: bool) -> None:
    """Convert arborescences back to treebank files; by default to the format they came from."""
    _write_graphs("arborescence", input_, output, to, skip_invalid)


@main.command()
@_input
@_output
@_to
@_skip
def from_relations(input_: str, output: str, to: str | None, *, skip_invalid: bool) -> None:
    """Build graphs from bare relation sequences; they get fresh node ids."""
    _write_graphs("relations", input_, output, to, skip_invalid)


@main.command()
@_reading_patterns
@_output
@_to
def convert(output: str, to: str | None, *, skip_invalid: bool, **read: Any) -> None:
    """Convert between file formats of one framework; --to is needed unless OUT's name says it."""
    from graphconv.io import stream

    cluster = clusters.taken(read)
    read["inputs"] = clusters.expand(read["inputs"])
    if cluster.engine:
        if to is None:
            raise click.UsageError("say with --to which format to write")
        _convert_on(cluster, output, to, skip_invalid=skip_invalid, **read)
        return
    if to is None and output == "-":
        raise click.UsageError("say with --to which format to write")
    with _skipping(skip_invalid) as on_error:
        _write(stream.Reader(_source(on_error, **read)), output, to, on_error)


@main.command()
@click.argument("inputs", metavar="IN...", nargs=-1, type=cliutil.existing())
@_treebank
@_jobs
@_skip
@click.option("--sample", is_flag=True, help="Check the bundled sample.")
def check(inputs: tuple[str, ...], *, sample: bool, skip_invalid: bool, **read: Any) -> None:
    """Convert every graph there and back and compare; exit 1 if one is not the same."""
    from graphconv import check as checks
    from graphconv.io import stream

    inputs = (*inputs, *(checks.sample_paths() if sample else ()))
    if not inputs:
        raise click.UsageError("name the files to check, or --sample")
    with _skipping(skip_invalid) as on_error:
        found = stream.results(checks.check_input, _source(on_error, inputs, **read))
        lines, failures = checks.summary(cliutil.progress(found, "graphs"))
    click.echo(cliutil.table([checks.Line._fields, *lines]))
    for failure in failures:
        cliutil.say(
            f"{failure.path}: {failure.framework} {failure.id}: {'; '.join(failure.failures)}"
        )
    if failures:
        raise cliutil.DataError(f"{len(failures):,} graphs do not come back as they were")


@main.command()
@_reading
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text")
def stats(*, format_: str, skip_invalid: bool, **read: Any) -> None:
    """Count graphs, nodes, edges, re-entrancies, cycles, remote edges and more, by framework."""
    from graphconv import stats as statistics
    from graphconv.io import stream

    with _skipping(skip_invalid) as on_error:
        found = stream.results(statistics.count_input, _source(on_error, **read))
        totals = statistics.totals(cliutil.progress(found, "graphs"))
    if format_ == "json":
        click.echo(json.dumps(totals, indent=2))
    else:
        click.echo(cliutil.table(statistics.rows(totals)))


@main.command()
@_input
@_treebank
@click.option("--id", "graph_id", metavar="ID", help="The graph to draw; default: the first.")
@click.option(
    "-o", "--output", required=True, metavar="OUT", help="A .svg, .html, .png or .dot file."
)
@click.option("--scores", is_flag=True, help="Shade what a parser was not sure of.")
def draw(input_: str, output: str, graph_id: str | None, *, scores: bool, **read: Any) -> None:
    """Draw a graph and its arborescence side by side."""
    from graphconv import draw as drawing
    from graphconv.io import stream

    drawing.save(stream.find(_source(None, (input_,), **read), graph_id), output, scores=scores)


@main.command()
@_input
@_output
@click.option("--report", metavar="F", help="Write every edit here, as JSON lines.")
def repair(input_: str, output: str, report: str | None) -> None:
    """Turn broken PENMAN, from any parser or language model, into valid graphs."""
    from functools import partial

    from graphconv.mend.file import repair_file

    counting = partial(cliutil.progress, unit="graphs")
    done = repair_file(input_, output, report=report, progress=counting)
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(done.edits.items()))
    told = f": {sum(done.edits.values()):,} edits ({kinds})" if kinds else ""
    cliutil.note(f"{done.repaired:,} of {done.graphs:,} graphs were repaired{told}")


@main.command()
@_reading
@_output
@click.option("--report", metavar="F", help="Write the nodes without a word here, as JSON lines.")
def align(output: str, report: str | None, *, skip_invalid: bool, **read: Any) -> None:
    """Mark which words the nodes of AMRs stand for (~e.N); marks that are there stay."""
    from graphconv.alignment.file import align_graphs
    from graphconv.io import stream

    with _skipping(skip_invalid) as on_error:
        graphs = cliutil.progress(stream.graphs(_source(on_error, **read)), "graphs")
        done = align_graphs(graphs, output, report=report, on_error=on_error)
    left = sum(done.unaligned.values())
    often = ", ".join(f"{label} {count:,}" for label, count in done.unaligned.most_common(5))
    cliutil.note(
        f"{left:,} of {done.nodes:,} nodes have no word{f' (most often {often})' if often else ''}"
    )
    if done.without_sentence:
        cliutil.note(f"{done.without_sentence:,} graphs have no sentence (::tok or ::snt)")


@main.command()
@click.argument("pattern")
@_reading
@click.option("--count", is_flag=True, help="Only count graphs and hits, for each file.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each hit.")
@click.option("-o", "--output", metavar="OUT.html", help="Draw the hits in their sentences.")
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Give up on a graph after so long, and name it.",
)
def grep(
    pattern: str, *, count: bool, as_json: bool, output: str | None, skip_invalid: bool, **read: Any
) -> None:
    """Find PATTERN, such as '(x / *-01 :ARG0 (y / boy))', in treebanks and indexes; 1: no hit."""
    from graphconv.search import command

    time_limit = read.pop("time_limit")
    found = False
    with _skipping(skip_invalid) as on_error:
        results = command.search(pattern, _source(on_error, **read), time_limit)
        for line in command.lines(
            results, pattern, read["inputs"], count=count, json=as_json, output=output
        ):
            if line.note:
                cliutil.note(line.text)
            elif line.text:
                click.echo(line.text)
            found = found or line.hits > 0
    if not found:
        click.get_current_context().exit(1)


@main.command()
@_reading
@click.option("-o", "--output", required=True, metavar="X.idx", help="The index to write.")
def index(output: str, *, skip_invalid: bool, **read: Any) -> None:
    """Index treebanks, so that grep reads only the graphs that can have a pattern."""
    from graphconv.search import command

    with _skipping(skip_invalid) as on_error:
        number = command.write_index(_source(on_error, **read), output)
    cliutil.note(f"indexed: {number:,}")


def _source(
    on_error: Callable[[GraphconvError], None] | None,
    inputs: tuple[str, ...],
    from_: str | None,
    framework: str | None,
    jobs: int = 1,
) -> Source:
    from graphconv.io.stream import Source

    return Source(inputs, from_, framework, jobs, on_error)


@contextlib.contextmanager
def _skipping(active: bool) -> Iterator[Callable[[GraphconvError], None] | None]:
    """Give what reports a bad graph, or None; tell at the end how many there were.

    A file that cannot be read, or only its beginning, is an error even then.
    """
    from graphconv.errors import FileError

    skipped = lost = 0

    def report(error: GraphconvError) -> None:
        nonlocal skipped, lost
        if isinstance(error, FileError):
            lost += 1
            cliutil.note(str(error))
        else:
            skipped += 1
            cliutil.note(f"skipped: {error}")

    yield report if active else None
    if skipped:
        cliutil.note(f"{skipped:,} invalid graphs were skipped")
    if lost:
        raise cliutil.DataError(f"{lost:,} files could not be read to their end")


def _write_trees(
    format_: str,
    output: str,
    *,
    foundational: bool,
    no_unit_labels: bool,
    skip_invalid: bool,
    **read: Any,
) -> None:
    from functools import partial

    from graphconv.io import stream

    step = partial(
        stream.tree_text,
        format=format_,
        foundational=foundational,
        unit_labels=not no_unit_labels,
    )
    with _skipping(skip_invalid) as on_error:
        texts = stream.results(step, _source(on_error, **read))
        dropped = stream.write_trees(cliutil.progress(texts, "graphs"), output)
    if foundational:
        cliutil.note(f"{dropped:,} linkage units were left out")


def _convert_on(
    cluster: clusters.Cluster,
    output: str,
    to: str,
    *,
    inputs: tuple[str, ...],
    jobs: int,
    no_unit_labels: bool = False,
    **how: Any,
) -> None:
    """Convert on a cluster; what is told is as on one machine."""
    from graphconv.cluster.conversion import Conversion, ConversionJob

    if jobs > 1:
        raise click.UsageError("--jobs is for one machine: --workers with --engine")
    conversion = Conversion(to, unit_labels=not no_unit_labels, **how)
    command = click.get_current_context().command_path
    job = ConversionJob(command, conversion, cluster.size, packed=cluster.packed)
    report = clusters.run(job, [(path,) for path in inputs], output, cluster)
    counts = report.counts
    if conversion.foundational:
        cliutil.note(f"{counts.pop('dropped', 0):,} linkage units were left out")
    for what, number in counts.items():
        cliutil.note(f"{to} has no place for {what}, which {number:,} graphs had")
    if conversion.framework and not report.graphs and report.succeeded:
        names = ", ".join(inputs)
        raise cliutil.DataError(f"{names}: there is no {conversion.framework} graph in it")
    clusters.finish(report, output)


def _write_graphs(from_: str, input_: str, output: str, to: str | None, skip_invalid: bool) -> None:
    from graphconv.io import stream

    with _skipping(skip_invalid) as on_error:
        _write(stream.Reader(_source(on_error, (input_,), from_, None)), output, to, on_error)


def _write(
    reader: Reader,
    output: str,
    to: str | None,
    on_error: Callable[[GraphconvError], None] | None,
) -> None:
    from collections import Counter

    from graphconv import io

    lost: Counter[tuple[str, str]] = Counter()
    io.write(
        cliutil.progress(reader, "graphs"),
        output,
        format=to,
        on_error=on_error,
        place=reader.place,
        on_loss=lambda name, what: lost.update((name, each) for each in what),
    )
    for (name, what), number in lost.items():
        cliutil.note(f"{name} has no place for {what}, which {number:,} graphs had")


starting.end()  # the last of all
