"""Training and parsing at the paper's sizes, against sgemm and a sequence-to-sequence model."""

from __future__ import annotations

import argparse
import sys

from benchmarks import measure
from benchmarks.measure import Row

PARTS = ("training", "parsing", "beam", "latency", "length", "memory", "startup")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; default: all"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=2, help="take the best of so many runs")
    parser.add_argument("--train-batch", type=int, default=64, help="sentences of a training step")
    parser.add_argument("--batches", type=int, nargs="+", default=[64, 256], metavar="N")
    parser.add_argument("--bart-batches", type=int, nargs="+", default=[16, 64], metavar="N")
    parser.add_argument("--bart-steps", type=int, default=8, help="decoding steps that are timed")
    parser.add_argument("--beam-batch", type=int, default=32, help="sentences of a beam's batch")


def run(arguments: argparse.Namespace) -> list[Row]:
    from benchmarks import neural  # noqa: PLC0415 - other benchmarks must not wait for torch

    neural.set_threads(arguments.threads)
    rows: list[Row] = []
    for name in arguments.parts or PARTS:
        found = neural.MEASURES[name](arguments)
        print(measure.table(found), file=sys.stderr, flush=True)
        rows += found
    return rows
