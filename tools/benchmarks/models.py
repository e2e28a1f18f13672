"""Words per second of the models that ship, beside SuPar and a sequence-to-sequence model."""

from __future__ import annotations

import argparse

from benchmarks.measure import Row

DEV = {"ucca": "ucca/wiki-dev", "dm": "dm/wescience-dev.sdp", "amr": "amr/lpp-dev.amr"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="of ucca, dm, amr; default: all")
    parser.add_argument("--sentences", type=int, default=200, help="of each dev section")
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5], metavar="N")
    parser.add_argument(
        "--int8",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="as transducer parse",
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--batch-tokens", type=int, nargs="+", default=[1000, 4000], metavar="N", help="best of"
    )
    parser.add_argument("--supar-batches", type=int, nargs="+", default=[16, 64], metavar="N")
    parser.add_argument("--bart-batches", type=int, nargs="*", default=[16, 64], metavar="N")
    parser.add_argument("--bart-steps", type=int, default=4, help="decoding steps that are timed")


def run(arguments: argparse.Namespace) -> list[Row]:
    from benchmarks import shipped  # noqa: PLC0415 - other benchmarks must not wait for torch

    return shipped.run(arguments)
