"""Words/s of a shipped model against batch, sentence length and threads; its training step."""

from __future__ import annotations

import argparse

from benchmarks.measure import Row

PARTS = ("batch", "length", "threads", "training")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; default: all"
    )
    parser.add_argument("--task", default="dm", help="of ucca, dm, amr")
    parser.add_argument("--sentences", type=int, default=200, help="of its dev section")
    parser.add_argument(
        "--batch-tokens", type=int, nargs="+", default=[125, 250, 500, 1000, 2000, 4000, 8000]
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], metavar="N")
    parser.add_argument("--updates", type=int, default=5, help="training steps that are timed")
    parser.add_argument("--repeat", type=int, default=2, help="take the best of so many runs")


def run(arguments: argparse.Namespace) -> list[Row]:
    from benchmarks import speeds  # noqa: PLC0415 - other benchmarks must not wait for torch

    return speeds.run(arguments)
