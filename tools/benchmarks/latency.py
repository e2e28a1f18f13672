"""One sentence at a time, greedy, against the time that its encoder alone takes."""

from __future__ import annotations

import argparse

from benchmarks.measure import Row


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="of ucca, dm, amr; default: all")
    parser.add_argument("--words", type=int, nargs="+", default=[6, 20], metavar="N")
    parser.add_argument("--repeat", type=int, default=20, help="take the median of so many")


def run(arguments: argparse.Namespace) -> list[Row]:
    from benchmarks import sentences  # noqa: PLC0415 - other benchmarks must not wait for torch

    return sentences.run(arguments)
