"""Scoring two files with one job and with several: CPU time and memory of reader and workers.

The clock tells nothing on a busy machine. What the CPU times allow at best, on as many free cores
as there are jobs, is their sum by the number of jobs, or the reader's time if that is more.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
from typing import Any

import evaltools
import graphconv
from benchmarks.measure import Row


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("gold")
    parser.add_argument("pred")
    parser.add_argument("--framework")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2], metavar="N")


def run(arguments: argparse.Namespace) -> list[Row]:
    """Score once with each number of jobs, in a new process."""
    context = multiprocessing.get_context("spawn")
    pairs = sum(1 for _ in graphconv.read(arguments.gold, framework=arguments.framework))
    rows: list[Row] = []
    for jobs in arguments.jobs:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_report, args=(arguments, jobs, sender))
        process.start()
        sender.close()
        own, workers = receiver.recv()
        process.join()
        best = max(own[0], (own[0] + workers[0]) / jobs)
        alone = rows[0].seconds if rows else best
        name = f"{jobs} jobs"
        floor = "1 job" if rows else ""
        rows.append(
            Row(name, "best by the clock", best, pairs, pairs / best, floor, best / alone, 0)
        )
        for part, (seconds, peak) in (("reader", own), ("workers", workers)):
            if seconds:
                rows.append(Row(name, part, seconds, pairs, pairs / seconds, "", 0, peak))
    return rows


def _report(arguments: argparse.Namespace, jobs: int, sender: Any) -> None:
    """Score, and send CPU seconds and MB of this process and the others.

    The memory of the others is that of the largest.
    """
    evaltools.score(arguments.gold, arguments.pred, framework=arguments.framework, jobs=jobs)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    figures = [(use.ru_utime + use.ru_stime, use.ru_maxrss / 1024) for use in used]
    sender.send(figures)
