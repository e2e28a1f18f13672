"""``parse --engine``: from what the user said to a job, and how it ended."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import click

from graphconv.cluster import command as clusters
from transducer.cli import shared
from transducer.cli.loading import decode_settings, load_parser, warn_of
from transducer.config import TASKS
from transducer.distributed import launched

_ON_CLUSTERS = ("alignments", "spotlight", "encoding")


def parse_on(
    cluster: clusters.Cluster,
    paths: tuple[str, ...],
    models: tuple[str, ...],
    output: str,
    *,
    kind: str,
    options: dict[str, Any],
) -> None:
    """Parse the files of *paths* on a cluster, into shards."""
    from transducer.parsing.clusters import ParseJob
    from transducer.parsing.parser import WINDOW
    from transducer.parsing.request import Request, check, choose_format
    from transducer.storage.shipped import find_model

    usual = {name: value for name, value in shared.USUAL.items() if name not in _ON_CLUSTERS}
    unfit = next((name for name, value in usual.items() if options[name] != value), None)
    if unfit or options["to"] == "json" or launched().size > 1:
        named = "torchrun" if launched().size > 1 else f"--{unfit or 'to json'}"
        raise click.UsageError(f"{named} does not go with --engine")
    if cluster.size % WINDOW:
        raise click.UsageError(
            f"--shard: a multiple of {WINDOW:,}, as sentences are batched within so many and the "
            "last bits of a score depend on the batch"
        )
    if len(models) != 1:
        raise click.UsageError("--engine takes one --model DIR or --task T")
    (name,) = models
    if name in TASKS:
        warn_of(name)
    folder = find_model(name) if name in TASKS else Path(name)
    parser = load_parser(str(folder), None, "cpu", options["spotlight"])
    request = Request(
        kind=kind,
        to=choose_format(parser.task.name, "-", options["to"]),
        settings=decode_settings(parser, options),
        **{name: options[name] for name in _ON_CLUSTERS},
    )
    check(request, paths[0], "-")
    identity = hashlib.sha256(json.dumps(parser.identity(), sort_keys=True).encode()).hexdigest()
    job = ParseJob(
        folder.absolute(),
        identity,
        request,
        options["annotator"] or "",
        options["device"],
        cluster.size,
        packed=cluster.packed,
    )
    inputs = [(path,) for path in paths]
    report = clusters.run(job, inputs, output, cluster, gpu=options["device"] != "cpu")
    clusters.finish(report, output)
